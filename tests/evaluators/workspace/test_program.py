"""What `program` makes of how a program ended."""

from __future__ import annotations

import pytest

from runevals.evaluators.workspace.program import Program
from runevals.records import ProgramEnded
from tests.evaluators.workspace.left import NOTHING_KNOWN, left

CHECK = Program(argv=("pytest", "-q"))
RESULT = Program(argv=("grade",), result=True)


def found(check: Program, **how: object) -> object:
    [probe] = check.probes()
    return check.check(left(programs=(ProgramEnded(probe=probe, **{"exit_code": 0, **how}),)))


@pytest.mark.parametrize(
    ("how", "score", "reason"),
    [
        ({"exit_code": 0}, 1.0, "exit code 0"),
        ({"exit_code": 1, "last_lines": "1 failed"}, 0.0, "exit code 1: 1 failed"),
        ({"exit_code": -9}, 0.0, "exit code -9"),
        ({"exit_code": None, "late": True}, 0.0, "pytest did not end in 60 s"),
        ({"exit_code": None, "too_much": True}, 0.0, "pytest printed more than 1 MiB"),
    ],
)
def test_its_exit_code_decides(how, score, reason):
    verdict = found(CHECK, **how)
    assert (verdict.score, verdict.reason) == (score, reason)


def test_a_program_that_cannot_be_run_is_errored():
    assert found(CHECK, exit_code=None, problem="no such file").code == "evaluator_crashed"


def test_its_last_line_is_its_result():
    verdict = found(RESULT, stdout='…\n{"passed": true, "score": 0.5, "reason": "half"}\n')
    assert (verdict.score, verdict.reason, verdict.passed) == (0.5, "half", True)


@pytest.mark.parametrize(
    ("stdout", "message"),
    [
        ("", "the last line of grade is not a result with `passed`: it printed nothing"),
        ("ok", "the last line of grade is not a result with `passed`: ok"),
        ('{"passed": 1}', 'the last line of grade is not a result with `passed`: {"passed": 1}'),
        ('{"passed": true, "score": 2}', "the score of grade is not a number from 0 to 1"),
        ("[]", "the last line of grade is not a result with `passed`: []"),
    ],
)
def test_a_result_that_is_none_is_errored(stdout, message):
    problem = found(RESULT, stdout=stdout)
    assert (problem.code, problem.message) == ("evaluator_bad_result", message)


def test_a_grader_that_the_attempt_made_fail_is_no_error():
    verdict = found(RESULT, exit_code=1, stdout="…", last_lines="ImportError: shop")
    assert (verdict.score, verdict.reason) == (0.0, "exit code 1: ImportError: shop")


@pytest.mark.parametrize("subject", [NOTHING_KNOWN, left()])
def test_without_evidence_it_is_errored(subject):
    assert CHECK.check(subject).code == "evidence_missing"


@pytest.mark.parametrize(
    "options",
    [{"timeout_s": 0.0}, {"timeout_s": 1e6}, {"restore": ("../a",)}, {"restore": ("a/*.py",)}, {"argv": ("",)}],
)
def test_options_that_cannot_be_are_refused(options):
    assert list(Program(**{"argv": ("a",), **options}).problems()) != []
