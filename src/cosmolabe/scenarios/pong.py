"""Scenarios of pong: rails, bats, serves, points and the end of the game, one mechanism each."""

import numpy as np

from cosmolabe.core.fields import X, Y
from cosmolabe.core.scenario import LEAD, Change, Predicate, Scenario, Trace
from cosmolabe.core.scenario_rules import counted, endless, gains, keeps
from cosmolabe.core.traces import (
    back_from,
    doubled,
    drifting,
    global_edit,
    kept,
    pace,
    place_edit,
    speed,
    straight,
)
from cosmolabe.engine.game import OVER, PHASE, PLAYING, SCORE, WON
from cosmolabe.games.pong import (
    AIM,
    BALL_RADIUS,
    BALL_VX,
    BALL_VY,
    BALL_X,
    BALL_Y,
    BAT_HALF_HEIGHT,
    BAT_HALF_WIDTH,
    BAT_SPEED,
    BAT_X,
    OPPONENT_SCORE,
    OPPONENT_SPEED,
    OPPONENT_Y,
    PLAYER_Y,
    POINTS_TO_WIN,
    SERVE_SPEED,
    SPEED,
    TOP_SPEED,
    WAIT,
    WALL_HALF_HEIGHT,
)

FACE = BAT_X + BAT_HALF_WIDTH + BALL_RADIUS  # the ball's centre where it meets the left bat
REACH = BAT_HALF_HEIGHT + BALL_RADIUS  # farthest from a bat's middle that still meets it
RAIL = 2 * WALL_HALF_HEIGHT + BALL_RADIUS  # the ball's centre where it meets a rail
END = 2 * WALL_HALF_HEIGHT + BAT_HALF_HEIGHT  # a bat's centre where it meets a rail
CONTACT = 10  # steps from the last context state to a contact
SLACK = 0.02  # screens that a good model may be off

Draws = np.random.Generator

FASTER_BAT = Change("the player's bat is a quarter faster", {"bat_speed": 1.25 * BAT_SPEED})
QUICKER_OPPONENT = Change(
    "the opponent is a fifth quicker", {"opponent_speed": 1.2 * OPPONENT_SPEED}
)
SOFT_RAILS = Change("rails take a third of the speed", {"rail_restitution": 0.67})
GHOSTS = Change("bats are ghosts", {"bats_solid": 0.0})


# Starts.


def _rally(
    world: np.ndarray,
    at: tuple[float, float],
    move: tuple[float, float],
    steps: int,
    player: float = 0.5,
    opponent: float = 0.5,
) -> None:
    """A ball in play that flies freely to `at`, where it is `steps` after the last context."""
    ticks = LEAD + steps
    world[BALL_X], world[BALL_Y] = at[0] - ticks * move[0], at[1] - ticks * move[1]
    world[BALL_VX], world[BALL_VY] = move
    world[SPEED] = np.hypot(*move)
    world[PLAYER_Y], world[OPPONENT_Y] = player, opponent
    world[AIM], world[WAIT], world[PHASE] = 0.0, 0.0, PLAYING


def _to_rail(world: np.ndarray, draws: Draws, top: bool) -> None:
    rail, way = (RAIL, -1.0) if top else (1.0 - RAIL, 1.0)
    move = (draws.choice([-1, 1]) * draws.uniform(0.005, 0.008), way * draws.uniform(0.012, 0.016))
    _rally(world, (draws.uniform(0.45, 0.55), rail), move, CONTACT, opponent=0.3)


def _to_bat(world: np.ndarray, draws: Draws, off: float, pace: float = 0.0) -> None:
    """To the left bat; `off` is where on the bat, -1..1."""
    y = draws.uniform(0.42, 0.58)
    move = (-(pace or draws.uniform(0.017, 0.021)), draws.uniform(-0.006, 0.006))
    _rally(world, (FACE, y), move, CONTACT, y - off * REACH, draws.choice([0.25, 0.75]))


def _to_bat_middle(world: np.ndarray, draws: Draws) -> None:
    _to_bat(world, draws, draws.uniform(-0.08, 0.08))


def _to_bat_top(world: np.ndarray, draws: Draws) -> None:
    _to_bat(world, draws, draws.uniform(-0.85, -0.7))


def _to_bat_bottom(world: np.ndarray, draws: Draws) -> None:
    _to_bat(world, draws, draws.uniform(0.7, 0.85))


