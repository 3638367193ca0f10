"""How each episode looks: characters, theme and decoration drawn from the episode's own seed."""

from cosmolabe.core.seeds import generator
from cosmolabe.engine.game import Appearance, Game


def seeded_appearance(game: Game, salt: str, split: str, index: int) -> Appearance:
    """The look of one episode: a stream of its own, so that looks and luck are independent."""
    draw = generator("appearance", salt, game.name, split, index)
    order = draw.permutation(len(game.characters))
    characters = tuple(game.characters[order[role % len(order)]] for role in range(len(game.roles)))
    theme = game.themes[draw.integers(len(game.themes))].name
    return Appearance(characters, theme, int(draw.integers(1 << 32)))
