"""Cases × attempts, evaluators built."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from runevals.evaluators import catalogue
from runevals.evaluators.catalogue import BuiltCheck
from runevals.evaluators.kinds import Composite, Evaluator, Judged, leaves
from runevals.lib.nullable import if_known
from runevals.lib.text.escape import one_line
from runevals.lib.text.numbers import plural
from runevals.records import Case, Probe, Suite, Turn
from runevals.records.errors import UsageError
from runevals.records.rules import Selection, Shard
from runevals.suites.selection import is_selected

if TYPE_CHECKING:
    from runevals.records import ShardInfo


class Trial(Struct, frozen=True, kw_only=True):
    """One attempt at one case."""

    position: int
    case: Case
    attempt: int  # from 1


class RunPlan(Struct, frozen=True, kw_only=True):
    """Cases × attempts in order."""

    suites: tuple[Suite, ...]
    cases: tuple[Case, ...]
    repeat: int
    excluded: int = 0  # cases left out by filters
    quarantined: frozenset[tuple[str, str]] = frozenset()  # suite and key
    shard: ShardInfo | None = None  # which part of the whole plan this is

    @property
    def size(self) -> int:
        """How many trials it has."""
        return len(self.cases) * self.repeat

    @property
    def trials(self) -> Iterator[Trial]:
        """All, by position."""
        return map(self.trial, range(self.size))

    @property
    def checks(self) -> Iterator[BuiltCheck]:
        """The checks of all turns of all cases."""
        return (check for case in self.cases for turn in case.turns for check in checks_of(turn))

    @property
    def judged(self) -> Iterator[tuple[Case, BuiltCheck]]:
        """The checks that ask a judge."""
        for case in self.cases:
            for turn in case.turns:
                if any(issubclass(catalogue.find(name), Judged | Composite) for name in turn.evaluators):
                    yield from ((case, check) for check in checks_of(turn) if asks_judge(check.evaluator))

    def trial(self, position: int) -> Trial:
        """The one at this position."""
        index, before = divmod(position, self.repeat)
        return Trial(position=position, case=self.cases[index], attempt=before + 1)

    def round(self, number: int) -> Iterator[Trial]:
        """One attempt at every case: those with this number, from 1."""
        return map(self.trial, range(number - 1, self.size, self.repeat))

    def probes(self, trial: Trial, index: int) -> tuple[Probe, ...]:
        """What the checks of a turn of this trial look at in its workspace."""
        if trial.case.workspace is None and not trial.case.files:
            return ()
        members = [leaf for check in checks_of(trial.case.turns[index]) for leaf in leaves(check.evaluator)]
        return tuple(dict.fromkeys(probe for member in members for probe in member.probes()))

    def positions(self, index: int) -> range:
        """The positions of the trials of one case."""
        return range(index * self.repeat, (index + 1) * self.repeat)


def checks_of(turn: Turn) -> tuple[BuiltCheck, ...]:
    """Its checks in the order of the suite, each built once."""
    return tuple(map(catalogue.build, turn.checks))


def make_plan(
    suites: Sequence[Suite],
    selection: Selection,
    *,
    repeat: int = 1,
    quarantined: frozenset[tuple[str, str]] = frozenset(),
) -> RunPlan:
    """The trials of a run, in the order of the suites. Raises UsageError if no case matches the filters."""
    everything = [case for suite in suites for case in suite.cases]
    cases = tuple(case for case in everything if is_selected(case, selection))
    if not cases:
        raise UsageError(_no_cases_message(everything, selection))
    return RunPlan(
        suites=tuple(suites),
        cases=cases,
        repeat=repeat,
        excluded=len(everything) - len(cases),
        quarantined=quarantined,
    )


def part_of(plan: RunPlan, shard: Shard | None) -> RunPlan:
    """The cases of `plan` in `shard`, in the same order; possibly none. All without a shard."""
    if shard is None:
        return plan
    from runevals.records import ShardInfo

    positions = tuple(i for i, case in enumerate(plan.cases) if shard.holds(case.suite, case.key))
    return replace(
        plan,
        cases=tuple(plan.cases[i] for i in positions),
        shard=ShardInfo(
            part=shard.part, of=shard.of, plan_cases=len(plan.cases), positions=positions, split=shard.split
        ),
    )


def only_cases(plan: RunPlan, keys: Sequence[tuple[str, str]] | None, repeat: int) -> RunPlan:
    """`plan` with only these cases (suite and key; None: all), in its own order, and `repeat` attempts at each."""
    is_selected = if_known(set, keys)
    cases = tuple(case for case in plan.cases if is_selected is None or (case.suite, case.key) in is_selected)
    return replace(plan, cases=cases, repeat=repeat, shard=None)


def without_cases(plan: RunPlan, keys: Collection[tuple[str, str]]) -> RunPlan:
    """`plan` without these cases (suite and key)."""
    return replace(plan, cases=tuple(case for case in plan.cases if (case.suite, case.key) not in keys))


def most_prompts(turn: Turn) -> int:
    """How many prompts a turn may have: more than one with a simulated user."""
    return 1 if turn.user is None else turn.user.max_turns


def judged_checks(plan: RunPlan) -> int:
    """How many checks of the plan ask a judge."""
    return sum(1 for _ in plan.judged)


def asks_judge_or_user(plan: RunPlan) -> bool:
    """Whether a check asks a judge, or its model plays a user."""
    return bool(judged_checks(plan)) or any(turn.user for case in plan.cases for turn in case.turns)


def asks_judge(evaluator: Evaluator) -> bool:
    """Whether it, or a part of it, uses a judge."""
    return any(isinstance(leaf, Judged) for leaf in leaves(evaluator))


def _no_cases_message(cases: Sequence[Case], selection: Selection) -> str:
    categories = ", ".join(sorted({case.category for case in cases if case.category})) or "none"
    filters = {"category": selection.category, "tag": selection.tag, "filter": selection.filter}
    options = ", ".join(f"--{name} {' '.join(values)}" for name, values in filters.items() if values)
    keys = ", ".join(one_line(case.key, 60) for case in cases[:10]) + (", …" if len(cases) > 10 else "")
    there = f"categories: {categories}" + (f"; keys: {keys}" if selection.filter else "")
    return f"no cases match {options} ({plural(len(cases), 'case')}; {there})"
