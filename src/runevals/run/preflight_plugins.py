"""Loads all plugins before a run."""

from __future__ import annotations

from runevals import reports as reporters
from runevals.evaluators import catalogue
from runevals.lib import plugins
from runevals.suites import dialects


def require_usable_plugins() -> None:
    """Raises UnusablePlugin if an installed one cannot be used, even if this run does not need it."""
    catalogue.catalogue()
    dialects.plugin_dialects()
    reporters.reporters()
    plugins.plugins(plugins.TARGETS)
