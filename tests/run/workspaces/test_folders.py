"""Working folders: what is in them, and that they are gone afterwards."""

from __future__ import annotations

import importlib.util
import os
import py_compile
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from msgspec.structs import replace

from runevals.records import Case, FileProbe, Location, ProgramProbe, Turn, Workspace
from runevals.records.errors import InvalidSettings
from runevals.run.converse import converse
from runevals.run.workspaces.folders import NotMade, Workspaces
from runevals.run.workspaces.target import WorkspaceTarget
from runevals.run.world.budget import Stop
from runevals.suites.plan import Trial
from tests.run.workspaces.working import Worker, turn

ENV = {"PATH": os.environ["PATH"], "OPENAI_API_KEY": "sk-secret-of-the-job"}


@pytest.fixture
def place(tmp_path, monkeypatch):
    """The folder for temporary files, empty."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def workspaces(place):
    made = Workspaces(ENV, at_once=2)
    yield made
    made.close()
    assert list(place.glob("runevals-work-*")) == []


@pytest.fixture
def fixture(tmp_path):
    folder = tmp_path / "fixture"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "app.py").write_text("one\ntwo\n", encoding="utf-8")
    (folder / "note").write_text("n\n", encoding="utf-8")
    return folder


def test_it_is_filled_in_order(workspaces, fixture, tmp_path):
    (tmp_path / "input.csv").write_text("a,b", encoding="utf-8")
    spec = Workspace(
        folder=fixture,
        files={"note": "mine", "new/deep.txt": "d"},
        setup=((sys.executable, "-c", "open('setup', 'w').write(open('data/input.csv').read())"),),
    )
    attempt = workspaces.open(turn(spec, files={"data/input.csv": tmp_path / "input.csv"}))
    read = {path: (attempt.work / path).read_text() for path in ("note", "new/deep.txt", "setup", "src/app.py")}
    assert read == {"note": "mine", "new/deep.txt": "d", "setup": "a,b", "src/app.py": "one\ntwo\n"}
    workspaces.end("s#c#1")


def test_it_is_outside_the_repository_and_gone_afterwards(workspaces, fixture):
    worker = Worker(lambda work: (work / "x").write_text("x") and "Done.")
    WorkspaceTarget(worker, workspaces).answer(turn(Workspace(folder=fixture)))
    [folder] = worker.folders
    assert not folder.is_relative_to(fixture.parent / "fixture")
    assert not folder.exists()
    assert not (fixture / "x").exists()


def test_the_turns_of_a_thread_work_in_one_folder(workspaces, fixture):
    worker = Worker(lambda work: ((work / "n").exists() and "again") or ((work / "n").touch() or "first"))
    target = WorkspaceTarget(worker, workspaces)
    said = [target.answer(turn(Workspace(folder=fixture), turn=number, turns=2)).text for number in (1, 2)]
    assert said == ["first", "again"]
    assert not worker.folders[0].exists()


def test_setup_that_fails_is_no_attempt(workspaces):
    spec = Workspace(setup=((sys.executable, "-c", "import sys; sys.exit('no network')"),))
    with pytest.raises(NotMade, match="exit code 1: no network"):
        workspaces.open(turn(spec))


def test_setup_is_not_given_the_keys_of_the_job(workspaces):
    code = "import json, os; open('env', 'w').write(json.dumps(dict(os.environ)))"
    attempt = workspaces.open(turn(Workspace(setup=((sys.executable, "-c", code),))))
    assert "sk-secret" not in (attempt.work / "env").read_text()
    assert str(attempt.home) in (attempt.work / "env").read_text()
    workspaces.end("s#c#1")


def test_what_probes_ask_for_is_found(workspaces, fixture):
    probes = (
        FileProbe(path="src/app.py"),
        FileProbe(path="none"),
        ProgramProbe(argv=(sys.executable, "-c", "print(open('src/app.py').read())"), timeout_s=20),
        ProgramProbe(argv=("no-such-program",), timeout_s=20),
        ProgramProbe(argv=(sys.executable, "-c", "import time; time.sleep(60)"), timeout_s=0.5),
    )
    worker = Worker(lambda work: (work / "src/app.py").write_text("three\n") and "Done.")
    answer = WorkspaceTarget(worker, workspaces).answer(turn(Workspace(folder=fixture), probes=probes))
    assert [(file.kind, file.text) for file in answer.workspace.files] == [("file", "three\n"), (None, None)]
    good, absent, late = answer.workspace.programs
    assert (good.exit_code, good.last_lines) == (0, "three")
    assert (absent.exit_code, absent.problem) == (None, "No such file or directory")
    assert (late.exit_code, late.late) == (None, True)


def test_a_program_sees_the_tests_that_were_there_before(workspaces, fixture):
    (fixture / "tests").mkdir()
    (fixture / "tests" / "test_app.py").write_text("assert False\n", encoding="utf-8")

    def cheat(work: Path) -> str:
        (work / "tests" / "test_app.py").write_text("assert True\n")
        (work / "tests" / "conftest.py").write_text("more = 1\n")
        return "Fixed."

    argv = (sys.executable, "-c", "import os; print(sorted(os.listdir('tests'))); import tests.test_app")
    probe = ProgramProbe(argv=argv, timeout_s=20, restore=("tests",))
    answer = WorkspaceTarget(Worker(cheat), workspaces).answer(turn(Workspace(folder=fixture), probes=(probe,)))
    [ended] = answer.workspace.programs
    assert (ended.exit_code, "AssertionError" in ended.last_lines) == (1, True)
    assert "conftest.py" not in ended.stdout
    assert {change.path for change in answer.workspace.changes} == {"tests/test_app.py", "tests/conftest.py"}


def test_a_commit_is_laid_out_with_a_repository_of_its_own(workspaces, repository_of_git):
    root, commit = repository_of_git
    (root / "loose.txt").write_text("not committed", encoding="utf-8")
    attempt = workspaces.open(turn(Workspace(repository=root, commit="HEAD")))
    assert (attempt.work / "a.txt").read_text() == "a"
    assert not (attempt.work / "loose.txt").exists()
    told = subprocess.run(
        ["git", "log", "--format=%H %s"], cwd=attempt.work, capture_output=True, text=True, check=True
    ).stdout
    assert commit not in told
    assert told.endswith(" Start\n")
    (attempt.work / ".git" / "HEAD").write_text("broken")
    workspaces.end("s#c#1")
    again = workspaces.open(turn(Workspace(repository=root, commit="HEAD")))
    assert "broken" not in (again.work / ".git" / "HEAD").read_text()
    workspaces.end("s#c#1")


@pytest.fixture
def repository_of_git(tmp_path):
    root = tmp_path / "repository"
    root.mkdir()

    def git(*words: str) -> str:
        told = ["git", "-c", "user.name=t", "-c", "user.email=t@localhost", *words]
        return subprocess.run(told, cwd=root, capture_output=True, text=True, check=True).stdout.strip()

    git("init", "-q")
    (root / "a.txt").write_text("a", encoding="utf-8")
    git("add", "-A")
    git("commit", "-qm", "One")
    return root, git("rev-parse", "HEAD")


def case(spec: Workspace) -> Case:
    where = Location(file="s.json", line=1)
    return Case(suite="s.json", key="c", name="c", turns=(Turn(prompt="?"),), location=where, workspace=spec)


def test_what_is_missing_is_said_before_anything_is_made(workspaces, tmp_path, repository_of_git):
    root, _ = repository_of_git
    for spec, reason in (
        (Workspace(folder=tmp_path / "gone"), "gone"),
        (Workspace(repository=root, commit="no-such-ref"), "git has no commit no-such-ref"),
    ):
        with pytest.raises(InvalidSettings, match=f"s.json: c: its workspace cannot be made: .*{reason}"):
            workspaces.require([case(spec)])


@pytest.mark.parametrize(
    ("keep", "passed", "stays"),
    [("never", False, 0), ("on-failure", True, 0), ("on-failure", False, 1), ("always", True, 1)],
)
def test_it_is_kept_if_that_was_asked_for(workspaces, place, fixture, keep, passed, stays):
    target = WorkspaceTarget(Worker(lambda _: "Done."), workspaces)
    target.answer(turn(Workspace(folder=fixture, keep=keep)))
    workspaces.settle("s#c#1", passed=passed)
    assert len(list(place.glob("runevals-kept-*/work/src/app.py"))) == stays


@pytest.mark.needs("linux")
def test_what_a_killed_run_left_behind_goes_with_the_next_run(place, fixture):
    """Its folders, and its processes that still work in them."""
    code = (
        "import subprocess, sys, tempfile, time\n"
        f"tempfile.tempdir = {str(place)!r}\n"
        "from pathlib import Path\n"
        "from runevals.records import Workspace\n"
        "from runevals.run.workspaces.folders import Workspaces\n"
        "from tests.run.workspaces.working import turn\n"
        "made = Workspaces({'PATH': '/usr/bin:/bin'}, at_once=1)\n"
        f"attempt = made.open(turn(Workspace(folder=Path({str(fixture)!r}))))\n"
        "left = subprocess.Popen(['sleep', '300'], cwd=attempt.work, start_new_session=True)\n"
        "print(left.pid, flush=True)\n"
        "time.sleep(300)\n"
    )
    killed = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    with killed.stdout as printed:
        pid = int(printed.readline())
    killed.kill()
    killed.wait()
    assert len(list(place.glob("runevals-work-*"))) == 1
    made = Workspaces(ENV, at_once=1)
    made.open(turn(Workspace()))
    ends_at = time.monotonic() + 60
    while _runs(pid) and time.monotonic() < ends_at:
        time.sleep(0.05)
    assert not _runs(pid)
    made.close()
    assert list(place.glob("runevals-work-*")) == []


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] not in "ZX"
    except OSError:
        return False


@pytest.mark.needs("linux")
def test_a_run_that_is_under_way_keeps_its_folders(place, fixture):
    one, other = Workspaces(ENV, at_once=1), Workspaces(ENV, at_once=1)
    attempt = one.open(turn(Workspace(folder=fixture)))
    other.open(turn(Workspace()))
    assert (attempt.work / "note").exists()
    one.close()
    other.close()


@pytest.mark.needs("linux")
def test_runs_that_begin_at_once_leave_each_other_their_folders(place):
    def begin(_):
        made = Workspaces(ENV, at_once=1)
        work = made.open(turn(Workspace())).work
        assert work.is_dir()
        made.close()

    with ThreadPoolExecutor(8) as runs:
        assert len(list(runs.map(begin, range(60)))) == 60
    assert list(place.iterdir()) == []


def ended_after(workspaces, work, argv, *, restore=("tests",), **spec):
    """How a program ended after some work in a workspace."""
    probe = ProgramProbe(argv=argv, timeout_s=20, restore=restore)
    answer = WorkspaceTarget(Worker(work), workspaces).answer(turn(Workspace(**spec), probes=(probe,)))
    assert answer.problem is None
    return answer.workspace.programs[0]


LARGE = "head -c 100000 /dev/zero | tr '\\0' '#'"
MADE = "mkdir tests; {{ {}; echo; echo exit 1; }} > tests/t.sh; chmod +x tests/t.sh"


@pytest.mark.parametrize("setup", [MADE.format("echo"), MADE.format(LARGE)], ids=["small", "large"])
def test_a_test_that_setup_made_is_restored_in_full(workspaces, setup):
    def cheat(work: Path) -> str:
        (work / "tests" / "t.sh").write_text("exit 0\n")
        return "Fixed."

    argv = ("sh", "-c", "test -x tests/t.sh || exit 3; sh tests/t.sh")
    assert ended_after(workspaces, cheat, argv, setup=(("sh", "-c", setup),)).exit_code == 1


def test_links_and_what_stands_in_the_way_are_restored(workspaces, fixture):
    (fixture / "tests").mkdir()
    (fixture / "tests" / "run.sh").symlink_to("../check.sh")
    (fixture / "check.sh").write_text("exit 1\n", encoding="utf-8")

    def cheat(work: Path) -> str:
        (work / "tests" / "run.sh").unlink()
        (work / "tests" / "run.sh" / "x").mkdir(parents=True)
        (work / "tests").chmod(0o500)
        return "Fixed."

    assert ended_after(workspaces, cheat, ("sh", "tests/run.sh"), folder=fixture).exit_code == 1


@pytest.mark.parametrize("put", ["link", "file"])
def test_a_folder_that_was_replaced_is_restored(workspaces, fixture, tmp_path, put):
    (fixture / "deep" / "tests").mkdir(parents=True)
    (fixture / "deep" / "tests" / "run.sh").write_text("exit 1\n", encoding="utf-8")
    (tmp_path / "other" / "tests").mkdir(parents=True)
    (tmp_path / "other" / "tests" / "run.sh").write_text("exit 0\n", encoding="utf-8")

    def cheat(work: Path) -> str:
        (work / "deep").rename(work / "away")
        (work / "deep").symlink_to(tmp_path / "other") if put == "link" else (work / "deep").touch()
        return "Fixed."

    argv = ("sh", "deep/tests/run.sh")
    ended = ended_after(workspaces, cheat, argv, restore=("deep/tests", "deep/tests/run.sh"), folder=fixture)
    assert ended.exit_code == 1
    assert (tmp_path / "other" / "tests" / "run.sh").read_text(encoding="utf-8") == "exit 0\n"


@pytest.mark.parametrize("package", ["tests", "src"])
def test_compiled_code_of_an_attempt_is_not_run(workspaces, fixture, package):
    """Python believes a compiled file with an unchecked hash, whatever the source says."""
    (fixture / package).mkdir(exist_ok=True)
    (fixture / package / "t.py").write_text("raise SystemExit(1)\n", encoding="utf-8")

    def cheat(work: Path) -> str:
        (work / "t.py").write_text("raise SystemExit(0)\n")
        to = importlib.util.cache_from_source(str(work / package / "t.py"))
        py_compile.compile(
            str(work / "t.py"), cfile=to, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH
        )
        (work / "t.py").unlink()
        return "Fixed."

    argv = (sys.executable, "-c", f"import {package}.t")
    assert ended_after(workspaces, cheat, argv, folder=fixture).exit_code == 1


def test_what_was_not_copied_before_the_attempt_is_not_restored(workspaces, fixture):
    probe = ProgramProbe(argv=("cat", "note"), timeout_s=20, restore=("note",))
    target = WorkspaceTarget(Worker(lambda _: "Done."), workspaces)
    target.answer(turn(Workspace(folder=fixture), turns=2))
    answer = target.answer(turn(Workspace(folder=fixture), turn=2, turns=2, probes=(probe,)))
    assert "not known how they were" in answer.workspace.programs[0].problem


def test_what_checks_of_a_turn_write_and_restore_is_no_change_of_the_next_turn(workspaces, fixture):
    """A build of the check counted as the agent's, and a note that the check restored as untouched."""

    def work(folder: Path) -> str:
        with (folder / "src" / "app.py").open("a") as file:
            file.write("more\n")
        if not (folder / "later").exists():
            (folder / "note").write_text("forged")
        return "Done."

    code = "import os; open('out.o', 'w').write('built'); open('later', 'w').close()"
    probe = ProgramProbe(argv=(sys.executable, "-c", code), timeout_s=20, restore=("note",))
    target = WorkspaceTarget(Worker(work), workspaces)
    spec = Workspace(folder=fixture, files={"note": "mine"})
    answers = [target.answer(turn(spec, turn=n, turns=3, probes=(probe,))) for n in (1, 2, 3)]
    for answer in answers:
        assert [one.path for one in answer.workspace.changes] == ["note", "src/app.py"]
        assert "+more\n" in answer.workspace.diff


