"""Which base a run is compared with: a stored result, else the base's commit, run now."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from runevals.lib.text.numbers import phrase, plural, short_list
from runevals.records import Comparison, Conclusion, Finding, Reason, RegressionRule, RunReport, State
from runevals.records.errors import (
    ExternalError,
    InvalidSettings,
    InvalidSuite,
    KeyRefused,
    NoSuiteFound,
    RunevalsError,
)
from runevals.repository import git
from runevals.run.baseline.checkout import base_checkout, base_suites, is_here
from runevals.run.baseline.dependencies import changes_since, workspace_commits
from runevals.run.baseline.from_files import read_baseline
from runevals.run.baseline.stored_base import StoredBase
from runevals.run.baseline.unmeasured import why_unmeasured
from runevals.run.default_target import with_target
from runevals.run.load import change_began_at
from runevals.run.provenance import unchanged_commit
from runevals.run.redaction.redactors import without_patterns
from runevals.run.request import RunRequest
from runevals.run.sides import measure_base
from runevals.settings.resolve import RawSettings, Settings
from runevals.suites.selection import chosen_there
from runevals.verdict.comparability import models_between, other_answers, too_old
from runevals.verdict.outcome import Baseline, again
from runevals.verdict.score import run_report

IS_HEAD = "the base is the commit that is checked out: only changes that are not committed are compared"
BOTH_SIDES = "{} holds for the base, too; `against`, or --baseline FILE, compares models"
COMPARES_NOTHING = "nothing of the pull request's base is compared: `runevals action` does that, or `--base REF`"

RunBase = Callable[[str], Baseline]  # measures a commit; raises RunevalsError


def known_base(request: RunRequest) -> StoredBase:
    """What is known of the base before anything runs: the commit of `--base`, or a stored result.

    Raises as `read_baseline`; InvalidSettings if both were given.
    """
    settings = request.settings
    if request.base is not None:
        if settings.compare.baseline_named:
            raise InvalidSettings("--base runs the base itself; do not also give --baseline")
        assert settings.base_side is not None  # noqa: S101 - settled from the same ref
        return StoredBase(commit=settings.base_side.commit, unreadable="")
    if settings.selection.shard is not None:
        return StoredBase()
    baseline = settings.compare.baseline
    of_folder = settings.base_side is None and baseline is not None and Path(baseline).is_dir()
    return find_stored(settings, request.stored, unchanged_commit(settings, request.suites) if of_folder else None)


def settled_base(
    base: StoredBase, request: RunRequest, measure: RunBase | None = None, head: RunReport | None = None
) -> StoredBase:
    """The base that the run is compared with, measured by `measure` if it must be; with notices of how it came.

    It has the cases that the filters of the run choose; `head` has those of the run if they are measured already.
    """
    measure = measure or partial(measure_base, request)
    if request.base is not None:
        base = _named_base(base.commit or "", measure, request)
    else:
        base = chosen(base, request.settings, request.raw, measure)
    selection, baseline = request.settings.selection, base.baseline
    if baseline is None:
        weakenings = (f"{one.suite}, {one.key}: {one.message}" for one in request.weakenings)
        return replace(base, notices=(*base.notices, *weakenings))
    if selection.has_filters:
        is_chosen = chosen_there(selection, request.suites.cases if head is None else head.cases)
        cases = [*filter(is_chosen, baseline.report.cases)]
        report = run_report(baseline.report.run, cases, complete=baseline.report.complete)
        return replace(base, baseline=replace(baseline, report=report))
    return base


def _named_base(commit: str, measure: RunBase, request: RunRequest) -> StoredBase:
    """The commit of `--base`, measured. Raises ExternalError if it cannot be, and that may not pass."""
    repository = request.settings.repository
    in_workspaces = {git.commit_of(repository, ref) for ref in workspace_commits(request.suites)}
    is_head = IS_HEAD + phrase(commit in in_workspaces, ", and workspaces of that commit have none of them")
    flags = [f"--{name}" for name in ("target", "model") if request.settings.origins[name] == f"--{name}"]
    sentences = (is_head * (commit == request.settings.head.commit), phrase(short_list(flags), BOTH_SIDES))
    notices = tuple(filter(None, sentences))
    try:
        baseline = measure(commit)
        return StoredBase(baseline=baseline, notices=tuple(filter(None, (*notices, _errors_of(baseline)))))
    except NoSuiteFound as error:  # the change brings the first
        return StoredBase(notices=(nothing_to_run(commit, error),))
    except (ExternalError, InvalidSuite) as error:
        why = f"the base {commit[:7]} cannot be run: {error}"
        if request.settings.rules.on_unknown != "pass":
            side = request.settings.base_side
            assert side is not None  # noqa: S101 - settled from the same ref
            ways = "\ncompare with another commit (--base REF) or a stored result (--baseline FILE)"
            allow = f", or let it pass: `on_unknown: pass` in {side.display_name}, merged past this check"
            may_differ = not isinstance(error, KeyRefused)
            raise ExternalError(why + f"{ways}{phrase(side.file, allow)}" * may_differ) from error
        return _not_run(StoredBase(notices=notices, commit=commit), why)


def find_stored(settings: Settings, of_job: StoredBase | None, own_commit: str | None = None) -> StoredBase:
    """The result that the settings name, else the stored one of the job. Raises as `read_baseline`.

    `own_commit`: see `read_baseline`.
    With `base: run`, only the commit to run. An address that does not answer is unreadable if it is known which
    commit can be run instead.
    """
    is_plain = of_job is None and settings.origins["baseline"] == "default"
    of_job = of_job or StoredBase()
    commit = of_job.commit or change_began_at(settings)
    if _is_to_be_run(settings) and commit is not None:
        return StoredBase(commit=commit, unreadable="")
    try:
        baseline, notices = read_baseline(settings, own_commit)
    except ExternalError as error:
        if commit is None:
            raise
        return StoredBase(commit=commit, unreadable=error.first_line)
    if _is_to_be_run(settings):
        notices = (*notices, "base: run does not say which commit to run here; `--base REF` does")
    stored = StoredBase(baseline=baseline, notices=notices, commit=commit)
    if baseline is None:
        alone = (COMPARES_NOTHING,) if is_plain and commit is not None else ()
        stored = replace(of_job, notices=(*notices, *of_job.notices, *alone))
    return _without_patterns(stored, settings)


def _without_patterns(stored: StoredBase, settings: Settings) -> StoredBase:
    """Redacted again: the result may be older than the patterns, and its answers are shown beside the head's."""
    base = stored.baseline
    return replace(stored, baseline=base and replace(base, report=without_patterns(base.report, settings)))


