"""Plugins, all of them loaded before anything is run."""

from __future__ import annotations

from runevals import reports as reporters
from runevals.evaluators import catalogue
from runevals.lib import plugins
from runevals.suites import dialects


def require_usable_plugins() -> None:
    """Raises UnusablePlugin where an installed one cannot be used, whether this run would need it or not."""
    catalogue.catalogue()
    dialects.plugin_dialects()
    reporters.reporters()
    plugins.plugins(plugins.TARGETS)
