"""promptfoo's assertions as those of eval samples."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from msgspec import Struct

from runevals.evaluators.text.blank import is_blank
from runevals.evaluators.text.ngrams import unusable
from runevals.imports.code import AnswerShape, CodeFiles, NoEquivalent, is_trim, reads_fields
from runevals.imports.comparisons import FUNCTION_CALLS, comparison, valid_calls
from runevals.imports.files import PREFIX
from runevals.imports.remarks import Remarks
from runevals.imports.templates import NotPlain, rendered
from runevals.lib.parsing.source import read_yaml
from runevals.records.errors import UsageError
from runevals.suites.dialects.conservation import describes
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
    "llm-rubric": "{}",
    "g-eval": "{}",
    "model-graded-closedqa": "{}",
    "factuality": "It agrees with the facts of this reference, and contradicts none of them: {}",
    "model-graded-factuality": "It agrees with the facts of this reference, and contradicts none of them: {}",
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
                    thresholds += (
                        [_on_five(assertion["threshold"])] if _is_number(assertion.get("threshold")) else []
                    )
                else:
                    converted.append(self._convert(assertion, test, at))
                    self._note_lost_words(assertion, converted[-1], at)
            except (NoEquivalent, NotPlain, UsageError) as reason:
                self.remarks.not_converted(at, str(reason), checks=1)
        if len(rubrics) > 1:
            message = f"{len(rubrics)} rubrics became one that asks for all of them"
            self.remarks.differs(test.location, message)
        return ConvertedAssertions(
            assertions=tuple(converted),
            rubrics=tuple(rubrics),
            rubric_threshold=max(thresholds, default=None),
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
        negated = kind.startswith("not-")
        plain = kind.removeprefix("not-")
        if assertion.get("weight") == 0:
            raise NoEquivalent("weight 0 only measures; a check here counts, or is not there")
        self._require_known_keys(assertion, at, read=("config",) if plain in _PROGRAMS else ())
        if plain == "assert-set":
            converted = self._set(assertion, test, at, depth)
        elif (name := self._as_code(plain, assertion, test, at)) is not None:
            value = None if plain in _PROGRAMS else self._expected(plain, assertion, test)
            converted = {"type": "custom", "fn": name, **({} if value is None else {"value": value})}
            converted |= {"config": assertion["config"]} if "config" in assertion else {}
        else:
            converted = self._as_evaluator(plain, assertion, test, at)
        if "provider" in assertion:
            self.remarks.differs(at, _OWN_GRADER)
        if _is_number(assertion.get("weight")):
            converted["weight"] = assertion["weight"]
        return converted | ({"not": not converted.get("not", False)} if negated else {})

    def _require_known_keys(self, assertion: Mapping[str, Any], at: str, read: Collection[str] = ()) -> None:
        """Raises NoEquivalent for a key that decides; one that describes is nothing, another one a remark."""
        for key in sorted(assertion.keys() - _READ - set(read)):
            if key in _DECIDE:
                raise NoEquivalent(f"'{key}' {WITHOUT_EQUAL}")
            if not describes(key):
                self.remarks.differs(at, f"'{key}' is not known, and not converted")

    def _note_lost_words(self, assertion: Mapping[str, Any], converted: Mapping[str, Any], at: str) -> None:
        """A remark on words of the value and config that are neither in the check nor in its code."""
        written = [as_text(converted), *(self.code.code.get(str(one), "") for one in converted.values())]
        words = set(_WORD.findall(" ".join(written)))
        operands = {key: assertion[key] for key in ("value", "config") if key in assertion}
        if lost := sorted({word for text in _texts_in(operands) for word in _WORD.findall(text)} - words):
            self.remarks.not_converted(at, f"what was written lacks {', '.join(lost)[:MOST_WORDS]}")

    def _as_evaluator(
        self, plain: str, assertion: Mapping[str, Any], test: AssertedTest, at: str
    ) -> dict[str, Any]:
        convert = _CONVERTED.get(plain)
        if convert is None:
            raise NoEquivalent(_MEANS_MORE.get(plain, WITHOUT_EQUAL))
        if not plain.startswith(_WITHOUT_OUTPUT):
            self._require_as_it_is(assertion, test)
        evidence = {"reference": self._context(test.values)} if plain == "context-faithfulness" else {}
        value = self._value(assertion.get("value"), test.values)
        return {**convert(self, {**assertion, "value": value}, at), **evidence}

    def _as_code(self, plain: str, assertion: Mapping[str, Any], test: AssertedTest, at: str) -> str | None:
        """The file of an assertion that is code, or that looks at more than the answer's text; None for others."""
        transforms = _transforms(assertion, test)
        if plain in _PROGRAMS:
            name = self._program(plain, assertion, test, transforms)
            self.remarks.differs(
                at, f"became {name}, which sees output, context.vars and context.config, and nothing outside"
            )
            return name
        if plain in FUNCTION_CALLS:
            if not self.functions:
                raise NoEquivalent("the provider's config declares no functions to compare calls with")
            calls = self.shape if self.shape.calls is not None else AnswerShape(calls="all")
            return self.code.javascript(valid_calls(self.functions), calls)
        check = comparison(plain)
        if check is None or (not transforms and self.shape.calls is None):
            return None
        return self.code.javascript(check, self.shape, transforms)

    def _program(
        self, plain: str, assertion: Mapping[str, Any], test: AssertedTest, transforms: tuple[str, ...]
    ) -> str:
        source, threshold = _text(assertion), assertion.get("threshold")
        if plain == "python":
            if not all(map(is_trim, transforms)):
                raise NoEquivalent("a transform in JavaScript before a check in Python")
            check = self.code.python_function(source, test.values)
        else:
            check = self.code.function(source, "check", test.values)
        shape = self.shape
        if shape.is_text and not transforms and reads_fields(check):
            shape = AnswerShape(
                parsed=True
            )  # promptfoo's providers may return objects; here, all answers are texts
        if plain == "python":
            return self.code.python(check, shape, threshold)
        return self.code.javascript(check, shape, transforms, threshold)

    def _expected(self, plain: str, assertion: Mapping[str, Any], test: AssertedTest) -> Any:
        """What a comparison in JavaScript compares with."""
        value = self._value(assertion.get("value"), test.values)
        if plain in FUNCTION_CALLS:
            return None
        if plain.endswith(("-any", "-all")):
            return _texts({"value": value})
        if plain == "is-json":
            return self._is_json({"value": value}, "").get("schema")
        return value if plain == "equals" and isinstance(value, Mapping | list) else _text({"value": value})

    def _require_as_it_is(self, assertion: Mapping[str, Any], test: AssertedTest) -> None:
        if not all(map(is_trim, _transforms(assertion, test))):
            raise NoEquivalent(_JUDGED_AS_IT_IS)

    def _value(self, value: Any, values: Mapping[str, Any]) -> Any:
        """The value with variables filled in; of a file of data, what is in it."""
        if isinstance(value, str) and value.startswith(PREFIX):
            path = self.code.files.referenced(value)[0]
            if path.suffix in (".json", ".yaml", ".yml"):
                return self.code.files.value(path)
            if path.suffix in (".txt", ".md"):
                return rendered(self.code.files.plain_text(path), values)
            raise NoEquivalent(f"{value} is a program; write it as a grader (docs/graders.md)")
        if isinstance(value, str):
            return rendered(value, values)
        if isinstance(value, list):
            return [rendered(item, values) if isinstance(item, str) else item for item in value]
        return value

    def _rubric(self, assertion: Mapping[str, Any], test: AssertedTest, at: str) -> str:
        self._require_known_keys(assertion, at)
        self._require_as_it_is(assertion, test)
        if assertion.get("weight") == 0:
            raise NoEquivalent("weight 0 only measures; a check here counts, or is not there")
        value = self._value(assertion.get("value"), test.values)
        if not value:
            raise NoEquivalent("has no value")
        text = "\n".join(map(as_text, value)) if isinstance(value, list) else as_text(value)
        if "provider" in assertion:
            self.remarks.differs(at, _OWN_GRADER)
        return _RUBRICS[assertion["type"]].format(text)

    def _set(self, assertion: Mapping[str, Any], test: AssertedTest, at: str, depth: int) -> dict[str, Any]:
        parts = assertion.get("assert")
        if not isinstance(parts, list) or not parts or depth >= MOST_NESTED:
            raise NoEquivalent("has no assertions, or too many within each other")
        threshold = assertion.get("threshold", 1)
        if threshold != 1 and not (_is_number(threshold) and 0 < threshold * len(parts) <= 1):
            raise NoEquivalent(f"a set passes if all of its assertions pass, or any; not a share of {threshold}")
        children = []
        for number, part in enumerate(parts, start=1):
            member = self._resolve(part)
            if member["type"] in _RUBRICS:
                raise NoEquivalent(f"{member['type']} stands inside a set; a rubric here stands beside them")
            children.append(self._convert(member, test, f"{at}, {number}", depth + 1))
        return {"type": "assert-set", "mode": "all" if threshold == 1 else "any", "children": children}

    def _context(self, values: Mapping[str, Any]) -> str:
        context = values.get("context")
        if not isinstance(context, str):
            raise NoEquivalent("the test has no variable 'context'")
        return context

    # One assertion type each; the variables of the value are filled in.

    def _cased(self, assertion: Mapping[str, Any], at: str) -> dict[str, Any]:  # noqa: ARG002 - as all of these
        name = assertion["type"].removeprefix("not-").replace("-", "_")
        return {"type": name, "value": _expected_text(assertion), "case_sensitive": True}

    def _icontains(self, assertion: Mapping[str, Any], at: str) -> dict[str, Any]:  # noqa: ARG002
        return {"type": "contains", "value": _expected_text(assertion)}

    def _several(self, assertion: Mapping[str, Any], at: str) -> dict[str, Any]:  # noqa: ARG002
        kind = assertion["type"].removeprefix("not-")
        texts = _texts(assertion)
        if kind.startswith("i"):
            return {"type": kind[1:].replace("-", "_"), "values": texts}
        children = [{"type": "contains", "value": text, "case_sensitive": True} for text in texts]
        return {"type": "assert-set", "mode": kind.rpartition("-")[2], "children": children}

    def _equals(self, assertion: Mapping[str, Any], at: str) -> dict[str, Any]:
        if isinstance(assertion["value"], Mapping | list):
            return {"type": "json_schema", "schema": {"const": assertion["value"]}}
        text = _text(assertion)
        self.remarks.differs(at, "white space around the answer is not compared")
        return {"type": "equals", "value": text}

    def _regex(self, assertion: Mapping[str, Any], at: str) -> dict[str, Any]:  # noqa: ARG002
        return {"type": "regex", "pattern": _text(assertion), "flags": ""}

    def _is_json(self, assertion: Mapping[str, Any], at: str) -> dict[str, Any]:  # noqa: ARG002
        schema = assertion["value"]
        if isinstance(schema, str) and schema.strip():
            schema = read_yaml(schema, "the schema").value
        if not schema:
            return {"type": "json_valid"}
        if not isinstance(schema, Mapping):
            raise NoEquivalent("its schema is not an object")
        return {"type": "json_schema", "schema": schema}

    def _levenshtein(self, assertion: Mapping[str, Any], at: str) -> dict[str, Any]:  # noqa: ARG002
        most = assertion.get("threshold", 5)
        if not _is_number(most):
            raise NoEquivalent("its threshold is not a number")
        return {"type": "levenshtein_max", "reference": _text(assertion), "value": int(most)}

    def _limit(self, assertion: Mapping[str, Any], at: str) -> dict[str, Any]:  # noqa: ARG002
        if not _is_number(assertion.get("threshold")):
            raise NoEquivalent("has no threshold")
        return {"type": f"{assertion['type'].removeprefix('not-')}_max", "value": assertion["threshold"]}

    def _word_count(self, assertion: Mapping[str, Any], at: str) -> dict[str, Any]:  # noqa: ARG002
        value = assertion["value"]
        bounds = value if isinstance(value, Mapping) else {"min": value, "max": value}
        children = []
        for key in ("min", "max"):
            if key in bounds:
                try:
                    children.append({"type": f"word_count_{key}", "value": int(bounds[key])})
                except (TypeError, ValueError):
                    raise NoEquivalent(f"{key} is not a number of words") from None
        if not children:
            raise NoEquivalent("has neither min nor max")
        return children[0] if len(children) == 1 else {"type": "assert-set", "mode": "all", "children": children}

    def _overlap(self, assertion: Mapping[str, Any], at: str) -> dict[str, Any]:
        kind = assertion["type"].removeprefix("not-")
        name, n, default = ("rouge_n_min", 1, 0.75) if kind == "rouge-n" else ("bleu_min", 4, 0.5)
        if (reason := unusable(_text(assertion), n, name)) is not None:
            raise NoEquivalent(reason)
        self.remarks.differs(at, f"{name} counts in its own way; look at its threshold")
        return {"type": name, "reference": _text(assertion), "threshold": assertion.get("threshold", default)}

    def _similar(self, assertion: Mapping[str, Any], at: str) -> dict[str, Any]:
        text = _text(assertion)
        self.remarks.differs(at, "a judge compares the meaning, 1–5, from 3; no embeddings are")
        return {"type": "semantic_similarity", "reference": text}

    def _judge(self, assertion: Mapping[str, Any], at: str) -> dict[str, Any]:
        kind = assertion["type"].removeprefix("not-")
        name = "answer_relevancy" if kind == "answer-relevance" else "faithfulness"
        converted: dict[str, Any] = {"type": name}
        if _is_number(assertion.get("threshold")):
            converted["threshold"] = _on_five(assertion["threshold"])
        self.remarks.differs(at, "a judge scores it 1–5; look at its threshold")
        return converted

    def _tool_used(self, assertion: Mapping[str, Any], at: str) -> dict[str, Any]:  # noqa: ARG002
        value = assertion["value"]
        if isinstance(value, Mapping):
            bounds = {key: value[key] for key in ("min", "max") if value.get(key) is not None}
            return {"type": "tool_count", "tool": _tool(value), **(bounds or {"min": 1})}
        if not isinstance(value, str | list):
            raise NoEquivalent("only names of tools can be asked for")
        return {"type": "tools_called", "values": _texts(assertion)}

    def _tool_arguments(self, assertion: Mapping[str, Any], at: str) -> dict[str, Any]:  # noqa: ARG002
        value = assertion["value"]
        match = value.get("args", value.get("arguments")) if isinstance(value, Mapping) else None
        if not isinstance(match, Mapping) or (not match and value.get("mode") != "exact"):
            raise NoEquivalent("names no arguments")
        return {
            "type": "tool_arguments",
            "tool": _tool(value),
            "match": match,
            "mode": value.get("mode", "partial"),
        }

    def _tool_sequence(self, assertion: Mapping[str, Any], at: str) -> dict[str, Any]:  # noqa: ARG002
        value = assertion["value"]
        steps = value.get("steps") if isinstance(value, Mapping) else value
        if not isinstance(steps, list) or not steps:
            raise NoEquivalent("names no steps")
        mode = value.get("mode", "in_order") if isinstance(value, Mapping) else "in_order"
        names = [step if isinstance(step, str) else _tool(step) for step in steps]
        return {"type": "tool_sequence", "steps": names, "mode": mode}

    def _step_count(self, assertion: Mapping[str, Any], at: str) -> dict[str, Any]:  # noqa: ARG002
        value = assertion["value"]
        bounds = {key: value[key] for key in ("min", "max") if key in value} if isinstance(value, Mapping) else {}
        if not bounds or value.get("type") != "tool" or "pattern" in value:
            raise NoEquivalent("only steps that are tool calls are counted, from min to max")
        return _all([{"type": f"tools_count_{key}", "value": bound} for key, bound in bounds.items()])

    def _skill_used(self, assertion: Mapping[str, Any], at: str) -> dict[str, Any]:  # noqa: ARG002
        value = assertion["value"]
        if isinstance(value, Mapping) and {"min", "max"} & value.keys():
            raise NoEquivalent("how often a skill is loaded is not counted")
        names = [_tool(value)] if isinstance(value, Mapping) else _texts(assertion)
        if assertion["type"].startswith("not-"):
            children = [{"type": "skill_triggered", "skill": name, "should_trigger": False} for name in names]
            return {**_all(children), "not": True}  # turned round again by its type
        return _all([{"type": "skill_triggered", "skill": name} for name in names])


