"""The assertions and expectations of Agent Skills as evaluators.

Prose becomes one judged check each. What can be decided without a judge is decided without one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from runevals.evaluators import catalogue
from runevals.evaluators.format_names import INVERTED, TYPES
from runevals.lib.nullable import without, without_none
from runevals.lib.parsing.shapes import entries_of, is_number, is_whole, objects_in, text_in, texts_in
from runevals.lib.parsing.source import JsonPath
from runevals.lib.text.numbers import phrase
from runevals.lib.text.suggest import nearest
from runevals.records import EvaluatorSpec, cut_name, one_line
from runevals.suites.dialects.assertions import numbered
from runevals.suites.dialects.checking import LOST_CHECK, Reader
from runevals.suites.dialects.synonyms import first_of, is_id, is_string, is_text

# Lists of statements and of checks: what must hold, and what must not.
CHECKS = (
    *("assertions", "expectations", "checks", "scorers", "graders", "expect", "criteria", "rubric", "rubrics"),
    *("scoring_criteria", "evaluation_criteria", "success_criteria", "acceptance_criteria", "pass_criteria"),
    *("expected_behavior", "expected_behaviors", "expected_behaviour", "expected_behaviours", "expected_checks"),
    *("constraints", "must"),
)
NEGATED = (
    *("anti_expectations", "anti_assertions", "negative_expectations", "fail", "fail_if", "fails_if"),
    *("forbidden", "forbidden_outputs", "forbidden_behaviors", "must_not", "should_not"),
    *("flags_to_avoid", "avoid_behaviors", "behaviors_to_avoid"),
)
_CONTAINED = ("_have", "_include", "_contain", "_mention")
_REQUIRED = tuple(f"{must}{have}" for must in ("must", "should") for have in _CONTAINED)  # all of them, not any
_TEXTS = ("text", "description", "statement", "assertion", "expectation", "criterion", "check", "pass_if")
_OPERANDS = ("value", "values", "substring", "pattern", "regex", "phrases", "expected", "count", "prompt")
_READ = ("value", "values", "substring", "pattern", "regex", "phrases", "min", "max", "length")  # by `_options`
_COMMANDS = ("cmd", "command", "script", "run")
_JUDGED = frozenset({"llm_judge", "llm", "judge", "rubric", "semantic", "manual", "llm_rubric", "qualitative"})
_MISSPELT = 80.0  # of 100: from here on, a word counts as misspelt
_INSTEAD = "; its text is judged instead"
FLAGS = re.compile(r"(?:\(\?([ims]+)\))?([\s\S]*)")  # as they stand before a pattern, and the pattern
_PATTERN = re.compile(r"\\[bBdDsSwW]|\.[*+]|\(\?")
_EXPRESSION = re.compile(r"[\w.()\[\]]+ *(?:==|!=|<=|>=|<|>) *\S+")
_Fault = tuple[JsonPath, str, bool]  # where in a check, what is wrong, whether with the key itself
_NAMED_FLAGS = {"ignorecase": "i", "multiline": "m", "dotall": "s"}


def is_negated(key: str) -> bool:
    """Whether the entries of this key must not hold."""
    return key in NEGATED or (key.startswith(("must_not_", "should_not_")) and key != "should_not_trigger")


def has_checks(key: str) -> bool:
    """Whether the entries of this key must hold, or must not."""
    return key in CHECKS or is_negated(key) or key in _REQUIRED


class AgentSkillChecks(Reader, frozen=True, kw_only=True):
    """Reads the checks of one case."""

    def specs(self, case: Mapping[str, Any], place: JsonPath) -> list[EvaluatorSpec]:
        """Everything that must hold, and must not, each with an id of its own."""
        keys = [key for key in case if has_checks(key)]
        checks = [spec for key in keys for spec in self._of_key(case[key], (*place, key), key)]
        expected = case.get("expected_output")
        if all(spec.negated for spec in checks) and is_text(expected):
            # An empty answer has none of what must not be.
            statement = f"The result is as described here: {expected}"
            spec = EvaluatorSpec(name="statement", id="expected_output", options={"statement": statement})
            checks.append(self._at(spec, (*place, "expected_output")))
        return list(numbered(checks))

    def _of_key(self, value: Any, place: JsonPath, key: str) -> Iterator[EvaluatorSpec]:
        for index, entry in enumerate(entries_of(value)):
            at = (*place, index) if isinstance(value, list) else place
            contains = key.endswith((*_CONTAINED, "_outputs"))
            spec = self._entry(entry, at, template="The response contains this: {}" if contains else "{}")
            if spec is not None:
                yield _none_of(replace(spec, negated=spec.negated is not is_negated(key)), entry)

    def _entry(self, entry: Any, place: JsonPath, template: str) -> EvaluatorSpec | None:
        if isinstance(entry, str):
            return self._statement(entry, place, template)
        if entry is None or entry == {}:
            return None
        if not isinstance(entry, Mapping):
            self.wrong(place, "is not a check; write a statement as text, or an object with 'text'")
            return None
        spec = self._operand(entry, place) or self._by_type(entry, place) or self._prose(entry, place, template)
        if spec is None:
            return None
        weight = entry.get("weight")
        weight = weight if is_number(weight) and 0 < weight <= catalogue.MOST_WEIGHT else 1.0
        inverted = any(entry.get(key) is True for key in ("not", "negate", "negated"))
        name = first_of(entry, ("id", "name"), is_id)
        label = one_line(str(name if name is not None else first_of(entry, _TEXTS, is_text) or spec.id))
        spec = replace(spec, id=cut_name(label), weight=float(weight), negated=spec.negated is not inverted)
        return spec if self.can_be_built(spec, place) else None

    def _statement(self, text: str, place: JsonPath, template: str) -> EvaluatorSpec | None:
        if not text.strip():
            self.warn(place, "is blank, and is not checked; write what must hold, or remove it", rule=LOST_CHECK)
            return None
        if _PATTERN.search(text):
            message = "looks like a pattern, and a judge is asked about it; {type: regex, pattern: '…'} asks code"
            self.warn(place, message.replace("…", re.sub(r"[^/]*?/(.+)/.*", r"\1", text)))  # within slashes
        options = {"statement": template.replace("{}", text)}
        return self._at(EvaluatorSpec(name="statement", id=cut_name(one_line(text)), options=options), place)

    def _prose(self, entry: Mapping[str, Any], place: JsonPath, template: str) -> EvaluatorSpec | None:
        """An object without an operand that we know: its text is judged."""
        text: str | None = first_of(entry, _TEXTS, is_text)
        kind = _kind(entry)
        if text is None and (fault := _misspelt(entry) or _unusable(entry)) is not None:
            at, message, is_of_key = fault
            self.wrong((*place, *at), message, key=is_of_key)
            return None
        if any(key in entry for key in _COMMANDS):
            self.warn(place, f"names a command; commands in a suite are never run{phrase(text, _INSTEAD)}")
        elif isinstance(entry.get("check"), str) and _EXPRESSION.fullmatch(entry["check"].strip()):
            self.warn(place, "'check' is an expression of another tool; a judge decides whether it holds")
        elif kind in _BY_WORD:
            self.warn(place, f"'{entry['type']}' needs 'value': {_BY_WORD[kind].operand}{phrase(text, _INSTEAD)}")
        elif kind and kind not in _JUDGED and any(key in entry for key in _OPERANDS):
            self.warn(place, f"the type '{entry['type']}' is not one that we decide{phrase(text, _INSTEAD)}")
        if text is None:
            text = first_of(entry, ("prompt", "value", "rubric"), is_string)
            text = text if text is None or kind in _JUDGED or not kind else f"{kind.replace('_', ' ')}: {text}"
        if text is None:
            self.warn(
                place,
                f"is not read (keys: {', '.join(map(str, entry))}); write what must hold as 'text'",
                rule=LOST_CHECK,
            )
            return None
        return self._statement(text, place, template)

    def _operand(self, entry: Mapping[str, Any], place: JsonPath) -> EvaluatorSpec | None:
        """An object with an operand of a kind that is decided without a judge."""
        if isinstance(entry.get("check"), Mapping):
            return self._combined(entry["check"], place)
        kind = _kind(entry)
        if kind not in _BY_WORD:
            return None
        negated = kind in _BY_WORD[kind].negations
        specs = (_spec(*options, negated=negated) for options in _BY_WORD[kind].options(entry))
        return next((self._at(spec, place) for spec in specs), None)

    def _by_type(self, entry: Mapping[str, Any], place: JsonPath) -> EvaluatorSpec | None:
        """Another check by code of eval samples, such as `tools_called`, with the options that it has there."""
        kind = _kind(entry)
        return None if kind not in _BY_TYPE else self._at(_spec(kind, without(entry, _BESIDE)), place)

    def _combined(self, check: Mapping[str, Any], place: JsonPath) -> EvaluatorSpec | None:
        """`{contains_any, contains_all, matches_any, not_contains, not_matches}`: all of them must hold."""
        children: list[EvaluatorSpec] = []
        for key, value in check.items():
            children += _members(str(key), entries_of(value))
        unknown = [key for key in check if not _members(str(key), [""])]
        if unknown:
            self.warn(place, f"'check' has {', '.join(map(repr, unknown))}, which is not read", rule=LOST_CHECK)
        if not children:
            return None
        return self._at(EvaluatorSpec(name="assert-set", children=tuple(numbered(children))), place)

    def _at(self, spec: EvaluatorSpec, place: JsonPath) -> EvaluatorSpec:
        return replace(spec, location=self.source.locate(place))


def unread_checks(case: Mapping[str, Any], key: str) -> str:
    """The message about an unread key of a case that probably matters."""
    if any(name in entry for entry in objects_in(case[key]) for name in _COMMANDS):
        return f"'{key}' names commands, which are never run from a suite; it decides nothing"
    return f"'{key}' is not read and decides nothing; write what must hold into 'assertions'"


def _value(entry: Mapping[str, Any]) -> dict[str, object]:
    return without_none(value=first_of(entry, ("value", "substring", "pattern", "regex"), is_text))


def _cased_value(entry: Mapping[str, Any]) -> dict[str, object]:
    value = _value(entry)
    return {**value, "case_sensitive": True} if value and entry.get("case_sensitive") is True else value


def _values(entry: Mapping[str, Any]) -> dict[str, object]:
    texts = texts_in(first_of(entry, ("values", "phrases", "value"), lambda one: isinstance(one, list)))
    return {"values": texts} if texts else {}


def _number(entry: Mapping[str, Any]) -> dict[str, object]:
    number = first_of(entry, ("value", "count", "min", "max", "length"), lambda one: is_whole(one) and one >= 0)
    return without_none(value=number)


def _regex(entry: Mapping[str, Any]) -> dict[str, object]:
    value = _value(entry)
    return _pattern(str(value["value"]), entry.get("flags")) if value else {}


def _repeated(entry: Mapping[str, Any]) -> dict[str, object]:
    pattern, number = _regex(entry), _number(entry).get("value")
    if not pattern or not number:
        return {}
    return {**pattern, "pattern": f"(?:(?:{pattern['pattern']})[\\s\\S]*?){{{number}}}"}


class _Type(Struct, frozen=True):
    """A type of check that code decides: the evaluators that can, the first whose options are there."""

    evaluators: Mapping[str, Callable[[Mapping[str, Any]], dict[str, object]]]
    operand: str = "a text"  # for messages
    synonyms: tuple[str, ...] = ()
    negations: tuple[str, ...] = ()  # the types that say that it does not hold

    def options(self, entry: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, object]]]:
        """(evaluator, its options), of those whose operand is there and of the right type."""
        return ((name, options) for name, read in self.evaluators.items() if (options := read(entry)))


_TYPES_OF_CODE: Mapping[str, _Type] = {
    "contains": _Type(
        {"contains_all": _values, "contains": _cased_value},
        "a text, or a list of texts",
        ("includes", "icontains"),
        ("not_contains", "contains_not", "excludes", "does_not_contain"),
    ),
    "contains_any": _Type(
        {"contains_any": _values}, "a list of texts", negations=("contains_none", "not_contains_any")
    ),
    "contains_all": _Type({"contains_all": _values}, "a list of texts"),
    "starts_with": _Type({"starts_with": _cased_value}),
    "ends_with": _Type({"ends_with": _cased_value}),
    "equals": _Type({"equals": _value}),
    "regex": _Type(
        {"regex": _regex},
        "a text",
        ("matches", "pattern"),
        ("not_regex", "regex_absent", "not_matches", "regex_not"),
    ),
    "min_length": _Type({"min_length": _number}, "a whole number from 0"),
    "max_length": _Type({"max_length": _number}, "a whole number from 0"),
    "min_occurrences": _Type({"regex": _repeated}, "a text, and a whole number from 1 as 'count',"),
}
_BY_WORD = {word: one for name, one in _TYPES_OF_CODE.items() for word in (name, *one.synonyms, *one.negations)}
_NO_CODE = ("faithfulness", "answer_relevancy", "context_recall", "semantic_similarity", "statement", "custom")
_BY_TYPE = frozenset(TYPES).difference(INVERTED, _BY_WORD, _NO_CODE, ["assert-set"])
_BESIDE = frozenset({"type", "id", "name", "weight", "not", "negate", "negated", *_TEXTS})
_TYPES = frozenset({*_JUDGED, *_BY_WORD, *_BY_TYPE})


def _unusable(entry: Mapping[str, Any]) -> _Fault | None:
    """The fault of a check that code would decide if its operand could be used.

    Without words of its own a judge is not asked instead: the question would be another.
    """
    kind = _kind(entry)
    if kind not in _BY_WORD:
        return None
    operand = _BY_WORD[kind].operand
    for key in _READ:
        if key in entry:
            needs = f"'{entry['type']}' needs {operand} here, but it is {json.dumps(entry[key])[:60]}"
            return (key,), needs, False
    if any(key in entry for key in _OPERANDS):
        return None
    return (), f"'{entry['type']}' needs 'value': {operand}", False


def _none_of(spec: EvaluatorSpec, entry: object) -> EvaluatorSpec:
    """`contains` with several texts holds if all of them are there; negated, if none of them is."""
    if not spec.negated or spec.name != "contains_all" or not isinstance(entry, Mapping):
        return spec
    if _kind(entry) == "contains_all":
        return spec
    return replace(spec, name="contains_any", id="contains_any" if spec.id == spec.name else spec.id)


def _members(key: str, values: list[Any]) -> list[EvaluatorSpec]:
    texts = texts_in(values)
    match key:
        case "contains_any" | "contains_all":
            return [_spec(key, {"values": texts})] if texts else []
        case "contains" | "not_contains":
            return [_spec("contains", {"value": text}, negated=key != "contains") for text in texts]
        case "not_matches":
            return [_spec("regex", _pattern(text, None), negated=True) for text in texts]
        case "matches" | "matches_all":
            return [_spec("regex", _pattern(text, None)) for text in texts]
        case "matches_any":
            either = tuple(numbered([_spec("regex", _pattern(text, None)) for text in texts]))
            return [EvaluatorSpec(name="assert-set", options={"mode": "any"}, children=either)] if either else []
        case _:
            return []


def _spec(name: str, options: Mapping[str, object], *, negated: bool = False) -> EvaluatorSpec:
    return EvaluatorSpec(name=name, id=name, options=options, negated=negated)


def _pattern(text: str, flags: object) -> dict[str, object]:
    """A pattern as our regex takes it: flags beside it, groups named as in JavaScript."""
    inline, pattern = FLAGS.fullmatch(text).groups("")  # type: ignore[union-attr] # fits all
    words = list(filter(text_in, entries_of(flags)))
    flag_names = [_NAMED_FLAGS.get(str(word).rpartition(".")[2].lower(), str(word)) for word in words]
    letters = "".join(dict.fromkeys("".join([*flag_names, inline])))
    return {"pattern": pattern.replace("(?P<", "(?<"), "flags": letters}


def _kind(entry: Mapping[str, Any]) -> str:
    return text_in(entry.get("type")).strip().lower().replace("-", "_").replace(" ", "_")


def _misspelt(entry: Mapping[str, Any]) -> _Fault | None:
    """The fault of a check that no evaluator can decide because a word in it is misspelt."""
    kind = _kind(entry)
    if kind and kind not in _TYPES and (guess := _nearest(kind, _TYPES)) is not None:
        return ("type",), f"there is no type '{one_line(entry['type'])}'; did you mean '{guess}'?", False
    known = ("type", *_TEXTS, *_OPERANDS)
    for key in entry:
        if key not in known and key not in CHECKS and (guess := _nearest(key, known)) is not None:
            return (key,), f"unknown key '{one_line(key)}'; did you mean '{guess}'?", True
    return None


def _nearest(word: str, names: Iterable[str]) -> str | None:
    """The name nearest to a misspelt word; words of other tools, such as `output_contains`, begin differently."""
    return nearest(word, [name for name in names if name[:1] == word[:1]], least=_MISSPELT)
