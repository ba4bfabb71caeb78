"""Prices of tokens: from the settings, otherwise from `genai-prices`; unknown for other models."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from genai_prices.data_snapshot import DataSnapshot
    from genai_prices.types import ModelInfo, Provider

_DATED = re.compile(r"-\d{4}-\d{2}(?:-\d{2})?$|-\d{4,8}$")


class Price(Struct, frozen=True):
    """US dollars for a million tokens."""

    input: float
    output: float


class Prices(Struct, frozen=True):
    """`own` are the settings' prices, which go before the library's."""

    own: Mapping[str, Price] = {}

    def cost_usd(
        self,
        model: str | None,
        input_tokens: int | None,
        output_tokens: int | None,
        *,
        cached_tokens: int | None = None,
        written_tokens: int | None = None,
        provider: str | None = None,
    ) -> float | None:
        """The cost of a call; None if its price or tokens are unknown. A dated name has the price of its model.

        Of the input tokens, `cached_tokens` are from the provider's cache, and `written_tokens` go into it.
        `provider` is its id in `genai-prices`, None if only the model's name identifies the price.
        """
        if model is None or input_tokens is None or output_tokens is None:
            return None
        own = next((self.own[name] for name in names_of(model) if name in self.own), None)
        if own is not None:
            return (own.input * input_tokens + own.output * output_tokens) / 1e6
        return _library_cost(
            model, provider, (input_tokens, cached_tokens or 0, written_tokens or 0, output_tokens)
        )

    @property
    def source(self) -> str:
        """Where the prices are from, with the release of the library: its prices are as of that."""
        from importlib.metadata import version

        library = f"genai-prices {version('genai-prices')}"
        return f"the settings, then {library}" if self.own else library


def is_deprecated(model: str | None, provider: str) -> bool:
    """Whether the library marks this model of this provider as deprecated; not if it does not know it."""
    try:
        return bool(model and snapshot().find_provider_model(model, None, provider, None)[1].deprecated)
    except LookupError:
        return False


def snapshot() -> DataSnapshot:
    """All prices of the library; the first time, it takes a quarter of a second: call it in the background."""
    from genai_prices.data_snapshot import get_snapshot

    return get_snapshot()


def names_of(model: str) -> Iterable[str]:
    """The name of a model, and without its date."""
    return dict.fromkeys((model, _DATED.sub("", model)))


def _library_cost(model: str, provider: str | None, tokens: tuple[int, int, int, int]) -> float | None:
    """`tokens` are those of the input, of these the ones from the cache and into it, and those of the output."""
    match = _library_model(model, provider)
    if match is None:
        return None
    from genai_prices import Usage

    provider_, priced = match
    into, cached, written, out = tokens
    cached = min(cached, into)
    usage = Usage(
        input_tokens=into,
        cache_read_tokens=cached,
        cache_write_tokens=min(written, into - cached),
        output_tokens=out,
    )
    return float(priced.calc_price(usage, provider_).total_price)


@lru_cache(1024)
def _library_model(model: str, provider: str | None) -> tuple[Provider, ModelInfo] | None:
    for name in names_of(model):
        try:
            return snapshot().find_provider_model(name, None, provider, None)
        except LookupError:
            continue
    return None
