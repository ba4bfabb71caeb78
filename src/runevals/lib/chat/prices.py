"""What tokens cost: a table with a date, which the settings may add to; an unknown model costs an unknown sum."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files

_DATED = re.compile(r"-\d{4}-\d{2}(?:-\d{2})?$|-\d{4,8}$")


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens."""

    input: float
    output: float


@dataclass(frozen=True, slots=True)
class Prices:
    """`own` are the settings' prices, which go before the table's."""

    own: Mapping[str, Price] = field(default_factory=dict)

    def cost_usd(self, model: str | None, input_tokens: int | None, output_tokens: int | None) -> float | None:
        """What a call cost; None where its price or tokens are unknown. A dated name is its model's."""
        if model is None or input_tokens is None or output_tokens is None:
            return None
        price = self._price(model)
        if price is None:
            return None
        return (price.input * input_tokens + price.output * output_tokens) / 1e6

    def _price(self, model: str) -> Price | None:
        for name in (model, _DATED.sub("", model)):
            found = self.own.get(name) or _table().get(name) or _table().get(name.lower())
            if found is not None:
                return found
        return None


@cache
def _table() -> Mapping[str, Price]:
    told = json.loads(files("runevals.lib.chat").joinpath("prices.json").read_text(encoding="utf-8"))
    return {name: Price(**price) for name, price in told["usd_per_million_tokens"].items()}
