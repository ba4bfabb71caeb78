"""Loads slow libraries in the background."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from importlib import import_module
from threading import Thread

from runevals.lib.nullable import known
from runevals.models.chat import prices
from runevals.models.chat.wire import WIRES
from runevals.settings.resolve import Settings


def load_sdk_beside(settings: Settings) -> None:
    """Begins to load the SDK and the prices, which takes a second, if a model will be called."""
    endpoints = known((settings.target, *settings.judges))
    sdks = {WIRES[endpoint.spoken_api].sdk for endpoint in endpoints if endpoint.is_model}
    if not settings.evaluate_only and sdks:
        Thread(target=_load, args=(sdks,), daemon=True).start()


def _load(sdks: Iterable[str]) -> None:
    for sdk in sdks:
        with suppress(ImportError):  # said where it is needed
            import_module(sdk)
    prices.snapshot()
