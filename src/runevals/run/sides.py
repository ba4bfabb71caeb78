"""The sides of a run, each opened to be measured: the head, its base, and the head on the base's cases."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from runevals.lib.parsing.source import lies_inside
from runevals.lib.text.numbers import phrase, plural
from runevals.records import FRESH, Case, RunReport
from runevals.records.errors import ExternalError, InvalidSettings, InvalidSuite, KeyRefused, NoSuiteFound
from runevals.records.rules import Selection
from runevals.repository import git
from runevals.repository.git_changes import renamed_files
from runevals.run.baseline.checkout import base_checkout, base_suites, require_in_base
from runevals.run.baseline.prepare import KEY_NEEDED, WORKTREE_HAS, prepare
from runevals.run.baseline.unmeasured import require_measured
from runevals.run.default_target import with_target
from runevals.run.interrupts import interruptible
from runevals.run.live import live_target, runs_code
from runevals.run.load import change_began_at, load_request, plan_of
from runevals.run.measurement import Measurement, measure
from runevals.run.preflight import require_for_suites
from runevals.run.provenance import provenance
from runevals.run.quarantine import quarantine_of
from runevals.run.request import RunRequest
from runevals.run.url_sources import with_texts
from runevals.run.world.build import real_world, require_judge
from runevals.settings.resolve import Settings
from runevals.suites import load as loading
from runevals.suites.load import LoadedSuites
from runevals.suites.plan import asks_judge_or_user, judged_checks, part_of
from runevals.suites.prompt import lending, on_prompts_of
from runevals.suites.selection import chosen_there
from runevals.verdict.outcome import Baseline

HEAD, _OF_BASE = "head", "the base's "


@contextmanager
def open_side(
    request: RunRequest, side: str = HEAD, base: RunReport | None = None, *, of: str = ""
) -> Iterator[Measurement]:
    """One side, planned and with its world; its name separates its answers in the journal."""
    settings, suites, notices = request.settings, request.suites.suites, request.suites.notices + request.notices
    if settings.target is not None and not settings.target.traits.runs_skills:
        suites, of_addresses = with_texts(suites, settings)
        notices = (*notices, *of_addresses)
    suites = loading.prompted_suites(suites, load_request(settings))
    plan = plan_of(replace(request.suites, suites=suites), settings)
    require_judge(plan, settings, base=base, of=of)
    require_for_suites(request.suites.suites, settings)
    judged = judged_checks(plan)
    if settings.no_judge and judged:
        notices = (*notices, f"run without a judge (--no-judge): {plural(judged, 'check')} skipped")
    journal = None if request.journal is None else request.journal.of(side)
    reported = side == HEAD  # a base that cannot be measured does not end the run
    target = None if request.target is None else request.target()
    needed = settings if asks_judge_or_user(plan) else replace(settings, judges=())
    with real_world(needed, suites, target, request.budget, journal, reported=reported) as world:
        loading.dry_run_evaluators(plan, world.sandbox)
        gc.freeze()  # the suites stay
        gc.set_threshold(20_000, 200, 20)  # most of what a run makes it keeps too
        with interruptible(world.stop):
            yield Measurement(
                part_of(plan, settings.selection.shard),
                settings,
                world,
                provenance(settings, notices, request.suites),
                base_results=request.base_results if side in (HEAD, request.name) else {},
            )


@contextmanager
def open_base(request: RunRequest, commit: str, repeat: int) -> Iterator[Measurement]:
    """A commit in a worktree of its own, with its own suites, settings and code, without cached answers."""
    with _base_request(request, commit, repeat) as there, open_side(there, f"base {commit}", of=_OF_BASE) as base:
        yield base


@contextmanager
def _base_request(request: RunRequest, commit: str, repeat: int) -> Iterator[RunRequest]:
    settings = request.settings
    with base_checkout(settings, commit, request.raw) as there:
        if there.target is not None and there.target.is_deployed_as(settings.target):
            raise InvalidSettings(
                "the base would be asked at the same address as the change, which answers as it is deployed now; "
                "compare with a stored result of the base (--baseline)"
            )
        with interruptible(request.budget.stop):
            prepare(settings, there, request.budget.stop)
        try:
            suites = _chosen_cases(there, request, commit)
        except NoSuiteFound:
            require_in_base(request.suites.files, there, settings, alone=True)
            raise
        for lacking in require_in_base(request.suites.files, there, settings, alone=False):
            request.tell(f"Not compared: {lacking}")
        try:
            of_base = _of_other_side(with_target(there, suites.suites).repeated(repeat), settings)
        except InvalidSettings as error:  # of the base's commit: no usage error here
            raise ExternalError(str(error)) from None
        if of_base.target is None and not of_base.evaluate_only:
            raise NoSuiteFound(f"the base {commit[:7]} names no target")
        yield replace(request, settings=of_base, suites=suites, notices=())


def _chosen_cases(there: Settings, request: RunRequest, commit: str) -> LoadedSuites:
    """The base's cases that the filters choose, and what the head's chosen ones are there; with its own list."""
    loaded = base_suites(there, request.settings, commit)
    suites = loaded.only(chosen_there(request.settings.selection, request.suites.cases))
    if not suites.suites:
        raise NoSuiteFound("the filters choose none of its cases")
    with suppress(InvalidSuite):  # the head's run says that nothing is left out then
        return replace(suites, quarantined=quarantine_of(there, loaded.cases).cases)
    return suites


@contextmanager
def open_old_form(request: RunRequest, commit: str) -> Iterator[Measurement]:
    """The head's target and rules on the cases and settings of the base's commit, without cached answers."""
    settings = request.settings
    with base_checkout(settings, commit, request.raw) as of_base:
        former, target = getattr(of_base.target, "prompt", None), settings.target
        borrowed = replace(
            of_base.repeated(settings.measure.repeat),
            target=target and replace(target, prompt=lending(target.prompt, former, request.suites.cases)),
            environment=settings.environment,  # its PYTHONPATH may lead to the target's code
            not_from=None,
            compare=settings.compare,
            rules=settings.rules,
        )
        suites = _chosen_cases(borrowed, request, commit)
        in_head = partial(_in_head, of_base=of_base.repository, of_head=settings.repository)
        rows = (replace(suite, cases=tuple(map(in_head, suite.cases))) for suite in suites.suites)
        renames = renamed_files(settings.repository, commit)
        suites = replace(suites, suites=tuple(on_prompts_of(rows, request.suites.suites, renames)))
        borrowed = _of_other_side(borrowed, settings)
        request = replace(request, settings=borrowed, suites=suites, weakenings=(), notices=(), mark=None)
        with open_side(request, "head on the base's cases") as side:
            yield side


def _in_head(case: Case, of_base: Path, of_head: Path) -> Case:
    """The case in the head's checkout: what is in its folder, or in a commit, is under test as the target is."""
    if case.cwd is not None:
        folder = of_head / case.cwd.relative_to(of_base)
        if not lies_inside(of_head, folder):
            raise InvalidSettings(f"{case.suite}: {case.key}: the folder {folder} lies outside the repository")
        case = replace(case, cwd=folder)
    if case.workspace is not None and case.workspace.commit is not None:
        case = replace(case, workspace=replace(case.workspace, repository=of_head))
    return case


