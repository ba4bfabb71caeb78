"""What the tables of Vally, Harbor, agentv and waza say beyond the files beside this one."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from runevals.imports.results import read_results
from runevals.records.errors import InvalidDocument

HERE = Path(__file__).parent


def test_the_trials_of_a_harbor_job_are_attempts_of_its_tasks():
    run = read_results([HERE / "harbor" / "job"])
    assert [(case.suite, case.key, len(case.attempts)) for case in run.cases] == [
        ("terminal-bench (claude-code)", "sort", 2)
    ]
    assert not run.stopped


def test_a_harbor_job_whose_trials_are_lost_or_were_not_run_is_not_whole(tmp_path):
    job = shutil.copytree(HERE / "harbor" / "job", tmp_path / "job")
    (job / "sort__a2" / "result.json").unlink()
    assert read_results([job]).stopped == "the results count 2 attempts and have 1"
    summary = json.loads((job / "result.json").read_text())
    (job / "result.json").write_text(json.dumps({**summary, "stats": {"n_completed_trials": 1}}))
    assert read_results([job]).stopped.startswith("Harbor finished 1 of 2 trials")


@pytest.mark.parametrize("rewards", [None, {}], ids=["none", "empty"])
def test_a_harbor_trial_of_before_it_said_whether_its_reward_is_valid(rewards, tmp_path):
    trial = json.loads((HERE / "harbor" / "valid" / "passed.json").read_text())
    del trial["reward_valid"]
    (tmp_path / "a.json").write_text(json.dumps({**trial, "verifier_result": {"rewards": rewards}}))
    [attempt] = read_results([tmp_path / "a.json"]).cases[0].attempts
    assert attempt.turn.error is not None


@pytest.mark.parametrize("alone", [True, False], ids=["alone", "beside another"])
def test_a_panel_of_vally_is_one_grader(alone, tmp_path):
    """What it shows under `details` are its judges; those of an aggregate are the graders."""
    judges = [{"name": f"judge {n}", "kind": "llm", "passed": n > 0, "score": n / 2} for n in range(3)]
    panel = {"name": "panel", "kind": "llm", "passed": True, "score": 0.5, "evidence": "", "details": judges}
    other = {"name": "says hi", "graderType": "output-contains", "kind": "code", "passed": True, "score": 1}
    both = [{**panel, "graderType": "panel"}, other]
    aggregate = {"name": "aggregate", "kind": "code", "passed": True, "score": 0.7, "details": both}
    trial = {"type": "trial-result", "stimulus": "hi", "evalName": "e", "status": "success"}
    lines = [{**trial, "trialIndex": n, "gradeResult": panel if alone else aggregate} for n in range(2)]
    (tmp_path / "results.jsonl").write_text("\n".join(map(json.dumps, lines)))
    [case] = read_results([tmp_path / "results.jsonl"]).cases
    of_each = [[check.id for check in attempt.turn.results] for attempt in case.attempts]
    assert of_each == [["panel"] if alone else ["panel", "says hi"]] * 2


def test_a_file_of_vally_with_a_summary_alone_has_no_results(tmp_path):
    (tmp_path / "results.jsonl").write_text('{"type": "run-summary", "evals": []}\n' * 2)
    with pytest.raises(InvalidDocument, match="is in no format of results"):
        read_results([tmp_path / "results.jsonl"])
