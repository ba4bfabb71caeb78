"""The head, measured alone or against a base: rounds until the verdict is clear, then fresh runs of both sides."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress

from msgspec.structs import replace

from runevals.records import Comparison, Conclusion, RunReport
from runevals.records.errors import InvalidSettings, RunevalsError
from runevals.reports.identity import target_name
from runevals.repository import git
from runevals.run.acceptance import entries_of_change
from runevals.run.baseline.dependencies import lacking_files
from runevals.run.baseline.from_files import why_not_alike
from runevals.run.measurement import Measurement
from runevals.run.request import RunRequest
from runevals.run.shards.merge import same_model
from runevals.run.sides import can_run_again, open_base, open_old_form, open_side, rerunnable
from runevals.run.target_runner import HEAD_LOOKS, TargetRunner
from runevals.verdict.matching import Key
from runevals.verdict.outcome import Baseline, with_context
from runevals.verdict.settle import alone, settled
from runevals.version import __version__


def measure_head(
    head: Measurement | RunReport, baseline: Baseline | None, request: RunRequest
) -> tuple[RunReport, Comparison | None]:
    """converse → evaluate → score what is not measured yet, and compare if there is a base."""
    if baseline is not None:
        return compare_with_base(head, baseline, request)
    with runner_of(head, None, request) as runner:
        return alone(runner, request.settings.rules.regression), None


def compare_with_base(
    head: Measurement | RunReport, baseline: Baseline, request: RunRequest
) -> tuple[RunReport, Comparison]:
    """The head compared with the base, with the fresh runs that the verdict needs."""
    rule = request.settings.rules.regression
    acceptable: Collection[Key] = ()
    with suppress(RunevalsError):  # who reads the list later says what is wrong with it
        acceptable = {(entry.suite, entry.case) for entry in entries_of_change(request.settings)}
    with runner_of(head, baseline, request) as runner:
        of_base = (baseline.report, baseline.source)
        report, comparison = settled(runner, *of_base, rule, fresh=baseline.fresh, acceptable=acceptable)
    error = runner.trouble or runner.base_error  # why fresh runs could not be made
    caveats = (*comparison.caveats, *filter(None, [error]))
    comparison = replace(comparison, caveats=caveats, base_error=runner.base_error)
    return report, with_context(comparison, baseline, request.weakenings)


def runner_of(head: Measurement | RunReport, baseline: Baseline | None, request: RunRequest) -> TargetRunner:
    """What can be run to compare `head` with the base, or without one."""
    settings = request.settings
    commit, why_not = rerunnable(settings, baseline)
    of_branch = settings.in_ci and settings.base_side is None  # no change: others will be compared with it
    began_s = time.time()
    reads = getattr(settings.target, "reads_other_files", False)
    off = "verify: off" * (settings.compare.verify == "off")
    off = off if request.target is None else "the function of the base is not here"
    again = replace(request, settings=settings.repeated(HEAD_LOOKS))
    measured, other = isinstance(head, RunReport), settings.compare.against
    return TargetRunner(
        request=request,
        head=head,
        open_base=lambda: _opened_base(request, commit or "", head, baseline),
        open_head=lambda: open_side(again, "head again"),
        open_old_form=lambda: open_old_form(request, commit or ""),
        base_name=(commit or "")[:7],
        can_run=can_run_again(settings),
        # Of a function in Python the base cannot be run: all that is asked for is needed, as for another side.
        all_rounds=any((measured, of_branch, baseline is None, request.target, other)),
        of_branch=of_branch,
        lacking=lambda: lacking_files(settings, commit, began_s) if commit and reads else (),
        cannot_run_base=off or why_not,
        earlier=alike_earlier(request, head),
    )


@contextmanager
def _opened_base(
    request: RunRequest, commit: str, head: Measurement | RunReport, baseline: Baseline | None
) -> Iterator[Measurement]:
    """The base's commit for fresh runs.

    Raises InvalidSettings if a flag or variable gives it the change's target, and its stored result is of another:
    then fresh runs of it say nothing about the base.
    """
    assert baseline is not None  # noqa: S101 - it is the base
    known, settings = baseline.report, request.settings
    its_own = git.commit_of(settings.repository, known.run.commit) == commit
    with open_base(request, commit, settings.compare.verify_repeats) as base:
        now = head.run.target if isinstance(head, RunReport) else head.target
        replaced = same_model(base.target, now) and not same_model(now, known.run.target)
        if its_own and replaced and known.tool_version == __version__:
            raise InvalidSettings(
                f"its result is of another target ({target_name(known.run.target)}), which a flag, "
                "a variable or an input replaces here"
            )
        yield base


def alike_earlier(request: RunRequest, head: Measurement | RunReport) -> Conclusion | None:
    """The earlier attempt if it measured the same commit, target and judge."""
    earlier = request.earlier
    if earlier is None or earlier.verdict.outcome not in ("passed", "failed"):
        return None
    now = head if isinstance(head, RunReport) else head.report()
    return earlier if why_not_alike(earlier.report, now, request.settings) is None else None
