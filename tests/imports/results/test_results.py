"""Results of other tools: the text beside each file says how it is read, or why it is refused."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import reduce
from pathlib import Path

import pytest

from runevals.imports.results import FORMATS, SUFFIXES, read_results
from runevals.imports.results.opened import read_opened
from runevals.imports.results.records import ImportedAttempt, ImportedRun
from runevals.records import Outcome
from runevals.records.errors import InvalidDocument
from runevals.records.rules import Reading

HERE = Path(__file__).parent
FILES = {
    kind: sorted(p for p in HERE.glob(f"*/{kind}/*") if p.suffix in SUFFIXES) for kind in ("valid", "invalid")
}


def lines(run: ImportedRun) -> Iterator[str]:
    yield f"{run.tool}, models {list(run.models)}, judges {list(run.judges)}"
    yield f"at {run.started_at}, {run.duration_s} s"
    yield from (f"notice: {notice}" for notice in run.notices)
    yield from [f"stopped: {run.stopped}"] if run.stopped else []
    for case in run.cases:
        labels = f"category {case.category}, tags {list(case.tags)}, line {case.line}"
        yield f"\n{case.suite} | {case.key} | {case.name} | {labels}"
        for attempt in case.attempts:
            yield from told(attempt)


def told(attempt: ImportedAttempt) -> Iterator[str]:
    turn = attempt.turn
    numbers = (turn.latency_s, turn.cost_usd, turn.input_tokens, turn.output_tokens, turn.cached, turn.tool_calls)
    yield f"  passed {attempt.passed}, answer {turn.output!r}, {numbers}"
    yield from [f"    {turn.error.code}: {turn.error.message}"] if turn.error else []
    for check in turn.results:
        error = f", {check.error.code}" if check.error else ""
        found = f"{check.outcome} {check.score} {check.reason!r}{error}"
        yield f"    {check.layer} {check.id} ({check.evaluator}): {found}"


@pytest.mark.parametrize("path", FILES["valid"], ids=lambda path: f"{path.parts[-3]}/{path.name}")
def test_results_are_read(path, golden, monkeypatch):
    monkeypatch.chdir(path.parent)
    text = "\n".join(lines(read_results([Path(path.name)]))) + "\n"
    golden(path.with_name(f"{path.name}.txt"), text)


@pytest.mark.parametrize("path", FILES["invalid"], ids=lambda path: f"{path.parts[-3]}/{path.name}")
def test_broken_results_are_refused_with_their_place(path, golden, monkeypatch):
    monkeypatch.chdir(path.parent)
    with pytest.raises(InvalidDocument) as refused:
        read_results([Path(path.name)])
    golden(path.with_name(f"{path.name}.error.txt"), f"{refused.value}\n")


@pytest.mark.parametrize("path", FILES["valid"], ids=lambda path: f"{path.parts[-3]}/{path.name}")
def test_one_format_recognises_each_file(path):
    """Plain rows are what no tool is known for."""
    first, *others = recognising(path)
    assert (first, set(others) - {"rows"}) == (path.parts[-3].removesuffix("-log"), set())


def recognising(path: Path) -> list[str]:
    file = read_opened(path, path.name)
    return [known.NAME for known in FORMATS if known.recognises(file)]


def test_results_of_promptfoo_are_known_without_their_wrapper(tmp_path):
    wrapped = json.loads((HERE / "promptfoo/valid/two-providers.json").read_text(encoding="utf-8"))
    (tmp_path / "x.json").write_text(json.dumps(wrapped["results"]), encoding="utf-8")
    assert recognising(tmp_path / "x.json") == ["promptfoo"]


@pytest.mark.parametrize(
    "document",
    [
        pytest.param({"stats": {"tests": 1, "passes": 1}, "results": [{"suites": []}]}, id="mochawesome"),
        pytest.param({"metadata": {"model": "m"}, "runs": [{"score": 1}]}, id="runs"),
        pytest.param({"eval": {"loss": 0.2}, "status": "ok", "version": 1}, id="training"),
    ],
)
def test_keys_that_many_tools_write_are_no_format(tmp_path, document):
    (tmp_path / "x.json").write_text(json.dumps(document))
    assert recognising(tmp_path / "x.json") == []


def test_a_run_made_twice_has_the_attempts_of_both(tmp_path):
    path = HERE / "junit" / "valid" / "nested.xml"
    twice = read_results([Path(shutil.copy(path, tmp_path / name)) for name in ("first.xml", "second.xml")])
    assert [len(case.attempts) for case in twice.cases] == [2, 2]
    assert twice.notices == ()


def test_a_test_that_two_folders_have_is_one_of_each_project(tmp_path):
    """As attempts of one test, what one project loses would look flaky."""
    report = (
        '<testsuite name="s"><testcase classname="a" name="t"/><testcase classname="a" name="{}"/></testsuite>'
    )
    paths = [tmp_path / project / "junit.xml" for project in ("search", "support")]
    for path in paths:
        path.parent.mkdir()
        path.write_text(report.format(path.parent.name))
    found = read_results(paths)
    assert {case.suite for case in found.cases if case.key == "a.t"} == {"s (search)", "s (support)"}
    assert {case.suite for case in found.cases if case.key != "a.t"} == {"s"}
    assert {len(case.attempts) for case in found.cases} == {1}
    assert [notice.partition(":")[0] for notice in found.notices] == ["1 test in reports in several folders"]


def of_model(folder, model, lost, name="log"):
    samples = [{"id": n, "input": "q", "scores": {"s": {"value": "I" if n in lost else "C"}}} for n in range(9)]
    log = {"version": 2, "status": "success", "plan": {}, "eval": {"task": "t", "model": model}}
    path = folder / f"{name}-{model}.json"
    path.write_text(json.dumps({**log, "samples": samples}))
    return path


def test_the_cases_of_several_models_are_apart(tmp_path):
    """`inspect eval --model a,b` writes a log for each: what one lost looked flaky, as the other had it."""
    found = read_results([of_model(tmp_path, "a", {3}), of_model(tmp_path, "b", set())])
    assert {case.suite for case in found.cases} == {"t (a)", "t (b)"}
    assert {len(case.attempts) for case in found.cases} == {1}
    again = read_results([of_model(tmp_path, "a", {3}), of_model(tmp_path, "a", {3}, "again")])
    assert {(case.suite, len(case.attempts)) for case in again.cases} == {("t", 2)}


@pytest.mark.parametrize("names", [("1-main", "2-change"), ("2-main", "1-change")], ids=str)
def test_what_a_folder_keeps_of_an_older_commit_is_no_run_of_the_newer(tmp_path, names):
    """A case that is dead now would be one that passes in one run of two."""
    for name, commit, lost in zip(names, ("aaa", "bbb"), (set(), {3}), strict=True):
        path = of_model(tmp_path, "a", lost, name)
        log = json.loads(path.read_text())
        day = {"aaa": 28, "bbb": 29}[commit]
        log["eval"] |= {"revision": {"commit": commit}, "created": f"2026-11-{day}T08:00:00+00:00"}
        path.write_text(json.dumps(log))
    found = read_results([tmp_path])
    outcomes = {case.key: [one.turn.results[0].outcome for one in case.attempts] for case in found.cases}
    assert (len(outcomes), outcomes["3"]) == (9, [Outcome.FAILED])
    assert [notice.partition(" of ")[0] for notice in found.notices] == ["left out"]


def test_a_scorer_of_inspect_that_gives_words_is_named_and_not_compared(tmp_path):
    path = of_model(tmp_path, "m", {3})
    log = json.loads(path.read_text())
    for sample in log["samples"]:
        sample["scores"]["tone"] = {"value": "warm"}
    path.write_text(json.dumps(log))
    run = read_results([path])
    assert run.notices == ("not compared, as they give words that are no score: tone",)
    assert {check.id for case in run.cases for check in case.attempts[0].turn.results} == {"s"}


def test_a_file_that_names_no_model_does_not_part_the_attempts_of_one(tmp_path):
    found = read_results([of_model(tmp_path, "a", {3}), of_model(tmp_path, "", {3})])
    assert {(case.suite, len(case.attempts)) for case in found.cases} == {("t", 2)}


def test_parameters_are_attempts_if_the_user_says_so():
    path = HERE / "junit" / "valid" / "nested.xml"
    [case] = read_results([path], Reading(parameters_are_attempts=True)).cases
    assert (case.key, len(case.attempts)) == ("finds", 2)


def test_a_folder_is_searched_for_results(tmp_path):
    (tmp_path / "run-1").mkdir()
    (tmp_path / "run-1" / "junit.xml").write_text("<testsuite><testcase name='a'/></testsuite>")
    (tmp_path / "package.json").write_text('{"name": "shop"}')
    assert [case.key for case in read_results([tmp_path]).cases] == ["a"]
    (tmp_path / "run-1" / "junit.xml").unlink()
    with pytest.raises(InvalidDocument, match="there are no results in"):
        read_results([tmp_path])


def test_what_agentv_writes_beside_its_results_is_left_out(tmp_path):
    """A grading for each test, and a `benchmark.json` without runs."""
    folder = HERE / "agentv" / "folder"
    run = read_results([folder])
    assert [(case.key, len(case.attempts)) for case in run.cases] == [("capital", 1), ("broken", 1)]
    shutil.copytree(folder, tmp_path / "2")
    shutil.copytree(folder, tmp_path / "1")
    again = read_results([tmp_path])
    assert again.path == str(tmp_path)
    assert {case.file for case in again.cases} == {"evals/q.eval.yaml"}


def test_a_case_of_several_files_names_the_first(tmp_path):
    for number in (1, 2):
        (tmp_path / f"{number}.xml").write_text("<testsuite><testcase name='a'/></testsuite>")
    [case] = read_results([tmp_path]).cases
    assert (case.file, len(case.attempts)) == (str(tmp_path / "1.xml"), 2)


def test_the_runs_of_a_skill_are_named_by_their_folders(tmp_path):
    text = (HERE / "skill-creator" / "valid" / "grading.json").read_text()
    for place in (
        "ocean/with_skill/run-1",
        "ocean/with_skill/run-2",
        "ocean/without_skill/run-1",
        "river/with_skill",
    ):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "grading.json").write_text(text)
    run = read_results([tmp_path])
    assert [(case.key, len(case.attempts)) for case in run.cases] == [("ocean", 2), ("river", 1)]
    assert run.notices == ("left out: runs without the skill, or with its old form",)
    (tmp_path / "benchmark.json").write_text((HERE / "skill-creator" / "valid" / "benchmark.json").read_text())
    assert {case.suite for case in read_results([tmp_path]).cases} == {"pdf"}, "the gradings would count twice"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param('{"a": 1}', "is in no format of results that we read: promptfoo, inspect,", id="unknown"),
        pytest.param(
            '{"format_version": 1, "tool": {}, "cases": []}', "is a results document of runevals", id="ours"
        ),
    ],
)
def test_what_is_not_results_is_refused(tmp_path, content, message):
    (tmp_path / "x.json").write_text(content)
    with pytest.raises(InvalidDocument, match=message):
        read_results([tmp_path / "x.json"])


def test_a_huge_number_in_a_name_costs_nothing(tmp_path):
    path = tmp_path / "junit.xml"
    names = ("t[1-99999999999999]", f"t[{'9' * 5000}-{'9' * 5000}]", "t[1-2]", "t[2-2]")
    tests = "".join(f'<testcase classname="k" name="{name}"/>' for name in names)
    path.write_text(f'<testsuite name="s">{tests}</testsuite>')
    keys = [case.key for case in read_results([path]).cases]
    assert keys == [f"k.{names[0]}", f"k.{names[1]}", "k.t"]


@pytest.mark.parametrize(
    ("counts", "of_suite", "of_test", "stopped"),
    [
        ('errors="1"', "", "", True),
        ('failures="2"', "", "", True),
        ("", "<error/>", "", True),
        ('errors="0" failures="0"', "", "", False),
        ('errors="1"', "", "<error/>", False),
        ('failures="1"', "", "<failure/>", False),
        ('errors="1"', "", "<failure/>", False),
        ('failures="1"', "", "<rerunError/>", False),
        ('failures="1"', "<error/>", "<failure/>", True),
        ('errors="1" failures="1"', "", "<failure/>", True),
        ('errors="1" failures="1"', "", "<failure/><error/>", False),
    ],
)
def test_a_suite_of_junit_with_a_failure_that_no_test_has_was_not_finished(
    tmp_path, counts, of_suite, of_test, stopped
):
    file = tmp_path / "junit.xml"
    tests = f'{of_suite}<testcase name="a">{of_test}</testcase>'
    file.write_text(f'<testsuites><testsuite name="s" {counts}>{tests}</testsuite></testsuites>')
    assert bool(read_results([file]).stopped) is stopped


@pytest.mark.parametrize(
    ("counts", "of_test", "stopped"),
    [
        ('tests="10"', "", "x.xml:1: the report counts 10 tests and has 1: it is not the whole report"),
        (
            'tests="10" skipped="8"',
            "",
            "x.xml:1: the report counts 10 tests and has 1: it is not the whole report",
        ),
        ('tests="10" skipped="9"', "", ""),
        ('tests="10" disabled="9"', "", ""),
        ('tests="2" errors="1"', "<error/>", ""),
        ('tests="1"', "", ""),
        ('tests="many"', "", ""),
    ],
)
def test_a_report_of_junit_with_fewer_tests_than_it_counts_was_not_finished(
    tmp_path, monkeypatch, counts, of_test, stopped
):
    """Skipped tests may be left out of a report, and pytest counts a test twice whose teardown fails."""
    monkeypatch.chdir(tmp_path)
    tests = f'<testcase name="a">{of_test}</testcase>'
    Path("x.xml").write_text(f"<testsuites {counts}><testsuite {counts}>{tests}</testsuite></testsuites>")
    assert read_results([Path("x.xml")]).stopped == stopped


SUBTESTS = """\
import os, unittest

