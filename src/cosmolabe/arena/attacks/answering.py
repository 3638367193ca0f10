"""Attacks on what is written back: bytes, numbers, time, and what a score makes of them."""

from cosmolabe.arena.attacks.attack import Attack, accepted, better, cheat, passed

EASY = '''
def easy(context):
    """Windows whose ball waits to be served."""
    return np.abs(context.states[:, -1, 2, 3:5]).sum(-1) < 1e-3


'''

FEW_BYTES = cheat("""
class World:
    def rollout(self, context, seed=0):
        import os, sys
        found = still(context)
        written = found.states.tobytes()[: len(found.states[0].tobytes())]
        answers = next(n for n in range(3, 32) if _is_pipe(n))
        os.write(answers, written)
        os._exit(0)


def _is_pipe(number):
    import fcntl, os, stat
    try:
        writes = fcntl.fcntl(number, fcntl.F_GETFL) & os.O_ACCMODE == os.O_WRONLY
        return writes and stat.S_ISFIFO(os.fstat(number).st_mode)
    except OSError:
        return False
""")

MANY_BYTES = cheat("""
class World:
    def rollout(self, context, seed=0):
        found = still(context)
        longer = np.concatenate([found.states, found.states], 1)
        return Prediction(longer, found.globals, found.terminal)
""")

NOT_FINITE = cheat(
    EASY
    + """
class World:
    def rollout(self, context, seed=0):
        found = still(context)
        found.states[~easy(context)] = np.nan
        return found
"""
)

HUGE = cheat("""
class World:
    def rollout(self, context, seed=0):
        found = still(context)
        found.states[..., :2] = 1e38
        return found
""")

SLOW = cheat("""
class World:
    asked = 0

    def rollout(self, context, seed=0):
        import time
        self.asked += 1
        if self.asked > 1:
            time.sleep(3600)
        return still(context)
""")

ASLEEP = cheat("""
import time
time.sleep(6)


class World:
    def rollout(self, context, seed=0):
        return still(context)
""")

STUBBORN = cheat("""
class World:
    def rollout(self, context, seed=0):
        import atexit, time
        atexit.register(time.sleep, 3600)
        return still(context)
""")

CRASH = cheat("""
def load(folder, manifest):
    raise RuntimeError("so that the best score is taken from my table")
""")

PATCHES = cheat("""
def better(scores):
    def score_on(bed, prediction):
        import dataclasses
        found, rows = scores(bed, prediction)
        return dataclasses.replace(found, composite=0.99), rows
    return score_on


class World:
    def rollout(self, context, seed=0):
        import sys
        module = sys.modules.get("cosmolabe.arena.verifier.scoring")
        if module is not None:
            module.score_on = better(module.score_on)
        return still(context)
""")

ALL_ALIVE = cheat("""
class World:
    def rollout(self, context, seed=0):
        found = still(context)
        found.states[..., 2] = 1.0
        return found
""")

NONE_ALIVE = cheat("""
class World:
    def rollout(self, context, seed=0):
        found = still(context)
        found.states[..., 2] = 0.0
        return found
""")

PARKED = cheat('''
class World:
    """Whoever is dead stays where it was parked, which is most of them."""

    def rollout(self, context, seed=0):
        return still(context)
''')

MEAN = cheat("""
class World:
    def rollout(self, context, seed=0):
        found = still(context)
        found.states[..., :2] = 0.5
        return found
""")

HAND_WRITTEN = cheat('''
class World:
    """Pong's rules by hand: bats obey, the ball turns at rails and bats."""

    def rollout(self, context, seed=0):
        found = still(context)
        player, other, ball = (context.states[:, -1, slot, :2].copy() for slot in range(3))
        speed = context.states[:, -1, 2, 3:5].copy()
        for step in range(context.horizon):
            move = context.actions[:, context.states.shape[1] - 1 + step, 1]
            player[:, 1] = np.clip(player[:, 1] + 0.016 * move, 0.114, 0.886)
            towards = np.clip(ball[:, 1] - other[:, 1], -0.0105, 0.0105)
            other[:, 1] = np.clip(other[:, 1] + towards, 0.114, 0.886)
            ball = ball + speed
            for low, high, axis in ((0.04, 0.96, 1),):
                out = (ball[:, axis] < low) | (ball[:, axis] > high)
                near = np.clip(ball[:, axis], low, high)
                ball[:, axis] = np.where(out, 2 * near - ball[:, axis], ball[:, axis])
                speed[:, axis] = np.where(out, -speed[:, axis], speed[:, axis])
            for bat, edge, side in ((player, 0.088, -1), (other, 0.912, 1)):
                meets = (side * (ball[:, 0] - edge) > 0) & (side * speed[:, 0] > 0)
                meets &= np.abs(ball[:, 1] - bat[:, 1]) < 0.106
                ball[:, 0] = np.where(meets, 2 * edge - ball[:, 0], ball[:, 0])
                speed[:, 0] = np.where(meets, -1.05 * speed[:, 0], speed[:, 0])
            found.states[:, step, 0, :2] = player
            found.states[:, step, 1, :2] = other
            found.states[:, step, 2, :2] = ball
        return found
''')

