"""Numbers as documents may have them: those that can be computed with."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

LARGEST = 1e100  # sums and squares of such are numbers too
MOST = 2**53  # the largest whole number that every reader of JSON has

Number = Annotated[float, Meta(ge=-LARGEST, le=LARGEST)]
Amount = Annotated[float, Meta(ge=0, le=LARGEST)]
Positive = Annotated[float, Meta(gt=0, le=LARGEST)]
Whole = Annotated[int, Meta(ge=-MOST, le=MOST)]
Count = Annotated[int, Meta(ge=0, le=MOST)]
Ordinal = Annotated[int, Meta(ge=1, le=MOST)]
