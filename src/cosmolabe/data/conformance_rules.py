"""Conformance of a game's rules: what moves it, how it ends, what it pays."""

import numpy as np

from cosmolabe.data.conformance_play import Evidence, Finding, Play, ok_if
from cosmolabe.data.dense import simulated
from cosmolabe.engine import kernels
from cosmolabe.engine.game import HEAD, LEVEL, REWARD, SCORE, TERMINATED, TICK

LATE_SHARE = 0.3
"""Share of the heuristic player's episodes that must reach the late game."""
MOVING_SHARE = 0.2
"""Share of 20-tick spans in which something must have moved."""
TRIAL_TICKS = 60  # how long an action is held to see what it does


def play_is_deterministic(evidence: Evidence) -> Finding:
    """Same seeds and actions, same bytes; a world does not feel how many others there are."""
    problems = []
    for play in evidence.plays:
        again = evidence.replay(play.actions)
        if again.ends.tobytes() != play.ends.tobytes() or again.public.tobytes() != (
            play.public.tobytes()
        ):
            problems.append("two runs of the same actions differ")
    game, actions = evidence.game, evidence.heuristic.actions[:1, :400].copy()
    alone, many = (
        game.new_worlds(evidence.seeds[:1]),
        game.new_worlds(evidence.seeds[:1].repeat(64)),
    )
    constants = game.default_parameters()[None]
    kernels.advance(game.step, alone, actions, constants)
    kernels.advance(game.step, many, actions.repeat(64, 0), constants)
    if alone.repeat(64, 0).tobytes() != many.tobytes():
        problems.append("a batch of 64 differs from one world")
    return ok_if(problems, "same bytes in two runs and in a batch of 64")


def seeds_matter(evidence: Evidence) -> Finding:
    """Different seeds under the same actions lead to different states."""
    actions = evidence.random.actions[:1, :600].repeat(evidence.num_worlds, 0)
    public = evidence.replay(actions).public
    different = {row.tobytes() for row in public}
    return Finding(len(different) > 1, f"{len(different)} of {len(public)} worlds differ")


def episodes_end(evidence: Evidence) -> Finding:
    """The clock counts every tick, the episode ends by its own clock, and nothing moves after."""
    game = evidence.game
    worlds, constants = evidence.worlds()[:2], game.default_parameters()[None]
    idle = np.zeros((2, game.manifest.max_ticks), np.uint8)
    kernels.advance(game.step, worlds, idle, constants)
    problems = []
    if not (worlds[:, TERMINATED] == 1).all():
        problems.append(f"not over after its {game.manifest.max_ticks} ticks")
    for play in evidence.plays:
        for world in range(evidence.num_worlds):
            rows = play.rows(world)
            if not np.array_equal(rows[:, TICK], np.arange(len(rows))):
                problems.append("the tick does not count the ticks")
            if rows[:-1, TERMINATED].any() or not np.isin(rows[-1, TERMINATED], (0, 1)):
                problems.append("went on after its terminal state")
    before = worlds.copy()
    kernels.advance(game.step, worlds, idle[:, :5].copy(), constants)
    if before.tobytes() != worlds.tobytes():
        problems.append("moved after its terminal state")
    return ok_if(sorted(set(problems)), "ends by its clock at the latest")


def _moments(evidence: Evidence) -> np.ndarray:
    """World vectors from the heuristic's episodes at several ticks."""
    game, found = evidence.game, []
    for ticks in (1, 60, 150, 300, 500, 800):
        worlds = evidence.worlds()
        part = np.ascontiguousarray(evidence.heuristic.actions[:, :ticks])
        kernels.advance(game.step, worlds, part, game.default_parameters()[None])
        found.append(worlds[worlds[:, TERMINATED] == 0])
    return np.concatenate(found)


def actions_do_something(evidence: Evidence) -> Finding:
    """Held from the same moments, every action leads to public states of its own."""
    game, moments = evidence.game, _moments(evidence)
    outcomes = []
    for action in range(len(game.actions)):
        held = np.full((len(moments), TRIAL_TICKS), action, np.uint8)
        public, _ = simulated(game, moments.copy(), held, game.default_parameters())
        outcomes.append(public.tobytes())
    problems = [
        f"'{game.actions[b]}' does just what '{game.actions[a]}' does"
        for b in range(len(outcomes))
        for a in range(b)
        if outcomes[a] == outcomes[b]
    ]
    return ok_if(problems, f"{len(game.actions)} actions differ over {len(moments)} moments")


def _others(default: float) -> tuple[float, ...]:
    if default == 0:
        return (1e-4, 0.01, 1.0)
    return (0.0, 0.5 * default, 2.0 * default)


