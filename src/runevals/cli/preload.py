"""Loading what takes long, while something else is done."""

from __future__ import annotations

from threading import Thread

from runevals.lib.chat import prices
from runevals.lib.chat.providers import PROVIDERS
from runevals.settings.resolve import Settings


def load_sdk_beside(settings: Settings) -> None:
    """Begins to load the SDK and the prices, which takes a second, where a model will be asked."""
    models = [told.type for told in (settings.target, *settings.judges) if told is not None]
    if not settings.evaluate_only and PROVIDERS.keys() & {*models}:
        Thread(target=_load, daemon=True).start()


def _load() -> None:
    import runevals.lib.chat.transport  # noqa: F401

    prices.load()