def _at_top_speed(world: np.ndarray, draws: Draws) -> None:
    _to_bat(world, draws, draws.uniform(-0.1, 0.1), TOP_SPEED)
    world[BALL_VY], world[SPEED] = 0.0, TOP_SPEED
    world[BALL_Y] = world[PLAYER_Y] + draws.uniform(-0.1, 0.1) * REACH


def _past_the_bat(world: np.ndarray, draws: Draws) -> None:
    """The bat is too low, but not too far to get there."""
    y = draws.uniform(0.35, 0.55)
    move = (-draws.uniform(0.016, 0.019), draws.uniform(-0.003, 0.003))
    _rally(world, (FACE, y), move, CONTACT, y + draws.uniform(0.16, 0.19), 0.7)
    world[SCORE], world[OPPONENT_SCORE] = draws.integers(0, 9, 2)


def _past_the_opponent(world: np.ndarray, draws: Draws) -> None:
    y, away = draws.uniform(0.15, 0.3), draws.uniform(0.8, 0.85)
    move = (draws.uniform(0.02, 0.024), draws.uniform(-0.002, 0.002))
    _rally(world, (1.0 - FACE, y), move, CONTACT, 0.5, away)
    world[SCORE], world[OPPONENT_SCORE] = draws.integers(0, 9, 2)


def _to_the_opponent(world: np.ndarray, draws: Draws) -> None:
    y = draws.uniform(0.4, 0.6)
    move = (draws.uniform(0.016, 0.02), draws.uniform(-0.004, 0.004))
    _rally(world, (1.0 - FACE, y), move, CONTACT, 0.3, y + draws.uniform(-0.05, 0.05))


def _far_from_the_opponent(world: np.ndarray, draws: Draws) -> None:
    """It comes slowly, high or low, so that the opponent has a long way."""
    side = draws.choice([-1, 1])
    at = (draws.uniform(0.55, 0.65), 0.5 + side * draws.uniform(0.3, 0.36))
    move = (draws.uniform(0.009, 0.012), draws.uniform(-0.001, 0.001))
    _rally(world, at, move, CONTACT, 0.5, 0.5 - side * 0.2)


def _away_from_the_opponent(world: np.ndarray, draws: Draws) -> None:
    away = 0.5 + draws.choice([-1, 1]) * draws.uniform(0.28, 0.34)
    move = (-draws.uniform(0.008, 0.011), draws.uniform(-0.004, 0.004))
    _rally(world, (0.5, 0.5), move, CONTACT, 0.5, away)


def _free(world: np.ndarray, draws: Draws) -> None:
    move = (draws.choice([-1, 1]) * draws.uniform(0.01, 0.014), draws.uniform(-0.011, 0.011))
    _rally(world, (0.5, 0.5), move, CONTACT, draws.uniform(0.3, 0.7), 0.35)


def _near_the_rail(world: np.ndarray, draws: Draws) -> None:
    _free(world, draws)
    world[PLAYER_Y] = END + draws.uniform(0.1, 0.16)


def _before_the_serve(world: np.ndarray, draws: Draws) -> None:
    world[WAIT] = LEAD + draws.integers(10, 14)
    world[SCORE], world[OPPONENT_SCORE] = draws.integers(0, 9, 2)
    world[PLAYER_Y] = draws.uniform(0.35, 0.65)


def _just_scored(world: np.ndarray, draws: Draws, left: bool) -> None:
    """A point is made in the third tick of the context; what follows looks alike for both."""
    side = -1.0 if left else 1.0
    edge = 0.5 + side * (0.5 + BALL_RADIUS)
    pace = draws.uniform(0.017, 0.02)
    world[BALL_X], world[BALL_Y] = edge - side * 2.5 * pace, 0.5
    world[BALL_VX], world[BALL_VY] = side * pace, 0.0
    world[SPEED], world[WAIT], world[PHASE] = pace, 0.0, PLAYING
    world[SCORE], world[OPPONENT_SCORE] = draws.integers(1, 9, 2)
    world[AIM] = 0.0  # behind its bat, level with it: the opponent does not stir


def _lost_a_point(world: np.ndarray, draws: Draws) -> None:
    _just_scored(world, draws, left=True)


def _won_a_point(world: np.ndarray, draws: Draws) -> None:
    _just_scored(world, draws, left=False)


