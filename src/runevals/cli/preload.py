"""Loading what takes long, while something else is done."""

from __future__ import annotations

from importlib import import_module
from threading import Thread

from runevals.settings.resolve import Settings


def load_sdk_beside(settings: Settings) -> None:
    """Begins to load the SDK, which takes half a second, where a model will be asked."""
    models = [told.type for told in (settings.target, *settings.judges) if told is not None]
    if not settings.evaluate_only and {"openai", "github-models", "azure"} & {*models}:
        Thread(target=import_module, args=("runevals.lib.chat.transport",), daemon=True).start()
