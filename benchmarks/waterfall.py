"""From checkout to verdict, step by step: `python benchmarks/waterfall.py [--cases 10000]`.

The action's on-runner form on a pull request, against the GitHub of the tests on this machine. Install needs uv,
a wheel in `wheel/`, and what the lock names in uv's cache; without them it is skipped. Each step is a process of
its own and pays for its start; the best of `--repeats` counts. The GitHub of the tests checks each exchange, which
is part of the time.
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.github.emulator import REPOSITORY_ID, TOKEN, GitHub, github  # noqa: E402
from tests.github.exchanged_files import NAME  # noqa: E402
from tests.github.job_names import ARTIFACT, IDS  # noqa: E402

import runevals  # noqa: E402
from recorded import write_files  # noqa: E402

SETTINGS = "suites: [evals.json]\ntarget: recorded:answers.jsonl\nchanged_only: true\n"
GOALS_S = {"install, warm cache": 6.0, "base found and read": 2.0, "unchanged pull request": 3.0}
GIT = ("git", "-c", "user.name=b", "-c", "user.email=b@example.invalid", "-c", "init.defaultBranch=main")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    compileall.compile_dir(Path(runevals.__file__).parent, quiet=1)  # as every installation does
    print(f"{options.cases} cases; {'step':<28} {'wall s':>7} {'goal s':>7}")
    with tempfile.TemporaryDirectory() as folder, github() as hub:
        for step, seconds in steps(Path(folder), hub, options.cases, options.repeats).items():
            shown = "skipped" if seconds is None else f"{seconds:.2f}"
            print(f"{'':<13}{step:<28} {shown:>7} {GOALS_S.get(step, ''):>7}", flush=True)


def steps(folder: Path, hub: GitHub, cases: int, repeats: int) -> dict[str, float | None]:
    """The seconds of each step, None if it cannot be measured here."""
    environment = pull_request(folder, hub, cases)

    def best(*words: str) -> float:
        return min(taken(words, folder / "repository", environment) for _ in range(repeats))

    parts = [measured_steps(folder, environment) for _ in range(repeats)]
    return {
        "install, warm cache": install(folder),
        "start": best("-m", "runevals", "--version"),
        **{name: min(part[name] for part in parts) for name in parts[0]},
        "unchanged pull request": best("-m", "runevals", "action"),
    }


def pull_request(folder: Path, hub: GitHub, cases: int) -> dict[str, str]:
    """A repository with a result of its base, and a change of its readme; the variables of that job."""
    repository = folder / "repository"
    repository.mkdir()
    write_files(repository, cases)
    (repository / "samples.json").unlink()
    for name, text in {"runevals.yaml": SETTINGS, ".gitignore": ".evals/\n"}.items():
        (repository / name).write_text(text, encoding="utf-8")
    base = committed(repository, "init", "-q", ".")
    push = {"before": "0" * 40, "ref": "refs/heads/main", "repository": {"default_branch": "main"}}
    taken(("-m", "runevals", "action"), repository, variables(folder, hub, "push", push, base))
    results = (repository / ".evals/results/results.json").read_text(encoding="utf-8")
    shutil.rmtree(repository / ".evals")
    hub.run(1, base)
    hub.artifact(1, ARTIFACT, {NAME: results})
    hub.history = [base]
    (repository / "README.md").write_text("A change.\n", encoding="utf-8")
    head = committed(repository, "checkout", "-q", "-b", "change")
    sides = {side: {"sha": sha, "ref": "main", "repo": {"id": REPOSITORY_ID}} for side, sha in
             (("head", head), ("base", base))}  # fmt: skip
    return variables(folder, hub, "pull_request", {"pull_request": {"number": 7, **sides}}, head)


def committed(repository: Path, *words: str) -> str:
    """Runs git with these words and commits everything → the commit."""
    for command in (words, ("add", "-A"), ("commit", "-qm", "a commit")):
        subprocess.run([*GIT, *command], cwd=repository, check=True)
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=repository, check=True, capture_output=True, text=True)
    return head.stdout.strip()


def variables(folder: Path, hub: GitHub, event: str, payload: object, commit: str) -> dict[str, str]:
    """Of a job of this event, as the runner sets them."""
    path = folder / f"{event}.json"
    path.write_text(json.dumps(payload), encoding="utf-8")
    own = {
        name: value for name, value in os.environ.items() if not name.startswith(("GITHUB_", "INPUT_", "RUNEVALS"))
    }
    return own | {
        "CI": "true",
        "GITHUB_ACTIONS": "true",
        "GITHUB_EVENT_NAME": event,
        "GITHUB_EVENT_PATH": str(path),
        "GITHUB_OUTPUT": str(folder / "output"),
        "GITHUB_STEP_SUMMARY": str(folder / "summary"),
        "GITHUB_API_URL": hub.url,
        "GITHUB_REPOSITORY": "o/r",
        "GITHUB_WORKFLOW_REF": "o/r/.github/workflows/evals.yml@refs/heads/main",
        "GITHUB_RUN_ID": "99",
        "GITHUB_SHA": commit,
        "INPUT_GITHUB_TOKEN": TOKEN,
        **IDS,
    }


def taken(words: tuple[str, ...], folder: Path, environment: dict[str, str]) -> float:
    """The seconds of one process. Ends the benchmark if it failed, or ran an unchanged pull request."""
    started = time.perf_counter()
    run = called([sys.executable, *words], folder, environment)
    seconds = time.perf_counter() - started
    is_change = words[-1] == "action" and environment["GITHUB_EVENT_NAME"] == "pull_request"
    if run.returncode > 1 or (is_change and "No relevant changes since" not in run.stdout):
        sys.exit(run.stdout + run.stderr)
    return seconds


def called(words: list[str], folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def measured_steps(folder: Path, environment: dict[str, str]) -> dict[str, float]:
    run = called([sys.executable, __file__, "inside"], folder / "repository", environment)
    if run.returncode:
        sys.exit(run.stdout + run.stderr)
    seconds: dict[str, float] = json.loads(run.stdout.splitlines()[-1])
    return seconds


def install(folder: Path) -> float | None:
    """The action's own script, without a network; None if uv, a wheel, or the cache is missing."""
    if shutil.which("uv") is None or not list(ROOT.glob("wheel/runevals-*.whl")):
        return None
    environment = {**os.environ, "RUNNER_TEMP": str(folder), "UV_OFFLINE": "1"}
    started = time.perf_counter()
    run = called(["bash", str(ROOT / "runner" / "install")], folder, environment)
    return None if run.returncode else time.perf_counter() - started


