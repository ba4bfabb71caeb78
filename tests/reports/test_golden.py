"""Every reporter renders the same few conclusions into files under version control."""

from pathlib import Path

import pytest

from runevals.reports import HTML, REPORTERS, console
from tests.reports.conclusions import ALL, thousand_cases

HERE = Path(__file__).parent / "golden"


# The page has golden files of its own, of what it shows: see test_html.
@pytest.mark.parametrize(
    "reporter", [r for r in (*REPORTERS, console) if r is not HTML], ids=lambda reporter: reporter.NAME
)
@pytest.mark.parametrize("make", ALL, ids=lambda make: make.__name__)
def test_golden(reporter, make, golden):
    if make is thousand_cases and reporter.NAME in ("results", "table", "junit"):
        assert reporter.render(make()).count("case-0990") >= 1  # megabytes are not worth keeping
        return
    text = reporter.render(make()).encode("utf-8", errors="backslashreplace").decode()
    golden(HERE / f"{make.__name__}.{reporter.FILENAME}", text)
