"""A placebo of a skill is as long, has its front matter, and no sentence of it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from runevals.run.placebo import placebo

FRONT = "---\nname: yes\ndescription: Says yes.\n---\n"


@given(st.text(max_size=3000))
def test_it_has_the_length_and_the_front_matter(body):
    assert placebo(FRONT + body).startswith(FRONT)
    assert len(placebo(FRONT + body)) == len(FRONT + body)


def test_without_front_matter_all_of_it_is_replaced():
    assert placebo("Say yes.\n") == "The plove"
