"""Play a game by hand in a window, or by a script to a PNG or GIF."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from tyro.conf import Positional, arg

from cosmolabe.cli._verb import Answer, Verb


@dataclass(frozen=True, kw_only=True)
class Play(Verb):
    """Play a game by hand in a window, or by a script to a PNG or GIF.

    By hand: the game's keys (`cosmolabe games GAME`), p pauses, r starts again, escape ends.
    """

    game: Positional[str]
    """Name of the game."""
    script: Annotated[str | None, arg(aliases=["-s"])] = None
    """A player (heuristic, random) or action words with counts of ticks: 'up*20,stay*5,down'."""
    out: Annotated[Path | None, arg(aliases=["-o"])] = None
    """Picture to write: .png is a contact sheet, .gif moves."""
    ticks: int | None = None
    """How long to play, 60 a second; a player plays 600 where nothing is said."""
    seed: int = 0
    """Another seed is another world."""
    level: int = 1
    """Level to start in."""
    theme: str = ""
    """One of the game's themes; its first where none is named."""
    characters: tuple[str, ...] = ()
    """One character for each role."""
    size: int = 224
    """Height of a picture in pixels."""
    every: int = 1
    """Draw every so many ticks."""

    def run(self) -> Answer:
        """Play, then say how it went."""
        from cosmolabe.core import parts  # lazily, as all below
        from cosmolabe.data import playing
        from cosmolabe.data.by_hand import play_window
        from cosmolabe.engine.game import Appearance

        if self.out is not None and self.out.suffix.lower() not in (".png", ".gif"):
            raise ValueError(f"--out takes a .png or .gif file; got {self.out}")
        game = parts.load("games", self.game)
        look = Appearance(self.characters, self.theme, self.seed)
        if self.script is None:
            if self.out is not None:
                raise ValueError("a picture is made of a script; say --script heuristic, say")
            played = play_window(game, self.seed, self.level, appearance=look, num_ticks=self.ticks)
        else:
            played = playing.play_script(
                game,
                self.script,
                self.seed,
                self.ticks,
                self.level,
                appearance=look,
                size=self.size,
                every=self.every,
            )
        if self.out is not None:
            self.out.parent.mkdir(parents=True, exist_ok=True)
            if self.out.suffix.lower() == ".gif":
                playing.save_gif(played.frames, self.out, played.fps)
            else:
                playing.save_sheet(played.frames, self.out)
        return _answer(game, played, self.out)


def _answer(game: Any, played: Any, out: Path | None) -> Answer:  # noqa: ANN401 - loaded lazily
    ticks, over = len(played.actions), bool(played.terminal[-1])
    data = {
        "game": game.name,
        "ticks": ticks,
        "score": played.score,
        "over": over,
        "pictures": len(played.frames),
        "out": out,
    }
    text = f"{game.name}: {ticks} ticks, score {played.score:g}{', over' if over else ''}"
    return Answer(data, f"{text}\nwrote {out}" if out else text)


VERB = Play
