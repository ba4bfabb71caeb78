"""What all tests share: the golden option, and tests that need more than Python and pip."""

from __future__ import annotations

import compileall
import gc
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator
from fcntl import LOCK_EX, LOCK_NB, LOCK_SH, LOCK_UN, flock
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TextIO

import pytest
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings

from runevals.cli import call
from runevals.lib.ci import MARKS
from runevals.lib.storage.cache import Cache
from runevals.lib.text.secrets import remember
from tests import MAY_NOT_WRITE_BYTECODE, agent_rig, eval_tools
from tests.sample_suites import AGENT, SETTINGS, SUITE

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # As under `nohup … &`: programs that the tests start would ignore it too, and could not be interrupted.
    signal.signal(signal.SIGINT, signal.default_int_handler)

# With a folder on the path that this user may not enter, a missing program would be "Permission denied".
# `python3` is the one that runs the tests: the shim of a version manager starts twenty programs before it.
_FOLDERS = (str(Path(sys._base_executable).parent), *os.get_exec_path())
os.environ["PATH"] = os.pathsep.join(folder for folder in _FOLDERS if os.access(folder, os.X_OK))


def _has_room(folder: str) -> bool:
    """Whether it may hold what the tests write; a container's `/dev/shm` is small and runs nothing."""
    if not os.access(folder, os.W_OK | os.X_OK):
        return False
    told = os.statvfs(folder)
    return told.f_bavail * told.f_frsize > 4 << 30 and not told.f_flag & getattr(os, "ST_NOEXEC", 0)


# Tests make and remove many folders, which on a disk takes milliseconds each, and in memory none.
if "TMPDIR" not in os.environ and _has_room("/dev/shm"):
    os.environ |= {"TMPDIR": "/dev/shm", "RUNEVALS_AGENT_RIG": str(agent_rig.PLACE)}
    tempfile.tempdir = None

# Of a pytest that a test starts: its plugins take as long to load as all the rest of it.
_PLAIN = "-p no:anyio -p no:hypothesispytest -p no:xdist -p no:xdist.looponfail"

gc.disable()  # until all tests are collected: what is imported stays

