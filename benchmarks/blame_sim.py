"""The search of `runevals blame` on simulated changes of known truth: `python benchmarks/blame_sim.py [CHANGES]`.

A stub model answers by the hunks that are put back: the truth of a change says which of them lose the case, alone
or only together. All other hunks do nothing. Prints a row for each kind of change, and exits with 1 if a limit is
missed: the true hunks in 95 % of the changes, a wrong one in 2 %, and no case with more runs than the limit.

Then the coverage (`--coverage`) of changes of a noisy target: how often a hunk that does something is noticed, and
one that does nothing, which may be in at most 5 % of the changes.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal

from runevals.records import AttemptReport, Layers, Outcome
from runevals.verdict.blame_search import HunkSet, SearchResult, most_runs, search_case, searched
from runevals.verdict.hunk_coverage import Runs, noticed

CHANGES, HUNKS = 200, (1, 2, 3, 5, 8, 13, 24, 60)
LEAST_TRUE, MOST_WRONG = 0.95, 0.02
Kind = Literal["one", "only together", "each alone", "elsewhere", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A kind of change and the pass rates of the base and of the head; `limited`: the limits apply to it."""

    name: str
    kind: Kind
    base: float = 0.9
    head: float = 0.1
    limited: bool = True

    @property
    def deterministic(self) -> bool:
        """Whether every run gives the same result."""
        return {self.base, self.head} <= {0.0, 1.0}


SETTINGS = (
    Setting(name="one hunk", kind="one"),
    Setting(name="one hunk, deterministic", kind="one", base=1.0, head=0.0),
    Setting(name="two, only together", kind="only together"),
    Setting(name="two, only together, deterministic", kind="only together", base=1.0, head=0.0),
    Setting(name="two, each alone", kind="each alone"),
    Setting(name="two, each alone, deterministic", kind="each alone", base=1.0, head=0.0),
    Setting(name="cause not among the hunks", kind="elsewhere"),
    Setting(name="nothing lost (the verdict was noise)", kind="none"),
    Setting(name="one hunk, 95 % → 50 %", kind="one", base=0.95, head=0.5, limited=False),
    Setting(name="one hunk, 70 % → 20 %", kind="one", base=0.7, head=0.2, limited=False),
)


@dataclass(slots=True)
class Change:
    """One simulated change, and the runs it took."""

    setting: Setting
    hunks: int
    true: HunkSet
    random: random.Random
    runs: int = 0

    def measure(self, put_back: HunkSet, needed: Mapping[str, int]) -> Mapping[str, Sequence[float]]:
        """The outcomes of so many runs."""
        self.runs += sum(needed.values())
        return {key: [self._outcome(put_back) for _ in range(runs)] for key, runs in needed.items()}

    def _outcome(self, put_back: HunkSet) -> float:
        rate = self.setting.head if self._is_lost(put_back) else self.setting.base
        return float(self.random.random() < rate)

    def _is_lost(self, put_back: HunkSet) -> bool:
        match self.setting.kind:
            case "elsewhere":
                return True
            case "none":
                return False
            case "only together":
                return not self.true & put_back
            case _:
                return not self.true <= put_back


def simulated(setting: Setting, seed: int) -> tuple[Change, SearchResult]:
    """One change of this kind, searched."""
    source = random.Random(f"{setting.name} {seed}")
    number = {"one": 1, "only together": 2, "each alone": 2}.get(setting.kind, 0)
    hunks = source.choice([one for one in HUNKS if one >= number])
    change = Change(setting, hunks, frozenset(source.sample(range(hunks), number)), source)
    found = searched({"case": search_case(hunks, deterministic=setting.deterministic)}, change.measure)
    return change, found["case"]


