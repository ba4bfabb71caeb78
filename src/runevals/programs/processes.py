"""Starts programs that a change may have written, as another user if runevals is root.

Otherwise they run as the same user. In both cases their remaining processes end before runevals does.
"""

from __future__ import annotations

import os
import platform
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path

from msgspec import Struct, field

from runevals.lib.nullable import grouped, without_none

REAP_TIMEOUT_S = 5.0
ROUNDS = 100  # of a search for processes that start others while they are ended
IN_CONTAINER = "RUNEVALS_IN_CONTAINER"  # the variable of the action's container, which lacks what the job has
NO_GROUP = 65534  # the owner's group may have access to the container engine's socket
NO_OWNER = 65533  # the user of programs if root owns everything; the sandbox's workers are 65534
_PR_SET_DUMPABLE, _PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 4, 36, 38
_NO_HOME = 3
# setgroups, setresgid and setresuid of the calling thread only; those of the C library change all threads
_CALLS = {"x86_64": (116, 119, 117), "aarch64": (159, 149, 147)}


class Account(Struct, frozen=True, kw_only=True):
    """A user without groups. `home`: its own home folder, if it cannot write to the current one."""

    uid: int
    home: str | None = None


class _Attempt(Struct):
    """When it began, and the first program that it started since `end_those_in`, in ticks since the boot."""

    began: int
    program_began: int | None = None


class _State(Struct):
    """The state of this process."""

    account: Account | None = None  # None: programs run as the current user
    owner: Account | None = None  # of the workspace; None: the current user
    adopts: bool = False  # orphaned processes become children of this process
    users: int = 0  # current runs
    active: bool = False
    over: bool = False
    homes: list[tempfile.TemporaryDirectory[str]] = []
    lock: threading.Lock = field(default_factory=threading.Lock)  # of the two below, and of the start of programs
    running: set[int] = set()  # the pids of programs that we started
    attempts: dict[int, _Attempt] = {}  # by their thread


_state = _State()


def separate(workspace: Path) -> str | None:
    """Makes programs run as the workspace's owner, or as user 65533 if root owns it, if runevals is root.

    Returns why they cannot, or None.
    """
    _state.account = _state.owner = None
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return None
    if sys.platform != "linux" or platform.machine() not in _CALLS:
        return f"it is not known how to become another user on {sys.platform} {platform.machine()}"
    uid, home = workspace.stat().st_uid, os.environ.get("HOME") or "/"
    account = Account(uid=uid or NO_OWNER)
    look = (
        f"import os; os.getresuid() == ({account.uid},) * 3 or os._exit(1); os.scandir({str(workspace)!r}); "
        f"os.access({home!r}, os.W_OK) or os._exit({_NO_HOME})"
    )
    try:
        with _acting_as(account):
            done = subprocess.run(
                [sys.executable, "-I", "-S", "-c", look], cwd="/", capture_output=True, check=False
            )
    except OSError as error:
        return f"user {account.uid} cannot run {sys.executable}: {error.strerror}"
    if done.returncode not in (0, _NO_HOME):
        return f"user {account.uid} cannot read the workspace"
    _state.owner = account if uid else None
    _state.account = account if done.returncode == 0 else Account(uid=account.uid, home=_create_home(account))
    _prctl(_PR_SET_NO_NEW_PRIVS)  # no program with the setuid bit leads back
    return None


def _create_home(account: Account) -> str:
    home = tempfile.TemporaryDirectory(prefix="runevals-home-", ignore_cleanup_errors=True)
    _state.homes.append(home)
    os.chown(home.name, account.uid, NO_GROUP)
    return home.name


def hide() -> None:
    """Prevents processes of the same user, including root without capabilities, from reading /proc of this one."""
    _prctl(_PR_SET_DUMPABLE, 0)


def as_owner() -> AbstractContextManager[None]:
    """This thread and its children run as the workspace's owner meanwhile.

    Programs under test may write to the repository and its configuration: git has no more rights than they have.
    """
    return _acting_as(_state.owner)


@contextmanager
def as_program() -> Iterator[None]:
    """What this thread does and starts meanwhile, it does as programs under test do. Raises OSError."""
    if _state.over:
        raise OSError(0, "the run is over")
    if _state.adopts and not _state.active:
        _prctl(_PR_SET_CHILD_SUBREAPER)
    _state.active = True
    with _acting_as(_state.account):
        yield


@contextmanager
def _acting_as(account: Account | None) -> Iterator[None]:
    """Only this thread changes to that user, and back to root afterwards; its children cannot change back.

    Otherwise, starting a program as another user would copy all memory of this process.
    """
    if account is None:
        yield
        return
    groups = os.getgroups()
    try:
        _become(account.uid, NO_GROUP, [])
        yield
    finally:
        _become(0, 0, groups)