# How long an example takes says nothing on a machine with other work.
hypothesis_settings.register_profile(
    "under load", hypothesis_settings.default, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
hypothesis_settings.load_profile("under load")

pytest_plugins = ["tests.zoo"]


def docker(*arguments: str, text: str | None = None, **env: str) -> subprocess.CompletedProcess[str]:
    """The Docker client of the machine; one that a container tool put before it on the path may be another.

    `text`: what it reads, if anything.
    """
    client = "/usr/bin/docker" if Path("/usr/bin/docker").exists() else "docker"
    return subprocess.run(
        [client, *arguments],
        input=text,
        capture_output=True,
        text=True,
        env={**os.environ, "DOCKER_BUILDKIT": "1", **env},
        timeout=600,
        check=False,
    )


@cache
def engine_answers() -> bool:
    """Whether a container engine is running."""
    told = os.environ.get("DOCKER_HOST") or Path("/var/run/docker.sock").exists()
    return bool(told) and shutil.which("docker") is not None and docker("info").returncode == 0


@cache
def mounts_work() -> bool:
    """Whether a folder of a size of ours can be mounted where nobody else sees it."""
    words = ["unshare", "--map-root-user", "--mount", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
    return (
        shutil.which("unshare") is not None
        and subprocess.run(words, check=False, capture_output=True).returncode == 0
    )


def chromium() -> str | None:
    """The browser of the machine: Playwright's own is not downloaded."""
    names = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
    return next(filter(None, map(shutil.which, names)), None)


_AVAILABLE = {
    "tmux": lambda: shutil.which("tmux") is not None,
    "docker-registry": lambda: shutil.which("docker-registry") is not None,
    "node": lambda: shutil.which("node") is not None,
    "openssl": lambda: shutil.which("openssl") is not None,
    "npm": lambda: shutil.which("npm") is not None,
    "cmark-gfm": lambda: shutil.which("cmark-gfm") is not None,
    "mounts": mounts_work,
    "an ordinary user": lambda: hasattr(os, "geteuid") and os.geteuid() != 0,
    "root": lambda: hasattr(os, "geteuid") and os.geteuid() == 0,
    "linux": lambda: Path("/proc/self").exists(),
    "/usr/bin/python3": Path("/usr/bin/python3").exists,
    "container": engine_answers,
    "chromium": lambda: chromium() is not None,
    "python-gitlab": lambda: find_spec("gitlab") is not None,
    "opentelemetry-proto": lambda: bool(find_spec("opentelemetry") and find_spec("opentelemetry.proto")),
    **{name: lambda name=name: agent_rig.has(name) for name in agent_rig.PROGRAMS},
    **{name: lambda name=name: eval_tools.program(name) is not None for name in eval_tools.PROGRAMS},
}


@pytest.hookimpl(optionalhook=True)  # without xdist, all run in one process
def pytest_xdist_auto_num_workers() -> int:
    """Three workers a core: most tests wait for programs, servers and clocks."""
    return 3 * (os.cpu_count() or 1)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite golden files, then fail")


def _is_worker(config: pytest.Config) -> bool:
    return hasattr(config, "workerinput")


def pytest_configure(config: pytest.Config) -> None:
    """Compiles the sources: each program that a test starts would do so, where it may not write bytecode."""
    if not _is_worker(config):
        compileall.compile_dir(Path(__file__).parents[1] / "src", quiet=2)


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """One worker compiles the tests, while the others wait; then they read its bytecode."""
    with Path(__file__).open() as lock:
        if _is_worker(session.config):
            _wait_for_first(lock)
        try:
            return (yield)
        finally:
            sys.dont_write_bytecode = MAY_NOT_WRITE_BYTECODE


def _wait_for_first(lock: TextIO) -> None:
    """Returns at once in the first process, which has the lock until it closes it, and then in the others."""
    try:
        flock(lock, LOCK_EX | LOCK_NB)
    except BlockingIOError:
        flock(lock, LOCK_SH)
        flock(lock, LOCK_UN)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """One worker takes all tests of a unit; units are taken in the order in which they were collected."""
    from xdist.scheduler import LoadScopeScheduling

    class Scheduling(LoadScopeScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            return unit_of(nodeid)

    config.option.loadscopereorder = False  # the largest first would be those of many quick tests
    return Scheduling(config, log)


def unit_of(nodeid: str) -> str:
    """What one worker takes: all that share what is slow to start, one test that waits for others, or a file."""
    shared = next((name for pattern, name in _SHARE_MUCH if pattern.search(nodeid)), None)
    file, _, _ = nodeid.partition("::")
    return shared or (nodeid if file.startswith(_WAIT) else file)


def _turn(unit: str) -> tuple[bool, bool]:
    """The slowest units are first, then single tests; quick files fill what is left of the time."""
    return unit not in _SLOWEST, "::" not in unit


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out what cannot run here; `pytest_terminal_summary` names it as NOT RUN."""
    kept, not_run = [], []
    for item in items:
        needs = [name for mark in item.iter_markers("needs") for name in mark.args]
        missing = [name for name in needs if not _AVAILABLE[name]()]
        if missing:
            not_run.append(f"NOT RUN {item.nodeid}: needs {', '.join(missing)}")
            continue
        kept.append(item)
    items[:] = sorted(kept, key=lambda item: _turn(unit_of(item.nodeid)))
    config.stash[_NOT_RUN] = not_run
    if hasattr(config, "workeroutput"):
        config.workeroutput["not_run"] = not_run


def pytest_collection_finish() -> None:
    """What was collected is never looked through for garbage."""
    gc.freeze()
    gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Takes from a worker what it left out; every worker has collected the same."""
    node.config.stash[_NOT_RUN] = getattr(node, "workeroutput", {}).get("not_run", [])


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    not_run = config.stash.get(_NOT_RUN, [])
    if not_run:
        terminalreporter.section("NOT RUN (not passed either)")
        for line in not_run:
            terminalreporter.write_line(line)


_NOT_RUN: pytest.StashKey[list[str]] = pytest.StashKey()
# Containers; jobs of workflows; a browser and large pages; a cluster; pytest; the syntax of our own files.
_SHARE_MUCH = (
    (re.compile(r"/test_container\.py::|::test_nor_in_the_container|::test_an_image_is_pushed"), "containers"),
    (re.compile(r"/test_workflows\.py::.*_shard"), "workflow of shards"),
    (re.compile(r"/test_workflows\.py::"), "workflows"),
    (re.compile(r"/test_page\.py::"), "page"),
    (re.compile(r"/test_ray\.py::"), "cluster"),
    (re.compile(r"/test_pytest_plugin\.py::"), "pytest"),
    (re.compile(r"/test_(layers|mirror|names|touches|words)\.py::"), "sources"),
)
_SLOWEST = {name for _, name in _SHARE_MUCH}
_WAIT = tuple(f"tests/{name}/" for name in ("attacks", "cli", "github", "run", "system"))


@pytest.fixture
def golden(request: pytest.FixtureRequest):
    """Compares text with a file under version control; `--update-golden` rewrites it and fails."""

    def compare(path: Path, text: str) -> None:
        if request.config.getoption("--update-golden"):
            if not path.exists() or path.read_text(encoding="utf-8") != text:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8", errors="backslashreplace")
                pytest.fail(f"{path.name} was rewritten; review the difference")
            return
        assert text == path.read_text(encoding="utf-8")

    return compare


@pytest.fixture(autouse=True)
def _outside_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests behave the same on a laptop and in CI: what CI sets is set by the test that wants it."""
    for name in list(os.environ):
        ours = name.startswith(("RUNEVALS_", "OPENAI_", "AZURE_", "INPUT_", "OLLAMA_", "AWS_"))
        if ours or name in MARKS:
            monkeypatch.delenv(name)
    monkeypatch.setenv("PYTEST_ADDOPTS", _PLAIN)
    remember({})  # the tokens of an action that ran before


@pytest.fixture
def project(tmp_path, monkeypatch):
    """An empty project to run commands in; `write` puts files there."""
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)

    class Project:
        path = tmp_path

        @staticmethod
        def write(name, content):
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            text = content if isinstance(content, str) else json.dumps(content, indent=1)
            path.write_text(text, encoding="utf-8")
            return path

        @staticmethod
        def document(name="out.json"):
            return json.loads((tmp_path / name).read_text(encoding="utf-8"))

        @staticmethod
        def files():
            return sorted(
                str(path.relative_to(tmp_path))
                for path in tmp_path.rglob("*")
                if path.is_file() and ".git" not in path.parts
            )

    return Project


@pytest.fixture
def runevals(capfd):
    """Runs the command line → (exit code, stdout, stderr)."""

    def run(*arguments):
        capfd.readouterr()
        code = call([str(argument) for argument in arguments])
        told = capfd.readouterr()
        return code, told.out, told.err

    return run


@pytest.fixture
def hub():
    """A GitHub of the test's own."""
    from tests.github.emulator import github  # half a second that only these tests pay

    with github() as state:
        yield state


_DATES = dict.fromkeys(("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"), "2026-01-01T00:00:00Z")


def _git(folder: Path, *words: str) -> str:
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture(scope="session")
def base_repository(tmp_path_factory):
    """What each `repository` is a copy of: the base is on `main`."""
    folder = tmp_path_factory.mktemp("base")
    _git(folder, "init", "-q", "-b", "main")
    for example in (folder / ".git" / "hooks").glob("*.sample"):
        example.unlink()
    _git(folder, "config", "user.email", "a@example.com")
    _git(folder, "config", "maintenance.auto", "false")  # no test has so many commits
    for name, content in (
        ("evals.json", json.dumps(SUITE, indent=1)),
        ("agent.py", AGENT),
        ("runevals.yaml", SETTINGS),
    ):
        (folder / name).write_text(content, encoding="utf-8")
    _git(folder, "add", "-A")
    with pytest.MonkeyPatch.context() as patch:
        for name, date in _DATES.items():
            patch.setenv(name, date)
        _git(folder, "commit", "-qm", "base")
    return folder


@pytest.fixture
def repository(project, base_repository, monkeypatch):
    """A project in git, with a base and a change; the same files are the same commit in every test."""
    for name, date in _DATES.items():
        monkeypatch.setenv(name, date)
    shutil.rmtree(project.path / ".git")
    shutil.copytree(base_repository, project.path, dirs_exist_ok=True)
    project.git = partial(_git, project.path)
    project.git("checkout", "-qb", "change")
    return project


def created_once(factory: pytest.TempPathFactory, name: str, create: Callable[[Path], None]) -> Path:
    """A folder for all workers of this run: the first that needs it creates it, the others wait."""
    base = factory.getbasetemp()
    base = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder, ready = base / name, base / f"{name}.ready"
    with (base / f"{name}.lock").open("w") as lock:
        flock(lock, LOCK_EX)
        if not ready.exists():
            create(folder)
            ready.touch()
    return folder


@pytest.fixture(scope="session")
def image() -> str:
    """The name of the image, built from this checkout."""
    words = ("--quiet", "--build-arg", "BASE_IMAGE", "--tag", "runevals-under-test")
    built = docker("build", *words, str(Path(__file__).parents[1]))
    assert built.returncode == 0, built.stderr
    return "runevals-under-test"


@pytest.fixture
def open_cache(tmp_path):
    """Opens the cache of the test's folder as a new run would; all of them are closed at the end."""
    opened = []

    def open_one() -> Cache:
        opened.append(Cache(tmp_path, pytest.fail))
        return opened[-1]

    yield open_one
    for one in opened:
        one.close()
