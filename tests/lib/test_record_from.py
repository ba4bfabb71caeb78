"""Records made from others."""

from __future__ import annotations

import pytest
from msgspec import Struct

from runevals.lib.record_from import record_from


class Planned(Struct, frozen=True, kw_only=True):
    name: str
    cost: float
    notes: str = ""


class Billed(Struct, frozen=True, kw_only=True):
    name: str
    cost: float
    paid: bool = False


@pytest.mark.parametrize(
    ("more", "billed"),
    [
        ({}, Billed(name="a", cost=1.5)),
        ({"paid": True}, Billed(name="a", cost=1.5, paid=True)),
        ({"cost": 2.0}, Billed(name="a", cost=2.0)),
    ],
)
def test_fields_of_the_same_name_are_taken_and_what_is_given_stands(more, billed):
    assert record_from(Billed, Planned(name="a", cost=1.5, notes="secret"), **more) == billed
