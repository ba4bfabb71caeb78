"""`runevals schema`: the JSON Schemas, for editors with completion and validation."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from runevals.cli.completed_words import completing
from runevals.lib.parsing.schema import schema
from runevals.lib.storage.files import write_whole
from runevals.lib.text.suggest import did_you_mean
from runevals.records.errors import UsageError
from runevals.reports import results_document, verdict_json
from runevals.settings.table import SETTINGS
from runevals.suites.editor_schema import for_editors

DIALECTS = ("eval-document", "eval-samples", "agent-skills", "skill-cases", "rows", "prompt-yml", "vally", "gold")
# Its name → (package, schema); a package of ours keeps its schemas in `schemas/NAME.schema.json`.
SCHEMAS: Mapping[str, tuple[str, str]] = {
    **{name: ("runevals.suites.dialects", name) for name in DIALECTS},
    "settings": ("runevals.settings", "settings-1"),
    "prompt-file": ("runevals.settings", "prompt-file"),
    "quarantine": ("runevals.suites", "quarantine-1"),
    "accepted": ("runevals.suites", "accepted-1"),
}
# Made from the types that are read and written.
OF_TYPES: Mapping[str, Callable[[], Mapping[str, Any]]] = {
    "results": results_document.schema,
    "verdict": verdict_json.schema,
}
NAMES = (*SCHEMAS, *OF_TYPES)
HELP = {setting.name: setting.help for setting in SETTINGS}


def schema_of(name: str) -> Mapping[str, Any]:
    """The JSON Schema with this name, as files are validated by it."""
    return OF_TYPES[name]() if name in OF_TYPES else schema(*SCHEMAS[name])


@click.command("schema")
@click.argument("name", required=False, shell_complete=completing(lambda: NAMES))
@click.option("--write", "folder", metavar="FOLDER", help="Write them all into this folder, as NAME.schema.json.")
def command(name: str | None, folder: str | None) -> None:
    """List the JSON Schemas, or print the one with this NAME.

    \b
    Examples:
      runevals schema settings > runevals.schema.json
      runevals schema --write .vscode/schemas
    """
    if name is not None and name not in NAMES:
        names = f"it is one of {', '.join(NAMES)}"
        raise UsageError(f"there is no schema '{name}'{did_you_mean(name, NAMES)}; {names}")
    if folder is not None:
        for known in NAMES if name is None else [name]:
            path = Path(folder, f"{known}.schema.json")
            write_whole(path, text_of(known) + "\n")
            click.echo(path)
        return
    if name is not None:
        click.echo(text_of(name))
        return
    for known in NAMES:
        click.echo(f"{known:<14} {schema_of(known).get('title', '')}")


def text_of(name: str) -> str:
    """The JSON Schema with this name, with all evaluators and the meaning of each key."""
    schema = OF_TYPES[name]() if name in OF_TYPES else for_editors(*SCHEMAS[name], HELP)
    return json.dumps(schema, indent=2, ensure_ascii=False)
