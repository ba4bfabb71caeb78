"""How many calls of target and judge a run may plan: a change cannot spend more than its base would."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from runevals.evaluators.kinds import Judged, leaves
from runevals.lib.text.numbers import plural
from runevals.records.errors import InvalidSettings, RunevalsError
from runevals.run.baseline.checkout import base_checkout, base_suites
from runevals.run.default_target import with_target
from runevals.run.live import live_judges, live_target
from runevals.run.request import RunRequest
from runevals.settings.resolve import Settings
from runevals.suites.load import LoadedSuites
from runevals.suites.plan import make_plan, most_prompts

LEAST = 1000  # calls that any change may plan
TIMES = 3  # what its base plans


def require_few_calls(*requests: RunRequest) -> None:
    """Raises InvalidSettings if more calls are planned than `max_calls`, or than the default for a change in CI.

    The requests are those of all targets of a run. What a change's base plans is only looked at if there are many.
    """
    settings, loaded = requests[0].settings, requests[0].suites
    most, origin = settings.measure.limits.calls, settings.origins["max_calls"]
    is_change = settings.base_side is not None and settings.in_ci
    if most is None and not is_change:
        return
    calls = sum(planned_calls(request.settings, request.suites) for request in requests)
    raised = f"raise it by --max-calls {calls}, or RUNEVALS_MAX_CALLS={calls} in a job"
    by = f" (max_calls by {origin}): {raised}, lower `repeat`, or choose fewer cases with --filter"
    can_only_lower = settings.file is not None and origin == settings.file.display_name
    if is_change and calls > LEAST and (most is None or (calls <= most and can_only_lower)):
        of_base = _calls_of_base(requests)
        most = max(LEAST, TIMES * of_base)
        by = (
            f", {TIMES} times the {of_base} of the base and at least {LEAST}; lower `repeat`, set "
            f"RUNEVALS_MAX_CALLS={calls} in the workflow, or merge `max_calls: {calls}` into the base first"
        )
    if most is not None and calls > most:
        cases = sum(len(suite.cases) for suite in loaded.suites)
        whose = "target" if len(requests) == 1 else f"{len(requests)} targets"
        raise InvalidSettings(
            f"{calls} calls of {whose} and judge are planned ({plural(cases, 'case')}, "
            f"repeat: {settings.measure.repeat} by {settings.origins['repeat']}), but at most {most} may be{by}"
        )


def planned_calls(settings: Settings, loaded: LoadedSuites) -> int:
    """The calls of all attempts at every case, on both sides of `against`."""
    return calls_of_attempt(settings, loaded) * settings.attempts * (1 if settings.compare.against is None else 2)


def calls_of_attempt(settings: Settings, loaded: LoadedSuites) -> int:
    """Calls of the target, one a prompt, and of every judge, one a check that asks it; recorded answers are none.

    A prompt of a simulated user is a call of its model, too.
    """
    plan = make_plan(loaded.suites, settings.selection)
    turns = [] if live_target(settings) is None else [turn for case in plan.cases for turn in case.turns]
    prompts = sum(most_prompts(turn) * (2 if turn.user else 1) for turn in turns)
    votes = sum(judge.votes for judge in live_judges(settings))
    checks = plan.checks if votes else ()
    judged = sum(isinstance(leaf, Judged) for check in checks for leaf in leaves(check.evaluator))
    return prompts + judged * votes


def _calls_of_base(requests: Sequence[RunRequest]) -> int:
    """The calls of one of the base's targets, of which a change has one at least, for all that the base has."""
    side = requests[0].raw.base_side
    targets = 1 if side is None else max(1, len(side.values.get("targets", ())))
    for request in requests:
        assert request.settings.base_side is not None  # noqa: S101 - asked only of a change
        commit = request.settings.base_side.commit
        with suppress(RunevalsError), base_checkout(request.settings, commit, request.raw) as base:
            loaded = base_suites(base, request.settings, commit)
            return targets * planned_calls(with_target(base, loaded.suites), loaded)
    return 0