def test_folders_of_an_attempt_that_are_too_deep_are_its_failure_and_removed(workspaces):
    def work(folder: Path) -> str:
        code = "import os\nfor _ in range(1100): os.mkdir('deep'); os.chdir('deep')"
        subprocess.run([sys.executable, "-c", code], cwd=folder, check=True)
        return "Done."

    worker = Worker(work)
    problem = WorkspaceTarget(worker, workspaces).answer(turn(Workspace())).problem
    assert (problem.code, "levels deep" in problem.message) == ("workspace_broken", True)
    assert not worker.folders[0].parent.exists()


def test_a_check_of_a_later_turn_restores_what_was_there_before_the_first(workspaces, fixture):
    probe = ProgramProbe(argv=("cat", "note"), timeout_s=20, restore=("note",))
    turns = (Turn(prompt="1"), Turn(prompt="2"))
    trial = Trial(position=0, case=replace(case(Workspace(folder=fixture)), turns=turns), attempt=1)
    target = WorkspaceTarget(Worker(lambda work: (work / "note").write_text("mine") and "Done."), workspaces)
    probes = lambda _, index: (probe,) * index  # noqa: E731
    [trace] = [*converse([trial], target, workers=1, stop=Stop(), probes=probes)]
    assert [one.stdout for one in trace.turns[1].response.workspace.programs] == ["n\n"]


