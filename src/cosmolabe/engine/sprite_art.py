"""The drawings behind the sprite names: one letter a pixel, '.' is see-through."""


def _whole(rows: str) -> str:
    """Twelve rows of twelve letters."""
    return "/".join(rows.split())


def _mirrored(rows: str) -> str:
    """Twelve rows of six letters, the left half of a drawing that is the same on both sides."""
    return "/".join(row + row[::-1] for row in rows.split())


CREATURES = {
    "frog": """
        ..ggg...ggg. .gwwwg.gwwwg .gwwkg.gwwkg .gwwkgggwwkg ..ggggggggg. .ggggggggggg
        .gkkgggggkkg .gggkkkkkggg gggllllllggg gggllllllggg ggglllllllgg ggg.gggg.ggg""",
    "cat": """
        ...k.....k.. ..kok...kok. ..kooookook. ..koowkoowk. o.kooooookok ooknoowwooo.
        .okkooooook. ..ooowwwook. ..ookooooko. ..oooooooo.. ..ok.oo.ok.. ..ww.ww.ww..""",
    "robot": """
        .....rr..... ......d..... ..bbbbbbbbb. ..bdddddddb. ..bdcdddcdb. ..bdddddddb.
        ..bbbbbbbbb. ....sdddds.. .sbbbbbbbbbs .s.bbbyybb.s ...bbbbbbb.. ..ddd...ddd.""",
    "ghost": """
        ....pppp.... ..pppppppp.. .pppppppppp. .ppwwwppwww. pppwwkppwwkp pppwwkppwwkp
        pppppppppppp pppppppppppp pppppppppppp pppppppppppp pp.ppp.ppppp p...p...pp.p""",
    "chick": """
        ............ ......yyy... .....yyyyy.. .....yykyy.. .....yyyyyoo y....yyyyooo
        yy..yyyyyy.. yyyyyooyyy.. .yyyoooyyy.. ..yyyyyyy... ....o..o.... ...oo.oo....""",
    "knight": """
        .rrr........ rrrrrsss.... rr..sssssss. r..sssssssss ...ssskkkkkk ...sssssksks
        ...ssssssss. ..rdssssssd. .rrddwwwddd. .rrddwwwddd. .rr.dd..dd.. ..r.sss.sss.""",
    "slime": """
        ............ ............ .....mm..... ...mmmmmm... ..mmwmmmmmm. .mmwmmmmmmm.
        .mmmmkmmmkm. mmmmmkmmmkmm mmmmmmmmmmmm mmmmmmkkkmmm mmmmmmmmmmmm .mmmmmmmmmm.""",
    "panda": """
        .kk.....kk.. kkkkwwwkkkk. kkwwwwwwwkk. .wwkkwwkkww. .wwkcwwkcww. .wwwwwwwwww.
        .wwwwkkwwww. ..wwwwwwww.. .kkkkkkkkkk. kkkwwwwwwkkk kk.wwwwww.kk ..kkk..kkk..""",
}
"""They look to the right."""

SHIPS = {
    "ship_arrow": """
        .....w .....w ....ww ....wc ...wwc ...www ..wwww ..wwsw .wwwsw .wws.. www... w....r""",
    "ship_saucer": """
        ...... ....cc ...ccw ..cccc ..cccc .ssssm mmmmmm msymsy mmmmmm .ddddd ...ddd .....o""",
    "ship_dart": """
        .....y .....y .....y ....yy ....yk o...yk o..yyy oy.yyy oyyyyy oyy.yy o...yy .....r""",
    "ship_beetle": """
        ..l... ...l.. ....ll ..ggkg .ggggg lggggk ggllgk ggggll lggggk .ggllg .g.ggg g...oo""",
    "ship_rocket": """
        .....r ....rr ....rr ....ww ....wb ....wb ....ww ....ww ..rrww .rrrww .rr.dd .....o""",
    "ship_hawk": """
        .....b .....b ....bc b...bc b...bb bb.bbb bbbbbb bbbcbb bbccbb bb.bbd b...bd ....yy""",
}
"""They point up."""

