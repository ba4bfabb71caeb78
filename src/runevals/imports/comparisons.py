"""Assertions on what a transform, or the provider, makes of an answer → JavaScript that compares it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from runevals.imports.equivalents import schema, text, texts

_CHECK = """function check(output, context, expected) {
  const text = typeof output === "string" ? output : JSON.stringify(output) ?? "";
  const has = (part) => text.includes(String(part));
  const hasAnyCase = (part) => text.toLowerCase().includes(String(part).toLowerCase());
  const json = () => {
    try {
      return JSON.parse(text);
    } catch {
      return undefined;
    }
  };
  return EXPRESSION;
}
"""


class Comparison(Struct, frozen=True):
    """What an expression in JavaScript compares with, and the expression."""

    operand: Callable[[Any], Any]
    expression: str

    @property
    def check(self) -> str:
        """The function `check` of an assertion."""
        return _CHECK.replace("EXPRESSION", self.expression)


COMPARISONS: Mapping[str, Comparison] = {
    "equals": Comparison(
        lambda value: value if isinstance(value, Mapping | list) else text(value),
        'typeof expected === "object" ? require("lodash").isEqual(json(), expected) : text === String(expected)',
    ),
    "contains": Comparison(text, "has(expected)"),
    "icontains": Comparison(text, "hasAnyCase(expected)"),
    "contains-any": Comparison(texts, "expected.some(has)"),
    "contains-all": Comparison(texts, "expected.every(has)"),
    "icontains-any": Comparison(texts, "expected.some(hasAnyCase)"),
    "icontains-all": Comparison(texts, "expected.every(hasAnyCase)"),
    "starts-with": Comparison(text, "text.startsWith(String(expected))"),
    "regex": Comparison(text, "new RegExp(expected).test(text)"),
    "is-json": Comparison(
        schema,
        'json() !== undefined && (!expected || new (require("ajv"))({ strict: false }).compile(expected)(json()))',
    ),
}
FUNCTION_CALLS = frozenset(
    {"is-valid-function-call", "is-valid-openai-function-call", "is-valid-openai-tools-call"}
)
_VALID_CALLS = """function check(output) {
  const functions = FUNCTIONS;
  const Ajv = require("ajv");
  const calls = [output?.tool_calls ?? output].flat();
  return calls.every((call) => {
    const declared = functions.find(({ name }) => name === call?.name);
    if (declared === undefined) return false;
    return new Ajv({ strict: false }).compile(declared.parameters ?? {})(call.functionCall.args);
  });
}
"""


def valid_calls(functions: Sequence[Mapping[str, Any]]) -> str:
    """The function `check` that holds if every call is of one of these functions, and valid by its schema."""
    return _VALID_CALLS.replace("FUNCTIONS", json.dumps(functions, ensure_ascii=False))
