"""What another tool's results say, before it is scored and compared as a run of ours."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from runevals.lib.nullable import distinct
from runevals.records import CheckResult, Layer, Outcome, Problem, TurnReport
from runevals.records.errors import InvalidDocument
from runevals.suites.fingerprint import key_of_prompts

_OUTCOMES = {None: Outcome.SKIPPED, True: Outcome.PASSED, False: Outcome.FAILED}  # by whether it passed


class ImportedAttempt(Struct, frozen=True, kw_only=True):
    """One execution of a case: what was asked and answered, and the checks."""

    turn: TurnReport
    passed: bool | None = None  # the tool's own verdict; None if that of the checks is all there is

    @property
    def failed(self) -> bool:
        """Whether it failed, or was not measured."""
        if self.turn.error is not None:
            return True
        ended = {result.outcome for result in self.turn.results}
        return not self.passed if self.passed is not None else bool(ended & {Outcome.FAILED, Outcome.ERRORED})


class ImportedCase(Struct, frozen=True, kw_only=True):
    """One case of another tool; `content` is what was asked and checked, as far as the results say it."""

    suite: str
    key: str
    name: str
    place: str  # in the results, for messages
    content: object
    normalised_fingerprint: str | None = None  # of what it keeps if it moves, of one without prompts
    attempts: tuple[ImportedAttempt, ...]
    file: str = ""
    line: int | None = None
    category: str | None = None
    tags: tuple[str, ...] = ()


class ImportedRun(Struct, frozen=True, kw_only=True):
    """The results of one or several files; `stopped` says why the tool did not finish."""

    tool: str
    path: str
    cases: tuple[ImportedCase, ...]
    models: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()
    started_at: datetime | None = None
    duration_s: float = 0.0
    notices: tuple[str, ...] = ()
    stopped: str = ""
    commit: str | None = None  # of the code that was run, if the tool says it
    counted: int = 0  # how many attempts there are in all files together, as this one says


def joined(cases: Iterable[ImportedCase]) -> tuple[ImportedCase, ...]:
    """The cases, each once with all its attempts. Raises InvalidDocument if two different cases share a name."""
    by_key: dict[tuple[str, str], list[ImportedCase]] = {}
    for case in cases:
        same = by_key.setdefault((case.suite, case.key), [])
        same.append(case)
        first = same[0]
        if first.content != case.content:
            raise InvalidDocument(
                f"{case.place}: the case {case.key!r} of {case.suite!r} is also at {first.place}, with other "
                "content; a name must tell a case from all others"
            )
    return tuple(
        replace(same[0], attempts=tuple(attempt for case in same for attempt in case.attempts))
        for same in by_key.values()
    )


def distinct_keys(names: Sequence[tuple[str, str, object]]) -> list[str]:
    """A key for each (author's name or empty, text of the prompt, content): the name, if one content has it.

    Equal contents have equal keys, wherever they are in the file.
    """
    first = [name or key_of_prompts([prompt]) for name, prompt, _ in names]
    contents: dict[str, set[str]] = {}
    for key, (_, _, content) in zip(first, names, strict=True):
        contents.setdefault(key, set()).add(repr(content))
    return [
        key if len(contents[key]) == 1 else f"{key} {key_of_prompts([prompt, repr(content)])}"
        for key, (_, prompt, content) in zip(first, names, strict=True)
    ]


def numbered(results: Sequence[CheckResult]) -> tuple[CheckResult, ...]:
    """The checks of one answer, each with an id of its own."""
    ids = distinct(result.id for result in results)
    return tuple(replace(result, id=id_) for result, id_ in zip(results, ids, strict=True))


def check_result(
    name: str, kind: str, *, passed: bool | None, score: float | None = None, reason: str = "", **more: Any
) -> CheckResult:
    """One check of another tool; `passed` None if it was not measured. `more` are other fields of the record."""
    if passed is None:
        score = share = None
    else:
        share = score if score is not None and 0.0 <= score <= 1.0 else float(passed)
    more.setdefault("layer", Layer.FACT)
    if score not in (None, share):  # on another scale: it only says whether it passed
        more["layer"] = Layer.FACT if more["layer"] is Layer.JUDGE else more["layer"]
    outcome = _OUTCOMES[passed]
    return CheckResult(id=name, evaluator=kind, outcome=outcome, score=share, value=score, reason=reason, **more)


def failed_as_a_whole(attempts: Sequence[ImportedAttempt], says: str) -> tuple[ImportedAttempt, ...]:
    """The attempts of a case that its tool calls failed; none of them passed if none of them failed."""
    if any(attempt.failed for attempt in attempts):
        return tuple(attempts)
    check = check_result("whole case", "verdict", passed=False, reason=f"the results call the whole case {says}")
    return tuple(
        replace(attempt, turn=replace(attempt.turn, results=(*attempt.turn.results, check)), passed=False)
        for attempt in attempts
    )


def errored(result: CheckResult, message: str) -> CheckResult:
    """The check, which could not be measured."""
    problem = Problem(code="judge_failed", message=message)
    return replace(result, outcome=Outcome.ERRORED, score=None, value=None, error=problem)


def unanswered(message: str) -> Problem:
    """Why an attempt has no answer."""
    return Problem(code="target_failed", message=message or "no reason was given")
