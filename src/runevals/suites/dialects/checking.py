"""Checks of evaluators and keys that all dialects share."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from runevals.evaluators import catalogue
from runevals.evaluators.format_names import INVERTED
from runevals.evaluators.kinds import leaves
from runevals.lib.nullable import grouped, known, without, without_none
from runevals.lib.parsing.canonical import fingerprint
from runevals.lib.parsing.schema import complaints
from runevals.lib.parsing.shapes import is_number, list_in
from runevals.lib.parsing.source import JsonPath, Source, pointer
from runevals.lib.text.numbers import first_of, phrase, plural
from runevals.lib.text.suggest import MISSPELT, did_you_mean, nearest
from runevals.records import Case, EvaluatorSpec, FileProblem, Location, Suite
from runevals.records.errors import InvalidOptions, UnknownEvaluator
from runevals.records.suite import KEY_OF_PROMPTS, LONGEST_NAME

_NO_OPTIONS = ("threshold", "weight")
_INVERTED = {name: EvaluatorSpec(name=of, id=name, negated=True) for name, of in INVERTED.items()}
LOST_CHECK = "lost-check"  # the rule of what names a check that has no equal here
MOST_LINES = 5  # shown of many with the same problem

Definitions = Mapping[str, EvaluatorSpec]


def spec_at(
    source: Source, json_path: JsonPath, name: str, options: Mapping[str, object], definitions: Definitions
) -> EvaluatorSpec:
    """The evaluator entry at `json_path` of a file → spec."""
    return spec_of(name, options, definitions, source.locate(json_path, key=True))


def spec_of(
    name: str, options: Mapping[str, object], definitions: Definitions, location: Location | None = None
) -> EvaluatorSpec:
    """An evaluator entry → spec; `threshold` and `weight` leave the options.

    A name that the settings define is that definition; `not_contains` and its like are another one, inverted.
    """
    numbers: dict[str, Any] = without_none(**{name: _number(options.get(name)) for name in _NO_OPTIONS})
    rest = options
    if not options.keys().isdisjoint(_NO_OPTIONS):
        rest = without(options, _NO_OPTIONS)
    declared = definitions.get(name) or _INVERTED.get(name)
    if declared is None:
        return EvaluatorSpec(name=name, options=rest, location=location, **numbers)
    return replace(declared, options={**declared.options, **rest}, location=location, **numbers)


def evaluator_problems(
    source: Source,
    json_path: JsonPath,
    name: str,
    options: Mapping[str, object],
    definitions: Definitions,
    spec: EvaluatorSpec | None = None,
) -> Iterable[FileProblem]:
    """Why the evaluator entry at `json_path` cannot be built; `spec` is that entry, if it was read before."""
    if name in definitions:
        for key in options.keys() - set(_NO_OPTIONS):
            yield source.problem(
                (*json_path, key), f"{name} takes its options in the settings", key=True, rule="evaluator-options"
            )
            return
    for key in _NO_OPTIONS:
        if key in options and _number(options[key]) is None:
            yield source.problem((*json_path, key), f"{key} must be a number", rule="evaluator-options")
    try:
        catalogue.build(spec or spec_at(source, json_path, name, options, definitions))
    except UnknownEvaluator as error:
        hint = did_you_mean(name, definitions)
        message = f"there is no evaluator '{name}'{hint} (the settings declare it)" if hint else str(error)
        yield source.problem(json_path, message, key=True, rule="unknown-evaluator")
    except InvalidOptions as error:
        for option, sentence in error.problems:
            at = (*json_path, *known([option]))
            yield source.problem(at, sentence, key=option is not None, rule="evaluator-options")


class Reader(Struct, frozen=True, kw_only=True):
    """Reads a part of one file; what is wrong is collected in `problems`."""

    source: Source
    problems: list[FileProblem] = []

    def wrong(self, at: JsonPath, message: str, *, key: bool = False, rule: str = "meaning") -> None:
        """An error at this path."""
        self.problems.append(self.source.problem(at, message, key=key, rule=rule))

    def warn(self, at: JsonPath, message: str, *, key: bool = False, rule: str = "meaning") -> None:
        """A warning at this path."""
        self.problems.append(self.source.warning(at, message, key=key, rule=rule))

    def can_be_built(self, spec: EvaluatorSpec, at: JsonPath, before: str = "") -> bool:
        """Whether a check can be; if not, the problems with its options are reported, each after these words."""
        try:
            catalogue.build(spec)
        except InvalidOptions as error:
            for _, sentence in error.problems:
                self.wrong(at, f"{before}{sentence}", rule="evaluator-options")
            return False
        return True


def needs_expected(spec: EvaluatorSpec) -> bool:
    """Whether an evaluator has nothing to judge without an expected text; False if it cannot be built."""
    try:
        return catalogue.build(spec).evaluator.idle_without_expected()
    except (UnknownEvaluator, InvalidOptions):
        return False  # reported as another problem


def without_expected(
    source: Source, root: JsonPath, cases: Sequence[Case], rows: Iterable[tuple[int, Mapping[str, Any]]], noun: str
) -> Iterable[FileProblem]:
    """A warning for checks that are skipped in cases without an expected text, and for keys that misspell it."""
    skipped: dict[str, dict[int, Case]] = {}
    for case in cases:
        for spec in (spec for turn in case.turns if turn.expected is None for spec in turn.checks):
            if needs_expected(spec):
                skipped.setdefault(spec.id or spec.name, {})[id(case)] = case
    alike = grouped((tuple(case.location for case in cases_.values()), name) for name, cases_ in skipped.items())
    for locations, names in alike.items():
        message = (
            f"{', '.join(names)}: skipped in {len(locations)} of {plural(len(cases), noun)}, "
            f"as {'it has' if len(locations) == 1 else 'they have'} no expected text{_in_lines(locations)}"
        )
        yield FileProblem(location=locations[0], pointer="", message=message, level="warning")
    for index, row in rows if alike else ():
        if "expected" not in row and (key := nearest("expected", row, least=MISSPELT)) is not None:
            message = f"'{key}' is not read as the expected text; did you mean 'expected'?"
            yield source.problem((*root, index, key), message, key=True, rule="unknown-key")


def unread_keys(
    source: Source,
    json_path: JsonPath,
    fields: Mapping[str, Any],
    keys: Collection[str],
    checks: Collection[str] = (),
) -> Iterable[FileProblem]:
    """Keys of a case that are kept and not read, but are likely `keys` ones written wrongly.

    A warning each; an error where one of `checks` would be lost by it, the keys that say what is looked at.
    """
    unchecked = not any(fields.get(key) for key in checks)
    for key in fields.keys() - keys:
        likely = nearest(key, keys)
        if likely is not None:
            is_error = likely in checks and not fields.get(likely) and (unchecked or is_misspelt(key, likely))
            tell = source.problem if is_error else source.warning
            message = f"'{key}' is not read; did you mean '{likely}'?"
            yield tell((*json_path, key), message, key=True, rule="unknown-key")


def is_misspelt(word: str, *keys: str) -> bool:
    """Whether a word is so close to a known one that it is probably misspelt."""
    return nearest(word, keys, least=MISSPELT) is not None


def expected_problems(
    source: Source, json_path: JsonPath, expected: str | None, specs: Iterable[EvaluatorSpec]
) -> Iterable[FileProblem]:
    """The checks whose expected text, at `json_path`, can never make them fail."""
    if expected is None or expected.strip():
        return
    for spec in specs:
        if (reason := _never_fails_by(expected, spec)) is not None:
            message = f"{spec.id or spec.name} looks for the expected text, but {reason}; write what must be there"
            yield source.problem(json_path, message)


def _never_fails_by(expected: str, spec: EvaluatorSpec) -> str | None:
    """Why an evaluator, or a part of it, can never fail with this expected text, or None."""
    try:
        evaluator = catalogue.build(spec).evaluator
    except (UnknownEvaluator, InvalidOptions):
        return None  # reported as another problem
    reasons = (part.never_fails(expected) for part in leaves(evaluator) if part.never_fails(None) is None)
    return next(iter(known(reasons)), None)


def with_warnings(suite: Suite, folder: Path) -> Suite:
    """`suite`, with a warning if some of its cases have no check, or the name of a file in `folder` as prompt."""
    idle, names = [], []
    for case in () if suite.errors else suite.cases:
        idle += [case.location] * (not any(turn.evaluators for turn in case.turns))
        names += [case.location] * any(_is_file(turn.prompt, folder) for turn in case.turns)
    warnings = (
        *_warning(idle, "no-checks", "no check{}, so nothing is measured; add one, or remove the case"),
        *_warning(
            names, "meaning", "a file's name as prompt{}, which is sent as it is; write what is in the file"
        ),
    )
    return replace(suite, problems=sorted_by_position((*suite.problems, *warnings))) if warnings else suite


def _is_file(prompt: str, folder: Path) -> bool:
    if len(prompt) > LONGEST_NAME or " " in prompt:
        return False
    file = Path(os.path.normpath(folder / prompt))
    return folder in file.parents and file.is_file()


def _warning(locations: Sequence[Location], rule: str, message: str) -> Iterable[FileProblem]:
    """One for all cases of a kind; in the message, `{}` is their lines."""
    if locations:
        which = "this case has" if len(locations) == 1 else f"{len(locations)} cases have"
        text = f"{which} {message.format(_in_lines(locations))}"
        yield FileProblem(location=locations[0], pointer="", message=text, level="warning", rule=rule)


def _in_lines(locations: Sequence[Location]) -> str:
    """The lines of the first few of several problems."""
    if len(locations) < 2:
        return ""
    return f" (lines {first_of([str(location.line) for location in locations], MOST_LINES)})"


def numbered_keys(keys: Iterable[str]) -> list[str]:
    """The keys of cases; of those that are a hash of the same prompts, the second ends in -2, and so on."""
    counts: Counter[str] = Counter()
    numbered: list[str] = []
    for key in keys:
        counts[key] += 1
        numbered.append(f"{key}-{counts[key]}" if counts[key] > 1 and KEY_OF_PROMPTS.fullmatch(key) else key)
    return numbered


def with_numbered_keys(
    cases: Sequence[Case], pointer_of: Callable[[int], str], id_name: str
) -> tuple[list[Case], list[FileProblem]]:
    """(the cases, one warning if some have the prompts of an earlier one, and an error for each of the same key).

    Cases with an id or name of their own keep their key.
    """
    pairs = list(zip(cases, numbered_keys(case.key for case in cases), strict=True))
    numbered = [case if key == case.key else replace(case, key=key) for case, key in pairs]
    first = {case.key: case for case in reversed(cases)}
    again = [index for index, (case, key) in enumerate(pairs) if key != case.key]
    warnings = []
    for index in again[:1]:
        case, line = numbered[index], first[pairs[index][0].key].location.line
        more = phrase(len(again) - 1, " ({} more: the same as another)")
        message = (
            f"has the same prompt as the case at line {line}{more}; its key is '{case.key}', "
            f"which changes if one of them is moved or removed, so give it '{id_name}'"
        )
        warning = FileProblem(
            location=case.location, pointer=pointer_of(index), message=message, rule="duplicate-case"
        )
        warnings.append(replace(warning, level="warning"))
    return numbered, [*warnings, *duplicate_keys(numbered, pointer_of)]


def duplicate_keys(cases: Iterable[Case], pointer_of: Callable[[int], str]) -> Iterable[FileProblem]:
    """Cases of one suite that share a key; `pointer_of` gives the JSON pointer of the case at an index."""
    first: dict[str, Case] = {}
    for index, case in enumerate(cases):
        earlier = first.setdefault(case.key, case)
        if earlier is not case:
            line = f"line {earlier.location.line}"
            if earlier.location.file != case.location.file:
                line = f"{earlier.location.file}, {line}"
            message = f"the key '{case.key}' is already used by the case at {line}; give one of them another id"
            yield FileProblem(
                location=case.location, pointer=pointer_of(index), message=message, rule="duplicate-case"
            )


class WrappedList(Struct, frozen=True, kw_only=True):
    """A list from a file as an object: the list, its path, and the problems by the schema.

    `valid_entries` are the indices of the entries without a problem.
    """

    document: dict[str, Any]
    root: JsonPath
    problems: list[FileProblem]
    valid_entries: Sequence[int]

    def pointer_of(self, number: int) -> str:
        """The JSON pointer of a valid entry, by its number among them."""
        return pointer((*self.root, self.valid_entries[number]))


def wrapped_list(source: Source, dialect: str, key: str) -> WrappedList:
    """A file that is a list, or an object with the list under `key`."""
    value: Any = source.value
    root: JsonPath = () if isinstance(value, list) else (key,)
    document = value if root else {key: value}
    problems, json_paths = schema_problems(source, dialect)
    return WrappedList(
        document=document,
        root=root,
        problems=problems,
        valid_entries=valid_entries(json_paths, root, document.get(key)),
    )


def schema_problems(source: Source, dialect: str) -> tuple[list[FileProblem], Sequence[JsonPath]]:
    """All violations of the schema of the file's format, and their paths."""
    violations = list(complaints("runevals.suites.dialects", dialect, source.value))
    problems = [source.problem(each.json_path, each.message, key=each.key, rule=each.rule) for each in violations]
    return problems, [each.json_path for each in violations]


