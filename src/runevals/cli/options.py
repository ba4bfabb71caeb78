"""Command-line options, generated from the table of settings."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any, TypeVar

import click

from runevals.cli.completed_words import completing, of_setting
from runevals.github.this_job import with_own_identity
from runevals.lib.storage.files import STANDARD_STREAM
from runevals.lib.text.numbers import phrase
from runevals.records.errors import InvalidSettings
from runevals.settings.dotenv import environment
from runevals.settings.file import RESULTS, results_folder
from runevals.settings.resolve import RawSettings, Settings, resolve
from runevals.settings.table import SETTINGS, Setting

F = TypeVar("F", bound=Callable[..., Any])

KEPT_RESULTS = Path(RESULTS)  # as texts name it
_TYPES: Mapping[str, Any] = {
    "text": click.STRING,
    "texts": click.STRING,
    "whole": click.INT,
    "number": click.FLOAT,
}
# The settings of a command that does not run and compare everything: those that change what it does.
SUITES = ("all", "config", "category", "tag", "filter", "evaluators")
MODELS = ("target", "model", "judge", "judge_model", "no_judge")
CALLS = (
    *("repeat", "concurrency", "judge_concurrency", "cache", "cache_target", "mcp_config", "sandbox", "executor"),
    *("ray_address", "ray_num_cpus", "ray_num_gpus", "ray_runtime_env"),
    *("max_cost", "max_tokens", "max_calls", "max_duration", "trust"),
)
_METAVARS = {"text": "TEXT", "texts": "TEXT", "whole": "N", "number": "SHARE"}


OF_RUNS = {setting.name for setting in SETTINGS} - {"columns"}  # those are of rows that another tool wrote


def settings_options(*names: str) -> Callable[[F], F]:
    """Adds the flags of the named settings; without names, of all that a run reads."""

    def add(function: F) -> F:
        for setting in reversed(SETTINGS):
            if "flag" in setting.by and setting.name in (names or OF_RUNS):
                function = _option(setting)(function)
        return function

    return add


def output_option(function: F) -> F:
    """Adds `--output`, once for each report."""
    return click.option(
        "-o",
        "--output",
        multiple=True,
        metavar="FILE",
        callback=document_alone(lambda names: str(STANDARD_STREAM) in names),
        help="Write a report: .json, .json.gz, .html, .xml, .csv, .md; - prints the results document; repeatable.",
    )(function)


def document_alone(is_printed: Callable[[Any], bool]) -> Callable[[click.Context, click.Parameter, Any], Any]:
    """An option's callback: if its value prints a document, all else that the command prints goes to stderr."""

    def callback(context: click.Context, _option: click.Parameter, value: Any) -> Any:
        if is_printed(value):
            context.with_resource(redirect_stdout(sys.stderr))
        return value

    return callback


def environment_option(function: F) -> F:
    """Adds `--env`, which names a dotenv file."""
    return click.option(
        "--env",
        "env_name",
        metavar="NAME",
        help="Also read env/.env.NAME, after .env.local and .env.local.user; never in CI.",
    )(function)


def resolved_settings(
    flags: Mapping[str, Any], *, paths: tuple[str, ...] = (), evaluate_only: bool = False
) -> Settings:
    """Flags → settings. `paths` are suites named on the command line."""
    return resolve(raw_settings(flags, paths=paths, evaluate_only=evaluate_only))


def raw_settings(
    flags: Mapping[str, Any], *, paths: tuple[str, ...] = (), evaluate_only: bool = False
) -> RawSettings:
    """The settings of a command line, before they are resolved."""
    names = {setting.name for setting in SETTINGS if "flag" in setting.by}
    _require_values(flags)
    if "" in paths:
        raise InvalidSettings("the name of a suite is empty: leave it out, or give its path")
    flags_set = {name: value for name, value in flags.items() if name in names}
    if paths:
        flags_set["suites"] = list(paths)
    cwd = Path.cwd()
    return RawSettings(
        flags=flags_set,
        cwd=cwd,
        environment=with_own_identity(environment(cwd, flags.get("env_name"), os.environ)),
        env=flags.get("env_name"),
        evaluate_only=evaluate_only,
    )


_NOT_EMPTY = ("base", "baseline", "target", "config", "judge", "against", "mark")


def _require_values(flags: Mapping[str, Any]) -> None:
    """Raises InvalidSettings for an empty one: `--base "$UNSET"` would run with another meaning."""
    for name in _NOT_EMPTY:
        value = flags.get(name)
        if value == "" or (isinstance(value, list | tuple) and "" in value):
            raise InvalidSettings(f"--{name.replace('_', '-')} is empty: leave it out, or give it a value")


def _option(setting: Setting) -> Callable[[F], F]:
    flag = "--" + setting.name.replace("_", "-")
    default = "" if setting.default in (None, (), False) else f" [default: {setting.default}]"
    choices = "|".join(setting.choices)
    if setting.kind == "yes_no":
        return click.option(flag, setting.name, is_flag=True, default=None, help=setting.help)
    read = _REPEATED.get("texts" if setting.kind == "texts" else setting.name)
    return click.option(
        flag,
        setting.name,
        type=_TYPES[setting.kind],
        default=None,
        multiple=read is not None,
        callback=read,
        metavar=setting.metavar or (f"[{choices}]" if choices else _METAVARS[setting.kind]),
        shell_complete=completing(of_setting(setting.name, setting.choices)),
        help=setting.help
        + phrase(setting.kind == "texts", " Several: repeat it, or separate by commas.")
        + phrase(setting.name == "model", " Given twice, both are measured side by side.")
        + default,
    )


def _only(_context: click.Context, option: click.Parameter, values: tuple[str, ...]) -> str | None:
    """The single value of a flag. Raises InvalidSettings for two, which would need two runs."""
    if len(values) > 1:
        raise click.UsageError(
            f"{option.opts[0]} was given {len(values)} times ({', '.join(values)}), but a run has one; "
            "run the command once for each"
        )
    return next(iter(values), None)


_REPEATED: Mapping[str, Callable[[click.Context, click.Parameter, tuple[str, ...]], object]] = {
    **dict.fromkeys(("baseline", "judge_model"), _only),
    "texts": lambda _context, _option, values: ",".join(values) or None,
    "model": lambda _context, _option, values: values if len(values) > 1 else next(iter(values), None),
}


def kept_folder() -> Path:
    """Where the runs of the project here are kept."""
    return results_folder(Path.cwd())


def or_kept(documents: Sequence[Path]) -> Sequence[Path]:
    """These results, or the folder in which runs are kept if there is one."""
    return documents or ((kept_folder(),) if kept_folder().is_dir() else ())


def results_option(what: str) -> Callable[[F], F]:
    """`--results`: documents and folders of them, for `or_kept`."""
    text = f"{what}; repeatable. [default: {KEPT_RESULTS.as_posix()}]"
    kind = click.Path(path_type=Path, exists=True)
    return click.option("--results", multiple=True, type=kind, metavar="DOC", help=text)
