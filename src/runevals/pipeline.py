"""The stages in order."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from runevals.compare import Strictness, compare, settled_early, unverified, verified
from runevals.conclude import conclude
from runevals.converse import converse
from runevals.dialects import LoadOptions, load
from runevals.discover import discover
from runevals.errors import InvalidSuite, NoSuiteFound, UnrecognisedSuite
from runevals.evaluate import Evaluation, evaluate
from runevals.evaluators.kinds import Scripted
from runevals.gate import apply_gates
from runevals.plan import RunPlan, Trial, make_plan, wanted
from runevals.records import Comparison, Conclusion, Location, Provenance, RunReport, Suite, SuiteProblem
from runevals.score import run_info, run_report, score
from runevals.settings import Settings, SuiteEntry
from runevals.world import Runs, World

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """The suites of a run, and what its reader should know of finding them."""

    suites: tuple[Suite, ...]
    notices: tuple[str, ...] = ()

    @property
    def problems(self) -> tuple[SuiteProblem, ...]:
        return tuple(problem for suite in self.suites for problem in suite.problems)


def load_suites(settings: Settings) -> Loaded:
    """discover → load. Raises InvalidSuite with every error of every file, NoSuiteFound."""
    suites: list[Suite] = []
    notices: list[str] = []
    broken: list[SuiteProblem] = []
    seen: set[Path] = set()
    entries = settings.suites or (None,)
    for entry in entries:
        found = discover(
            settings.cwd if entry is None else entry.base,
            () if entry is None else (entry.path,),
            everything=settings.everything,
        )
        for path in found.files:
            if path.resolve() in seen:
                continue  # named twice, by pattern or link: it is one suite
            seen.add(path.resolve())
            try:
                suite = load(path, shown_path(path, settings), _options(entry, settings))
            except UnrecognisedSuite as error:
                if path in found.optional:
                    notices.append(f"passed over, as it is no suite: {shown_path(path, settings)}")
                else:
                    broken += error.problems
            except InvalidSuite as error:
                broken += error.problems
            else:
                suites.append(suite)
        if found.passed_over:
            shown = ", ".join(shown_path(path, settings) for path in found.passed_over)
            notices.append(f"also found, not run: {shown} (--all runs them)")
    broken += [problem for suite in suites if suite.errors for problem in suite.problems]
    if broken:
        raise InvalidSuite(broken)
    if not suites:
        raise NoSuiteFound("none of the files there is a suite")
    return Loaded(suites=tuple(suites), notices=tuple(notices))


def shown_path(path: Path, settings: Settings) -> str:
    """A suite's name: its path relative to the repository's root, with forward slashes."""
    resolved = path.resolve()
    root = settings.repository.resolve()
    return resolved.relative_to(root).as_posix() if resolved.is_relative_to(root) else str(path)


def rehearse(plan: RunPlan, sandbox: Runs) -> None:
    """Tries what evaluators bring along before anything is sent. Raises InvalidSuite with every fault."""
    problems: dict[SuiteProblem, None] = {}
    seen: set[int] = set()
    for case in plan.checks:
        for turn in case:
            for check in turn.checks:
                if not isinstance(check.evaluator, Scripted) or id(check) in seen:
                    continue
                seen.add(id(check))
                call = check.evaluator.rehearsal()
                answer = None if call is None else sandbox.call(call)
                if answer is not None and answer.error is not None:
                    location = check.spec.location or Location(file=plan.suites[0].path)
                    message = f"{check.id} cannot be used: {answer.reason}"
                    problem = SuiteProblem(location=location, pointer=check.spec.pointer, message=message)
                    problems[problem] = None
    if problems:
        raise InvalidSuite(list(problems))


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
    baseline = _narrowed(baseline, settings)
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
        return score(plan, done, info)

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


def _narrowed(baseline: Baseline | None, settings: Settings) -> Baseline | None:
    """The base's cases that this run's filters leave in."""
    if baseline is None or not (settings.category or settings.tag or settings.filter):
        return baseline
    cases = [case for case in baseline.report.cases if wanted(case, settings)]
    report = run_report(baseline.report.run, cases, complete=baseline.report.complete)
    return replace(baseline, report=report)


def _concluded(report: RunReport, comparison: Comparison | None, settings: Settings) -> Conclusion:
    gates = apply_gates(settings, report, comparison)
    return conclude(report, comparison, gates, baseline_required=settings.baseline_required)


def prepare(settings: Settings, loaded: Loaded) -> RunPlan:
    """load → plan."""
    return make_plan(loaded.suites, settings)


def _options(entry: SuiteEntry | None, settings: Settings) -> LoadOptions:
    named = entry.evaluators if entry is not None and entry.evaluators else settings.evaluators
    return LoadOptions(evaluators=named, evaluate_only=settings.evaluate_only)
