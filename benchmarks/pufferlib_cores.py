"""PufferLib's C cores of pong, breakout and snake, built from the source distribution with gcc.

The package itself needs a build that fetches from the network; its cores are plain C headers. Their
drawing half is cut off, the rest is compiled as it is (-O3 -march=native) behind a loop.
"""

import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

VERSION = "3.0.0"
CUT = {"pong": "typedef struct Client Client;\nstruct Client {", "breakout": "Color BRICK_COLORS"}
CUT["snake"] = "Color COLORS[]"

STUB = "#include <stdbool.h>\ntypedef struct { int id; } Texture2D;\n"
"""All that the headers need of their drawing library once the drawing is cut off."""

SET_UP = {  # the defaults of each game's own Python class, frame skip 1
    "pong": """
        env->width=500; env->height=640; env->paddle_width=20; env->paddle_height=70;
        env->ball_width=32; env->ball_height=32; env->paddle_speed=8;
        env->ball_initial_speed_x=10; env->ball_initial_speed_y=1;
        env->ball_speed_y_increment=3; env->ball_max_speed_y=13;
        env->max_score=21; env->frameskip=1; env->continuous=0; allocate(env);""",
    "breakout": """
        env->frameskip=1; env->width=576; env->height=330; env->paddle_width=62;
        env->paddle_height=8; env->ball_width=32; env->ball_height=32; env->brick_width=32;
        env->brick_height=12; env->brick_rows=6; env->brick_cols=18; env->continuous=0;
        allocate(env);""",
    "snake": """
        env->width=640; env->height=360; env->num_snakes=256; env->food=4096; env->vision=5;
        env->leave_corpse_on_death=1; env->reward_food=.1; env->reward_corpse=.1;
        env->reward_death=-1; env->max_snake_length=1024; env->cell_size=2;
        allocate_csnake(env); env->terminals=(unsigned char*)calloc(256,1);""",
}
STRUCT = {"pong": "Pong", "breakout": "Breakout", "snake": "CSnake"}
AGENTS = {"pong": 1, "breakout": 1, "snake": 256}

DRIVER = """
#include "core.h"
static {struct}* envs;
void make(int n) {{
    envs = ({struct}*)calloc(n, sizeof({struct}));
    for (int i = 0; i < n; i++) {{ {struct}* env = &envs[i]; {set_up} c_reset(env); }}
}}
void play(int n, int ticks, const unsigned char* actions) {{
    for (int i = 0; i < n; i++)
        for (int t = 0; t < ticks; t++) {{
            for (int k = 0; k < {agents}; k++) envs[i].actions[k] = *actions++;
            c_step(&envs[i]);
        }}
}}
"""


def source_folder() -> Path:
    """Where the unpacked source lies; fetched through pip once, kept in the user's cache."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "cosmolabe"
    kept = cache / f"pufferlib-{VERSION}"
    if kept.exists():
        return kept
    with tempfile.TemporaryDirectory() as room:
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-clean", "--no-deps"]
        command += ["--no-build-isolation", "--no-binary", "pufferlib", f"pufferlib=={VERSION}"]
        # The download fails when pip asks the package for its metadata; the source is there then.
        subprocess.run(
            command, env={**os.environ, "TMPDIR": room}, cwd=room, capture_output=True, check=False
        )
        found = next(Path(room).rglob("pufferlib/ocean"), None)
        if found is None:
            raise RuntimeError(f"pip did not bring the source of pufferlib {VERSION}")
        kept.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(found, kept)
    return kept


class Core:
    """`num_worlds` worlds of one game, played by given actions."""

    def __init__(self, game: str, num_worlds: int) -> None:
        header = (source_folder() / game / f"{game}.h").read_text()
        header = header[: header.index(CUT[game])]
        self._room = tempfile.TemporaryDirectory()
        room = Path(self._room.name)
        (room / "raylib.h").write_text(STUB)
        (room / "core.h").write_text(header)
        driver = DRIVER.format(struct=STRUCT[game], set_up=SET_UP[game], agents=AGENTS[game])
        (room / "driver.c").write_text(driver)
        command = ["gcc", "-O3", "-march=native", "-w", "-shared", "-fPIC", "driver.c"]
        subprocess.run([*command, "-o", "core.so", "-lm"], cwd=room, check=True)
        self._library = ctypes.CDLL(str(room / "core.so"))
        self._library.make(num_worlds)
        self.num_worlds = num_worlds
        self.agents = AGENTS[game]

    def play(self, actions: np.ndarray) -> int:
        """Play actions (world, tick, agent); returns the agent-steps done."""
        assert actions.dtype == np.uint8
        self._library.play(
            self.num_worlds, actions.shape[1], actions.ctypes.data_as(ctypes.c_char_p)
        )
        return actions.size
