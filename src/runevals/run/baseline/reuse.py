"""`--changed-only`: reuses the base's result if nothing that the run depends on has changed."""

from __future__ import annotations

from msgspec.structs import replace

from runevals.records import Conclusion, ModelIdentity, Reason
from runevals.records.rules import CATEGORY_GATES
from runevals.repository import git
from runevals.run.baseline.dependencies import asked_otherwise, changes_since
from runevals.run.baseline.stored_base import StoredBase
from runevals.run.provenance import provenance
from runevals.run.request import RunRequest
from runevals.suites.load import LoadedSuites
from runevals.verdict.outcome import Baseline, decision, passed
from runevals.verdict.reasons import MEANINGS
from runevals.verdict.score import nothing_run


def reuse(request: RunRequest, base: StoredBase) -> Conclusion | tuple[str, ...]:
    """The reused conclusion if nothing that the run depends on has changed, or a notice why the run is made."""
    if not request.settings.compare.changed_only:
        return ()
    why = _passed_without_run(request, base.commit or "") if request.base is not None else _reused(request, base)
    if isinstance(why, Conclusion):
        return why
    if why is None:
        by_flag = request.settings.origins["changed_only"].startswith("--") and not base.notices
        return ("run in full: --changed-only needs a base, and there is none",) if by_flag else ()
    return (f"run in full: {why}",)


def _reused(request: RunRequest, base: StoredBase) -> Conclusion | str | None:
    """The base's result, or why the run must be made; None if there is no base to ask git about."""
    settings, request = request.settings, request.noting(*base.notices)
    if base.baseline is not None and settings.target is not None:
        otherwise = asked_otherwise(settings, base.baseline.report)
        if otherwise is not None:  # of whichever commit it is: git knows nothing of what a workflow asks for
            return otherwise
    stored = None if base.baseline is None else _stored(request, base.baseline)
    of_base = base.unreadable is None if base.baseline is None else base.baseline.older is None
    if isinstance(stored, Conclusion) or of_base or base.commit is None:
        return stored
    return _passed_without_run(request, base.commit)


def _stored(request: RunRequest, baseline: Baseline) -> Conclusion | str:
    """The stored result of the base as this run's, or why the run must be made.

    Only a complete result that is green by the gates of today stands for a run.
    """
    known, settings = baseline.report, request.settings
    commit = None if known.run.commit is None else git.commit_of(settings.repository, known.run.commit)
    if known.run.uncommitted:
        return MEANINGS[Reason.BASE_EDITS].sentence
    if commit is None or not known.complete:
        return "the base's result does not say of which commit here it is"
    why = changes_since(settings, request.suites, commit, known)
    if why is not None:
        return why
    notice = f"nothing was run: the result of {commit[:7]} is reused"
    report = replace(known, run=replace(known.run, notices=(*request.suites.notices, *request.notices, notice)))
    conclusion = decision(report, None, settings.rules, mark=request.mark)
    if conclusion.verdict.exit_code != 0:
        return f"the result of {commit[:7]} is not green itself"
    total = known.totals
    headline = (
        f"No relevant changes since {commit[:7]} – its result is reused: "
        f"{total.passed} of {total.cases - total.skipped} cases pass"
    )
    return replace(conclusion, verdict=passed(headline, warns=conclusion.verdict.warns))


def _has_gated_cases(suites: LoadedSuites) -> bool:
    gated = {category for category, _ in CATEGORY_GATES}
    return any(case.category in gated for suite in suites.suites for case in suite.cases)


def _passed_without_run(request: RunRequest, commit: str) -> Conclusion | str:
    """A pass without any result if head and base would measure the same, or why the run must be made."""
    settings, suites = request.settings, request.suites
    why = changes_since(settings, suites, commit, None)
    if why is not None:
        return why
    if settings.rules.gates or settings.rules.min_pass_rate is not None or _has_gated_cases(suites):
        return "there are gates on the numbers themselves"
    assert settings.target is not None  # noqa: S101 - without one, there is a reason to run
    notices = (*suites.notices, *request.notices)
    target = ModelIdentity(type=settings.target.type, model=settings.target.model)
    report = nothing_run(target, provenance(settings, notices))
    headline = f"No relevant changes since {commit[:7]} – nothing was run"
    return Conclusion(report=report, comparison=None, gates=(), verdict=passed(headline))
