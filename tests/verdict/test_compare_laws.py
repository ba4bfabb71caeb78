"""What must hold of any two runs."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

import runevals
from runevals.records import State
from runevals.verdict.compare import compare
from tests.sample_reports import report

VALUES = st.text("pf", min_size=1, max_size=4)
PAIRS = st.dictionaries(
    st.text("abcdefgh", min_size=1, max_size=3), st.tuples(VALUES, VALUES), min_size=1, max_size=25
)
QUIET = settings(max_examples=60, deadline=None)


def judged(pairs):
    return compare(
        report({key: head for key, (_, head) in pairs.items()}),
        report({key: base for key, (base, _) in pairs.items()}),
        "base",
    )


@QUIET
@given(PAIRS, st.randoms())
def test_names_and_order_of_cases_and_repeats_do_not_matter(pairs, random):
    found = judged(pairs)
    keys = list(pairs)
    random.shuffle(keys)

    def mixed(letters):
        return "".join(random.sample(letters, len(letters)))

    relabelled = {f"x{n}": tuple(mixed(side) for side in pairs[key]) for n, key in enumerate(keys)}
    again = judged(relabelled)
    assert (again.state, again.p_value, again.drop) == (found.state, found.p_value, found.drop)
    assert len(again.of_kind("regressed")) == len(found.of_kind("regressed"))


@QUIET
@given(PAIRS)
def test_the_base_against_itself_is_never_red(pairs):
    same = {key: (base, base) for key, (base, _) in pairs.items()}
    assert judged(same).state is State.NOT_WORSE


@QUIET
@given(PAIRS)
def test_a_head_that_fails_wherever_it_differs_is_never_an_improvement(pairs):
    worse = {key: (base, base[:-1] + "f") for key, (base, _) in pairs.items()}
    found = judged(worse)
    assert found.improved is False
    assert found.drop >= 0
    assert found.of_kind("fixed", "better") == ()


def test_the_decision_is_one_function_of_two_reports():
    base = report({f"k{n}": "ppp" for n in range(40)})
    head = report({f"k{n}": "fff" if n < 10 else "ppp" for n in range(40)})
    found = runevals.decide(base, head)
    assert (found.verdict.outcome, found.verdict.exit_code) == ("failed", 1)
    assert found.verdict.headline == ("10 of 40 cases regressed: k0, k1, k2 and 7 more")
    assert runevals.decide(base, base).verdict.exit_code == 0
    assert runevals.decide(None, head).verdict.exit_code == 0
