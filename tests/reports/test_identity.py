"""What a run measured, and whether its models end soon."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from runevals.records import ModelIdentity
from runevals.reports import console
from runevals.reports.identity import endings
from tests.reports.conclusions import all_passed

CONCLUSION = all_passed()
MINI = "gpt-5-mini ends on 2026-12-11; replacement gpt-6.1-terra"
GEMINI = "gemini-2.5-pro ends on 2026-12-01; replacement gemini-3.8-flash"


def run_of(target, judge=None, day=27):
    identity, judge = ModelIdentity(**target), judge and ModelIdentity(**judge)
    return replace(
        CONCLUSION.report.run, target=identity, judge=judge, started_at=datetime(2026, 11, day, tzinfo=UTC)
    )


@pytest.mark.parametrize(
    ("target", "judge", "sentences"),
    [
        ({"type": "openai", "model": "gpt-5-mini"}, None, (MINI,)),
        ({"type": "openai", "model": "gpt-5-mini"}, {"type": "openai", "model": "gpt-5-mini"}, (MINI,)),
        ({"type": "command"}, {"type": "openai + gemini", "model": "gpt-5-mini + gemini-2.5-pro"}, (MINI, GEMINI)),
        ({"type": "openai", "model": "gpt-6.1-terra"}, {"type": "recorded"}, ()),
    ],
)
def test_the_models_that_end_within_60_days_are_said(target, judge, sentences):
    assert endings(run_of(target, judge)) == sentences


def test_the_second_line_of_the_screen_says_it():
    report = replace(CONCLUSION.report, run=run_of({"type": "openai", "model": "gpt-5-mini"}))
    assert console.render(replace(CONCLUSION, report=report)).splitlines()[1] == f"  ! {MINI}"
