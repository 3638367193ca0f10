import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cosmolabe.bench.physics.certificate import (
    ALARM,
    certify,
    meets,
    pairwise,
    read_certificate,
    rho,
    without_lone,
)
from cosmolabe.bench.physics.ladder import BELOW, ladder
from cosmolabe.bench.physics.twin_scores import (
    ATTACKED,
    ATTACKS,
    Scored,
    clips_of_rows,
    read_scores,
    score_rows,
)
from cosmolabe.core.record import plain
from cosmolabe.data.coding import coded
from cosmolabe.data.twin_rows import TwinRow

SIZES = (0.1, 0.25, 0.5, 0.75, 1.0)
KINDS = {"duplicate": ("kind", "scene", "theme"), "teleport": ("scene",), "freeze": ()}
FEW = 40  # resamples


def row(group, role, kind, size, damaged, **more):
    told = {
        "id": f"{group}-{kind}-{size}", "group": group, "role": role, "family": "games",
        "scene": "pong/play", "theme": "t", "characters": (), "kind": kind, "size": size,
        "onset": 8, "entity": "", "true": f"{group}.mp4", "damaged": damaged,
        "sub_threshold": False, "largest": 99, "difference": 1.0, "changed": 0.1, "held_out": (),
        "split": "test", "fps": 16.0, "frames": 48,
    }  # fmt: skip
    return TwinRow(**{**told, **more})


def a_set(groups=3):
    """A ladder of each kind in several groups, a double below the threshold, quality and rare."""
    rows = []
    for kind, held in KINDS.items():
        for number in range(groups):
            group = f"{kind}{number}"
            rows += [
                row(group, "damage", kind, size, f"{group}-{size}.mp4", held_out=held)
                for size in SIZES
            ]
            rows.append(
                row(
                    group, "damage", kind, 0.01, f"{group}-b.mp4", sub_threshold=True, held_out=held
                )
            )
            rows.append(row(group, "quality", "blur", 0.5, f"{group}-blur.mp4"))
            rows.append(row(group, "quality", "noise", 0.5, f"{group}-noise.mp4"))
    rows += [row(f"rare{n}", "lawful", "", 0.0, "") for n in range(4)]
    return rows


def scored(rows, score):
    """`score(row)` for doubles, 0 for true clips and the attacks on them."""
    found = {name: Scored(0.0) for name in clips_of_rows(rows)}
    for one in rows:
        if one.damaged:
            found[one.damaged] = Scored(float(score(one)))
    return found


def perfect(one):
    return one.size if one.role == "damage" and not one.sub_threshold else 0.0


def test_who_knows_the_sizes_meets_every_target():
    rows = a_set()
    found = certify(rows, scored(rows, perfect), num=FEW)
    unseen = found["parts"]["unseen"]
    assert unseen["pairwise"].value == 1
    assert unseen["pairwise"].n == 3 * len(SIZES)
    assert unseen["rho"]["mean"].value == pytest.approx(1)
    assert found["leakage"]["value"] == 0
    assert all(meets(found).values())
    assert all(meets(plain(found)).values())
    assert set(found["kinds"]) == set(KINDS)


def test_who_says_the_same_of_everything_is_at_chance_and_correlates_with_nothing():
    rows = a_set()
    found = certify(rows, scored(rows, lambda one: 0.0), num=FEW)
    assert found["parts"]["all"]["pairwise"].value == 0.5
    assert np.isnan(found["parts"]["all"]["rho"]["mean"].value)
    assert not any(meets(found).values())


def test_leakage_is_the_worst_change_of_quality_over_damage_of_size_a_half():
    rows = a_set()
    moved = {"blur": 0.05, "noise": -0.2}
    found = certify(rows, scored(rows, lambda one: moved.get(one.kind, perfect(one))), num=FEW)
    leak = found["leakage"]
    assert leak["damage"] == pytest.approx(0.5)
    assert leak["worst"] == "noise"
    assert leak["value"] == pytest.approx(0.4)
    assert leak["kinds"]["blur"]["ratio"].value == pytest.approx(0.1)
    assert not meets(found)["leakage"]


def test_what_is_under_the_threshold_is_in_no_pair():
    rows = a_set()
    loud = scored(rows, lambda one: -9.0 if one.sub_threshold else perfect(one))
    found = certify(rows, loud, num=FEW)
    assert found["parts"]["all"]["pairwise"].value == 1
    assert found["below_threshold"]["moved"] == pytest.approx(9)


def test_false_alarms_are_counted_on_rare_lawful_motion_apart():
    rows = a_set()
    scores = scored(rows, perfect)
    scores["rare0.mp4"] = Scored(ALARM)
    alarm = certify(rows, scores, num=FEW)["false_alarm"]
    assert alarm["rare"].value == 0.25
    assert alarm["true"].value == 0
    assert alarm["found"].value == pytest.approx(3 / 5)


def test_attacks_say_who_abstains_and_what_is_not_seen():
    rows = a_set()
    scores = scored(rows, perfect)
    for name in list(scores):
        if name.endswith(":frozen"):
            scores[name] = Scored(-0.5, motion=0.0, why="hardly moves")
    found = certify(rows, scores, num=FEW)["attacks"]
    assert found["frozen"]["abstained"] == 1
    assert found["frozen"]["lower"] == 1
    assert found["reversed"]["differs"] == 0, "a judge blind to order is shown to be"