def valid_entries(json_paths: Iterable[JsonPath], under: JsonPath, entries: object) -> Sequence[int]:
    """The indices of the `entries` without a problem; none if a problem elsewhere may affect all of them."""
    broken: set[object] = set()
    for json_path in json_paths:
        if json_path[: len(under)] != under or len(json_path) == len(under):
            return ()
        broken.add(json_path[len(under)])
    return [index for index in range(len(list_in(entries))) if index not in broken]


def suite_of(
    path: str, dialect: str, cases: Sequence[Case], problems: Iterable[FileProblem], **others: Any
) -> Suite:
    """The suite of a file or folder: its name is its path, and its fingerprint that of its cases.

    The problems are put in the order of the file.
    """
    return Suite(
        **{"name": path, **others},
        path=path,
        dialect=dialect,
        cases=tuple(cases),
        fingerprint=fingerprint([case.fingerprint for case in cases]),
        problems=sorted_by_position(problems),
    )


def joined_suites(suites: Sequence[Suite], name: str, dialect: str, **others: Any) -> Suite:
    """The suites of several files as one, under the name of their folder."""
    cases = [replace(case, suite=name) for suite in suites for case in suite.cases]
    problems = [problem for suite in suites for problem in suite.problems]
    every = (*problems, *duplicate_keys(cases, lambda _: ""))  # file by file
    return replace(suite_of(name, dialect, cases, (), **others), problems=every)


def sorted_by_position(problems: Iterable[FileProblem]) -> tuple[FileProblem, ...]:
    """Problems as a reader of the file meets them; what is wrong is not warned of as well."""
    met = sorted(problems, key=lambda problem: (problem.location.line or 0, problem.location.column or 0))
    wrong = {(problem.location.file, problem.pointer or None) for problem in met if problem.level == "error"}
    return tuple(one for one in met if one.level == "error" or (one.location.file, one.pointer) not in wrong)


def _number(value: object) -> float | None:
    return float(value) if is_number(value) else None


def in_cases(count: int) -> str:
    """Where a remark holds that is made once for several cases."""
    return phrase(count > 1, f" (in {plural(count, 'case')})")
