"""`vqa certificate`: what a model sees and does not see in clips whose truth is known."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from tyro.conf import FlagCreatePairsOff, arg

from cosmolabe.cli._verb import Answer, Table, Verb, progress
from cosmolabe.core.figures import span


@dataclass(frozen=True, kw_only=True)
class VqaCertificate(Verb):
    """What does a model see, held against majority, blindness and known damage?

    Prints the certificate that lies beside the weights; `--recompute` measures it anew: clips of
    held-out themes, asked with all controls, then with another action commanded, somebody changed,
    frozen and reversed.
    """

    vlm: str = "tiny"
    """Model, NAME or NAME:SIZE."""
    weights: Annotated[str, arg(aliases=["--source"])] = ""
    """Its weights: a folder or hub id; the bundled or pinned ones where none is given."""
    recompute: FlagCreatePairsOff[bool] = False
    """Measure it now."""
    games: tuple[str, ...] = ()
    """Games to play; all where none is named."""
    clips: Annotated[int, arg(aliases=["-n"])] = 96
    """Clips of each game."""
    unseen: int = 24
    """Clips of each game with characters that no training has seen."""
    size: int = 128
    """Side of the pictures, pixels."""
    seed: int = 1_000_003
    """Of the clips; far from those of trainings."""
    tasks: tuple[str, ...] = ("action_recognition", "character_recognition")
    """What is asked besides; see `vqa tasks`."""
    protocol: str = "vqa/1"
    """vqa/1 or vqa/universe-1."""
    device: str = "cpu"
    """cpu or cuda."""
    out: Annotated[Path | None, arg(aliases=["-o"])] = None
    """File to write it to; beside the weights (certificate.json), the judge finds it."""

    def run(self) -> Answer:
        """Read it, or measure."""
        from cosmolabe.core import parts
        from cosmolabe.core.record import read_json, write_json
        from cosmolabe.judges.vqa.measured import Measured, find_certificate, told_by_game

        name, _, size = self.vlm.partition(":")
        source, more = self.weights or None, {"size": size} if size else {}
        model = parts.load("vlms", name).load(source, device=self.device, **more)
        if not self.recompute:
            found = find_certificate(model.key, source)
            if found.path is None:
                raise ValueError(
                    f"no certificate lies beside the weights of {self.vlm} (key {model.key}); "
                    "--recompute measures one"
                )
            told = read_json(found.path)
            games = told_by_game(found)
            try:
                text = _text(told, games)
            except (LookupError, TypeError, ValueError) as error:
                raise ValueError(
                    f"{found.path}: a row of the certificate does not fit ({error!r}); --recompute "
                    "measures it anew"
                ) from None
            return Answer({"path": found.path, **told, "told_by_game": games}, text)
        told = self._measure(model)
        if self.out is not None:
            write_json(self.out, told)
        games = told_by_game(Measured(told["rates"], model.key, self.out))
        return Answer({"path": self.out, **told, "told_by_game": games}, _text(told, games))

    def _measure(self, model: Any) -> dict[str, Any]:  # noqa: ANN401 - a Vlm
        from cosmolabe.bench.vqa.certificate import Sizes, certify
        from cosmolabe.judges.vqa.protocol import protocol_named

        sizes = Sizes(clips=self.clips, unseen=self.unseen, side=self.size, seed=self.seed)
        with progress("asking") as tell:
            return certify(
                model, self.games, sizes, protocol_named(self.protocol), self.tasks, tell
            )


def _text(told: dict[str, Any], games: list[dict[str, Any]]) -> list[Any]:
    columns = (
        "task", "format", "right", "95 % interval", "n", "majority", "blind", "shuffled",
        "single frame", "rotated", "",
    )  # fmt: skip
    cells = [
        (
            row["task"], row["format"], row["em"], span(row["low"], row["high"]),
            row["n"], row["majority"], row["blind"], row["shuffled"], row["single_frame"],
            row["rotated"], "at chance" if _guesses(row) else "",
        )
        for row in told["rows"]
    ]  # fmt: skip
    damage = [
        (
            row["damage"], row["format"], row["auc"], span(row["low"], row["high"]),
            row["n"], row["n_true"], row["abstained"],
        )
        for row in told["auc"]
        if row["auc"] is not None
    ]  # fmt: skip
    by_game = [
        (
            row["game"], row["of"], row["sensitivity"], row["specificity"], row["told"],
            span(row["low"], row["high"]),
            "at chance" if row["at_chance"] else "",
        )
        for row in games
    ]  # fmt: skip
    told_apart = ("game", "of", "sensitivity", "specificity", "told apart", "95 % interval", "")
    seen = ("damage", "format", "AUC", "95 % interval", "hurt", "true", "hardly move")
    return [
        Table(columns, cells, f"{told['vlm']} {told['vlm_key']}, {told['protocol']}"),
        Table(seen, damage, "known damage against true clips"),
        Table(told_apart, by_game, "what readings are corrected by"),
        "told apart: sensitivity + specificity − 1. Where 0 lies within its interval the judge is "
        "at chance: `judge` then corrects nothing, and says so",
        f"{len(told['games'])} games, {told['cpu_seconds']:.0f} core-seconds",
    ]


def _guesses(row: dict[str, Any]) -> bool:
    """Whether the commonest answer, or one without sight, may be right as often."""
    low = row["low"]  # missing where one clip tells no interval
    return low is None or not low > max(row["majority"], row["blind"] or 0.0)
