"""The suite formats, and the detection of a file's format."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Protocol, cast

from msgspec import Struct
from msgspec.structs import replace

from runevals.lib.parsing.shapes import list_in, object_in
from runevals.lib.parsing.source import Source, parse_text, read_json
from runevals.lib.parsing.xml import read_xml
from runevals.lib.plugins import guarded, plugins, require
from runevals.lib.text.numbers import first_of, phrase, short_list
from runevals.records import Suite
from runevals.records.errors import OtherFormat, UnrecognisedSuite
from runevals.suites.dialects import (
    agent_skills,
    eval_document,
    eval_samples,
    prompt_yml,
    rows,
    skill_cases,
    vally,
)
from runevals.suites.dialects.checking import with_warnings
from runevals.suites.dialects.columns import columns_of
from runevals.suites.dialects.conservation import conserved
from runevals.suites.dialects.options import LoadOptions
from runevals.suites.dialects.parquet import SUFFIX, text_of
from runevals.suites.dialects.signatures import other_format

__all__ = ["DIALECTS", "TABLES", "Dialect", "LoadOptions", "load", "read"]


class Dialect(Protocol):
    """One suite format."""

    NAME: str

    def recognises(self, value: object) -> bool:
        """Whether a document is meant to be in this format, by its shape."""

    def load(self, source: Source, options: LoadOptions) -> Suite:
        """Document → suite; everything wrong with it is in the suite's problems."""


PLUGINS = "runevals.dialects"  # their entry points
DIALECTS: tuple[Dialect, ...] = (vally, skill_cases, agent_skills, eval_samples, eval_document, prompt_yml, rows)
_COMMENTS = re.compile(r"(?:\s*//[^\n]*)*")  # lines, before the document
TABLES = {".jsonl": rows.read_lines, SUFFIX: rows.read_lines, ".csv": rows.read_csv, ".tsv": rows.read_csv}


def load(path: Path, display_path: str, options: LoadOptions) -> Suite:
    """A suite file → suite. Raises InvalidSuite or, for an unknown format, UnrecognisedSuite."""
    source = _source(path, display_path)
    suite = conserved(_load(path, source, options), source, options)
    if options.evaluators and suite.dialect != rows.NAME:
        message = f"has checks of its own: {', '.join(options.evaluators)} would be for rows, and is not used"
        suite = replace(suite, problems=(source.problem((), message, level="notice"), *suite.problems))
    return with_warnings(suite, path.parent)


def _source(path: Path, display_path: str) -> Source:
    """The values of a file. Raises InvalidSuite, and OtherFormat for what is known to be something else."""
    source = Source(display_path, "", None, has_marks=True)
    if not path.is_file() or other_format(None, path.name) is None:  # by its ending alone
        source = read(path, display_path)
    other = other_format(source.value, path.name)
    if other is not None:
        message = other.advice(source.value, os.path.relpath(path))
        raise OtherFormat([source.problem((), message, rule="unknown-format")])
    return source


def _root_of_xml(text: str, display_path: str) -> Source:
    """The name of the root, which tells results from anything else."""
    root = read_xml(text.encode(), display_path)
    return Source(display_path, text, {root.name: {}}, has_marks=True, marks={(): (0, 0)})


def _load(path: Path, source: Source, options: LoadOptions) -> Suite:
    if path.suffix in TABLES or rows.is_meant(source.value, options):
        return rows.load(source, options)
    options = replace(options, folder=path.resolve().parent, folder_name=path.absolute().parent.name)
    if path.name.endswith(prompt_yml.SUFFIXES):
        return prompt_yml.load(source, options)
    if eval_samples.is_meant(path.name, source.value):
        return eval_samples.load(source, options)
    if agent_skills.is_meant(path.name, source.value):
        return agent_skills.load(source, options)
    for dialect in (*DIALECTS, *plugin_dialects()):
        if dialect.recognises(source.value):
            return dialect.load(source, options)
    fields = object_in(source.value) or dict.fromkeys(columns_of(list_in(source.value)))
    has = [f"{key}{phrase(short_list(columns_of(list_in(of)), 8), ' (of {})')}" for key, of in fields.items()]
    message = (
        f"is not in a known suite format: it has {first_of(has, 8)}; if these are cases, make them rows with "
        "'input' and 'expected' (docs/suites.md); if another tool runs them, `runevals gate` what it writes"
    )
    raise UnrecognisedSuite([source.problem((), message, rule="unknown-format")])


class _Added(Struct):  # as modules, its protocol is not frozen
    """The format of a plugin."""

    NAME: str
    recognises: Callable[[object], bool]
    load: Callable[[Source, LoadOptions], Suite]


@cache
def plugin_dialects() -> tuple[Dialect, ...]:
    """The formats of plugins, tried after the built-in ones. Raises UnusablePlugin."""
    entries = plugins(PLUGINS, [dialect.NAME for dialect in DIALECTS])
    dialects: list[Dialect] = []
    for name, plugin in entries.items():
        require(PLUGINS, name, plugin, ("NAME", "recognises", "load"))
        candidate = cast("Dialect", plugin)
        dialects.append(
            _Added(name, guarded(PLUGINS, name, candidate.recognises), guarded(PLUGINS, name, candidate.load))
        )
    return tuple(dialects)


def read(path: Path, display_path: str) -> Source:
    """A suite file, unchanged. Raises InvalidSuite."""
    return _parsed(text_of(path, display_path), path.suffix, display_path)


def _parsed(text: str, suffix: str, display_path: str) -> Source:
    readers = {**TABLES, ".xml": _root_of_xml, ".json": _without_comments}
    return readers.get(suffix, partial(parse_text, suffix=suffix))(text, display_path=display_path)


def _without_comments(text: str, display_path: str) -> Source:
    """JSON; lines beginning with // before it are skipped, because skill cases are documented with one."""
    text = _COMMENTS.sub(lambda match: "\n" * match[0].count("\n"), text, count=1)
    return read_json(text, display_path)


def load_inline(
    prompts: list[str], expected: list[str], options: LoadOptions, *, defaults: Mapping[str, object]
) -> Suite:
    """Prompts from the command line → a suite named `inline`, with `defaults` as its evaluators."""
    import json

    items = eval_document.zipped(prompts, expected)
    document = {"schemaVersion": eval_document.CURRENT_VERSION, "default_evaluators": defaults, "items": items}
    suite = eval_document.load(read_json(json.dumps(document), "inline"), options)
    # A prompt that is given twice has no place for a testId.
    problems = [each for each in suite.problems if (each.level, each.rule) != ("warning", "duplicate-case")]
    return replace(suite, problems=tuple(problems))
