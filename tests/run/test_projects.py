"""Which projects are refused, and one exit code and sentence for all."""

from __future__ import annotations

import pytest

from runevals.records.errors import InvalidSettings
from runevals.run.projects import in_words, projects_apart, worst
from runevals.settings.resolve import RawSettings
from tests.sample_suites import SUITE


def test_a_suite_of_two_projects_is_refused_with_its_place(repository):
    repository.write("a/runevals.yaml", "suites: [../evals.json]\n")
    repository.write("broken/runevals.yaml", "suites: [\n")
    repository.write("empty/runevals.yaml", "{}\n")
    told = RawSettings(cwd=repository.path, environment={})
    with pytest.raises(InvalidSettings) as refused:
        projects_apart(told, None)
    assert str(refused.value).startswith(
        "evals.json: is a suite of two projects, runevals.yaml and a/runevals.yaml; "
    )
    repository.write("a/runevals.yaml", "suites: [evals.json]\n")
    repository.write("a/evals.json", SUITE)
    projects_apart(told, None)


def test_one_exit_code_and_one_sentence():
    assert worst([1, 130, 0]) == 130
    assert in_words({"a": 130, "b": 1}) == "1 of 2 projects interrupted: a; 1 failed: b"
    assert [worst(codes) for codes in ([0, 3, 1, 2], [3, 2, 0], [0, 4], [3, 0], [0])] == [1, 2, 4, 3, 0]
    assert in_words({"a": 0, "b": 0}) == "2 projects passed"
    assert in_words({"a": 0, "b": 1, "c": 3}) == "1 of 3 projects failed: b; 1 not measured: c; 1 passed"
