"""All that one run is asked for."""

from __future__ import annotations

from runevals.run.request import RunRequest
from runevals.settings.resolve import defaults


def test_notices_are_collected_in_the_order_of_the_stages():
    request = RunRequest(settings=defaults()).noting("of the quarantine").noting("of the base", "of the run")
    assert request.notices == ("of the quarantine", "of the base", "of the run")
    assert RunRequest(settings=defaults()).notices == ()
