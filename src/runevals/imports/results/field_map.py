"""Results of a tool as a table of paths, which says where its rows have what; one reader for all such tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from runevals.imports.results.fields import Json
from runevals.imports.results.opened import OpenedResults
from runevals.imports.results.records import (
    ImportedAttempt,
    ImportedCase,
    ImportedRun,
    check_result,
    errored,
    failed_as_a_whole,
    joined,
    numbered,
    unanswered,
)
from runevals.lib.nullable import if_known, known
from runevals.lib.parsing.canonical import canonical, fingerprint
from runevals.lib.text.numbers import phrase
from runevals.records import CheckResult, Layer, Outcome, ToolCall, TurnReport, cut_name
from runevals.records.errors import EmptyResults, InvalidDocument
from runevals.records.rules import AS_IT_SAYS, Reading
from runevals.suites.dialects.signatures import has_any

Keyed = tuple[str, str, object]  # the key of a case, its name, and what tells it from others
Paths = Mapping[str, str]  # by the field of a record of ours; the path is as `Json.at` reads it
MEASURED = None  # an end that leaves it to the checks whether an attempt passed
BROKEN, NO_SCORE = "the grader failed", "the scorer gave no score"
MOST_WORDS = 8  # that a message names
STATED = "the results do not say which check failed"
PLAIN = "main"  # a variant that is none
# How a test ended, as runners and tables write it.
ENDS = {
    **dict.fromkeys(("notrun", "disabled", "skipped", "skip", "ignored", "pending", "untested"), Outcome.SKIPPED),
    **dict.fromkeys(("not_run", "not run", "inconclusive", "n/a"), Outcome.SKIPPED),
    **dict.fromkeys(("failed", "fail", "failure", "failing"), Outcome.FAILED),
    **dict.fromkeys(("error", "errored", "broken", "undefined", "interrupted", "aborted"), Outcome.ERRORED),
    **dict.fromkeys(("timedout", "timed_out", "timeout", "canceled", "cancelled", "lost"), Outcome.ERRORED),
    **dict.fromkeys(("crash", "crashed", "killed", "fatal", "abort", "blocked"), Outcome.ERRORED),
}
PASSED = {Outcome.PASSED: True, Outcome.FAILED: False}  # whether it passed; of other ends, nothing is known
PASSES = (
    *("run", "passed", "pass", "passing", "ok", "success", "successful", "succeeded"),
    *("completed", "complete", "finished", "executed", "done", "true", "0"),
)
# What a field of a turn is, of the fields that a table may name beside `output` and `model`.
_TURN: Mapping[str, Callable[[Json, str], Any]] = {
    "prompt": lambda one, path: one.at(path).text_or_none or "",
    "expected": lambda one, path: one.at(path).text_or_none,
    "latency_s": Json.seconds_at,
    "cost_usd": lambda one, path: one.at(path).amount_or_none,
    "input_tokens": lambda one, path: one.at(path).count_or_none,
    "output_tokens": lambda one, path: one.at(path).count_or_none,
    "cached": lambda one, path: one.at(path).value is True,
}


class Words(Struct, frozen=True):
    """What the words at a path say of an attempt or a check; `*` is any other, which is refused without it."""

    at: str = ""
    ends: Mapping[str, Outcome | None] = {}

    def end(self, of: Json) -> Outcome | None:
        """What its word says; MEASURED if it has none. Raises InvalidDocument for a word that is not known."""
        word = of.at(self.at)
        if word.value is None:
            return MEASURED
        key = next((one for one in (str(word.value).strip().casefold(), "*") if one in self.ends), None)
        if key is None:
            more = phrase(len(self.ends) > MOST_WORDS, " …")
            raise word.wrong(f"one of {', '.join([*self.ends][:MOST_WORDS])}{more}")
        return self.ends[key]


class Limit(Struct, frozen=True):
    """The score from which a measure passes, or with `lower` up to which."""

    at: float = 0.5
    lower: bool = False

    def passes(self, score: float) -> bool:
        """Whether a score is on the right side; the limit itself is."""
        return score <= self.at if self.lower else score >= self.at

    def share(self, score: float) -> float:
        """The score as 0 to 1, 1 the best; with a limit above 1, it is 0.5 at the limit and never more than 1."""
        part = min(max(score, 0.0), 1.0) if self.at <= 1 else max(score, 0.0) / (max(score, 0.0) + self.at)
        return 1 - part if self.lower else part

    def __str__(self) -> str:
        return f"at {'most' if self.lower else 'least'} {self.at:g}"


class Scales(Struct, frozen=True):
    """What the scores of a file are, by the names of their checks: shares, or on a scale that nothing tells."""

    graded: frozenset[str] = frozenset()  # any is between 0 and 1: their size is compared
    unknown: frozenset[str] = frozenset()  # any is not, and there is no limit: they are not compared


class CheckMap(Struct, frozen=True, kw_only=True):
    """Where the checks of an attempt are: a list, one object, or with `by_name` an object with one by each key."""

    at: str
    by_name: bool = False
    label: str = ""  # the name of the only one
    name: str = "name"
    kind: str = ""  # what the evaluator is called; its name if there is nothing
    unnamed: str = "grader"  # what one is called that has neither
    sort: str = ""  # tells with the kind whether a model graded
    judged: tuple[str, ...] = ()  # how such kinds and sorts begin
    behavior: tuple[str, ...] = ()  # and those of checks on what the target did
    passed: str = ""
    verdict: Words = Words()
    score: str = ""
    limit: Limit | None = None  # of the score, if nothing else says what passes
    scale: Literal["pass", "size", "share", "limit"] = "pass"  # whether and how the size of a score is compared
    reason: str = ""  # a text, or assertions of which those that failed are named
    weight: str = ""
    informs: bool = False  # one of weight 0 decides nothing
    end: Words = Words()  # whether it could be made
    error: str = ""
    unfinished: str = ""  # why a check that says neither passed nor failed was not made
    threshold: str = ""
    judge: str = ""  # the model that graded
    cost: str = ""
    statement: str = ""  # what it says, in full

    def read(self, attempt: Json, scales: Scales) -> Iterator[CheckResult]:
        """The checks of an attempt. Raises InvalidDocument."""
        return (self._check(name, entry, scales) for name, entry in self._entries(attempt))

    def scores(self, attempt: Json) -> Iterator[tuple[str, float]]:
        """The scores for which nothing says what scale they are on, with the names of their checks."""
        if self.scale == "share":
            for name, entry in self._entries(attempt):
                if (score := entry.at(self.score).measure_or_none) is not None:
                    yield name, score

    def _entries(self, attempt: Json) -> Iterator[tuple[str, Json]]:
        at = attempt.at(self.at)
        for own, entry in at.members if self.by_name else [("", one) for one in at.each]:
            names = (entry.at(path).name_or_empty for path in (self.name, self.kind))
            yield self.label or next(filter(None, (next(names), own, next(names))), self.unnamed), entry

    def _check(self, name: str, entry: Json, scales: Scales) -> CheckResult:
        kind, sort = entry.at(self.kind).name_or_empty, entry.at(self.sort).name_or_empty
        weight, score = entry.at(self.weight).amount_or_none, entry.at(self.score).measure_or_none
        informs = self.informs and weight == 0
        end = self.end.end(entry)
        error = entry.at(self.error).text_or_none or (BROKEN if end is Outcome.ERRORED else "")
        judge = entry.at(self.judge).name_or_empty or None
        unmade = informs or name in scales.unknown or Outcome.SKIPPED in (end, self.verdict.end(entry))
        limit = self.limit if self.scale == "limit" and score is not None else None
        sized = self.scale == "size" and (
            score not in (None, 0, 1) or (judge is not None and (error or score is not None))
        )
        judged = sized or limit is not None or name in scales.graded
        reason = _reason(entry.at(self.reason))
        if name in scales.unknown:
            reason = f"{entry.at(self.score).text_or_none}: the scores of {name} are not between 0 and 1"
        elif limit is not None:
            reason = f"{score:g}, {limit} passes"
        elif self.scale in ("share", "limit") and score is None:
            reason = NO_SCORE
        result = check_result(
            cut_name(name),
            kind or name,
            passed=None if unmade else self._passed(entry, score),
            score=score if limit is None else if_known(limit.share, score),
            reason=reason,
            layer=Layer.JUDGE if judged else self._layer(kind, sort),
            weight=weight or 1.0,
            threshold=entry.at(self.threshold).number_or_none,
            judge_model=judge,
            cost_usd=entry.at(self.cost).amount_or_none,
            details={"statement": entry.at(self.statement).value} if self.statement else {},
        )
        if self.unfinished and entry.at(self.passed).value is None and not unmade:
            error = error or self.unfinished
        return errored(result, error) if error and not informs else result

    def _passed(self, entry: Json, score: float | None) -> bool | None:
        end = self.verdict.end(entry)
        if end is not MEASURED:
            return PASSED.get(end)
        if self.passed:
            flag = entry.at(self.passed)
            return flag.flag_or_none if self.unfinished else flag.flag
        return if_known(lambda limit: if_known(limit.passes, score), self.limit)

    def _layer(self, *kinds: str) -> Layer:
        layers = {Layer.JUDGE: self.judged, Layer.BEHAVIOR: self.behavior}
        fitting = (one for one, starts in layers.items() if any(kind.startswith(starts) for kind in kinds))
        return next(fitting, Layer.FACT)


class FieldMap(Struct, frozen=True, kw_only=True):
    """One tool's results."""

    NAME: str
    marks: tuple[str, ...]  # what only its document, or each row, has; `|` between those of which one is enough
    version: str = ""
    versions: tuple[str, ...] = ()
    lists: tuple[str, ...] = ()  # of rows, in a document; if there is none, the document is the only row
    if_empty: str = EmptyResults.why  # what to do about a document without rows
    lines: bool = False  # rows are also JSON Lines
    rows_of: Callable[[Sequence[Json], Path], Sequence[Json]] = lambda rows, _: rows  # which are rows, completed
    suite: str = ""  # of a document
    case: Paths  # of a row: `key`, and maybe suite, name, file, category, variant, and tags
    content: tuple[str, ...] = ()  # what tells a case besides its key
    keyed: Callable[[Sequence[Json]], Sequence[Keyed]] | None = None  # else by these paths
    runs: str = ""  # a list of attempts in a row
    only_runs: bool = False  # a row without any was not run
    whole: Words = Words()  # what a row says of its attempts together
    number: str = ""  # of an attempt among those of its case
    planned: str = ""  # how many attempts a case has in a whole file
    end: Words = Words()  # whether an attempt was measured, and of some tools whether it passed
    verdict: Words = Words()
    passed: str = ""
    score: str = ""
    limit: Limit | None = None
    error: str = ""
    errors_decide: bool = False  # an attempt with an error was not measured, if no word says otherwise
    ungraded: str = ""  # why an attempt without a check was not measured; if it is empty, it has none on purpose
    alone: str = "score"  # the name of the only check, if only the attempt says whether it passed
    follows_prompts: bool = False  # a case with another key and the same prompt is renamed
    only_failure: bool = False  # an attempt without checks that passed has none, and is left out
    turn: Paths = {}  # of a TurnReport
    calls: Paths = {}  # `at` a list with calls of tools, and their name, input and output
    checks: tuple[CheckMap, ...] = ()
    unmade: tuple[CheckMap, ...] = ()  # those of an attempt without an answer
    counted: tuple[str, ...] = ()  # added up, how many attempts all files together have; of a document
    run: Paths = {}  # models, judges, started_at, duration_s; of the document
    why_stopped: Callable[[Sequence[Json]], str] = lambda _rows: ""
    how_to_scale: str = ""
    notice: Callable[[Sequence[Json]], str] = lambda _rows: ""

    def recognises(self, file: OpenedResults) -> bool:
        """Whether its document, or its lines, have the marks."""
        if self.lines and file.rows is not None:
            rows = self._rows(file) if all(isinstance(row.value, dict) for row in file.rows) else ()
            return bool(rows) and all(self._is_marked(row) for row in rows)
        return file.document is not None and self._is_marked(file.document)

    def _is_marked(self, value: Json) -> bool:
        return all(has_any(value.value, mark) for mark in self.marks)

    def read(self, file: OpenedResults, _: Reading = AS_IT_SAYS) -> ImportedRun:
        """The results. Raises InvalidDocument with the place."""
        document = file.document or Json({}, file.display_path)
        self._require_version(document)
        rows, all_rows = self._rows(file), file.rows or (document,)
        self._require_distinct(rows)
        scales = self._scales(rows)
        models = tuple(
            dict.fromkeys(filter(None, (row.at(self.turn.get("model", "")).name_or_empty for row in rows)))
        )
        suite = _name(document.at(self.suite)) or self.NAME
        keyed = self.keyed(rows) if self.keyed else [self._keyed(row) for row in rows]
        pairs = [(row, self._suite(row, suite, several=len(models) > 1 and not self.keyed)) for row in rows]
        cases = joined(self._case(*pair, one, scales) for pair, one in zip(pairs, keyed, strict=True))
        times = known(row.at(self.run.get("times", "")).moment_or_none for row in rows)
        starts = known(row.at(self.run.get("started_at", "")).moment_or_none for row in (document, *all_rows))
        began = min(starts or times, default=None)
        unscaled = f"not compared, as scores are not between 0 and 1: {{}}{self.how_to_scale}"
        took = document.seconds_at(self.run.get("duration_s", ""))
        return ImportedRun(
            tool=self.NAME,
            path=file.display_path,
            cases=cases,
            models=_names([document], self.run.get("models", "")) or models,
            judges=_names([document, *rows], self.run.get("judges", "")) or _judges(cases),
            started_at=began,
            duration_s=took or ((max(times) - began).total_seconds() if times and began else 0.0),
            notices=tuple(
                filter(None, (self.notice(all_rows), phrase(", ".join(sorted(scales.unknown)), unscaled)))
            ),
            stopped=self.why_stopped(all_rows) or self._lost(rows, cases),
            counted=sum(document.at(path).count_or_none or 0 for path in self.counted),
        )

    def _require_version(self, document: Json) -> None:
        version = document.at(self.version)
        if version.value is not None and str(version.value).partition(".")[0] not in self.versions:
            raise version.wrong(f"a version of {self.NAME}'s results that we read ({', '.join(self.versions)})")

    def _rows(self, file: OpenedResults) -> Sequence[Json]:
        """The rows of a file, or of the lists in its document. Raises InvalidDocument for lists without any."""
        if file.document is None or file.rows is not None:
            return self.rows_of(file.rows or (), file.path)
        if not self.lists:
            return self.rows_of([file.document], file.path)
        rows = self.rows_of([row for path in self.lists for row in file.document.at(path).entries], file.path)
        if not rows:
            what = re.split(r"[|.]", self.lists[0])[-1]
            raise EmptyResults(f"{file.document.at(self.lists[0]).place} has no {what}{self.if_empty}")
        return rows

    def _require_distinct(self, rows: Sequence[Json]) -> None:
        """Raises InvalidDocument if an attempt of a case is there twice."""
        places: dict[object, Json] = {}
        for row in rows if self.number else ():
            names = [row.at(self.case.get(name, "")).text_or_none for name in ("suite", "variant", "key")]
            names += [row.at(path).text_or_none for path in (self.turn.get("model", ""), self.number)]
            other = places.setdefault(tuple(names), row)
            if other is not row and names[-1] is not None:
                raise InvalidDocument(f"{row.place}: attempt {names[-1]} of {names[2]!r} is also at {other.place}")

    def _scales(self, rows: Sequence[Json]) -> Scales:
        pairs = [pair for row in rows for map_ in self.checks for pair in map_.scores(row)]
        unknown = frozenset(name for name, score in pairs if not 0 <= score <= 1)
        return Scales(frozenset(name for name, score in pairs if score not in (0, 1)) - unknown, unknown)

    def _lost(self, rows: Sequence[Json], cases: Sequence[ImportedCase]) -> str:
        """Why the file is not whole: a case has fewer attempts than its rows say."""
        planned = {self._keyed(row)[0]: row.at(self.planned).count_or_none or 0 for row in rows if self.planned}
        for case in cases:
            if len(case.attempts) < planned.get(case.key, 0):
                return f"{case.key} has {len(case.attempts)} of {planned[case.key]} attempts in the results"
        return ""

    def _keyed(self, row: Json) -> Keyed:
        key = row.at(self.case["key"]).text
        content = [row.at(path).value for path in self.content]
        return (
            key,
            row.at(self.case.get("name", "")).name_or_empty or key,
            canonical([key, *content]) if content else key,
        )

    def _suite(self, row: Json, suite: str, *, several: bool) -> str:
        """Its suite; that of its variant, or of its model if the file has several."""
        names = [row.at(self.case.get(name, "")).name_or_empty for name in ("suite", "variant")]
        model = row.at(self.turn.get("model", "")).name_or_empty if several else ""
        of = ", ".join(name for name in (names[1], model) if name not in ("", PLAIN))
        return f"{names[0] or suite} ({of})" if of else names[0] or suite

    def _case(self, row: Json, suite: str, keyed: Keyed, scales: Scales) -> ImportedCase:
        attempts = self._attempts(row, scales)
        question = [attempts[0].turn.prompt, attempts[0].turn.expected]
        return ImportedCase(
            suite=suite,
            key=keyed[0],
            name=cut_name(keyed[1]),
            place=row.place,
            content=keyed[2],
            normalised_fingerprint=fingerprint(question) if self.follows_prompts and any(question) else None,
            file=row.at(self.case.get("file", "")).name_or_empty,
            category=row.at(self.case.get("category", "")).name_or_empty or None,
            tags=tuple(tag.text for tag in row.at(self.case.get("tags", "")).entries),
            attempts=attempts,
        )

    def _attempts(self, row: Json, scales: Scales) -> tuple[ImportedAttempt, ...]:
        """The attempts; what only the row says, such as time and tokens, is of an only attempt."""
        ones = row.at(self.runs).entries
        if len(ones) == 1:
            ones = [Json({**row.fields, **ones[0].fields}, ones[0].file, ones[0].pointer)]
        ends = [self._end(one) for one in ones]
        end = MEASURED if self.only_runs else self._end(row)
        if end is Outcome.ERRORED and end not in ends:  # and which one failed is not said
            ends = [end] * len(ones)
        attempts = [self._attempt(one, row, end, scales) for one, end in zip(ones, ends, strict=True)]
        if not ones:
            return (self._attempt(row, row, Outcome.ERRORED if self.only_runs else end, scales),)
        if self.whole.end(row) is Outcome.FAILED:
            return failed_as_a_whole(attempts, row.at(self.whole.at).name_or_empty)
        return tuple(attempts)

    def _end(self, one: Json) -> Outcome | None:
        """What the words say; without a word, an error."""
        unworded = self.errors_decide and one.at(self.end.at).value is None and one.at(self.error).value
        return Outcome.ERRORED if unworded else self.end.end(one)

    def _attempt(self, one: Json, row: Json, end: Outcome | None, scales: Scales) -> ImportedAttempt:
        error = one.at(self.error).text_or_none or row.at(self.error).text_or_none or ""
        if end is Outcome.ERRORED:
            error = error or one.at(self.end.at).name_or_empty
        measured = end not in (Outcome.ERRORED, Outcome.SKIPPED)
        results = self._checks(one, end, scales) if measured else _read_all(self.unmade, one, scales)
        if measured and self.ungraded and all(result.reason == NO_SCORE for result in results):
            end, measured = Outcome.ERRORED, False
        if end is Outcome.SKIPPED:
            results = [check_result("status", "status", passed=None, reason=error)]
        answer = one.at(self.turn.get("output", "")) if measured else Json(None, one.file)
        fields = {name: read(one, self.turn[name]) for name, read in _TURN.items() if name in self.turn}
        turn = TurnReport(
            **{"prompt": "", "expected": None, **fields},
            output=answer.text_or_none,
            value=answer.value if isinstance(answer.value, dict | list) else None,
            results=numbered(results),
            model=row.at(self.turn.get("model", "")).name_or_empty or None,
            tool_calls=self._calls(one),
            error=unanswered(error or self.ungraded) if end is Outcome.ERRORED else None,
        )
        decided = measured and not any(result.error for result in results)
        return ImportedAttempt(turn=turn, passed=self._passed(one, end) if decided else None)

    def _passed(self, one: Json, end: Outcome | None) -> bool | None:
        """The tool's own verdict; None if its checks are all there is. Raises InvalidDocument for no score."""
        end = self.verdict.end(one) or end
        if end is not MEASURED:
            return PASSED.get(end)
        if (flag := one.at(self.passed).flag_or_none) is not None:
            return flag
        if self.limit is None:
            return None
        score = one.at(self.score).measure_or_none
        if score is None:
            raise one.at(self.score).wrong("a score")
        return self.limit.passes(score)

    def _checks(self, one: Json, end: Outcome | None, scales: Scales) -> list[CheckResult]:
        """The checks; one that says the verdict if there is none."""
        checks = _read_all(self.checks, one, scales)
        passed = None if checks else self._passed(one, end)
        score = one.at(self.score).measure_or_none
        if passed is None or (passed and self.only_failure):
            return checks
        reason = STATED if self.only_failure else ""
        return [check_result(self.alone, self.alone, passed=passed, score=score, reason=reason)]

    def _calls(self, one: Json) -> tuple[ToolCall, ...] | None:
        calls = one.at(self.calls.get("at", ""))
        if calls.value is None:
            return None
        return tuple(
            ToolCall(
                name=name,
                input=call.at(self.calls.get("input", "")).value,
                output=call.at(self.calls.get("output", "")).text_or_none,
            )
            for call in calls.entries
            if (name := call.at(self.calls["name"]).name_or_empty)
        )


def _name(value: Json) -> str:
    """A name; empty for a `<model-name>` that is left to be filled in."""
    name = value.name_or_empty
    return "" if name.startswith("<") and name.endswith(">") else name


def _names(values: Sequence[Json], path: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, (_name(value.at(path)) for value in values))))


def _read_all(maps: Sequence[CheckMap], one: Json, scales: Scales) -> list[CheckResult]:
    return [check for map_ in maps for check in map_.read(one, scales)]


def _judges(cases: Sequence[ImportedCase]) -> tuple[str, ...]:
    results = (result for case in cases for one in case.attempts for result in one.turn.results)
    return tuple(dict.fromkeys(filter(None, (result.judge_model for result in results))))


def _reason(text: Json) -> str:
    """A text; of assertions, those that failed."""
    if not isinstance(text.value, list):
        return text.text_or_none or ""
    failed = [one for one in text.entries if one["passed"].value is False]
    texts = [(one["text"].text_or_none, one["evidence"].text_or_none) for one in failed]
    return "; ".join(f"{what} ({evidence})" if evidence else f"{what}" for what, evidence in texts)
