"""A runner for `runevals.verdict.settle` whose runs come out as a test wrote them down."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from runevals.records import AttemptReport, CaseReport, Conclusion, GateRules, RunReport
from runevals.verdict.case_runs import RunSide
from runevals.verdict.matching import Key, Pair
from runevals.verdict.outcome import conclusion_of
from runevals.verdict.settle import FreshRounds, settled
from tests.sample_reports import LETTERS, attempt, case, report

Letter = Callable[[str, int], str]  # case and run, from 0 → p, f, e, or "" where there is none


class ScriptedRunner:
    """`rounds` are the scored runs of each case; fresh ones come from the letters of each side.

    Fresh runs of the old form of edited cases come from `old_form`. `cases` are reports of scored runs that
    letters say too little of, and `answers` is what a letter stands for in fresh runs of single cases.
    """

    can_run = True
    all_rounds = False
    of_branch = False
    base_lacks = ""
    trouble = ""
    why_no_base = ""
    why_no_rounds = ""
    lost_before = ()

    def __init__(self, rounds: Mapping[str, str], base: Letter, head: Letter, **fields: object) -> None:
        self.rounds = rounds
        self.fresh = {"base": base, "head": head, "old form": fields.pop("old_form", head)}
        self.cases: Mapping[str, CaseReport] = fields.pop("cases", {})
        self.answers: Mapping[str, AttemptReport] = fields.pop("answers", {})
        self.fields = fields  # of every case, such as its category
        self.deterministic = bool(fields.pop("deterministic", False))
        self.planned = max(map(len, rounds.values()))
        self.made = dict.fromkeys(rounds, 0)
        self.asked: list[tuple[str, str]] = []  # side and case of every fresh run of a single case
        self.fresh_rounds_made = 0
        self.checked: list[int] = []  # how many cases were about to be run again

    def report_of(self, runs: Mapping[str, str]) -> RunReport:
        cases = [self.cases.get(key) or case(key, letters, **self.fields) for key, letters in runs.items()]
        return report(cases, repeat=self.planned, deterministic=self.deterministic)

    def next_round(self) -> RunReport:
        more = self.planned if self.all_rounds else 1
        self.made = {key: made + more for key, made in self.made.items()}
        return self.report_of({key: letters[: self.made[key]] for key, letters in self.rounds.items()})

    def fresh_rounds(self, only: Sequence[Pair] | None, _why: str) -> FreshRounds | str:
        self.fresh_rounds_made += 1
        keys = list(self.rounds) if only is None else [pair.head.key for pair in only]
        sides = [
            self.report_of({key: "".join(self.fresh[side](key, n) for n in range(runs)) for key in keys})
            for side, runs in (("base", 6), ("head", 2))
        ]
        return FreshRounds(base=sides[0], head=sides[1], source="a fresh run")

    def again(self, side: RunSide, cases: Sequence[Pair]) -> Mapping[Key, AttemptReport]:
        found = {}
        for pair in cases:
            letter = self.fresh[side](pair.head.key, self.asked.count((side, pair.head.key)))
            self.asked.append((side, pair.head.key))
            if letter:
                found[pair.key] = self.answers.get(letter) or attempt(1, LETTERS[letter])
        return found

    def checking(self, cases: int) -> None:
        self.checked.append(cases)

    def runs(self, side: RunSide, key: str) -> int:
        """How often a case was run again on this side, beside whole rounds."""
        return self.asked.count((side, key))


def concluded(runner: ScriptedRunner, base: RunReport, rules: GateRules | None = None) -> Conclusion:
    """What a run against a stored base ends with."""
    rules = rules or GateRules()
    return conclusion_of(*settled(runner, base, "stored", rules.regression), rules)


def always(letters: str, **cases: str) -> Letter:
    """Every run comes out as one of these letters, in turn; those of the cases that are named as theirs."""

    def letter(key: str, number: int) -> str:
        some = cases.get(key, letters)
        return some and some[number % len(some)]

    return letter
