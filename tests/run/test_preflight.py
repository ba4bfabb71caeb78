"""What is refused before anything is sent."""

from __future__ import annotations

import pytest

from tests.ending import ended
from tests.sample_suites import SUITE

SETTINGS = """\
suites: [evals.json]
target: {{type: recorded, path: answers.jsonl}}
gates: [{{metric: "evaluator:{name}", op: ">=", limit: 0.5{more}}}]
"""


@pytest.fixture
def gated(project, runevals):
    """Runs a suite of ExactMatch with a gate on an evaluator."""

    def run(name, more=""):
        item = {"testId": "a", "prompt": "?", "expected_response": "yes"}
        project.write("evals.json", {"default_evaluators": {"ExactMatch": {}}, "items": [item]})
        project.write("answers.jsonl", '{"case": "a", "output": "yes"}\n')
        project.write("runevals.yaml", SETTINGS.format(name=name, more=more))
        return runevals("-q", "-o", "out.json")

    return run


def test_a_gate_on_a_misspelt_evaluator_is_refused_before_the_run(gated, project, runevals):
    code, _, err = gated("ExctMatch")
    ended(code, 2, err, "gates: no suite has the evaluator 'ExctMatch'; did you mean 'ExactMatch'?")
    code, _, err = runevals("validate")
    ended(code, 2, err, "gates: no suite has the evaluator 'ExctMatch'; did you mean 'ExactMatch'?")


def test_a_misspelt_category_with_a_gate_is_warned_of(project, runevals):
    items = [{**SUITE["items"][0], "category": "Red-Team"}, {**SUITE["items"][1], "category": "safety"}]
    project.write("evals.json", {**SUITE, "items": items})
    _, _, err = runevals("--target", "command:cat", "-q")
    assert err.count("has no gate") == 1
    assert "warning: the category 'Red-Team' has no gate; did you mean 'redteam'?" in err


@pytest.mark.parametrize(
    ("name", "more", "code"),
    [
        pytest.param("ExactMatch", "", 0, id="a suite has it"),
        pytest.param("PartialMatch", "", 1, id="another evaluator, which no case has"),
        pytest.param("ExctMatch", ", on_missing: pass", 0, id="it may be missing"),
    ],
)
def test_another_gate_decides_after_the_run(gated, project, name, more, code):
    assert gated(name, more)[0] == code
    assert (project.path / "out.json").exists()