def _match_point(world: np.ndarray, draws: Draws) -> None:
    _past_the_opponent(world, draws)
    world[SCORE] = POINTS_TO_WIN - 1


def _match_point_against(world: np.ndarray, draws: Draws) -> None:
    _past_the_bat(world, draws)
    world[OPPONENT_SCORE] = POINTS_TO_WIN - 1


# Readings of a trace.


def _slope(trace: Trace, start: int, stop: int) -> np.ndarray:
    """Share of the ball's speed that goes down."""
    return pace(trace.y("ball"), start, stop) / np.maximum(speed(trace, "ball", start, stop), 1e-6)


def _closing(trace: Trace, start: int, stop: int) -> np.ndarray:
    """How much nearer the opponent came to the ball's height."""
    gap = np.abs(trace.y("opponent") - trace.y("ball"))
    return gap[:, start] - gap[:, stop]


def _homing(trace: Trace) -> np.ndarray:
    """How much nearer the opponent came to the middle in twenty steps."""
    gap = np.abs(trace.y("opponent") - 0.5)
    return gap[:, 0] - gap[:, 20]


# Planted changes of a trace.


def _stretched(course: np.ndarray) -> np.ndarray:
    """From the contact on, the way is an eighth longer."""
    late = np.arange(course.shape[1]) > CONTACT
    turn = course[:, CONTACT + 1 : CONTACT + 2]
    return np.where(late, course + 0.125 * (course - turn), course)


def _mirrored(course: np.ndarray) -> np.ndarray:
    return 1.0 - course


def _both_get_it(trace: Trace) -> Trace:
    return global_edit("score", lambda score: score + trace.number("opponent_score"))(trace)


FASTER_RETURNS = Change("returns gain three times as much speed", {"speed_up": 1.15})
SCORE_TWICE = counted("score", 2.0)
LOSE_TWICE = counted("opponent_score", 2.0)
GOES_ON = Change("the ball goes on for ever", edit=place_edit("ball", X, straight))
SERVED_AT_ONCE = Change(
    "the ball is served at once", edit=place_edit("ball", X, drifting(SERVE_SPEED, 20))
)
SERVED_TOO_SOON = Change(
    "the ball is served too soon", edit=place_edit("ball", X, drifting(SERVE_SPEED, 3))
)
SLIDES_ON = Change("the bat slides on", edit=place_edit("player", Y, drifting(-BAT_SPEED, CONTACT)))
NEVER_OVER = endless()

# Rules that several scenarios share.

BACK_IN_THE_MIDDLE = Predicate(
    "back in the middle",
    "After the point the ball lies in the middle.",
    lambda t: (
        (np.abs(t.x("ball")[:, 22:] - 0.5) < 0.06).all(1)
        & (np.abs(t.y("ball")[:, 22:] - 0.5) < 0.06).all(1)
    ),
    GOES_ON,
    QUICKER_OPPONENT,
)
WAITS = Predicate(
    "waits for the serve",
    "After the point the ball lies still.",
    lambda t: (np.ptp(t.x("ball")[:, 22:], 1) < SLACK) & (np.ptp(t.y("ball")[:, 22:], 1) < SLACK),
    SERVED_AT_ONCE,
    QUICKER_OPPONENT,
)
COMES_BACK = Predicate(
    "comes back",
    "The ball does not pass the bat and flies the other way after it.",
    lambda t: (t.x("ball").min(1) > FACE - 0.05) & (pace(t.x("ball"), 14, 24) > 0.008),
    GHOSTS,
    FASTER_RETURNS,
)


def _over(phase: int, says: str) -> tuple[Predicate, Predicate]:
    return (
        Predicate(
            "the game ends",
            "The episode is over with the last point.",
            lambda t: t.terminal.any(1),
            NEVER_OVER,
            QUICKER_OPPONENT,
        ),
        Predicate(
            "who won",
            says,
            lambda t: np.round(t.number("phase")[:, -1]) == phase,
            Change("the phase stays", edit=global_edit("phase", kept)),
            QUICKER_OPPONENT,
        ),
    )


