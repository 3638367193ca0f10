"""The gradient loop: AdamW, warm-up and cosine, a running mean of the weights, resume to the byte.

What is random depends on (seed, step) alone, so the step number is all the random state there is.
"""

import signal
import threading
import time
from collections import deque
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
import torch

from cosmolabe.core.episode import Windows
from cosmolabe.core.record import read_json, write_json
from cosmolabe.core.seeds import seed_of
from cosmolabe.data.store import Store
from cosmolabe.data.windows import training_batches
from cosmolabe.nets.batches import Batch, first_frames, training_batch
from cosmolabe.nets.checkpoints import check_tensors, read_tensors, write_tensors
from cosmolabe.nets.moments import MOMENTS, moments_of
from cosmolabe.nets.progress import OnEvaluate, Progress
from cosmolabe.nets.recipe import TrainConfig
from cosmolabe.nets.scales import measure
from cosmolabe.nets.schedule import rate_at, share_of, unroll_at
from cosmolabe.nets.worlds import NetworkWorld

STATE, STATE_TENSORS = "training.json", "training.safetensors"
SCHEMA = 1
SCALE_WINDOWS, SCALE_LENGTH = 256, 16
"""Windows the game's scales are measured on; their seed is fixed, so scales follow from data."""


@dataclass
class Descent:
    """Everything that changes while a network learns."""

    world: NetworkWorld
    config: TrainConfig
    step: int = 0
    seconds: float = 0.0
    waited: float = 0.0
    losses: deque = field(default_factory=lambda: deque(maxlen=20))

    def __post_init__(self) -> None:
        config, network = self.config, self.world.network
        self.weights = [p for p in network.parameters() if p.requires_grad]
        self.names = [n for n, p in network.named_parameters() if p.requires_grad]
        self.mean = [p.detach().clone() for p in self.weights]
        self.optimizer = torch.optim.AdamW(
            self.weights,
            lr=config.rate,
            betas=(0.9, 0.99),
            weight_decay=config.weight_decay,
            fused=True,
        )

    def learn(self, batch: Batch) -> dict[str, torch.Tensor]:
        """One step on one batch; gives the parts of the loss."""
        config = self.config
        rate = rate_at(config, self.step, self.seconds)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.world.network.shuffle(seed_of("luck", config.seed, self.step))
        parts = self.world.network.loss(batch, config.seen)
        self.optimizer.zero_grad(set_to_none=True)
        parts["total"].backward()
        norm = torch.nn.utils.clip_grad_norm_(self.weights, config.clip)
        if torch.isfinite(norm):
            self.optimizer.step()
        self.step += 1
        decay = min(config.ema, self.step / (self.step + 9))
        with torch.no_grad():
            for mean, weight in zip(self.mean, self.weights, strict=True):
                mean.lerp_(weight, 1 - decay)
        return {name: part.detach() for name, part in parts.items()}

    def refuse_to_diverge(self) -> None:
        """Stop where no loss of the last steps was a number: what follows learns nothing."""
        if len(self.losses) == self.losses.maxlen and not any(
            torch.isfinite(parts["total"]) for parts in self.losses
        ):
            raise ValueError(
                f"training diverged: the last {len(self.losses)} losses up to step {self.step} are "
                f"not numbers; try a rate below {self.config.rate:g} in another folder"
            )

    def noisy(self, batch: Batch) -> Batch:
        """The batch with noise on the positions of seen frames, in place."""
        if self.config.noise:
            dice = torch.Generator().manual_seed(seed_of("noise", self.config.seed, self.step))
            seen = batch.states[:, : self.config.seen, :, :2]
            seen += torch.randn(seen.shape, generator=dice) * self.config.noise
        return batch

    @contextmanager
    def averaged(self) -> Generator[None]:
        """The network holds the running mean of its weights for a while."""
        own = [w.detach().clone() for w in self.weights]
        self.put(self.mean)
        try:
            yield
        finally:
            self.put(own)

    def put(self, values: list[torch.Tensor]) -> None:
        """Copy values into the network's weights."""
        with torch.no_grad():
            for weight, value in zip(self.weights, values, strict=True):
                weight.copy_(value)

    def progress(self, **flags: bool) -> Progress:
        """Where training stands now."""
        recent = [{k: float(v) for k, v in parts.items()} for parts in self.losses]
        parts = {k: float(np.mean([row[k] for row in recent])) for k in (recent or [{}])[0]}
        return Progress(
            step=self.step,
            seconds=self.seconds,
            loss=parts.get("total", float("nan")),
            parts=parts,
            rate=rate_at(self.config, self.step, self.seconds),
            share=share_of(self.config, self.step, self.seconds),
            waiting=self.waited / self.seconds if self.seconds else 0.0,
            **flags,
        )

    def tensors(self) -> dict[str, np.ndarray]:
        """Weights, their mean, the optimiser's moments and the scales."""
        found = {f"network.{k}": v for k, v in self.world.network.state_dict().items()}
        for name, mean, weight in zip(self.names, self.mean, self.weights, strict=True):
            found[f"mean.{name}"] = mean
            moments = moments_of(self.optimizer, weight)
            found |= {f"{key}.{name}": moment for key, moment in moments.items()}
        return {k: v.detach().numpy() for k, v in found.items()}

    def save(self, folder: Path, data: str) -> None:
        """Write what `resume` needs, tensors first."""
        write_tensors(folder / STATE_TENSORS, self.tensors())
        state = {"schema": SCHEMA, "step": self.step, "seconds": self.seconds, "data": data}
        write_json(folder / STATE, {**state, "config": asdict(self.config)})

    def restore(self, folder: Path, data: str) -> None:
        """Go on from what `save` wrote; another recipe or other data are refused."""
        state = read_json(folder / STATE)
        if not isinstance(state, dict) or state.get("schema") != SCHEMA:
            raise ValueError(f"{folder / STATE}: not a training state of schema {SCHEMA}")
        ends = ("steps", "seconds", "evaluate_every", "save_every")
        was, now = state.get("config"), asdict(self.config)
        step, seconds = state.get("step"), state.get("seconds")
        if (
            not isinstance(was, dict)
            or type(step) is not int
            or type(seconds) not in (int, float)
            or step < 0
        ):
            raise ValueError(f"{folder / STATE}: config, step or seconds are not what we wrote")
        changed = [k for k in now if k not in ends and was.get(k) != now[k]]
        if changed or state.get("data") != data:
            raise ValueError(
                f"{folder}: cannot resume, for {changed or ['the data']} changed since; "
                f"train in another folder"
            )
        tensors = read_tensors(folder / STATE_TENSORS)
        check_tensors(folder / STATE_TENSORS, tensors, self.tensors())
        read = {k: torch.from_numpy(v.copy()) for k, v in tensors.items()}
        self.world.network.load_state_dict(
            {k.removeprefix("network."): v for k, v in read.items() if k.startswith("network.")}
        )
        for i, (name, weight) in enumerate(zip(self.names, self.weights, strict=True)):
            self.mean[i].copy_(read[f"mean.{name}"])
            self.optimizer.state[weight] = {key: read[f"{key}.{name}"] for key in MOMENTS}
        self.step, self.seconds = step, float(seconds)


