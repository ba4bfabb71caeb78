"""The schemas for editors, with all evaluators, their options and descriptions."""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping
from typing import Any

from runevals.evaluators import catalogue, format_names
from runevals.evaluators.describe import Option, describe
from runevals.lib.parsing.schema import schema
from runevals.suites.dialects import skill_cases

_TYPES = {"true or false": "boolean", "whole number": "integer", "number": "number", "text": "string"}
_EVERY: Mapping[str, object] = {
    "threshold": {"description": "From where it passes, on its own scale.", "type": "number"},
    "weight": {"description": "What it counts in its layer; 1 by default.", "type": "number"},
}


def for_editors(package: str, name: str, settings: Mapping[str, str]) -> dict[str, Any]:
    """A schema of runevals with the names of all evaluators, including installed ones.

    `settings` is the meaning of each setting, for those that the schema does not explain itself.
    """
    document: dict[str, Any] = copy.deepcopy(dict(schema(package, name)))
    parts = document.get("$defs", {})
    match name:
        case "eval-document":
            parts["evaluators"]["properties"] = {
                evaluator.name: {
                    "description": evaluator.summary,
                    "type": "object",
                    "properties": {**{option.name: _option(option) for option in evaluator.options}, **_EVERY},
                    "additionalProperties": False,
                }
                for evaluator in map(describe, catalogue.catalogue().values())
            }
        case "eval-samples":
            parts["assertion"]["properties"]["type"]["examples"] = list(format_names.TYPES)
        case "rows":
            parts["file"]["properties"]["evaluators"]["items"]["examples"] = list(format_names.PRESETS.values())
        case "skill-cases":
            parts["case"]["properties"]["expected"]["properties"]["type"]["examples"] = list(skill_cases.EXPECTED)
        case "settings-1":
            for key, value in document["properties"].items():
                value.setdefault("description", settings.get(key))
        case _:
            pass
    return document


def _option(option: Option) -> dict[str, object]:
    entry: dict[str, object] = {"description": option.meaning}
    choices = re.findall(r"`([^`]+)`", option.kind)
    if choices:
        entry["enum"] = choices
    elif option.kind in _TYPES:
        entry["type"] = _TYPES[option.kind]
    return entry
