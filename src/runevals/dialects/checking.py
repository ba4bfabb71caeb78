"""What every dialect checks of its evaluators and keys, in the same words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from runevals.dialects.reading import Place, Source
from runevals.errors import InvalidOptions, UnknownEvaluator
from runevals.evaluators import catalogue
from runevals.records import Case, EvaluatorSpec, SuiteProblem


def spec_at(source: Source, place: Place, shown: Place, name: str, options: Mapping[str, object]) -> EvaluatorSpec:
    """An evaluator entry of a document → spec; `threshold` and `weight` leave the options.

    `place` is where it stands in the file, `shown` the place of its key.
    """
    rest = {key: value for key, value in options.items() if key not in ("threshold", "weight")}
    threshold, weight = options.get("threshold"), options.get("weight", 1.0)
    return EvaluatorSpec(
        name=name,
        options=rest,
        threshold=_number(threshold),
        weight=1.0 if (number := _number(weight)) is None else number,
        location=source.locate(place, key=True),
        pointer="".join(f"/{step}" for step in shown),
    )


def evaluator_problems(
    source: Source, place: Place, name: str, options: Mapping[str, object]
) -> Iterable[SuiteProblem]:
    """What keeps the evaluator entry at `place` from being built."""
    for key in ("threshold", "weight"):
        if key in options and _number(options[key]) is None:
            yield source.problem((*place, key), f"{key} must be a number")
            options = {name: value for name, value in options.items() if name != key}
    try:
        catalogue.build(spec_at(source, place, place, name, options))
    except UnknownEvaluator as error:
        yield source.problem(place, str(error), key=True)
    except InvalidOptions as error:
        for option, sentence in error.problems:
            yield source.problem(place if option is None else (*place, option), sentence, key=option is not None)


def needs_expected(name: str) -> bool:
    """Whether the evaluator with this name has nothing to judge without an expected text; False if unknown."""
    try:
        return catalogue.find(name).needs_expected
    except UnknownEvaluator:
        return False


def duplicate_keys(cases: Iterable[Case], pointer_of: Callable[[int], str]) -> Iterable[SuiteProblem]:
    """Cases of one suite that share a key; `pointer_of` gives the JSON pointer of the case at an index."""
    first: dict[str, Case] = {}
    for index, case in enumerate(cases):
        other = first.setdefault(case.key, case)
        if other is not case:
            made = " (made from its prompts, as it has no id and no name)" if case.key.startswith("p-") else ""
            message = (
                f"the key '{case.key}'{made} is taken by the case at line {other.location.line}; "
                "give one of them another id"
            )
            yield SuiteProblem(location=case.location, pointer=pointer_of(index), message=message)


def in_order(problems: Iterable[SuiteProblem]) -> tuple[SuiteProblem, ...]:
    """Problems as a reader of the file meets them."""
    return tuple(sorted(problems, key=lambda found: (found.location.line or 0, found.location.column or 0)))


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
