"""A filter of system calls: what no training or coding tool needs, and a kernel bug might.

Calls on the list answer EPERM, calls of another processor's numbering end the process. Classic BPF
as in the kernel's Documentation/userspace-api/seccomp_filter.rst; numbers from its syscall tables.
"""

import platform
import struct

LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
ALLOW, KILL, REFUSE = 0x7FFF0000, 0x80000000, 0x00050000
EPERM, ENOSYS = 1, 38
NUMBER, ARCHITECTURE, FIRST = 0, 4, 16  # bytes into the data a filter sees
X32 = 0x40000000
NEW_NAMESPACES = 0x7E020000
"""Flags of clone that make namespaces: mount, cgroup, uts, ipc, user, pid, net."""
FAMILIES = {"unix": 1, "inet": 2, "inet6": 10, "netlink": 16}
"""Sockets that are left. What virtual machines speak to their host by (vsock) is not among them."""
ARCHITECTURES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}

REFUSED = {  # name: number on x86_64, on aarch64; None where it does not exist
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "pidfd_getfd": (438, 438),
    "kcmp": (312, 272),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "unshare": (272, 97),
    "setns": (308, 268),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "open_by_handle_at": (304, 265),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "adjtimex": (159, 171),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "acct": (163, 89),
    "syslog": (103, 116),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "fanotify_init": (300, 262),
    "iopl": (172, None),
    "ioperm": (173, None),
    "modify_ldt": (154, None),
    "vhangup": (153, 58),
}
CLONE, CLONE3, SOCKET = (56, 220), (435, 435), (41, 198)


def machine_has_filter() -> bool:
    """Whether the numbers of this processor are known here."""
    return platform.machine() in ARCHITECTURES


def program(machine: str | None = None) -> bytes:
    """The filter as `bwrap --seccomp` reads it, eight bytes an instruction.

    Raises:
        ValueError: The numbers of this processor are not known here.
    """
    machine = machine or platform.machine()
    if machine not in ARCHITECTURES:
        raise ValueError(f"no filter for {machine}; have {sorted(ARCHITECTURES)}")
    architecture, column = ARCHITECTURES[machine]
    lines = [_line(LOAD, ARCHITECTURE)]
    lines += [_line(EQUAL, architecture, 1, 0), _line(RETURN, KILL), _line(LOAD, NUMBER)]
    if machine == "x86_64":
        lines += [_line(AT_LEAST, X32, 0, 1), _line(RETURN, REFUSE | ENOSYS)]
    for numbers in REFUSED.values():
        if (number := numbers[column]) is not None:
            lines += [_line(EQUAL, number, 0, 1), _line(RETURN, REFUSE | EPERM)]
    # The C library asks clone3 first, whose flags a filter cannot see, and clone after ENOSYS.
    lines += [_line(EQUAL, CLONE3[column], 0, 1), _line(RETURN, REFUSE | ENOSYS)]
    lines += [_line(EQUAL, CLONE[column], 0, 4), _line(LOAD, FIRST)]
    lines += [_line(ANY_BIT, NEW_NAMESPACES, 0, 1), _line(RETURN, REFUSE | EPERM)]
    lines += [_line(RETURN, ALLOW)]
    lines += [_line(EQUAL, SOCKET[column], 0, len(FAMILIES) + 2), _line(LOAD, FIRST)]
    for left, family in zip(range(len(FAMILIES), 0, -1), FAMILIES.values(), strict=True):
        lines += [_line(EQUAL, family, left, 0)]
    lines += [_line(RETURN, REFUSE | EPERM), _line(RETURN, ALLOW)]
    return b"".join(lines)


def _line(code: int, value: int, then: int = 0, otherwise: int = 0) -> bytes:
    return struct.pack("=HBBI", code, then, otherwise, value)
