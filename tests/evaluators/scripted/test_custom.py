"""Custom assertions, as the format's page prints them."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from runevals.evaluators.scripted.custom import Custom
from runevals.records import Verdict
from tests.evaluators.subjects import answering, run

PRINTED = """
// my-assertion.mjs
export default function(output, { sample, assertion }) {
return { pass: output.includes('SQL'), message: 'checked for SQL keyword' };
}
"""
PYTHON = """
def check(output, sample, assertion):
    return {"pass": sample["sample_id"] in output and assertion["weight"] == 2, "message": "seen"}
"""


@pytest.mark.parametrize(("text", "passed"), [("use SQL", True), ("no", False)])
def test_the_printed_example(sandbox, text, passed):
    found = run(Custom(code=PRINTED), answering(text), sandbox)
    assert found == Verdict(float(passed), "checked for SQL keyword", passed=passed)


@pytest.mark.parametrize(("value", "returned"), [("false", "false"), ("{pass: true}", "true")])
def test_without_a_message_the_reason_is_what_the_file_returned(sandbox, value, returned):
    custom = Custom(code=f"export default () => ({value})", filename="checks/short.mjs")
    assert run(custom, answering("x"), sandbox).reason == f"checks/short.mjs returned {returned}"


def test_a_custom_assertion_gets_the_sample_and_the_assertion(sandbox):
    subject = replace(answering("s1 it is"), metadata={"sample_id": "s1"})
    custom = Custom(code=PYTHON, language="python", assertion={"type": "custom", "weight": 2})
    assert run(custom, subject, sandbox).passed is True


def test_a_failing_custom_assertion_is_an_error(sandbox):
    assert run(Custom(code="export default 5"), answering("x"), sandbox).error == "evaluator_bad_result"
