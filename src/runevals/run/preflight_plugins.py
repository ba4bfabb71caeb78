"""Loads all plugins before a run."""

from __future__ import annotations

from runevals.evaluators import catalogue
from runevals.lib import plugins
from runevals.lib.terminal import notice


def require_usable_plugins() -> None:
    """Raises UnusablePlugin if an installed one cannot be used, even if this run does not need it.

    After the settings are resolved: they name what is loaded in CI.
    """
    if not plugins.is_any_installed():
        return
    from runevals import reports as reporters  # 25 ms that most installations need not pay
    from runevals.suites import dialects
    from runevals.targets.plugin import PLUGINS

    catalogue.plugin_evaluators()
    dialects.plugin_dialects()
    reporters.reporters()
    plugins.plugins(PLUGINS)
    for package in plugins.left_out():
        notice(f"Notice: the plugins of {package} are not loaded: `plugins` of the settings does not name it")
