"""Evaluators that the settings declare under an id of their own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from runevals.dialects.reading import path_inside
from runevals.errors import InvalidOptions, InvalidSettings
from runevals.evaluators import catalogue
from runevals.records import EvaluatorSpec

Definitions = Mapping[str, EvaluatorSpec]
_SUFFIXES = {".js": "javascript", ".mjs": "javascript", ".cjs": "javascript", ".py": "python"}
_PRESETS = {
    "exact_match": "preset-exact-match",
    "contains": "preset-contains",
    "regex": "preset-regex",
    "json_schema": "preset-json-schema",
    "similarity": "preset-similarity",
}


def read_definitions(written: Any, shown: str, base: Path, repository: Path) -> Definitions:
    """Id → the evaluator behind it. Raises InvalidSettings for what cannot be built, ToldWrong for its files."""
    found: dict[str, EvaluatorSpec] = {}
    for entry in written:
        name = entry["id"]
        if name in found:
            raise InvalidSettings(f"{shown}: evaluators: the id '{name}' is used twice")
        if name in catalogue.names():
            raise InvalidSettings(f"{shown}: evaluators: '{name}' is an evaluator of ours; give yours another id")
        spec = _spec(entry, shown, base, repository)
        try:
            catalogue.build(spec)
        except InvalidOptions as error:
            raise InvalidSettings(f"{shown}: evaluators: {name}: {error}") from None
        found[name] = spec
    return found


def _spec(entry: Mapping[str, Any], shown: str, base: Path, repository: Path) -> EvaluatorSpec:
    rest = {key: value for key, value in entry.items() if key not in ("id", "type", "threshold", "weight")}
    what = f"{shown}: evaluators: {entry['id']}"
    match entry["type"]:
        case "code":
            name, options = "code", _code(rest, what, base, repository)
        case _:
            preset = rest.pop("preset", None)
            if preset not in _PRESETS:
                raise InvalidSettings(f"{what}: preset must be one of {', '.join(_PRESETS)}")
            name, options = _PRESETS[preset], rest
    return EvaluatorSpec(
        name=name,
        id=entry["id"],
        options=options,
        threshold=entry.get("threshold"),
        weight=float(entry.get("weight", 1.0)),
    )


def _code(told: Mapping[str, Any], what: str, base: Path, repository: Path) -> dict[str, object]:
    """`code`, or the text of `file`, whose ending tells the language where nothing else does."""
    if ("code" in told) == ("file" in told):
        raise InvalidSettings(f"{what}: give either 'code' or 'file'")
    language = told.get("language")
    if "code" in told:
        return {"code": told["code"], "language": language or "javascript", "filename": what.rpartition(" ")[2]}
    path = path_inside(repository, told["file"], base=base, what=what)
    language = language or _SUFFIXES.get(path.suffix)
    if language is None:
        raise InvalidSettings(f"{what}: say the language of {told['file']}: javascript or python")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidSettings(f"{what}: {told['file']} is not UTF-8 text") from None
    return {"code": text, "language": language, "filename": told["file"]}
