"""`runevals settings`: every setting and where it came from."""

from __future__ import annotations

import re
from functools import reduce
from typing import Any

import click

from runevals.cli.help import GroupedCommand
from runevals.cli.options import MODELS, environment_option, resolved_settings, settings_options
from runevals.lib.terminal import say
from runevals.models.http.origin import without_credentials
from runevals.records.rules import SuiteEntry
from runevals.settings.judge import judges_label
from runevals.settings.table import SETTINGS

_ADDRESS = re.compile(r"[a-z0-9]+://\S+$")


@click.command("settings", cls=GroupedCommand)
@settings_options("config", *MODELS)
@environment_option
def command(**options: Any) -> None:
    """Show every setting, its value and where it came from. Keys are never shown.

    \b
    Example:
      runevals settings --model {openai}
    """
    settings, width = resolved_settings(options), max(len(setting.name) for setting in SETTINGS)
    for setting in SETTINGS:
        value = _value(settings, setting.name)
        say(f"{setting.name:<{width}}  {_display_value(value)}  ({settings.origins[setting.name]})")
    say(f"settings file: {settings.file.display_name if settings.file else 'none'}")


# Where the value of a setting is that has another name there.
_PLACES = {
    "all": "load.everything",
    "config": "file.display_name",
    "max_base_age": "rules.regression.max_base_age_days",
    "fresh_runs": "rules.regression.max_fresh_runs",
    "max_cost": "measure.limits.cost_usd",
    "max_tokens": "measure.limits.tokens",
    "max_calls": "measure.limits.calls",
    "max_duration": "measure.limits.duration_s",
    "model": "target.model",
    "judge": "judges",
}


def _value(settings: Any, name: str) -> object:
    match name:
        case "edits":
            return "warn" if settings.rules.regression.accepts_edits else "accept"
        case "judge_model":
            return judges_label(settings.judges)
        case _ if name in _PLACES:
            return reduce(lambda part, key: getattr(part, key, None), _PLACES[name].split("."), settings)
        case _:
            return settings.value_of(name)


_OF_ENDPOINTS = ("model", "base_url", "function", "command", "path", "auth", "api_key_env", "deterministic")


def _display_value(value: Any) -> str:
    if value in (None, ()):
        return "–"
    if isinstance(value, tuple):
        return ", ".join(_display_value(item) for item in value)
    if isinstance(value, SuiteEntry):
        return value.path
    if hasattr(value, "type"):
        fields = {name: getattr(value, name) for name in _OF_ENDPOINTS if getattr(value, name, None)}
        if not value.is_model:
            fields.pop("api_key_env", None)
        web = getattr(value, "web", None)
        if web is not None:
            fields |= {"method": web.method, "url": web.display_url, "keys": ",".join(web.key_names) or "none"}
        prompt = getattr(value, "prompt", None)
        if prompt is not None:
            fields["prompt_file"] = prompt.display_path
        return f"{value.type} " + " ".join(f"{name}={_display_text(item)}" for name, item in fields.items())
    return _display_text(value)


def _display_text(value: object) -> str:
    """An address without credentials, anything else as it is."""
    text = str(value)
    try:
        return without_credentials(text) if _ADDRESS.match(text) else text
    except ValueError:
        return "an invalid address"
