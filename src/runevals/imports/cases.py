"""promptfoo's tests: variables, options and assertions, from lists, tables, files and scenarios."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import chain, filterfalse, product
from math import prod
from typing import Any, TypeVar

from msgspec import Struct

from runevals.imports.assertions import from_cell
from runevals.imports.files import PREFIX, Files
from runevals.imports.remarks import Remarks
from runevals.lib.parsing.shapes import entries_of, list_in, object_in, text_in
from runevals.records.errors import UsageError
from runevals.suites.dialects.conservation import describes

MOST_CASES = 100_000
T = TypeVar("T")


class Test(Struct, frozen=True, kw_only=True):
    """One test with one value for each of its variables."""

    location: str
    id: str = ""  # which promptfoo does not read, and tools with its form do
    description: str | None = None
    values: Mapping[str, Any] = {}
    asserted: tuple[Any, ...] = ()
    options: Mapping[str, Any] = {}
    metadata: Mapping[str, Any] = {}
    prompts: frozenset[str] = frozenset()  # labels; empty: all of them
    rest: frozenset[str] = frozenset()  # keys that it has beside these


_READ = frozenset({"description", "vars", "assert", "options", "metadata", "prompts", "threshold"})
_METADATA = "__metadata:"


def read_tests(config: Mapping[str, Any], files: Files, remarks: Remarks) -> list[Test]:
    """The tests of a configuration, each with the default test under it; what cannot be read is remarked."""
    default = config.get("defaultTest") or {}
    try:
        if isinstance(default, str):
            default = files.value(files.referenced(default)[0])
        if not isinstance(default, Mapping):
            raise UsageError("is not a test")
    except UsageError as reason:
        remarks.not_converted("defaultTest", str(reason))
        default = {}
    tests: list[Test] = []
    for location, raw in chain(
        _test_entries(config.get("tests", []), "test", files, remarks), _scenarios(config, files, remarks)
    ):
        try:
            tests += _expanded(_merge(default, raw, files), location, files)
        except UsageError as reason:
            checks = sum(len(list_in(each.get("assert"))) for each in (default, raw))
            remarks.not_converted(location, str(reason), checks=checks)
        if len(tests) > MOST_CASES:
            raise UsageError(f"{location}: the variables make more than {MOST_CASES} cases")
    if not any((tests, config.get("tests"), config.get("scenarios"))):
        # Without tests, the prompts run once, as they are.
        tests = _expanded(_merge(default, {}, files), "defaultTest", files)
    return tests


def _test_entries(
    entries: Any, noun: str, files: Files, remarks: Remarks
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Tests by where they stand: those of a list, and those of the files that it names."""
    for number, item in enumerate(entries_of(entries), start=1):
        location = f"{noun} {number}"
        reference = object_in(item).get("path", item)
        if isinstance(reference, Mapping):
            yield location, reference
        elif isinstance(reference, str):
            try:
                for path in files.data(reference, noun):
                    for line, row in enumerate(entries_of(files.value(path)), start=1):
                        if isinstance(row, Mapping):
                            yield f"{path.name}, {noun} {line}", _of_row(row) if path.suffix == ".csv" else row
            except UsageError as reason:
                remarks.not_converted(location, str(reason))
        else:
            remarks.not_converted(location, "is not a test")