def _of_other_side(settings: Settings, head: Settings) -> Settings:
    """The settings with the redaction patterns of the head, and without filters: the cases are chosen."""
    redaction = replace(settings.redaction, redact_patterns=head.redaction.redact_patterns)
    return replace(settings, redaction=redaction, selection=Selection(shard=settings.selection.shard))


def measure_base(request: RunRequest, commit: str) -> Baseline:
    """The base, measured now. Raises RunevalsError."""
    request.tell(f"Running the base {commit[:7]} first")
    report, why = None, ""
    with _base_request(request, commit, request.settings.measure.repeat) as of_base:
        try:
            with open_side(of_base, f"base {commit}", of=_OF_BASE) as base:
                report = measure(base, request.progress(base, phase="base"))
            request.budget.stop.name_side("the base's run")
            require_measured(report)
        except KeyRefused as error:
            raise KeyRefused(f"{error}; {KEY_NEEDED}") from error
        except ExternalError as error:
            why = f"{error}{phrase(runs_code(of_base.settings), f'; {WORKTREE_HAS}')}"
            if report is None or not any(case.values for case in report.cases):
                raise ExternalError(why) from error
    too_little = phrase(why, f"the base {commit[:7]} cannot be run: {{}}")
    return Baseline(report=report, source=f"{FRESH} {commit[:7]}", fresh=True, too_little=too_little)


def can_run_again(settings: Settings) -> bool:
    """Whether the target can be called again: recorded answers cannot."""
    return live_target(settings) is not None


def rerunnable(settings: Settings, baseline: Baseline | None) -> tuple[str | None, str]:
    """(the base's commit, "") if it can be run again, else (None, why not)."""
    if baseline is None:
        return None, "there is no base"
    if not can_run_again(settings):
        return None, "recorded answers cannot be asked again"
    return commit_of_base(settings, baseline.report.run.commit)


def commit_of_base(settings: Settings, stored: str | None) -> tuple[str | None, str]:
    """(the commit of a base with this stored commit, "") if it is in this checkout, else (None, why not)."""
    if (began_at := change_began_at(settings)) is not None:  # a stored result may be of an older commit
        return began_at, ""
    if stored is None:
        return None, "the base's result does not say its commit (`--base REF` does)"
    commit = git.commit_of(settings.repository, stored)
    return commit, "" if commit else "the base's commit is not here"
