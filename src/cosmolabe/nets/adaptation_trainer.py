"""transformers' Trainer for any `Vlm`: it brings resuming, accumulation and many devices.

Only what trains is written into checkpoints. Its optimiser's and dice's states are `torch.save`d,
and read back by torch's `weights_only` loader.
"""

import contextlib
import json
import os
import random
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers

from cosmolabe.nets.adaptation import Adaptation
from cosmolabe.nets.adaptation_lessons import Answering, Lessons
from cosmolabe.nets.adapted import fill_weights, trained, write_weights
from cosmolabe.nets.steps import slope

WEIGHTS = "trained.safetensors"
STATE = "trainer_state.json"
MOST_LOSSES = 2000
"""Steps whose loss is kept one by one; of longer trainings means."""
Tell = Callable[[int, int, float], None]
"""(step, steps, loss)."""


class AdaptationTrainer(transformers.Trainer):
    """Writes and reads the weights that train, and no others."""

    def _save(self, output_dir: str | None = None, state_dict: dict | None = None) -> None:
        folder = Path(str(output_dir or self.args.output_dir))
        write_weights(_plain(self.model).module, folder / WEIGHTS)

    def _load_from_checkpoint(self, resume_from_checkpoint: str, model: Any = None) -> None:  # noqa: ANN401
        fill_weights(_plain(model or self.model).module, Path(resume_from_checkpoint) / WEIGHTS)


def train(
    answering: Answering,
    lessons: Lessons,
    recipe: Adaptation,
    folder: Path,
    saved: float,
    tell: Tell,
) -> list[tuple[int, float]]:
    """All steps of a recipe; gives (step, loss). Goes on from the last whole checkpoint."""
    steps = len(lessons) // recipe.batch
    with _dice_kept():
        args = _arguments(answering, recipe, folder, steps)
        weights = list(trained(answering.module).values())
        optimizer = torch.optim.AdamW(
            weights, lr=recipe.rate, betas=recipe.betas, weight_decay=recipe.weight_decay
        )
        schedule = torch.optim.lr_scheduler.LambdaLR(
            optimizer, lambda step: slope(min(step + 1, steps) / steps, recipe.warmup)
        )
        watch = _Watch(saved, tell)
        trainer = AdaptationTrainer(
            model=answering,
            args=args,
            data_collator=lessons.collate,
            train_dataset=lessons,
            optimizers=(optimizer, schedule),
            callbacks=[watch],
        )
        trainer.remove_callback(transformers.PrinterCallback)
        last = last_checkpoint(folder)
        trainer.train(resume_from_checkpoint=None if last is None else str(last))
        return [
            (int(row["step"]), float(row["loss"]))
            for row in trainer.state.log_history
            if "loss" in row
        ]


def last_checkpoint(folder: Path) -> Path | None:
    """The latest one that was written whole: its state is written last."""
    found = sorted(folder.glob("checkpoint-*"), key=lambda path: int(path.name.split("-")[1]))
    for path in reversed(found):
        with contextlib.suppress(OSError, ValueError):
            json.loads((path / STATE).read_text())
            return path
    return None


def _arguments(
    answering: Answering, recipe: Adaptation, folder: Path, steps: int
) -> transformers.TrainingArguments:
    cpu = next(answering.parameters()).device.type == "cpu"
    if cpu and recipe.precision != "float32":
        raise ValueError("a CPU adapts in float32; precision bf16 needs a GPU")
    processes = accelerate_processes()
    share, odd = divmod(recipe.batch, recipe.at_once * processes)
    if recipe.micro and odd:
        raise ValueError(
            f"a batch of {recipe.batch} does not come out even of {recipe.micro} questions on each "
            f"of {processes} devices"
        )
    at_once = recipe.micro or recipe.batch // processes
    if at_once * processes * max(share, 1) != recipe.batch:
        raise ValueError(f"a batch of {recipe.batch} cannot be shared by {processes} devices")
    return transformers.TrainingArguments(
        output_dir=str(folder),
        max_steps=steps,
        per_device_train_batch_size=at_once,
        gradient_accumulation_steps=max(share, 1),
        max_grad_norm=recipe.clip,
        bf16=recipe.precision == "bf16",
        train_sampling_strategy="sequential",
        logging_steps=max(1, steps // MOST_LOSSES),
        logging_nan_inf_filter=False,
        save_strategy="no",
        save_total_limit=2,
        report_to="none",
        disable_tqdm=True,
        remove_unused_columns=False,
        label_names=[],
        dataloader_pin_memory=not cpu,
        use_cpu=cpu,
        seed=recipe.seed & 0xFFFFFFFF,
        log_level="error",
    )


def accelerate_processes() -> int:
    """Processes of this launch, 1 where there is none."""
    return max(1, int(os.environ.get("WORLD_SIZE", "1")))


class _Watch(transformers.TrainerCallback):
    """Tells where the training stands, saves now and then, ends where the loss is no number."""

    def __init__(self, saved: float, tell: Tell) -> None:
        self.every, self.tell, self.last = saved, tell, time.monotonic()

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **more: Any) -> None:  # noqa: ANN401
        loss = (logs or {}).get("loss")
        if loss is None:
            return
        if not np.isfinite(loss):
            raise ValueError(
                f"the loss is {loss} at step {state.global_step}; a lower rate than the recipe's?"
            )
        self.tell(state.global_step, state.max_steps, float(loss))

    def on_step_end(self, args: Any, state: Any, control: Any, **more: Any) -> None:  # noqa: ANN401
        if time.monotonic() - self.last >= self.every and state.global_step < state.max_steps:
            self.last = time.monotonic()
            control.should_save = True


@contextlib.contextmanager
def _dice_kept() -> Generator[None]:
    """The Trainer seeds everybody's dice; they are as they were afterwards."""
    python, numpy = random.getstate(), np.random.get_state()  # noqa: NPY002
    with torch.random.fork_rng():
        try:
            yield
        finally:
            random.setstate(python)
            np.random.set_state(numpy)  # noqa: NPY002


def _plain(model: Any) -> Answering:  # noqa: ANN401 - perhaps wrapped for many devices
    return getattr(model, "module", model) if not isinstance(model, Answering) else model
