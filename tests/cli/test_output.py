"""Where reports are written, what is said of it, and what holds where they cannot be."""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
import sys

import pytest

from tests.sample_suites import ANSWERS, SUITE

RUN = ("--target", "recorded:answers.jsonl", "-q")


@pytest.fixture
def answered(project):
    project.write("evals.json", SUITE)
    project.write("answers.jsonl", ANSWERS)
    return project


def test_runs_of_one_moment_keep_a_document_and_a_page_each(answered, runevals):
    for number in range(1, 7):
        code, out, err = runevals(*RUN)
        assert code == 0, err
        [document, page] = re.findall(r"\.evals/results/[\d_-]+\.(?:json|html)", out)
        assert document.removesuffix(".json") == page.removesuffix(".html")
        kept = [name for name in answered.files() if name.startswith(".evals/results/")]
        assert len(kept) == 2 * number
        assert {document, page} <= set(kept)


def test_runs_of_one_moment_with_several_targets_overwrite_nothing_and_name_their_own_documents(
    answered, runevals
):
    answered.write("worse.jsonl", ANSWERS.replace("Paris", "Rome"))
    recorded = "{type: recorded, path: %s}"
    targets = f"{{good: {recorded % 'answers.jsonl'}, bad: {recorded % 'worse.jsonl'}}}"
    answered.write("runevals.yaml", f"suites: [evals.json]\ntargets: {targets}\n")
    for name in ("good", "bad"):
        runevals("--target", "recorded:answers.jsonl", "-q", "-o", f"base.{name}.json")
    before = set(answered.files())
    for number in range(1, 5):
        code, out, err = runevals("-q", "--baseline", "base.json")
        assert code == 1, err
        kept = {name for name in answered.files() if name.startswith(".evals/results/")} - before
        assert len(kept) == 5 * number  # a document and a page of each, and the page of both
        [named] = re.findall(r"accept a --results (\S+)", out)
        assert named in out.rpartition("Written: ")[2].strip().split(", ")


def test_the_second_run_of_a_second_is_the_newer_one(answered, runevals, monkeypatch):
    assert runevals(*RUN, "-o", "one.json", "-o", "one.html")[0] == 0
    results = answered.path / ".evals" / "results"
    results.mkdir(parents=True, exist_ok=True)
    names = ["2026-11-20_12-00-00", *(f"2026-11-20_12-00-00-{number}" for number in range(2, 11))]
    for name in names:
        for suffix in ("json", "html"):
            copied = results / f"{name}.{suffix}"
            copied.write_bytes((answered.path / f"one.{suffix}").read_bytes())
            os.utime(copied, (1, 1))
    monkeypatch.setenv("BROWSER", "true")
    assert f"{names[-1]}.html" in runevals("view")[1]
    rows = re.findall(r"2026-11-20_12-00-00[\d-]*\.json", runevals("history")[1])
    assert rows == [f"{name}.json" for name in names]


@pytest.mark.parametrize("command", ["merge", "compare"])
def test_merge_and_compare_say_where_they_wrote(answered, runevals, command):
    runevals(*RUN, "-o", "whole.json")
    for part in (1, 2):
        runevals(*RUN, "--shard", f"{part}/2", "-o", f"{part}.json")
    documents = ("1.json", "2.json") if command == "merge" else ("whole.json", "whole.json")
    code, out, err = runevals(command, *documents, "-o", "x/out.json", "-o", "out.md")
    assert code == 0, err
    assert out.endswith("Written: x/out.json, out.md\n")
    kept = "Written: .evals/results/" in runevals(command, *documents)[1]  # a run's; a comparison is no run
    assert kept is (command == "merge")


@pytest.mark.parametrize("command", ["run", "merge", "compare"])
@pytest.mark.parametrize(("gate", "expected"), [("0.9", 1), ("0.1", 3)], ids=["red", "green"])
def test_a_verdict_is_told_though_its_report_cannot_be_written(answered, runevals, command, gate, expected):
    """A red stays red; a green whose report was asked for and is missing is not what was asked for."""
    runevals(*RUN, "-o", "whole.json")
    for part in (1, 2):
        runevals(*RUN, "--shard", f"{part}/2", "-o", f"{part}.json")
    words = {
        "run": RUN,
        "merge": ("merge", "1.json", "2.json"),
        "compare": ("compare", "whole.json", "whole.json"),
    }[command]
    answered.write("old.md", "of the last run")
    name = "n" * 250 + ".json"  # its neighbour, under which it is written, has too long a name
    code, out, err = runevals(*words, "--min-pass-rate", gate, "-o", name, "-o", "old.md")
    assert code == expected, out + err
    assert out.startswith("✗ " if expected == 1 else "✓ ")
    assert "cannot write" in err
    assert "Traceback" not in err
    assert "of the last run" not in (answered.path / "old.md").read_text(encoding="utf-8")


