"""Write docs/scenarios/GAME.md from each game's scenarios.

    python recipes/scenario_pages.py

Run it again after a scenario changes; a test says when that was forgotten.
"""

from pathlib import Path

import tyro

from cosmolabe.core import parts
from cosmolabe.core.scenario import LEAD, Change, Scenario

HERE = Path(__file__).resolve().parents[1]


def page(game: str) -> str:
    """The page of one game."""
    scenarios: tuple[Scenario, ...] = parts.load("scenarios", game)
    rules = sum(len(scenario.predicates) for scenario in scenarios)
    lines = [
        f"# Scenarios of {game}",
        "",
        f"{len(scenarios)} scenarios, {rules} rules. Each isolates one mechanism: a chosen start, "
        f"varied by seed, {LEAD} ticks of",
        "context, then the script below. The twin differs in one decision after the context; what "
        "reacts is what then",
        "differs in truth. *Memory*: what decides shows in the context, but not in its last state.",
        "",
        "```sh",
        f"cosmolabe check scenarios {game} --seeds 40",
        "```",
        "",
        "Written by `recipes/scenario_pages.py` from "
        f"`src/cosmolabe/scenarios/{game}.py`; do not edit by hand.",
        "",
        "| scenario | mechanism | script | twin | reacts | steps |",
        "|---|---|---|---|---|---|",
    ]
    for s in scenarios:
        reacts = f"`{s.reacts}`"
        lines.append(
            f"| **{s.name}** | {_text(s.summary)}{_marks(s)} | `{s.script}` | `{s.twin}` | "
            f"{reacts} | {s.horizon} |"
        )
    lines += [
        "",
        "## Rules",
        "",
        "A rule holds in every true continuation, breaks where the change it must catch is "
        "planted (on at least 90 % of",
        "seeds), and holds where another is.",
        "",
        "| scenario | rule | in words | must catch | must survive |",
        "|---|---|---|---|---|",
    ]
    for s in scenarios:
        for place, rule in enumerate(s.predicates):
            name = f"**{s.name}**" if place == 0 else ""
            lines.append(
                f"| {name} | {_text(rule.name)} | {_text(rule.says)} | {_change(rule.catches)} | "
                f"{_change(rule.survives)} |"
            )
    return "\n".join(lines) + "\n"


def _marks(scenario: Scenario) -> str:
    marks = ["*memory*"] if scenario.needs_memory else []
    if scenario.level != 1:
        marks.append(f"level {scenario.level}")
    marks += [f"`{name} = {value:g}`" for name, value in scenario.parameters.items()]
    return f" ({', '.join(marks)})" if marks else ""


def _change(change: Change) -> str:
    physics = ", ".join(f"`{name} = {value:.3g}`" for name, value in change.parameters.items())
    return _text(change.name) + (f" ({physics})" if physics else "")


def _text(words: str) -> str:
    return words.replace("|", "\\|")


def main(games: tuple[str, ...] = (), out: Path = HERE / "docs" / "scenarios") -> None:
    """Write the pages of these games, of all that have scenarios by default."""
    out.mkdir(parents=True, exist_ok=True)
    for game in games or parts.names("scenarios"):
        (out / f"{game}.md").write_text(page(game), encoding="utf-8")
        print(out / f"{game}.md")


if __name__ == "__main__":
    tyro.cli(main)
