"""Which cases notice a hunk: any difference of a deterministic target, else the exact tests."""

from __future__ import annotations

import pytest

from runevals.verdict.hunk_coverage import noticed
from tests.sample_reports import case

SAME = {f"K{number}": "ppp" for number in range(12)}


def runs(outcomes):
    return {("s", key): case(key, text).attempts for key, text in outcomes.items()}


@pytest.mark.parametrize(
    ("head", "put_back", "deterministic", "by", "together"),
    [
        pytest.param({"A": "p", "B": "p"}, {"A": "f", "B": "p"}, True, ["A"], False, id="every difference"),
        pytest.param({"A": "f"}, {"A": "p"}, True, ["A"], False, id="also a gain"),
        pytest.param(SAME, SAME | {"K0": "fff"}, False, [], False, id="one case may be noise"),
        pytest.param({"A": "p" * 8, "B": "pf" * 4}, {"A": "f" * 8, "B": "fp" * 4}, False, ["A"], False, id="sure"),
        pytest.param(SAME, dict.fromkeys(SAME, "pff"), False, [], True, id="only together"),
    ],
)
def test_what_counts_as_noticed(head, put_back, deterministic, by, together):
    [found] = noticed(runs(head), [runs(put_back)], deterministic=deterministic)
    assert ([key for _, key in found.by], found.p_value is not None, found.unmeasured) == (by, together, 0)


@pytest.mark.parametrize("deterministic", [True, False])
def test_a_case_without_a_value_says_nothing(deterministic):
    [found] = noticed(runs({"A": "p", "B": "p"}), [runs({"A": "e"})], deterministic=deterministic)
    assert (found.by, found.p_value, found.unmeasured) == ((), None, 2)
