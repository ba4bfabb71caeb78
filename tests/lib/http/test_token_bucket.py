"""What hosts announce of the tokens that are left."""

from __future__ import annotations

import pytest

from runevals.lib.http.token_bucket import Allowance, allowance_of, duration_s


def headers(**values):
    return {f"x-ratelimit-{name}-tokens": value for name, value in values.items()}


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("6m0s", 360.0),
        ("120ms", 0.12),
        ("7.66s", 7.66),
        ("1h2m3s", 3723.0),
        ("60", 60.0),
        ("0s", None),
        ("0", None),
        ("", None),
        ("soon", None),
        ("6m soon", None),
        ("-1s", None),
        ("nan", None),
        ("inf", None),
        ("2026-01-01T00:00:00Z", None),
    ],
)
def test_durations_are_read_as_providers_write_them(text, seconds):
    assert duration_s(text) == (seconds if seconds is None else pytest.approx(seconds))


def test_the_tokens_of_an_answer_are_read():
    allowance = allowance_of(headers(limit="40000", remaining="18000", reset="33s"))
    assert allowance == Allowance(left=18000.0, most=40000.0, full_in_s=33.0)


@pytest.mark.parametrize(
    "change",
    [
        {"limit": ""},
        {"remaining": "many"},
        {"reset": "0s"},
        {"remaining": "40000"},
        {"limit": "nan"},
        {"remaining": "-1"},
    ],
    ids=str,
)
def test_a_full_bucket_and_unreadable_headers_announce_nothing(change):
    assert allowance_of(headers(**{"limit": "40000", "remaining": "18000", "reset": "33s"} | change)) is None


def test_other_headers_announce_nothing():
    assert allowance_of({"x-ratelimit-remaining-requests": "3"}) is None
