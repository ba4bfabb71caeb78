"""`runevals import`: other tools' configurations → suites and settings."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from runevals.cli import finish
from runevals.lib.parsing.source import read_source, read_yaml
from runevals.lib.storage.files import write_whole
from runevals.lib.terminal import say
from runevals.lib.text.numbers import plural
from runevals.records.errors import USAGE_ERROR, InvalidSettings, UsageError
from runevals.settings.resolve import repository_root
from runevals.suites.importing.files import Files
from runevals.suites.importing.promptfoo import convert

if TYPE_CHECKING:
    from runevals.suites.importing.promptfoo import ConvertedConfig
    from runevals.suites.importing.prompts import Prompt

PROMPTS = "prompts"  # the folder beside the suite
LONGEST_NAME = 60


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
@click.option("--force", is_flag=True, help="Overwrite existing files.")
@click.option("--strict", is_flag=True, help="Exit with 2 if something cannot be converted.")
def command(tool: str, file: Path, *, output: Path, settings_file: Path, force: bool, strict: bool) -> None:
    """Convert the configuration FILE of another tool into a suite and settings.

    What has no equal here is listed, never dropped in silence.

    \b
    Example:
      runevals import promptfoo promptfooconfig.yaml
    """
    converted = _converted(file)
    for remark in converted.remarks:
        say(str(remark), err=True)
    if not converted.samples:
        raise UsageError(f"{file}: nothing of it can be converted; see the list above")
    prompts = _placed(converted, output, settings_file)
    texts = _texts(converted, prompts, output, file)
    _write(texts, force=force)
    lost = sum(remark.level == "lost" for remark in converted.remarks)
    say("\n".join(_summary(converted, prompts, tool, lost)))
    say(f"  Written: {', '.join(map(str, texts))}")
    if lost and strict:
        finish(USAGE_ERROR)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Placed:
    """A prompt, its file, and the settings of the target that is asked with it."""

    prompt: Prompt
    target: Mapping[str, Any] | None
    path: Path
    settings: Path


def _placed(converted: ConvertedConfig, output: Path, settings_file: Path) -> list[_Placed]:
    """Each prompt with its own file if the settings may name that, else with a new file beside the suite.

    A run has one prompt: those after the first have settings of their own.
    """
    root = repository_root(_base_of(settings_file).resolve())
    placed: list[_Placed] = []
    taken: set[str] = set()
    for prompt, target in zip(converted.prompts, converted.targets, strict=True):
        name = _free_name(prompt.label, taken)
        path = prompt.file
        if path is None or not path.is_relative_to(root):
            path = output.parent / PROMPTS / f"{name}{prompt.suffix}"
        beside = settings_file.with_name(f"{settings_file.stem}.{name}{settings_file.suffix}")
        settings = beside if placed else settings_file
        placed.append(_Placed(prompt=prompt, target=target, path=path, settings=settings))
    return placed


def _free_name(label: str, taken: set[str]) -> str:
    """A unique file name for a label."""
    plain = re.sub(r"[^\w.-]+", "-", label)[:LONGEST_NAME].strip(".-") or "prompt"
    numbered = (f"{plain}-{number}" for number in count(2))
    name = next(name for name in chain([plain], numbered) if name.casefold() not in taken)
    taken.add(name.casefold())
    return name


def _summary(converted: ConvertedConfig, prompts: Sequence[_Placed], tool: str, lost: int) -> Iterator[str]:
    """The summary; only a complete conversion with a target is marked ✓."""
    checks = sum(len(sample.get("assertions", ())) + ("rubric" in sample) for sample in converted.samples)
    first, *others = prompts
    has_target = first.target is not None
    mark = "✓" if has_target and not lost else "⚠"
    yield f"{mark} {tool}: {plural(len(converted.samples), 'case')}, {plural(checks, 'check')}"
    if lost:
        yield f"  {plural(lost, 'thing')} could not be converted, and {'is' if lost == 1 else 'are'} listed above"
    if not has_target:
        yield f"  No target: no provider has an equal here. A comment in {first.settings} says what to add"
    yield f"  Prompt: {os.path.relpath(first.path)}"
    for other in others:
        yield f"  Prompt: {os.path.relpath(other.path)}, asked by: runevals --config {other.settings}"


def _converted(file: Path) -> ConvertedConfig:
    if file.suffix not in (".yaml", ".yml", ".json"):
        raise UsageError(f"{file}: a configuration is read from YAML or JSON; one that is a program is never run")
    value = read_source(file, str(file)).value
    if not isinstance(value, Mapping):
        raise UsageError(f"{file}: is no configuration: it must be an object with 'prompts' and 'tests'")
    folder = file.resolve().parent
    return convert(value, Files(folder=folder, root=repository_root(folder)))


def _texts(converted: ConvertedConfig, prompts: Sequence[_Placed], output: Path, config: Path) -> dict[Path, str]:
    """The files to write and their texts."""
    texts = {output: json.dumps({"samples": converted.samples}, ensure_ascii=False, indent=2) + "\n"}
    for placed in prompts:
        base = _base_of(placed.settings)
        path = _relative(placed.path, base)
        settings: dict[str, Any] = {"version": 1, "suites": [_relative(output, base)]}
        if converted.tagged:
            settings["tag"] = [placed.prompt.label]
        if placed.target is not None:
            settings["target"] = {**placed.target, "prompt_file": path}
        settings |= converted.settings
        texts[placed.settings] = _yaml(settings) + ("" if "target" in settings else _no_target(config, path))
        if placed.path != placed.prompt.file:
            texts[placed.path] = placed.prompt.text
    return texts | {output.parent / name: text for name, text in converted.code.items()}


def _no_target(config: Path, prompt_file: str) -> str:
    """The comment in the settings if there is no target."""
    target = json.dumps({"type": "openai", "model": "MODEL", "prompt_file": prompt_file}, ensure_ascii=False)
    text = f"{config.name} has no provider that can be converted. Set the target, such as:"
    return f"# {text}\n# target: {target}\n"


def _base_of(settings_file: Path) -> Path:
    """The folder that paths in the settings are relative to."""
    folder = settings_file.parent
    return folder.parent if folder.name == ".github" else folder


def _relative(path: Path, base: Path) -> str:
    return Path(os.path.relpath(path, base)).as_posix()


def _yaml(settings: Mapping[str, Any]) -> str:
    """Settings as YAML, or as JSON if YAML 1.2 would read them differently."""
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
