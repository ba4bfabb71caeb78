"""The one place that starts programs which a change may have written, as somebody else where we are root.

Where we are not, they are of our own user. In both cases what they leave running ends before we do.
"""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

BURIAL_S = 5.0
NO_GROUP = 65534  # the owner's own may be the one that the container engine's socket is open to
NO_OWNER = 65533  # who programs run as where root owns everything; the sandbox's workers are 65534
_PR_SET_DUMPABLE, _PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 4, 36, 38
_NO_HOME = 3
_LAUNCH = (
    "import os, sys; user, group = map(int, sys.argv[1:3]); os.setgroups([]); os.setresgid(group, group, group); "
    "os.setresuid(user, user, user); os.execvp(sys.argv[3], sys.argv[3:])"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """A user without groups. `home`: a folder of its own, where it could not write to ours."""

    uid: int
    home: str | None = None

    def words(self) -> dict[str, Any]:
        """What `subprocess` is told."""
        return {"user": self.uid, "group": NO_GROUP, "extra_groups": []}

    def environment(self, given: Mapping[str, str]) -> dict[str, str]:
        """`given`, as this user needs it."""
        names = {"USER": "runevals", "LOGNAME": "runevals"}  # no file of users knows its number
        return {**names, **given, **({} if self.home is None else {"HOME": self.home})}


@dataclass(slots=True)
class _State:
    """Of this process."""

    account: Account | None = None  # None: programs run as we do
    owner: Account | None = None  # of the workspace; None: it is ours
    adopts: bool = False  # what loses its parent becomes our child
    users: int = 0  # runs under way
    started: bool = False
    over: bool = False
    homes: list[tempfile.TemporaryDirectory[str]] = field(default_factory=list)


_state = _State()


def separate(workspace: Path) -> str | None:
    """From here on programs run as the workspace's owner, or where root owns it as nobody's user, if we are root.

    Why they cannot; None where they do, or we are not root.
    """
    _state.account = _state.owner = None
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return None
    uid = workspace.stat().st_uid
    account = Account(uid=uid or NO_OWNER)
    look = f"import os; os.scandir({str(workspace)!r}); os.access({_home()!r}, os.W_OK) or os._exit({_NO_HOME})"
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", look], cwd="/", capture_output=True, check=False, **account.words()
        )
    except OSError as error:
        return f"user {account.uid} cannot run {sys.executable}: {error.strerror}"
    if done.returncode not in (0, _NO_HOME):
        return f"user {account.uid} cannot read the workspace"
    _state.owner = account if uid else None
    _state.account = account if done.returncode == 0 else Account(uid=account.uid, home=_made_home(account))
    _prctl(_PR_SET_NO_NEW_PRIVS)  # no program with the setuid bit leads back
    return None


def _home() -> str:
    return os.environ.get("HOME") or "/"


def _made_home(account: Account) -> str:
    home = tempfile.TemporaryDirectory(prefix="runevals-home-", ignore_cleanup_errors=True)
    _state.homes.append(home)
    os.chown(home.name, account.uid, NO_GROUP)
    return home.name


def hide() -> None:
    """Nobody of our user, root's lesser kind included, may read our environment and memory through /proc."""
    _prctl(_PR_SET_DUMPABLE, 0)


def as_owner() -> dict[str, Any]:
    """What `subprocess` is told so that our own tools, git, work as the workspace's owner; nothing if that is us.

    A repository's configuration may be written by the programs under test: git is never more than they are.
    """
    return {} if _state.owner is None else _state.owner.words()


def let_in(folder: Path) -> None:
    """Programs, and git, may work in this folder of ours."""
    if _state.owner is not None:
        os.chown(folder, _state.owner.uid, NO_GROUP)
    elif _state.account is not None:
        folder.chmod(stat.S_IRWXU | stat.S_IXGRP | stat.S_IXOTH)