def row(setting: Setting, changes: int) -> bool:
    """Prints what was found in so many changes; whether the limits hold."""
    results = [simulated(setting, seed) for seed in range(changes)]
    true = fmean(result.lost_by == change.true for change, result in results)
    wrong = fmean(bool(result.lost_by - change.true) for change, result in results)
    share = max(change.runs / most_runs(change.hunks) for change, _ in results)
    runs = [change.runs for change, _ in results]
    holds = true >= LEAST_TRUE and wrong <= MOST_WRONG and share <= 1.0
    shares = f"{100 * true:5.1f} % | {100 * wrong:4.1f} %"
    end = "ok" if holds else "MISSED" if setting.limited else "no limit"
    print(
        f"| {setting.name:37s} | {shares} | {fmean(runs):5.1f} | {max(runs):4d} | {100 * share:3.0f} % | {end} |"
    )
    return holds or not setting.limited


CASES = 30
MOST_FALSE = 0.05  # of the changes, in which a hunk is noticed that does nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageSetting:
    """A change of five hunks, one of which may lower the pass rate of some of the cases to this one."""

    name: str
    runs: int
    affected: int = 0  # cases
    rate: float = 0.05


COVERAGES = (
    *(CoverageSetting(name="no hunk does anything", runs=runs) for runs in (3, 8, 16)),
    *(CoverageSetting(name="one hunk loses a case", runs=runs, affected=1) for runs in (3, 8, 16)),
    *(CoverageSetting(name="one hunk loses ten cases", runs=runs, affected=10) for runs in (3, 8)),
    *(CoverageSetting(name="ten cases to 50 %", runs=runs, affected=10, rate=0.5) for runs in (3, 8)),
)


def covered(setting: CoverageSetting, seed: int) -> Sequence[bool]:
    """Whether each of five hunks is noticed; the first is the one that does something, if any does."""
    source = random.Random(f"coverage {setting.name} {setting.runs} {seed}")
    rates = [source.choice((1.0, 0.98, 0.98, 0.6)) for _ in range(CASES)]  # without the first hunk
    head = [setting.rate if n < setting.affected else rate for n, rate in enumerate(rates)]
    without = [rates, *[head] * 4]
    answers = noticed(
        _runs(source, head, setting.runs),
        [_runs(source, each, setting.runs) for each in without],
        deterministic=False,
    )
    return [bool(answer.by) or answer.p_value is not None for answer in answers]


def _runs(source: random.Random, rates: Sequence[float], runs: int) -> Runs:
    return {
        ("s", str(case)): [_run(source.random() < rate) for _ in range(runs)] for case, rate in enumerate(rates)
    }


def _run(passed: bool) -> AttemptReport:
    status = Outcome.PASSED if passed else Outcome.FAILED
    return AttemptReport(attempt=1, status=status, composite=None, layers=Layers(), turns=())


def coverage_row(setting: CoverageSetting, changes: int) -> bool:
    """Prints how often a hunk is noticed; whether the limit holds."""
    answers = [covered(setting, seed) for seed in range(changes)]
    idle = [answer[1:] if setting.affected else answer for answer in answers]
    false = fmean(map(any, idle))
    true = f"{100 * fmean(answer[0] for answer in answers):5.1f} %" if setting.affected else "      –"
    # As many false ones as chance gives in 1 of 1000 simulations that just hold the limit.
    most = MOST_FALSE + 3.1 * (MOST_FALSE * (1 - MOST_FALSE) / changes) ** 0.5
    end = "ok" if false <= most else "MISSED"
    print(f"| {setting.name:25s} | {setting.runs:4d} | {true} | {100 * false:4.1f} % | {end} |")
    return false <= most


def main() -> int:
    """Every kind of change → exit code."""
    changes = int(sys.argv[1]) if len(sys.argv) > 1 else CHANGES
    print(f"{changes} changes a row, of {', '.join(map(str, HUNKS))} hunks; 90 % → 10 % unless named")
    print("| change | the true hunks | a wrong one | runs a case | most | most of the limit | |")
    ends = [row(setting, changes) for setting in SETTINGS]
    print(f"\n{changes // 4} changes a row: coverage of 5 hunks by {CASES} cases, a quarter of them flaky (60 %)")
    print("| change | runs | noticed | one that does nothing is noticed | |")
    ends += [coverage_row(setting, changes // 4) for setting in COVERAGES]
    return 0 if all(ends) else 1


if __name__ == "__main__":
    sys.exit(main())