def descend(
    world: NetworkWorld,
    store: Store,
    config: TrainConfig,
    folder: Path,
    on_evaluate: OnEvaluate | None,
    resume: bool,
) -> Iterator[Progress]:
    """Train a network; see `training.training`."""
    descent = Descent(world, config)
    if resume:
        descent.restore(folder, store.fingerprint)
    else:
        windows = next(training_batches(store, config.split, SCALE_LENGTH, SCALE_WINDOWS, seed=0))
        world.network.set_scales(measure(windows))
    rows = config.rows_for(store.manifest.num_slots)
    batches = training_batches(
        store, config.split, config.length, rows, config.seed, start=descent.step
    )
    world.network.train()
    try:
        with patience() as asked_to_stop:
            for progress in steps_of(descent, batches, folder, store.fingerprint, on_evaluate):
                yield progress
                if asked_to_stop:
                    break
    finally:  # also when the consumer stops listening
        descent.save(folder, store.fingerprint)
        descent.put(descent.mean)
        world.steps = descent.step
        world.save(folder, store.fingerprint, asdict(config))
    stopped = share_of(config, descent.step, descent.seconds) < 1
    yield descent.progress(finished=not stopped, interrupted=stopped)


def steps_of(
    descent: Descent,
    batches: Iterator[Windows],
    folder: Path,
    data: str,
    on_evaluate: OnEvaluate | None,
) -> Iterator[Progress]:
    """Steps until the budget is used, evaluations and saved states between them."""
    config = descent.config
    evaluated = saved = descent.seconds
    while share_of(config, descent.step, descent.seconds) < 1:
        began = time.monotonic()
        windows = next(batches)
        descent.waited += time.monotonic() - began
        frames = config.seen + unroll_at(config, descent.step, descent.seconds)
        batch = first_frames(training_batch(windows), frames)
        descent.losses.append(descent.learn(descent.noisy(batch)))
        descent.refuse_to_diverge()
        descent.seconds += time.monotonic() - began
        if on_evaluate and descent.seconds - evaluated >= config.evaluate_every:
            evaluated = descent.seconds
            with descent.averaged():
                on_evaluate(descent.world, descent.progress())
        if descent.seconds - saved >= config.save_every:
            saved = descent.seconds
            descent.save(folder, data)
        yield descent.progress()


@contextmanager
def patience() -> Generator[list]:
    """A list that a first Ctrl-C fills, so that the step is done before training stops.

    A second one stops at once. Outside the main thread Ctrl-C is left as it is.
    """
    asked: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield asked
        return
    before = signal.getsignal(signal.SIGINT)

    def note(number: int, frame: object) -> None:
        if asked:
            raise KeyboardInterrupt
        asked.append(number)

    signal.signal(signal.SIGINT, note)
    try:
        yield asked
    finally:
        signal.signal(signal.SIGINT, before)
