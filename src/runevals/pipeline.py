"""The stages in order."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from runevals.compare import Strictness, compare, settled_early, unverified, verified
from runevals.conclude import conclude
from runevals.converse import converse
from runevals.evaluate import Evaluation, evaluate
from runevals.gate import apply_gates
from runevals.plan import RunPlan, Trial
from runevals.records import Comparison, Conclusion, Provenance, RunReport
from runevals.redact import redacted, redactor
from runevals.score import run_info, score
from runevals.settings import Settings
from runevals.world import World

Watch = Callable[[Iterator[Evaluation]], Iterator[Evaluation]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """A base's report, and in words where it came from."""

    report: RunReport
    source: str
    strictness: Strictness = Strictness.FINAL

    def compared(self, head: RunReport) -> Comparison:
        """`head` against this base."""
        return compare(head, self.report, self.source, self.strictness)


def run(
    plan: RunPlan,
    settings: Settings,
    world: World,
    baseline: Baseline | None,
    *,
    provenance: Provenance,
    watch: Watch = iter,
) -> Conclusion:
    """converse → evaluate → score → compare → gate; `watch` sees the evaluations pass.

    With a baseline, several repeats are run in rounds of the whole suite, and no more of them than the answer
    needs. Single cases are never run again: keeping the best of them would hide every loss.
    """
    redact = redactor(settings.environment, settings.key_names)
    started_at, started = world.now(), time.monotonic()
    done: list[Evaluation] = []

    def report() -> RunReport:
        info = run_info(
            plan,
            started_at=started_at,
            duration_s=time.monotonic() - started,
            target=world.target.identity(),
            judge=None if world.judge is None else world.judge.identity(),
            provenance=provenance,
        )
        return redacted(score(plan, done, info), redact)

    def measure(trials: Iterable[Trial]) -> Iterator[Evaluation]:
        traces = converse(trials, world.target, workers=settings.concurrency)
        return evaluate(plan, traces, world, workers=settings.judge_concurrency)

    def rounds() -> Iterator[Evaluation]:
        if baseline is None or plan.repeat == 1:
            yield from measure(plan.trials)
            return
        for number in range(1, plan.repeat + 1):
            yield from measure(plan.round(number))
            if number < plan.repeat and settled_early(baseline.compared(report())):
                return

    for evaluation in watch(rounds()):
        done.append(evaluation)
    return decide(report(), baseline, settings)


def decide(report: RunReport, baseline: Baseline | None, settings: Settings) -> Conclusion:
    """compare → gate → conclude, without touching anything outside."""
    comparison = None if baseline is None else baseline.compared(report)
    return _concluded(report, comparison, settings)


def verify(conclusion: Conclusion, baseline: Baseline, fresh: Baseline | str, settings: Settings) -> Conclusion:
    """A would-be red, held to a fresh run of the base; a text says why there is none, and exact p decides."""
    report = conclusion.report
    stored = compare(report, baseline.report, baseline.source)
    if isinstance(fresh, str):
        return _concluded(report, unverified(stored, fresh), settings)
    return _concluded(report, verified(stored, fresh.compared(report)), settings)


def _concluded(report: RunReport, comparison: Comparison | None, settings: Settings) -> Conclusion:
    gates = apply_gates(settings, report, comparison)
    return conclude(report, comparison, gates, baseline_required=settings.baseline_required)
