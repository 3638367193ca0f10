"""Runs a Harbor task without Docker: an environment of Harbor's on bubblewrap, for tests alone.

Loaded by Harbor's own Python (3.12): `harbor run -e harbor_bwrap:BwrapEnvironment`. Of a Dockerfile
it knows COPY and chmod; libraries are those of the folders that COSMOLABE_PREFIXES names. Run as
root it is root inside, as in Docker, and may become another user.
"""

import asyncio
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from harbor.environments.base import BaseEnvironment, ExecResult
from harbor.environments.capabilities import (
    EnvironmentCapabilities,
    EnvironmentResourceCapabilities,
)

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc/alternatives", "/etc/ld.so.cache")
FOLDERS = ("app", "logs", "tests", "solution", "tmp", "home")


class BwrapEnvironment(BaseEnvironment):
    @staticmethod
    def type():
        return "bwrap"

    @property
    def capabilities(self):
        return EnvironmentCapabilities(disable_internet=True)

    @classmethod
    def resource_capabilities(cls):
        return EnvironmentResourceCapabilities(cpu_limit=True, memory_limit=True)

    def _validate_definition(self):
        if not (self.environment_dir / "Dockerfile").is_file():
            raise FileNotFoundError(self.environment_dir / "Dockerfile")

    async def start(self, force_build):
        self.root = Path(tempfile.mkdtemp(prefix="harbor-bwrap-"))
        for name in FOLDERS:
            (self.root / name).mkdir()
        for line in (self.environment_dir / "Dockerfile").read_text().splitlines():
            words = line.split()
            if words[:1] == ["COPY"]:
                source, target = self.environment_dir / words[1], self._inside(words[2])
                target.parent.mkdir(parents=True, exist_ok=True)
                if source.is_dir():
                    shutil.copytree(source, target, dirs_exist_ok=True)
                else:
                    shutil.copyfile(source, target)
            if words[:3] == ["RUN", "chmod", "-R"]:
                subprocess.run(["chmod", "-R", words[3], self._inside(words[4])], check=True)
        await self.ensure_dirs(["/logs/agent", "/logs/verifier", "/logs/artifacts"], chmod=True)

    async def stop(self, delete):
        if delete:
            shutil.rmtree(self.root, ignore_errors=True)

    async def upload_file(self, source_path, target_path):
        target = self._inside(target_path)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source_path, target)

    async def upload_dir(self, source_dir, target_dir):
        shutil.copytree(source_dir, self._inside(target_dir), dirs_exist_ok=True)

    async def download_file(self, source_path, target_path):
        Path(target_path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(self._inside(source_path), target_path)

    async def download_dir(self, source_dir, target_dir):
        shutil.copytree(self._inside(source_dir), target_dir, dirs_exist_ok=True)

    async def exec(self, command, cwd=None, env=None, timeout_sec=None, user=None):
        prefixes = os.environ["COSMOLABE_PREFIXES"].split(":")
        words = ["bwrap", "--die-with-parent", "--proc", "/proc", "--dev", "/dev", "--clearenv"]
        if os.geteuid() == 0:
            words += ["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"]
            for power in ("SETUID", "SETGID", "KILL", "CHOWN", "DAC_OVERRIDE", "FOWNER"):
                words += ["--cap-add", f"CAP_{power}"]
        else:
            words += ["--unshare-all"]
        for path in prefixes:  # what bubblewrap makes by itself only its maker may enter
            for parent in reversed(Path(path).parents[:-1]):
                words += ["--perms", "0755", "--dir", str(parent)]
        for path in (*SYSTEM, *prefixes):
            if Path(path).is_symlink():
                words += ["--symlink", os.readlink(path), path]
            elif Path(path).exists():
                words += ["--ro-bind", path, path]
        for name in FOLDERS:
            words += ["--bind", str(self.root / name), f"/{name}"]
        given = {"PATH": f"{prefixes[0]}/bin:/usr/bin:/bin", "HOME": "/home", "LANG": "C.UTF-8",
                 "OMP_NUM_THREADS": "1", **(self._merge_env(env) or {})}  # fmt: skip
        for name, value in given.items():
            words += ["--setenv", name, value]
        words += ["--chdir", cwd or "/app", "sh", "-c", command]
        process = await asyncio.create_subprocess_exec(
            *words, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
            env={"PATH": os.environ["PATH"]},
        )  # fmt: skip
        try:
            out, error = await asyncio.wait_for(process.communicate(), timeout_sec)
        except TimeoutError:
            process.kill()
            await process.wait()
            return ExecResult(stdout="", stderr="timeout", return_code=124)
        return ExecResult(
            stdout=out.decode(errors="replace"), stderr=error.decode(errors="replace"),
            return_code=process.returncode,
        )  # fmt: skip

    def _inside(self, path):
        return self.root / str(path).lstrip("/")