CARS = {
    "car_coupe": """
        ...rrr ..rrrr .krrrr .krrrr ..rkkk ..rccc ..rrrr ..rrrr .krkkk .krrrr ..rrrr ..yrrr""",
    "car_truck": """
        ..yooo ..oooo .koccc .koooo ...ddd .nnnnn .ntttt kntttt kntttt .ntttt kntttt knnnnn""",
    "car_buggy": """
        .....g kk..gg kkddgg kk..gl ...ggl ...gkk ...gkk ...ggl kk.ggg kkddgg kk.ddg ....ww""",
    "car_formula": """
        .yyyyy ....yy kk..yb kkddyb kk..yb ....bb ...bbk ..bbbw kk.bbk kkddbb kk..yb .bbbbb""",
    "car_van": """
        ..cccc .ycccc .cbbbb .cbbbb kccccc kcwwww .cwwww .cwwww kcwwww kcwwww .ccccc .rcccc""",
    "car_racer": """
        ...ppp ..pppm .kpppm .kppmm ...pmm ..pkkk ..pccc ..ppmm .kpppm .kpppm .ppppm .wwwww""",
}
"""They point up."""

BATS = {
    "bat_plain": "....ww " * 12,
    "bat_striped": "....ww ....rr " * 6,
    "bat_neon": "....mk ....mc ....mc " * 4,
    "bat_gold": "....oy ....yy ....oy " * 4,
}
"""They stand upright."""

UNEVEN_BATS = {
    "bat_wood": ".....nn..... ....nonn.... "
    + "....nonn.... ....nnon.... " * 4
    + "....nnon.... .....nn..... ",
    "bat_ice": "....bbcw.... ....bbbc.... ....cbbb.... ....wcbb.... " * 3,
}

HEADS = {
    "head_adder": """
        ............ ............ ..ggggg..... .gkgggkgg... ggkkggkwkg.. gggkkgggggg.
        gggkkgggggrr ggkkggkwkg.. .gkgggkgg... ..ggggg..... ............ ............""",
    "head_cobra": """
        ..ppp....... .ppppp...... pppppppp.... pyyppwkpp... pypypppppp.. pyyppppppppr
        pyyppppppppr pypypppppp.. pyyppwkpp... pppppppp.... .ppppp...... ..ppp.......""",
    "head_worm": """
        ............ ............ ............ ...mmmmmm... mtmmtmmmmmm. mtmmtmmwkmmm
        mtmmtmmmmmmm mtmmtmmwkmmm mtmmtmmmmmm. ...mmmmmm... ............ ............""",
    "head_dragon": """
        y.y......... .yoy..rr.... ..rryrrrr... .rrrrrwkrr.. rrrrrrrrrrrr orrrorrrrrkr
        orrrorrrrrkr rrrrrrrrrrrr .rrrrrwkrr.. ..rryrrrr... .yoy..rr.... y.y.........""",
    "head_caterpillar": """
        .......l...k ........l.k. ...lllllll.. ..lllllllll. yllllllwwll. ylylllwkkll.
        ylylllwkkll. yllllllwwll. ..lllllllll. ...lllllll.. ........l.k. .......l...k""",
    "head_eel": """
        b........... bb.......... .bbb........ .bbbbbbbb... bbbbcbbwkbb. cccccccbbbbb
        cccccccbbbbb bbbbcbbwkbb. .bbbbbbbb... .bbb........ bb.......... b...........""",
}
"""They point to the right."""

