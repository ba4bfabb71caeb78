"""The schemas as editors get them: with the evaluators that there are, their options, and what these mean."""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping
from typing import Any

from runevals.evaluators import catalogue, format_names
from runevals.evaluators.describe import EvaluatorDescription, Option, described
from runevals.lib.parsing.schema import schema
from runevals.suites.dialects import skill_cases

_TYPES = {"true or false": "boolean", "whole number": "integer", "number": "number", "text": "string"}
_EVERY: Mapping[str, object] = {
    "threshold": {"description": "From where it passes, on its own scale.", "type": "number"},
    "weight": {"description": "What it counts in its layer; 1 by default.", "type": "number"},
}


def for_editors(package: str, name: str) -> dict[str, Any]:
    """A schema that we ship, with the names of all evaluators where a file may use them, installed ones too."""
    told: dict[str, Any] = copy.deepcopy(dict(schema(package, name)))
    parts = told.get("$defs", {})
    match name:
        case "eval-document":
            found = [described(cls) for cls in catalogue.catalogue().values()]
            parts["evaluators"]["properties"] = {one.name: _entry(one) for one in found}
        case "eval-samples":
            parts["assertion"]["properties"]["type"]["examples"] = list(format_names.TYPES)
        case "rows":
            parts["file"]["properties"]["evaluators"]["items"]["examples"] = list(format_names.PRESETS.values())
        case "skill-cases":
            kinds = parts["case"]["properties"]["expected"]["properties"]["type"]
            kinds["examples"] = list(skill_cases.EXPECTED)
        case _:
            pass
    return told


def _entry(one: EvaluatorDescription) -> dict[str, object]:
    return {
        "description": one.summary,
        "type": "object",
        "properties": {**{option.name: _option(option) for option in one.options}, **_EVERY},
        "additionalProperties": False,
    }


def _option(option: Option) -> dict[str, object]:
    told: dict[str, object] = {"description": option.meaning}
    choices = re.findall(r"`([^`]+)`", option.kind)
    if choices:
        told["enum"] = choices
    elif option.kind in _TYPES:
        told["type"] = _TYPES[option.kind]
    return told
