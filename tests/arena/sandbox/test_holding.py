"""What a program in a box cannot do."""

import ast
import os
import sys
import time
from dataclasses import replace

import pytest

from cosmolabe.arena.sandbox import python_root, remove_tree

SECRET = "COSMOLABE_TEST_API_KEY"


def test_a_box_sees_no_folder_of_this_machine_that_was_not_named(box, level, said, tmp_path):
    (tmp_path / "secret").write_text("42")
    for path in (tmp_path / "secret", "/root/.bashrc", "/etc/shadow", "/var/log", "/sys/kernel"):
        words, _ = said(box, f"import os; print(os.path.exists({str(path)!r}))", level)
        assert words == "False\n"


def test_the_environment_of_the_harness_is_nowhere(box, level, said, monkeypatch):
    monkeypatch.setenv(SECRET, "sk-12345")
    code = """
import glob, os
print(sorted(os.environ))
for path in glob.glob('/proc/[0-9]*/environ'):
    print(open(path, 'rb').read())
"""
    words, _ = said(replace(box, env={"GIVEN": "here"}), code, level)
    assert "sk-12345" not in words
    plain = {"GIVEN", "HOME", "LANG", "PATH", "PWD", "OLDPWD", "SHLVL", "_"}  # some shells' own
    assert set(ast.literal_eval(words.split("\n")[0])) <= plain
    assert "b''" in words  # the box's first process


def test_what_it_is_told_is_on_no_command_line(box, level, said, folder):
    code = "import glob\nfor p in glob.glob('/proc/[0-9]*/cmdline'): print(open(p,'rb').read())"
    words, _ = said(replace(box, env={"KEY": "sk-12345"}), code, level)
    assert "--args" in words
    assert "sk-12345" not in words
    assert str(folder) not in words


def test_no_open_file_of_the_harness_passes_through(box, level, said, tmp_path):
    (tmp_path / "secret").write_text("42")
    with (tmp_path / "secret").open() as file:
        os.set_inheritable(file.fileno(), True)
        code = "import os; print(sorted(map(int, os.listdir('/proc/self/fd')))[:-1])"
        assert said(box, code, level)[0] == "[0, 1, 2]\n"


def test_only_its_own_processes_are_there(box, level, said):
    code = "import os; print(len([p for p in os.listdir('/proc') if p.isdigit()]))"
    assert said(box, code, level)[0] == "2\n"


def test_there_is_no_network_and_no_way_to_the_virtual_machines_host(box, level, said):
    code = """
import socket
print([name for _, name in socket.if_nameindex()])
for address in (('1.1.1.1', 53), ('192.168.0.1', 80)):
    try:
        socket.create_connection(address, 2)
    except OSError as error:
        print(error.errno)
try:
    socket.socket(40, socket.SOCK_STREAM)  # AF_VSOCK
except OSError as error:
    print(error.errno)
"""
    assert said(box, code, level)[0].split("\n") == ["['lo']", "101", "101", "1", ""]


def test_a_server_of_this_machine_is_not_there(box, level, said):
    import socket

    with socket.create_server(("127.0.0.1", 0)) as server:
        code = f"import socket; socket.create_connection(('127.0.0.1', {server.getsockname()[1]}))"
        words, _ = said(box, code, level)
    assert "ConnectionRefusedError" in words


REFUSED = {
    "ptrace": 101,
    "mount": 165,
    "unshare": 272,
    "setns": 308,
    "bpf": 321,
    "io_uring_setup": 425,
    "keyctl": 250,
    "settimeofday": 164,
    "process_vm_readv": 310,
}


def test_calls_into_the_kernel_that_no_training_needs_are_refused(box, level, said):
    code = f"""
import ctypes
call = ctypes.CDLL(None, use_errno=True).syscall
for name, number in {REFUSED!r}.items():
    print(name, call(number, 0, 0, 0, 0, 0, 0), ctypes.get_errno())
NEW_USER = 0x10000000
print('clone', call(56, NEW_USER | 17, 0, 0, 0, 0), ctypes.get_errno())
print('clone3', call(435, 0, 0), ctypes.get_errno())
"""
    words, _ = said(box, code, level)
    wanted = [f"{name} -1 1" for name in (*REFUSED, "clone")] + ["clone3 -1 38"]
    assert words.split("\n")[:-1] == wanted


def test_threads_and_processes_still_start_under_the_filter(box, level, said):
    code = """
import subprocess, threading
thread = threading.Thread(target=lambda: print('thread', flush=True)); thread.start(); thread.join()
subprocess.run(['/bin/echo', 'process'])
"""
    assert said(box, code, level)[0] == "thread\nprocess\n"


def test_it_has_no_rights_and_gains_none(box, level, said):
    words, _ = said(box, "print(open('/proc/self/status').read())", level)
    assert "CapEff:\t0000000000000000" in words
    assert "CapBnd:\t0000000000000000" in words
    assert "NoNewPrivs:\t1" in words
    assert "Seccomp:\t2" in words


def test_nothing_of_the_kernels_can_be_written(box, level, said):
    code = """
import os
for top, folders, files in os.walk('/proc'):
    if top == '/proc':
        folders[:] = [f for f in folders if not f.isdigit() and 'self' not in f]
    for name in files:
        try:
            open(os.path.join(top, name), 'ab')
            print(top, name)
        except OSError:
            pass
print('looked')
"""
    assert said(box, code, level)[0] == "looked\n"


@pytest.mark.parametrize(
    "path",
    ["/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/made", "/usr/made", "/dev/made"],
)
def test_nothing_outside_its_folder_can_be_written(box, level, said, path):
    words, ended = said(box, f"open({path!r}, 'w')", level)
    assert ended.code == 1
    assert "Read-only" in words or "denied" in words or "No such file" in words


