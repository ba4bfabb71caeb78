"""What hosts announce of the tokens that are left."""

from __future__ import annotations

import pytest

from runevals.models.http.token_bucket import Allowance, TokenBucket, allowance_of, duration_s


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
        ("0s", 0.0),
        ("0", 0.0),
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
        {"reset": "soon"},
        {"remaining": "40001"},
        {"limit": "nan"},
        {"remaining": "-1"},
    ],
    ids=str,
)
def test_unreadable_headers_announce_nothing(change):
    assert allowance_of(headers(**{"limit": "40000", "remaining": "18000", "reset": "33s"} | change)) is None


def test_other_headers_announce_nothing():
    assert allowance_of({"x-ratelimit-remaining-requests": "3"}) is None


@pytest.mark.parametrize("full", [{"remaining": "40000"}, {"reset": "0s"}], ids=str)
def test_a_bucket_that_is_full_again_delays_nothing(full):
    """Whatever was announced before, and however many calls have been sent since."""
    bucket = TokenBucket()
    for number, left in enumerate(("9000", "7000", "5000"), start=1):
        bucket.see(allowance_of(headers(limit="40000", remaining=left, reset="33s")), number, 0.1, refused=False)
    assert bucket.free_at(3) > 0.1
    answer = headers(**{"limit": "40000", "remaining": "39900", "reset": "1ms"} | full)
    bucket.see(allowance_of(answer), 4, 0.2, refused=False)
    assert bucket.free_at(4) <= 0.2
