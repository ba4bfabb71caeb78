"""`mode: gate`: the results that another tool wrote in a step before, with base, comment and outputs of a run."""

from __future__ import annotations

import pytest

from tests.github.emulator import Change
from tests.github.exchanged_files import NAME
from tests.github.job_names import ARTIFACT

GATE = {"INPUT_MODE": "gate", "INPUT_RESULTS": "out/junit.xml"}
PUSH = {"before": "0" * 40, "ref": "refs/heads/main", "repository": {"default_branch": "main"}}


def write_results(job, *failing):
    """What the step before wrote: of six tests, these fail."""
    ends = ["<failure message='lost'/>" if number in failing else "" for number in range(6)]
    elements = [f"<testcase classname='kb' name='t{number}'>{end}</testcase>" for number, end in enumerate(ends)]
    job.repository.write("out/junit.xml", f"<testsuite name='kb'>{''.join(elements)}</testsuite>")


@pytest.fixture
def base(job, hub):
    """The results of main, as a push stored them in run 1."""
    job.repository.git("checkout", "-q", "main")
    write_results(job, 5)
    code, outputs, printed = job("push", PUSH, **GATE)
    assert (code, outputs["verdict"]) == (0, "passed"), printed
    text = (job.repository.path / ".evals/results/results.json").read_text(encoding="utf-8")
    job.repository.git("checkout", "-q", "change")
    hub.run(1, job.repository.base)
    hub.artifact(1, ARTIFACT, {NAME: text, "junit.xml": "<x/>"})


def test_a_loss_against_the_stored_base_blocks_with_one_comment(job, hub, base):
    write_results(job, 1, 5)
    code, outputs, printed = job(**GATE)
    assert (code, outputs["verdict"], outputs["regressions"], outputs["baseline_run_id"]) == (
        1,
        "failed",
        "1",
        "1",
    )
    assert "1 of 6 cases regressed" in printed
    assert (job.repository.path / outputs["junit_path"]).is_file()
    write_results(job, 5)
    assert job(**GATE)[0] == 0
    [body] = hub.bodies()
    assert "No regression shown in 6 cases" in body


@pytest.mark.parametrize(("declared", "code"), [("", 1), ("true", 1), ("false", 0)])
def test_tests_with_one_outcome_each_are_steady_unless_the_workflow_says_otherwise(job, hub, base, declared, code):
    write_results(job, 1, 5)
    assert job(**GATE, INPUT_DETERMINISTIC=declared)[0] == code


def test_an_approved_loss_passes(job, hub, base, runevals):
    write_results(job, 1, 5)
    job(**GATE)
    assert runevals("accept", "kb.t1", "--reason", "shorter answers are wanted")[0] == 0
    job.repository.git("add", "runevals.accepted.yaml")
    job.repository.git("commit", "-qm", "accept")
    job.repository.head = job.repository.git("rev-parse", "HEAD")
    hub.changes, hub.permissions = [Change(7, job.repository.head)], {"ana": "write", "ben": "admin"}
    assert job(**GATE)[0] == 1, "nobody has approved it"
    hub.changes[0].review("ana")
    code, _, printed = job("pull_request_review", **GATE)
    assert (code, "1 regressed, accepted by @ana" in printed) == (0, True), printed


def test_results_that_the_change_committed_are_refused_and_told(job, hub, base):
    write_results(job)
    job.repository.git("add", "-A")
    job.repository.git("commit", "-qm", "bring results")
    job.repository.head = job.repository.git("rev-parse", "HEAD")
    hub.changes = [Change(7, job.repository.head)]
    code, outputs, _ = job(**GATE)
    assert (code, outputs["verdict"]) == (2, "unmeasured")
    [body] = hub.bodies()
    assert "a change could bring its own results" in body.replace("&#46;", ".")


def test_results_that_the_tool_did_not_write_are_no_pass(job, hub, base):
    (job.repository.path / "out/junit.xml").unlink()
    code, outputs, printed = job(**GATE)
    assert (code, outputs["verdict"]) == (2, "unmeasured")
    assert "out/junit.xml: there is no such file" in printed
    code, _, printed = job(INPUT_MODE="gate")
    assert code == 2
    assert "mode: gate needs `results`" in printed


def test_without_a_stored_base_nothing_is_run_in_its_place(job, hub):
    write_results(job)
    code, outputs, printed = job(**GATE)
    assert (code, outputs["verdict"]) == (0, "passed"), printed
    assert "no baseline" in printed
