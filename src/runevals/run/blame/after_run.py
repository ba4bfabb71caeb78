"""The search that follows a loss in a job: which lines caused it, within the limits of the settings."""

from __future__ import annotations

from threading import Timer
from typing import TypeVar

from msgspec.structs import replace

from runevals.lib.nullable import if_known
from runevals.records import Conclusion, Problem
from runevals.records.errors import RunevalsError
from runevals.records.rules import BlameLimits, Limits
from runevals.run.blame.search import blamed, examples
from runevals.run.request import RunRequest
from runevals.run.sides import can_run_again, commit_of_base
from runevals.run.world.budget import Budget, Stop

T = TypeVar("T", int, float)

PART = 5  # without limits of its own, a search spends at most this part of what the run did
MOST_S = 300.0  # the verdict waits for it


def with_blame(conclusion: Conclusion, request: RunRequest, limits: BlameLimits) -> Conclusion:
    """The conclusion with the lines that lost its confirmed cases; unchanged if its base cannot be run.

    `request` is that of the run, with its budget.
    """
    settings, comparison = request.settings, conclusion.comparison
    is_off = settings.compare.verify == "off" and settings.compare.base != "run"
    runs_base = can_run_again(settings) and not is_off
    if comparison is None or not runs_base or not examples(conclusion, ("lost",), each=1):
        return conclusion
    commit, why_not = commit_of_base(settings, comparison.base.run.commit)
    if commit is None:
        request.tell(f"Not searched for the lines that lost cases: {why_not}")
        return conclusion
    search = search_request(request, limits)
    stop = search.budget.stop
    late = Problem(code="budget_exhausted", message=f"the search took longer than {MOST_S:g} s")
    timer = Timer(MOST_S, stop.ask, [late])
    timer.daemon = True
    timer.start()
    request.budget.stop.when_asked(lambda: stop.ask(request.budget.stop.problem or late))
    try:
        blame = blamed(conclusion, commit, search, code=False, job=True, runs=limits.runs)
    except RunevalsError as error:
        request.tell(f"Not searched for the lines that lost cases: {error.first_line}")
        return conclusion
    finally:
        timer.cancel()
    return replace(conclusion, blame=blame)


def search_request(request: RunRequest, limits: BlameLimits) -> RunRequest:
    """The request with the limits of the search; with it, the run still keeps its own."""
    measure, spent = request.settings.measure, request.budget
    cost, calls = limits.cost_usd, None
    if limits == BlameLimits():
        cost, calls = spent.cost_usd / PART or None, spent.answers // PART
    costs = cost, _left(measure.limits.cost_usd, spent.cost_usd)
    of_search = Limits(
        cost_usd=min((usd for usd in costs if usd is not None), default=None),
        tokens=_left(measure.limits.tokens, spent.tokens),
        calls=calls,
    )
    settings = replace(request.settings, measure=replace(measure, limits=of_search))
    return replace(request, settings=settings, budget=Budget(of_search, Stop()), journal=None)


def _left(most: T | None, spent: T) -> T | None:
    return if_known(lambda limit: max(0, limit - spent), most)
