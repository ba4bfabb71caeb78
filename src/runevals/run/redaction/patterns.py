"""Redacts what patterns of the settings match; they run in the sandbox, so that they cannot hang the run."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TypeVar

from msgspec.structs import replace

from runevals.lib.parsing.limits import LIMITS
from runevals.lib.text.secrets import redacted
from runevals.records import ERROR_CODES, LONGEST_NAME, CaseReport, RunReport, cut_name, one_line
from runevals.records.errors import InvalidSettings
from runevals.records.script import Call, ScriptRunner
from runevals.verdict.matching import turns_of

T = TypeVar("T")

AT_ONCE = 256 * 1024  # characters of text in one call
LIMIT_S = 3.0  # of such a call, of one text or many: ordinary patterns take some milliseconds
MARK = "[redacted]"
_spent_s = defaultdict[tuple[str, ...], float](float)  # on texts on which these patterns did not come to an end


class PatternRedactor:
    """Replaces what any of the patterns matches by `[redacted]`.

    A text on which they do not come to an end is replaced as a whole; after some seconds of that they are given
    up for this run, and so is every text but the names that they were tried on before. Raises InvalidSettings for
    a pattern that cannot be used.
    """

    def __init__(self, patterns: Sequence[str], sandbox: ScriptRunner) -> None:
        self._patterns = tuple(patterns)
        self._sandbox = sandbox
        self._endless: set[str] = set()  # texts that were replaced as a whole
        self._names: dict[str, str] = {}  # short texts, and what they are without the patterns

    def require_usable(self) -> None:
        """Checks that no pattern matches the empty text."""
        for pattern in self._patterns:
            answer = self._sandbox.run(Call(kind="regex", code=pattern, arguments={"flags": "u", "text": ""}))
            if answer.error is not None:
                raise InvalidSettings(f"redact.patterns: {answer.reason}")
            if answer.value:
                raise InvalidSettings(f"redact.patterns: /{pattern}/ matches the empty text, and so every place")

    def __call__(self, text: str) -> str:
        """One text."""
        return self._replacements([text]).get(text, text)

    def within(self, value: T, unchanged: Iterable[str] = ()) -> T:
        """`value` with every text in it replaced, at any depth, except those in `unchanged`."""
        if not self._patterns:
            return value
        texts: dict[str, None] = {}

        def note(text: str) -> str:
            if type(text) is str:  # members of enumerations say what they say
                texts[text] = None
            return text

        redacted(value, note)
        for text in unchanged:
            texts.pop(text, None)
        replacements = self._replacements(texts)
        if not replacements:
            return value
        return redacted(value, lambda text: replacements.get(text, text) if type(text) is str else text)

    def within_report(self, report: RunReport) -> RunReport:
        """Redacts a report, except hashes, codes and names of checks, which comparisons need.

        Names of checks in the results of another tool may be sentences of a suite: they are replaced, too.
        """
        if not self._patterns:
            return report
        whole = replace(report, cases=tuple(map(_with_whole_name, report.cases)))
        replaced = self.within(whole, set(_identifiers(report)))
        replaced = replace(replaced, cases=tuple(map(_with_name_as_before, replaced.cases, report.cases)))
        _require_apart([(case.suite, case.key) for case in replaced.cases])
        if self._endless:
            replaced = replace(
                replaced, run=replace(replaced.run, notices=(*replaced.run.notices, self._notice()))
            )
        return replaced

    def require_apart(self, keys: Sequence[tuple[str, str]]) -> None:
        """Raises InvalidSettings if different cases would have the same suite and key in the report."""
        _require_apart(self.within(list(keys), ERROR_CODES))

    def _replacements(self, texts: Collection[str]) -> dict[str, str]:
        """Text → replacement, for the texts that change. Those without an end are not tried again."""
        replacements = {text: self._names.get(text, MARK) for text in texts if text in self._endless}
        for some in _parts(text for text in texts if text not in replacements):
            replaced = self._replace(some)
            if replaced is None:  # then not all together, but one by one
                replaced = [self._alone(text) for text in some]
            replacements |= {old: new for old, new in zip(some, replaced, strict=True) if new is not None}
            self._names |= {old: replacements.get(old, old) for old in some if len(old) <= LONGEST_NAME}
        return replacements

    def _alone(self, text: str) -> str | None:
        replaced = self._replace([text])
        if replaced is not None:
            return replaced[0]
        self._endless.add(text)
        return self._names.get(text, MARK)

    def _replace(self, texts: Sequence[str]) -> list[str | None] | None:
        """The replacement of each text, None if it is unchanged; None for all if the patterns take too long."""
        if _spent_s[self._patterns] >= LIMITS.patterns_s:
            return None
        code = json.dumps(self._patterns)
        answer = self._sandbox.run(Call(kind="redact", code=code, arguments={"texts": texts}, timeout_s=LIMIT_S))
        if answer.error == "evaluator_syntax":
            raise InvalidSettings(f"redact.patterns: {answer.reason}")
        if answer.error is None and isinstance(answer.value, list):
            return answer.value
        _spent_s[self._patterns] += LIMIT_S
        return None

    def _notice(self) -> str:
        return (
            f"redact.patterns do not come to an end on {len(self._endless)} of this run's texts (the longest has "
            f"{max(map(len, self._endless))} characters), which were replaced as a whole; make them simpler: "
            "{1,64} instead of +, no repetition inside a repetition"
        )


def _require_apart(keys: Sequence[tuple[str, str]]) -> None:
    if len(set(keys)) < len(keys):
        raise InvalidSettings(
            "redact.patterns make the keys of several cases the same; give them ids that no pattern matches"
        )


def _with_whole_name(case: CaseReport) -> CaseReport:
    """A name that is the beginning of the prompt as the whole prompt, as a pattern cannot match a part."""
    line = one_line(next((turn.prompt for turn in turns_of(case)), ""))
    beginning = case.name.removesuffix("…")
    at = -1 if beginning == case.name else line.find(beginning)  # what is sent may have more before the prompt
    return case if at < 0 else replace(case, name=line[at:])


def _with_name_as_before(case: CaseReport, before: CaseReport) -> CaseReport:
    """A name that was cut is cut again."""
    is_long = len(case.name) > LONGEST_NAME >= len(before.name)
    return replace(case, name=cut_name(case.name)) if is_long else case


def _identifiers(report: RunReport) -> Iterator[str]:
    yield from ERROR_CODES
    yield from filter(None, (report.run.commit, report.run.uncommitted))
    for suite in report.run.suites:
        yield from (suite.fingerprint, suite.dialect)
    for identity in filter(None, (report.run.target, report.run.judge)):
        yield from filter(None, (identity.type, identity.prompt_hash))
    for case in report.cases:
        yield from (case.fingerprint, case.content, *case.fetched.values())
        for attempt in () if report.run.of_tool else case.attempts:
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
