"""What a run plans is counted as it would be asked, and bounded for changes in CI alone."""

from __future__ import annotations

import pytest

from runevals.records.errors import InvalidSettings
from runevals.run.call_limit import planned_calls, require_few_calls
from runevals.run.load import suites_of
from runevals.run.request import RunRequest
from runevals.settings.file import BaseSide
from runevals.settings.resolve import RawSettings, resolve

MODEL = "suites: [evals.json]\ntarget: {type: openai, model: tiny}\n"
JUDGED = {"schemaVersion": "1.2.0", "default_evaluators": {"Relevance": {}, "Coherence": {}}}
ITEMS = [{"prompt": "a"}, {"name": "talk", "turns": [{"prompt": "b"}, {"prompt": "c"}]}]


@pytest.fixture
def planned(repository):
    """Settings and suites of a change with these settings, in an environment."""

    def made(settings, **environment):
        repository.write("runevals.yaml", settings)
        side = BaseSide(commit=repository.git("rev-parse", "main"))
        told = RawSettings(cwd=repository.path, environment=environment, base_side=side)
        found = resolve(told)
        return RunRequest(settings=found, suites=suites_of(found), raw=told)

    repository.write("evals.json", {**JUDGED, "items": ITEMS})
    return made


@pytest.mark.parametrize(
    ("more", "calls"),
    [
        pytest.param("", 3, id="turns"),
        pytest.param("repeat: 4\n", 12, id="attempts"),
        pytest.param("judge: big\n", 9, id="two judged checks a turn"),
        pytest.param("judge: {model: big, votes: 3}\nrepeat: 2\n", 42, id="votes"),
        pytest.param("judges: [{model: big}, {model: small}]\n", 15, id="judges"),
    ],
)
def test_turns_attempts_and_votes_count(planned, more, calls):
    request = planned(MODEL + more)
    assert planned_calls(request.settings, request.suites) == calls


def test_a_change_in_ci_is_bounded_and_nothing_else(planned):
    many = MODEL + "repeat: 500\n"
    with pytest.raises(InvalidSettings, match=r"1500 calls .* repeat: 500 by runevals.yaml.* at most 1000 may be"):
        require_few_calls(planned(many, CI="true"))
    require_few_calls(planned(MODEL + "repeat: 333\n", CI="true"))
    require_few_calls(planned(many))
    several = [planned(MODEL.replace("tiny", name) + "repeat: 134\n", CI="true") for name in "abcd"]
    with pytest.raises(InvalidSettings, match=r"1608 calls of 4 targets and judge .* at most 1000 may be"):
        require_few_calls(*several)


def test_a_change_may_lower_the_limit_and_not_raise_it(planned):
    with pytest.raises(
        InvalidSettings, match=r"at most 2 may be \(max_calls by runevals.yaml\): raise it by --max-calls 9, "
    ):
        require_few_calls(planned(MODEL + "max_calls: 2\n", CI="true"))
    require_few_calls(planned(MODEL + "max_calls: 9\n", CI="true"))
    with pytest.raises(InvalidSettings, match="at most 1000 may be"):
        require_few_calls(planned(MODEL + "repeat: 500\nmax_calls: 9999\n", CI="true"))


def test_max_calls_bounds_every_run(planned):
    require_few_calls(planned(MODEL, RUNEVALS_MAX_CALLS="3"))
    with pytest.raises(
        InvalidSettings, match=r"at most 2 may be \(max_calls by RUNEVALS_MAX_CALLS\): raise it by "
    ):
        require_few_calls(planned(MODEL, RUNEVALS_MAX_CALLS="2"))
    require_few_calls(planned(MODEL + "repeat: 500\n", CI="true", RUNEVALS_MAX_CALLS="9999"))
