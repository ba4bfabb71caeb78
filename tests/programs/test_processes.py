"""Programs that a change may have written: as whom they run, and that none outlives us."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from runevals.programs import processes
from runevals.programs.exchange import Exchange
from runevals.records import Workspace
from runevals.repository.git import commit_of
from runevals.repository.worktree import worktree
from runevals.run.workspaces.folders import Workspaces
from tests.run.workspaces.working import turn

OWNER = 1234
PLAIN = "/usr/bin/python3"  # one that every user can run, as that of the container
root = pytest.mark.needs("root", "linux", PLAIN)


@pytest.fixture
def workspace():
    """A folder that others may enter; those of pytest are its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "checkout")
        path.mkdir()
        path.parent.chmod(0o755)
        os.chown(path, OWNER, OWNER)
        yield path


def in_a_child(function):
    """What `function` gives in a process of its own: what it changes there is of no other test."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writing, json.dumps(function()).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        told = pipe.read()
    os.waitpid(child, 0)
    return json.loads(told)


def said_by(*command, cwd, env=None):
    with processes.start_program(command, env={"PATH": os.defpath, **(env or {})}, cwd=cwd) as process:
        return process.communicate(timeout=30)[0].decode().split()


def separated(workspace, then):
    def work():
        sys.executable = PLAIN
        return [processes.separate(workspace), then()]

    why, found = in_a_child(work)
    assert why is None
    return found


def who_is_the_owner():
    with processes.as_owner():
        return subprocess.run(["id", "-u"], capture_output=True, text=True, check=True).stdout.split()


@root
def test_a_program_runs_as_the_owner_without_its_groups(workspace):
    assert said_by("id", "-u", cwd=workspace) == ["0"]  # the control
    assert separated(workspace, lambda: said_by("id", "-u", cwd=workspace)) == [str(OWNER)]
    assert separated(workspace, lambda: said_by("id", "-G", cwd=workspace)) == [str(processes.NO_GROUP)]


@root
def test_if_root_owns_the_folder_a_program_runs_as_nobody(workspace):
    os.chown(workspace, 0, 0)
    assert separated(workspace, lambda: said_by("id", "-u", cwd=workspace)) == [str(processes.NO_OWNER)]
    assert separated(workspace, who_is_the_owner) == ["0"]


@root
def test_a_program_has_a_writable_home(workspace):
    def home():
        return said_by("sh", "-c", "touch $HOME/x; stat -c %u $HOME; pwd", cwd=workspace, env={"HOME": "/root"})

    assert separated(workspace, home) == [str(OWNER), str(workspace)]


@root
def test_a_setuid_program_does_not_regain_root(workspace):
    told = separated(workspace, lambda: said_by("grep", "NoNewPrivs", "/proc/self/status", cwd=workspace))
    assert told == ["NoNewPrivs:", "1"]


@root
def test_a_program_started_by_a_library_runs_as_the_owner(workspace):
    def launched():
        with processes.as_program():
            return subprocess.run(
                ["sh", "-c", "id -u; id -G"], capture_output=True, text=True, check=True
            ).stdout.split()

    assert separated(workspace, launched) == [str(OWNER), str(processes.NO_GROUP)]


@root
def test_git_runs_as_the_owner(workspace):
    assert separated(workspace, who_is_the_owner) == [str(OWNER)]


@root
def test_runevals_is_root_after_a_start_and_in_other_threads(workspace):
    def states():
        def state():
            told = Path(f"/proc/self/task/{threading.get_native_id()}/status").read_text(encoding="ascii")
            return [
                line for line in told.splitlines() if line.startswith(("Uid", "Gid", "Groups", "CapEff", "CapPrm"))
            ]

        before = state()
        with ThreadPoolExecutor(1) as other:
            other.submit(state).result()
            with processes.as_program():
                here, there = state(), other.submit(state).result()
        return [before == each for each in (here, there, state())]

    assert separated(workspace, states) == [False, True, True]


@root
def test_a_program_has_no_way_back_to_root(workspace):
    code = "import os; print(os.getresuid(), os.getresgid()); os.setresuid(0, 0, 0)"
    nobody = str(processes.NO_GROUP)
    told = separated(workspace, lambda: said_by(PLAIN, "-I", "-c", code, cwd=workspace))
    assert " ".join(told) == f"({OWNER}, {OWNER}, {OWNER}) ({nobody}, {nobody}, {nobody})"


@root
def test_files_written_as_the_owner_do_not_belong_to_root(workspace):
    def write():
        with processes.as_owner():
            (workspace / "made").touch()
            try:
                (workspace.parent / "made").touch()
            except PermissionError:
                return (workspace / "made").stat().st_uid
        return None

    assert separated(workspace, write) == OWNER


@root
def test_a_worker_of_runevals_keeps_its_user(workspace):
    def who():
        with processes.start_program(
            ["id", "-u"], env={"PATH": os.defpath}, cwd=workspace, own_worker=True
        ) as process:
            return process.communicate(timeout=30)[0].decode().split()

    assert separated(workspace, who) == ["0"]


@root
@pytest.mark.parametrize("owner", [OWNER, 0])
def test_programs_can_pass_through_a_folder_of_ours_and_it_is_recognised_later(workspace, owner):
    os.chown(workspace, owner, owner)

    def let_in():
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            processes.open_to_programs(folder)
            here = said_by("stat", "-c", "%n", str(folder / "."), cwd=workspace)
            known = processes.is_open_to_programs(folder.stat())
            folder.chmod(0o777)
            return [len(here), known, processes.is_open_to_programs(folder.stat())]

    assert separated(workspace, let_in) == [1, True, False]


SWAP = """\
import os, sys
at, victim = os.getcwd(), sys.argv[1]
for folder in (os.path.dirname(at), os.path.dirname(os.path.dirname(at))):
    try:
        os.rename(folder, folder + ".away")
        os.symlink(victim, folder)
    except OSError:
        pass
