"""Plain rows of input and expected text: JSON, JSON Lines, CSV, TSV."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any, TextIO

from msgspec.structs import replace

from runevals.evaluators.format_names import PRESETS
from runevals.lib.nullable import if_known, without
from runevals.lib.parsing.shapes import list_in, object_in, objects_in, options_by_name
from runevals.lib.parsing.source import MAX_BYTES, JsonPath, Source, read_line, why_no_json
from runevals.lib.text.suggest import MISSPELT, did_you_mean, known_names, nearest
from runevals.records import (
    LABELS,
    Case,
    EvaluatorSpec,
    FileProblem,
    Location,
    Message,
    Response,
    Suite,
    Turn,
    cut_name,
    one_line,
)
from runevals.records.errors import InvalidSuite, UnrecognisedSuite
from runevals.suites.dialects.checking import (
    evaluator_problems,
    expected_problems,
    needs_expected,
    spec_of,
    suite_of,
    with_numbered_keys,
    without_expected,
    wrapped_list,
)
from runevals.suites.dialects.columns import (
    OURS,
    RESPONSE,
    columns_of,
    fill,
    has_other_chat,
    has_prompts,
    is_table,
    opening_of,
)
from runevals.suites.dialects.options import LoadOptions, OptionsByName
from runevals.suites.fingerprint import case_fingerprints, key_of_prompts

NAME = "rows"
PROPOSED = "preset-contains"  # for rows without a check
MANY_CELLS = "more cells than the header has columns: a cell with {!r} in it needs quotes"
MOST_COLUMNS = 1000
KEYS = frozenset({"input", "expected", "id", "category", "tags", "critical"})
_READ = ("messages", "history", "chat_history", "mocks", "mocksStrict")  # which every target is sent
_Specs = tuple[EvaluatorSpec, ...]
_LISTS = ("rows", "data")
_HOW_OPTIONS = ": `evaluators: {NAME: {…}}` in the file, or beside its path in the settings, gives it"
_OF_FOUNDRY = "builtin."  # before the names of Microsoft's evaluators


def recognises(value: object) -> bool:
    """A list of rows, or an object with `rows`, or with `data` as data sets of Microsoft's Foundry have it."""
    return "rows" in value or is_table(value.get("data")) if isinstance(value, dict) else is_table(value)


def is_meant(value: object, options: LoadOptions) -> bool:
    """Whether a run says so: it names columns, or evaluators for a list with `prompt` and no key of a case."""
    return bool(options.columns) or (bool(options.evaluators) and isinstance(value, list) and has_prompts(value))


def read_lines(text: str, display_path: str) -> Source:
    """JSON Lines → rows; blank lines are skipped. Raises InvalidSuite with every invalid line."""
    rows: list[object] = []
    marks: dict[JsonPath, tuple[int, int]] = {(): (0, 0)}
    problems: list[FileProblem] = []
    offset = 0
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                rows.append(read_line(line))
                marks[(len(rows) - 1,)] = (offset, offset)
            except (ValueError, RecursionError) as error:
                message = f"is not JSON: {why_no_json(error)}"
                problems.append(_in_line(display_path, number, message, getattr(error, "colno", 1)))
        offset += len(line) + 1
    if problems:
        with suppress(ValueError, RecursionError):
            read_line(text)
            problems = [_in_line(display_path, 1, "is one JSON document, not one on each line: call it *.json", 1)]
        raise InvalidSuite(problems)
    return Source(display_path, text, rows, has_marks=True, marks=marks)


