"""What a program of a change tries in the action's container: prints what it reached, as JSON.

The names of what it must reach begin with `own`.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import socket
import sys
from contextlib import suppress
from pathlib import Path

PTRACE_SEIZE = 0x4206  # attaching would stop us
CLONE_NEWUSER, CLONE_NEWPID = 0x10000000, 0x20000000
WORKSPACE = Path("/github/workspace")


def reads(path):
    with path.open("rb") as file:
        return bool(file.read(1))


def appends(path):
    with path.open("ab"):
        return True


def opens_to_change(path):
    os.close(os.open(path, os.O_RDWR))
    return True


def holds_token(text):
    return b"token-of-the-job" in text


def processes(name):
    """Whether a file of any other process can be read, and has the token in it or is memory."""
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if int(folder.name) != os.getpid() and holds_token((folder / name).read_bytes()):
                return True
    return False


def ours():
    """Whether any file of the product can be written, or one be put beside it."""
    return any(os.access(path, os.W_OK) for path in (Path("/opt/runevals"), *Path("/opt/runevals").rglob("*")))


def connects(path):
    with socket.socket(socket.AF_UNIX) as plug:
        plug.connect(path)
        return True


def signals(pid):
    os.kill(pid, 0)
    return True


def traces(pid):
    """By a child, with whose end the tracing ends."""
    child = os.fork()
    if child == 0:
        os._exit(ctypes.CDLL(None).ptrace(PTRACE_SEIZE, pid, None, None) & 1)
    return os.waitpid(child, 0)[1] == 0


def others():
    """The processes of other users."""
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if folder.stat().st_uid != os.geteuid() or "Uid:\t0" in (folder / "status").read_text():
                yield int(folder.name)


def acts_on_another(act):
    """Whether any process of another user lets it: signals, priorities, limits, memory, descriptors."""
    for pid in others():
        with suppress(OSError):
            act(pid)
            return True
    return False


def new_namespace():
    """Whether the kernel lets it make a process namespace, or one of users, with which it could."""
    child = os.fork()
    if child == 0:
        library = ctypes.CDLL(None)
        os._exit(0 if 0 in (library.unshare(CLONE_NEWPID), library.unshare(CLONE_NEWUSER)) else 1)
    return os.waitpid(child, 0)[1] == 0


def links_out():
    """Whether descriptors of PID 1 can be seen."""
    return bool(list(Path("/proc/1/fd").iterdir()))


def writes_own(folder):
    path = folder / f"probe-{os.getpid()}"
    path.write_text("x", encoding="utf-8")
    path.unlink()
    return True


PROBES = {
    "the environment of PID 1": lambda: reads(Path("/proc/1/environ")),
    "the memory of PID 1": lambda: opens_to_change(Path("/proc/1/mem")),
    "the layout of the memory of PID 1": lambda: reads(Path("/proc/1/maps")),
    "the descriptors of PID 1": links_out,
    "the token in some process": lambda: processes("environ"),
    "the token in its environment": lambda: holds_token(json.dumps(dict(os.environ)).encode()),
    "PID 1 with a signal": lambda: signals(1),
    "PID 1 as its tracer": lambda: traces(1),
    "another user's process with a signal": lambda: acts_on_another(lambda pid: os.kill(pid, 0)),
    "another user's process by its priority": lambda: acts_on_another(
        lambda pid: os.setpriority(os.PRIO_PROCESS, pid, os.getpriority(os.PRIO_PROCESS, pid))
    ),
    "another user's process by its limits": lambda: acts_on_another(
        lambda pid: resource.prlimit(pid, resource.RLIMIT_CPU)
    ),
    "another user's descriptors": lambda: acts_on_another(lambda pid: list(Path(f"/proc/{pid}/fd").iterdir())),
    "a process namespace": new_namespace,
    "the code of runevals": ours,
    "the interpreter": lambda: os.access(os.path.realpath("/opt/runevals/bin/python3"), os.W_OK),
    "the list of users": lambda: appends(Path("/etc/passwd")),
    "the container engine": lambda: connects("/var/run/docker.sock"),
    "the container engine by its other name": lambda: connects("/run/docker.sock"),
    "a group": lambda: bool(set(os.getgroups()) | {os.getgid()} - {65534}),
    "root": lambda: 0 in os.getresuid(),
    "a program with the setuid bit": lambda: "NoNewPrivs:\t0" in Path("/proc/self/status").read_text(),
    "a capability": lambda: "CapEff:\t0000000000000000" not in Path("/proc/self/status").read_text(),
    "own code": lambda: reads(Path(__file__)),
    "own workspace": lambda: writes_own(WORKSPACE),
    "own folder": lambda: writes_own(Path.cwd()),
    "own home": lambda: writes_own(Path.home()),
    "own temporary folder": lambda: writes_own(Path("/tmp")),
    "own name": lambda: bool(__import__("getpass").getuser()),
}


def probed():
    found = {}
    for name, probe in PROBES.items():
        found[name] = False
        with suppress(OSError, KeyError):
            found[name] = probe()
    return found


if __name__ == "__main__":
    sys.stdout.write(json.dumps({"who": sys.argv[1], **probed()}))
