"""Groups of cases, as records."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from runevals.verdict.causes import causes
from runevals.verdict.compare import compare
from tests.sample_reports import case, report


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("pf")), min_size=1, max_size=40))
def test_every_case_that_failed_is_in_a_row_of_its_group_or_counted_as_left_out(cases):
    base = report([case(f"k{n}", "p", category=name) for n, (name, _) in enumerate(cases)])
    head = report([case(f"k{n}", letter, category=name) for n, (name, letter) in enumerate(cases)])
    for one in causes(head, compare(head, base, "base")):
        assert one.cases == sum(group.cases for group in one.groups)
        for group in one.groups:
            assert group.left_out >= 0
            assert (group.left_out > 0) == bool(group.more)
            named = [name.key for row in group.rows for name in row.examples] + [each.key for each in group.more]
            assert len(named) == len(set(named)) <= group.cases
