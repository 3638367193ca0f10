"""The other side of `worker`: a process that decodes what it is told, one request at a time.

It speaks JSON and plain bytes over its pipes, so that nothing a hostile file does to it can make
the asking process run anything.
"""

import json
import os
import sys
from pathlib import Path
from typing import IO, Any

MEMORY = 12 << 30
"""Bytes of address space a worker may take; a file that needs more is refused."""


def main() -> None:
    """Answer requests until stdin ends."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # a library that prints must not break into the answers
    _limit_memory()
    from cosmolabe.data.video.clips import each_clip
    from cosmolabe.data.video.protocols import Canvas, Limits, Sampling

    for line in sys.stdin.buffer:
        ask = json.loads(line)
        try:
            clips = each_clip(
                Path(os.fsdecode(bytes.fromhex(ask["path"]))),
                Sampling(**ask["sampling"]),
                Canvas(**ask["canvas"]),
                Limits(**ask["limits"]),
                fps=ask["fps"],
            )
            for clip in clips:
                _send_clip(answers, clip)
            _send(answers, {"done": True})
        except ValueError as error:
            _send(answers, {"why": str(error)})
        except MemoryError:
            _send(answers, {"why": f"needs more than {MEMORY >> 30} GiB to decode"})
        except Exception as error:  # an unknown defect of a library costs one file
            _send(answers, {"why": f"decoding failed ({type(error).__name__}: {error})"})


def _send_clip(answers: IO[bytes], clip: Any) -> None:  # noqa: ANN401 - a Clip; imported late
    head = {
        "shape": clip.frames.shape,
        "shown": clip.shown.tolist(),
        "times": clip.times.tolist(),
        "fps": clip.fps,
        "source_fps": clip.source_fps,
        "facts": clip.facts,
    }
    _send(answers, head, clip.frames.tobytes())


def _send(answers: IO[bytes], head: dict[str, Any], data: bytes = b"") -> None:
    text = json.dumps(head, default=float).encode(errors="backslashreplace")
    answers.write(len(text).to_bytes(8, "little") + len(data).to_bytes(8, "little") + text)
    answers.write(data)
    answers.flush()


def _limit_memory() -> None:
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    except (ImportError, ValueError, OSError):  # not on this system
        pass


if __name__ == "__main__":
    main()
