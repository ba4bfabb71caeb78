"""What a run will probably cost: its calls, times the tokens of an earlier run or of the prompts, times prices."""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter
from pathlib import Path

from msgspec import Struct

from runevals.lib.nullable import if_known, mean
from runevals.lib.text.numbers import money
from runevals.models.chat.providers import PROVIDERS
from runevals.records import RunReport, TurnReport
from runevals.records.errors import InvalidDocument, InvalidSuite
from runevals.reports.past_results import newest
from runevals.reports.results_document import read_conclusion
from runevals.settings.file import results_folder
from runevals.settings.resolve import Settings
from runevals.suites.plan import RunPlan

CHARACTERS_OF_A_TOKEN = 4
MOST_DOCUMENTS = 3


class CostEstimate(Struct, frozen=True, kw_only=True):
    """In US dollars; None if unknown. `prompts_usd` is a minimum: the price of what is sent."""

    target_usd: float | None = None
    judge_usd: float | None = None
    prompts_usd: float | None = None
    source: str = ""  # the document with the tokens

    def __str__(self) -> str:
        judge = "" if self.judge_usd is None else f", judge about {money(self.judge_usd)}"
        if self.target_usd is not None:
            return f"about {money(self.target_usd)}{judge} (from the tokens in {self.source})"
        if self.prompts_usd is not None:
            return f"at least {money(self.prompts_usd)} for the prompts; a first run shows the answers' length"
        return "unknown: no price, or no tokens of an earlier run"


def estimated_cost(plan: RunPlan, settings: Settings, target_calls: int, judge_calls: int) -> CostEstimate:
    """The cost of so many calls. The newest result of the same target, here or the baseline's, has the tokens."""
    earlier = reversed(newest(settings.cwd / results_folder(settings.cwd), MOST_DOCUMENTS))
    for path in (*earlier, *filter(Path.is_file, map(Path, filter(None, [settings.compare.baseline])))):
        try:
            report = read_conclusion(path).report
        except (InvalidDocument, InvalidSuite, OSError):
            continue
        target, used = settings.target, report.run.target
        is_of_name = settings.target_name in (None, report.run.settings.get("target", settings.target_name))
        if target is not None and (used.type, used.model, is_of_name) == (target.type, target.model, True):
            return CostEstimate(
                target_usd=_of_calls(report, settings, target_calls),
                judge_usd=_of_judge(report, settings, judge_calls),
                prompts_usd=_of_prompts(plan, settings),
                source=path.name,
            )
    return CostEstimate(prompts_usd=_of_prompts(plan, settings))


def _turns(report: RunReport) -> list[TurnReport]:
    return [
        turn for case in report.cases for attempt in case.attempts for turn in attempt.turns if turn.error is None
    ]


def _of_calls(report: RunReport, settings: Settings, calls: int) -> float | None:
    """The cost of calls by the mean tokens of an answer and today's prices, else by the mean reported cost."""
    turns = _turns(report)
    spent = [(t.input_tokens, t.output_tokens) for t in turns if t.input_tokens and t.output_tokens is not None]
    if spent:
        sent, received = (round(calls * sum(column) / len(spent)) for column in zip(*spent, strict=True))
        cost = _price(settings, sent, received)
        if cost is not None:
            return cost
    return _of_each(calls, (turn.cost_usd for turn in turns))


def _of_judge(report: RunReport, settings: Settings, calls: int) -> float | None:
    judge, used = report.run.judge, next(iter(settings.judges), None)
    if not calls or judge is None or used is None or judge.model != used.model:
        return None
    results = [result for turn in _turns(report) for result in turn.results if result.judge_model is not None]
    return _of_each(calls, (result.cost_usd for result in results))


def _of_each(calls: int, costs: Iterable[float | None]) -> float | None:
    """The cost of calls by the mean of costs that are known."""
    return if_known(lambda each: calls * each, mean(costs))


def _of_prompts(plan: RunPlan, settings: Settings) -> float | None:
    """A quarter of the prompts' characters as tokens."""
    target = settings.target
    always = 0 if target is None else len(target.system_prompt or "")
    characters = sum(
        always + sum(len(message.content) for message in case.opening) + len(turn.prompt)
        for case in plan.cases
        for turn in case.turns
    )
    return _price(settings, plan.repeat * characters // CHARACTERS_OF_A_TOKEN, 0)


def _price(settings: Settings, sent: int, received: int) -> float | None:
    target = settings.target
    if target is None or target.model is None:
        return None
    of = if_known(attrgetter("prices"), PROVIDERS.get(target.type))
    return settings.measure.prices.cost_usd(target.model, sent, received, provider=of)
