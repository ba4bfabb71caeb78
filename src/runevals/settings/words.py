"""Targets and judges that are written as one text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from runevals.lib.text.suggest import MISSPELT, did_you_mean, nearest
from runevals.models.chat.providers import PROVIDERS
from runevals.records.errors import InvalidSettings
from runevals.targets.kinds import KINDS, forms, kind_of

_JUDGES = (*(f"{name}:MODEL" for name in PROVIDERS), "recorded:FILE")
_MAKERS = {  # how the names of their models begin
    "gpt-": "openai",
    "claude-": "anthropic",
    "gemini-": "gemini",
    "mistral-": "mistral",
    "deepseek-": "deepseek",
}
_SCHEMES = {"https": "http"}  # a plain address is an http target's


def target_words(text: str | Mapping[str, Any]) -> dict[str, Any]:
    """A target, which may be written as one text → its section. Raises UsageError."""
    if not isinstance(text, str):
        return dict(text)
    kind, _, rest = text.partition(":")
    if _SCHEMES.get(kind, kind) not in KINDS:
        raise _unknown("target", text, forms())
    return kind_of(_SCHEMES.get(kind, kind)).words(kind, rest)


def judge_words(text: str) -> dict[str, Any]:
    """A judge written as one text → its section. Raises InvalidSettings."""
    kind, colon, rest = text.partition(":")
    if kind == "recorded":
        return {"type": kind, "path": rest}
    if text == "azure":
        return {"type": text}
    if colon and kind in PROVIDERS:
        return {"type": kind, "model": rest}
    if colon:
        raise _unknown("judge", text, _JUDGES)
    return {"model": text}


def _unknown(what: str, text: str, known: Sequence[str]) -> InvalidSettings:
    kind = text.partition(":")[0]
    model = f", or MODEL without a colon (openai:{text})" if what == "judge" else ""
    names = [form.partition(":")[0] for form in known]
    maker = next((maker for start, maker in _MAKERS.items() if text.startswith(start)), None)
    is_model = what == "target" and maker is not None and nearest(kind, names, least=MISSPELT) is None
    hint = f"; did you mean '{maker}:{text}'?" if is_model else did_you_mean(kind, names)
    return InvalidSettings(f"there is no {what} '{text}'; it is one of {', '.join(known)}{model}{hint}")
