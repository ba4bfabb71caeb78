"""The versioned eval document, its older shapes, and single bare items."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from runevals.lib.parsing.canonical import fingerprint
from runevals.lib.parsing.schema import Complaint, complaints
from runevals.lib.parsing.source import Place, Source, pointer
from runevals.records import Case, Citation, EvaluatorSpec, Response, Suite, SuiteProblem, Turn, cut_name, one_line
from runevals.suites.dialects.checking import (
    duplicate_keys,
    evaluator_problems,
    expected_problems,
    in_order,
    is_misspelt,
    needs_expected,
    sound,
    spec_at,
)
from runevals.suites.dialects.options import LoadOptions
from runevals.suites.fingerprint import case_fingerprints, key_of_prompts

NAME = "eval-document"
CURRENT_VERSION = "1.2.0"
NEWEST_KNOWN = (1, 11, 0)
CLOSED_SINCE = (1, 2, 0)  # older documents may carry keys of their own
EVALUATORS_SINCE = (1, 2, 0)
SYSTEM_DEFAULTS: Mapping[str, Mapping[str, object]] = {"Relevance": {}, "Coherence": {}}
WITHOUT_A_JUDGE: Mapping[str, Mapping[str, object]] = {"PartialMatch": {}}  # for prompts that are in no file
_CHECKS = ("default_evaluators", "evaluators", "evaluators_mode")

Version = tuple[int, int, int]
Shape = Literal["versioned", "unversioned", "array", "parallel", "item"]


@dataclass(frozen=True, slots=True)
class Entry:
    """An evaluator entry that applies to a turn: its options, and where they stand in the file."""

    options: Mapping[str, object]
    place: Place | None  # None for the defaults that no file names


def recognises(value: object) -> bool:
    """Whether `value` has one of the shapes of this dialect."""
    return shape_of(value) is not None


def shape_of(value: object) -> Shape | None:
    """Which shape `value` has, None if none."""
    if isinstance(value, list):
        is_rows = value and all(isinstance(item, dict) and "input" in item for item in value)
        return None if is_rows else "array"
    if not isinstance(value, dict):
        return None
    if "schemaVersion" in value:
        return "versioned"
    if "items" in value:
        return "unversioned"
    if "prompts" in value:
        return "parallel"
    return "item" if {"prompt", "turns", "expected_response", "testId"} & value.keys() else None


def upgraded(value: Any) -> dict[str, Any]:
    """Any shape → the versioned one, the items untouched."""
    match shape_of(value):
        case "array":
            return {"schemaVersion": CURRENT_VERSION, "items": value}
        case "unversioned":
            return {"schemaVersion": CURRENT_VERSION, **value}
        case "parallel":
            rest = {key: item for key, item in value.items() if key not in ("prompts", "expected_responses")}
            return {"schemaVersion": CURRENT_VERSION, **rest, "items": _zipped(value)}
        case "item":
            return {"schemaVersion": CURRENT_VERSION, "items": [value]}
        case _:
            return dict(value)


def as_text(document: Mapping[str, Any]) -> str:
    """The text of a file that holds this document."""
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def key_of(item: Mapping[str, Any]) -> str:
    """What base and head are matched by."""
    key: str | None = item.get("testId") or item.get("name")
    return key or key_of_prompts(turn["prompt"] for turn in item.get("turns", [item]))


def version_of(declared: object) -> Version | None:
    """Three numbers, None where `declared` is no such version."""
    match = re.fullmatch(r"(\d+)\.(\d+)\.(\d+)", declared) if isinstance(declared, str) else None
    return None if match is None else (int(match[1]), int(match[2]), int(match[3]))


def load(source: Source, options: LoadOptions) -> Suite:
    """Document → suite, with every problem found."""
    return _Loader(source, options).suite()


@dataclass
class _Loader:
    source: Source
    options: LoadOptions
    problems: list[SuiteProblem] = field(default_factory=list)
    checked: set[Place] = field(default_factory=set)
    specs: dict[tuple[str, Place | None], EvaluatorSpec] = field(default_factory=dict)
    needing: dict[tuple[str, Place | None], bool] = field(default_factory=dict)
    context: str | None = None

    def suite(self) -> Suite:
        self.shape = shape_of(self.source.value)
        document = upgraded(self.source.value)
        self.version = self._version(document)
        self._shape_notices()
        whole = self._sound(document)
        cases = [self._case(document, index) for index in whole]
        if cases:
            self._version_notice()
        self.problems += duplicate_keys(cases, lambda number: self._pointer_of(whole[number]))
        return Suite(
            name=self.source.path,
            path=self.source.path,
            dialect=NAME,
            cases=tuple(cases),
            fingerprint=fingerprint([case.fingerprint for case in cases]),
            description=document.get("description"),
            legacy=self.shape != "versioned",
            problems=in_order(self.problems),
        )

    # -- the document as a whole

    def _sound(self, document: Mapping[str, Any]) -> Sequence[int]:
        """Tells what the schema says; the items that it has nothing against, none where all may be wrong."""
        places: list[Place] = [()] if _has_error(self.problems) else []
        for complaint in complaints("runevals.suites.dialects", NAME, document):
            before = len(self.problems)
            self._complain(complaint)
            places += [complaint.place] if _has_error(self.problems[before:]) else []
        return sound(places, ("items",), document.get("items"))

    def _version(self, document: Mapping[str, Any]) -> Version:
        declared = document.get("schemaVersion")
        version = version_of(declared)
        if version is None:
            message = f"schemaVersion must be three numbers such as {CURRENT_VERSION}, but is {declared!r}"
            self._error(("schemaVersion",), message)
            return NEWEST_KNOWN
        if version[0] != 1:
            message = f"schemaVersion {declared} is not read; we read 1.x.y, such as {CURRENT_VERSION}"
            self._error(("schemaVersion",), message)
        return version

    def _shape_notices(self) -> None:
        if self.shape in ("array", "unversioned", "parallel", "item"):
            message = (
                f"has no schemaVersion; read as {CURRENT_VERSION} "
                f"(`runevals upgrade {self.source.path}` writes it so)"
            )
            self.problems.append(self._problem((), message, "notice"))
        if self.shape == "parallel":
            value: Any = self.source.value
            prompts, expected = value.get("prompts"), value.get("expected_responses")
            if isinstance(prompts, list) and isinstance(expected, list) and len(prompts) != len(expected):
                message = f"has {len(expected)} entries for {len(prompts)} prompts; they must be equally many"
                self.problems.append(self.source.problem(("expected_responses",), message))

    def _version_notice(self) -> None:
        if self.version < EVALUATORS_SINCE and self.checked and self.shape == "versioned":
            told = (
                f"evaluator settings belong to schemaVersion {CURRENT_VERSION}; they work, but raise the version"
            )
            self.problems.append(self._problem(("schemaVersion",), told, "notice"))

    def _complain(self, complaint: Complaint) -> None:
        level: Literal["error", "warning"] = "error"
        if complaint.kind == "unknown_key":
            at_root = len(complaint.place) == 1
            declared = self.shape == "versioned" and CLOSED_SINCE <= self.version <= NEWEST_KNOWN
            lost = is_misspelt(str(complaint.place[-1]), *_CHECKS)  # it would leave out what looks at the answers
            level = "error" if lost or (declared and not at_root) else "warning"
        problem = self._problem(complaint.place, complaint.message, level, key=complaint.key)
        self.problems.append(replace(problem, rule=complaint.rule))

    # -- one item

    def _case(self, document: Mapping[str, Any], index: int) -> Case:
        item = document["items"][index]
        place: Place = ("items", index)
        raw = [(turn, (*place, "turns", number)) for number, turn in enumerate(item.get("turns", ()))]
        entries = self._merged(self._defaults(document), item, place)
        self.context = item.get("context") if raw else None  # a thread's context is every turn's
        if raw:
            turns = [self._turn(turn, at, self._merged(entries, turn, at)) for turn, at in raw]
        else:
            turns = [self._turn(item, place, entries)]
        ours = item.get("extensions", {}).get("runevals", {})
        return Case(
            suite=self.source.path,
            key=key_of(item),
            name=item.get("name") or cut_name(one_line(turns[0].prompt)),
            turns=tuple(turns),
            location=(None if raw else turns[0].location) or self.source.locate(self._in_file(place)),
            category=item.get("category"),
            tags=tuple(item.get("tags", ())),
            critical=bool(ours.get("critical", False)),
            metadata={name: item[name] for name in ("notes", "extensions") if name in item},
            variables=ours.get("vars", {}),
            **case_fingerprints(turns, ours.get("vars") or None),
        )

    def _defaults(self, document: Mapping[str, Any]) -> dict[str, Entry]:
        if "default_evaluators" not in document:
            return {name: Entry(options, None) for name, options in SYSTEM_DEFAULTS.items()}
        return dict(self._entries(document["default_evaluators"], ("default_evaluators",)))

    def _merged(self, outer: dict[str, Entry], item: Mapping[str, Any], place: Place) -> dict[str, Entry]:
        own = dict(self._entries(item.get("evaluators", {}), (*place, "evaluators")))
        return own if item.get("evaluators_mode") == "replace" else {**outer, **own}

    def _entries(self, evaluators: Mapping[str, Any], place: Place) -> Iterator[tuple[str, Entry]]:
        for name, options in evaluators.items():
            at = (*place, name)
            if at not in self.checked:  # the defaults are met again with every item
                self.checked.add(at)
                self.problems += evaluator_problems(
                    self.source, self._in_file(at), name, options, self.options.definitions
                )
            yield name, Entry(options, at)

    def _turn(self, raw: Mapping[str, Any], place: Place, entries: Mapping[str, Entry]) -> Turn:
        expected = raw.get("expected_response")
        if expected is None:
            self._missing_expected(place, entries)
        checks = tuple(self._spec(name, entry) for name, entry in entries.items())
        at = self._in_file((*place, "expected_response"))
        self.problems += expected_problems(self.source, at, expected, checks)
        return Turn(
            prompt=raw["prompt"],
            expected=expected,
            context=raw.get("context", self.context),
            checks=checks,
            recorded=self._recorded(raw, place),
            location=self.source.locate(self._in_file(place)),
        )

    def _missing_expected(self, place: Place, entries: Mapping[str, Entry]) -> None:
        needing = [name for name, entry in entries.items() if self._needs_expected(name, entry)]
        if needing:
            self._error(place, f"expected_response is missing, but {', '.join(needing)} compares with it")
        else:
            message = "has no expected_response; none of its evaluators needs one"
            self.problems.append(self._problem(place, message, "warning"))

    def _needs_expected(self, name: str, entry: Entry) -> bool:
        key = (name, entry.place)
        if key not in self.needing:
            self.needing[key] = needs_expected(self._spec(name, entry))
        return self.needing[key]

    def _recorded(self, raw: Mapping[str, Any], place: Place) -> Response | None:
        if not self.options.evaluate_only:
            return None
        response = raw.get("response")
        if response is None:
            self._error(place, "has no response to score; --evaluate-only needs one on every item and turn")
            return None
        return Response(text=response, citations=_citations(raw.get("citations")))

    def _spec(self, name: str, entry: Entry) -> EvaluatorSpec:
        """The spec of an entry, the same one wherever the entry applies: the defaults do so to every turn."""
        key = (name, entry.place)
        if key not in self.specs:
            self.specs[key] = self._new_spec(name, entry)
        return self.specs[key]

    def _new_spec(self, name: str, entry: Entry) -> EvaluatorSpec:
        if entry.place is None:
            return EvaluatorSpec(name=name, options=entry.options)
        return spec_at(self.source, self._in_file(entry.place), name, entry.options, self.options.definitions)

    # -- places and problems

    def _in_file(self, place: Place) -> Place:
        """Where a place of the upgraded document stands in the file as it is."""
        if self.shape in ("versioned", "unversioned", None) or not place or place[0] != "items":
            return place
        if self.shape == "array":
            return place[1:]
        if self.shape == "item":
            return place[2:]
        column = "expected_responses" if "expected_response" in place[2:] else "prompts"
        return (column, *place[1:2])

    def _pointer_of(self, index: int) -> str:
        return pointer(self._in_file(("items", index)))

    def _problem(
        self, place: Place, message: str, level: Literal["error", "warning", "notice"], *, key: bool = False
    ) -> SuiteProblem:
        found = self.source.problem(self._in_file(place), message, key=key)
        return replace(found, level=level)

    def _error(self, place: Place, message: str) -> None:
        self.problems.append(self._problem(place, message, "error"))


def _citations(told: object) -> tuple[Citation, ...] | None:
    """The sources beside a recorded response; None if they are not listed as the format has it."""
    if not isinstance(told, list) or not all(isinstance(one, dict) for one in told):
        return None
    texts = [(one.get("text", one.get("source", "")), one.get("source")) for one in told]
    if not all(isinstance(text, str) and isinstance(source, str | None) for text, source in texts):
        return None
    return tuple(Citation(text=text, source=source) for text, source in texts)


def _zipped(value: Mapping[str, Any]) -> list[object]:
    prompts, expected = value.get("prompts"), value.get("expected_responses", [])
    if not isinstance(prompts, list) or not isinstance(expected, list):
        return []
    return [
        {"prompt": prompt, **({"expected_response": expected[index]} if index < len(expected) else {})}
        for index, prompt in enumerate(prompts)
    ]


def _has_error(problems: Iterable[SuiteProblem]) -> bool:
    return any(problem.level == "error" for problem in problems)