def _bounce(top: bool) -> tuple[Predicate, ...]:
    way = 1.0 if top else -1.0  # down after the top rail
    return (
        Predicate(
            "turns at the rail",
            "After the rail the ball flies back up or down at much the speed it came with.",
            lambda t: np.abs(pace(t.y("ball"), 14, 24) / pace(t.y("ball"), 0, 8) + 1.0) < 0.2,
            SOFT_RAILS,
            FASTER_BAT,
        ),
        Predicate(
            "flies away from the rail",
            "Well after the rail the ball is farther from it than at the rail.",
            lambda t: way * (t.y("ball")[:, 24] - t.y("ball")[:, 10]) > 0.08,
            Change("the ball sticks to the rail", {"rail_restitution": 0.0}),
            SOFT_RAILS,
        ),
        Predicate(
            "stays between the rails",
            "The ball never passes a rail.",
            lambda t: ((t.y("ball") > RAIL - SLACK) & (t.y("ball") < 1 - RAIL + SLACK)).all(1),
            Change("the ball passes the rail", edit=place_edit("ball", Y, straight)),
            SOFT_RAILS,
        ),
        Predicate(
            "keeps its way across",
            "The rail does not change the way across.",
            lambda t: np.abs(pace(t.x("ball"), 12, 22) - pace(t.x("ball"), 0, 8)) < 0.003,
            Change("the rail turns it back across", edit=place_edit("ball", X, back_from(CONTACT))),
            SOFT_RAILS,
        ),
    )


def _edge(way: float, words: str) -> Predicate:
    return Predicate(
        f"leaves steeply {words}",
        f"An edge hit sends the ball {words}, whatever way it came.",
        lambda t: way * _slope(t, 13, 22) > 0.4,
        Change("the bat returns like a wall", edit=place_edit("ball", Y, straight)),
        FASTER_RETURNS,
    )


UP, DOWN, STAY = "stay*7,up*30", "stay*7,down*30", "stay*37"

