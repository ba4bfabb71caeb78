"""A plan and right answers → which wrong answers its checks notice, and which checks pass one."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain

from msgspec import Struct
from msgspec.structs import replace

from runevals.evaluators.catalogue import BuiltCheck
from runevals.evaluators.kinds import leaves
from runevals.evaluators.limits.bound import Bound
from runevals.evaluators.workspace.evidence import PathsCheck
from runevals.lib.nullable import grouped
from runevals.lib.statistics.agreement import Estimate
from runevals.lib.statistics.proportion import share_of_groups
from runevals.lib.text.escape import one_line
from runevals.lib.text.numbers import short_list
from runevals.records import Case, Location, Outcome, Problem, Response, WorkspaceChanges
from runevals.records.script import ScriptRunner
from runevals.run.check_result import outcome_of
from runevals.run.evaluate import Place, find_safely
from runevals.run.strength.answers import (
    EMPTY,
    OTHER_TOOL,
    OTHERS,
    PROMPT,
    UNKNOWN,
    UNRELATED,
    UNTOUCHED,
    Key,
    TurnOf,
    always_wrong,
    candidates,
    families_of,
    nothing,
)
from runevals.run.strength.edits import harmful, harmless
from runevals.run.strength.idle import NeverFails
from runevals.run.world import World
from runevals.suites.health.hint import Hint, Kind, case_label
from runevals.suites.plan import RunPlan, asks_judge, checks_of
from runevals.targets.recorded import RecordedTarget

NO_LOSS = "redteam"  # a category in which an answer that says nothing is a good one
NEXT = 12  # cases whose answers are looked at for others
# Evaluators that look at the form, or at a sign that all is still well: alone they are too little.
FORMS = frozenset({"json_valid", "program", "tool_count"})
# A wrong answer → why it passes, and what would catch it.
ADVICE: Mapping[str, tuple[str, str]] = {
    PROMPT: ("the prompt has what it looks for", "look for what only the answer says"),
    UNRELATED: ("any text will do", "say more precisely what must hold"),
    OTHERS: ("the answers to other cases pass it, too", "look for what only this answer says"),
    UNTOUCHED: ("it holds before anything is done", "look for what the change must add"),
    OTHER_TOOL: ("any tool will do", "name the tool (tools_called), or its arguments (tool_arguments)"),
}
FORM = ("it looks only at the form, or at what was so before", "add a check of what must be said or done")
_KINDS = {"tools": (OTHER_TOOL,), "workspace": (UNTOUCHED,)}
_OF_TEXT = (PROMPT, UNRELATED, OTHERS)


class Unnoticed(Struct, frozen=True, kw_only=True):
    """A wrong answer that no check of code notices; `judged`: a judge looks at it."""

    of: TurnOf
    kind: str
    what: str
    response: Response
    judged: bool


class Strength(Struct, frozen=True, kw_only=True):
    """What a suite notices. Groups are (noticed, wrong) of one case each."""

    cases: int  # that are asked about
    answered: int  # of these, with a right answer
    left_out: int  # turns in which nothing can be wrong in this sense
    by_kind: Mapping[str, tuple[int, int]]
    by_category: Mapping[str, Sequence[tuple[int, int]]]
    unnoticed: Sequence[Unnoticed]
    harmless: tuple[int, int]  # failed, made
    weak: Sequence[Hint]
    strict: Sequence[Hint]  # checks that fail a harmless edit

    @property
    def groups(self) -> list[tuple[int, int]]:
        """The counts of all cases."""
        return list(chain.from_iterable(self.by_category.values()))

    @property
    def noticed(self) -> Estimate:
        """The share of wrong answers that are noticed; those left to a judge do not count."""
        return share_of_groups(self.groups)

    @property
    def wrong_answers(self) -> int:
        """The wrong answers that count."""
        return sum(wrong for _, wrong in self.groups)

    @property
    def to_judge(self) -> list[Unnoticed]:
        """The wrong answers that are left to the judge."""
        return [each for each in self.unnoticed if each.judged]


def strength_of(
    plan: RunPlan,
    sandbox: ScriptRunner,
    known: Mapping[Key, Sequence[Response]],
    untouched: Mapping[int, WorkspaceChanges],
    *,
    runs_code: bool = True,
) -> Strength:
    """Asks every check that needs no judge; `untouched` are the workspaces of cases by their index in the plan.

    Without `runs_code`, checks are left out that are code of the suite.
    """
    return _Asking(sandbox, runs_code=runs_code).of(plan, known, untouched)


class _Asking:
    """The answers that are asked about, and what the checks say of them."""

    def __init__(self, sandbox: ScriptRunner, *, runs_code: bool) -> None:
        self._unasked = frozenset() if runs_code else frozenset({"scripted"})
        self._world = World(target=RecordedTarget({}, ""), judge=None, sandbox=sandbox)
        self._never_fails = NeverFails(sandbox)
        self._reported: set[object] = set()
        self._kinds: dict[str, list[int]] = defaultdict(lambda: [0, 0])
        self._groups: dict[tuple[str, str | None], list[int]] = {}
        self._unnoticed: list[Unnoticed] = []
        self._harmless = [0, 0]
        self._weak: list[Hint] = []
        self._strict: list[Hint] = []

    def of(
        self, plan: RunPlan, known: Mapping[Key, Sequence[Response]], untouched: Mapping[int, WorkspaceChanges]
    ) -> Strength:
        turns = [
            self._turn(case, number, known, untouched.get(index))
            for index, case in enumerate(plan.cases)
            for number in range(1, len(case.turns) + 1)
        ]
        of_use: list[TurnOf] = []
        for place, of in enumerate(turns):
            idle = self._find_idle(of)
            if self._wants_something(of):
                self._ask(of, _others(turns, place), idle)
                of_use.append(of)
        return Strength(
            cases=len({(of.case.suite, of.case.key) for of in of_use}),
            answered=len({(of.case.suite, of.case.key) for of in of_use if of.right is not None}),
            left_out=len(turns) - len(of_use),
            by_kind={kind: (noticed, wrong) for kind, (noticed, wrong) in self._kinds.items()},
            by_category=grouped(
                (category or "", (noticed, wrong)) for (_, category), (noticed, wrong) in self._groups.items()
            ),
            unnoticed=self._unnoticed,
            harmless=(self._harmless[0], self._harmless[1]),
            weak=self._weak,
            strict=self._strict,
        )

    def _wants_something(self, of: TurnOf) -> bool:
        """Whether to do nothing is wrong: not if a tool must not be called, or nothing bad be said."""
        if not of.checks or of.case.category == NO_LOSS:
            return False
        if of.looks_at_text or any(not _is_guard(check) and _family(check) == "workspace" for check in of.checks):
            return True
        return False in self._each(of, nothing(of))

    def _passes(self, check: BuiltCheck, of: TurnOf, response: Response) -> bool | None:
        """What the check says; None without the evidence for it in the answer."""
        place = Place(of.case.key, of.number, 1)
        result = find_safely(check.evaluator, of.subject(response), place, self._world).result
        if isinstance(result, Problem):
            return None
        outcome = outcome_of(result, check.evaluator, check.threshold, negated=check.negated)
        return outcome is Outcome.PASSED if outcome.measured else None

    def _each(self, of: TurnOf, response: Response) -> Iterator[bool | None]:
        """What each check says, one after the other; None of what is not asked."""
        for place, check in enumerate(of.checks):
            yield None if place in of.silent else self._passes(check, of, response)

    def _lets_through(self, of: TurnOf, response: Response) -> bool | None:
        """Whether no check fails it; None if none says anything."""
        outcomes: set[bool | None] = set()
        for outcome in self._each(of, response):
            if outcome is False:
                return False
            outcomes.add(outcome)
        return True if True in outcomes or of.asks_judge else None

    def _turn(
        self, case: Case, number: int, known: Mapping[Key, Sequence[Response]], untouched: WorkspaceChanges | None
    ) -> TurnOf:
        """A turn with its right answer; judges are not asked, nor is code that is not to be run."""
        turn = case.turns[number - 1]
        checks = checks_of(turn)
        silent = frozenset(
            place
            for place, check in enumerate(checks)
            if asks_judge(check.evaluator) or not self._unasked.isdisjoint(families_of(check))
        )
        of = TurnOf(case=case, number=number, turn=turn, checks=checks, silent=silent, untouched=untouched)
        right = (each for each in candidates(case, number, known) if self._lets_through(of, each))
        return replace(of, right=next(right, None))

    def _ask(self, of: TurnOf, others: Sequence[TurnOf], idle: Collection[int]) -> None:
        passed: dict[str, list[Sequence[bool | None]]] = defaultdict(list)
        for kind, response in always_wrong(of, others):
            outcomes = [*self._each(of, response)]
            passed[kind].append(outcomes)
            if of.asks_judge or any(outcome is not None for outcome in outcomes):
                self._count(of, kind, "", response, noticed=False in outcomes)
        for place in range(len(of.checks)):
            if place not in idle:
                self._name(of, place, passed)
        if of.right is None:
            return
        for edit in harmful(of.right, text=of.looks_at_text, tools="tools" in of.families):
            if edit.kind is not None and (through := self._lets_through(of, edit.response)) is not None:
                self._count(of, edit.kind, str(edit), edit.response, noticed=not through)
        self._try_harmless(of, of.right)

    def _count(self, of: TurnOf, kind: str, what: str, response: Response, *, noticed: bool) -> None:
        judged = not noticed and of.asks_judge
        if not noticed:
            self._unnoticed.append(Unnoticed(of=of, kind=kind, what=what, response=response, judged=judged))
        if not judged:
            group = self._groups.setdefault((f"{of.case.suite}\0{of.case.key}", of.case.category), [0, 0])
            for counts in (group, self._kinds[kind]):
                counts[0] += noticed
                counts[1] += 1

    def _try_harmless(self, of: TurnOf, right: Response) -> None:
        ignoring = [_ignores_case(check) for check in of.checks]
        for edit in harmless(right, case=any(ignoring)):
            failing = [
                place
                for place, passes in enumerate(self._each(of, edit.response))
                if passes is False and (ignoring[place] or edit.before != "capitals")
            ]
            self._harmless[0] += bool(failing)
            self._harmless[1] += 1
            for place in failing:
                change = f"'{edit.before}' written '{edit.after}'" if edit.after else f"other {edit.before}"
                message = f"it fails a right answer with {change}; allow that, or say why it matters"
                self._report("too strict", of, place, message)

    def _find_idle(self, of: TurnOf) -> Collection[int]:
        """Names the checks that no answer can fail; their indices."""
        idle = []
        for place, check in enumerate(of.checks):
            location = of.turn.checks[place].location or of.case.location
            reason = self._never_fails.reason(check.evaluator, check.threshold, None)
            if reason is None and of.turn.expected is not None:
                reason = self._never_fails.reason(check.evaluator, check.threshold, of.turn.expected)
                location = of.turn.location or of.case.location
            if reason is not None:
                idle.append(place)
                word = "it never passes" if check.negated else "it always passes"
                message = f"{word}: {reason}; say more precisely what must hold, or remove it"
                self._report("cannot fail", of, place, message, location)
        return idle

    def _name(self, of: TurnOf, place: int, passed: Mapping[str, Sequence[Sequence[bool | None]]]) -> None:
        """Names a check that passes a wrong answer, unless it says what must not be there."""
        check = of.checks[place]
        answers = {kind: [outcomes[place] for outcomes in rows] for kind, rows in passed.items()}
        family = _family(check)
        if _is_guard(check) or (family != "workspace" and answers[EMPTY] != [False]):
            return
        form = all(isinstance(leaf, Bound) or leaf.name in FORMS for leaf in leaves(check.evaluator))
        for kind in _KINDS.get(family, _OF_TEXT):
            rows = passed.get(kind, ())
            if _is_passed(kind, answers) and (any(False not in row for row in rows) or not form):
                why, advice = FORM if form else ADVICE[kind]
                self._report("weak check", of, place, f"it passes {kind}: {why}; {advice}")
                return

    def _report(self, kind: Kind, of: TurnOf, place: int, message: str, location: Location | None = None) -> None:
        """A default check that many cases share is reported once."""
        name = of.checks[place].id
        location = location or of.turn.checks[place].location or of.turn.location or of.case.location
        key = (of.case.suite, "" if kind == "too strict" else str(location), name, kind)
        if key not in self._reported:
            self._reported.add(key)
            label = "" if kind == "cannot fail" else f"{case_label(of.case)}: "
            hints = self._strict if kind == "too strict" else self._weak
            hints.append(Hint(kind=kind, location=location, message=f"{label}{name}: {message}"))


def _others(turns: Sequence[TurnOf], place: int) -> list[TurnOf]:
    """The turns after this one, round the end, of the same suite."""
    of = turns[place]
    after = (turns[(place + step) % len(turns)] for step in range(1, min(NEXT, len(turns))))
    return [other for other in after if other.case.suite == of.case.suite and other.number == of.number]


def _is_passed(kind: str, answers: Mapping[str, Sequence[bool | None]]) -> bool:
    """Whether a check passes answers of this kind, so many that it is no chance."""
    outcomes = answers.get(kind, [])
    match kind:
        case kind if kind == UNRELATED:
            return outcomes == [True] and True in [*answers.get(UNKNOWN, []), *answers.get(OTHERS, [])]
        case kind if kind == OTHERS:
            return len(outcomes) > 1 and all(outcomes)
        case _:
            return outcomes == [True]


def _family(check: BuiltCheck) -> str:
    """The family of its leaves; "" if they are of several."""
    families = set(families_of(check))
    return families.pop() if len(families) == 1 else ""


def _is_guard(check: BuiltCheck) -> bool:
    """Whether it looks at what must not be touched: then an untouched workspace is right."""
    return check.negated or any(isinstance(leaf, PathsCheck) for leaf in leaves(check.evaluator))


def _ignores_case(check: BuiltCheck) -> bool:
    evaluator = check.evaluator
    return getattr(evaluator, "case_sensitive", True) is False or getattr(evaluator, "ignore_case", False) is True


def unnoticed_hints(unnoticed: Sequence[Unnoticed]) -> Iterator[Hint]:
    """One hint for each case: which wrong answers no check notices, and what would."""
    for of_turn in grouped((id(each.of), each) for each in unnoticed if not each.judged).values():
        of = of_turn[0].of
        kinds = Counter(each.what or each.kind for each in of_turn)
        edit = next((each.what for each in of_turn if each.what), "")
        advice = "say what must be there"
        if edit:
            looked_for, _, wrong = edit.removeprefix("without ").strip("'").partition("' → '")
            advice = f"a check that looks for '{one_line(looked_for, 40)}' would"
            if looked_for in wrong:  # the wrong answer has it, too
                advice = f"a check that '{one_line(wrong, 40)}' is not there would"
        message = f"{case_label(of.case)}: no check notices {short_list(list(kinds))}; {advice}"
        yield Hint(kind="not noticed", location=of.turn.location or of.case.location, message=message)
