"""Evaluators that the settings file defines under an id of their own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

from runevals.evaluators import catalogue
from runevals.evaluators.format_names import PRESETS, TYPES
from runevals.lib.nullable import without
from runevals.lib.parsing.source import code_file
from runevals.lib.text.suggest import did_you_mean
from runevals.records import EvaluatorSpec
from runevals.records.errors import InvalidOptions, InvalidSettings, UnknownEvaluator, UsageError

Definitions = Mapping[str, EvaluatorSpec]
_TOO_MUCH = "a composite holds at most 1,000 evaluators, at most 20 deep, those in its parts counted too"
MOST_PARTS, MOST_NESTED = 1000, 20  # of a composite, those of its parts counted too


def read_definitions(written: Any, source: str, base: Path, repository: Path) -> Definitions:
    """Id → evaluator. Raises InvalidSettings with every problem."""
    definitions: dict[str, EvaluatorSpec] = {}
    broken: dict[str, str] = {}  # id → what is wrong
    for entry in _parts_first(written, source):
        if broken.keys() & entry.get("evaluatorIds", ()):
            broken[entry["id"]] = ""  # it may be right, once its parts are
            continue
        try:
            definitions[entry["id"]] = _built(entry, source, base, repository, definitions)
        except UsageError as error:
            broken[entry["id"]] = str(error)
    if broken:
        raise InvalidSettings("\n".join(filter(None, broken.values())))
    return definitions


def _built(
    entry: Mapping[str, Any], source: str, base: Path, repository: Path, known: Definitions
) -> EvaluatorSpec:
    """One entry. Raises UsageError if it cannot be built or read."""
    name = entry["id"]
    if name in catalogue.names() or name in TYPES:
        raise InvalidSettings(f"{source}: evaluators: '{name}' is a built-in evaluator; use another id")
    spec = _spec(entry, source, base, repository, known)
    try:
        catalogue.build(spec)
    except InvalidOptions as error:
        raise InvalidSettings(f"{source}: evaluators: {name}: {error}") from None
    return spec


def _parts_first(written: Any, source: str) -> list[Mapping[str, Any]]:
    """The entries, each after those that it combines. Raises InvalidSettings for a cycle."""
    by_id = {entry["id"]: entry for entry in written}
    if len(by_id) < len(written):
        ((twice, _),) = Counter(entry["id"] for entry in written).most_common(1)
        raise InvalidSettings(f"{source}: evaluators: the id '{twice}' is used twice")
    parts = {name: entry.get("evaluatorIds", ()) for name, entry in by_id.items()}
    try:
        ordered = [by_id[name] for name in TopologicalSorter(parts).static_order() if name in by_id]
    except CycleError as error:
        circle = " → ".join(reversed(error.args[1]))
        raise InvalidSettings(f"{source}: evaluators: a composite contains itself: {circle}") from None
    _require_bounded(ordered, source)
    return ordered


def _require_bounded(parts_first: Sequence[Mapping[str, Any]], source: str) -> None:
    """Raises InvalidSettings for a composite that expands to too many evaluators."""
    sizes: dict[str, int] = {}
    depths: dict[str, int] = {}
    for entry in parts_first:
        name, parts = entry["id"], entry.get("evaluatorIds", ())
        sizes[name] = 1 + sum(sizes.get(part, 1) for part in parts)
        depths[name] = 1 + max((depths.get(part, 1) for part in parts), default=0)
        if sizes[name] > MOST_PARTS or depths[name] > MOST_NESTED:
            raise InvalidSettings(f"{source}: evaluators: {name}: {_TOO_MUCH}")


def _spec(
    entry: Mapping[str, Any], source: str, base: Path, repository: Path, known: Definitions
) -> EvaluatorSpec:
    rest = without(entry, ("id", "type", "threshold", "weight"))
    what, threshold = f"{source}: evaluators: {entry['id']}", entry.get("threshold")
    children: tuple[EvaluatorSpec, ...] = ()
    match entry["type"]:
        case "llm":
            name, options, threshold = "llm", {**_llm(rest, threshold), "label": entry["id"]}, None
        case "composite":
            children = tuple(_part(part, what, known) for part in rest.pop("evaluatorIds", ()))
            name, options = "composite", rest
        case "code":
            name, options = "code", _code(rest, what, base, repository)
        case _:
            preset = rest.pop("preset", None)
            if preset not in PRESETS:
                raise InvalidSettings(f"{what}: preset must be one of {', '.join(PRESETS)}")
            name, options = PRESETS[preset], rest
    return EvaluatorSpec(
        name=name,
        id=entry["id"],
        options=options,
        threshold=threshold,
        children=children,
        weight=float(entry.get("weight", 1.0)),
    )


def _part(name: str, what: str, known: Definitions) -> EvaluatorSpec:
    """An evaluator that a composite names: one of the settings, or a built-in one."""
    if name in known:
        return known[name]
    try:
        catalogue.find(name)
    except UnknownEvaluator:
        hint = did_you_mean(name, (*known, *catalogue.names()))
        raise InvalidSettings(f"{what}: there is no evaluator '{name}'{hint}") from None
    return EvaluatorSpec(name=name)


def _llm(entry: Mapping[str, Any], threshold: float | None) -> dict[str, object]:
    """The keys of an `llm` evaluator as our options."""
    options: dict[str, object] = {"prompt": entry["prompt"]} if "prompt" in entry else {}
    scale = entry.get("scoreRange", {})
    options |= {ours: float(scale[key]) for key, ours in (("min", "minimum"), ("max", "maximum")) if key in scale}
    options |= {} if threshold is None else {"pass_from": threshold}
    return options | ({"model": entry["modelId"]} if "modelId" in entry else {})


def _code(entry: Mapping[str, Any], what: str, base: Path, repository: Path) -> dict[str, object]:
    """`code`, or the text of `file`, whose suffix implies the language unless one is given."""
    if ("code" in entry) == ("file" in entry):
        raise InvalidSettings(f"{what}: give either 'code' or 'file'")
    language = entry.get("language")
    if "code" in entry:
        return {"code": entry["code"], "language": language or "javascript", "filename": what.rpartition(" ")[2]}
    text, by_suffix = code_file(repository, entry["file"], base=base, what=what)
    language = language or by_suffix
    if language is None:
        raise InvalidSettings(f"{what}: say the language of {entry['file']}: javascript or python")
    return {"code": text, "language": language, "filename": entry["file"]}