def read_csv(text: str, display_path: str) -> Source:
    """CSV with a header row → rows; an empty cell is an absent value. Raises InvalidSuite.

    Tabs or, as some spreadsheets write, semicolons may separate the cells instead of commas.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    csv.field_size_limit(MAX_BYTES)
    file = io.StringIO(text, newline="")
    delimiter = _delimiter(file)
    reader, starts = csv.DictReader(file, strict=True, delimiter=delimiter), [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    rows: list[object] = []
    marks: dict[JsonPath, tuple[int, int]] = {(): (0, 0)}
    problems: list[FileProblem] = []
    line_before = 1
    try:
        names = reader.fieldnames or []
        if len(names) > MOST_COLUMNS:
            message = f"has {len(names)} columns; at most {MOST_COLUMNS} are read"
            raise InvalidSuite([_in_line(display_path, 1, message)])
        for name in [name for name, count in Counter(names).items() if count > 1]:
            problems.append(_in_line(display_path, 1, f"duplicate column '{name}'; remove one of them"))
        line_before = reader.line_num
        for row in reader:
            if not any(map(any, filter(None, row.values()))):
                pass  # spreadsheets leave such lines at the end
            elif None in row:
                problems.append(_in_line(display_path, line_before + 1, f"has {MANY_CELLS.format(delimiter)}"))
            else:
                marks[(len(rows),)] = (starts[line_before], starts[line_before])
                # A column that is there but empty is known; only the keys with a meaning of ours must not be null.
                cells = {name: cell for name, cell in row.items() if cell or name not in _TYPES}
                rows.append({name: if_known(_TYPES.get(name, str), cell or None) for name, cell in cells.items()})
            line_before = reader.line_num
    except csv.Error as error:
        problems.append(_in_line(display_path, line_before + 1, f"is not CSV: {error}; quotes are doubled"))
    if problems:
        raise InvalidSuite(problems)
    return Source(display_path, text, rows, has_marks=True, marks=marks)


def _delimiter(file: TextIO) -> str:
    """What separates the header's cells: what makes `input` one of them, else what makes several.

    Leaves the file at its beginning.
    """
    headers = {}
    for delimiter in (",", ";", "\t"):
        with suppress(csv.Error, StopIteration):
            headers[delimiter] = next(csv.reader(file, strict=True, delimiter=delimiter))
        file.seek(0)
    with_input = [delimiter for delimiter, header in headers.items() if "input" in header]
    return next(iter((*with_input, *[delimiter for delimiter, header in headers.items() if len(header) > 1])), ",")


def _renamed(source: Source, options: LoadOptions) -> tuple[list[str], list[FileProblem]]:
    """Fills our columns from those with other names → the file's, and a notice of these. Raises InvalidSuite."""
    value: Any = source.value
    if {"features", "rows"} <= object_in(value).keys():  # an export of Hugging Face
        for key in value.keys() - {"rows", "evaluators"}:
            del value[key]
    rows = _rows_of(value)
    columns = columns_of(rows)
    absent = [column for column in options.columns.values() if column not in columns]
    stated = set(map(OURS.get, options.columns))
    guesses = {ours: column for ours, column in fill(rows, options).items() if ours not in stated}
    if absent:
        message = f"there is no column '{absent[0]}', which `columns` names{known_names(absent[0], columns)}"
        raise InvalidSuite([source.problem((), message)])
    if not guesses:
        return columns, []
    which = " and ".join(f"{_WORDS[ours]} '{column}'" for ours, column in guesses.items())
    message = f"reads {which}; `columns: {{prompt: …, expected: …}}` beside its path in the settings names others"
    return columns, [source.problem((), message, level="notice")]


def _rows_of(value: Any) -> list[Any]:
    return list_in(next((value[key] for key in _LISTS if key in object_in(value)), value))


_WORDS = {"input": "the prompt from", "expected": "the expected text from", RESPONSE: "the answer from"}


def no_input(source: Source, variables: Collection[str], columns: Sequence[str]) -> FileProblem | None:
    """The problem of a table without any `input`, or variable of the prompt file, which is not a suite."""
    if any("input" in row for row in objects_in(_rows_of(source.value))):
        return None
    hint = did_you_mean("input", columns)
    for name in variables:  # of the prompt file, in which names are case-sensitive
        guess = nearest(name, columns, least=MISSPELT)
        hint = f"; the prompt file has '{name}', and the column is '{guess}'" if guess is not None else hint
    no_rows = 'a row is an object: {"input": "…"}' if source.value else "it has no rows"
    which = "; say which is which beside its path in the settings: `columns: {prompt: …, expected: …}`"
    details = f"the columns are {', '.join(columns)}{which}" if columns else no_rows
    return source.problem((), f"no row has an 'input'; {details}{hint}", rule="unknown-format")


