"""Assertions on what a transform, or the provider, makes of an answer → JavaScript that compares it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

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
_EXPRESSIONS: Mapping[str, str] = {
    "equals": (
        'typeof expected === "object" ? require("lodash").isEqual(json(), expected) : text === String(expected)'
    ),
    "contains": "has(expected)",
    "icontains": "hasAnyCase(expected)",
    "contains-any": "expected.some(has)",
    "contains-all": "expected.every(has)",
    "icontains-any": "expected.some(hasAnyCase)",
    "icontains-all": "expected.every(hasAnyCase)",
    "starts-with": "text.startsWith(String(expected))",
    "regex": "new RegExp(expected).test(text)",
    "is-json": (
        'json() !== undefined && (!expected || new (require("ajv"))({ strict: false }).compile(expected)(json()))'
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


def comparison(kind: str) -> str | None:
    """The function `check` of an assertion; None if its type has none."""
    expression = _EXPRESSIONS.get(kind)
    return None if expression is None else _CHECK.replace("EXPRESSION", expression)


def valid_calls(functions: Sequence[Mapping[str, Any]]) -> str:
    """The function `check` that holds if every call is of one of these functions, and valid by its schema."""
    return _VALID_CALLS.replace("FUNCTIONS", json.dumps(functions, ensure_ascii=False))
