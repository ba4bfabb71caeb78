"""What patterns of the settings find, taken out of what is written; they are matched where they can do no harm."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from runevals.errors import InvalidSettings
from runevals.evaluators.kinds import Answer, Call, Runs
from runevals.records import ERROR_CODES, CaseReport, RunReport
from runevals.redact import redacted

T = TypeVar("T")

AT_ONCE = 256 * 1024  # characters of text in one call
LONGEST_NAME = 80
LIMIT_S = 5.0  # of such a call: ordinary patterns take some milliseconds


class PatternRedactor:
    """Replaces what any of the patterns matches by `[redacted]`.

    Raises InvalidSettings for a pattern that cannot be used or does not come to an end: then nothing is written.
    """

    def __init__(self, patterns: Sequence[str], sandbox: Runs) -> None:
        self._patterns = tuple(patterns)
        self._sandbox = sandbox

    def require_usable(self) -> None:
        """Tries every pattern on the empty text, which none may match."""
        for pattern in self._patterns:
            on_nothing = Call(kind="regex", code=pattern, arguments={"flags": "u", "text": ""})
            answer = self._sandbox.run(on_nothing)
            if answer.error is not None:
                raise InvalidSettings(f"redact.patterns: {answer.reason}")
            if answer.value:
                raise InvalidSettings(f"redact.patterns: /{pattern}/ matches the empty text, and so every place")

    def __call__(self, text: str) -> str:
        """One text."""
        return self._replacements([text]).get(text, text)

    def within(self, value: T, kept: Iterable[str] = ()) -> T:
        """`value` with every text in it replaced, however deep, but those that are to be `kept` as they are."""
        if not self._patterns:
            return value
        texts: dict[str, None] = {}

        def note(text: str) -> str:
            if type(text) is str:  # members of enumerations say what they say
                texts[text] = None
            return text

        redacted(value, note)
        for text in kept:
            texts.pop(text, None)
        found = self._replacements(texts)
        if not found:
            return value
        return redacted(value, lambda text: found.get(text, text) if type(text) is str else text)

    def within_report(self, report: RunReport) -> RunReport:
        """The same of a report, whose hashes, codes and names of checks stay: by them it is compared."""
        if not self._patterns:
            return report
        whole = replace(report, cases=tuple(map(_with_whole_name, report.cases)))
        made = self.within(whole, set(_identifiers(report)))
        made = replace(made, cases=tuple(map(_with_name_as_before, made.cases, report.cases)))
        if len({(case.suite, case.key) for case in made.cases}) < len(report.cases):
            raise InvalidSettings(
                "redact.patterns make the keys of several cases the same; give them ids that no pattern matches"
            )
        return made

    def _replacements(self, texts: Iterable[str]) -> dict[str, str]:
        """Text → what stands in its place, of those that change."""
        found: dict[str, str] = {}
        if not self._patterns:
            return found
        for some in _parts(texts):
            answer = self._asked(self._patterns, some)
            if answer.error is not None or not isinstance(answer.value, list):
                raise InvalidSettings(self._failure(answer, some))
            found |= {old: new for old, new in zip(some, answer.value, strict=True) if new is not None}
        return found

    def _asked(self, patterns: Sequence[str], texts: Sequence[str]) -> Answer:
        code = json.dumps(list(patterns))
        return self._sandbox.run(Call(kind="redact", code=code, arguments={"texts": texts}, timeout_s=LIMIT_S))

    def _failure(self, answer: Answer, texts: Sequence[str]) -> str:
        """Which pattern it was."""
        told = f"more than {LIMIT_S:g} s" if answer.error == "evaluator_timeout" else answer.reason
        alone = (pattern for pattern in self._patterns if self._asked([pattern], texts).error is not None)
        size = sum(map(len, texts))
        return (
            f"redact.patterns: /{next(alone, self._patterns[0])}/ does not come to an end on {size} characters of "
            f"this run ({told}); nothing was written. Make it simpler: no repetition inside a repetition, say"
        )


def _with_whole_name(case: CaseReport) -> CaseReport:
    """A name that is the beginning of the prompt as all of it: in half a match, no pattern finds anything."""
    line = " ".join(case.attempts[0].turns[0].prompt.split()) if case.attempts and case.attempts[0].turns else ""
    is_cut = case.name.endswith("…") and line.startswith(case.name[:-1])
    return replace(case, name=line) if is_cut else case


def _with_name_as_before(case: CaseReport, before: CaseReport) -> CaseReport:
    """A name that was cut is cut again."""
    is_long = len(case.name) > LONGEST_NAME >= len(before.name)
    return replace(case, name=f"{case.name[: LONGEST_NAME - 1]}…") if is_long else case


def _identifiers(report: RunReport) -> Iterator[str]:
    yield from ERROR_CODES
    if report.run.commit is not None:
        yield report.run.commit
    for suite in report.run.suites:
        yield from (suite.fingerprint, suite.dialect)
    for identity in (report.run.target, report.run.judge):
        if identity is not None:
            yield from (identity.type, *([identity.prompt_hash] if identity.prompt_hash else []))
    for case in report.cases:
        yield from (case.fingerprint, *case.fetched.values())
        for attempt in case.attempts:
            for turn in attempt.turns:
                for result in turn.results:
                    yield from (result.id, result.evaluator)


def _parts(texts: Iterable[str]) -> Iterator[list[str]]:
    part: list[str] = []
    size = 0
    for text in texts:
        if part and size + len(text) > AT_ONCE:
            yield part
            part, size = [], 0
        part.append(text)
        size += len(text)
    if part:
        yield part
