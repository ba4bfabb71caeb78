"""Results documents in files and folders: the newest, and what is no document."""

from __future__ import annotations

import os

from runevals.reports import results_document as document
from runevals.reports.past_results import newest, reports_in
from tests.reports.conclusions import conclusion
from tests.sample_reports import case, report


def test_files_and_the_newest_documents_of_folders_are_read(project, capfd):
    for number in range(4):
        path = project.write(
            f"past/{number}.json", document.write(conclusion(report([case(f"k{number}", "p")]), None))
        )
        os.utime(path, (number, number))
    project.write("past/other.json", "{}")
    reports = reports_in([project.path / "past" / "0.json", project.path / "past"], 2)
    assert [each.cases[0].key for each in reports] == ["k0", "k3", "k2"]
    assert "other.json: not a results document" in capfd.readouterr().err


def test_the_newest_files_come_last(project):
    for number in (3, 1, 2):
        path = project.write(f"{number}.json", "{}")
        os.utime(path, (number, number))
    assert [file.name for file in newest(project.path, 2)] == ["2.json", "3.json"]
