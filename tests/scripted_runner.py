"""A runner for `runevals.verdict.procedure` whose runs come out as a test wrote them down."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from runevals.records import AttemptReport, RunReport
from runevals.verdict.fresh_runs import RunSide
from runevals.verdict.matching import Key, Pair
from runevals.verdict.verification import FreshLook
from tests.sample_reports import LETTERS, attempt, case, report

Letter = Callable[[str, int], str]  # case and run, from 0 → p, f, e, or "" where there is none


class ScriptedRunner:
    """`rounds` are the scored runs of each case; fresh ones come from the letters of each side."""

    can_run = True
    all_rounds = False
    of_branch = False
    base_lacks = ""
    trouble = ""
    why_no_base = ""
    why_no_second_look = ""
    lost_before = ()

    def __init__(self, rounds: Mapping[str, str], base: Letter, head: Letter, **fields: object) -> None:
        self.rounds = rounds
        self.fresh = {"base": base, "head": head}
        self.fields = fields  # of every case, such as its category
        self.deterministic = bool(fields.pop("deterministic", False))
        self.planned = max(map(len, rounds.values()))
        self.made = dict.fromkeys(rounds, 0)
        self.asked: list[tuple[str, str]] = []  # side and case of every fresh run of a suspect
        self.looks = 0
        self.chosen: list[Sequence[Key]] = []

    def report_of(self, runs: Mapping[str, str]) -> RunReport:
        cases = [case(key, letters, **self.fields) for key, letters in runs.items()]
        return report(cases, repeat=self.planned, deterministic=self.deterministic)

    def next_round(self) -> RunReport:
        more = self.planned if self.all_rounds else 1
        self.made = {key: made + more for key, made in self.made.items()}
        return self.report_of({key: letters[: self.made[key]] for key, letters in self.rounds.items()})

    def finish(self, cases: Sequence[Pair]) -> RunReport:
        self.made |= {pair.head.key: self.planned for pair in cases}
        return self.report_of({key: letters[: self.made[key]] for key, letters in self.rounds.items()})

    def look_again(self, only: Sequence[Pair] | None, _why: str) -> FreshLook | str:
        self.looks += 1
        keys = list(self.rounds) if only is None else [pair.head.key for pair in only]
        sides = [
            self.report_of({key: "".join(self.fresh[side](key, n) for n in range(runs)) for key in keys})
            for side, runs in (("base", 6), ("head", 2))
        ]
        return FreshLook(base=sides[0], head=sides[1], source="a fresh run")

    def again(self, side: RunSide, cases: Sequence[Pair]) -> Mapping[Key, AttemptReport]:
        found = {}
        for pair in cases:
            letter = self.fresh[side](pair.head.key, self.asked.count((side, pair.head.key)))
            self.asked.append((side, pair.head.key))
            if letter:
                found[pair.key] = attempt(1, LETTERS[letter])
        return found

    def checking(self, cases: Sequence[Key]) -> Sequence[Key]:
        self.chosen.append(cases)
        return cases

    def runs(self, side: RunSide, key: str) -> int:
        """How often a suspect was run again on this side."""
        return self.asked.count((side, key))


def always(letter: str, **cases: str) -> Letter:
    """Every run comes out as `letter`, those of the cases that are named as theirs."""
    return lambda key, _number: cases.get(key, letter)
