"""What every dialect checks of its evaluators and keys, in the same words."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from runevals.evaluators import catalogue
from runevals.evaluators.kinds import leaves
from runevals.lib.parsing.schema import complaints
from runevals.lib.parsing.source import Place, Source
from runevals.lib.text.numbers import plural
from runevals.lib.text.suggest import MISSPELT, did_you_mean, nearest
from runevals.records import Case, EvaluatorSpec, Location, Suite, SuiteProblem
from runevals.records.errors import InvalidOptions, UnknownEvaluator

MOST_LINES = 5  # named of many places where one thing is wrong

Definitions = Mapping[str, EvaluatorSpec]


def spec_at(
    source: Source, place: Place, name: str, options: Mapping[str, object], definitions: Definitions
) -> EvaluatorSpec:
    """The evaluator entry at `place` of a file → spec."""
    return replace(
        spec_of(name, options, definitions),
        location=source.locate(place, key=True),
        pointer="".join(f"/{step}" for step in place),
    )


def spec_of(name: str, options: Mapping[str, object], definitions: Definitions) -> EvaluatorSpec:
    """An evaluator entry → spec; `threshold` and `weight` leave the options.

    A name that the settings define is what they say it is.
    """
    rest = {key: value for key, value in options.items() if key not in ("threshold", "weight")}
    declared = definitions.get(name) or EvaluatorSpec(name=name)
    threshold, weight = _number(options.get("threshold")), _number(options.get("weight"))
    return replace(
        declared,
        options={**declared.options, **rest},
        threshold=declared.threshold if threshold is None else threshold,
        weight=declared.weight if weight is None else weight,
    )


def evaluator_problems(
    source: Source, place: Place, name: str, options: Mapping[str, object], definitions: Definitions
) -> Iterable[SuiteProblem]:
    """What keeps the evaluator entry at `place` from being built."""
    if name in definitions:
        for key in options.keys() - {"threshold", "weight"}:
            yield source.problem(
                (*place, key), f"{name} takes its options in the settings", key=True, rule="evaluator-options"
            )
            return
    for key in ("threshold", "weight"):
        if key in options and _number(options[key]) is None:
            yield source.problem((*place, key), f"{key} must be a number", rule="evaluator-options")
            options = {name: value for name, value in options.items() if name != key}
    try:
        catalogue.build(spec_at(source, place, name, options, definitions))
    except UnknownEvaluator as error:
        hint = did_you_mean(name, definitions)
        told = f"there is no evaluator '{name}'{hint} (the settings declare it)" if hint else str(error)
        yield source.problem(place, told, key=True, rule="unknown-evaluator")
    except InvalidOptions as error:
        for option, sentence in error.problems:
            at = place if option is None else (*place, option)
            yield source.problem(at, sentence, key=option is not None, rule="evaluator-options")


def needs_expected(spec: EvaluatorSpec) -> bool:
    """Whether an evaluator has nothing to judge without an expected text; False if it cannot be built."""
    try:
        return catalogue.build(spec)[0].idle_without_expected()
    except (UnknownEvaluator, InvalidOptions):
        return False  # that is a problem of its own


def without_expected(cases: Sequence[Case], noun: str) -> Iterable[SuiteProblem]:
    """A warning for checks that are skipped in some of the cases, as those have no expected text."""
    needing: dict[int, bool] = {}  # by spec: many cases share one
    lacking: dict[str, dict[int, Case]] = {}
    for case in cases:
        for spec in (spec for turn in case.turns if turn.expected is None for spec in turn.checks):
            if id(spec) not in needing:
                needing[id(spec)] = needs_expected(spec)
            if needing[id(spec)]:
                lacking.setdefault(spec.id or spec.name, {})[id(case)] = case
    alike: dict[tuple[Location, ...], list[str]] = {}
    for name, found in lacking.items():
        alike.setdefault(tuple(case.location for case in found.values()), []).append(name)
    for places, names in alike.items():
        told = (
            f"{', '.join(names)}: skipped in {len(places)} of {plural(len(cases), noun)}, "
            f"as {'it has' if len(places) == 1 else 'they have'} no expected text{_in_lines(places)}"
        )
        yield SuiteProblem(location=places[0], pointer="", message=told, level="warning")


def misspelt_expected(source: Source, place: Place, told: Mapping[str, Any]) -> Iterable[SuiteProblem]:
    """A key that is likely `expected` written wrongly, where a check needs that text."""
    if "expected" not in told and (key := nearest("expected", told, least=MISSPELT)) is not None:
        message = f"'{key}' is not read as the expected text; did you mean 'expected'?"
        yield source.problem((*place, key), message, key=True, rule="unknown-key")


def unread_keys(
    source: Source, place: Place, told: Mapping[str, Any], known: Collection[str], checks: Collection[str] = ()
) -> Iterable[SuiteProblem]:
    """Keys of a case that are kept and not read, but are likely `known` ones written wrongly.

    A warning each; an error where one of `checks` would be lost by it, the keys that say what is looked at.
    """
    unchecked = not any(told.get(key) for key in checks)
    for key in told.keys() - known:
        meant = nearest(key, known)
        if meant is not None:
            lost = meant in checks and not told.get(meant) and (unchecked or is_misspelt(key, meant))
            problem = source.problem(
                (*place, key), f"'{key}' is not read; did you mean '{meant}'?", key=True, rule="unknown-key"
            )
            yield problem if lost else replace(problem, level="warning")


def is_misspelt(word: str, *known: str) -> bool:
    """Whether a word is so close to a known one that it is hardly one of its own."""
    return nearest(word, known, least=MISSPELT) is not None


def expected_problems(
    source: Source, place: Place, expected: str | None, specs: Iterable[EvaluatorSpec]
) -> Iterable[SuiteProblem]:
    """The checks that look for the expected text, which stands at `place`, if it says nothing."""
    if expected is None or expected.strip():
        return
    for spec in specs:
        if (why := _never_fails_by(expected, spec)) is not None:
            told = f"{spec.id or spec.name} looks for the expected text, but {why}; write what must be there"
            yield source.problem(place, told)


def _never_fails_by(expected: str, spec: EvaluatorSpec) -> str | None:
    """Why this expected text leaves an evaluator, or a part of it, nothing to find out; None if it does not."""
    try:
        built, _ = catalogue.build(spec)
    except (UnknownEvaluator, InvalidOptions):
        return None  # that is a problem of its own
    whys = (part.never_fails(expected) for part in leaves(built) if part.never_fails(None) is None)
    return next((why for why in whys if why is not None), None)


def without_checks(suite: Suite) -> Suite:
    """`suite`, with a warning where no check looks at some of its cases."""
    unseen = [case.location for case in suite.cases if not any(turn.checks for turn in case.turns)]
    if not unseen or suite.errors:
        return suite
    which = "this case has" if len(unseen) == 1 else f"{len(unseen)} cases have"
    told = f"{which} no check{_in_lines(unseen)}, so that nothing is measured there; add one, or remove the case"
    warning = SuiteProblem(location=unseen[0], pointer="", message=told, level="warning", rule="no-checks")
    return replace(suite, problems=in_order((*suite.problems, warning)))


def _in_lines(places: Sequence[Location]) -> str:
    """Where several things are, the first few of them by line."""
    if len(places) < 2:
        return ""
    shown = ", ".join(str(place.line) for place in places[:MOST_LINES])
    more = f" and {len(places) - MOST_LINES} more" if len(places) > MOST_LINES else ""
    return f" (lines {shown}{more})"


def duplicate_keys(cases: Iterable[Case], pointer_of: Callable[[int], str]) -> Iterable[SuiteProblem]:
    """Cases of one suite that share a key; `pointer_of` gives the JSON pointer of the case at an index."""
    first: dict[str, Case] = {}
    for index, case in enumerate(cases):
        other = first.setdefault(case.key, case)
        if other is not case:
            made = " (made from its prompts, as it has no id and no name)" if case.key.startswith("p-") else ""
            place = f"line {other.location.line}"
            if other.location.file != case.location.file:
                place = f"{other.location.file}, {place}"
            told = f"the key '{case.key}'{made} is taken by the case at {place}; give one of them another id"
            yield SuiteProblem(
                location=case.location, pointer=pointer_of(index), message=told, rule="duplicate-case"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class WrappedList:
    """A file that holds a list: as an object with the list in it, where the list is, and what the schema says.

    `sound` are the entries that nothing is said of, by their places in the list.
    """

    document: dict[str, Any]
    root: Place
    problems: list[SuiteProblem]
    sound: Sequence[int]


def listed(source: Source, dialect: str, key: str) -> WrappedList:
    """A file that is a list, or an object with the list under `key`."""
    value: Any = source.value
    root: Place = () if isinstance(value, list) else (key,)
    document = value if root else {key: value}
    problems, places = schema_problems(source, dialect)
    return WrappedList(
        document=document, root=root, problems=problems, sound=sound(places, root, document.get(key))
    )


def schema_problems(source: Source, dialect: str) -> tuple[list[SuiteProblem], Sequence[Place]]:
    """Everything that the schema of the file's format has against it, and the places that it is said of."""
    told = list(complaints("runevals.suites.dialects", dialect, source.value))
    problems = [source.problem(each.place, each.message, key=each.key, rule=each.rule) for each in told]
    return problems, [each.place for each in told]


def sound(places: Iterable[Place], under: Place, entries: object) -> Sequence[int]:
    """The `entries` under a place in which no problem is; none where one is elsewhere, for it may concern all."""
    broken: set[object] = set()
    for place in places:
        if place[: len(under)] != under or len(place) == len(under):
            return ()
        broken.add(place[len(under)])
    return [index for index in range(len(entries) if isinstance(entries, list) else 0) if index not in broken]


def in_order(problems: Iterable[SuiteProblem]) -> tuple[SuiteProblem, ...]:
    """Problems as a reader of the file meets them."""
    return tuple(sorted(problems, key=lambda found: (found.location.line or 0, found.location.column or 0)))


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
