"""Cases for skills: a call of `action`, and what it must return; one case a file, or a list."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from runevals.evaluators import catalogue
from runevals.lib.nullable import known
from runevals.lib.parsing.canonical import canonical
from runevals.lib.parsing.schema import schema
from runevals.lib.parsing.shapes import entries_of, object_in
from runevals.lib.parsing.source import JsonPath, Source, pointer
from runevals.lib.text.suggest import did_you_mean
from runevals.records import Case, EvaluatorSpec, FileProblem, Suite, Turn
from runevals.records.errors import InvalidOptions
from runevals.suites.dialects import checking
from runevals.suites.dialects.options import LoadOptions
from runevals.suites.fingerprint import case_fingerprint

NAME = "skill-cases"
CATEGORIES = ("replay", "regression", "redteam")
DEFAULT_TIMEOUT_MS = 5000.0
# What an `expected` is called → the evaluator that it is.
EXPECTED = {
    "exact": "exact",
    "contains": "skill-contains",
    "regex": "skill-regex",
    "schema": "schema",
    "no_forbidden_patterns": "no_forbidden_patterns",
    "timeout_or_error": "timeout_or_error",
}


def recognises(value: object) -> bool:
    """One case, or a list of them."""
    cases = entries_of(value)
    return bool(cases) and all({"skill", "input"} <= object_in(case).keys() for case in cases)


def load(source: Source, options: LoadOptions) -> Suite:
    """Cases → suite, with every problem found."""
    document, is_list = entries_of(source.value), isinstance(source.value, list)
    places: list[JsonPath] = [(index,) if is_list else () for index in range(len(document))]
    problems, invalid = checking.schema_problems(source, NAME)
    cases: list[Case] = []
    keys = schema("runevals.suites.dialects", NAME)["$defs"]["case"]["properties"]
    category = options.folder_name if options.folder_name in CATEGORIES else None
    valid = checking.valid_entries(invalid if is_list else [(0, *place) for place in invalid], (), document)
    for index in valid:
        json_path = places[index]
        spec = _expected(source, json_path, document[index], problems)
        cases.append(_case(source, json_path, document[index], spec, category))
        problems += checking.unread_keys(source, json_path, document[index], keys)
        problems += _elsewhere(source, json_path, document[index], category)
    problems += checking.duplicate_keys(cases, lambda number: pointer(places[valid[number]]))
    return checking.suite_of(source.path, NAME, cases, problems)


def _expected(
    source: Source, json_path: JsonPath, raw: Mapping[str, Any], problems: list[FileProblem]
) -> tuple[EvaluatorSpec, ...]:
    expected, at = raw["expected"], (*json_path, "expected")
    name = EXPECTED.get(expected["type"])
    if name is None:
        hint = did_you_mean(expected["type"], EXPECTED) or f"; it is one of {', '.join(EXPECTED)}"
        problems.append(source.problem((*at, "type"), f"there is no type '{expected['type']}'{hint}"))
        return ()
    options = {key: value for key, value in expected.items() if key != "type"}
    spec = EvaluatorSpec(name=name, id=expected["type"], options=options, location=source.locate(at))
    try:
        catalogue.build(spec)
    except InvalidOptions as error:
        for option, sentence in error.problems:
            problems.append(source.problem((*at, *known([option])), sentence))
        return ()
    return (spec,)


def _elsewhere(
    source: Source, json_path: JsonPath, raw: Mapping[str, Any], category: str | None
) -> Iterator[FileProblem]:
    """A warning if the category of a case differs from its gated folder, which decides."""
    own = raw.get("category")
    if category is not None and own not in (None, category):
        message = (
            f"is '{own}', but the folder decides: the case is counted as '{category}'; "
            f"write '{category}' and use tags for the rest, or move the file"
        )
        yield source.warning((*json_path, "category"), message, key=True)


def _case(
    source: Source,
    json_path: JsonPath,
    raw: Mapping[str, Any],
    checks: tuple[EvaluatorSpec, ...],
    category: str | None,
) -> Case:
    location = source.locate(json_path)
    turn = Turn(prompt=canonical(raw["input"]), checks=checks, location=location)
    timeout_ms = float(raw.get("timeout_ms", DEFAULT_TIMEOUT_MS))
    extra = {"skill": raw["skill"], "mock_data": raw.get("mock_data"), "timeout_ms": timeout_ms}
    return Case(
        suite=source.path,
        key=raw["id"],
        name=raw.get("description") or raw["id"],
        turns=(turn,),
        location=location,
        category=category or raw.get("category"),
        tags=tuple(raw.get("tags", ())),
        critical=bool(raw.get("critical", False)),
        group=raw["skill"],
        metadata={key: raw.get(key) for key in ("skill", "input", "mock_data")},
        timeout_s=timeout_ms / 1000,
        fingerprint=case_fingerprint([turn], extra),
    )