def parameters_matter(evidence: Evidence) -> Finding:
    """At least six physics parameters, each of which changes the course of play."""
    game = evidence.game
    problems = []
    if len(game.parameters) < 6:
        problems.append(f"has {len(game.parameters)} parameters, fewer than six")
    for name, parameter in game.parameters.items():
        if not parameter.unit:
            problems.append(f"parameter '{name}' has no unit")
        changed = any(
            not np.array_equal(
                evidence.replay(play.actions, game.default_parameters(**{name: value})).public,
                play.public,
                equal_nan=True,
            )
            for play in (evidence.mixed, *evidence.plays)
            for value in _others(float(parameter.default))
        )
        if not changed:
            problems.append(f"parameter '{name}' changes nothing")
    return ok_if(problems, f"{len(game.parameters)} parameters")


def geometry_follows_from_the_level(evidence: Evidence) -> Finding:
    """Still slots stand in the same places for every seed, and move only with a new level."""
    game = evidence.game
    still = ~game.manifest.masks().mutable
    if not still.any():
        return Finding(True, "no still slots")
    problems = []
    for level in (1, 2, 3):
        worlds = evidence.worlds(level)[:, : game.num_public].astype(np.float32)
        places = np.stack([evidence.dense(row[None])[0][0, still, :3] for row in worlds])
        if not (places == places[:1]).all():
            problems.append(f"level {level}: still slots depend on the seed")
    for states, numbers in evidence.samples:
        moved = (np.diff(states[:, still, :2], axis=0) != 0).any((1, 2))
        calm = np.diff(numbers[:, LEVEL]) == 0
        if (moved & calm).any():
            problems.append("still slots moved within a level")
    return ok_if(sorted(set(problems)), f"{still.sum()} still slots")


def things_move(evidence: Evidence) -> Finding:
    """Repeating the last state is wrong: in 20 ticks something has moved or changed."""
    mutable = evidence.game.manifest.masks().mutable
    spans = []
    for states, _ in evidence.samples:
        gap = np.abs(states[20::20, mutable, :3] - states[:-20:20, mutable, :3])
        spans.append((gap.max((1, 2)) > 1e-3) if len(gap) else np.zeros(0, bool))
    share = float(np.mean(np.concatenate(spans)))
    return Finding(share >= MOVING_SHARE, f"in {share:.0%} of 20-tick spans something moved")


def _reward_matches(play: Play, game_columns: dict[str, int]) -> bool:
    for world in range(len(play.lengths)):
        rows = play.rows(world).astype(np.float64)
        points = rows[:, SCORE]
        if "opponent_score" in game_columns:
            both = points - rows[:, game_columns["opponent_score"]]
            if np.allclose(np.diff(both), rows[1:, REWARD], atol=1e-3):
                continue
        if not np.allclose(np.diff(points), rows[1:, REWARD], atol=1e-3):
            return False
    return True


def reward_is_the_score(evidence: Evidence) -> Finding:
    """A tick's reward is the change of the score (or of the lead), unless words['reward'] says."""
    game = evidence.game
    columns = {
        column.field: HEAD + place
        for place, column in enumerate(game.columns)
        if column.slot is None
    }
    if all(_reward_matches(play, columns) for play in evidence.plays):
        return Finding(True, "reward is the change of the score")
    said = game.words.get("reward", "")
    return Finding(
        bool(said), said or "reward is not the change of the score; say in words['reward']"
    )


def heuristic_beats_random(evidence: Evidence) -> Finding:
    """The heuristic player scores more than the random one on average."""
    good, bad = (play.ends[:, SCORE].mean() for play in reversed(evidence.plays))
    return Finding(bool(good > bad), f"mean score {good:.1f} against {bad:.1f}")


def late_game_is_reached(evidence: Evidence) -> Finding:
    """The heuristic player sees the late game in enough of its episodes."""
    game, play = evidence.game, evidence.heuristic
    if game.late is None:
        return Finding(False, "says not which moments belong to its late game")
    seen = [
        any(game.late(row) for row in play.rows(world)[::10]) or game.late(play.rows(world)[-1])
        for world in range(evidence.num_worlds)
    ]
    share = float(np.mean(seen))
    return Finding(share >= LATE_SHARE, f"late game in {share:.0%} of episodes")


RULE_CHECKS = {
    "play is deterministic": play_is_deterministic,
    "seeds matter": seeds_matter,
    "episodes end": episodes_end,
    "actions do something": actions_do_something,
    "parameters matter": parameters_matter,
    "geometry follows from the level": geometry_follows_from_the_level,
    "things move": things_move,
    "reward is the score": reward_is_the_score,
    "heuristic beats random": heuristic_beats_random,
    "late game is reached": late_game_is_reached,
}