def inside() -> None:
    """Prints the seconds of the steps that the action takes before it decides what to run."""
    from runevals.github.job import on_github
    from runevals.github.stored_baseline import stored_base
    from runevals.github.this_job import change_event, job_here
    from runevals.run.baseline.protected_side import protected_side
    from runevals.run.load import suites_of
    from runevals.settings.resolve import RawSettings, resolve

    def timed(name: str, step: Callable[[], Any]) -> Any:
        started = time.perf_counter()
        result = step()
        seconds[name] = time.perf_counter() - started
        return result

    seconds: dict[str, float] = {}
    environment = dict(os.environ)
    inputs = {name[6:].lower(): value for name, value in environment.items() if name.startswith("INPUT_")}
    raw = RawSettings(inputs=inputs, cwd=Path.cwd(), environment=environment)
    raw = RawSettings(
        inputs=inputs, cwd=raw.cwd, environment=environment, base_side=protected_side(raw, change_event(raw))
    )
    settings = timed("settings", lambda: resolve(raw))
    timed("suites", lambda: suites_of(settings))
    here = on_github(environment, settings.github, job_here(environment, raw.cwd, inputs), TOKEN)
    base = timed("base found and read", lambda: stored_base(settings, raw, here, print))
    if base.baseline is None:
        sys.exit(f"no base was found: {base}")
    print(json.dumps(seconds))


if __name__ == "__main__":
    inside() if sys.argv[1:] == ["inside"] else main()
