"""The environment of a run: versions, base, sandbox, GitHub, folders."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from importlib.metadata import version

from msgspec.structs import replace

from runevals.cli.compared_results import base_command
from runevals.cli.doctor.finding import stopped
from runevals.cli.options import KEPT_RESULTS
from runevals.evaluators.kinds import leaves
from runevals.evaluators.scripted.code import Code
from runevals.github.this_job import change_event, read_only
from runevals.lib.nullable import if_known
from runevals.lib.storage.files import require_no_link
from runevals.records.diagnosis import Diagnosis, good, missing, neither
from runevals.records.errors import COULD_NOT_MEASURE, PASSED, InvalidSettings, RunevalsError, SandboxUnavailable
from runevals.reports.publish import unwritable
from runevals.run.baseline.from_files import read_baseline
from runevals.run.baseline.protected_side import protected_side
from runevals.run.resume.unfinished import OPTIONS, RUNS
from runevals.run.world.build import may_be_reduced
from runevals.run.world.build_cache import require_cache
from runevals.sandbox import Sandbox
from runevals.sandbox.lock import landlock_version
from runevals.settings.resolve import RawSettings, Settings
from runevals.suites.plan import RunPlan
from runevals.version import __version__

_GRADER = "def evaluate(input, output, expected, metadata):\n    return {'passed': True}\n"


def versions_of() -> Diagnosis:
    """The versions."""
    system = f"{platform.system()} {platform.machine()}"
    text = f"runevals {__version__}, Python {platform.python_version()}, openai {version('openai')}, {system}"
    return good("versions", text)


def base_of(settings: Settings, raw: RawSettings, gate: str) -> Diagnosis:
    """The base that a run would be compared with, or the results that the command `gate` reads."""
    try:
        side = protected_side(raw, change_event(raw))
        baseline, notices = read_baseline(replace(settings, base_side=side))
    except RunevalsError as error:
        is_named = settings.origins.get("baseline", "default") != "default"
        first = "name a results document that there is" if is_named else "check out with fetch-depth: 0"
        return stopped("base", error, first if gate else f"{first}, or run the base: --base REF")
    if baseline is not None:
        return good("base", baseline.source)
    if side is not None:
        return good("base", f"commit {side.commit[:7]}; no stored result of it is named")
    why = next(iter(notices), "no stored result is named")
    if gate:
        return neither("base", why, f"{gate} --baseline FILE compares with the base's results")
    fix = if_known("{} needs none: it runs the base first".format, base_command(settings.repository))
    return neither("base", why, fix)


def sandbox_of(settings: Settings, plan: RunPlan | None) -> Diagnosis:
    """Starts a worker and calls a grader in it."""
    needed = _brings_code(settings, plan)
    try:
        with Sandbox(workers=1, reduced=may_be_reduced(settings)) as sandbox:
            answer = sandbox.call(
                code=_GRADER,
                filename="doctor.py",
                language="python",
                kind="evaluator",
                arguments={"input": "", "output": "", "expected": None, "metadata": {}},
            )
    except SandboxUnavailable as error:
        fix = "sandbox: reduced in runevals.yaml, where the suites' code is trusted"
        finding = stopped("sandbox", error, fix)
        return finding if needed else replace(finding, mark="–", exit_code=PASSED)
    if answer.error is not None:
        fix = "a grader needs about 200 MB of memory and a few processes; see docs/graders.md"
        code = COULD_NOT_MEASURE if needed else PASSED
        return missing("sandbox", f"a grader cannot be run: {answer.reason}", fix, code)
    if sandbox.mode == "reduced":
        return neither("sandbox", "reduced: code of a suite runs without protection from it")
    landlock = landlock_version()
    files = f"Landlock {landlock}" if landlock > 0 else "no Landlock (the filter alone keeps files away)"
    user = ", as nobody" if hasattr(os, "geteuid") and os.geteuid() == 0 else ""
    return good("sandbox", f"strict: seccomp filter, {files}{user}")


def _brings_code(settings: Settings, plan: RunPlan | None) -> bool:
    """Whether a run would call a grader or a skill. Patterns are not code."""
    if settings.target is not None and settings.target.traits.brings_skills:
        return True
    evaluators = () if plan is None else (leaf for check in plan.checks for leaf in leaves(check.evaluator))
    return any(isinstance(evaluator, Code) for evaluator in evaluators)


def github_of(settings: Settings) -> Diagnosis:
    """The job's permissions, as far as they are visible."""
    environment = settings.environment
    if environment.get("GITHUB_ACTIONS") != "true":
        return neither("GitHub", "not in a job of GitHub Actions")
    if not any(map(environment.get, ("INPUT_GITHUB_TOKEN", "GITHUB_TOKEN"))):
        fix = "in the workflow: env: GITHUB_TOKEN: ${{ github.token }}"
        return neither("GitHub", "no token was passed on: neither stored base nor comment", fix)
    if (why := read_only(environment)) is not None:
        fix = "a second workflow (workflow_run) can comment: see docs/action.md"
        return neither("GitHub", why, fix)
    return good("GitHub", "there is a token; to comment, the job needs `permissions:` pull-requests: write")


def folders_of(settings: Settings) -> Iterator[Diagnosis]:
    """The folders that a run writes to."""
    try:
        require_no_link(settings.cwd / KEPT_RESULTS / "results.json", settings.cwd / RUNS / OPTIONS)
        require_cache(settings)
    except InvalidSettings as error:
        yield stopped("folders", error, "remove the link")
        return
    stop = unwritable(settings.cwd / KEPT_RESULTS / "results.json")
    if stop is None:
        yield good("results", f"{KEPT_RESULTS.as_posix()} can be written")
    else:
        text, fix = f"{KEPT_RESULTS.as_posix()} cannot be written ({stop})", "write elsewhere: --output FILE"
        yield missing("results", text, fix, COULD_NOT_MEASURE)
    if settings.measure.cache is None:
        yield neither("cache", "nothing is cached; --cache names a folder")
    elif unwritable(settings.measure.cache / "answers") is not None:
        text = f"{settings.measure.cache} cannot be written: no judgement is reused"
        yield missing("cache", text, "name another folder with --cache, or `none`", PASSED)
    else:
        yield good("cache", str(settings.measure.cache))