def test_the_environment_it_runs_from_cannot_be_tampered_with(box, level, said):
    words, _ = said(box, f"open({sys.prefix + '/sitecustomize.py'!r}, 'w')", level)
    assert "Read-only file system" in words


def test_the_clock_cannot_be_set_and_the_time_is_taken_outside(box, level, said):
    code = """
import time
try:
    time.clock_settime(time.CLOCK_REALTIME, 0)
except PermissionError:
    print('refused')
time.monotonic = time.time = lambda: 0.0
while time.process_time() < 0.3:
    pass
"""
    words, ended = said(box, code, level)
    assert words == "refused\n"
    assert ended.wall >= 0.3
    assert ended.cpu >= 0.2


def test_a_box_is_ended_when_its_time_is_over(make_box, level, said):
    _, ended = said(make_box(wall=0.5), "import time; time.sleep(60)", level)
    assert (ended.killed, ended.code) == ("wall", 137)
    assert 0.5 <= ended.wall < 5


def test_processor_time_counts_for_all_processes_together(make_box, level, said):
    code = "import os\nos.fork(); os.fork()\nwhile True: pass"
    _, ended = said(make_box(cpu=0.6), code, level)
    assert ended.killed == "cpu"
    assert 0.5 <= ended.cpu < 5


def test_a_fork_bomb_stays_small(make_box, level, said):
    code = """
import os, time
while True:
    try:
        if not os.fork():
            time.sleep(60)
    except BlockingIOError:
        print('refused', flush=True); break
"""
    words, ended = said(make_box(wall=20, processes=24), code, level)
    assert words == "refused\n" or ended.killed == "processes"
    assert ended.wall < 15


def test_memory_is_bounded_over_all_processes(make_box, level, said):
    code = """
import os, time
for _ in range(4):
    if not os.fork():
        held = bytearray(100 << 20)
        held[::4096] = b'x' * len(held[::4096])
        time.sleep(60)
time.sleep(60)
"""
    _, ended = said(make_box(wall=40, memory=256 << 20), code, level)
    assert ended.killed == "memory"
    assert ended.wall < 30


def test_files_that_hold_memory_count_as_memory_or_are_bounded_by_size(make_box, level, said):
    code = """
for folder in ('/tmp', '/dev/shm'):
    try:
        for n in range(1000):
            open(f'{folder}/{n}', 'wb').write(bytes(1 << 20))
    except OSError as error:
        print(error.errno, flush=True)
"""
    words, ended = said(make_box(memory=128 << 20, disk=32 << 20), code, level)
    assert words == "28\n28\n"  # no space left
    assert ended.code == 0


def test_one_file_is_bounded(make_box, level, said):
    words, _ = said(make_box(file_bytes=1 << 20), "open('f','wb').write(bytes(2 << 20))", level)
    assert "File too large" in words


FILL = "import time\nfor n in range(40): open(str(n), 'wb').write(b'x' * (1 << 20))\ntime.sleep(60)"
HIDE = """
import os, time
held = []
for n in range(16):
    file = open('hidden', 'wb'); file.write(b'x' * (1 << 20)); file.flush()
    held.append(file); os.unlink('hidden')
time.sleep(60)
"""
BURY = "import os, time\nfor n in range(1100): os.mkdir('dddd'); os.chdir('dddd')\ntime.sleep(60)"


@pytest.mark.parametrize("code", [FILL, HIDE, BURY], ids=["fill", "unlinked", "buried"])
def test_a_box_that_fills_the_disk_is_ended(make_box, level, said, folder, code):
    _, ended = said(make_box(wall=40, disk=8 << 20), code, level)
    assert ended.killed == "disk"
    assert ended.wall < 30
    remove_tree(folder)  # deeper than Python's own way of removing goes
    assert not folder.exists()


DAEMON = """
import os, time
if not os.fork():
    os.setsid()
    if not os.fork():
        while True:
            open('beat', 'w').write(str(time.time())); time.sleep(0.02)
    os._exit(0)
time.sleep(0.3)
"""


def test_a_daemon_does_not_outlive_the_program_that_left_it(box, level, said, folder):
    _, ended = said(box, DAEMON, level)
    assert ended.code == 0
    before = (folder / "beat").read_text()
    time.sleep(0.3)
    assert (folder / "beat").read_text() == before


def test_what_was_in_force_is_told(make_box, level, said):
    enforced = said(make_box(cores=1, cpu=30), "", level)[1].enforced
    assert enforced.root == "read-only pieces"
    assert enforced.seccomp == "refusal list"
    grouped = level == "bwrap+cgroup"
    assert enforced.memory.startswith("cgroup v") is grouped
    assert enforced.cores.startswith("cgroup v") is grouped


def test_a_share_of_the_processor_is_kept_to(make_box, said):
    code = "import time\nend = time.monotonic() + 1.5\nwhile time.monotonic() < end: pass"
    _, ended = said(make_box(cores=0.25), code, "bwrap+cgroup")
    assert ended.cpu < 0.8


def test_packages_of_this_environment_are_there_but_not_this_one(box, level, said):
    code = f"""
import subprocess
for name in ('numpy', 'cosmolabe'):
    done = subprocess.run([{sys.executable!r}, '-I', '-c', 'import ' + name], stderr=-1)
    print(name, done.returncode)
"""
    assert python_root()
    big = replace(box, limits=replace(box.limits, memory=2 << 30))
    assert said(big, code, level)[0] == "numpy 0\ncosmolabe 1\n"
