"""48 frames of a clip on a 448-pixel square: ours against decord, OpenCV and torchcodec.

Every tool gets the same frame numbers (those that our window shows, each once) and one thread, and
gives uint8 RGB squares with grey bars. Each peer takes the cheaper of the ways its manual offers
that does not alias, as ours does not: decord and torchcodec shrink by themselves, OpenCV by its
INTER_AREA (a row without a target has OpenCV alias by INTER_LINEAR); OpenCV enlarges for decord.
Each is told the size, so that it opens a file once. Cpu-seconds, least of the rounds, the tools
taking turns; the ratio is the geometric mean over the clips that the peer can read. The peers and
torchcodec's way to PyAV's FFmpeg libraries need an environment of their own, made once.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np

from benchmarks.timing import Row, missing

PEERS = ("eva-decord==0.6.1", "opencv-python-headless==5.0.0.93", "torchcodec==0.13.0")
"""torchcodec 0.13 is the last whose wheel runs without CUDA."""
ALIASED = "opencv, aliased"
TOOLS = ("decord", "opencv", ALIASED, "torchcodec")
NAME = "48 frames on a square of 448"
SIDE, TARGET, ROUNDS = 448, 1.2, 3
SHARED = Path(__file__).parents[2] / "shared" / "data"
WRONG = 20.0
"""Mean difference in 255ths from our frames above which a peer's frames count as wrong."""
FAST, QUICK = {"preset": "fast"}, {"preset": "veryfast"}
VP9 = {"cpu-used": "5"}
HEVC = {**QUICK, "x265-params": "log-level=none"}
MADE = {  # name: size, rate, frames, codec, options
    "h264 720p30 5 s.mp4": ((1280, 720), 30, 150, "libx264", FAST),
    "h264 1080p24 5 s.mp4": ((1920, 1080), 24, 120, "libx264", FAST),
    "h264 720x480 8 fps.mp4": ((720, 480), 8, 49, "libx264", FAST),
    "h264 512 16 fps.mp4": ((512, 512), 16, 48, "libx264", FAST),
    "h264 intra 512 16 fps 10 s.mp4": ((512, 512), 16, 160, "libx264", {**FAST, "g": "1"}),
    "h264 720p30 15 s.mp4": ((1280, 720), 30, 450, "libx264", QUICK),
    "vp9 480p24 5 s.webm": ((854, 480), 24, 120, "libvpx-vp9", VP9),
    "hevc 720p30 5 s.mp4": ((1280, 720), 30, 150, "libx265", HEVC),
    "av1 720p30 5 s.mp4": ((1280, 720), 30, 150, "libsvtav1", {"preset": "10"}),
    "gif 320x240 3 s.gif": ((320, 240), 10, 30, "gif", {}),
}  # fmt: skip


def rows() -> Iterator[Row]:
    """One row a peer over the clips made here, one over those of shared/data where it lies."""
    python, why = _environment()
    with tempfile.TemporaryDirectory() as room:
        out = Path(room) / "measured.json"
        _make(Path(room))  # here: the peers' own libraries get in the way of PyAV's encoders
        command = [str(python), "-m", "benchmarks.decoding", room, str(out)]
        done = subprocess.run(command, env=_variables(python, Path(room)), check=False)
        if done.returncode or not out.exists():
            for tool in TOOLS:
                yield missing(NAME, "clips/s", tool, f"measuring ended with {done.returncode}")
            return
        measured = json.loads(out.read_text())
    for where in ("clips made here", "clips of shared/data"):
        clips = {name: seen for name, seen in measured.items() if seen["where"] == where}
        for tool in TOOLS:
            yield _row(where, clips, tool, why)


def _row(where: str, clips: dict[str, dict], tool: str, why: dict[str, str]) -> Row:
    name = f"{NAME}, {len(clips)} {where}"
    if not clips:
        return missing(name, "clips/s", tool, f"no clips at {SHARED}")
    read = {n: seen for n, seen in clips.items() if tool in seen["seconds"]}
    if not read:
        told = next((seen["why"].get(tool) for seen in clips.values()), "") or why.get(tool, "")
        return missing(name, "clips/s", tool, f"reads none of them: {told}")
    ours = _mean([1 / seen["seconds"]["ours"] for seen in read.values()])
    theirs = _mean([1 / seen["seconds"][tool] for seen in read.values()])
    note = f"geometric mean of {len(read)} clips, {min(_ratios(read, tool)):.2f} to "
    note += f"{max(_ratios(read, tool)):.2f}"
    failed = [f"{n} ({seen['why'][tool]})" for n, seen in clips.items() if tool in seen["why"]]
    if failed:
        note += f"; cannot read or reads wrongly {len(failed)}: {', '.join(failed[:4])}"
        note += ", …" if len(failed) > 4 else ""
    target = None if tool == ALIASED else TARGET
    return Row(name, ours, theirs, tool, ours / theirs, "clips/s", target, note)


def _ratios(clips: dict[str, dict], tool: str) -> list[float]:
    return [seen["seconds"][tool] / seen["seconds"]["ours"] for seen in clips.values()]


