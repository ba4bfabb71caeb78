"""What a step with several results leaves, and where."""

from __future__ import annotations


def told(project, name):
    return (project.path / "runner" / name).read_text(encoding="utf-8")


def test_files_that_cannot_be_written_cost_neither_verdict_nor_summary(job, project, capfd):
    project.write("blocked", "a file, no folder")
    recorded = {"type": "recorded", "path": "answers.jsonl"}
    project.write("runevals.yaml", {"targets": {"mini": recorded, "nano": recorded}})
    assert job(output_dir="blocked/results") == 3
    printed = capfd.readouterr()
    assert "2 targets passed" in printed.out
    assert "blocked/results/report-" in printed.err
    assert "blocked/results/nano.junit.xml" in printed.err
    assert "verdict<<" in told(project, "output")
    assert "### ⚪ 2 targets passed\n\n| | mini | nano |" in told(project, "summary")
    assert job(output_dir="blocked/results", min_pass_rate="0.9") == 1
    assert "cannot write" in capfd.readouterr().err