def _is_to_be_run(settings: Settings) -> bool:
    """Whether the settings have the base run; a flag that names a result goes first, and so does `none`."""
    none = settings.compare.baseline is None and settings.origins["baseline"] != "default"
    return settings.compare.base == "run" and not settings.compare.baseline_named and not none


def chosen(stored: StoredBase, settings: Settings, raw: RawSettings, run: RunBase) -> StoredBase:
    """`stored` if it is of the base; else the base's commit run now, if it can be.

    One of an older commit is of the base if nothing that the run depends on has changed since.
    """
    stored = _of_base(stored, settings, raw)
    if not stored.is_settled and stored.later is not None:
        stored = _of_base(_without_patterns(stored.later(), settings), settings, raw)
    if stored.is_settled or not stored.is_known:
        return stored
    if settings.compare.verify == "off" and not _is_to_be_run(settings):
        return _not_run(stored, "it is not run again (verify: off)")
    if stored.commit is None:
        return _not_run(stored, "nothing says which commit to run instead")
    return _run_now(stored, stored.commit, run)


def _of_base(stored: StoredBase, settings: Settings, raw: RawSettings) -> StoredBase:
    """A result of an older commit is the base's if nothing that the run depends on has changed since."""
    baseline = stored.baseline
    if baseline is None or stored.is_settled or not _is_unchanged(stored, settings, raw):
        return stored
    source = f"{baseline.source}; what the run depends on is as in the base"
    return replace(stored, baseline=replace(baseline, older=None, source=source))


def _is_unchanged(stored: StoredBase, settings: Settings, raw: RawSettings) -> bool:
    """Whether git shows that the base's run would be as the stored one: by the base's own settings and suites."""
    commit, before, baseline = stored.commit, stored.of_commit, stored.baseline
    if commit is None or before is None or baseline is None or baseline.report.run.uncommitted:
        return False
    if not is_here(settings, before):
        return False
    with suppress(RunevalsError):
        if git.same_files(settings.repository, before, commit):
            return True
        with base_checkout(settings, commit, raw) as base:
            loaded = base_suites(base, settings, commit)
            return changes_since(with_target(base, loaded.suites), loaded, before, baseline.report) is None
    return False


