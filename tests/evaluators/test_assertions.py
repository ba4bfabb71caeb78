"""Each assertion type of eval samples: a pass, a fail, a boundary, Unicode, `not`, and bad arguments."""

from __future__ import annotations

import pytest

from runevals.evaluators import catalogue
from runevals.evaluators.kinds import Check, Scripted, Subject
from runevals.records import EvaluatorSpec, Outcome, Problem, Verdict
from runevals.records.errors import InvalidOptions
from runevals.run.check_result import outcome_of
from tests.evaluators.expectations import ASSERTIONS, BAD_OPTIONS


def found(name, options, subject: Subject, sandbox, **more):
    built = catalogue.build(EvaluatorSpec(name=name, options=options, **more))
    evaluator, threshold = built.evaluator, built.threshold
    if isinstance(evaluator, Scripted):
        call = evaluator.call(subject)
        result = call if isinstance(call, Verdict) else evaluator.verdict(sandbox.run(call))
    else:
        assert isinstance(evaluator, Check)
        result = evaluator.check(subject)
    if isinstance(result, Problem):
        assert result.code == "evidence_missing"
        return None
    return outcome_of(result, evaluator, threshold, negated=more.get("negated", False)) is Outcome.PASSED


@pytest.mark.parametrize(
    ("name", "options", "subject", "passes"),
    [pytest.param(*row, id=f"{row[0]}-{index}") for index, row in enumerate(ASSERTIONS)],
)
def test_each_assertion_type_has_its_meaning_and_not_inverts_it(name, options, subject, passes, sandbox):
    assert found(name, options, subject, sandbox) is passes
    # `not` inverts a pass and a fail, and never an error.
    assert found(name, options, subject, sandbox, negated=True) is (None if passes is None else not passes)


@pytest.mark.parametrize(
    ("name", "options", "told"), [pytest.param(*row, id=f"{row[0]}-{row[1]}") for row in BAD_OPTIONS]
)
def test_invalid_assertion_arguments_are_reported_when_the_suite_is_read(name, options, told):
    with pytest.raises(InvalidOptions) as refused:
        catalogue.build(EvaluatorSpec(name=name, options=options))
    assert told in str(refused.value)
