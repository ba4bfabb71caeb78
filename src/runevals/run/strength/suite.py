"""`runevals strength` on the suites of some settings: by code, then by the judge; and the result in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from itertools import accumulate
from typing import Any

from msgspec.structs import replace

from runevals.lib.statistics.agreement import Estimate
from runevals.lib.statistics.proportion import share_of_groups
from runevals.lib.text.numbers import phrase, plural
from runevals.programs.processes import in_use
from runevals.records import Case, Conclusion, Outcome, RunReport, Suite, WorkspaceChanges
from runevals.records.script import ScriptRunner
from runevals.run.judge_trials.calibrate import judged_alone
from runevals.run.load import plan_of
from runevals.run.measurement import Progress
from runevals.run.request import RunRequest
from runevals.run.strength.answers import known_answers, untouched
from runevals.run.strength.measure import Strength, Unnoticed, strength_of, unnoticed_hints
from runevals.run.workspaces.folders import Workspaces
from runevals.run.world.budget import Budget
from runevals.run.world.build import may_be_reduced, report_in
from runevals.sandbox import Sandbox
from runevals.settings.resolve import Settings
from runevals.suites.health.hint import Hint
from runevals.suites.plan import RunPlan, asks_judge, checks_of
from runevals.targets.recorded import RecordedSettings

MOST_OF_A_KIND = 50  # hints that are printed
MOST_TEXT = 1_000_000  # characters of answers, above which a run does not measure its suites


def measured(
    plan: RunPlan, settings: Settings, sandbox: ScriptRunner, past: Sequence[RunReport], *, programs: bool
) -> Strength:
    """What the checks notice that need no judge; with `programs`, code of the suite is run, too."""
    target = settings.target
    answers = target.answers(report_in) if isinstance(target, RecordedSettings) else None
    folders = _untouched(plan, settings, programs=programs)
    return strength_of(plan, sandbox, known_answers(past, answers, plan), folders, runs_code=programs)


def _untouched(plan: RunPlan, settings: Settings, *, programs: bool) -> Mapping[int, WorkspaceChanges]:
    indices = [index for index, case in enumerate(plan.cases) if case.workspace is not None]
    if not indices:
        return {}
    with in_use(), closing(Workspaces(settings.environment, at_once=1)) as workspaces:
        folders = {index: untouched(plan, index, workspaces, programs=programs) for index in indices}
    return {index: changes for index, changes in folders.items() if changes is not None}


def judged(strength: Strength, settings: Settings, progress: Progress, budget: Budget) -> Strength:
    """Adds what the judge says of the wrong answers that only a judge can notice, as far as the budget allows."""
    left = within_calls(strength, settings)
    if not left:
        return strength
    suite = Suite(
        name="strength", path="strength", dialect="strength", cases=tuple(map(_case, range(len(left)), left))
    )
    report = judged_alone(suite, settings, progress, budget=budget)
    outcomes = {case.key: case.status for case in report.cases if case.status.measured}
    results = [(each, outcomes[str(number)]) for number, each in enumerate(left) if str(number) in outcomes]
    return _with(strength, results)


def within_calls(strength: Strength, settings: Settings) -> Sequence[Unnoticed]:
    """The wrong answers that the judge is asked about: as many as `max_calls` allows."""
    left, most = strength.to_judge, settings.measure.limits.calls
    if most is None:
        return left
    votes = sum(judge.votes for judge in settings.judges)
    calls = accumulate(votes * len(_case(0, each).turns[0].checks) for each in left)
    return [each for each, so_far in zip(left, calls, strict=True) if so_far <= most]


def _case(number: int, each: Unnoticed) -> Case:
    """A case whose answer is the wrong one, and whose checks are those that ask the judge."""
    of = each.of
    checks = tuple(
        spec for spec, check in zip(of.turn.checks, checks_of(of.turn), strict=True) if asks_judge(check.evaluator)
    )
    turn = replace(of.turn, checks=checks, recorded=each.response, user=None)
    return replace(
        of.case, suite="strength", key=str(number), turns=(turn,), workspace=None, files={}, problem=None
    )


def _with(strength: Strength, results: Sequence[tuple[Unnoticed, Outcome]]) -> Strength:
    """With these counted: what the judge failed is noticed."""
    kinds = {**strength.by_kind}
    categories = {category: list(groups) for category, groups in strength.by_category.items()}
    for each, outcome in results:
        noticed, number = kinds.get(each.kind, (0, 0))
        kinds[each.kind] = (noticed + (outcome is Outcome.FAILED), number + 1)
        categories.setdefault(each.of.case.category or "", []).append((int(outcome is Outcome.FAILED), 1))
    done = {id(each): outcome for each, outcome in results}
    rest = [
        replace(each, judged=False) if id(each) in done else each
        for each in strength.unnoticed
        if done.get(id(each)) is not Outcome.FAILED
    ]
    return replace(strength, by_kind=kinds, by_category=categories, unnoticed=rest)


def hints_of(strength: Strength) -> list[Hint]:
    """Everything that is named, check by check and case by case."""
    return [*strength.weak, *unnoticed_hints(strength.unnoticed), *strength.strict]


def lines_of(hints: Sequence[Hint]) -> Iterator[str]:
    """One line a hint, at most so many of a kind."""
    printed: Counter[str] = Counter()
    for hint in hints:
        printed[hint.kind] += 1
        if printed[hint.kind] <= MOST_OF_A_KIND:
            yield str(hint)
    for kind, number in printed.items():
        if number > MOST_OF_A_KIND:
            yield f"… and {number - MOST_OF_A_KIND} more: {kind}"


def described(strength: Strength) -> Iterator[str]:
    """The result for a reader at a terminal."""
    yield from lines_of(hints_of(strength))
    yield headline(strength)
    for kind, (noticed, wrong) in sorted(strength.by_kind.items(), key=lambda item: item[1][0] / item[1][1]):
        yield f"  {_percent(noticed / wrong):>6}  {kind} ({noticed} of {wrong})"
    if len(strength.by_category) > 1:
        yield "By category:"
        for category, groups in sorted(strength.by_category.items()):
            yield f"  {_estimate(share_of_groups(groups))}  {category or 'without one'}"
    failed, edits = strength.harmless
    if edits:
        yield f"Harmless edits that fail: {failed} of {edits} ({_percent(failed / edits)})"
    if strength.to_judge:
        yield f"Left to the judge: {plural(len(strength.to_judge), 'wrong answer')} (--ask-judge asks it)"
    if strength.answered < strength.cases:
        without = strength.cases - strength.answered
        yield (
            f"No right answer is known of {plural(without, 'case')}, so that none is edited: name results with "
            "--results"
        )
    if strength.left_out:
        of_kind = "redteam or trigger cases, or without checks of the answer"
        yield f"Left out: {plural(strength.left_out, 'turn')} of {of_kind}"


def headline(strength: Strength) -> str:
    """The one number."""
    return f"Strength: {in_short(strength) or 'not known – no check of code looks at any answer'}"


def in_short(strength: Strength) -> str:
    """The one number; empty if it is not known."""
    answers, cases = plural(strength.wrong_answers, "wrong answer"), plural(strength.cases, "case")
    return phrase(strength.wrong_answers, f"{_estimate(strength.noticed)} of {answers} are noticed, in {cases}")


def with_strength(conclusion: Conclusion, request: RunRequest) -> Conclusion:
    """The conclusion of a run of few answers with what its suites notice; no code of the suites is run for it."""
    settings, report = request.settings, conclusion.report
    texts = (turn.output or "" for case in report.cases for run in case.runs for turn in run.turns)
    if sum(map(len, texts)) > MOST_TEXT:
        return conclusion
    plan = plan_of(request.suites, settings)
    with Sandbox(reduced=may_be_reduced(settings)) as sandbox:
        strength = strength_of(plan, sandbox, known_answers([report], None, plan), {}, runs_code=False)
    return replace(conclusion, strength=in_short(strength))


def plain(strength: Strength) -> dict[str, Any]:
    """The result as JSON."""
    share, (failed, edits) = strength.noticed, strength.harmless
    return {
        "strength": share.value,
        "interval": [share.low, share.high],
        "wrong_answers": strength.wrong_answers,
        "cases": strength.cases,
        "cases_with_a_right_answer": strength.answered,
        "left_to_the_judge": len(strength.to_judge),
        "harmless": {"failed": failed, "made": edits},
        "by_kind": {kind: {"noticed": n, "asked": of} for kind, (n, of) in strength.by_kind.items()},
        "by_category": {
            category: {"noticed": sum(n for n, _ in groups), "asked": sum(of for _, of in groups)}
            for category, groups in strength.by_category.items()
        },
        "findings": [
            {"kind": hint.kind, "file": hint.location.file, "line": hint.location.line, "message": hint.message}
            for hint in hints_of(strength)
        ],
    }


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _estimate(share: Estimate) -> str:
    if share.value is None or share.low is None or share.high is None:
        return "–"
    return f"{_percent(share.value)} (95 % interval {100 * share.low:.0f} to {100 * share.high:.0f})"