def _run_now(stored: StoredBase, commit: str, run: RunBase) -> StoredBase:
    try:
        baseline = run(commit)
    except NoSuiteFound as error:
        if stored.baseline is not None or stored.never_stored:
            return _not_run(stored, f"the base {commit[:7]} has nothing to run: {error.first_line}")
        return StoredBase(notices=(*stored.notices, nothing_to_run(commit, error)), commit=commit)
    except RunevalsError as error:
        return _not_run(stored, f"the base {commit[:7]} cannot be run: {error.first_line}")
    if baseline.too_little and stored.baseline is not None:  # the older one says more
        return _not_run(stored, baseline.too_little)
    older = "" if stored.baseline is None else f"the stored result is of {stored.baseline.older}"
    why = "; ".join(filter(None, (older, stored.unreadable, stored.never_stored)))
    notices = filter(None, (phrase(why, "the base was run anew: {}"), _errors_of(baseline)))
    return StoredBase(baseline=baseline, notices=(*stored.notices, *notices), commit=commit)


def _errors_of(baseline: Baseline) -> str:
    """The notice about what the base's run could not measure; empty where the verdict says it."""
    why = not baseline.too_little and why_unmeasured(baseline.report)
    return phrase(why, "the base's run could not measure {}")


def nothing_to_run(commit: str, error: NoSuiteFound) -> str:
    """The notice about a base without suites or readable settings."""
    return f"no baseline: the base {commit[:7]} has nothing to run: {error.first_line}"


def _not_run(stored: StoredBase, why: str) -> StoredBase:
    if stored.baseline is not None or stored.never_stored:
        notice = f"{phrase(stored.never_stored, 'no baseline yet: {}; ')}the base was not run: {why}"
        return replace(stored, notices=(*stored.notices, notice))
    unreadable = "; ".join(filter(None, (stored.unreadable, why)))
    return replace(stored, unreadable=unreadable, notices=(*stored.notices, f"no baseline: {unreadable}"))


def remarked(conclusion: Conclusion, stored: StoredBase, request: RunRequest) -> Conclusion:
    """The conclusion with the prompts that changed, and with what is found about the base and removed targets."""
    if conclusion.comparison is not None:
        from runevals.run.prompt_changes import with_prompt_changes

        commit = conclusion.comparison.base.run.commit
        conclusion = with_prompt_changes(conclusion, commit, request.settings, request.suites)
    return with_remarks(conclusion, stored, request.settings)


def with_remarks(conclusion: Conclusion, stored: StoredBase, settings: Settings) -> Conclusion:
    """The conclusion, decided also by what is found about the base and about removed targets."""
    findings = []
    if conclusion.comparison is not None:
        remarks = _remarks(stored, conclusion.report, conclusion.comparison, settings.rules.regression)
        conclusion = replace(conclusion, comparison=replace(conclusion.comparison, remarks=tuple(remarks)))
    elif stored.unreadable is not None:
        findings.append(_not_known(Reason.BASE_MISSING, f"there is no base to compare with: {stored.unreadable}"))
    if settings.removed_targets:
        removed = short_list(settings.removed_targets, 5)
        why = f"the change removes {removed} from `targets`, so nothing says what was lost with that"
        findings.append(_not_known(Reason.INCOMPARABLE, why))
    return again(conclusion, settings.rules, *findings)


def _not_known(reason: Reason, detail: str) -> Finding:
    return Finding(family="whole", state=State.NOT_KNOWN, reason=reason, detail=detail)


def _remarks(stored: StoredBase, head: RunReport, comparison: Comparison, rule: RegressionRule) -> Iterator[str]:
    """What line one says about the base beside the verdict."""
    errors = why_unmeasured(comparison.base)
    if errors is not None and any(finding.reason is Reason.ERRORS for finding in comparison.findings):
        yield f"the base's own run could not measure {errors}"
    yield from _inexact(stored, head, comparison.base, rule)
    yield from models_between(head, comparison.base)


def _inexact(stored: StoredBase, head: RunReport, base: RunReport, rule: RegressionRule) -> list[str]:
    """In words, why the base may not be what its commit would give now."""
    if stored.baseline is not None and stored.baseline.older is not None:
        remark = "compared with another branch: " if stored.other_branch else "compared with an older commit: "
        return [remark + stored.baseline.older]
    days = too_old(head, base, rule)
    remarks = [] if days is None else [f"compared with a result of {plural(days, 'day')} ago"]
    if (filters := base.run.filters) and not head.run.filters:
        remarks.append(f"compared with a result of a part of the cases ({', '.join(filters)})")
    return [*remarks, *other_answers(head, base)]
