"""Scored answers → the judge's scores of them → how far they agree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import to_builtins
from msgspec.structs import replace

from runevals.judge.calibration import FEWEST, Calibration, calibrations
from runevals.lib.statistics.agreement import Estimate
from runevals.lib.terminal import terminal_text
from runevals.lib.text.numbers import plural, signed
from runevals.records import RunReport, Suite
from runevals.records.rules import Selection
from runevals.run.measurement import Measurement, Progress, measure
from runevals.run.provenance import provenance
from runevals.run.world.budget import Budget
from runevals.run.world.build import real_world, require_judge
from runevals.settings.resolve import Settings
from runevals.suites.dialects.gold import read_gold
from runevals.suites.plan import make_plan


def calibrated(
    gold: str, evaluator: str | None, settings: Settings, progress: Progress
) -> tuple[Calibration, ...]:
    """The judge compared with a file of scored answers. Raises InvalidSuite, InvalidSettings, JudgeRefused."""
    answers = read_gold(settings.cwd / gold, gold, evaluator, settings.load.definitions)
    return calibrations(judged_alone(answers.suite, settings, progress), answers.scores)


def judged_alone(
    suite: Suite, settings: Settings, progress: Progress, *, times: int = 1, budget: Budget | None = None
) -> RunReport:
    """The suite's own responses judged, each as often as configured; no target is called."""
    settings = settings.repeated(times, cached=True)
    settings = replace(settings, target=None, evaluate_only=True, selection=Selection(), no_judge=False)
    plan = make_plan((suite,), settings.selection, repeat=times)
    require_judge(plan, settings, or_without=False)
    with real_world(settings, (suite,), budget=budget) as world:
        side = Measurement(plan, settings, world, provenance(settings, ()))
        return measure(side, progress(side))


def described(calibrations: Sequence[Calibration]) -> Iterator[str]:
    """The figures for a reader at a terminal."""
    for each in calibrations:
        yield terminal_text(f"{each.evaluator}: {each.judged} of {plural(each.answers, 'answer')} judged")
        yield f"  Krippendorff's alpha  {_figure(each.alpha)}  {each.band}"
        yield f"  weighted kappa        {_figure(each.kappa)}"
        yield f"  Pearson's r           {_figure(each.pearson)}"
        yield f"  judge − people        {_figure(each.shift, sign=True)}"
        if each.people_alpha is not None:
            yield f"  people themselves     {each.people_alpha:5.2f}  (alpha)"
        scores = ", ".join(f"{score:g}: {count}" for score, count in each.people_scores.items())
        yield f"  people gave           {scores}"
        for why, count in each.errors.items():
            yield terminal_text(f"  not judged ×{count}: {why}")
        if each.answers < FEWEST:
            yield f"  ! fewer than {FEWEST} answers: the intervals are wide, and chance has a say"


def plain(calibrations: Sequence[Calibration]) -> object:
    """The figures as JSON."""
    return [
        {
            **to_builtins(each),
            "band": each.band,
            "people_scores": [list(pair) for pair in each.people_scores.items()],
        }
        for each in calibrations
    ]


def _figure(estimate: Estimate, *, sign: bool = False) -> str:
    if estimate.value is None:
        return "    –"
    shown_low, shown_high = _number(estimate.low, sign=sign), _number(estimate.high, sign=sign)
    interval = "" if estimate.low is None else f"  ({shown_low} to {shown_high})"
    return f"{_number(estimate.value, sign=sign):>5}{interval}"


def _number(value: float | None, *, sign: bool) -> str:
    text = signed(value or 0.0, 2)
    return text if sign else text.removeprefix("+")
