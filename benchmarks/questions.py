"""Clips for questions, cut, labelled and drawn, against the drawing of their frames alone.

64 pixels, 14 frames a clip. And the questions about them, against making the clips: what asking
costs where clips are made for it.
"""

from collections.abc import Iterator

from benchmarks.timing import Row, versus
from cosmolabe.core import parts
from cosmolabe.data.questions import game_clips, questions_of
from cosmolabe.engine.game import Appearance
from cosmolabe.engine.render import draw_frames

CLIPS, SIZE, ROUNDS = 256, 64, 3


def rows() -> Iterator[Row]:
    """A row a game; then one of all their questions."""
    made = {game: game_clips(game, CLIPS, 1, size=SIZE) for game in parts.names("games")}
    for game, clips in made.items():
        yield from _clips(game, clips)
    clips = made["pong"]

    def asked() -> int:
        questions_of(clips, 1)
        return CLIPS

    def cut() -> int:
        return len(game_clips("pong", CLIPS, 1, size=SIZE))

    name = "all questions about clips of pong"
    note = f"{len(questions_of(clips, 1)) / CLIPS:.1f} questions a clip"
    peers = {"making the clips": cut}
    yield from versus(name, "clips/s", asked, peers, rounds=ROUNDS, note=note)


def _clips(game: str, clips: list) -> Iterator[Row]:
    rules = parts.load("games", game)
    looks = [
        Appearance(tuple(c.about["characters"].values()), c.about["theme"], c.about["look_seed"])
        for c in clips
    ]

    def cut() -> int:
        return len(game_clips(game, CLIPS, 1, size=SIZE))

    def drawn() -> int:
        for clip, look in zip(clips, looks, strict=True):
            draw_frames(rules, clip.about["states"], clip.about["globals"], look, SIZE)
        return len(clips)

    peers = {"drawing their frames": drawn}
    yield from versus(f"clips of {game}", "clips/s", cut, peers, rounds=ROUNDS)