def _mean(values: list[float]) -> float:
    return float(np.exp(np.mean(np.log(values))))


# The peers' environment -------------------------------------------------------------------------


def _environment() -> tuple[Path, dict[str, str]]:
    """A Python that sees this one's packages and the peers; kept in the user's cache."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "cosmolabe"
    folder, why = cache / "decoding-peers", {}
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    site = next((folder / "lib").glob("python*")) / "site-packages"
    import av

    (site / "cosmolabe-peers.pth").write_text(f"{Path(av.__file__).parents[1]}\n")
    for package in PEERS:
        command = [str(python), "-m", "pip", "install", "-q", "--no-deps", package]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            name = package.split("==")[0]
            why[{"eva-decord": "decord", "opencv-python-headless": "opencv"}.get(name, name)] = (
                f"pip cannot install {package}"
            )
            print(f"{package} could not be installed: {done.stderr[-300:]}", file=sys.stderr)
    return python, why


def _variables(python: Path, room: Path) -> dict[str, str]:
    """Torchcodec looks for FFmpeg's libraries by their plain names: PyAV's, under those names."""
    import av

    hidden = Path(av.__file__).parents[1] / "av.libs"
    plain = room / "libraries"
    plain.mkdir()
    for file in hidden.glob("lib*.so.*") if hidden.exists() else ():
        if match := re.fullmatch(r"(lib(?:av|sw)\w+)-\w+\.so\.(\d+)\.[\d.]+", file.name):
            (plain / f"{match[1]}.so.{match[2]}").symlink_to(file)
    source = Path(__file__).parents[1]
    return {
        **os.environ,
        "LD_LIBRARY_PATH": f"{plain}:{hidden}",
        "PYTHONPATH": f"{source}:{source / 'src'}",
        "OMP_NUM_THREADS": "1",
        "OPENCV_LOG_LEVEL": "OFF",
    }


# In that environment ----------------------------------------------------------------------------


def main(room: Path, out: Path) -> None:
    """Measure every clip with every tool."""
    tools, why = _tools()
    measured = {}
    made = [(room / name, "clips made here") for name in MADE]
    for path, where in [*made, *_shared()]:
        seen = {"where": where, "seconds": {}, "why": dict(why)}
        _measure(path, tools, seen)
        measured[path.name] = seen
        shown = {name: f"{1000 * value:.0f}" for name, value in seen["seconds"].items()}
        print(f"{path.name[:44]:44} cpu-ms {shown} {seen['why'] or ''}", file=sys.stderr)
        out.write_text(json.dumps(measured))


def _measure(path: Path, tools: dict[str, Callable], seen: dict) -> None:
    from cosmolabe.data.video import LIMITS, SAMPLINGS
    from cosmolabe.data.video.clips import source, windows_of

    sampling = SAMPLINGS["physics-1-span"]
    with source(path, sampling, LIMITS) as video:
        numbers = sorted({int(n) for n in windows_of(video, sampling)[0].numbers})
        size = (video.facts["width"], video.facts["height"])
    runs = {"ours": lambda: ours(path)}
    runs |= {name: _bound(tool, path, numbers, size) for name, tool in tools.items()}
    frames: dict[str, np.ndarray] = {}
    for name in list(runs):
        try:
            frames[name] = runs[name]()
            if name != "ours" and (fault := _fault(frames["ours"], frames[name], len(numbers))):
                raise ValueError(fault)
        except Exception as error:  # whatever a peer raises is its result
            if name == "ours":
                raise
            seen["why"][name] = " ".join(f"{type(error).__name__}: {error}".split())[:40]
            del runs[name]
    for _ in range(ROUNDS):
        for name, run in runs.items():
            start = time.process_time()
            run()
            spent = time.process_time() - start
            seen["seconds"][name] = min(spent, seen["seconds"].get(name, spent))


def _fault(ours: np.ndarray, theirs: np.ndarray, count: int) -> str:
    if len(theirs) != count:
        return f"{len(theirs)} of {count} frames"
    rows = np.linspace(0, len(ours) - 1, len(theirs)).round().astype(int)  # equal ones held once
    difference = float(np.abs(ours[rows].astype(np.float32) - theirs).mean())
    return f"other pictures, by {difference:.0f} of 255" if difference > WRONG else ""


def _bound(
    tool: Callable, path: Path, numbers: list[int], size: tuple[int, int]
) -> Callable[[], np.ndarray]:
    return lambda: tool(path, numbers, size)


def _fitted(size: tuple[int, int]) -> tuple[int, int]:
    scale = SIDE / max(size)
    return round(size[0] * scale), round(size[1] * scale)


def ours(path: Path) -> np.ndarray:
    """The pictures of our span window."""
    from cosmolabe.data.video import SAMPLINGS, open_clips

    return open_clips(path, SAMPLINGS["physics-1-span"])[0].frames


def _tools() -> tuple[dict[str, Callable], dict[str, str]]:
    tools, why = {}, {}
    makers = {
        "decord": _decord,
        "opencv": _opencv,
        ALIASED: lambda: _opencv(aliased=True),
        "torchcodec": _torchcodec,
    }
    for name, make in makers.items():
        try:
            tools[name] = make()
        except Exception as error:
            why[name] = " ".join(f"cannot be loaded: {error}".split())[:90]
            print(f"NOT RUN: {name} {why[name]}", file=sys.stderr)
    return tools, why


def _squares(frames: list[np.ndarray] | np.ndarray, aliased: bool = False) -> np.ndarray:
    import cv2

    squares = []
    for frame in frames:
        height, width = frame.shape[:2]
        scale = SIDE / max(height, width)
        wide, tall = round(width * scale), round(height * scale)
        square = np.full((SIDE, SIDE, 3), 128, np.uint8)
        top, left = (SIDE - tall) // 2, (SIDE - wide) // 2
        if (wide, tall) != (width, height):
            shrink = cv2.INTER_AREA if scale < 1 and not aliased else cv2.INTER_LINEAR
            frame = cv2.resize(frame, (wide, tall), interpolation=shrink)
        square[top : top + tall, left : left + wide] = frame
        squares.append(square)
    return np.stack(squares)


def _decord() -> Callable:
    import cv2
    import decord

    decord.logging.set_level(decord.logging.QUIET)

    cv2.setNumThreads(1)

    def run(path: Path, numbers: list[int], size: tuple[int, int]) -> np.ndarray:
        wide, tall = _fitted(size) if max(size) > SIDE else (-1, -1)
        reader = decord.VideoReader(
            str(path), ctx=decord.cpu(0), num_threads=1, width=wide, height=tall
        )
        return _squares(reader.get_batch(numbers).asnumpy())

    return run


def _opencv(aliased: bool = False) -> Callable:
    import cv2

    cv2.setNumThreads(1)

    def run(path: Path, numbers: list[int], size: tuple[int, int]) -> np.ndarray:
        capture = cv2.VideoCapture(str(path), cv2.CAP_FFMPEG, [cv2.CAP_PROP_N_THREADS, 1])

        def frames() -> Iterator[np.ndarray]:
            wanted = set(numbers)
            for number in range(numbers[-1] + 1):
                if not capture.grab():
                    return
                if number in wanted:
                    read, frame = capture.retrieve()
                    if read:
                        yield cv2.cvtColor(frame, cv2.COLOR_BGR2RGB)

        try:
            shown = list(frames())
            if not shown:
                raise ValueError("no frame")
            return _squares(shown, aliased)
        finally:
            capture.release()

    return run


def _torchcodec() -> Callable:
    import torch
    from torchcodec.decoders import VideoDecoder
    from torchcodec.transforms import Resize

    torch.set_num_threads(1)

    def run(path: Path, numbers: list[int], size: tuple[int, int]) -> np.ndarray:
        resize = [Resize(_fitted(size)[::-1])]
        decoder = VideoDecoder(
            str(path), seek_mode="approximate", num_ffmpeg_threads=1, transforms=resize,
            dimension_order="NHWC",
        )  # fmt: skip
        return _squares(decoder.get_frames_at(numbers).data.numpy())

    return run


# Clips ------------------------------------------------------------------------------------------


def _shared() -> list[tuple[Path, str]]:
    from cosmolabe.data.video import find_inputs

    if not SHARED.is_dir():
        return []
    return [(item.path, "clips of shared/data") for item in find_inputs([SHARED]) if not item.why]


def _make(room: Path) -> None:
    """Clips of the codecs that generators and cameras write, each of a lifelike size."""
    import av

    for name, (size, rate, count, codec, options) in MADE.items():
        path = room / name
        with av.open(str(path), "w") as container:
            stream = container.add_stream(codec, rate=Fraction(rate), options=options)
            stream.width, stream.height = size
            stream.pix_fmt = "rgb8" if codec == "gif" else "yuv420p"
            for picture in _walk(size, count):
                frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
                container.mux(stream.encode(frame))
            container.mux(stream.encode())


def _walk(size: tuple[int, int], count: int) -> Iterator[np.ndarray]:
    """A camera that wanders over a large picture of waves and grain, and a box that crosses it."""
    width, height = size
    rng = np.random.default_rng(0)
    x = np.arange(width * 3 // 2, dtype=np.float32)
    y = np.arange(height * 3 // 2, dtype=np.float32)[:, None]
    waves = 60 * np.sin(x / 37) * np.cos(y / 53) + 40 * np.sin((x + y) / 90)
    grain = rng.normal(0, 6, waves.shape)
    shades = np.stack([waves, waves + 20 * np.sin(x / 210), -waves], -1)
    ground = (128 + shades + grain[..., None]).clip(0, 255).astype(np.uint8)
    for t in range(count):
        left, top = _sway(width // 2, t / 23), _sway(height // 2, t / 17)
        picture = ground[top : top + height, left : left + width].copy()
        left, top = _sway(width * 7 // 8, t / 13), _sway(height * 7 // 8, t / 19)
        picture[top : top + height // 8, left : left + width // 8] ^= 0x40
        yield picture


def _sway(most: int, phase: float) -> int:
    return int(most * (0.5 + 0.5 * np.sin(phase)))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
