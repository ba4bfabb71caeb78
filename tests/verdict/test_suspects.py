"""Which single cases look lost, and what fresh runs say of them."""

from __future__ import annotations

import pytest

from runevals.records import RegressionRule
from runevals.verdict.matching import Pair
from runevals.verdict.suspects import (
    SuspectRuns,
    admitted,
    candidates,
    case_p,
    drop_hopeless,
    settle,
    settle_half_way,
)
from tests.sample_reports import LETTERS, attempt, case


def pair(key, base, head, **fields):
    return Pair.of(case(key, base, **fields), case(key, head, **fields))


@pytest.mark.parametrize(
    ("base", "head", "looks_lost"),
    [
        ("ppp", "f", True),
        ("ppf", "f", True),  # two of three runs passed
        ("pff", "f", False),
        ("ppp", "p", False),
        ("ppp", "pf", False),  # a later round will tell
        ("ppp", "pff", True),  # two of three fail
        ("ppp", "ppf", False),
        ("eee", "f", True),  # errors hide what it was
        ("ppp", "e", False),
        ([1.0, 1.0], [0.5, 0.5], True),  # graded: half of the range
        ([1.0, 1.0], [0.6, 0.6], False),
    ],
)
def test_which_cases_look_lost(base, head, looks_lost):
    assert bool(candidates([pair("a", base, head)])) is looks_lost


def test_any_failed_run_of_a_critical_case_is_looked_at():
    assert candidates([pair("a", "ppp", "ppf", critical=True)])
    assert candidates([pair("a", "pff", "ppf", category="redteam")])
    assert not candidates([pair("a", "fff", "ppf", critical=True)])  # it failed before


def test_critical_ones_come_first_then_the_steadiest_and_only_so_many():
    pairs = [pair(f"k{n}", "ppf" if n else "ppp", "fff") for n in range(20)]
    pairs.append(pair("safety", "ppf", "fff", critical=True))
    order = [one.head.key for one in admitted(candidates(pairs), 30)]
    assert order[:2] == ["safety", "k0"]
    assert len(order) == 1 + 5


def fisher(base_passes, base_runs, head_passes, head_runs):
    """One-sided, from the hypergeometric distribution."""
    from math import comb

    passes = base_passes + head_passes
    ways = [comb(head_runs, k) * comb(base_runs, passes - k) for k in range(head_passes + 1) if passes >= k]
    return sum(ways) / comb(base_runs + head_runs, passes)


@pytest.mark.parametrize(
    ("base", "head"), [((8, 8), (0, 8)), ((8, 8), (2, 8)), ((7, 8), (1, 8)), ((11, 12), (4, 12))]
)
def test_the_test_of_a_case_is_fishers(base, head):
    values = [[1.0] * passes + [0.0] * (runs - passes) for passes, runs in (base, head)]
    assert case_p(*values) == pytest.approx(fisher(*base, *head))


def test_a_graded_case_is_lost_also_if_its_scores_are_on_no_coarse_grid():
    low = [0.0613 + n / 997 for n in range(8)]
    high = [0.8521 + n / 997 for n in range(8)]
    runs = [
        [attempt(n, LETTERS[letter], graded=share) for n, share in enumerate(shares, 1)]
        for letter, shares in (("p", high), ("f", low))
    ]
    suspect = SuspectRuns(pair=pair("a", high[:3], low[:3]), base=runs[0], head=runs[1][:2])
    drop_hopeless([suspect], 100, RegressionRule())
    assert suspect.state is None
    suspect.head = runs[1]
    settle_half_way([suspect], RegressionRule())
    assert (suspect.state, suspect.p_value) == ("confirmed", pytest.approx(1 / 12870))


def trialled(base, head, key="a"):
    runs = [[attempt(n, LETTERS[letter]) for n, letter in enumerate(letters, 1)] for letters in (base, head)]
    return SuspectRuns(pair=pair(key, "ppp", "fff"), base=runs[0], head=runs[1])


@pytest.mark.parametrize(
    ("base", "head", "others", "state"),
    [
        ("p" * 12, "f" * 12, 0, "confirmed"),
        ("p" * 12, "f" * 7 + "p" * 5, 0, "confirmed"),  # p = 0.0023
        ("p" * 12, "f" * 7 + "p" * 5, 9, "open"),  # among ten, Holm asks for more
        ("p" * 12, "f" * 5 + "p" * 7, 0, "open"),  # p = 0.019
        ("p" * 12, "f" * 2 + "p" * 10, 0, "cleared"),  # p = 0.24
        ("e" * 12, "f" * 12, 0, "open"),  # the base might have passed
        ("p" * 12, "e" * 12, 0, "open"),  # the head might have failed
        ("p" * 3, "f" * 3, 0, "open"),  # not all was run
    ],
)
def test_how_a_suspect_ends(base, head, others, state):
    suspects = [trialled(base, head), *(trialled("p" * 12, "f" * 2 + "p" * 10, f"k{n}") for n in range(others))]
    settle(suspects, 100, RegressionRule())
    assert suspects[0].state == state
