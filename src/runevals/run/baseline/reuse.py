"""`--changed-only`: reuses the base's result if nothing that the run depends on has changed."""

from __future__ import annotations

from msgspec.structs import replace

from runevals.lib.text.numbers import phrase, short_list
from runevals.records import Conclusion, ModelIdentity, Reason
from runevals.records.rules import CATEGORY_GATES
from runevals.repository import git
from runevals.run.baseline.dependencies import asked_otherwise, changes_since
from runevals.run.baseline.stored_base import StoredBase
from runevals.run.provenance import provenance
from runevals.run.request import RunRequest
from runevals.verdict.outcome import Baseline, decision, passed
from runevals.verdict.reasons import MEANINGS
from runevals.verdict.score import nothing_run


class _MustRun(Exception):
    """Why the run is made; without a reason, there is no base."""


def reuse(request: RunRequest, base: StoredBase) -> Conclusion | tuple[str, ...]:
    """The reused conclusion if nothing that the run depends on has changed, or a notice why the run is made."""
    try:
        return _reused(request.noting(*base.notices), base)
    except _MustRun as why:
        by_flag = request.settings.origins["changed_only"].startswith("--") and not base.notices
        reason = str(why) or phrase(by_flag, "--changed-only needs a base, and there is none")
        return (f"run in full: {reason}",) if reason else ()


def _reused(request: RunRequest, base: StoredBase) -> Conclusion:
    """The base's result; if that is of an older commit or missing, a pass without any result. Raises _MustRun."""
    if base.baseline is not None:
        # Of whichever commit it is: git knows nothing of what a workflow asks for.
        _require_none(asked_otherwise(request.settings, base.baseline.report))
        try:
            return _stored(request, base.baseline)
        except _MustRun:
            if base.baseline.older is None:
                raise
    if base.commit is None or not base.is_known:
        raise _MustRun
    return _passed_without_run(request, base.commit)


def _require_none(why: str | None) -> None:
    if why is not None:
        raise _MustRun(why)


def _stored(request: RunRequest, baseline: Baseline) -> Conclusion:
    """The stored result of the base as this run's, if it is complete and passes today's gates. Raises _MustRun."""
    known, settings = baseline.report, request.settings
    commit = git.commit_of(settings.repository, known.run.commit)
    if known.run.uncommitted:
        raise _MustRun(MEANINGS[Reason.BASE_EDITS].sentence)
    if commit is None or not known.complete:
        raise _MustRun("the base's result does not say of which commit here it is")
    _require_none(changes_since(settings, request.suites, commit, known))
    notice = f"nothing was run: the result of {commit[:7]} is reused"
    report = replace(known, run=replace(known.run, notices=(*request.suites.notices, *request.notices, notice)))
    conclusion = decision(report, None, settings.rules, mark=request.mark)
    if conclusion.verdict.exit_code != 0:
        raise _MustRun(f"the result of {commit[:7]} is not green itself")
    total = known.totals
    headline = (
        f"No relevant changes since {commit[:7]} – its result is reused: "
        f"{total.passed} of {total.cases - total.skipped} cases pass"
    )
    return replace(conclusion, verdict=passed(headline, warns=conclusion.verdict.warns))


def _passed_without_run(request: RunRequest, commit: str) -> Conclusion:
    """A pass without any result, as head and base would measure the same. Raises _MustRun."""
    settings, suites = request.settings, request.suites
    _require_none(changes_since(settings, suites, commit, None))
    gated = dict(CATEGORY_GATES).keys() & {case.category for case in suites.cases}
    floor = () if settings.rules.min_pass_rate is None else ("min_pass_rate",)
    if of_numbers := (*sorted(gated), *(gate.name for gate in settings.rules.gates), *floor):
        raise _MustRun(f"gates on the numbers themselves: {short_list(of_numbers)}")
    assert settings.target is not None  # noqa: S101 - without one, there is a reason to run
    notices = (*suites.notices, *request.notices)
    target = ModelIdentity(type=settings.target.type, model=settings.target.model)
    report = nothing_run(target, provenance(settings, notices))
    headline = f"No relevant changes since {commit[:7]} – nothing was run"
    return Conclusion(report=report, comparison=None, gates=(), verdict=passed(headline))