def _become(uid: int, gid: int, groups: Sequence[int]) -> None:
    """Real and effective; the saved user stays root, which the start of a program takes away. Raises OSError."""
    import ctypes

    call = ctypes.CDLL(None, use_errno=True).syscall
    set_groups, set_gid, set_uid = _CALLS[platform.machine()]
    members = (ctypes.c_uint * len(groups))(*groups)
    steps = [(set_groups, len(groups), members), (set_gid, gid, gid, 0), (set_uid, uid, uid, 0)]
    for step in steps if uid else (steps[2], steps[1], steps[0]):
        if call(*step) != 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def environment(variables: Mapping[str, str]) -> dict[str, str]:
    """The environment of a program: `variables`, with the home of its user."""
    if _state.account is None:
        return dict(variables)
    home = without_none(HOME=_state.account.home)
    return {"USER": "runevals", "LOGNAME": "runevals", **variables, **home}  # no file of users knows its number


def open_to_programs(folder: Path) -> None:
    """Lets programs and git pass through this folder.

    It stays ours: they cannot put a link in place of what is in it.
    """
    folder.chmod(_folder_mode())


def is_open_to_programs(info: os.stat_result) -> bool:
    """Whether a folder is as `open_to_programs` leaves it."""
    own = not hasattr(os, "geteuid") or info.st_uid == os.geteuid()
    return own and stat.S_ISDIR(info.st_mode) and stat.S_IMODE(info.st_mode) == _folder_mode()


def _folder_mode() -> int:
    """The mode of such a folder: other users may traverse it if programs are one."""
    return stat.S_IRWXU | (0 if _state.account is None else stat.S_IXGRP | stat.S_IXOTH)


def make_for_programs(folder: Path, *names: str) -> None:
    """Opens a folder of ours to programs, with new folders in it that belong to them."""
    open_to_programs(folder)
    for name in names:
        (folder / name).mkdir(mode=0o700)
        if _state.account is not None:
            os.chown(folder / name, _state.account.uid, NO_GROUP)


def make_for_git(folder: Path) -> None:
    """Makes a folder in one of ours, that belongs to the user that git runs as."""
    folder.mkdir()
    if _state.owner is not None:
        os.chown(folder, _state.owner.uid, NO_GROUP)


def start_program(
    command: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: Path | None,
    stderr: int = subprocess.PIPE,
    own_worker: bool = False,
    home: Path | None = None,
) -> subprocess.Popen[bytes]:
    """Starts a program in a new session, with pipes to it. Raises OSError, ValueError.

    `own_worker`: a worker of runevals, which drops its rights itself. `home`: a folder in place of the user's own.
    """
    variables = dict(env) if own_worker else environment(env)
    with nullcontext() if own_worker else as_program(), _state.lock:
        attempt = _state.attempts.get(threading.get_ident())
        if attempt is not None and attempt.program_began is None and not own_worker:
            attempt.program_began = _ticks()
        process = subprocess.Popen(
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            env=variables if home is None else {**variables, "HOME": str(home)},
            cwd=cwd,
            close_fds=True,
            start_new_session=True,
        )
        _state.running.add(process.pid)
        return process


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """Ends a process that was started with `start_new_session`, and all its children. To be called once."""
    with suppress(ProcessLookupError, PermissionError):
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    with suppress(subprocess.TimeoutExpired):  # if it cannot be killed, it ends at the end of its input
        process.wait(REAP_TIMEOUT_S)
    _state.running.discard(process.pid)
    _bury_adopted()


def adopt() -> None:
    """Adopts orphaned processes, to end them; only for a process without other children."""
    _state.adopts = sys.platform == "linux"
    _state.active = False  # the next program's start sets it


@contextmanager
def in_use() -> Iterator[None]:
    """For a run: after the last one, no process that it started is left."""
    _state.users += 1
    try:
        yield
    finally:
        _state.users -= 1
        if not _state.users:
            end_all()


def end_all(*, for_good: bool = False) -> None:
    """Ends what programs left running, if orphans are adopted. `for_good`: none can be started any more."""
    _state.over = for_good
    if not (_state.adopts and _state.active):
        return
    _state.active = False
    ends_at = time.monotonic() + REAP_TIMEOUT_S
    while time.monotonic() < ends_at:
        remaining = list(_descendants())
        if not remaining:
            return
        if os.getpid() == 1 and _state.account is not None:  # all of our container, at one stroke: none escapes
            os.kill(-1, signal.SIGKILL)
        for process in remaining:
            _kill(process)
        _bury(_children())
        time.sleep(0.005)


@contextmanager
def in_attempt() -> Iterator[None]:
    """The programs that this thread starts meanwhile are those of one attempt."""
    thread = threading.get_ident()
    with _state.lock:
        _state.attempts[thread] = _Attempt(_ticks())
    try:
        yield
    finally:
        with _state.lock:
            del _state.attempts[thread]


