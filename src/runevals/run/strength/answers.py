"""The right answers that are known of a case, and answers that are wrong whatever it asks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, cached_property
from itertools import islice

from msgspec import Struct
from msgspec.structs import replace

from runevals.evaluators.catalogue import BuiltCheck
from runevals.evaluators.kinds import Evaluator, Subject, leaves
from runevals.records import (
    Case,
    Conversation,
    EvaluatorSpec,
    Outcome,
    ProgramProbe,
    Response,
    RunReport,
    ToolCall,
    Turn,
    WorkspaceChanges,
)
from runevals.repository.fresh_copy import CannotCopy
from runevals.run.evaluate import own_prompt
from runevals.run.strength.edits import with_text
from runevals.run.workspaces.folders import NotMade, Workspaces
from runevals.suites.plan import RunPlan, Trial, asks_judge
from runevals.targets import Target
from runevals.targets.recorded import response_of

EMPTY, PROMPT, UNKNOWN, UNRELATED = "the empty answer", "the prompt itself", "'I don't know'", "unrelated text"
OTHERS, UNTOUCHED, OTHER_TOOL = "another case's answer", "the untouched workspace", "calls of another tool"
MOST_OTHERS = 3
_TEXTS = {UNKNOWN: "I don't know.", UNRELATED: "Lorem ipsum dolor sit amet, consectetur adipiscing elit."}
Key = tuple[str, str, int]  # suite, case, turn from 1


class TurnOf(Struct, frozen=True, kw_only=True, dict=True):
    """One turn of a case with its checks, and the right answer if one is known."""

    case: Case
    number: int  # from 1
    turn: Turn
    checks: tuple[BuiltCheck, ...]
    silent: frozenset[int] = frozenset()  # which of them are not asked
    right: Response | None = None
    untouched: WorkspaceChanges | None = None

    def subject(self, response: Response) -> Subject:
        """This answer, as the checks see it."""
        turn = self.turn
        return Subject(
            prompt=own_prompt(turn),
            response=response,
            expected=turn.expected,
            context=turn.context,
            metadata=self.case.metadata,
        )

    @cached_property
    def families(self) -> frozenset[str]:
        """The families of the evaluators of its checks."""
        return frozenset(family for check in self.checks for family in families_of(check))

    @cached_property
    def asks_judge(self) -> bool:
        """Whether one of its checks needs a judge."""
        return any(asks_judge(check.evaluator) for check in self.checks)

    @cached_property
    def texts(self) -> frozenset[str]:
        """The right answer and the expected text, without what does not count."""
        known = (None if self.right is None else self.right.text, self.turn.expected)
        return frozenset(" ".join(text.casefold().split()).strip(" .!") for text in filter(None, known))

    @cached_property
    def contents(self) -> list[EvaluatorSpec]:
        """The checks that look for something of their own, so that who shares one wants the same."""
        checks = zip(self.checks, self.turn.checks, strict=True)
        return [spec for check, spec in checks if not spec.negated and not check.evaluator.idle_without_expected()]

    @property
    def looks_at_text(self) -> bool:
        """Whether a check looks at more than tool calls and files."""
        return not self.families <= {"tools", "workspace"}

    @property
    def is_evasive(self) -> bool:
        """Whether not to know is right here."""
        text = "" if self.right is None else self.right.text.casefold().replace("’", "'")
        return any(
            words in text for words in ("don't know", "do not know", "cannot", "can't", "not sure", "unable")
        )


def families_of(check: BuiltCheck) -> Iterator[str]:
    """The families of the evaluators in it."""
    return (_family_of(type(leaf)) for leaf in leaves(check.evaluator))


@cache
def _family_of(kind: type[Evaluator]) -> str:
    return kind.__module__.rpartition(".")[0].rpartition(".")[2]


def known_answers(
    reports: Iterable[RunReport], target: Target | None, plan: RunPlan
) -> Mapping[Key, Sequence[Response]]:
    """Answers that passed in these results, and those of recorded answers."""
    answers: dict[Key, list[Response]] = defaultdict(list)
    for old in (old for report in reports for old in report.cases):
        for attempt in islice((attempt for attempt in old.attempts if attempt.status is Outcome.PASSED), 2):
            for number, turn in enumerate(attempt.turns, 1):
                answers[old.suite, old.key, number].append(response_of(turn))
    for case in plan.cases if target is not None else ():
        for number in range(1, len(case.turns) + 1):
            assert target is not None  # noqa: S101 - there are no cases without it
            response = target.answer(_conversation(case, number))
            if response.problem is None:
                answers[case.suite, case.key, number].append(response)
    return answers


def candidates(case: Case, number: int, known: Mapping[Key, Sequence[Response]]) -> Iterator[Response]:
    """What may be a right answer: answers that passed, that of the suite, and the expected text."""
    turn = case.turns[number - 1]
    yield from known.get((case.suite, case.key, number), ())
    if turn.recorded is not None:
        yield turn.recorded
    if turn.expected is not None:
        yield Response(text=turn.expected, tool_calls=(), value=None)


def untouched(plan: RunPlan, index: int, workspaces: Workspaces, *, programs: bool) -> WorkspaceChanges | None:
    """The workspace of a case as it is before any answer; None if it has none, or `programs` must not run."""
    case = plan.cases[index]
    spec = case.workspace
    if spec is None or (spec.setup and not programs):
        return None
    trial = Trial(position=index, case=case, attempt=1)
    probes = dict.fromkeys(probe for number in range(len(case.turns)) for probe in plan.probes(trial, number))
    conversation = replace(
        _conversation(case, 1),
        workspace=replace(spec, keep="never"),
        files=case.files,
        probes=tuple(probe for probe in probes if programs or not isinstance(probe, ProgramProbe)),
        thread=f"{index}",
    )
    with suppress(NotMade, OSError, CannotCopy):
        attempt = workspaces.open(conversation)
        try:
            return workspaces.looked_at(attempt, conversation)
        finally:
            workspaces.end(conversation.thread)
    return None


def _conversation(case: Case, number: int) -> Conversation:
    return Conversation(
        suite=case.suite, case=case.key, attempt=1, turn=number, prompt=case.turns[number - 1].prompt
    )


def always_wrong(of: TurnOf, others: Sequence[TurnOf]) -> Iterator[tuple[str, Response]]:
    """(what it is, an answer that is wrong whatever the case asks); `others` are taken in their order."""
    empty = nothing(of)
    yield EMPTY, empty
    for kind, text in ((PROMPT, own_prompt(of.turn)), *_TEXTS.items()):
        if of.looks_at_text and text.strip() and not (kind == UNKNOWN and of.is_evasive):
            yield kind, with_text(empty, text)
    right = empty if of.right is None else of.right
    for other in islice((other for other in others if _differs(of, other)), MOST_OTHERS):
        answer = other.right or empty
        yield OTHERS, replace(empty, text=answer.text, value=answer.value, tool_calls=answer.tool_calls)
    if of.untouched is not None:
        yield UNTOUCHED, replace(right, workspace=of.untouched)
    if "tools" in of.families:
        calls = right.tool_calls or (ToolCall(name="", input={}, output=""),)
        yield OTHER_TOOL, replace(right, tool_calls=tuple(replace(call, name="another_tool") for call in calls))


def nothing(of: TurnOf) -> Response:
    """An answer that says and does nothing; what a target reports of every answer is as in the right one."""
    right = of.right or Response(cost_usd=0.0, latency_s=0.0, turns=1)
    skills = right.skills if right.skills is not None else (of.case.group or "skill",)
    value = None if right.value is None else ""
    return replace(
        right, text="", value=value, tool_calls=(), citations=(), skills=skills, workspace=of.untouched, refused=()
    )


def _differs(of: TurnOf, other: TurnOf) -> bool:
    """Whether the answer to the other is wrong here, as far as one can know."""
    if other.right is None or other.case is of.case or other.turn.prompt == of.turn.prompt:
        return False
    return not any(spec in other.turn.checks for spec in of.contents) and of.texts.isdisjoint(other.texts)