FIXTURES = {
    "barrel": """
        ...nnnnnn... ..noooooon.. .nddddddddn. .noonoonoon. nooonooonoon nooonooonoon
        nooonooonoon nooonooonoon .noonoonoon. .nddddddddn. ..noooooon.. ...nnnnnn...""",
    "log": """
        ............ ............ .nnnnnnnnnn. nnnnnnnnntt. nnkknnnnntnt nnnnnnnntnnt
        nnnnnkknntnt nnnnnnnnntnt nkknnnnnnntt .nnnnnnnnnn. ............ ............""",
    "turtle": """
        ............ ..gg....gg.. .gg......gg. ...rrrrr.... ..rnrrnrr.gg .grrnnrrrggw
        .grrnnrrrggw ..rnrrnrr.gg ...rrrrr.... .gg......gg. ..gg....gg.. ............""",
    "lorry": """
        ............ sssssss..... wwwwwws.rrr. wwwwwws.rrcc wwwwwwsrrrcc wwwwwwsrrrrr
        wwwwwwsrrrrr wwwwwwsrrryy sssssssrrrrr .kkk..kk.kk. .kkk..kk.kk. ............""",
    "sedan": """
        ............ ............ ............ ...mmmmm.... ..mccmccm... .mcccmcccm..
        mmmmmmmmmmmm mmmmmmmmmmmy mmmmmmmmmmmm .kkk...kkk.. .ksk...ksk.. .kkk...kkk..""",
    "bulldozer": """
        ............ ..yyyy....d. ..ycck....dd ..ycck....dd ..yyyyyyy.dd yyyyyyyyydds
        yyyyyyyyydds .kkkkkkkk.ds kskskskskkds kkkkkkkkkkd. .kkkkkkkk... ............""",
    "ape": """
        ...nnnnnn... ..nnttttnn.. ..ntkttktn.. ..nttnnttn.. ..ntkkkktn.. .nnnttttnnn.
        nnnnnnnnnnnn nnnttttttnnn nn.tttttt.nn nn.nnnnnn.nn tt.nnnnnn.tt ..ttt..ttt..""",
    "princess": """
        ...y.yy.y... ...yyyyyy... ..otttttto.. ..otkttkto.. ..otttttto.. .ootttttoo..
        ....mmmm.... ..tmmmmmmt.. ..tmwwwwmt.. ...mmmmmm... ..mmmmmmmm.. .mmmmmmmmmm.""",
    "coin": """
        ....yyyy.... ..yyoooyyy.. .yyoyyyyoyy. .yoyywwyyoy. yyoywyyyyoyy yyoywyyyyoyy
        yyoywyyyyoyy yyoywyyyyoyy .yoyywwyyoy. .yyoyyyyoyy. ..yyyoooyy.. ....yyyy....""",
    "flag": """
        .yy......... .yyrr....... ..drrrrr.... ..drrrrrrrr. ..drrwrrrrrr ..drrrrrrr..
        ..drrrr..... ..d......... ..d......... ..d......... ..d......... .ddd........""",
    "spike": """
        ............ ............ .....s...... .....s.....s .s...sw...ss .s..ssw...sw
        ssw.ssw..ssw ssw.sssw.ssw sswsssswsssw ssssssssssss ssssssssssss dddddddddddd""",
    "slug": """
        ........y..y .........y.y ..oooo...yy. .onnnno..yyy onoooono.yky ononnono.yyy
        onoonono.yyy ononnnnoyyyy .onooooyyyyy yyyyyyyyyyyy yyyyyyyyyyy. .yyyyyyyyy..""",
    "bee": """
        ....wcw.wcw. ...wccwwccw. ...wcccwcw.. ....wccww... ..yykkyykk.. .yyykkyykkyk
        kyyykkyykkyy kyyykkyykkkk .yyykkyykkyy ..yykkyykk.. ....k..k.k.. ............""",
    "ladder_piece": """
        .cc......cc. .cccccccccc. .cccccccccc. .cc......cc. .cc......cc. .cccccccccc.
        .cccccccccc. .cc......cc. .cc......cc. .cccccccccc. .cccccccccc. .cc......cc.""",
    "apple": """
        ......n..gg. ......n.ggg. .....nngg... ..rrr.nrrr.. .rrrrrrrrrr. .rwwrrrrrrr.
        rrwrrrrrrrrr rrrrrrrrrrrr rrrrrrrrrrrr .rrrrrrrrrr. .rrrrrrrrrr. ..rrr..rrr..""",
    "rock": """
        ............ ....sssss... ..sswwsssss. .sswssssssdd .swsssssdddd sssssdsssddd
        ssssddsssssd sssssssdsssd sdssssddsddd .ddssssssdd. ..ddddsddd.. ....dddd....""",
}

ART: dict[str, str] = {
    **{name: _whole(rows) for name, rows in CREATURES.items()},
    **{name: _mirrored(rows) for name, rows in SHIPS.items()},
    **{name: _mirrored(rows) for name, rows in CARS.items()},
    **{name: _mirrored(rows) for name, rows in BATS.items()},
    **{name: _whole(rows) for name, rows in UNEVEN_BATS.items()},
    **{name: _whole(rows) for name, rows in HEADS.items()},
    **{name: _whole(rows) for name, rows in FIXTURES.items()},
}
"""Sprite name to its rows, joined by '/'."""
