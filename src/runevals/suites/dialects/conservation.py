"""Nothing of a suite is lost without a word: keys that its format does not read, by what they hold.

A key decides (it holds cases or checks, which would be lost: an error), describes (a note, a label: silence), or
is unknown (a warning).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from itertools import filterfalse
from typing import Any

from msgspec.structs import replace

from runevals.lib.parsing.schema import schema
from runevals.lib.parsing.shapes import list_in, object_in, texts_in
from runevals.lib.parsing.source import JsonPath, Source, pointer
from runevals.lib.text.numbers import phrase, short_list
from runevals.lib.text.suggest import did_you_mean
from runevals.lib.text.variables import variables_in
from runevals.records import FileProblem, Suite
from runevals.suites.dialects.checking import in_cases, sorted_by_position
from runevals.suites.dialects.options import LoadOptions

_DESCRIBES = re.compile(
    r"(?i)^(?:x-|_|\$|<<)|desc|note|comment|metric(?!s)|label|title|name|author|owner|version|licen[cs]e|tags?$|keywords|meta"
    r"|source|created|updated|date|url$|summary|^about$|^id$|^kind$|language|^why$|rationale|^split$|^stratum$"
)
# Words in a key that say what must hold, whoever named it: `required_sections`, `mustContain`.
_DECIDES = re.compile(
    r"(?i)assert|expect|check|scor|evaluat|grad|criteri|gate|rubric|must|should|forbid|avoid|requir|verif|valid"
    r"|threshold|pass_|_pass|command|ideal|truth|correct"
)
_WORD = re.compile(r"\w+")
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
    "input_messages", "history", "chat_history",
})  # fmt: skip
_HOLDS = {**dict.fromkeys(_PROMPTS, "prompts"), **dict.fromkeys(CHECKS, "checks")}


def describes(key: str) -> bool:
    """Whether a key is for the reader of a file, and changes nothing by its name."""
    return _DESCRIBES.search(key) is not None


def decides(key: str) -> bool:
    """Whether a key is likely to say what must hold of an answer, by its name."""
    return _DECIDES.search(key) is not None


def content_of(key: str, value: object) -> str:
    """What would be lost with this key, in a word; empty if it is neither cases nor prompts nor checks."""
    if in_case := content_in_case(key, value):
        return in_case
    if describes(key):
        return ""
    if any(isinstance(entry, dict | list) for entry in list_in(value)) or _has_prompts(value):
        return "cases"
    return "texts" if any(" " in text.strip() for text in texts_in(value)) else ""


def content_in_case(key: str, value: object) -> str:
    """What would be lost with this key of a case, in which further keys are notes and variables."""
    if not (isinstance(value, str | list | dict) and value):
        return ""
    inner = object_in(value).keys()
    return _HOLDS.get(key, phrase(inner & _PROMPTS and inner & CHECKS and not describes(key), "a case"))


def _has_prompts(value: object) -> bool:
    fields = object_in(value)
    return not _PROMPTS.isdisjoint(fields) or any(map(_has_prompts, fields.values()))


def conserved(suite: Suite, source: Source, options: LoadOptions) -> Suite:
    """The suite, with a problem for each key of its file that holds something and is not read."""
    reported = {problem.pointer: problem.level for problem in suite.problems}
    of_settings = [str(value) for spec in options.definitions.values() for value in spec.options.values()]
    used = {*options.variables, *options.columns.values(), *variables_in(source.text)}
    used.update(_WORD.findall(" ".join(of_settings)))
    problems = _unread(source, suite.dialect, used, reported)
    unread = [problem for problem in problems if reported.get(problem.pointer) != "error"]
    if not unread:
        return suite
    places = {problem.pointer for problem in unread}
    others = [one for one in suite.problems if one.rule != "unknown-key" or one.pointer not in places]
    return replace(suite, problems=sorted_by_position([*others, *unread]))


def _unread(
    source: Source, dialect: str, used: Collection[str], reported: Collection[str]
) -> Iterator[FileProblem]:
    if dialect not in _READ:
        return
    root, entry, lists = (keys if isinstance(keys, tuple) else _keys(dialect, keys) for keys in _READ[dialect])
    used = {*entry, *used}
    value: Any = source.value
    if isinstance(value, list):
        yield from _of_entries(source, (), value, used, reported)
    elif (not root and not lists) or set(lists).isdisjoint(value):
        yield from _of_entries(source, None, [value], used, reported)
    else:
        yield from _of_root(source, value, (*root, *lists))
        for key in lists:
            yield from _of_entries(source, (key,), value.get(key), used, reported)


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
    source: Source, root: JsonPath | None, entries: object, used: Collection[str], reported: Collection[str]
) -> Iterator[FileProblem]:
    """Content in cases under names of other formats; the rest are variables, which checks and prompts may use."""
    unread: dict[str, list[JsonPath]] = {}
    for index, entry in enumerate(list_in(entries)):
        for key in sorted(object_in(entry).keys() - used):
            at = (key,) if root is None else (*root, index, key)
            content = content_in_case(key, entry[key])
            read = map({**entry, key: None}.get, ("input", "prompt", EXPECTED))
            if content and not isinstance(entry[key], str):
                message = f"'{key}' holds {content} and is not read in this format; move it, or take it out"
                yield source.problem(at, message, key=True, rule="unknown-key")
            elif pointer(at) not in reported and entry[key] not in (None, "", [], {}, *read):
                unread.setdefault(key, []).append(at)
    deciding = list(filter(decides, unread))
    for key in deciding:
        message = f"'{key}' is a variable here, and no check reads it{in_cases(len(unread[key]))}"
        yield source.warning(unread[key][0], message, key=True, rule="unknown-key")
    if others := sorted(filterfalse(describes, unread.keys() - set(deciding))):
        names = [one or "(no name)" for one in others]
        message = f"no check or prompt reads {short_list(names, 12)}; kept as variables"
        yield source.problem((), message, rule="unknown-key", level="notice")


# Keys of the file, of a case, and of the lists of cases, by the name of a definition in the schema or one by one.
# Other formats name themselves what they do not read.
_READ: Mapping[str, tuple[str | tuple[str, ...], str | tuple[str, ...], tuple[str, ...]]] = {
    "eval-samples": ("file", "sample", ("samples",)),
    "rows": ("file", "row", ("rows", "data")),
    "skill-cases": ((), "case", ()),
    "vally": ("", "stimulus", ("stimuli",)),
    "prompt-yml": ("", (EXPECTED, "testId", "context", "category", "critical"), ("testData",)),
}
