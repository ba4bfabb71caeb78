"""Writes the reference pages that are data of the source: `.venv/bin/python docs/reference.py`."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import click
import yaml

from runevals.cli import COMMANDS, commands
from runevals.cli.schema import NAMES, schema_of, text_of
from runevals.models.chat.providers import PROVIDERS
from runevals.records import errors
from runevals.settings.gates import GATE_METRICS, PRESET_GATES
from runevals.settings.table import INPUTS, SETTINGS, Setting
from runevals.verdict import reasons

DOCS = Path(__file__).parent
ACTION = yaml.safe_load((DOCS.parent / "action.yml").read_text(encoding="utf-8"))
FILE = json.loads(text_of("settings"))
KINDS = {"text": "text", "texts": "list", "whole": "whole number", "number": "number", "yes_no": "true, false"}
EXITS = {
    errors.PASSED: "every gate passed",
    errors.GATE_FAILED: "a gate failed: the change made something worse",
    errors.USAGE_ERROR: "usage error: the command, a setting or a suite",
    errors.COULD_NOT_MEASURE: "could not measure, or it is not known whether the change is worse",
    errors.INTERNAL_ERROR: "internal error: a bug of runevals",
    errors.INTERRUPTED: "interrupted",
}


def settings_page() -> str:
    """`docs/settings.md`: the settings, then the keys of the file."""
    providers = (
        (
            f"`{name}`",
            f"`{one.key}`{'' if one.needs_key else ' ?'}",
            _place(one.url, one.located_by),
            f"`{one.api}`",
        )
        for name, one in PROVIDERS.items()
    )
    metrics = {
        **GATE_METRICS,
        "evaluator:NAME": "the mean score of an evaluator, or its pass rate if it has no scores",
    }
    return _page(
        "Settings",
        "A setting is given by its flag, its input of [the action](inputs.md), its variable (`RUNEVALS_REPEAT=3` "
        "for `repeat`) or its key in `runevals.yaml`, in this order. *base* marks what decides over a change: on "
        "a pull request and with `--base`, the key is read from the file of the base. `runevals settings` shows "
        "each value and its source.",
        _table("setting", "flag, input, key of the file", "default", "", "meaning", rows=_settings()),
        "## Keys of the file\n\nWhat else `runevals.yaml` can hold, key by key. `[]` is each entry of a list, "
        "`NAME` any name. Each of `targets` has the keys of `target`, each of `judges` those of `judge`.",
        _table("key", "type", "meaning", rows=_keys(FILE, FILE)),
        f"## Metrics of gates\n\n[Gates](gates.md) that every run has: {_codes(PRESET_GATES)}.",
        _table("metric", "what it is", rows=((f"`{name}`", _escaped(text)) for name, text in metrics.items())),
        "## Providers\n\nVariables of key and address, and the API that is spoken. `?`: the key may be missing.",
        _table("provider", "key", "address", "API", rows=providers),
    )


def inputs_page() -> str:
    """`docs/inputs.md`: the inputs and outputs of the action."""
    defaults = {one.name: _default(one) for one in (*SETTINGS, *INPUTS)}
    ends = {name: f" Default: {default}." for name, default in defaults.items() if default}
    inputs = ((f"`{name}`", _text(one) + ends.get(name, "")) for name, one in ACTION["inputs"].items())
    outputs = ((f"`{name}`", _text(one)) for name, one in ACTION["outputs"].items())
    return _page(
        "Inputs and outputs of the action",
        "All inputs are optional; an empty one counts as missing. [The action](action.md) says what a step does.",
        "## Inputs",
        _table("input", "meaning", rows=inputs),
        "## Outputs\n\nA step always sets them. A path is empty if the file could not be written. "
        "`output_dir` must hold nothing else.",
        _table("output", "meaning", rows=outputs),
    )


def commands_page() -> str:
    """`docs/commands.md`: exit codes and every command with its options."""
    exits = ((f"**{code}**", meaning) for code, meaning in EXITS.items())
    return _page(
        "Commands and exit codes",
        "`runevals` alone is `runevals run`. `runevals NAME --help` shows the same, `-h` what most people need.",
        "## Exit codes",
        _table("code", "meaning", rows=exits),
        *(block for name in COMMANDS if name != "action" for block in _command(f"runevals {name}", _found(name))),
    )


def formats_page() -> str:
    """`docs/formats.md`: the keys of every file with a JSON Schema, but the settings."""
    schemas = {name: schema_of(name) for name in NAMES if name != "settings"}
    return _page(
        "Keys of files",
        "What `runevals schema NAME` prints, in short. The file of [settings](settings.md) has a page of its own. "
        "`?` marks a key that may be missing.",
        *(block for name, one in schemas.items() for block in _schema(name, one)),
    )


def reasons_page() -> str:
    """`docs/reasons.md`: what each finding of a run may say."""
    return _page(
        "Reasons",
        "Why a case, a part or the whole is worse, not known or not worse. [The verdict](verdict.md) explains it.",
        "\n".join(reasons.table()),
    )


PAGES: Mapping[str, Callable[[], str]] = {
    "settings.md": settings_page,
    "inputs.md": inputs_page,
    "commands.md": commands_page,
    "formats.md": formats_page,
    "reasons.md": reasons_page,
}


def _settings() -> Iterator[tuple[str, ...]]:
    flags = {
        param.name: max(param.opts, key=len)
        for param in (*_found("run").params, *_found("gate").params)
        if isinstance(param, click.Option)
    }
    for one in SETTINGS:
        ways = (
            f"`{flags[one.name]}`" if "flag" in one.by else "",
            "input" * ("input" in one.by),
            _key_of(one.name),
        )
        yield (
            f"`{one.name}`",
            ", ".join(filter(None, ways)),
            _default(one),
            "base" if one.protected else "",
            f"{_escaped(one.help)} *{_kind(one)}*",
        )


def _key_of(name: str) -> str:
    """The key of a setting in the file; empty if the file cannot set it."""
    first, _, second = name.partition("_")
    group = FILE["properties"].get(first, {})
    inside = {**group.get("properties", {}), **group.get("then", {}).get("properties", {})}
    if second in inside:
        return f"`{first}.{second}`"
    return "key" if name in FILE["properties"] else ""


def _kind(one: Setting) -> str:
    if one.choices:
        return ", ".join(filter(None, (KINDS[one.kind] if one.kind == "yes_no" else "", _codes(one.choices))))
    low, high = one.bounds
    least = "" if low is None else f", at least {low:g}"
    return KINDS[one.kind] + (least if high is None else f", {low:g}–{high:g}")


def _default(one: Setting) -> str:
    value = one.default
    return (
        ""
        if value in (None, (), "", False)
        else f"`{value:g}`"
        if _is_number(value)
        else f"`{str(value).lower()}`"
    )


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _place(url: str | None, variable: str | None) -> str:
    return " or ".join(f"`{one}`" for one in (url, variable) if one)


def _keys(node: Mapping[str, Any], root: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, ...]]:
    """(key, type, meaning) of an object and all below it."""
    for name, one in node.get("properties", {}).items():
        shape, place = _resolved(one, root), f"{prefix}{name}"
        parts = [] if place in ("targets", "judges") else [*_inside(shape, place, root)]
        if place != "$schema" and (parts or place not in {setting.name for setting in SETTINGS}):
            yield f"`{place}`", _type(shape), _text(shape)
        for inner, inner_place in parts:
            yield from _keys(inner, root, f"{inner_place}.")


def _inside(
    node: Mapping[str, Any], place: str, root: Mapping[str, Any]
) -> Iterator[tuple[Mapping[str, Any], str]]:
    """The objects that a key holds: itself, each entry of its list, each value by name."""
    for inner in (node, node.get("then", {})):
        if inner.get("properties"):
            yield inner, place
        if isinstance(inner.get("items"), dict):
            yield from _inside(_resolved(inner["items"], root), f"{place}[]", root)
        if isinstance(inner.get("additionalProperties"), dict):
            yield from _inside(_resolved(inner["additionalProperties"], root), f"{place}.NAME", root)


def _resolved(node: Mapping[str, Any], root: Mapping[str, Any]) -> Mapping[str, Any]:
    if "$ref" not in node:
        return node
    found: Any = root
    for part in node["$ref"].removeprefix("#/").split("/"):
        found = found[part]
    return {**_resolved(found, root), **{name: value for name, value in node.items() if name != "$ref"}}


def _type(node: Mapping[str, Any]) -> str:
    """What a value may be, in a few words."""
    if "enum" in node:
        return _codes(map(str, node["enum"]))
    if "$ref" in node:
        return node["$ref"].rpartition("/")[2]
    kinds = [_type(one) for one in node.get("anyOf", node.get("oneOf", ()))]
    written = node.get("type", ())
    kinds += [written] if isinstance(written, str) else written
    words = {
        "object": "table",
        "array": "list",
        "string": "text",
        "integer": "whole number",
        "boolean": "true, false",
    }
    low, high = node.get("minimum"), node.get("maximum")
    least = "" if low is None else f", at least {low:g}" if high is None else f", {low:g}–{high:g}"
    return " or ".join(dict.fromkeys(words.get(kind, kind) for kind in kinds)) + least


def _command(title: str, command: click.Command) -> Iterator[str]:
    """A command, its own options, and the settings that it takes."""
    text = (inspect.getdoc(command.callback) or "").replace("\b\n", "")
    text = re.sub(r"\{[^}]*\}", "MODEL", text)
    words, _, examples = text.partition("\nExample")
    yield f"## {title}"
    yield _escaped(words.strip())
    lines = [line.strip() for line in examples.partition("\n")[2].splitlines() if line.strip()]
    if lines:
        yield "\n".join(("```sh", *lines, "```"))
    if isinstance(command, click.Group):
        for name in command.list_commands(click.Context(command)):
            found = command.get_command(click.Context(command), name)
            assert found is not None
            yield from _command(f"{title} {name}", found)
    options = [one for one in command.params if isinstance(one, click.Option) and one.help]
    names = {one.name for one in SETTINGS}
    own = [one for one in options if one.name not in names]
    if own:
        yield _table("option", "meaning", rows=((_codes(one.opts), _escaped(one.help or "")) for one in own))
    if taken := [max(one.opts, key=len) for one in options if one.name in names]:
        yield f"And {'all' if title == 'runevals run' else 'these'} [settings](settings.md): {_codes(taken)}."


def _found(name: str) -> click.Command:
    found = commands.get_command(click.Context(commands), name)
    assert found is not None
    return found


def _schema(name: str, document: Mapping[str, Any]) -> Iterator[str]:
    yield f"## {name}"
    if "description" in document:
        yield _escaped(document["description"])
    parts = {"": document, **document.get("$defs", {})}
    for part, node in parts.items():
        shape = node if "properties" in node else node.get("then", node.get("items", node))
        if rows := [*_fields(shape)]:
            if part:
                yield f"### {name}: {part}"
            yield _table("key", "type", "meaning", rows=rows)


def _fields(node: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    needed = node.get("required", ())
    for key, one in node.get("properties", {}).items():
        if key != "$schema":
            yield f"`{key}`{'' if key in needed else ' ?'}", _type(one), _text(one)


def _text(node: Mapping[str, Any]) -> str:
    return _escaped(node.get("description", ""))


def _escaped(text: str) -> str:
    """Text of the source as Markdown: names with underscores and placeholders as code."""
    parts = re.split(r"(`[^`]*`)", text)
    for place in range(0, len(parts), 2):
        words = parts[place].replace("|", "\\|").replace("<", "&lt;")
        parts[place] = re.sub(r"(?<![\w`])(--[a-z][\w-]+|\w+_\w+(?:\[\d\])?|\{[^}]*\}+)", r"`\1`", words)
    return "".join(parts)


def _codes(words: Iterable[str]) -> str:
    return ", ".join(f"`{word}`" for word in words)


def _table(*columns: str, rows: Iterable[tuple[str, ...]]) -> str:
    lines = [columns, ("---",) * len(columns), *rows]
    return "\n".join(f"| {' | '.join(cell.replace(chr(10), ' ') for cell in line)} |" for line in lines)


def _page(title: str, *blocks: str) -> str:
    head = (f"# {title}", "<!-- Written by docs/reference.py from the source. -->")
    return "\n\n".join((*head, *blocks)) + "\n"


if __name__ == "__main__":
    for name, page in PAGES.items():
        (DOCS / name).write_text(page(), encoding="utf-8")
