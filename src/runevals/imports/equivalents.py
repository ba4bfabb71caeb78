"""promptfoo's types of assertions as one table: our evaluator, and how value and threshold become its options."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal

from msgspec import Struct

from runevals.evaluators.text.blank import is_blank
from runevals.evaluators.text.ngrams import unusable
from runevals.imports.code import NoEquivalent
from runevals.lib.parsing.shapes import is_number, list_in, object_in
from runevals.lib.parsing.source import read_yaml
from runevals.suites.dialects.synonyms import is_text
from runevals.suites.dialects.variables import as_text

_BOUNDS = ("min", "max")


def on_five(share: float) -> float:
    """A threshold of 0–1 on the judge's scale of 1–5."""
    return round(1 + 4 * min(max(share, 0), 1), 2)


def text(value: Any) -> str:
    """A value that must be text. Raises NoEquivalent."""
    if not isinstance(value, str | int | float) or isinstance(value, bool) or value == "":
        raise NoEquivalent("its value is not text")
    return as_text(value)


def texts(value: Any) -> list[str]:
    """A value that must be texts, in a list or between commas. Raises NoEquivalent."""
    items = value
    if isinstance(value, str):  # quotes keep what has a comma together
        cells = (cell for row in csv.reader(io.StringIO(value), skipinitialspace=True) for cell in row)
        items = list(filter(None, map(str.strip, cells)))
    if not isinstance(items, list) or not items:
        raise NoEquivalent("its value is not a list of texts")
    if any(is_blank(as_text(item)) for item in items):
        raise NoEquivalent("one of its values is blank")
    return [as_text(item) for item in items]


def _phrase(value: Any) -> str:
    if is_blank(text(value)):
        raise NoEquivalent("its value is blank")
    return text(value)


def _reference(value: Any, n: int, evaluator: str) -> str:
    if (reason := unusable(text(value), n, evaluator)) is not None:
        raise NoEquivalent(reason)
    return text(value)


def schema(value: Any) -> Mapping[str, Any]:
    """A JSON schema, also one in text; empty if there is none. Raises NoEquivalent."""
    parsed: Any = read_yaml(value, "the schema").value if is_text(value) else value
    required = parsed or {}
    if not isinstance(required, Mapping):
        raise NoEquivalent("its schema is not an object")
    return required


def _json(value: Any) -> dict[str, Any]:
    required = schema(value)
    return {"type": "json_schema", "schema": required} if required else {"type": "json_valid"}


def _bounded(value: Mapping[str, Any], evaluator: str, lacking: str) -> list[dict[str, Any]]:
    """A check for each bound of a count."""
    bounds = {key: value[key] for key in _BOUNDS if key in value}
    if not bounds:
        raise NoEquivalent(lacking)
    try:
        return [{"type": f"{evaluator}_{key}", "value": int(bound)} for key, bound in bounds.items()]
    except (TypeError, ValueError):
        raise NoEquivalent("min or max is not a number") from None


_words = partial(_bounded, evaluator="word_count", lacking="has neither min nor max")


def _steps(value: Any) -> list[dict[str, Any]]:
    lacking = "only steps that are tool calls are counted, from min to max"
    if not isinstance(value, Mapping) or value.get("type") != "tool" or "pattern" in value:
        raise NoEquivalent(lacking)
    return _bounded(value, "tools_count", lacking)


def _tool(value: Any) -> str:
    """The tool or skill that a value names. Raises NoEquivalent."""
    name = object_in(value).get("name", value)
    if not is_text(name):
        raise NoEquivalent("only names can be asked for, not patterns or kinds of steps")
    return name


def _counted_tool(value: Mapping[str, Any]) -> dict[str, Any]:
    bounds = {key: value[key] for key in _BOUNDS if value.get(key) is not None}
    return {"tool": _tool(value), **(bounds or {"min": 1})}


def _arguments(value: Any) -> dict[str, Any]:
    match = object_in(value).get("args", object_in(value).get("arguments"))
    if not isinstance(match, Mapping) or (not match and value.get("mode") != "exact"):
        raise NoEquivalent("names no arguments")
    return {"tool": _tool(value), "match": match, "mode": value.get("mode", "partial")}


def _sequence(value: Any) -> dict[str, Any]:
    steps, mode = list_in(object_in(value).get("steps", value)), object_in(value).get("mode")
    if not steps:
        raise NoEquivalent("names no steps")
    return {"steps": [_tool(step) for step in steps], "mode": mode or "in_order"}


def _skills(value: Any) -> list[str]:
    if not isinstance(value, Mapping):
        return texts(value)
    if set(_BOUNDS) & value.keys():
        raise NoEquivalent("how often a skill is loaded is not counted")
    return [_tool(value)]


class Threshold(Struct, frozen=True, kw_only=True):
    """The option that a threshold becomes."""

    option: str = "threshold"
    default: float | None = None
    optional: bool = False
    scaled: Callable[[float], float] = lambda number: number

    def options(self, stated: object) -> dict[str, Any]:
        """The option; none if it may be left out. Raises NoEquivalent."""
        number = self.default if stated is None else stated
        if is_number(number):
            return {self.option: self.scaled(number)}
        if self.optional:
            return {}
        raise NoEquivalent("has no threshold")


