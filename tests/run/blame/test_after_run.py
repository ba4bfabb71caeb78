"""What a search after a run may spend."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from runevals.records import Response
from runevals.records.rules import BlameLimits, Limits
from runevals.run.blame.after_run import search_request
from runevals.run.request import RunRequest
from runevals.run.world.budget import Budget, Stop

ANSWER = Response(text="yes", cost_usd=0.25, input_tokens=10, output_tokens=5)
NOTHING = replace(ANSWER, cost_usd=None)


@pytest.mark.parametrize(
    ("limits", "of_run", "answer", "expected"),
    [
        pytest.param(BlameLimits(), Limits(), ANSWER, Limits(calls=4, cost_usd=1.0), id="a fifth"),
        pytest.param(BlameLimits(), Limits(), NOTHING, Limits(calls=4), id="at no known cost"),
        pytest.param(BlameLimits(runs=100), Limits(), ANSWER, Limits(), id="runs of its own"),
        pytest.param(BlameLimits(cost_usd=2.0), Limits(), ANSWER, Limits(cost_usd=2.0), id="cost of its own"),
        pytest.param(
            BlameLimits(cost_usd=2.0),
            Limits(cost_usd=5.5, tokens=340),
            ANSWER,
            Limits(cost_usd=0.5, tokens=40),
            id="what the run left",
        ),
    ],
)
def test_a_search_spends_a_fifth_or_what_the_settings_say_and_no_more_than_the_run_left(
    repository, limits, of_run, answer, expected
):
    request = RunRequest.of(cwd=repository.path)
    measure = replace(request.settings.measure, limits=of_run)
    request = replace(request, settings=replace(request.settings, measure=measure), budget=Budget(of_run, Stop()))
    for _ in range(20):
        request.budget.spend(answer)
    assert search_request(request, limits).settings.measure.limits == expected
