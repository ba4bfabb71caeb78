"""promptfoo's assertions as those of eval samples."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from msgspec import Struct

from runevals.imports.code import AnswerShape, CodeFiles, NoEquivalent, is_trim, reads_fields
from runevals.imports.comparisons import COMPARISONS, FUNCTION_CALLS, valid_calls
from runevals.imports.equivalents import equivalent, on_five, text
from runevals.imports.files import PREFIX
from runevals.imports.remarks import Remarks
from runevals.imports.templates import NotPlain, rendered
from runevals.lib.nullable import known, without_none
from runevals.lib.parsing.shapes import entries_of, is_number, list_in
from runevals.records.errors import UsageError
from runevals.suites.dialects.conservation import describes
from runevals.suites.dialects.synonyms import is_text
from runevals.suites.dialects.variables import as_text

WITHOUT_EQUAL = "has no equivalent in runevals"
_OWN_GRADER = "its own grader is not converted; name judges in the settings"
MOST_NESTED = 8
MOST_WORDS = 200  # characters of those that are named
_WORD = re.compile(r"\w+")
_READ = frozenset({"type", "value", "threshold", "weight", "assert", "provider", "transform"})
_DECIDE = ("rubricPrompt", "contextTransform", "config")  # what an assertion holds by these it holds by them only
_WITHOUT_OUTPUT = ("latency", "cost", "trajectory:", "skill-used")
_JUDGED_AS_IT_IS = "a judge and this check see the answer, and not what its transform makes of it"
# All types that a cell of a table can name.
_TYPES = """
agent-rubric answer-relevance bleu classifier contains contains-all contains-any contains-html contains-json
contains-sql contains-xml context-faithfulness context-recall context-relevance conversation-relevance cost
equals factuality finish-reason g-eval gleu guardrails icontains icontains-all icontains-any is-html is-json
is-refusal is-sql is-valid-function-call is-valid-openai-function-call is-valid-openai-tools-call is-xml
javascript latency levenshtein llm-rubric meteor model-graded-closedqa model-graded-factuality moderation
perplexity perplexity-score pi python regex rouge-n ruby search-rubric similar similar:cosine similar:dot
similar:euclidean skill-used starts-with tool-call-f1 trace-error-spans trace-span-count trace-span-duration
trajectory:goal-success trajectory:step-count trajectory:tool-args-match trajectory:tool-sequence
trajectory:tool-used webhook word-count
"""
_RUBRICS: Mapping[str, str] = {
    **dict.fromkeys(("llm-rubric", "g-eval", "model-graded-closedqa"), "{}"),
    **dict.fromkeys(
        ("factuality", "model-graded-factuality"),
        "It agrees with the facts of this reference, and contradicts none of them: {}",
    ),
}
_MEANS_MORE = {
    "context-recall": "it looks at the context, and ours at the answer; write what it must hold as a rubric",
    "select-best": "it picks among the answers of several prompts; here, each prompt is compared with its base",
    "max-score": "it picks among the answers of several prompts; here, each prompt is compared with its base",
    "human": "a run has no human grader",
    "contains-json": "json_schema with strip_fences accepts fenced JSON, not JSON anywhere in a text",
}


class AssertedTest(Struct, frozen=True, kw_only=True):
    """The test that assertions are of: its variables, and what it makes of an answer before it is checked."""

    location: str
    values: Mapping[str, Any]
    transforms: tuple[str, ...] = ()


class ConvertedAssertions(Struct, frozen=True, kw_only=True):
    """What the assertions of one test became."""

    assertions: tuple[dict[str, Any], ...] = ()
    rubrics: tuple[str, ...] = ()
    rubric_threshold: float | None = None  # 1–5

    @property
    def number(self) -> int:
        """How many assertions these were."""
        return len(self.assertions) + len(self.rubrics)


class Assertions(Struct, frozen=True, kw_only=True):
    """Converts assertions; `functions` are those that the model may call."""

    code: CodeFiles
    remarks: Remarks
    templates: Mapping[str, Any]
    shape: AnswerShape = AnswerShape()
    functions: Sequence[Mapping[str, Any]] = ()

    def of(self, raw_assertions: Sequence[Any], test: AssertedTest) -> ConvertedAssertions:
        """All assertions of one test."""
        converted: list[dict[str, Any]] = []
        rubrics: list[str] = []
        thresholds: list[float] = []
        for number, raw in enumerate(raw_assertions, start=1):
            at = f"{test.location}, assertion {number}"
            try:
                assertion = self._resolve(raw)
                at = f"{at} ({assertion['type']})"
                if assertion["type"] in _RUBRICS:
                    rubrics.append(self._rubric(assertion, test, at))
                    if is_number(assertion.get("threshold")):
                        thresholds.append(on_five(assertion["threshold"]))
                else:
                    converted.append(self._convert(assertion, test, at))
                    self._note_lost_words(assertion, converted[-1], at)
            except (NoEquivalent, NotPlain, UsageError) as reason:
                self.remarks.not_converted(at, str(reason), checks=1)
        if len(rubrics) > 1:
            self.remarks.differs(test.location, f"{len(rubrics)} rubrics became one that asks for all of them")
        return ConvertedAssertions(
            assertions=tuple(converted), rubrics=tuple(rubrics), rubric_threshold=max(thresholds, default=None)
        )

    def _resolve(self, raw: Any) -> Mapping[str, Any]:
        """The assertion itself, if it stands as a reference to a template."""
        if not isinstance(raw, Mapping):
            raise NoEquivalent("is not an assertion")
        reference = raw.get("$ref")
        if isinstance(reference, str):
            name = reference.rpartition("/")[2]
            if not isinstance(self.templates.get(name), Mapping):
                raise NoEquivalent(f"there is no assertion template {reference}")
            raw = {**self.templates[name], **{key: value for key, value in raw.items() if key != "$ref"}}
        if not isinstance(raw.get("type"), str):
            raise NoEquivalent("has no type")
        assertion: Mapping[str, Any] = raw
        return assertion

    def _convert(
        self, assertion: Mapping[str, Any], test: AssertedTest, at: str, depth: int = 0
    ) -> dict[str, Any]:
        kind: str = assertion["type"]
        plain = kind.removeprefix("not-")
        self._require_convertible(assertion, at, read=("config",) if plain in self._programs else ())
        if plain == "assert-set":
            converted = self._set(assertion, test, at, depth)
        else:
            converted = self._as_code(plain, assertion, test, at) or self._as_evaluator(assertion, test, at)
        self._note_grader(assertion, at)
        weight = {"weight": assertion["weight"]} if is_number(assertion.get("weight")) else {}
        return {**converted, **weight, **({"not": True} if kind != plain and equivalent(kind) is None else {})}

    def _require_convertible(self, assertion: Mapping[str, Any], at: str, read: Collection[str] = ()) -> None:
        """Raises NoEquivalent if it only measures, or for a key that decides; another key may be a remark."""
        if assertion.get("weight") == 0:
            raise NoEquivalent("weight 0 only measures; a check here counts, or is not there")
        for key in sorted(assertion.keys() - _READ - set(read)):
            if key in _DECIDE:
                raise NoEquivalent(f"'{key}' {WITHOUT_EQUAL}")
            if not describes(key):
                self.remarks.differs(at, f"'{key}' is not known, and not converted")

    def _note_grader(self, assertion: Mapping[str, Any], at: str) -> None:
        if "provider" in assertion:
            self.remarks.differs(at, _OWN_GRADER)

    def _note_lost_words(self, assertion: Mapping[str, Any], converted: Mapping[str, Any], at: str) -> None:
        """A remark on words of the value and config that are neither in the check nor in its code."""
        written = [as_text(converted), *(self.code.code.get(str(one), "") for one in converted.values())]
        words = set(_WORD.findall(" ".join(written)))
        operands = {key: assertion[key] for key in ("value", "config") if key in assertion}
        if lost := sorted({word for text in _texts_in(operands) for word in _WORD.findall(text)} - words):
            self.remarks.not_converted(at, f"what was written lacks {', '.join(lost)[:MOST_WORDS]}")

    def _as_evaluator(self, assertion: Mapping[str, Any], test: AssertedTest, at: str) -> dict[str, Any]:
        kind: str = assertion["type"]
        plain = kind.removeprefix("not-")
        if equivalent(plain) is None:
            raise NoEquivalent(_MEANS_MORE.get(plain, WITHOUT_EQUAL))
        if not plain.startswith(_WITHOUT_OUTPUT):
            self._require_as_it_is(assertion, test)
        value = self._value(assertion.get("value"), test.values)
        ours = equivalent(kind if equivalent(kind) else plain, value)
        assert ours is not None  # noqa: S101 - its type has one
        check = ours.check({**assertion, "value": value}, test.values)
        if ours.differs:
            self.remarks.differs(at, ours.differs)
        return check

    def _as_code(
        self, plain: str, assertion: Mapping[str, Any], test: AssertedTest, at: str
    ) -> dict[str, Any] | None:
        """An assertion that is code, or that looks at more than the answer's text; None for others."""
        transforms = _transforms(assertion, test)
        operand = None
        if (program := self._programs.get(plain)) is not None:
            name = program(assertion, test, transforms)
            self.remarks.differs(
                at, f"became {name}, which sees output, context.vars and context.config, and nothing outside"
            )
        elif plain in FUNCTION_CALLS:
            name = self._function_calls()
        elif plain in COMPARISONS and (transforms or self.shape.calls is not None):
            name = self.code.javascript(COMPARISONS[plain].check, self.shape, transforms)
            operand = COMPARISONS[plain].operand(self._value(assertion.get("value"), test.values))
        else:
            return None
        return {
            "type": "custom",
            "fn": name,
            **without_none(value=operand or None, config=assertion.get("config")),
        }

    @property
    def _programs(self) -> Mapping[str, Callable[[Mapping[str, Any], AssertedTest, tuple[str, ...]], str]]:
        return {"javascript": self._javascript, "python": self._python}

    def _javascript(self, assertion: Mapping[str, Any], test: AssertedTest, transforms: tuple[str, ...]) -> str:
        check = self.code.function(text(assertion.get("value")), "check", test.values)
        return self.code.javascript(check, self._shape(check, transforms), transforms, assertion.get("threshold"))

    def _python(self, assertion: Mapping[str, Any], test: AssertedTest, transforms: tuple[str, ...]) -> str:
        if not all(map(is_trim, transforms)):
            raise NoEquivalent("a transform in JavaScript before a check in Python")
        check = self.code.python_function(text(assertion.get("value")), test.values)
        return self.code.python(check, self._shape(check, transforms), assertion.get("threshold"))

    def _shape(self, check: str, transforms: tuple[str, ...]) -> AnswerShape:
        """The shape of an answer; promptfoo's providers may return objects, and here all answers are texts."""
        reads = self.shape.is_text and not transforms and reads_fields(check)
        return AnswerShape(parsed=True) if reads else self.shape

    def _function_calls(self) -> str:
        if not self.functions:
            raise NoEquivalent("the provider's config declares no functions to compare calls with")
        calls = self.shape if self.shape.calls is not None else AnswerShape(calls="all")
        return self.code.javascript(valid_calls(self.functions), calls)

    def _require_as_it_is(self, assertion: Mapping[str, Any], test: AssertedTest) -> None:
        if not all(map(is_trim, _transforms(assertion, test))):
            raise NoEquivalent(_JUDGED_AS_IT_IS)

    def _value(self, value: Any, values: Mapping[str, Any]) -> Any:
        """The value with variables filled in; of a file of data, what is in it."""
        if isinstance(value, list):
            return [rendered(item, values) if isinstance(item, str) else item for item in value]
        if not isinstance(value, str):
            return value
        if not value.startswith(PREFIX):
            return rendered(value, values)
        path = self.code.files.referenced(value)[0]
        if path.suffix in (".json", ".yaml", ".yml"):
            return self.code.files.value(path)
        if path.suffix in (".txt", ".md"):
            return rendered(self.code.files.plain_text(path), values)
        raise NoEquivalent(f"{value} is a program; write it as a grader (docs/graders.md)")

    def _rubric(self, assertion: Mapping[str, Any], test: AssertedTest, at: str) -> str:
        self._require_convertible(assertion, at)
        self._require_as_it_is(assertion, test)
        value = self._value(assertion.get("value"), test.values)
        if not value:
            raise NoEquivalent("has no value")
        self._note_grader(assertion, at)
        return _RUBRICS[assertion["type"]].format("\n".join(map(as_text, entries_of(value))))

    def _set(self, assertion: Mapping[str, Any], test: AssertedTest, at: str, depth: int) -> dict[str, Any]:
        parts = list_in(assertion.get("assert"))
        if not parts or depth >= MOST_NESTED:
            raise NoEquivalent("has no assertions, or too many within each other")
        threshold = assertion.get("threshold", 1)
        if threshold != 1 and not (is_number(threshold) and 0 < threshold * len(parts) <= 1):
            raise NoEquivalent(f"a set passes if all of its assertions pass, or any; not a share of {threshold}")
        children = []
        for number, part in enumerate(parts, start=1):
            member = self._resolve(part)
            if member["type"] in _RUBRICS:
                raise NoEquivalent(f"{member['type']} stands inside a set; a rubric here stands beside them")
            children.append(self._convert(member, test, f"{at}, {number}", depth + 1))
        return {"type": "assert-set", "mode": "all" if threshold == 1 else "any", "children": children}