"""


def swap(folder, victim):
    """Puts links in place of the folders around one, as far as its user may."""
    said_by(PLAIN, "-I", "-c", SWAP, str(victim), cwd=folder)


def workspace_beside(_checkout, victim):
    """A program of one attempt swaps, then another attempt begins and ends."""
    made = Workspaces({"PATH": os.defpath}, at_once=2)
    swap(made.open(turn(Workspace(), thread="one")).work, victim)
    second = made.open(turn(Workspace(), thread="two")).root
    made.close()
    return second


def worktree_of(checkout, victim):
    """A program in the base's worktree swaps, then the worktree is removed."""
    with worktree(checkout, commit_of(checkout, "HEAD")) as base:
        swap(base, victim)
    return base


def committed(checkout, owner):
    """Makes a repository of a folder, with one file, that belongs to this user."""
    identity = ("-c", "safe.directory=*", "-c", "user.name=A", "-c", "user.email=a@example.com")
    (checkout / "note").write_text("n", encoding="utf-8")
    for words in (("init", "-q"), ("add", "note"), ("commit", "-qm", "base")):
        subprocess.run(["git", *identity, "-C", checkout, *words], check=True)
    subprocess.run(["chown", "-R", str(owner), checkout], check=True)


@root
@pytest.mark.parametrize("uses", [workspace_beside, worktree_of])
def test_a_program_cannot_put_a_link_in_place_of_a_folder_in_which_root_works(workspace, uses):
    """What root makes, gives away and removes there would be in any place of the program's choice."""
    committed(workspace, OWNER)
    victim, temporary = workspace.parent / "of root", workspace.parent / "tmp"
    (victim / "base").mkdir(parents=True)
    temporary.mkdir()
    temporary.chmod(0o1777)
    before = victim.stat().st_mtime_ns

    def work():
        tempfile.tempdir = str(temporary)
        return str(uses(workspace, victim))

    assert separated(workspace, work).startswith(str(temporary))
    assert not [
        path.name for path in temporary.iterdir() if path.name.startswith(("runevals-work", "runevals-base"))
    ]
    assert [path.name for path in victim.iterdir()] == ["base"]
    assert victim.stat().st_mtime_ns == before


@root
@pytest.mark.parametrize("owner", [OWNER, 0])
def test_a_program_can_work_with_the_files_of_a_commit(workspace, owner):
    committed(workspace, owner)

    def work():
        made = Workspaces({"PATH": os.defpath}, at_once=1)
        of_commit = Workspace(commit="HEAD", repository=workspace)
        folder = made.open(turn(of_commit)).work
        said = said_by("sh", "-c", "echo x >> note; cat note; git log --format=%s", cwd=folder)
        made.close()
        return said

    assert separated(workspace, work) == ["nx", "Start"]


