"""Tree-structured Parzen estimators (Bergstra et al. 2011), as Optuna has them (extra `arena`).

The study is told anew what was tried each time, so that an interrupted session goes on as if it had
not been; the first experiment is the starter itself.
"""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cosmolabe.arena.dials import Dial, changed, described, dials_of
from cosmolabe.core.agent import AgentPart, Desk, Tried, run_starter
from cosmolabe.core.seeds import seed_of

WARMUP = 5  # experiments drawn at random first; Optuna's own default is 10 (our choice)


def drive(desk: Desk) -> None:
    """Try the starter, then what the study asks for."""
    runs = int(desk.settings.get("runs") or 0)
    dials = dials_of(desk.starter)
    run_starter(desk)
    while not runs or len(desk.tried) < runs:
        k = len(desk.tried)
        shares = _asked(list(desk.tried), dials, seed_of("tpe", desk.seed, k) & 0x7FFFFFFF)
        point = {name: dials[name].at(share) for name, share in shares.items()}
        desk.run(changed(desk.starter, point, described(point)))


def _asked(tried: list[Tried], dials: dict[str, Dial], seed: int) -> dict[str, float]:
    """Where in each dial's range, 0..1, the next experiment should lie."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    space: dict[str, Any] = {name: optuna.distributions.FloatDistribution(0, 1) for name in dials}
    sampler = optuna.samplers.TPESampler(seed=seed, n_startup_trials=WARMUP)
    study = optuna.create_study(sampler=sampler, direction="maximize")
    for one in tried:
        value = one.val.get("composite", math.nan)
        params = {name: dial.share_of(one.proposal) for name, dial in dials.items()}
        study.add_trial(
            optuna.trial.create_trial(
                params=params,
                distributions=space,
                value=value if math.isfinite(value) else 0.0,  # what failed is the worst there is
            )
        )
    trial = study.ask(space)
    return {name: float(trial.params[name]) for name in dials}


def check(settings: Mapping[str, Any], folder: Path) -> None:
    """Optuna is here: better known now than after the first experiment."""
    import optuna  # noqa: F401 - whether it can be imported


AGENT = AgentPart(
    "tpe",
    "Searches the dials of the recipe with Optuna's tree-structured Parzen estimators.",
    drive,
    settings={"runs": 0},
    check=check,
)
