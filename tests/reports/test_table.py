import csv
import io

from runevals.reports import TABLE
from tests.reports.conclusions import everything_broken, regressions


def rows(made):
    return list(csv.DictReader(io.StringIO(TABLE.render(made))))


def test_one_row_a_check_and_attempt():
    found = rows(regressions())
    assert len(found) == 27 * 3
    assert found[0]["case"] == "KB-001"
    assert (found[0]["outcome"], found[0]["value"], found[0]["output"]) == ("failed", "0.0", "Please ask support.")


def test_unknown_values_are_empty_and_formulas_are_text():
    found = rows(everything_broken())
    errored = next(row for row in found if row["error"])
    assert (errored["error"], errored["value"], errored["output"]) == ("target_failed", "", "")
    from runevals.lib.text.escape import spreadsheet_cell

    assert spreadsheet_cell("=1+1") == "'=1+1"