class T(unittest.TestCase):
    def test_each(self):
        for one in "abc":
            with self.subTest(one=one):
                self.assertNotEqual(one, os.environ.get("LOST"))
"""


@pytest.mark.parametrize("options", [(), ("-o", "junit_suite_name=mine")], ids=["as it is", "another name"])
def test_subtests_that_pytest_counts_are_no_missing_tests(tmp_path, options):
    """Those that fail are ends of their test."""
    (tmp_path / "test_s.py").write_text(SUBTESTS)
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:randomly", "-p", "no:cacheprovider", *options]
    failed = []
    for name, lost in (("base.xml", ""), ("now.xml", "b")):
        environment = {**os.environ, "LOST": lost, "PYTEST_ADDOPTS": ""}
        subprocess.run([*words, f"--junitxml={name}"], cwd=tmp_path, env=environment, check=False)
        assert 'tests="1"' not in (tmp_path / name).read_text(), "the control: it counts them"
        run = read_results([tmp_path / name])
        assert run.stopped == ""
        failed += [attempt.failed for case in run.cases for attempt in case.attempts]
    assert failed == [False, True]


@pytest.mark.parametrize(
    ("cases", "stopped"),
    [
        ("g > a | !g", True),
        ("g > h > a | !h", True),
        ("g > h > a | !g > h", True),
        ("!g | g > a", False),  # Deno writes a test before its steps
        ("g > a | !g | b", False),
        ("g > a | g", False),
        ("!TestMain", True),
        ("!k.TestMain", False),
        ("!k.initializationError | k.initializationError", False),  # run again, it passed
    ],
)
def test_a_failed_group_of_junit_is_not_a_test(tmp_path, cases, stopped):
    def case(text):
        class_, _, name = text.strip("! ").rpartition(".")
        end = "<failure/>" if "!" in text else ""
        return f'<testcase classname="{class_}" name="{name.replace(">", "&gt;")}">{end}</testcase>'

    path = tmp_path / "x.xml"
    path.write_text(f'<testsuite name="s">{"".join(map(case, cases.split("|")))}</testsuite>')
    assert bool(read_results([path]).stopped) is stopped


def test_a_result_of_promptfoo_that_succeeded_and_has_an_error_is_errored(tmp_path):
    file = HERE / "promptfoo/valid/two-providers.json"
    document = json.loads(file.read_text(encoding="utf-8"))
    next(row for row in document["results"]["results"] if row["success"])["error"] = "API error: 500"
    (tmp_path / "x.json").write_text(json.dumps(document), encoding="utf-8")
    before, after = (
        sum(attempt.turn.error is not None for case in read_results([path]).cases for attempt in case.attempts)
        for path in (file, tmp_path / "x.json")
    )
    assert after == before + 1


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("promptfoo/valid/two-providers.json", "results.results"),
        ("promptfoo/valid/prompts-and-repeats.json", "results.results"),
        ("deepeval/valid/test_run_20261122_154033.json", "testCases"),
        ("deepeval/valid/repeated.json", "testRunData.testCases"),
    ],
)
def test_results_that_count_more_than_they_have_are_not_whole(tmp_path, name, rows):
    document = json.loads((HERE / name).read_text(encoding="utf-8"))
    *above, last = rows.split(".") if rows.split(".")[0] in document else [rows.split(".")[-1]]
    there = reduce(lambda value, key: value[key], above, document)[last]
    there.pop()
    (tmp_path / "x.json").write_text(json.dumps(document), encoding="utf-8")
    assert read_results([HERE / name]).stopped == ""
    assert (
        f"the results count {len(there) + 1} attempts and have {len(there)}"
        in read_results([tmp_path / "x.json"]).stopped
    )
