"""The head, measured alone or against a base."""

from __future__ import annotations

import pytest

from runevals.records import State, Weakening
from runevals.run.head import measure_head
from runevals.run.load import suites_of
from runevals.run.request import RunRequest
from runevals.run.sides import open_side
from runevals.settings.resolve import RawSettings, resolve
from runevals.verdict.outcome import Baseline
from tests.sample_suites import ANSWERS, SUITE


@pytest.fixture
def request_of(project):
    project.write("evals.json", SUITE)
    project.write("answers.jsonl", ANSWERS)

    def build(**more):
        raw = RawSettings(cwd=project.path, environment={}, flags={"target": "recorded:answers.jsonl"})
        settings = resolve(raw)
        return RunRequest(settings=settings, suites=suites_of(settings), raw=raw, **more)

    return build


def measured(request, baseline=None):
    with open_side(request) as head:
        return measure_head(head, baseline, request)


def test_without_a_base_nothing_is_compared(request_of):
    report, comparison = measured(request_of(notices=("told first",)))
    assert [case.status for case in report.cases] == ["passed", "failed"]
    assert (report.run.notices, comparison) == (("told first",), None)


def test_against_a_base_the_weakenings_of_the_request_are_in_the_comparison(request_of):
    base, _ = measured(request_of())
    weakening = Weakening(suite="runevals.yaml", key="alpha", message="is 0.2")
    baseline = Baseline(report=base, source="base.json")
    _, comparison = measured(request_of(weakenings=(weakening,)), baseline)
    assert comparison.state is State.NOT_WORSE
    assert comparison.weakenings == (weakening,)
