"""Files and worktrees that one process at a time has."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from runevals.lib.storage.file_lock import AlreadyLocked, file_lock
from runevals.repository import worktree

pytestmark = pytest.mark.needs("linux")

HOLD = "import sys, pathlib, time; from runevals.{}; print('has it', flush=True); time.sleep(60)"


@pytest.fixture
def holding():
    """Starts a program that says so when it has what it wants; all are killed in the end."""
    started = []

    def start(program, *arguments, cwd=None):
        command = [sys.executable, "-c", program, *map(str, arguments)]
        started.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=cwd))
        assert started[-1].stdout.readline() == "has it\n"
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


def test_a_lock_is_free_after_its_process_is_killed(tmp_path, holding):
    path = tmp_path / "lock"
    program = HOLD.format("lib.storage.file_lock import file_lock; had = file_lock(pathlib.Path(sys.argv[1]))")
    process = holding(program, path)
    with pytest.raises(AlreadyLocked):
        file_lock(path)
    process.send_signal(signal.SIGKILL)
    process.wait()
    with file_lock(path, required=True):
        pass


def test_without_a_lock_file_a_lock_is_granted_unless_it_must_be_exclusive(tmp_path):
    with file_lock(tmp_path / "no" / "lock"):
        pass
    with pytest.raises(AlreadyLocked):
        file_lock(tmp_path / "no" / "lock", required=True)


def test_the_next_run_removes_the_worktree_of_a_killed_process_only(repository, holding, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    commit = repository.git("rev-parse", "HEAD").strip()
    program = HOLD.format(
        "repository.worktree import worktree; at = worktree(pathlib.Path.cwd(), sys.argv[1]); at.__enter__()"
    )
    killed, living = (holding(program, commit, cwd=repository.path) for _ in range(2))
    killed.kill()
    killed.wait()
    assert len(list((tmp_path / "tmp").iterdir())) == 2
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    with worktree.worktree(repository.path, commit) as checkout:
        assert (checkout / ".git").exists()
        assert len(list((tmp_path / "tmp").iterdir())) == 2  # ours, and that of the living
    assert len(list((tmp_path / "tmp").iterdir())) == 1
    assert repository.git("worktree", "list").count("runevals-base-") == 1
    assert living.poll() is None