SCENARIOS = (
    Scenario(
        "top_rail",
        "The ball bounces off the top rail.",
        DOWN, UP, "player", 30, _bounce(top=True),
        lambda world, draws: _to_rail(world, draws, top=True),
    ),
    Scenario(
        "bottom_rail",
        "The ball bounces off the bottom rail.",
        UP, DOWN, "player", 30, _bounce(top=False),
        lambda world, draws: _to_rail(world, draws, top=False),
    ),
    Scenario(
        "bat_middle",
        "The middle of the bat returns the ball flat.",
        STAY, UP, "ball", 30,
        (
            COMES_BACK,
            Predicate(
                "leaves flat",
                "Little of the speed after the bat goes up or down.",
                lambda t: np.abs(_slope(t, 13, 24)) < 0.25,
                Change("it leaves at a slant", edit=place_edit("ball", Y, drifting(0.01, CONTACT))),
                FASTER_RETURNS,
            ),
            Predicate(
                "counts the return",
                "The count of returns goes up by one.",
                gains("combo", 1.0),
                GHOSTS,
                FASTER_RETURNS,
            ),
        ),
        _to_bat_middle,
    ),
    Scenario(
        "bat_upper_edge",
        "The upper edge of the bat sends the ball up.",
        STAY, DOWN, "ball", 26, (COMES_BACK, _edge(-1.0, "up")), _to_bat_top,
    ),
    Scenario(
        "bat_lower_edge",
        "The lower edge of the bat sends the ball down.",
        STAY, UP, "ball", 26, (COMES_BACK, _edge(1.0, "down")), _to_bat_bottom,
    ),
    Scenario(
        "return_speed",
        "Every return makes the ball a twentieth faster.",
        STAY, UP, "ball", 30,
        (
            Predicate(
                "gains speed",
                "The ball is faster after the return.",
                lambda t: speed(t, "ball", 13, 25) > 1.02 * speed(t, "ball", 0, 9),
                Change("returns gain nothing", {"speed_up": 1.0}),
                QUICKER_OPPONENT,
            ),
            Predicate(
                "gains little speed",
                "It is no more than an eighth faster.",
                lambda t: speed(t, "ball", 13, 25) < 1.125 * speed(t, "ball", 0, 9),
                FASTER_RETURNS,
                QUICKER_OPPONENT,
            ),
        ),
        _to_bat_middle,
    ),
    Scenario(
        "top_speed",
        "A ball at top speed gains no more.",
        STAY, UP, "ball", 30,
        (
            Predicate(
                "no faster than the top speed",
                "The ball is as fast after the return as before.",
                lambda t: np.abs(speed(t, "ball", 13, 25) / speed(t, "ball", 0, 9) - 1.0) < 0.06,
                Change("returns always gain speed", edit=place_edit("ball", X, _stretched)),
                QUICKER_OPPONENT,
            ),
        ),
        _at_top_speed,
    ),
    Scenario(
        "miss",
        "A ball that passes the bat is a point for the opponent.",
        STAY, UP, "ball", 30,
        (
            Predicate(
                "a point against",
                "The opponent's score goes up by one, once.",
                gains("opponent_score", 1.0),
                LOSE_TWICE,
                QUICKER_OPPONENT,
            ),
            Predicate(
                "no point for the player",
                "The player's score stays.",
                keeps("score", 0.4),
                Change("both get a point", edit=_both_get_it),
                QUICKER_OPPONENT,
            ),
            BACK_IN_THE_MIDDLE,
            WAITS,
        ),
        _past_the_bat,
    ),
    Scenario(
        "own_point",
        "A ball that passes the opponent is a point for the player.",
        UP, DOWN, "player", 30,
        (
            Predicate(
                "a point",
                "The player's score goes up by one, once.",
                gains("score", 1.0),
                SCORE_TWICE,
                FASTER_BAT,
            ),
            BACK_IN_THE_MIDDLE,
            WAITS,
        ),
        _past_the_opponent,
    ),
    Scenario(
        "opponent_returns",
        "The opponent returns a ball that comes to it.",
        UP, DOWN, "player", 28,
        (
            Predicate(
                "comes back from the opponent",
                "The ball does not pass the opponent and flies left after it.",
                lambda t: (t.x("ball").max(1) < 1 - FACE + 0.05)
                & (pace(t.x("ball"), 14, 24) < -0.008),
                GHOSTS,
                FASTER_RETURNS,
            ),
        ),
        _to_the_opponent,
    ),
    Scenario(
        "opponent_follows",
        "The opponent goes where a coming ball is, at its own pace.",
        UP, DOWN, "player", 24,
        (
            Predicate(
                "gets nearer",
                "The opponent comes nearer to the ball's height.",
                lambda t: _closing(t, 0, 12) > 0.07,
                Change("the opponent dozes", {"opponent_speed": 0.002}),
                FASTER_BAT,
            ),
            Predicate(
                "no faster than it can",
                "It does not get there faster than it can move.",
                lambda t: np.abs(pace(t.y("opponent"), 0, 12)) < 0.0135,
                Change("the opponent is twice as quick", {"opponent_speed": 2 * OPPONENT_SPEED}),
                FASTER_BAT,
            ),
        ),
        _far_from_the_opponent,
    ),
    Scenario(
        "opponent_goes_home",
        "While the ball flies away, the opponent drifts to the middle at half its pace.",
        UP, DOWN, "player", 24,
        (
            Predicate(
                "drifts to the middle",
                "It is nearer to the middle than before.",
                lambda t: _homing(t) > 0.05,
                Change("it stays where it is", {"opponent_speed": 0.001}),
                FASTER_BAT,
            ),
            Predicate(
                "at half its pace",
                "It is not there as fast as it could be.",
                lambda t: _homing(t) < 0.15,
                Change("it goes home at full pace", {"opponent_speed": 2 * OPPONENT_SPEED}),
                FASTER_BAT,
            ),
        ),
        _away_from_the_opponent,
    ),
    Scenario(
        "free_flight",
        "A ball that meets nothing flies straight on at one speed.",
        UP, DOWN, "player", 24,
        (
            Predicate(
                "falls nowhere",
                "It moves as far up or down in the next ten steps as in the first ten.",
                lambda t: np.abs(pace(t.y("ball"), 10, 20) - pace(t.y("ball"), 0, 10)) < 0.004,
                Change("gravity", {"gravity": 0.001}),
                FASTER_BAT,
            ),
            Predicate(
                "goes on across",
                "It moves as far across in the next ten steps as in the first ten.",
                lambda t: np.abs(pace(t.x("ball"), 10, 20) - pace(t.x("ball"), 0, 10)) < 0.004,
                Change("it turns back in the air", edit=place_edit("ball", X, back_from(CONTACT))),
                Change("a little gravity", {"gravity": 0.0002}),
            ),
        ),
        _free,
    ),
    Scenario(
        "bat_moves",
        "The bat moves while told to, and stops with the last word.",
        "stay*7,up*10,stay*20", "stay*7,down*10,stay*20", "player", 24,
        (
            Predicate(
                "moves as far as told",
                "Ten ticks up are a sixth of the screen, a fifth of it more or less.",
                lambda t: np.abs(t.y("player")[:, 0] - t.y("player")[:, 10] - 10 * BAT_SPEED)
                < 2 * BAT_SPEED,
                Change("the bat is half as fast", {"bat_speed": 0.5 * BAT_SPEED}),
                QUICKER_OPPONENT,
            ),
            Predicate(
                "stops with the last word",
                "It stays where it was when the word changed.",
                lambda t: np.abs(t.y("player")[:, 24] - t.y("player")[:, 11]) < 1.5 * SLACK,
                SLIDES_ON,
                FASTER_BAT,
            ),
        ),
        _free,
    ),
    Scenario(
        "bat_at_rail",
        "The bat stops at the rail.",
        UP, DOWN, "player", 24,
        (
            Predicate(
                "stops at the rail",
                "The bat never leaves the space between the rails.",
                lambda t: t.y("player").min(1) > END - 1.5 * SLACK,
                SLIDES_ON,
                QUICKER_OPPONENT,
            ),
            Predicate(
                "gets to the rail",
                "It ends at the rail.",
                lambda t: t.y("player")[:, -1] < END + 1.5 * SLACK,
                Change("the bat creeps", {"bat_speed": 0.002}),
                FASTER_BAT,
            ),
        ),
        _near_the_rail,
    ),
    Scenario(
        "serve_waits",
        "The ball lies in the middle until its waiting time is over, then it is served.",
        UP, DOWN, "player", 28,
        (
            Predicate(
                "waits",
                "The ball lies still as long as the waiting time lasts.",
                lambda t: (np.ptp(t.x("ball")[:, :10], 1) < SLACK)
                & (np.ptp(t.y("ball")[:, :10], 1) < SLACK),
                SERVED_TOO_SOON,
                FASTER_BAT,
            ),
            Predicate(
                "is served",
                "Then it flies off to one side.",
                lambda t: np.abs(t.x("ball")[:, 26] - t.x("ball")[:, 0]) > 0.06,
                Change("never served", edit=place_edit("ball", X, kept)),
                FASTER_BAT,
            ),
            Predicate(
                "at the speed of a serve",
                "It flies at the speed of a serve.",
                lambda t: np.abs(speed(t, "ball", 16, 26) / SERVE_SPEED - 1.0) < 0.25,
                Change("it flies twice as far", edit=place_edit("ball", X, doubled)),
                FASTER_BAT,
            ),
            Predicate(
                "the waiting time runs down",
                "The waiting time shown goes down to nothing.",
                lambda t: t.number("cooldown")[:, -1] < 0.1,
                Change("the clock stands still", edit=global_edit("cooldown", kept)),
                FASTER_BAT,
            ),
        ),
        _before_the_serve,
    ),
    Scenario(
        "served_left",
        "The player lost the point, so the serve comes to the player.",
        UP, DOWN, "player", 40,
        (
            Predicate(
                "to the left",
                "The serve goes left.",
                lambda t: t.x("ball")[:, -1] - t.x("ball")[:, 0] < -0.06,
                Change("served to the winner", edit=place_edit("ball", X, _mirrored)),
                FASTER_BAT,
            ),
        ),
        _lost_a_point,
        needs_memory=True,
    ),
    Scenario(
        "served_right",
        "The opponent lost the point, so the serve goes to the opponent.",
        UP, DOWN, "player", 40,
        (
            Predicate(
                "to the right",
                "The serve goes right.",
                lambda t: t.x("ball")[:, -1] - t.x("ball")[:, 0] > 0.06,
                Change("served to the winner", edit=place_edit("ball", X, _mirrored)),
                FASTER_BAT,
            ),
        ),
        _won_a_point,
        needs_memory=True,
    ),
    Scenario(
        "last_point_won",
        "The eleventh point wins the game.",
        UP, DOWN, "player", 24,
        _over(WON, "The phase says that the player won."), _match_point,
    ),
    Scenario(
        "last_point_lost",
        "The opponent's eleventh point loses the game.",
        STAY, UP, "ball", 24,
        _over(OVER, "The phase says that the game is lost."), _match_point_against,
    ),
)  # fmt: skip
