"""Numbers and names as people read them."""

from __future__ import annotations

from runevals.lib.text.numbers import p_value, points, short_list


def test_a_long_list_is_cut_with_the_number_of_the_rest():
    assert short_list(["a", "b"]) == "a, b"
    assert short_list(["a", "b", "c", "d", "e"]) == "a, b, c and 2 more"
    assert short_list(["one\nline"]) == "one line"


def test_differences_have_a_sign_and_tiny_p_values_a_bound():
    assert (points(-0.123), points(0.0001)) == ("−12.3 points", "0.0 points")
    assert (p_value(0.00001), p_value(0.0123)) == ("p < 0.0001", "p = 0.012")
