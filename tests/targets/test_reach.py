"""What a target reaches, and what a grant of it covers."""

from __future__ import annotations

import pytest

from runevals.targets.kinds import KINDS, kind_of
from runevals.targets.reach import ANY, Reach, Written, plain

KEY = Reach("key", "KEY", "https://a.example/v1", "authorization")


@pytest.mark.parametrize(
    ("granted", "expected"),
    [
        (KEY, True),
        (Reach("key", "KEY", "https://a.example/v1", ANY), True),
        (Reach("key", "KEY", "https://a.example/v1", "x-key"), False),
        (Reach("key", "KEY", "https://a.example/v2", "authorization"), False),
        (Reach("key", "OTHER", "https://a.example/v1", "authorization"), False),
    ],
)
def test_a_key_is_granted_for_an_address_and_a_header(granted, expected):
    assert KEY.is_in({granted: "target.url"}) is expected


def test_an_address_is_said_without_its_query():
    assert plain("https://a.example/v1?key=secret") == "https://a.example/v1"
    with pytest.raises(ValueError, match="ftp"):
        plain("ftp://a.example")


@pytest.mark.parametrize("kind", KINDS)
def test_data_reaches_nothing(kind):
    values = {"type": kind, "model": "m", "timeout_s": 3, "system_prompt": "Be kind.", "deterministic": True}
    written = Written(values, {}, lambda _: {})
    rules = kind_of(kind).reaches
    assert [reach for name in values if name != "type" for reach in rules[name](written)] == []
