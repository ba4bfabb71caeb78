"""Cases run in a worktree of the head, with hunks put back."""

from __future__ import annotations

from functools import partial

import pytest

from runevals.records.errors import ExternalError
from runevals.run.blame.changed import files_since
from runevals.run.blame.hunks import hunks_of
from runevals.run.blame.put_back import put_back_runner
from runevals.run.request import RunRequest
from tests.against_base import on_main
from tests.json_server import json_server
from tests.sample_suites import SETTINGS

AGENT = "import os\ndef answer(prompt):\n return open('rules.md').read() if os.path.exists('rules.md') else 'no'\n"
CASE = {("evals.json", "a"): 1}


@pytest.fixture
def runner(repository):
    """Opens a runner for a change of these texts, after the edit."""
    on_main(repository, "agent.py", AGENT)

    def open_runner(before, now, name="rules.md"):
        on_main(repository, name, before)
        repository.write(name, now)
        repository.git("commit", "-qam", "change")
        request = RunRequest.of(cwd=repository.path, repeat=1)
        change = hunks_of(files_since("main", request.settings, request.suites, code=True).files)
        return put_back_runner(request, "HEAD", change)

    return open_runner


def test_a_run_sees_what_is_put_back_and_nothing_of_the_last_one(runner, repository):
    with runner("Paris\n- Lima\n", "Rome\n- Quito\n") as opened:
        cases = {("evals.json", "a"): 2, ("evals.json", "b"): 1}
        measure = partial(opened.measure, needed=cases)
        lost, found = [0.0], [1.0]
        one, two = frozenset({0}), frozenset({1})
        assert list(measure(frozenset()).values()) == [lost * 2, lost]
        assert list(measure(one).values()) == [found * 2, lost]
        assert list(measure(two).values()) == [lost * 2, found]
        assert list(measure(one | two).values()) == [found * 2, found]
        assert dict(opened.calls) == {("evals.json", "a"): 8, ("evals.json", "b"): 4}
    assert (repository.path / "rules.md").read_text() == "Rome\n- Quito\n"


def test_a_base_whose_settings_cannot_be_read_ends_the_search(runner):
    with runner(SETTINGS + "unknown_setting: 1\n", SETTINGS, "runevals.yaml") as opened:
        assert opened.measure(frozenset(), CASE) == {("evals.json", "a"): [0.0]}
        with pytest.raises(ExternalError, match="cannot be run with all hunks put back: "):
            opened.measure(frozenset({0}), CASE)


def test_a_target_that_is_deployed_elsewhere_is_refused(runner, repository):
    with json_server(lambda *_: {"output": "Rome"}) as server:
        on_main(
            repository, "runevals.yaml", f"suites: [evals.json]\ntarget: {{type: http, url: '{server.url}'}}\n"
        )
        with runner("old\n", "new\n") as opened:
            assert opened.measure(frozenset(), CASE) == {("evals.json", "a"): [0.0]}
            with pytest.raises(ExternalError, match="the same address"):
                opened.measure(frozenset({0}), CASE)
