"""`runevals import`: other tools' configurations and logs → suites and settings."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct

from runevals.cli import finish
from runevals.cli.options import resolved_settings, settings_options
from runevals.imports import openai_evals
from runevals.imports.files import Files
from runevals.imports.logs import NAMES, read_log
from runevals.imports.logs.cases import as_document
from runevals.imports.promptfoo import convert
from runevals.imports.remarks import remark_lines
from runevals.lib.checkout import repository_root
from runevals.lib.parsing.source import read_source, read_yaml
from runevals.lib.storage.files import path_from, write_whole
from runevals.lib.terminal import say
from runevals.lib.text.numbers import phrase, plural
from runevals.records.errors import USAGE_ERROR, InvalidSettings, UsageError
from runevals.run.redaction.redactors import without_either
from runevals.settings.resolve import Settings

if TYPE_CHECKING:
    from runevals.imports.promptfoo import ConvertedConfig
    from runevals.imports.prompts import Prompt

PROMPTFOO = "promptfoo"
CONFIGURATIONS = (PROMPTFOO, openai_evals.NAME)
LOG_OUTPUT = Path("evals/imported.json")
PROMPTS = "prompts"  # the folder beside the suite
LONGEST_NAME = 60
LEAST_KEPT = 0.5  # of the assertions, without --force


@click.command("import")
@click.argument("tool", type=click.Choice([*CONFIGURATIONS, *NAMES]))
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="The suite to write: evals/eval-samples.json of a configuration, evals/imported.json of a log.",
)
@click.option(
    "--settings",
    "settings_file",
    type=click.Path(path_type=Path),
    default=Path("runevals.yaml"),
    show_default=True,
    help="The settings to write, of a configuration.",
)
@click.option(
    "--force",
    is_flag=True,
    help="Overwrite existing files; write also if less than half of the assertions can be converted.",
)
@click.option("--strict", is_flag=True, help="Exit with 2 if something cannot be converted.")
@click.option("--expected", is_flag=True, help="Of a log: what was answered is also the expected response.")
@settings_options("config")
def command(
    tool: str, file: Path, *, output: Path | None, settings_file: Path, expected: bool, **options: Any
) -> None:
    """Convert the configuration FILE of another tool into a suite and settings, or a log FILE into cases.

    What has no equal here is listed, never dropped in silence. Configurations are promptfoo's, and what OpenAI's
    Evals API says of an eval and its runs, a line for each object. Logs are requests in the form of OpenAI's API,
    OTLP traces, transcripts of Claude Code and exports of Langfuse. Keys, and what redact.patterns of the settings
    match, are removed.

    \b
    Examples:
      runevals import promptfoo promptfooconfig.yaml
      runevals import openai-log requests.jsonl -o evals/imported.json
    """
    force, strict = options.pop("force"), options.pop("strict")
    if tool not in CONFIGURATIONS:
        _import_log(tool, file, output or LOG_OUTPUT, resolved_settings(options), expected=expected, force=force)
        return
    if expected:
        raise UsageError("--expected is for logs; the assertions of a configuration say what they expect")
    _import_configuration(
        tool, file, output or Path("evals/eval-samples.json"), settings_file, force=force, strict=strict
    )


def _import_log(tool: str, file: Path, output: Path, settings: Settings, *, expected: bool, force: bool) -> None:
    log = read_log(file, tool)
    left_out = ", ".join(f"{number} {reason}" for reason, number in sorted(log.left_out.items()))
    if not log.conversations:
        raise UsageError(f"{file}: no conversation can be read of it{phrase(left_out, '; left out: {}')}")
    conversations = without_either(log.conversations, settings)
    document = as_document(conversations, expected=expected)
    cases = len(document["items"])
    _write({output: json.dumps(document, ensure_ascii=False, indent=2) + "\n"}, force=force)
    folded = len(conversations) - cases
    say(f"✓ {tool}: {plural(cases, 'case')} from {plural(len(conversations), 'conversation')}")
    systems = len({one.system for one in conversations if one.system})
    remarks = (
        phrase(folded, f"  Folded: {plural(folded, 'near-duplicate')}, counted in the notes of their cases"),
        phrase(left_out, "  Left out: {}"),
        phrase(systems, f"  Not in the cases: {plural(systems, 'system prompt')}; the target's own is used"),
    )
    for line in filter(None, remarks):
        say(line)
    if not settings.redaction.redact_patterns:
        say("  Removed: keys. Set redact.patterns in the settings to remove personal data too")
    say("  No case has a check yet. Read them, delete what must not be stored, add checks: `runevals validate`")
    say(f"  Written: {output}")


def _import_configuration(
    tool: str, file: Path, output: Path, settings_file: Path, *, force: bool, strict: bool
) -> None:
    converted = _converted(file, tool)
    for line in remark_lines(converted.remarks):
        say(line, err=True)
    if not converted.samples:
        raise UsageError(f"{file}: nothing of it can be converted; see the list above")
    counted = f"{converted.assertions:,} of {plural(converted.total_assertions, 'assertion')}"
    if converted.assertions < converted.total_assertions * LEAST_KEPT and not force:
        raise UsageError(
            f"{file}: {counted} can be converted; see the list above. --force writes them; or run it there, "
            "and `runevals gate` its results"
        )
    prompts = _placed(converted, output, settings_file)
    texts = _texts(converted, prompts, output, file)
    _write(texts, force=force)
    lost = sum(remark.level == "lost" for remark in converted.remarks)
    say("\n".join(_summary(converted, prompts, tool, lost)))
    say(f"  Written: {', '.join(map(str, texts))}")
    if lost and strict:
        finish(USAGE_ERROR)


class _Placed(Struct, frozen=True, kw_only=True):
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
        name, path = _free_name(prompt.label, taken), prompt.file
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
    lost_checks = f" ({converted.assertions:,} of {plural(converted.total_assertions, 'assertion')} kept)"
    first, *others = prompts
    has_target = first.target is not None
    mark = "✓" if has_target and not lost else "⚠"
    counted = f"{plural(len(converted.samples), 'case')}, {plural(checks, 'check')}"
    yield f"{mark} {tool}: {counted}{lost_checks if converted.assertions < converted.total_assertions else ''}"
    if lost:
        yield f"  {plural(lost, 'thing')} could not be converted, and {'is' if lost == 1 else 'are'} listed above"
    if not has_target:
        yield f"  No target: no provider has an equal here. A comment in {first.settings} says what to add"
    yield f"  Prompt: {os.path.relpath(first.path)}"
    for other in others:
        yield f"  Prompt: {os.path.relpath(other.path)}, asked by: runevals --config {other.settings}"


def _converted(file: Path, tool: str) -> ConvertedConfig:
    folder = file.resolve().parent
    files = Files(folder=folder, root=repository_root(folder))
    if tool == openai_evals.NAME:
        return convert(openai_evals.configuration(file), files)
    if file.suffix not in (".yaml", ".yml", ".json"):
        raise UsageError(f"{file}: a configuration is read from YAML or JSON; one that is a program is never run")
    value = read_source(file, str(file)).value
    if not isinstance(value, Mapping):
        raise UsageError(f"{file}: is no configuration: it must be an object with 'prompts' and 'tests'")
    return convert(value, files)


def _texts(converted: ConvertedConfig, prompts: Sequence[_Placed], output: Path, config: Path) -> dict[Path, str]:
    """The files to write and their texts."""
    texts = {output: json.dumps({"samples": converted.samples}, ensure_ascii=False, indent=2) + "\n"}
    for placed in prompts:
        base = _base_of(placed.settings)
        path = path_from(placed.path, base)
        settings: dict[str, Any] = {"version": 1, "suites": [path_from(output, base)]}
        if converted.tagged:
            settings["tag"] = [placed.prompt.label]
        if placed.target is not None:
            settings["target"] = {**placed.target, "prompt_file": path}
        settings |= converted.settings
        target = json.dumps({"type": "openai", "model": "MODEL", "prompt_file": path}, ensure_ascii=False)
        lack = f"# {config.name} has no provider that can be converted. Set the target, such as:\n"
        texts[placed.settings] = _yaml(settings) + ("" if "target" in settings else f"{lack}# target: {target}\n")
        if placed.path != placed.prompt.file:
            texts[placed.path] = placed.prompt.text
    return texts | {output.parent / name: text for name, text in converted.code.items()}


def _base_of(settings_file: Path) -> Path:
    """The folder that paths in the settings are relative to."""
    folder = settings_file.parent
    return folder.parent if folder.name == ".github" else folder


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
            f"{', '.join(there)} would be overwritten; name others with --output or --settings, or use --force"
        )
    for path, text in texts.items():
        write_whole(path, text)