def test_a_program_has_a_home_and_no_python_of_the_attempts(workspaces, fixture):
    """What an attempt left in its HOME and TMPDIR is run and read by no check."""
    code = (
        "import os, pathlib, sys; home = pathlib.Path(os.environ['HOME']);"
        "print([*home.iterdir(), *pathlib.Path(os.environ['TMPDIR']).iterdir()], 'plain')"
    )

    def plant(work: Path) -> str:
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        packages = work.parent / "home" / ".local" / "lib" / version / "site-packages"
        packages.mkdir(parents=True)
        (packages / "usercustomize.py").write_text("print('planted'); raise SystemExit(0)\n")
        (work.parent / "tmp" / "left").touch()
        return "Done."

    ended = ended_after(workspaces, plant, ("/usr/bin/env", "python3", "-c", code), restore=(), folder=fixture)
    assert (ended.exit_code, ended.stdout) == (0, "[] plain\n")


@pytest.mark.parametrize(
    ("argv", "exit_code", "problem"),
    [
        pytest.param(("./made.sh",), 127, None, id="a file of the workspace"),
        pytest.param(("./note",), 127, None, id="not executable"),
        pytest.param(("no-such-program",), None, "No such file or directory", id="a program of the machine"),
    ],
)
def test_a_program_that_the_attempt_should_have_made_ends_with_127(workspaces, fixture, argv, exit_code, problem):
    ended = ended_after(workspaces, lambda _: "Done.", argv, restore=(), folder=fixture)
    assert (ended.exit_code, ended.problem) == (exit_code, problem)


def test_a_program_that_prints_without_end_is_stopped(workspaces, fixture):
    ended = ended_after(workspaces, lambda _: "Done.", ("yes",), restore=(), folder=fixture)
    assert (ended.too_much, ended.late, ended.exit_code, ended.problem) == (True, False, None, None)
