"""All that one run is asked for."""

from __future__ import annotations

import pytest

from runevals.records.errors import InvalidSettings
from runevals.run.request import RunRequest, load_suites
from runevals.settings.resolve import defaults
from tests.sample_suites import SUITE


def test_notices_are_collected_in_the_order_of_the_stages():
    request = RunRequest(settings=defaults()).noting("of the quarantine").noting("of the base", "of the run")
    assert request.notices == ("of the quarantine", "of the base", "of the run")
    assert RunRequest(settings=defaults()).notices == ()


def test_a_request_is_made_of_suites_and_settings_as_a_command_line_is(project):
    project.write("evals.json", SUITE)
    project.write("runevals.yaml", "repeat: 2\n")
    request = RunRequest.of("evals.json", target="command:agent")
    assert [case.key for suite in request.suites.suites for case in suite.cases] == ["a", "b"]
    assert (request.settings.measure.repeat, request.settings.target.command) == (2, ("agent",))
    assert load_suites(cwd=project.path).suites == request.suites.suites


def test_a_request_refuses_an_unknown_setting(project):
    project.write("evals.json", SUITE)
    with pytest.raises(InvalidSettings, match="there is no setting 'repeats'; did you mean 'repeat'"):
        RunRequest.of("evals.json", target="command:agent", repeats=3)
