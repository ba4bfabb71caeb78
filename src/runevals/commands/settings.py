"""`runevals settings`: every setting and where it came from."""

from __future__ import annotations

from typing import Any

import click

from runevals.commands.options import environment_option, settings_options, settled


@click.command("settings")
@settings_options()
@environment_option
def command(**told: Any) -> None:
    """Show every setting, its value and where it came from. Keys are never shown.

    \b
    Example:
      runevals settings --model gpt-5-mini
    """
    from runevals.settings import SETTINGS

    settings = settled(told)
    width = max(len(setting.name) for setting in SETTINGS)
    for setting in SETTINGS:
        attribute = {"all": "everything"}.get(setting.name, setting.name)
        value = getattr(settings, attribute, None)
        click.echo(f"{setting.name:<{width}}  {_shown(value)}  ({settings.origins[setting.name]})")
    click.echo(f"settings file: {settings.file or 'none'}")


def _shown(value: object) -> str:
    if value is None or value == ():
        return "–"
    if isinstance(value, tuple):
        return ", ".join(getattr(item, "path", None) or str(item) for item in value)
    if hasattr(value, "type"):
        named = {
            name: getattr(value, name)
            for name in ("model", "base_url", "function", "command", "path", "api_key_env")
            if getattr(value, name, None)
        }
        return f"{value.type} " + " ".join(f"{name}={item}" for name, item in named.items())
    return str(value)
