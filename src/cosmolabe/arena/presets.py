"""Coding-agent CLIs by name: how each is started without a person, and how it tells what it used.

Flags are those of their own documentation in 2026. A CLI runs in the session's sandbox, so its own
questions and fences are switched off. Hosts are those it needs to reach its language model.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

PROMPT = (
    "Read instruction.md in this folder and do what it asks. Work on your own until the time is "
    "over (file time_left); nobody will answer questions. Use `python run.py` for every experiment "
    "and never wait for anything else."
)


@dataclass
class Usage:
    """What a CLI said it used so far; None where it said nothing."""

    input: int = 0
    """Tokens read, those from a cache included."""
    output: int = 0
    cost: float | None = None
    """US dollars."""
    seen: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Tokens of each message, by its id: a message may be told more than once."""

    @property
    def tokens(self) -> dict[str, int] | None:
        """Tokens in and out."""
        return {"input": self.input, "output": self.output} if self.input or self.output else None

    def told(self, key: str, read: int, written: int) -> None:
        """Note the tokens of a message; a later word about the same one replaces the earlier."""
        self.seen[key] = (read, written)
        self.input = sum(r for r, _ in self.seen.values())
        self.output = sum(w for _, w in self.seen.values())


Reader = Callable[[str, Usage], None]
"""Takes a line that the CLI printed and adds what it tells of usage."""


@dataclass(frozen=True)
class Preset:
    """One CLI."""

    name: str
    argv: tuple[str, ...]
    """{prompt} is what it is told to do."""
    llm: tuple[str, ...] = ()
    """What chooses the language model; {llm} is its name."""
    spend: tuple[str, ...] = ()
    """What limits its own spending; {spend} is in US dollars."""
    keys: tuple[str, ...] = ()
    """Environment variables that it may have, of which it needs one."""
    hosts: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    reads: Reader | None = None
    install: str = ""

    def command(self, llm: str = "", spend: int | float | None = None) -> list[str]:
        """The command line."""
        words = list(self.argv)
        words += [word.format(llm=llm) for word in self.llm] if llm else []
        words += [word.format(spend=f"{spend:g}") for word in self.spend] if spend else []
        return [PROMPT if word == "{prompt}" else word for word in words]


def _count(tree: Mapping[str, Any], *names: str) -> int:
    return sum(v for name in names if type(v := tree.get(name)) is int and v > 0)


def _json(line: str) -> dict[str, Any]:
    try:
        found = json.loads(line) if line.startswith("{") else {}
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _object(tree: Mapping[str, Any], name: str) -> dict[str, Any]:
    found = tree.get(name)
    return found if isinstance(found, dict) else {}


def read_claude(line: str, usage: Usage) -> None:
    """stream-json: each assistant message has its usage, the last line what all of it cost."""
    event = _json(line)
    if event.get("type") == "assistant":
        message = _object(event, "message")
        used = _object(message, "usage")
        read = _count(
            used, "input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"
        )
        usage.told(str(message.get("id")), read, _count(used, "output_tokens"))
    elif event.get("type") == "result" and isinstance(event.get("total_cost_usd"), (int, float)):
        usage.cost = (usage.cost or 0.0) + float(event["total_cost_usd"])


def read_codex(line: str, usage: Usage) -> None:
    """`exec --json`: every turn.completed has the usage of its turn."""
    event = _json(line)
    if event.get("type") == "turn.completed":
        used = _object(event, "usage")
        key = f"turn {len(usage.seen)}"
        usage.told(key, _count(used, "input_tokens"), _count(used, "output_tokens"))


def read_gemini(line: str, usage: Usage) -> None:
    """stream-json: the result event has the tokens of the whole run."""
    event = _json(line)
    if event.get("type") == "result":
        used = _object(event, "stats")
        key = f"run {len(usage.seen)}"
        usage.told(key, _count(used, "input_tokens"), _count(used, "output_tokens"))


AIDER = re.compile(r"Tokens: ([\d.,]+)(k|M)? sent.*?([\d.,]+)(k|M)? received")
AIDER_COST = re.compile(r"Cost: \$([\d.]+) message")


def read_aider(line: str, usage: Usage) -> None:
    """A line of words: tokens sent and received, and what the message cost."""
    if found := AIDER.search(line):
        scale = {None: 1, "k": 1_000, "M": 1_000_000}
        read = float(found[1].replace(",", "")) * scale[found[2]]
        written = float(found[3].replace(",", "")) * scale[found[4]]
        usage.told(f"message {len(usage.seen)}", round(read), round(written))
    if found := AIDER_COST.search(line):
        usage.cost = (usage.cost or 0.0) + float(found[1])


PRESETS = {
    preset.name: preset
    for preset in (
        Preset(
            "claude-code",
            (
                "claude", "-p", "{prompt}", "--output-format", "stream-json", "--verbose",
                "--permission-mode", "bypassPermissions",
            ),
            llm=("--model", "{llm}"),
            spend=("--max-budget-usd", "{spend}"),
            keys=("ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN"),
            hosts=("api.anthropic.com",),
            env={"IS_SANDBOX": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"},
            reads=read_claude,
            install="npm install -g @anthropic-ai/claude-code",
        ),
        Preset(
            "codex",
            (
                "codex", "exec", "--json", "--skip-git-repo-check",
                "--sandbox", "danger-full-access", "{prompt}",
            ),
            llm=("--model", "{llm}"),
            keys=("CODEX_API_KEY", "OPENAI_API_KEY"),
            hosts=("api.openai.com",),
            reads=read_codex,
            install="npm install -g @openai/codex",
        ),
        Preset(
            "gemini-cli",
            (
                "gemini", "-p", "{prompt}", "--output-format", "stream-json", "--yolo",
                "--skip-trust",
            ),
            llm=("--model", "{llm}"),
            keys=("GEMINI_API_KEY",),
            hosts=("generativelanguage.googleapis.com",),
            reads=read_gemini,
            install="npm install -g @google/gemini-cli",
        ),
        Preset(
            "aider",
            (
                "aider", "--message", "{prompt}", "--yes-always", "--no-git", "--no-check-update",
                "--analytics-disable", "--read", "instruction.md", "train.py", "config.json",
            ),
            llm=("--model", "{llm}"),
            keys=("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"),
            hosts=(
                "api.anthropic.com", "api.openai.com", "generativelanguage.googleapis.com",
            ),
            reads=read_aider,
            install="pipx install aider-chat",
        ),
    )
}  # fmt: skip


def preset_named(name: str) -> Preset:
    """The preset of that name."""
    if name not in PRESETS:
        raise ValueError(f"no preset '{name}'; have {sorted(PRESETS)}, or use --command")
    return PRESETS[name]
