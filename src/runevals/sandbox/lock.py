"""Drops rights permanently: seccomp, Landlock, another user, resource limits. Only the limits outside of Linux.

Used by the workers, which run without site-packages: only the standard library, loaded completely before the
first lock, because nothing can be opened afterwards.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from collections.abc import Iterable
from contextlib import suppress

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

NO_USER = 65534
ANSWER_FD = 3

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS = 1, 4, 22, 38
_LANDLOCK_CREATE, _LANDLOCK_RESTRICT = 444, 446
_SIGKILL = 9
# What each version of Landlock has beside those before it: rights of files, of the network, and scopes.
_RIGHTS = (((1 << 13) - 1, 0, 0), (1 << 13, 0, 0), (1 << 14, 0, 0), (0, 3, 0), (1 << 15, 0, 0), (0, 0, 3))

# A grader needs memory, time and an exit; every other call is refused. Never add a call for a library:
# load what it needs before the lock.
_CALLS = {
    "x86_64": {
        "read": 0, "write": 1, "close": 3, "fstat": 5, "lseek": 8, "mmap": 9, "mprotect": 10, "munmap": 11,
        "brk": 12, "rt_sigaction": 13, "rt_sigprocmask": 14, "rt_sigreturn": 15, "select": 23, "sched_yield": 24,
        "mremap": 25, "madvise": 28, "nanosleep": 35, "getpid": 39, "exit": 60, "gettimeofday": 96,
        "getrusage": 98, "sigaltstack": 131, "gettid": 186, "time": 201, "futex": 202, "restart_syscall": 219,
        "clock_gettime": 228, "clock_getres": 229, "clock_nanosleep": 230, "exit_group": 231, "pselect6": 270,
        "getrandom": 318, "rseq": 334,
    },
    "aarch64": {
        "close": 57, "lseek": 62, "read": 63, "write": 64, "pselect6": 72, "fstat": 80, "exit": 93,
        "exit_group": 94, "futex": 98, "nanosleep": 101, "clock_gettime": 113, "clock_getres": 114,
        "clock_nanosleep": 115, "sched_yield": 124, "restart_syscall": 128, "sigaltstack": 132,
        "rt_sigaction": 134, "rt_sigprocmask": 135, "rt_sigreturn": 139, "getrusage": 165, "gettimeofday": 169,
        "getpid": 172, "gettid": 178, "brk": 214, "munmap": 215, "mremap": 216, "mmap": 222, "mprotect": 226,
        "madvise": 233, "getrandom": 278, "rseq": 293,
    },
}  # fmt: skip
_AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_SPECIAL = ("read", "write", "mmap", "mprotect")

_LOAD, _EQUAL, _AT_LEAST, _HAS_BITS, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _REFUSE, _KILL = 0x7FFF0000, 0x00050001, 0x80000000  # refused calls fail with EPERM
_NUMBER, _ARCH, _FIRST, _THIRD = 0, 4, 16, 32  # offsets in struct seccomp_data; arguments are 64 bits wide
_X32 = 0x40000000
_PROT_EXEC = 4


class Lock:
    """A prepared filter: creating it needs rights that it removes."""

    def __init__(self, *, read_fd: int | None = None) -> None:
        """`read_fd`: the only descriptor that may still be read, or None. Raises OSError if unsupported."""
        machine = os.uname().machine
        if sys.platform != "linux" or machine not in _CALLS:
            raise OSError(f"there is no seccomp filter for {sys.platform} on {machine}")
        code = _program(machine, read_fd)
        self._instructions = ctypes.create_string_buffer(code, len(code))
        self._filter = ctypes.create_string_buffer(
            struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(self._instructions)), 16
        )
        self._address = ctypes.addressof(self._filter)
        self._prctl = ctypes.CDLL(None, use_errno=True).prctl
        self._prctl.argtypes = [ctypes.c_int, *[ctypes.c_ulong] * 4]

    def put_on(self) -> None:
        """Allows this process and its children only the filter's calls. Raises OSError if the kernel refuses."""
        self._checked(_PR_SET_NO_NEW_PRIVS, 1)
        self._checked(_PR_SET_SECCOMP, 2, self._address)

    def die_with_parent(self) -> None:
        """The kernel ends this process when the thread that forked it is gone."""
        self._checked(_PR_SET_PDEATHSIG, _SIGKILL)

    def _checked(self, option: int, first: int, second: int = 0) -> None:
        if self._prctl(option, first, second, 0, 0) != 0:
            error = ctypes.get_errno()
            raise OSError(error, f"prctl({option}): {os.strerror(error)}")


