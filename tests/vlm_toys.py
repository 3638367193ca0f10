"""A tiny untrained model and clips of one bright square that moves, with questions about it."""

import numpy as np

from cosmolabe.core.question import AskedClip, Question
from cosmolabe.nets.vlm_tokens import words_of
from cosmolabe.vlms.tiny import TinyVlm, build_tiny

WAYS = {"left": (0, -1), "right": (0, 1), "up": (-1, 0), "down": (1, 0)}
NAMES = ("red", "green", "blue")
SIDE = 32


def toy_vlm(seed: int = 0) -> TinyVlm:
    small = {"hidden": 24, "mlp": 32, "layers": 1, "heads": 2}
    texts = [*WAYS, *NAMES, "Which way? A) B) C) D) Who is it? Is it yes no"]
    return build_tiny(
        words_of(texts), image=SIDE, patch=16, vision=small, language=small, seed=seed
    )


def toy_clips(count: int, seed: int = 0) -> list[AskedClip]:
    dice = np.random.default_rng(seed)
    clips = []
    for number in range(count):
        way, name = list(WAYS)[number % 4], int(dice.integers(3))
        frames = dice.integers(0, 30, (14, SIDE, SIDE, 3)).astype(np.uint8)
        row, column = dice.integers(10, 16, 2)
        for time in range(14):
            y, x = (
                int(p + s * (time - 7)) % 26 for p, s in zip((row, column), WAYS[way], strict=True)
            )
            frames[time, y : y + 6, x : x + 6, name] = 255
        clips.append(
            AskedClip(
                f"clip-{number}", frames, 15.0, None, {"label": way, "character": NAMES[name]}
            )
        )
    return clips


def toy_questions(clips: list[AskedClip]) -> list[Question]:
    made = []
    for number, clip in enumerate(clips):
        for task, text, labels, truth in (
            ("action_recognition", "Which way?", tuple(WAYS), clip.about["label"]),
            ("character_recognition", "Who is it?", NAMES, clip.about["character"]),
        ):
            options = labels[number % 3 :] + labels[: number % 3]
            shown = " ".join(f"{'ABCD'[k]}) {label}" for k, label in enumerate(options))
            asked = truth if number % 2 else labels[(labels.index(truth) + 1) % len(labels)]
            name = f"{clip.id}/{task}"
            made += [
                Question(
                    f"{name}/binary", clip.id, task, "binary", f"Is it {asked}?",
                    "yes" if asked == truth else "no", ("yes", "no"), truth=truth, asked=asked,
                ),
                Question(
                    f"{name}/multiple_choice", clip.id, task, "multiple_choice",
                    f"{text} {shown}", truth, labels, options, truth,
                ),
                Question(f"{name}/open_ended", clip.id, task, "open_ended", text, truth, labels),
            ]  # fmt: skip
    return made
