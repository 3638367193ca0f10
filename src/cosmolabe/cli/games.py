"""List the games, or say all about one."""

from dataclasses import dataclass

from tyro.conf import Positional

from cosmolabe.cli._verb import Answer, Table, Verb


@dataclass(frozen=True, kw_only=True)
class Games(Verb):
    """List the games, or say all about one."""

    game: Positional[str | None] = None
    """Name of one game."""

    def run(self) -> Answer:
        """Load the games' files and read what they declare."""
        from cosmolabe.core import parts

        if self.game:
            facts = facts_of(parts.load("games", self.game))
            lines = (f"{name}: {_words(value)}" for name, value in facts.items())
            return Answer(facts, "\n".join(lines))
        games = [facts_of(parts.load("games", name)) for name in parts.names("games")]
        rows = [
            (g["game"], g["slots"], len(g["actions"]), len(g["characters"]), g["summary"])
            for g in games
        ]
        table = Table(("game", "slots", "actions", "characters", "what it is"), rows)
        return Answer({"games": games}, table)


def facts_of(game) -> dict:  # noqa: ANN001 - a Game, loaded lazily
    """What a game declares about itself, as plain values."""
    import sys

    manifest = game.manifest
    module = sys.modules.get(f"cosmolabe.games.{game.name}")
    return {
        "game": game.name,
        "summary": ((module and module.__doc__) or game.words.get("goal", "")).split("\n")[0],
        "version": manifest.version,
        "slots": manifest.num_slots,
        "mutable_slots": sum(slot.mutable for slot in manifest.slots),
        "fields": list(manifest.fields),
        "globals": list(manifest.globals),
        "actions": list(game.actions),
        "keys": dict(game.action_keys),
        "characters": list(game.characters),
        "themes": [theme.name for theme in game.themes],
        "parameters": {name: p.default for name, p in game.parameters.items()},
        "wraps": [manifest.wrap_x, manifest.wrap_y],
        "max_ticks": manifest.max_ticks,
    }


def _words(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} = {item}" for key, item in value.items()) or "none"
    if isinstance(value, list):
        return ", ".join(str(item) for item in value) or "none"
    return str(value)


VERB = Games