def _program(machine: str, read_fd: int | None) -> bytes:
    """The filter in classic BPF: the accumulator is reloaded only in branches that return."""
    calls = _CALLS[machine]

    def instruction(code: int, value: int, then: int = 0, otherwise: int = 0) -> bytes:
        return struct.pack("HBBI", code, then, otherwise, value)

    def only_if(name: str, argument: int, test: bytes) -> list[bytes]:
        """`name` is allowed with an argument for which the test leaves out the refusal."""
        return [
            instruction(_EQUAL, calls[name], 0, 4),
            instruction(_LOAD, argument),
            test,
            instruction(_RETURN, _REFUSE),
            instruction(_RETURN, _ALLOW),
        ]

    lines = [
        instruction(_LOAD, _ARCH),
        instruction(_EQUAL, _AUDIT_ARCH[machine], 1, 0),
        instruction(_RETURN, _KILL),
        instruction(_LOAD, _NUMBER),
        instruction(_AT_LEAST, _X32, 0, 1),
        instruction(_RETURN, _KILL),
    ]
    for name in ("mmap", "mprotect"):
        lines += only_if(name, _THIRD, instruction(_HAS_BITS, _PROT_EXEC, 0, 1))
    for name, descriptor in (("write", ANSWER_FD), ("read", read_fd)):
        if descriptor is not None:
            lines += only_if(name, _FIRST, instruction(_EQUAL, descriptor, 1, 0))
    for name, number in calls.items():
        if name not in _SPECIAL:
            lines += [instruction(_EQUAL, number, 0, 1), instruction(_RETURN, _ALLOW)]
    return b"".join([*lines, instruction(_RETURN, _REFUSE)])


def drop_user() -> None:
    """Changes to another user without groups, if this process is root: it cannot reach files of others."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return
    try:
        os.setgroups([])
        os.setresgid(NO_USER, NO_USER, NO_USER)
        os.setresuid(NO_USER, NO_USER, NO_USER)
    except OSError:
        pass  # without the capability it stays root; the filter applies


def landlock_version() -> int:
    """The kernel's version of Landlock; below 1 if there is none."""
    if sys.platform != "linux":
        return 0
    version: int = ctypes.CDLL(None, use_errno=True).syscall(_LANDLOCK_CREATE, None, 0, 1)
    return version


def drop_file_access() -> None:
    """Landlock without a rule: no file, no port, no signal or socket of others. Does nothing if unsupported."""
    if sys.platform != "linux":
        return
    libc = ctypes.CDLL(None, use_errno=True)
    version = landlock_version()
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if version < 1:
        return
    rights = [sum(of_kind) for of_kind in zip(*_RIGHTS[:version], strict=True)]
    size = 8 * (len(rights) - rights[1:].count(0))  # a version knows only the kinds that it or an earlier one has
    ruleset = libc.syscall(_LANDLOCK_CREATE, struct.pack("QQQ", *rights), size, 0)
    if ruleset >= 0:
        libc.syscall(_LANDLOCK_RESTRICT, ruleset, 0)
        os.close(ruleset)


def hide() -> None:
    """Not to be traced, dumped, or read through /proc by others of the same user."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def memory_in_use() -> int:
    """Bytes of address space that this process uses; 0 if unknown."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123 - without pathlib, it is quicker
            return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


def limit(*, memory_bytes: int | None, cpu_s: int | None) -> None:
    """Bounds for this process: address space, processor time; no new files, processes or core dumps."""
    if resource is None:
        return

    def bound(kinds: Iterable[int], most: int) -> None:
        for kind in kinds:
            with suppress(ValueError, OSError):  # macOS takes no limit on address space
                resource.setrlimit(kind, (most, most))

    if memory_bytes is not None:
        bound([resource.RLIMIT_AS], memory_bytes)
    if cpu_s is not None:
        bound([resource.RLIMIT_CPU], cpu_s)
    bound([resource.RLIMIT_FSIZE, resource.RLIMIT_CORE, resource.RLIMIT_NPROC], 0)
    bound([resource.RLIMIT_NOFILE], 16)
