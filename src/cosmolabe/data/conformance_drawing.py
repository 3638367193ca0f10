"""Conformance of a game's drawing: from any state, at any size, and without a stray byte."""

import numpy as np

from cosmolabe.data.conformance_play import Evidence, Finding, ok_if
from cosmolabe.engine.canvas import PATTERNS
from cosmolabe.engine.game import Appearance
from cosmolabe.engine.render import draw_frames

SIZES = (64, 96, 224)  # pixels of the picture's height
GUARD = 4096  # bytes before and after a picture that drawing must not touch
SENTINEL = 0xA5


def _moments(evidence: Evidence, count: int = 6) -> tuple[np.ndarray, np.ndarray]:
    """A few states of a heuristic and a random episode, spread over their length."""
    states, numbers = [], []
    for sample in (evidence.samples[0], evidence.samples[2]):
        chosen = np.linspace(0, len(sample[0]) - 1, count).astype(int)
        states.append(sample[0][chosen])
        numbers.append(sample[1][chosen])
    return np.concatenate(states), np.concatenate(numbers)


def drawn_the_same_twice(evidence: Evidence) -> Finding:
    """Same state, same appearance, same bytes, alone or in a batch."""
    states, numbers = _moments(evidence)
    together = draw_frames(evidence.game, states, numbers, size=96)
    alone = [
        draw_frames(evidence.game, states[k : k + 1], numbers[k : k + 1], size=96)[0]
        for k in range(len(states))
    ]
    same = np.array_equal(together, np.stack(alone))
    return Finding(same, "same bytes twice" if same else "two drawings of one state differ")


def sizes_are_right(evidence: Evidence) -> Finding:
    """Pictures have the size asked for and are not one flat colour."""
    game = evidence.game
    states, numbers = _moments(evidence, 1)
    problems = []
    for size in SIZES:
        frames = draw_frames(game, states, numbers, size=size)
        wanted = (len(states), size, round(size * game.manifest.aspect), 3)
        if frames.shape != wanted:
            problems.append(f"size {size} gave {frames.shape}")
        if frames.std() < 1:
            problems.append(f"size {size} is one flat colour")
    return ok_if(problems, f"heights {SIZES}")


def states_look_different(evidence: Evidence) -> Finding:
    """Most ticks of play change the picture within 20 ticks."""
    seen = []
    for states, numbers in (evidence.samples[0], evidence.samples[2]):
        for start in np.linspace(0, max(len(states) - 21, 0), 8).astype(int):
            pair = [start, min(start + 20, len(states) - 1)]
            first, last = draw_frames(evidence.game, states[pair], numbers[pair], size=96)
            seen.append(not np.array_equal(first, last))
    share = float(np.mean(seen))
    return Finding(share > 0.5, f"{share:.0%} of pictures differ from those 20 ticks later")


def characters_show(evidence: Evidence) -> Finding:
    """Every character in every role changes some picture of play."""
    game = evidence.game
    states, numbers = _moments(evidence)
    problems = []
    usual = tuple(game.characters[k % len(game.characters)] for k in range(len(game.roles)))
    for role, name in enumerate(game.roles):
        looks = set()
        for character in game.characters:
            worn = (*usual[:role], character, *usual[role + 1 :])
            look = Appearance(characters=worn)
            looks.add(draw_frames(game, states, numbers, look, size=96).tobytes())
        if len(looks) < len(game.characters):
            problems.append(
                f"role '{name}': {len(game.characters)} characters make {len(looks)} looks"
            )
    return ok_if(problems, f"{len(game.roles)} roles, {len(game.characters)} characters")


def themes_show(evidence: Evidence) -> Finding:
    """At least five themes, all different to the eye, with at least one that shakes the camera."""
    game = evidence.game
    states, numbers = _moments(evidence, 2)
    problems = [f"no pattern '{t.pattern}'" for t in game.themes if t.pattern not in PATTERNS]
    names = [theme.name for theme in game.themes]
    if len(set(names)) < 5:
        problems.append(f"wants five themes of different names; has {names}")
    looks = {
        draw_frames(game, states, numbers, Appearance(theme=name), size=96).tobytes()
        for name in names
    }
    if len(looks) < len(names):
        problems.append(f"{len(names)} themes make {len(looks)} looks")
    if not any(theme.jitter >= 1 for theme in game.themes):
        problems.append("no theme has a camera jitter of a pixel or more")
    return ok_if(problems, f"{len(names)} themes")


def _garbage(evidence: Evidence) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """States no game would reach, but an untrained model does."""
    states, numbers = _moments(evidence, 1)
    random = np.random.Generator(np.random.Philox(1))
    noise = random.uniform(-2, 3, (8, *states.shape[1:]))
    noise[:, :, 2] = 1
    far = states.copy()
    far[..., :2] *= 15
    dead = states.copy()
    dead[..., 2] = 0
    cases = {
        "NaN": (np.full_like(states, np.nan), np.full_like(numbers, np.nan)),
        "infinite": (np.full_like(states, np.inf), np.full_like(numbers, -np.inf)),
        "noise": (noise, random.uniform(-5, 50, (8, numbers.shape[1]))),
        "huge": (states * 1e6, numbers * 1e6),
        "huge fields": (np.where(np.arange(states.shape[-1]) > 4, 1e9, states), numbers - 1e9),
        "far away": (far, numbers + 1e9),
        "all dead": (dead, numbers * 0),
        "negative": (-states - 1, -numbers - 1),
    }
    cases["half NaN"] = (np.where(random.random(states.shape) < 0.5, np.nan, states), numbers)
    return {
        name: (a.astype(np.float32), np.clip(b, -3e38, 3e38).astype(np.float32))
        for name, (a, b) in cases.items()
    }


def garbage_is_survived(evidence: Evidence) -> Finding:
    """Any state is drawn, in the same bytes twice, and nothing is written outside the picture."""
    game = evidence.game
    problems = []
    for theme in (game.themes[0].name, max(game.themes, key=lambda t: t.jitter).name):
        for name, (states, numbers) in _garbage(evidence).items():
            shape = (len(states), 64, round(64 * game.manifest.aspect), 3)
            size = int(np.prod(shape))
            pictures = []
            for _ in range(2):
                memory = np.full(size + 2 * GUARD, SENTINEL, np.uint8)
                frames = memory[GUARD : GUARD + size].reshape(shape)
                look = Appearance(theme=theme)
                draw_frames(game, states, numbers, look, size=64, out=frames)
                if (memory[:GUARD] != SENTINEL).any() or (memory[-GUARD:] != SENTINEL).any():
                    problems.append(f"{name} states: wrote outside the picture")
                pictures.append(frames.tobytes())
            if pictures[0] != pictures[1]:
                problems.append(f"{name} states: two drawings differ")
    return ok_if(problems, "no state breaks the drawing")


DRAWING_CHECKS = {
    "drawing is deterministic": drawn_the_same_twice,
    "pictures have the size asked for": sizes_are_right,
    "states look different": states_look_different,
    "characters show": characters_show,
    "themes show": themes_show,
    "any state can be drawn": garbage_is_survived,
}
