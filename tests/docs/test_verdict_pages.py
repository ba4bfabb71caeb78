"""The pages about the verdict say what the code says, in few words."""

from __future__ import annotations

import pytest

from runevals.verdict.reasons import table
from tests.docs.pages import ROOT


def test_the_table_of_reasons_is_that_of_the_code():
    page = (ROOT / "docs" / "verdict.md").read_text(encoding="utf-8")
    _, _, rest = page.partition("<!-- reasons: runevals.verdict.reasons.table() -->\n")
    rows, end, _ = rest.partition("\n<!-- end of reasons -->\n")
    assert end
    assert rows.splitlines() == [*table()]


@pytest.mark.parametrize(("page", "most"), [("verdict.md", 1300), ("statistics.md", 1800)])
def test_a_page_stays_short(page, most):
    assert len((ROOT / "docs" / page).read_text(encoding="utf-8").split()) <= most