def _texts_in(value: Any) -> Iterator[str]:
    """The texts and numbers in a value, without kinds, templates, and names of files with its content."""
    if isinstance(value, Mapping | list):
        inner = [one for key, one in value.items() if key != "type"] if isinstance(value, Mapping) else value
        yield from chain.from_iterable(map(_texts_in, inner))
    elif not isinstance(value, bool | None) and "{{" not in (text := as_text(value)) and PREFIX not in text:
        yield text


def _transforms(assertion: Mapping[str, Any], test: AssertedTest) -> tuple[str, ...]:
    """The transforms of an answer before an assertion. Raises NoEquivalent for one that is not code."""
    transforms = (*test.transforms, *known([assertion.get("transform")]))
    if not all(map(is_text, transforms)):
        raise NoEquivalent("its transform is not text")
    return transforms


_CELL = re.compile(
    rf"(?s)(?P<type>(?:not-)?(?:{'|'.join(_TYPES.split())}))(?:\((?P<threshold>\d+(?:\.\d+)?)\))?(?::(?P<value>.*))?"
)
_WITH_THRESHOLD = frozenset({
    "answer-relevance", "context-faithfulness", "context-recall", "context-relevance", "cost", "latency",
    "levenshtein", "rouge-n", "similar", "starts-with", "perplexity", "perplexity-score", "classifier",
})  # fmt: skip


def from_cell(text: str) -> dict[str, Any]:
    """An assertion as a cell of a table has it: `type(threshold): value`, or the text that is expected."""
    text = text.strip()
    for word, kind in (("fn:", "javascript"), ("eval:", "javascript"), ("grade:", "llm-rubric")):
        if text.startswith(word):
            return {"type": kind, "value": text.removeprefix(word).strip()}
    match = _CELL.fullmatch(text)
    if match is None:
        return {"type": "equals", "value": text}
    kind = match["type"].removeprefix("not-")
    assertion: dict[str, Any] = {"type": match["type"], "value": (match["value"] or "").strip()}
    if kind in _WITH_THRESHOLD:
        assertion["threshold"] = float(match["threshold"] or (0.8 if kind == "similar" else 0.75))
    return assertion