def _of_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of a table: columns that begin with two underscores have a meaning, the others are variables."""
    test: dict[str, Any] = {"vars": {}, "assert": [], "options": {}, "metadata": {}}
    for name, cell in ((str(name).strip(), cell or "") for name, cell in row.items()):
        if name.startswith("__expected"):
            test["assert"] += map(from_cell, filter(str.strip, [cell]))
        elif name in ("__prefix", "__suffix"):
            test["options"][name[2:]] = cell
        elif name == "__description":
            test["description"] = cell
        elif name.startswith(_METADATA):
            key, is_list = name.removeprefix(_METADATA).removesuffix("[]"), name.endswith("[]")
            cells = list(filter(None, map(str.strip, cell.split(","))))
            test["metadata"] |= {key: cells if is_list else cell} if cell.strip() else {}
        elif not name.startswith("__"):
            test["vars"][name] = cell
        elif cell.strip():
            test[name] = cell
    return test


def _scenarios(
    config: Mapping[str, Any], files: Files, remarks: Remarks
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Each configuration of a scenario with each of its tests."""
    for number, scenario in enumerate(_list(config.get("scenarios")), start=1):
        if not isinstance(scenario, Mapping):
            remarks.not_converted(f"scenario {number}", "is kept in a file; write it out")
            continue
        tests = list(_test_entries(scenario.get("tests", [{}]), "test", files, remarks))
        configurations = list(_test_entries(scenario.get("config", [{}]), "configuration", files, remarks))
        for (first, setting), (second, test) in product(configurations, tests):
            yield f"scenario {number}, {first}, {second}", _merge(setting, test, files)


def _merge(default: Mapping[str, Any], test: Mapping[str, Any], files: Files) -> dict[str, Any]:
    """A test over what all of them have: variables and options one by one, assertions one after the other."""
    result = {**default, **test}
    result["vars"] = {**_variables(default.get("vars"), files), **_variables(test.get("vars"), files)}
    for name in ("options", "metadata"):
        result[name] = {**_object(default.get(name)), **_object(test.get(name))}
    result["assert"] = [*_list(default.get("assert")), *_list(test.get("assert"))]
    return result


def _variables(value: Any, files: Files) -> Mapping[str, Any]:
    """Variables, or those of the files that stand in their place. Raises UsageError."""
    references = [value] if isinstance(value, str) else value
    if not isinstance(references, list) or not all(isinstance(one, str) for one in references):
        return _object(value)
    variables: dict[str, Any] = {}
    for path in chain.from_iterable(map(files.referenced, references)):
        content = files.value(path)
        if not isinstance(content, Mapping):
            raise UsageError(f"{path.name} holds no variables, which are an object")
        variables |= content
    return variables


def _require(value: Any, kind: type[T], complaint: str) -> T:
    """A value of a kind; an empty one for null. Raises UsageError for anything else."""
    if value is not None and not isinstance(value, kind):
        raise UsageError(complaint)
    return value or kind()


_list = partial(_require, kind=list, complaint="its assertions, or the scenarios, are no list")
_object = partial(_require, kind=dict, complaint="its variables or options are no object")


def _expanded(test: Mapping[str, Any], location: str, files: Files) -> list[Test]:
    """One test for every combination of the variables that have several values. Raises UsageError."""
    choices = {name: _choices(value, files) for name, value in test["vars"].items()}
    options = _object(test.get("options"))
    if options.get("disableVarExpansion"):
        choices = {name: [value] for name, value in test["vars"].items()}
    several = prod(map(len, choices.values()))
    if several > MOST_CASES:
        raise UsageError(f"its variables make more than {MOST_CASES} cases")
    of_threshold = {"threshold"} if test.get("threshold") not in (None, 1) else frozenset()
    return [
        Test(
            location=location if several == 1 else f"{location}, variation {number}",
            id=str(test.get("id") or ""),
            description=test.get("description") if isinstance(test.get("description"), str) else None,
            values=dict(zip(choices, values, strict=True)),
            asserted=tuple(_list(test.get("assert"))),
            options=options,
            metadata=_object(test.get("metadata")),
            prompts=frozenset(map(str, list_in(test.get("prompts")))),
            rest=frozenset(filterfalse(describes, test.keys() - _READ)) | of_threshold,
        )
        for number, values in enumerate(product(*choices.values()), start=1)
    ]


def _choices(value: Any, files: Files) -> list[Any]:
    """The values that a variable takes in turn."""
    if text_in(value).startswith(PREFIX):
        return [
            files.value(path) if path.suffix in (".json", ".yaml", ".yml") else files.plain_text(path)
            for path in files.data(value, "variable")
        ]
    if isinstance(value, list) and value and all(isinstance(item, str | int | float) for item in value):
        return [choice for item in value for choice in _choices(item, files)]
    return [value.removesuffix("\n") if isinstance(value, str) else value]