def end_those_in(folder: Path) -> None:
    """Ends the processes that work in this folder, or have their HOME there, whatever session they are in.

    And those that left it and that only programs of this thread's attempt can have started.
    """
    _end_those_at(folder)
    for _ in range(ROUNDS):
        if not _end_orphans():
            break
        time.sleep(0.005)
    with _state.lock:
        attempt = _state.attempts.get(threading.get_ident())
        if attempt is not None:
            attempt.program_began = None


def _end_orphans() -> bool:
    """Whether there were any that only this thread's attempt can have started."""
    with _state.lock:
        attempt = _state.attempts.get(threading.get_ident())
        if not _state.adopts or attempt is None or attempt.program_began is None:
            return False
        ends_at = min((other.began for other in _state.attempts.values() if other is not attempt), default=None)
        ours = {os.getsid(0), *_state.running, *_children_of_threads()}
        orphans = [
            process
            for process in _children()
            if process.began >= attempt.program_began
            and (ends_at is None or process.began < ends_at)
            and not ours & {process.pid, process.session}
        ]
        for orphan in orphans:
            _kill(orphan)
        _bury(orphans)
    return bool(orphans)


def _children_of_threads() -> Iterator[int]:
    """Processes that plugins started in threads of their own; orphans become children of the main thread."""
    for thread in _numbers_in(Path("/proc/self/task")):
        if thread != os.getpid():
            with suppress(OSError):
                yield from map(int, Path(f"/proc/self/task/{thread}/children").read_bytes().split())


def _ticks() -> int:
    """The time since the boot, in the unit of /proc."""
    if sys.platform != "linux":
        return 0
    return int(time.clock_gettime(time.CLOCK_BOOTTIME) * os.sysconf("SC_CLK_TCK"))


def _end_those_at(folder: Path) -> None:
    for _ in range(ROUNDS):
        pids = [pid for pid in _numbers_in(Path("/proc")) if pid != os.getpid() and _is_in(pid, folder)]
        if not pids:
            return
        for pid in pids:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        _bury_adopted()
        time.sleep(0.005)


def _numbers_in(folder: Path) -> list[int]:
    """The processes or threads of a folder of /proc; a glob would raise for one that ends meanwhile."""
    return [int(name) for name in os.listdir(folder) if name.isdecimal()] if sys.platform == "linux" else []  # noqa: PTH208


def _is_in(pid: int, folder: Path) -> bool:
    """Whether a process that is still alive works in a folder, or has its HOME there."""
    inside = f"{folder}{os.sep}"
    with suppress(OSError):
        if f"{os.readlink(f'/proc/{pid}/cwd')}{os.sep}".startswith(inside):  # noqa: PTH115 - hundreds of them
            return True
        with open(f"/proc/{pid}/environ", "rb") as file:  # noqa: PTH123
            return f"\0HOME={inside}".encode() in b"\0" + file.read()
    return False


class _Process(Struct, frozen=True):
    pid: int
    parent: int
    group: int
    session: int
    began: int
    is_dead: bool


def _processes() -> Iterator[_Process]:
    for pid in _numbers_in(Path("/proc")):
        with suppress(OSError):
            fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b") ")[2].split()
            parent, group, session = map(int, fields[1:4])
            began, is_dead = int(fields[19]), fields[0] in (b"Z", b"X")
            yield _Process(pid, parent, group, session, began, is_dead=is_dead)


def _children() -> list[_Process]:
    return [process for process in _processes() if process.parent == os.getpid()]


def _descendants() -> Iterator[_Process]:
    """All processes that we, or those that we started, have started; children first."""
    by_parent = grouped((process.parent, process) for process in _processes())
    parents = [os.getpid()]
    while parents:
        children = by_parent.get(parents.pop(), [])
        yield from children
        parents += [child.pid for child in children]


def _kill(process: _Process) -> None:
    """Kills its whole group at once: it may have ended already and left a child."""
    with suppress(ProcessLookupError, PermissionError):
        os.kill(process.pid, signal.SIGKILL)
    if process.session != os.getsid(0):  # only what we started, and their children, can be in it
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.group, signal.SIGKILL)


def _bury_adopted() -> None:
    if _state.adopts:  # a child that we started leads its session, or is in ours
        _bury(one for one in _children() if one.is_dead and one.session not in (one.pid, os.getsid(0)))


def _bury(processes: Iterable[_Process]) -> None:
    for process in processes:
        with suppress(ChildProcessError):
            os.waitpid(process.pid, os.WNOHANG)


def _prctl(option: int, value: int = 1) -> None:
    """No new privileges for this thread and its children. Does nothing if the kernel lacks it."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def what_to_use() -> str:
    """The end of a message about what the action's container lacks; elsewhere nothing."""
    if not os.environ.get(IN_CONTAINER):
        return ""
    return "; use runevals/runevals, which runs on the runner, instead of runevals/runevals/container"