def measured_in(found):
    """Everything in a certificate that has a value, an interval and groups."""
    if isinstance(found, dict):
        if {"value", "low", "groups"} <= set(found):
            yield found
        for one in found.values():
            yield from measured_in(one)


def test_what_one_group_gives_has_no_interval():
    found = plain(certify(a_set(1), scored(a_set(1), perfect), num=FEW))
    lone = [one for one in measured_in(found["kinds"]) if one["groups"] == 1]
    assert len(lone) >= 2 * len(KINDS)
    assert all(one["low"] is None and one["high"] is None for one in lone)
    rows = [*a_set(1), row("freeze9", "damage", "freeze", 0.5, "freeze9.mp4", scene="racer/play")]
    told = certify(rows, scored(rows, perfect), num=FEW)["kinds"]["freeze"]["rho"]["mean"]
    assert told.groups == 1, "a scene with one double is in no ρ"
    assert np.isnan(told.low)


def test_an_older_certificate_is_read_without_the_intervals_of_one_group():
    lone = {"value": 0.6, "low": 0.6, "high": 0.6, "n": 5, "groups": 1}
    several = {**lone, "groups": 4}
    nothing = {"low": None, "high": None}
    assert without_lone({"a": [lone, several]}) == {"a": [{**lone, **nothing}, several]}
    counted = {"mean": {**lone, "groups": 2}, "fisher": {**several, "low": 0.1}, "strata": 1}
    assert without_lone(counted) == {
        **counted, "mean": {**lone, **nothing},
    }  # fmt: skip
    shipped = list(measured_in(read_certificate()["kinds"]))
    assert any(one["groups"] == 1 for one in shipped)
    assert all(one["low"] is None for one in shipped if one["groups"] == 1)


def test_a_clip_without_a_score_is_named():
    rows = a_set()
    scores = scored(rows, perfect)
    del scores["freeze1.mp4"]
    with pytest.raises(ValueError, match=r"the first is freeze1\.mp4"):
        certify(rows, scores, num=FEW)


@settings(max_examples=20)
@given(seed=st.integers(0, 99), gain=st.floats(0.1, 10))
def test_pairs_and_ranks_ask_only_for_order(seed, gain):
    rows = [one for one in a_set() if one.role == "damage" and not one.sub_threshold]
    noise = np.random.default_rng(seed).normal(0, 0.3, len(rows))
    places = {one.damaged: n for n, one in enumerate(rows)}
    one = scored(rows, lambda r: r.size + noise[places[r.damaged]])
    other = {name: Scored(gain * told.raw) for name, told in one.items()}
    for measure in (pairwise, lambda *a: rho(*a)["mean"]):
        assert measure(rows, one, FEW, 0).value == pytest.approx(measure(rows, other, FEW, 0).value)


def test_the_ladder_has_every_rung_and_the_one_below():
    rows = a_set()
    rungs = [r for r in ladder(rows, scored(rows, perfect), num=FEW) if r["kind"] == "all"]
    damage = [r for r in rungs if r["what"] == "damage"]
    assert [r["rung"] for r in damage] == [*(f"{s:.2f}" for s in SIZES), BELOW]
    assert [r["moved"] for r in damage] == pytest.approx([*SIZES, 0.0])
    assert [r["up"] for r in damage] == [1] * 5 + [0.5]
    assert next(r for r in rungs if r["what"] == "quality")["n"] == 18


def test_scoring_goes_on_where_it_stopped_and_a_torn_line_is_scored_again(tmp_path):
    pictures = np.zeros((6, 32, 32, 3), np.uint8)
    for name in ("true", "hurt"):
        (tmp_path / f"{name}.mp4").write_bytes(coded(pictures, 16.0))
    rows = [row("g", "damage", "teleport", 0.5, "hurt.mp4", true="true.mp4")]
    asked = []

    def score(frames, fps):
        asked.append(len(frames))
        return Scored(float(len(asked)), (1.0, 2.0), 0.5, "", (0.0, 1.0), ((0.0, 1.0, 2.0),))

    out = tmp_path / "scores.jsonl"
    first = score_rows(tmp_path, rows, score, out)
    assert len(first) == 2 + len(ATTACKS) == len(asked)
    lines = out.read_text().splitlines()
    out.write_text("\n".join(lines[:-1]) + "\n" + lines[-1][:20])
    again = score_rows(tmp_path, rows, score, out)
    assert len(asked) == len(first) + 1
    assert {k: v.raw for k, v in again.items() if k in list(first)[:-1]} == {
        k: first[k].raw for k in list(first)[:-1]
    }
    assert read_scores(out) == again
    assert all(json.loads(line) for line in out.read_text().splitlines())


def test_every_so_many_groups_are_attacked():
    rows = [row(f"g{n}", "damage", "lag", 0.5, f"d{n}.mp4") for n in range(2 * ATTACKED)]
    attacked = {name.split(":")[0] for name in clips_of_rows(rows) if ":" in name}
    assert attacked == {"g0.mp4", f"g{ATTACKED}.mp4"}
