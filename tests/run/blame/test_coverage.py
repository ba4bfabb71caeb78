"""Which hunks are put back alone, and what is not known of them."""

from __future__ import annotations

import pytest

from runevals.records import Problem
from runevals.records.errors import InvalidSettings
from runevals.run.blame.coverage import after_coverage, coverage_plan, covered
from runevals.run.request import RunRequest
from tests.against_base import on_main
from tests.sample_suites import SETTINGS

AGENT = "def answer(prompt):\n return open('rules.md').read()\n"


@pytest.fixture
def change(repository):
    """A change of the settings by two lines that only work together, of one line of a text, and a line less."""
    on_main(repository, "agent.py", AGENT)
    on_main(repository, "rules.md", "Rome\n- Lima\n- Old.\n")
    repository.write("runevals.yaml", SETTINGS + "depends_on:\n  - rules.md\n")
    repository.write("rules.md", "Paris\n- Lima\n")
    repository.git("commit", "-qam", "change")
    return repository


def test_each_hunk_is_put_back_alone_and_one_without_which_nothing_runs_is_not_known(change):
    request = RunRequest.of(cwd=change.path, max_calls=10)
    plan = coverage_plan("main", request, deterministic=True, code=False)
    assert (plan.calls, after_coverage(request, plan).settings.measure.limits.calls) == (4 * len(plan.cases), 2)
    found = {one.hunk.place: one for one in covered(plan, request, None).coverage}
    text, first, second = found.values()
    assert next(iter(found)) == "rules.md:1"
    assert first.reason.startswith("nothing runs with it put back: ")
    assert (first.new, second.new, text.new) == (True, True, False)
    assert (text.cases, text.reason) == (("a",), "")


def test_a_stop_leaves_the_rest_unknown_and_too_many_calls_are_refused(change):
    request = RunRequest.of(cwd=change.path)
    plan = coverage_plan("main", request, deterministic=True, code=False)
    request.budget.stop.ask(Problem(code="max_cost", message="the limit was reached"))
    assert {one.reason for one in covered(plan, request, None).coverage} == {"the limit was reached"}
    with pytest.raises(InvalidSettings, match=r"at most 7 may be \(max_calls\)"):
        coverage_plan("main", RunRequest.of(cwd=change.path, max_calls=7), deterministic=True, code=False)