def test_packed_documents_are_written_and_read_everywhere(answered, runevals, monkeypatch):
    assert runevals(*RUN, "-o", "base.json.gz", "-o", "base.json")[0] == 0
    packed = (answered.path / "base.json.gz").read_bytes()
    assert gzip.decompress(packed) == (answered.path / "base.json").read_bytes()
    target = ("--target", "recorded:base.json.gz", "-q")
    assert runevals(*target, "--baseline", "base.json.gz", "-o", "runs/head.json.gz")[0] == 0
    assert runevals("compare", "base.json.gz", "runs/head.json.gz", "-o", "x.md")[0] == 0
    assert runevals("report", "runs/head.json.gz", "-o", "x.xml")[0] == 0
    assert "head.json.gz" in runevals("history", "runs")[1]
    assert runevals("report", "runs/head.json.gz", "-o", "runs/head.html")[0] == 0
    assert runevals("history", "runs", "-o", "runs/history.html")[0] == 0
    assert '"head.html"' in (answered.path / "runs" / "history.html").read_text(encoding="utf-8")
    assert runevals(*RUN, "--baseline", "runs", "-o", "x.json")[0] == 0
    for part in ("1", "2"):
        assert runevals(*RUN, "--shard", f"{part}/2", "-o", f"shards/{part}.json.gz")[0] == 0
    assert runevals("merge", "shards", "-o", "merged.json.gz")[0] == 0
    (answered.path / "runs" / "broken.json.gz").write_bytes(packed[:-20])
    code, _, err = runevals("compare", "base.json.gz", "runs/broken.json.gz")
    assert code == 2
    assert "broken.json.gz is not a results document: its gzip data is broken" in err
    assert "skipped runs/broken.json.gz: not a results document" in runevals("history", "runs")[2]


def test_a_document_goes_through_a_pipe_and_the_screen_beside_it(answered):
    """`runevals -o - | runevals report -`, with the same verdict on both screens."""
    program = [sys.executable, "-m", "runevals"]
    run = subprocess.run([*program, *RUN, "-o", "-"], cwd=answered.path, capture_output=True, check=False)
    assert json.loads(run.stdout)["format_version"] == 1
    report = subprocess.run(
        [*program, "report", "-", "-o", "report.md"],
        cwd=answered.path,
        input=run.stdout,
        capture_output=True,
        check=True,
    )
    assert report.stdout == b"Written: report.md\n"
    shown = subprocess.run(
        [*program, "report", "-"], cwd=answered.path, input=run.stdout, capture_output=True, check=True
    )
    assert shown.stdout.splitlines()[0] == run.stderr.splitlines()[0]


def test_standard_input_that_is_no_document_is_a_usage_error(answered):
    done = subprocess.run(
        [sys.executable, "-m", "runevals", "report", "-"],
        cwd=answered.path,
        input=b"{}",
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr[:46]) == (2, b"Error: standard input is not a results documen")


def test_the_verdict_is_one_json_object_and_all_else_stands_on_stderr(answered, runevals):
    """Of a run, of two documents compared, of shards merged, and of results that another tool may have made."""
    runevals(*RUN, "-o", "whole.json")
    for part in (1, 2):
        runevals(*RUN, "--shard", f"{part}/2", "-o", f"{part}.json")
    answered.write("junit.xml", '<testsuite name="s"><testcase name="t" classname="c"/></testsuite>')
    for words in (
        ("run", *RUN),
        ("compare", "whole.json", "whole.json"),
        ("merge", "1.json", "2.json"),
        ("gate", "junit.xml"),
    ):
        code, out, err = runevals(*words, "--format", "json", "-o", "out.json", "-o", "out.md")
        assert code == 0, err
        verdict = json.loads(out)
        document = answered.document()
        assert verdict["headline"] == document["verdict"]["headline"]
        assert verdict["headline"] in err
        assert (verdict["outcome"], verdict["exit_code"], verdict["reports"]) == (
            "passed",
            0,
            ["out.json", "out.md"],
        )
        assert verdict["causes"] == document.get("causes", [])


def test_a_failing_verdict_in_json_has_the_case_its_line_and_the_next_command(answered, runevals):
    code, out, _ = runevals(*RUN, "--min-pass-rate", "1", "--format", "json")
    verdict = json.loads(out)
    assert (code, verdict["outcome"], verdict["exit_code"]) == (1, "failed", 1)
    [first, *_] = verdict["examples"]
    assert first["file"] == "evals.json"
    assert first["line"] > 0
    assert first["checks"]
    assert verdict["next_steps"][0]["command"].startswith("runevals run evals.json --filter=")
    assert all((answered.path / name).is_file() for name in verdict["reports"])


@pytest.mark.parametrize("other", [["--dry-run"], ["-o", "-"], ["--init-only"], ["--all-projects"]])
def test_json_does_not_go_with_what_prints_no_verdict_or_several(answered, runevals, other):
    code, out, err = runevals("run", *RUN[2:], "--format", "json", *other)
    assert (code, out) == (2, "")
    assert other[0].replace("-o", "--output") in err or "--format json" in err
