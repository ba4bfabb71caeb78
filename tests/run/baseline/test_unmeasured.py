"""What is said of a base that could not be measured."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from runevals.records import Problem
from runevals.records.errors import ExternalError
from runevals.run.baseline.unmeasured import own_error, require_measured, why_unmeasured
from tests.sample_reports import case, report

NODE = """node:internal/modules/cjs/loader:1143
  throw err;
  ^

Error: Cannot find module 'openai'
Require stack:
- /tmp/runevals-base-x/base/agent.js
    at Module._resolveFilename (node:internal/modules/cjs/loader:1140:15)
    at Module._load (node:internal/modules/cjs/loader:981:27)
Node.js v18.19.0"""


def failing(message):
    """A report of two cases, of which every call ended with this error."""
    cases = []
    for key in "ab":
        one = case(key, "e")
        [attempt] = one.attempts
        turn = replace(attempt.turns[0], error=Problem(code="target_failed", message=message))
        cases.append(replace(one, attempts=(replace(attempt, turns=(turn,)),)))
    return report(cases)


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        pytest.param("connection reset", "target_failed: connection reset", id="short"),
        pytest.param(NODE, "Error: Cannot find module 'openai' Require stack:", id="of Node"),
        pytest.param("x" * 500 + " the end", "xxx the end", id="long"),
    ],
)
def test_of_a_long_error_the_part_is_shown_that_says_what_was_wrong(message, shown):
    assert shown in own_error(failing(message))
    assert len(own_error(failing(message))) <= 240


def test_a_base_that_measured_too_little_is_refused_with_its_error():
    with pytest.raises(ExternalError, match=r"it measured 0 of 2 cases: target_failed: gone$"):
        require_measured(failing("gone"))
    require_measured(report({"a": "p", "b": "p", "c": "p", "d": "p", "e": "e"}))


def test_one_that_was_stopped_is_not():
    stopped = failing("gone")
    problem = Problem(code="interrupted", message="the run was interrupted")
    require_measured(replace(stopped, run=replace(stopped.run, stopped=problem)))


def test_quarantined_cases_do_not_count():
    assert why_unmeasured(report([case("a", "p"), case("b", "e", quarantined=True)])) is None