def load(source: Source, options: LoadOptions) -> Suite:
    """Rows → suite, with every problem found. Raises UnrecognisedSuite for a table without prompts."""
    columns, renamed = _renamed(source, options)
    is_table = columns or isinstance(source.value, list)
    if is_table and (complaint := no_input(source, options.variables, columns)) is not None:
        raise UnrecognisedSuite([complaint])
    key = "data" if isinstance(source.value, dict) and "rows" not in source.value else "rows"
    file = wrapped_list(source, NAME, key)
    document, root, problems = file.document, file.root, [*renamed, *file.problems]
    chosen = options.evaluators or options_by_name(document.get("evaluators"))  # the schema reports other names
    checks = {_our_name(word, takes): takes for word, takes in chosen.items()}
    cases: list[Case] = []
    if file.valid_entries:
        rows = [(index, document[key][index]) for index in file.valid_entries]
        specs = tuple(spec_of(name, takes, options.definitions) for name, takes in checks.items())
        problems += _evaluator_problems(source, checks, options)
        reads_all = not options.only_prompts or not options.definitions.keys().isdisjoint(checks)
        unread = {*options.columns.values(), *(() if reads_all else columns)} - {*options.variables, *_READ}
        cases = [_case(source, (*root, at), row, specs, unread, scored=options.evaluate_only) for at, row in rows]
        if any("expected" in row for _, row in rows):
            problems += without_expected(source, root, cases, rows, "row")
        else:
            way = "; `columns: {expected: …}` beside its path in the settings names one"
            texts = {name for _, row in rows for name, value in row.items() if isinstance(value, str)}
            near = did_you_mean("expected", [*filter(texts.__contains__, columns)])
            lacks = f"compares with 'expected', which no row has (columns: {', '.join(columns)}){way}{near}"
            needing = [one.id or one.name for one in filter(needs_expected, specs)] if specs else [PROPOSED]
            problems += [source.problem((), f"{name} {lacks}") for name in needing]
        for index, row in rows:
            if has_other_chat(row):
                message = "holds prompts beside the row's own; keep one of the two"
                problems.append(source.problem((*root, index, "messages"), message, key=True))
            problems += expected_problems(source, (*root, index, "expected"), row.get("expected"), specs)
        cases, alike = with_numbered_keys(cases, file.pointer_of, "id")
        problems += alike
    return suite_of(source.path, NAME, cases, problems)


def _our_name(name: str, options: Mapping[str, object]) -> str:
    """Our name of an evaluator of Microsoft's Foundry, such as `builtin.relevance`, or of a preset."""
    if name.startswith(_OF_FOUNDRY):
        return name.removeprefix(_OF_FOUNDRY).title()
    return name if options else PRESETS.get(name, name)


def _evaluator_problems(source: Source, checks: OptionsByName, options: LoadOptions) -> list[FileProblem]:
    if not checks:
        message = "names no evaluators; add 'evaluators' to the file, to its entry in the settings, or run with"
        return [source.problem((), f"{message} --evaluators {PROPOSED}")]
    problems: list[FileProblem] = []
    has_options = isinstance(object_in(source.value).get("evaluators"), dict)
    for index, (name, takes) in enumerate(checks.items()):
        place: JsonPath = () if options.evaluators else ("evaluators", name if has_options else index)
        for problem in evaluator_problems(source, place, name, takes, options.definitions):
            way = _HOW_OPTIONS if problem.rule == "evaluator-options" and not takes else ""
            problems.append(replace(problem, message=problem.message + way.replace("NAME", name)))
    return problems


def _case(
    source: Source, at: JsonPath, row: dict[str, Any], specs: _Specs, unread: Collection[str], *, scored: bool
) -> Case:
    """A row as a case; an `unread` column is no part of its content."""
    location = source.place(at)
    answer = row.pop(RESPONSE, None) if scored else None  # it is no part of the case
    recorded = Response(text=answer) if isinstance(answer, str) else None
    turn = Turn(
        prompt=row["input"], expected=row.get("expected"), checks=specs, recorded=recorded, location=location
    )
    metadata = without(row, KEYS)
    return Case(
        suite=source.path,
        key=row.get("id") or key_of_prompts([turn.prompt]),
        name=cut_name(one_line(turn.prompt)),
        turns=(turn,),
        opening=tuple(Message(role=one["role"], content=one["content"]) for one in opening_of(row)),
        location=location,
        category=row.get("category"),
        tags=tuple(row.get("tags") or ()),
        critical=bool(row.get("critical", False)),
        metadata=metadata,
        variables=metadata,
        **case_fingerprints([turn], metadata, (*LABELS, *unread)),
    )


_TYPES: Mapping[str, Callable[[str], object]] = {
    "tags": lambda cell: list(filter(None, map(str.strip, cell.split(",")))),
    "critical": lambda cell: {"true": True, "false": False}.get(cell.lower(), cell),
}


def _in_line(display_path: str, line: int, message: str, column: int | None = None) -> FileProblem:
    location = Location(file=display_path, line=line, column=column)
    return FileProblem(location=location, pointer="", message=message, rule="unreadable")
