"""Answers that are cut or empty, and what is said of their checks."""

from __future__ import annotations

import pytest

from tests.chat_server import Reply, chat_server

NOT_CONTAINS = {"type": "not_contains", "value": "as an AI"}
CONTAINS = {"type": "contains", "value": "steps"}
LONGEST = {"type": "max_length", "value": 400}
NO_WORDS = {"type": "regex", "pattern": "^[^a-z]*$"}
NOTHING = {"type": "max_length", "value": 0}
CUT = Reply("The steps are", finish_reason="content_filter")
SHORT = Reply("The steps are", finish_reason="length")
EMPTY = Reply("")
RUN = ("run", "eval-samples.json", "--no-judge", "--min-pass-rate", "1", "-q", "--target")


def suite(assertions):
    return {"samples": [{"sample_id": "s", "prompt": "?", "assertions": assertions}]}


@pytest.fixture
def run(project, runevals, monkeypatch):
    def run_with(assertions, reply):
        project.write("eval-samples.json", suite(assertions))
        with chat_server(lambda body, n: reply) as server:
            monkeypatch.setenv("OPENAI_API_KEY", "k")
            monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
            code, _, _ = runevals(*RUN, "openai:m", "-o", "r.json")
        turn = project.document("r.json")["cases"][0]["attempts"][0]["turns"][0]
        return code, turn

    return run_with


@pytest.mark.parametrize(
    ("assertions", "reply", "code", "outcomes"),
    [
        pytest.param([NOT_CONTAINS], CUT, 3, ["errored"], id="a negative check of a cut answer"),
        pytest.param([LONGEST], SHORT, 3, ["errored"], id="a length of a cut answer"),
        pytest.param([CONTAINS], CUT, 0, ["passed"], id="what a cut answer has, it has"),
        pytest.param([CONTAINS, LONGEST], SHORT, 3, ["passed", "errored"], id="one of each"),
        pytest.param(
            [{**CONTAINS, "value": "end"}, LONGEST], SHORT, 1, ["failed", "errored"], id="what it lacks, fails"
        ),
        pytest.param([NOT_CONTAINS, LONGEST], EMPTY, 3, ["errored", "errored"], id="an empty answer"),
        pytest.param([NO_WORDS], EMPTY, 3, ["errored"], id="a pattern that other short answers match, too"),
        pytest.param([CONTAINS, LONGEST], EMPTY, 1, ["failed", "errored"], id="an empty answer that fails"),
        pytest.param([NOTHING, LONGEST], EMPTY, 0, ["passed", "passed"], id="the case asks for an empty answer"),
        pytest.param([NOT_CONTAINS, LONGEST], Reply("Fine."), 0, ["passed", "passed"], id="a whole answer"),
    ],
)
def test_what_passes_only_because_something_is_missing_is_not_measured(run, assertions, reply, code, outcomes):
    found, turn = run(assertions, reply)
    assert (found, [result["outcome"] for result in turn["results"]]) == (code, outcomes)


def test_the_document_and_the_reason_say_what_cut_the_answer(run):
    _, turn = run([NOT_CONTAINS], CUT)
    assert turn["delivery"]["cut"] == "filter"
    assert turn["results"][0]["error"]["code"] == "answer_cut"
    _, turn = run([{**CONTAINS, "value": "end"}], SHORT)
    assert "the answer was cut by the limit of its length" in turn["results"][0]["reason"]


def test_a_program_that_prints_nothing_is_not_measured(project, runevals):
    project.write("eval-samples.json", suite([NOT_CONTAINS]))
    code, out, _ = runevals(*RUN, "command:true")
    assert code == 3
    assert "the answer is empty" in out
