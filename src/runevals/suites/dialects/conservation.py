"""Nothing of a suite is lost without a word: keys that its format does not read, by what they hold.

A key decides (it holds cases or checks, which would be lost: an error), describes (a note, a label: silence), or
is unknown (a warning).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from runevals.lib.parsing.schema import schema
from runevals.lib.parsing.shapes import list_in, object_in
from runevals.lib.parsing.source import JsonPath, Source
from runevals.lib.text.suggest import did_you_mean
from runevals.lib.text.variables import variables_in
from runevals.records import FileProblem, Suite
from runevals.suites.dialects.checking import sorted_by_position

_DESCRIBES = re.compile(
    r"(?i)^(?:x-|_|\$)|desc|note|comment|metric|label|title|name|author|owner|version|licen[cs]e|tags?$|keywords|meta"
    r"|source|created|updated|date|url$|summary|^id$|^kind$|language"
)
EXPECTED = "expected"
# What formats and people call checks.
CHECKS = frozenset({
    "assert", "asserts", "assertion", "assertions", "evaluator", "evaluators", "grader", "graders", "scorer",
    "scorers", "check", "checks", "expect", "expectations", "rubric", "rubrics", "criteria", "success_criteria",
    "dimensions", "acceptance_criteria", "testing_criteria", "default_evaluators", "defaultTest",
    "expected", "expected_outcome", "expected_output", "expected_response", "expected_behavior",
    "expected_answer", "expected_text", "correct_answer", "reference_answer", "ground_truth", "groundtruth",
    "ideal", "gold",
})  # fmt: skip
_PROMPTS = frozenset({
    "prompt", "prompts", "input", "inputs", "query", "question", "messages", "turns", "vars", "conversation",
    "input_messages",
})  # fmt: skip


def describes(key: str) -> bool:
    """Whether a key is for the reader of a file, and changes nothing by its name."""
    return _DESCRIBES.search(key) is not None


def content_of(key: str, value: object) -> str:
    """What would be lost with this key, in a word; empty if it is neither cases nor prompts nor checks."""
    if in_case := content_in_case(key, value):
        return in_case
    if describes(key):
        return ""
    entries = list_in(value)
    if any(isinstance(entry, dict | list) for entry in entries) or _has_prompts(value):
        return "cases"
    return "texts" if any(isinstance(entry, str) and " " in entry.strip() for entry in entries) else ""


def content_in_case(key: str, value: object) -> str:
    """What would be lost with this key of a case, in which further keys are notes and variables."""
    if not (isinstance(value, str | list | dict) and value):
        return ""
    inner = object_in(value).keys()
    is_case = inner & _PROMPTS and inner & CHECKS and not describes(key)
    return "checks" if key in CHECKS else "prompts" if key in _PROMPTS else "a case" if is_case else ""


def _has_prompts(value: object) -> bool:
    fields = object_in(value)
    return not _PROMPTS.isdisjoint(fields) or any(map(_has_prompts, fields.values()))


def conserved(suite: Suite, source: Source) -> Suite:
    """The suite, with a problem for each key of its file that holds something and is not read."""
    reported = {problem.pointer for problem in suite.problems if problem.level == "error"}
    unread = [one for one in _unread(source, suite.dialect) if one.pointer not in reported]
    if not unread:
        return suite
    places = {problem.pointer for problem in unread}
    others = [one for one in suite.problems if one.rule != "unknown-key" or one.pointer not in places]
    return replace(suite, problems=sorted_by_position([*others, *unread]))


def _unread(source: Source, dialect: str) -> Iterator[FileProblem]:
    if dialect not in _READ:
        return
    root, entry, lists = (keys if isinstance(keys, tuple) else _keys(dialect, keys) for keys in _READ[dialect])
    value: Any = source.value
    if isinstance(value, list):
        yield from _of_entries(source, (), value, entry)
    elif (not root and not lists) or set(lists).isdisjoint(value):
        yield from _of_entries(source, None, [value], entry)
    else:
        yield from _of_root(source, value, (*root, *lists))
        for key in lists:
            yield from _of_entries(source, (key,), value.get(key), entry)


def _keys(dialect: str, name: str) -> tuple[str, ...]:
    """The keys of a definition in the schema of a format, or of the schema itself."""
    rules = schema("runevals.suites.dialects", dialect)
    return tuple((rules["$defs"][name] if name else rules)["properties"])


def _of_root(source: Source, fields: Mapping[str, Any], keys: Collection[str]) -> Iterator[FileProblem]:
    for key in fields.keys() - set(keys):
        if content := content_of(key, fields[key]):
            message = f"'{key}' holds {content} and is not read{did_you_mean(key, keys)}"
            yield source.problem((key,), message, key=True, rule="unknown-key")
        elif not describes(key):
            message = f"'{key}' is not read{did_you_mean(key, keys)}"
            yield source.warning((key,), message, key=True, rule="unknown-key")


def _of_entries(
    source: Source, root: JsonPath | None, entries: object, keys: Collection[str]
) -> Iterator[FileProblem]:
    """Content in cases under names of other formats; a text is a variable, which checks and prompts may use."""
    used = {*keys, *variables_in(source.text)}
    for index, entry in enumerate(list_in(entries)):
        for key in object_in(entry).keys() - used:
            at = (key,) if root is None else (*root, index, key)
            content = content_in_case(key, entry[key])
            if content and not isinstance(entry[key], str):
                message = f"'{key}' holds {content} and is not read in this format"
                yield source.problem(at, message, key=True, rule="unknown-key")
            elif (
                content and key in CHECKS and (key == EXPECTED or entry[key] != entry.get(EXPECTED))
            ):  # its column
                message = f"'{key}' is a variable here, and no check reads it"
                yield source.warning(at, message, key=True, rule="unknown-key")


# Keys of the file, of a case, and of the lists of cases, by the name of a definition in the schema or one by one.
# Other formats name themselves what they do not read.
_READ: Mapping[str, tuple[str | tuple[str, ...], str | tuple[str, ...], tuple[str, ...]]] = {
    "eval-samples": ("file", "sample", ("samples",)),
    "rows": ("file", "row", ("rows", "data")),
    "skill-cases": ((), "case", ()),
    "vally": ("", "stimulus", ("stimuli",)),
    "prompt-yml": ("", (EXPECTED,), ("testData",)),
}