def _texts_in(value: Any) -> Iterator[str]:
    """The texts and numbers in a value, without kinds, templates, and names of files with its content."""
    if isinstance(value, Mapping | list):
        inner = [one for key, one in value.items() if key != "type"] if isinstance(value, Mapping) else value
        yield from chain.from_iterable(map(_texts_in, inner))
    elif not isinstance(value, bool | None) and "{{" not in (text := as_text(value)) and PREFIX not in text:
        yield text


def _transforms(assertion: Mapping[str, Any], test: AssertedTest) -> tuple[str, ...]:
    """The transforms of an answer before an assertion. Raises NoEquivalent for one that is not code."""
    own = assertion.get("transform")
    transforms = (*test.transforms, *(() if own is None else (own,)))
    if not all(isinstance(one, str) and one.strip() for one in transforms):
        raise NoEquivalent("its transform is not text")
    return transforms


def _tool(value: Any) -> str:
    """The tool or skill that a value names. Raises NoEquivalent."""
    name = value.get("name") if isinstance(value, Mapping) else None
    if not isinstance(name, str) or not name.strip():
        raise NoEquivalent("only names can be asked for, not patterns or kinds of steps")
    return name


def _all(children: list[dict[str, Any]]) -> dict[str, Any]:
    """One assertion that holds if all of these do."""
    return children[0] if len(children) == 1 else {"type": "assert-set", "mode": "all", "children": children}