def test_without_a_separate_user_a_folder_keeps_its_owner(tmp_path):
    tmp_path.chmod(0o700)
    processes.open_to_programs(tmp_path)
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o700
    assert processes.is_open_to_programs(tmp_path.stat())


@root
@pytest.mark.parametrize("ours", [PLAIN, None])
def test_if_the_user_cannot_work_the_reason_is_reported_and_nothing_changes(workspace, ours):
    workspace.parent.chmod(0o700)

    def work():
        sys.executable = ours or str(workspace.parent / "python")  # None: one that user cannot reach either
        return [processes.separate(workspace), *who_is_the_owner(), *said_by("id", "-u", cwd=workspace)]

    why, *as_before = in_a_child(work)
    assert why.startswith(f"user {OWNER} cannot r")
    assert as_before == ["0", "0"]


@pytest.mark.needs("linux")
def test_orphaned_processes_are_reaped_during_the_run(tmp_path):
    """Each program leaves a child in its group, which ends with it: the dead must not fill the table."""

    def work():
        processes.adopt()
        for _ in range(20):
            process = processes.start_program(
                ["sh", "-c", "sleep 60 & echo x"], env={"PATH": os.defpath}, cwd=tmp_path
            )
            process.stdout.readline()
            processes.kill_group(process)
        return len(Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="ascii").split())

    assert in_a_child(work) <= 2


@pytest.mark.needs("linux")
def test_after_the_end_no_process_is_left_and_none_is_started(tmp_path):
    def work():
        processes.adopt()
        with processes.in_use(), processes.in_use():
            leaving = "(setsid sh -c 'sleep 60 & sleep 60' &) ; echo x"
            process = processes.start_program(["sh", "-c", leaving], env={"PATH": os.defpath}, cwd=tmp_path)
            process.stdout.readline()
            time.sleep(0.3)
        processes.end_all(for_good=True)
        try:
            processes.start_program(["true"], env={}, cwd=tmp_path)
        except OSError as error:
            return [Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="ascii"), error.strerror]
        return []

    assert in_a_child(work) == ["", "the run is over"]


def daemon_of_an_attempt(folder):
    """The attempt's program ends, and its daemon left the folder and its HOME."""
    options = "stdout=s.DEVNULL, stderr=s.DEVNULL, start_new_session=True, cwd='/', env={}"
    code = f"import subprocess as s; print(s.Popen(['sleep', '120'], {options}).pid)"
    exchange = Exchange([sys.executable, "-c", code], cwd=folder, env={"PATH": os.defpath})
    assert exchange.wait(30)
    return int(exchange.out)


def is_alive(pid):
    try:
        return " Z " not in Path(f"/proc/{pid}/stat").read_text(encoding="ascii")
    except OSError:
        return False


@pytest.mark.needs("linux")
def test_a_daemon_that_left_the_folder_ends_with_the_attempt(tmp_path):
    def work():
        processes.adopt()
        server = processes.start_program(["sleep", "120"], env={"PATH": os.defpath}, cwd=tmp_path)

        def attempt():
            with processes.in_attempt():
                pid = daemon_of_an_attempt(Path("/"))
                own = subprocess.Popen(["sleep", "120"], start_new_session=True)
                before = is_alive(pid)
                processes.end_those_in(tmp_path / "work")
                alive = [before, is_alive(pid), own.poll() is None, server.poll() is None]
                own.kill()
            return alive

        with ThreadPoolExecutor(1) as pool:
            alive = pool.submit(attempt).result()
        processes.kill_group(server)
        return alive

    assert in_a_child(work) == [True, False, True, True]


@pytest.mark.needs("linux")
def test_a_daemon_that_another_attempt_may_have_started_is_not_ended(tmp_path):
    def work():
        processes.adopt()
        begun, over = threading.Event(), threading.Event()

        def other():
            with processes.in_attempt():
                begun.set()
                over.wait(60)

        thread = threading.Thread(target=other)
        thread.start()
        begun.wait(60)
        alive = []
        with processes.in_use(), processes.in_attempt():
            pid = daemon_of_an_attempt(Path("/"))
            processes.end_those_in(tmp_path / "work")
            alive.append(is_alive(pid))
        over.set()
        thread.join()
        return [*alive, is_alive(pid)]

    assert in_a_child(work) == [True, False]
