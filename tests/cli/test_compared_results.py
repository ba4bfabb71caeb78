"""The results of a comparison that other commands start from."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from runevals.cli.compared_results import newest_comparison, require_of_head
from runevals.records.errors import InvalidSettings
from runevals.reports import results_document
from runevals.verdict.outcome import decide
from tests.sample_reports import case, report


@pytest.mark.parametrize(
    ("results", "message"),
    [
        (None, "in .evals/results; .*\nif it ran elsewhere, name its document: --results results.json"),
        (Path("none.json"), "in none.json; `runevals --base REF` makes them$"),
    ],
)
def test_without_a_comparison_the_way_to_one_is_said(project, results, message):
    project.write("none.json", results_document.write(decide(None, report([case("A", "p")]))))
    with pytest.raises(InvalidSettings, match=message):
        newest_comparison(results, option="--results ")


def test_results_of_another_commit_are_refused_unless_only_one_file_changed(repository):
    run = replace(report([case("A", "p")]).run, commit=repository.git("rev-parse", "HEAD"), ref=None)
    path, file = Path("r.json"), repository.path / "accepted.yaml"
    require_of_head(run, path, repository.path)
    repository.write("accepted.yaml", "")
    repository.git("add", "-A")
    repository.git("commit", "-qm", "accepted")
    require_of_head(run, path, repository.path, file)
    with pytest.raises(InvalidSettings, match="; run again"):
        require_of_head(run, path, repository.path)
    require_of_head(replace(run, ref="refs/pull/7/merge"), path, repository.path)