_PROGRAMS = frozenset({"javascript", "python"})
_Convert = Callable[[Assertions, Mapping[str, Any], str], dict[str, Any]]
_CONVERTED: Mapping[str, _Convert] = {
    "contains": Assertions._cased,
    "starts-with": Assertions._cased,
    "icontains": Assertions._icontains,
    "contains-any": Assertions._several,
    "contains-all": Assertions._several,
    "icontains-any": Assertions._several,
    "icontains-all": Assertions._several,
    "equals": Assertions._equals,
    "regex": Assertions._regex,
    "is-json": Assertions._is_json,
    "levenshtein": Assertions._levenshtein,
    "latency": Assertions._limit,
    "cost": Assertions._limit,
    "word-count": Assertions._word_count,
    "rouge-n": Assertions._overlap,
    "bleu": Assertions._overlap,
    "similar": Assertions._similar,
    "answer-relevance": Assertions._judge,
    "context-faithfulness": Assertions._judge,
    "trajectory:tool-used": Assertions._tool_used,
    "trajectory:tool-args-match": Assertions._tool_arguments,
    "trajectory:tool-sequence": Assertions._tool_sequence,
    "trajectory:step-count": Assertions._step_count,
    "skill-used": Assertions._skill_used,
}
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


def _text(assertion: Mapping[str, Any]) -> str:
    value = assertion["value"]
    if not isinstance(value, str | int | float) or isinstance(value, bool) or value == "":
        raise NoEquivalent("its value is not text")
    return as_text(value)


def _expected_text(assertion: Mapping[str, Any]) -> str:
    """A text to look for."""
    text = _text(assertion)
    if is_blank(text):
        raise NoEquivalent("its value is blank")
    return text


def _texts(assertion: Mapping[str, Any]) -> list[str]:
    value = assertion["value"]
    if isinstance(value, str):
        value = list(_fields(value))
    if not isinstance(value, list) or not value:
        raise NoEquivalent("its value is not a list of texts")
    texts = [as_text(item) for item in value]
    if any(map(is_blank, texts)):
        raise NoEquivalent("one of its values is blank")
    return texts


def _fields(text: str) -> Iterator[str]:
    """The texts between commas; quotes keep one together."""
    for row in csv.reader(io.StringIO(text), skipinitialspace=True):
        yield from (field.strip() for field in row if field.strip())


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _on_five(share: float) -> float:
    """A threshold of 0–1 on the judge's scale of 1–5."""
    return round(1 + 4 * min(max(share, 0), 1), 2)