class Equivalent(Struct, frozen=True):
    """What one type of assertion is here."""

    type: str
    read: Callable[[Any], Any] = text  # the value as ours, or the options themselves
    option: str = "value"  # that takes a value
    each: Literal["", "all", "any"] = ""  # a check for each of several, of which all must pass, or any
    threshold: Threshold | None = None
    fixed: Mapping[str, Any] = {}
    variables: Mapping[str, str] = {}  # option → the variable of the test that it takes
    differs: str = ""

    def check(self, assertion: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
        """The check of an assertion whose value is filled in. Raises NoEquivalent."""
        operand = self.read(assertion.get("value"))
        more = {**self.fixed, **(self.threshold.options(assertion.get("threshold")) if self.threshold else {})}
        more |= {option: _variable(values, name) for option, name in self.variables.items()}
        parts = operand if self.each else [operand]
        checks = [
            {"type": self.type, **(one if isinstance(one, dict) else {self.option: one}), **more} for one in parts
        ]
        return checks[0] if len(checks) == 1 else {"type": "assert-set", "mode": self.each, "children": checks}


def _variable(values: Mapping[str, Any], name: str) -> str:
    if isinstance(value := values.get(name), str):
        return value
    raise NoEquivalent(f"the test has no variable {name!r}")


def _nothing(_value: Any) -> dict[str, Any]:
    return {}


_CASED = {"case_sensitive": True}
_LIMIT = Threshold(option="value")
_ON_FIVE = Threshold(optional=True, scaled=on_five)
_IN_ITS_WAY = "{} counts in its own way; look at its threshold"
_JUDGED = "a judge scores it 1–5; look at its threshold"
_BLEU, _ROUGE = (partial(_reference, n=n, evaluator=name) for n, name in ((4, "bleu_min"), (1, "rouge_n_min")))
_EQUIVALENTS: Mapping[str, Equivalent] = {
    "contains": Equivalent("contains", _phrase, fixed=_CASED),
    "icontains": Equivalent("contains", _phrase),
    "starts-with": Equivalent("starts_with", _phrase, fixed=_CASED),
    "contains-any": Equivalent("contains", texts, each="any", fixed=_CASED),
    "contains-all": Equivalent("contains", texts, each="all", fixed=_CASED),
    "icontains-any": Equivalent("contains_any", texts, "values"),
    "icontains-all": Equivalent("contains_all", texts, "values"),
    "equals": Equivalent("equals", differs="white space around the answer is not compared"),
    "regex": Equivalent("regex", text, "pattern", fixed={"flags": ""}),
    "is-json": Equivalent("json_valid", _json),
    "levenshtein": Equivalent(
        "levenshtein_max", text, "reference", threshold=Threshold(option="value", default=5, scaled=int)
    ),
    "word-count": Equivalent("word_count", lambda number: _words({"min": number, "max": number}), each="all"),
    "rouge-n": Equivalent(
        "rouge_n_min", _ROUGE, "reference", "", Threshold(default=0.75), differs=_IN_ITS_WAY.format("rouge_n_min")
    ),
    "bleu": Equivalent(
        "bleu_min", _BLEU, "reference", "", Threshold(default=0.5), differs=_IN_ITS_WAY.format("bleu_min")
    ),
    "similar": Equivalent(
        "semantic_similarity",
        text,
        "reference",
        differs="a judge compares the meaning, 1–5, from 3; no embeddings are",
    ),
    "answer-relevance": Equivalent("answer_relevancy", _nothing, threshold=_ON_FIVE, differs=_JUDGED),
    "context-faithfulness": Equivalent(
        "faithfulness", _nothing, threshold=_ON_FIVE, variables={"reference": "context"}, differs=_JUDGED
    ),
    "latency": Equivalent("latency_max", _nothing, threshold=_LIMIT),
    "cost": Equivalent("cost_max", _nothing, threshold=_LIMIT),
    "trajectory:tool-used": Equivalent("tools_called", texts, "values"),
    "trajectory:tool-args-match": Equivalent("tool_arguments", _arguments),
    "trajectory:tool-sequence": Equivalent("tool_sequence", _sequence),
    "trajectory:step-count": Equivalent("tools_count", _steps, each="all"),
    "skill-used": Equivalent("skill_triggered", _skills, "skill", "all"),
    # None of them is loaded, which is more than that not all are.
    "not-skill-used": Equivalent("skill_triggered", _skills, "skill", "all", fixed={"should_trigger": False}),
}
# Of a value that is an object or a list, if that is another check than of a text.
_CONSTANT = Equivalent("json_schema", lambda value: {"schema": {"const": value}})
_OF_OBJECTS: Mapping[tuple[str, type], Equivalent] = {
    ("equals", dict): _CONSTANT,
    ("equals", list): _CONSTANT,
    ("word-count", dict): Equivalent("word_count", _words, each="all"),
    ("trajectory:tool-used", dict): Equivalent("tool_count", _counted_tool),
}


def equivalent(kind: str, value: object = None) -> Equivalent | None:
    """What a type of assertion is here with such a value; a type with `not-` may have an entry of its own."""
    return _OF_OBJECTS.get((kind, type(value)), _EQUIVALENTS.get(kind))