def is_let_in(found: os.stat_result) -> bool:
    """Whether a folder is one that `let_in` may have changed, by its owner and mode."""
    own = not hasattr(os, "geteuid") or found.st_uid == (
        os.geteuid() if _state.owner is None else _state.owner.uid
    )
    return own and stat.S_ISDIR(found.st_mode) and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def started(
    command: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: Path | None,
    stderr: int = subprocess.PIPE,
    ours: bool = False,
) -> subprocess.Popen[bytes]:
    """Starts a program, in a session of its own, with pipes to it. Raises OSError, ValueError.

    `ours`: one that gives up its rights itself.
    """
    account = None if ours else _state.account
    _adopt()
    return subprocess.Popen(
        list(command),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=stderr,
        env=dict(env) if account is None else account.environment(env),
        cwd=cwd,
        close_fds=True,
        start_new_session=True,
        **({} if account is None else account.words()),
    )


def launched(command: Sequence[str], env: Mapping[str, str]) -> tuple[list[str], dict[str, str]]:
    """Command and environment for a library that starts the program itself: it becomes its user on the way."""
    _adopt()
    account = _state.account
    if account is None:
        return list(command), dict(env)
    launcher = [sys.executable, "-I", "-S", "-c", _LAUNCH, str(account.uid), str(NO_GROUP)]
    return [*launcher, *command], account.environment(env)


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """Ends a process that was started with `start_new_session`, and all its children. To be called once."""
    with suppress(ProcessLookupError, PermissionError):
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    with suppress(subprocess.TimeoutExpired):  # where we may not kill it, it ends with its input
        process.wait(BURIAL_S)
    if _state.adopts:
        _bury(orphan for orphan in _children() if orphan.is_dead and orphan.was_adopted)


def adopt() -> None:
    """What programs leave running is ours to end: for a process of which nobody else has children."""
    _state.adopts = sys.platform == "linux"


def _adopt() -> None:
    if _state.over:
        raise OSError(0, "the run is over")
    if _state.adopts and not _state.started:
        _prctl(_PR_SET_CHILD_SUBREAPER)
    _state.started = True


@contextmanager
def in_use() -> Iterator[None]:
    """For a run: when the last one is over, nothing is left running of what they started."""
    _state.users += 1
    try:
        yield
    finally:
        _state.users -= 1
        if not _state.users:
            end_all()


def end_all(*, for_good: bool = False) -> None:
    """Ends all that programs have left running, however they hid it; where orphans are not adopted, nothing.

    `for_good`: and none can be started any more.
    """
    _state.over = for_good
    if not (_state.adopts and _state.started):
        return
    _state.started = False
    ends_at = time.monotonic() + BURIAL_S
    while time.monotonic() < ends_at:
        left = list(_descendants())
        if not left:
            return
        if os.getpid() == 1:  # all there are, at one stroke: none can fork its way out
            os.kill(-1, signal.SIGKILL)
        for process in left:
            _kill(process)
        _bury(_children())
        time.sleep(0.005)


@dataclass(frozen=True, slots=True)
class _Process:
    pid: int
    parent: int
    group: int
    session: int
    is_dead: bool

    @property
    def was_adopted(self) -> bool:
        """Whether it is surely none that we started: those lead their session, or are in ours."""
        return self.session not in (self.pid, os.getsid(0))


def _processes() -> Iterator[_Process]:
    for file in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            told = file.read_bytes().rpartition(b") ")[2].split()
            parent, group, session = map(int, told[1:4])
            yield _Process(int(file.parent.name), parent, group, session, is_dead=told[0] in (b"Z", b"X"))


def _children() -> list[_Process]:
    us = os.getpid()
    return [process for process in _processes() if process.parent == us]


def _descendants() -> Iterator[_Process]:
    """All processes that we, or those that we started, have started; children first."""
    by_parent: dict[int, list[_Process]] = {}
    for process in _processes():
        by_parent.setdefault(process.parent, []).append(process)
    parents = [os.getpid()]
    while parents:
        children = by_parent.get(parents.pop(), [])
        yield from children
        parents += [child.pid for child in children]


def _kill(process: _Process) -> None:
    """With its whole group, at one stroke: it may be gone before we are there, and have left a child."""
    with suppress(ProcessLookupError, PermissionError):
        os.kill(process.pid, signal.SIGKILL)
    if process.session != os.getsid(0):  # only what we started, and their children, can be in it
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.group, signal.SIGKILL)


def _bury(processes: Iterable[_Process]) -> None:
    for process in processes:
        with suppress(ChildProcessError):
            os.waitpid(process.pid, os.WNOHANG)


def _prctl(option: int, value: int = 1) -> None:
    """Of this thread, and of all that it starts. Silent where the kernel has it not."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)
