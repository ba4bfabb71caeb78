"""What a step leaves, and where."""

from __future__ import annotations

import pytest


def told(project, name):
    return (project.path / "runner" / name).read_text(encoding="utf-8")


def test_files_that_cannot_be_written_cost_neither_verdict_nor_summary(job, project, capfd):
    project.write("blocked", "a file, no folder")
    assert job(target="recorded:answers.jsonl", output_dir="blocked/results") == 3
    printed = capfd.readouterr()
    assert "1 of 2 cases pass" in printed.out
    assert "cannot write" in printed.err
    assert "verdict<<" in told(project, "output")
    assert "1 of 2 cases pass" in told(project, "summary")
    assert job(target="recorded:answers.jsonl", output_dir="blocked/results", min_pass_rate="0.9") == 1
    assert "cannot write" in capfd.readouterr().err


@pytest.mark.parametrize("folder", ["../out", "/tmp", "."])
def test_a_folder_outside_the_workspace_is_refused_before_the_run(job, project, folder, capfd):
    assert job(target="recorded:answers.jsonl", output_dir=folder) == 2
    assert "no folder inside the workspace" in capfd.readouterr().err
    assert "exit_code<<" in told(project, "output")
    assert "unmeasured" in told(project, "output")