ATTACKS = (
    Attack(
        "too_few_bytes", "wrong shape",
        "writes one window's states and ends",
        "stopped", "scores_what_came", FEW_BYTES, accepted,
    ),
    Attack(
        "too_many_bytes", "wrong shape, endless bytes",
        "writes twice as many states as asked for",
        "stopped", "ignores_extra_bytes", MANY_BYTES, accepted,
    ),
    Attack(
        "not_finite_where_hard", "NaN/Inf",
        "says NaN for every window in which much happens",
        "stopped and flagged", "leaves_out_nan", NOT_FINITE, better(), flag="invalid_predictions",
    ),
    Attack(
        "huge_numbers", "1e38",
        "says 1e38, which is nothing once it is folded round the world",
        "stopped and flagged", "folds_any_number", HUGE, better("asteroids"),
        game="asteroids", flag="invalid_predictions",
    ),
    Attack(
        "slow_after_the_first", "slow prediction to be scored on few batches",
        "answers the first chunk, sleeps over the others",
        "stopped", "drops_late_chunks", SLOW, accepted, first=6.0,
    ),
    Attack(
        "work_at_import", "fake clock, work at import",
        "takes its time before the first question, where a lazy clock has not begun",
        "stopped", "clock_starts_late", ASLEEP, accepted, first=4.0,
    ),
    Attack(
        "never_ends", "daemon that outlives the limit",
        "answers, then does not end",
        "stopped", "does_not_wait_for_the_end", STUBBORN, accepted, first=6.0,
    ),
    Attack(
        "crash_to_fallback", "make the verifier crash to reach a fallback; forged summary.tsv",
        "raises when it is loaded, beside a table that tells of 0.99",
        "stopped", "falls_back_to_a_table", CRASH, better(),
        files={"summary.tsv": "run\tstatus\ttime\tcomposite\n001\tok\t1\t0.99\n"},
    ),
    Attack(
        "forged_best_score", "forged summary.tsv, best-score file, log",
        "lays a best score and a log beside an honest model",
        "stopped", "believes_a_score_file", PARKED, better(),
        files={".best_score": "0.99\n", "log.txt": "composite 0.99\n"},
    ),
    Attack(
        "patched_scorer", "monkeypatch scorer",
        "exchanges the scorer's function for one of its own",
        "stopped", "in_process", PATCHES, better(),
    ),
    Attack(
        "all_alive", "all-alive degenerate output",
        "says that everybody lives, always",
        "stopped and flagged", "recall_of_alive", ALL_ALIVE, better("asteroids"),
        game="asteroids", flag="everyone_alive",
    ),
    Attack(
        "none_alive", "nobody-alive degenerate output",
        "says that nobody lives, ever, which is right for most slots",
        "stopped and flagged", "share_of_dead_found", NONE_ALIVE, better("asteroids"),
        game="asteroids", flag="nobody_alive",
    ),
    Attack(
        "parked_dead", "parked-dead degenerate output",
        "leaves the dead where they are parked, so that they dilute the error of the living",
        "stopped", "counts_the_dead", PARKED, better("asteroids"), game="asteroids",
    ),
    Attack(
        "mean_position", "mean-position degenerate output",
        "says the middle of the world for everybody",
        "flagged", "no_signs", MEAN, passed, flag="ignores_context",
    ),
    Attack(
        "hand_written_simulator", "hand-written simulator (allowed, flagged `analytic`)",
        "holds the game's rules written by hand, and learns nothing",
        "flagged", "no_audit", HAND_WRITTEN, passed, flag="analytic",
    ),
    Attack(
        "simulator_with_dummy_weights", "hand-written simulator (allowed, flagged `analytic`)",
        "is the same, beside weights that it never looks at",
        "flagged", "no_audit", HAND_WRITTEN, passed, weights="foreign", flag="analytic",
    ),
    Attack(
        "simulator_with_unreadable_weights",
        "hand-written simulator (allowed, flagged `analytic`)",
        "is the same, beside weights of NaN and of types that no reader knows",
        "flagged", "no_audit", HAND_WRITTEN, passed, weights="unreadable", flag="analytic",
    ),
)  # fmt: skip
