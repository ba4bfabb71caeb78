"""Loads slow libraries in the background."""

from __future__ import annotations

from threading import Thread

from runevals.lib.chat import prices
from runevals.lib.chat.providers import PROVIDERS
from runevals.settings.resolve import Settings


def load_sdk_beside(settings: Settings) -> None:
    """Begins to load the SDK and the prices, which takes a second, if a model will be called."""
    models = [endpoint.type for endpoint in (settings.target, *settings.judges) if endpoint is not None]
    if not settings.evaluate_only and PROVIDERS.keys() & {*models}:
        Thread(target=_load, daemon=True).start()


def _load() -> None:
    import runevals.lib.chat.transport  # noqa: F401

    prices.load()
