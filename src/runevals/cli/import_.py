"""`runevals import`: other tools' configurations → suites and settings."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from runevals.cli import finish
from runevals.lib.parsing.source import read_source, read_yaml
from runevals.lib.storage.files import write_whole
from runevals.lib.terminal import shown
from runevals.lib.text.numbers import plural
from runevals.records.errors import TOLD_WRONG, InvalidSettings, ToldWrong
from runevals.settings.resolve import repository_root
from runevals.suites.importing.files import Files
from runevals.suites.importing.promptfoo import convert

if TYPE_CHECKING:
    from runevals.suites.importing.promptfoo import Converted


@click.command("import")
@click.argument("tool", type=click.Choice(["promptfoo"]))
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    default=Path("evals/eval-samples.json"),
    show_default=True,
    help="The suite to write; files of its assertions go beside it.",
)
@click.option(
    "--settings",
    "settings_file",
    type=click.Path(path_type=Path),
    default=Path("runevals.yaml"),
    show_default=True,
    help="The settings to write.",
)
@click.option("--force", is_flag=True, help="Overwrite what is there.")
@click.option("--strict", is_flag=True, help="Exit with 2 where something has no equal here.")
def command(tool: str, file: Path, *, output: Path, settings_file: Path, force: bool, strict: bool) -> None:
    """Convert the configuration FILE of another tool into a suite and settings.

    What has no equal here is listed, never dropped in silence.

    \b
    Example:
      runevals import promptfoo promptfooconfig.yaml
    """
    converted = _converted(file)
    for remark in converted.remarks:
        click.echo(shown(str(remark)), err=True)
    if not converted.samples:
        raise ToldWrong(f"{file}: nothing of it can be converted; see the list above")
    texts = _texts(converted, output, settings_file)
    _write(texts, force=force)
    lost = sum(remark.level == "lost" for remark in converted.remarks)
    checks = sum(len(sample.get("assertions", ())) + ("rubric" in sample) for sample in converted.samples)
    click.echo(f"✓ {tool}: {plural(len(converted.samples), 'case')}, {plural(checks, 'check')}")
    click.echo(f"  Written: {', '.join(map(str, texts))}")
    if lost:
        click.echo(
            f"  {plural(lost, 'thing')} could not be converted, and {'is' if lost == 1 else 'are'} listed above"
        )
    if "target" not in converted.settings:
        click.echo("  It names no target that we know: say which, in the settings or with --target")
    if lost and strict:
        finish(TOLD_WRONG)


def _converted(file: Path) -> Converted:
    if file.suffix not in (".yaml", ".yml", ".json"):
        raise ToldWrong(f"{file}: a configuration is read from YAML or JSON; one that is a program is never run")
    value = read_source(file, str(file)).value
    if not isinstance(value, Mapping):
        raise ToldWrong(f"{file}: is no configuration: it must be an object with 'prompts' and 'tests'")
    folder = file.resolve().parent
    return convert(value, Files(folder=folder, root=repository_root(folder)))


def _texts(converted: Converted, output: Path, settings_file: Path) -> dict[Path, str]:
    """What is written where."""
    import os

    suite = Path(os.path.relpath(output, settings_file.parent)).as_posix()
    settings = {"version": 1, "suites": [suite], **converted.settings}
    return {
        output: json.dumps({"samples": converted.samples}, ensure_ascii=False, indent=2) + "\n",
        settings_file: _yaml(settings),
        **{output.parent / name: text for name, text in converted.code.items()},
    }


def _yaml(settings: Mapping[str, Any]) -> str:
    """Settings as YAML; as JSON, which is YAML too, where YAML 1.2 would read them otherwise."""
    import yaml

    text = yaml.safe_dump(dict(settings), sort_keys=False, allow_unicode=True)
    if read_yaml(text, "settings").value == settings:
        return text
    return json.dumps(settings, ensure_ascii=False, indent=2) + "\n"


def _write(texts: Mapping[Path, str], *, force: bool) -> None:
    there = [str(path) for path in texts if path.exists()]
    if there and not force:
        raise InvalidSettings(
            f"{', '.join(there)} would be overwritten; name others with --output and --settings, or --force"
        )
    for path, text in texts.items():
        write_whole(path, text)
