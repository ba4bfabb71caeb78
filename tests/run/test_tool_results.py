"""Results of another tool as a report: its own verdicts count, and what has no check is left out."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from runevals import decide
from runevals.imports.results import read_results
from runevals.records import Outcome
from runevals.records.errors import InvalidDocument
from runevals.run.tool_results import parse_report, read_report, report_of, with_declared_determinism
from tests.ending import ended

RESULTS = Path(__file__).parents[1] / "imports" / "results"
NOW = datetime.now(UTC)


def report(name):
    return report_of(read_results([RESULTS / name]), written_at=NOW)


def test_a_test_that_its_tool_lets_pass_passes_though_one_of_its_assertions_fails():
    found = report("promptfoo/valid/prompts-and-repeats.json")
    half = [case for case in found.cases if case.name == "half"]
    assert [case.status for case in half] == [Outcome.PASSED, Outcome.PASSED]
    assert {result.outcome for result in half[0].attempts[0].turns[0].results} == {Outcome.PASSED, Outcome.FAILED}
    assert (found.run.target.type, found.run.target.model, found.run.repeat) == ("promptfoo", "echo", 2)


@pytest.mark.parametrize(("files", "path"), [("ab", "junit.xml"), ("aa", "a.py"), (("a", ""), "junit.xml")])
def test_a_suite_of_several_files_is_called_by_its_report(files, path):
    cases = "".join(f'<testcase name="t{n}" file="{file and file + ".py"}"/>' for n, file in enumerate(files))
    found = parse_report(f'<testsuite name="pytest">{cases}</testsuite>'.encode(), "junit.xml")
    assert [suite.path for suite in found.run.suites] == [path]


def of_promptfoo(*columns):
    """The results of ten tests for each (provider, label of the prompt, whether it passes)."""
    rows = [
        {
            "testIdx": test,
            "promptIdx": column,
            "provider": {"id": provider},
            "success": passes,
            "prompt": {"raw": "?", "label": prompt},
            "response": {"output": "x"},
            "testCase": {"description": f"case {test}", "assert": [{"type": "contains", "value": "x"}]},
            "gradingResult": {
                "pass": passes,
                "componentResults": [{"pass": passes, "score": int(passes), "assertion": {"type": "contains"}}],
            },
        }
        for test in range(10)
        for column, (provider, prompt, passes) in enumerate(columns)
    ]
    text = json.dumps({"evalId": "x", "results": {"version": 3, "results": rows}})
    return parse_report(text.encode(), "x.json")


def gated(base, head):
    """(exit code, how many cases are renamed) of these results."""
    found = decide(of_promptfoo(*base), of_promptfoo(*head))
    return found.verdict.exit_code, len(found.comparison.of_kind("renamed"))


def test_another_provider_of_promptfoo_does_not_stand_in_for_the_one_that_is_lost():
    one, fine, lost = ("gpt", "?", True), ("mini", "?", True), ("gpt", "?", False)
    assert gated([one], [fine, lost]) == (3, 0)
    assert gated([one], [lost, fine]) == (3, 0)
    assert gated([one, fine], [fine, one]) == (0, 0)
    assert gated([one, fine], [one, fine]) == (0, 0)
    assert gated([one], [fine]) == (0, 0)


IN_FILE = {
    "class": "<testcase classname='{file}' name='{test}'>{end}</testcase>",
    "suite": "<testsuite name='{file}'><testcase name='{test}'>{end}</testcase></testsuite>",
}


@pytest.mark.parametrize("template", IN_FILE.values(), ids=IN_FILE)
@pytest.mark.parametrize(("lost", "ends"), [("", (0, 0, 10)), ("t3", (1, 0, 10))], ids=str)
def test_tests_of_a_file_that_was_renamed_are_compared_with_what_they_were(template, lost, ends):
    def side(file, lost):
        fails = {f"t{n}": "" for n in range(10)} | ({lost: "<failure message='no'/>"} if lost else {})
        tests = (template.format(file=file, test=test, end=end) for test, end in fails.items())
        found = parse_report(f"<testsuites>{''.join(tests)}</testsuites>".encode(), "junit.xml")
        return with_declared_determinism(found, True)

    found = decide(side("tests.bot", ""), side("tests.answers", lost))
    removed = len(found.comparison.of_kind("removed"))
    assert (found.verdict.exit_code, removed, found.comparison.compared) == ends


def test_results_of_promptfoo_with_one_provider_and_prompt_have_the_content_that_they_had():
    """Results that are stored say what was compared by these fingerprints."""
    [first, *_] = of_promptfoo(("gpt", "?", True)).cases
    assert (first.key, first.fingerprint) == (
        "case 0",
        "6d9559918f411cc5616f176ac7a1f4ffa8b4d3423d14bc8df525c144bf31b01d",
    )


def test_prompts_of_promptfoo_from_one_file_are_cases_of_their_own():
    short, long = "prompts.txt: Be short. {{q}}", "prompts.txt: Be long. {{q}}"
    found = of_promptfoo(("gpt", short, True), ("gpt", long, True), ("gpt", "a.txt: {{q}}", True))
    keys = [case.key for case in found.cases if case.name == "case 0"]
    assert keys == ["case 0 [prompts.txt]", "case 0 [prompts.txt (2)]", "case 0 [a.txt]"]
    base = [("gpt", short, True), ("gpt", long, True)]
    assert gated(base, [base[0], ("gpt", long, False)])[0] == 1


def test_cases_without_a_check_are_left_out_with_a_notice():
    found = report("promptfoo/valid/prompts-and-repeats.json")
    assert "No checks here" not in {case.name for case in found.cases}
    assert found.run.notices == ("left out: 2 cases without a check",)
    row = {"testIdx": 0, "promptIdx": 0, "provider": "echo", "testCase": {}, "success": True}
    text = json.dumps({"evalId": "x", "results": {"version": 3, "results": [row]}})
    with pytest.raises(InvalidDocument, match="has no case with a check: add one "):
        parse_report(text.encode(), "x.json")


def test_an_error_is_neither_a_pass_nor_a_failure():
    found = {case.key: case for case in report("agentv/valid/index.jsonl").cases}
    assert (found["shipping"].status, found["refund"].pass_rate) == (Outcome.ERRORED, 0.5)


def test_an_attempt_without_an_answer_keeps_the_names_of_its_checks():
    [case] = report("inspect-log/valid/interrupted.json").cases
    answered, broken, _ = case.attempts
    assert [result.id for result in broken.turns[0].results] == [result.id for result in answered.turns[0].results]
    assert broken.status is Outcome.ERRORED


def test_an_interrupted_run_is_incomplete():
    found = report("inspect-log/valid/interrupted.json")
    assert (found.complete, found.run.stopped.message) == (False, "Inspect was interrupted")


def test_a_score_between_0_and_1_is_compared_by_its_size():
    [first, _] = report("inspect-log/valid/epochs.json").cases
    assert [attempt.graded for attempt in first.attempts] == [True] * 3
    assert first.attempts[0].value != first.attempts[2].value


def test_the_judge_is_known_where_the_results_name_it():
    assert report("waza/valid/outcome.json").run.judge.model == "gpt-5-mini"
    assert report("junit/valid/surefire.xml").run.judge is None


def test_results_of_the_future_are_of_now(tmp_path):
    """A runner that writes local time without its zone may be ahead of UTC."""
    path = tmp_path / "junit.xml"
    ahead = (NOW + timedelta(hours=9)).replace(tzinfo=None).isoformat()
    path.write_text(f'<testsuite timestamp="{ahead}"><testcase name="a"/></testsuite>')
    assert read_report(path).run.started_at <= datetime.now(UTC)


def test_what_is_neither_ours_nor_of_a_tool_is_refused_as_a_results_document(tmp_path):
    path = tmp_path / "x.json"
    path.write_text('{"a": 1}')
    with pytest.raises(
        InvalidDocument,
        match="is not a results document that can be read: it has no 'format_version'; 1 is needed",
    ):
        read_report(path)


def logs(folder, *models):
    """A log of Inspect for each (model, how many of its nine cases it lost)."""
    for model, lost in models:
        samples = [
            {"id": n, "input": f"{n}?", "scores": {"s": {"value": "I" if n < lost else "C"}}} for n in range(9)
        ]
        log = {"version": 2, "status": "success", "plan": {}, "eval": {"task": "t", "model": model}}
        folder.mkdir(exist_ok=True)
        (folder / f"{len(list(folder.iterdir()))}.json").write_text(json.dumps({**log, "samples": samples}))
    return str(folder)


@pytest.mark.parametrize(
    ("base", "head", "code", "said"),
    [
        ([("m", 0)], [("a", 0), ("m", 9)], 1, "9 of 9 cases regressed"),
        ([("m", 0)], [("a", 9), ("m", 0)], 0, "No regression shown"),
        ([("a", 9), ("m", 0)], [("m", 9)], 1, "9 of 9 cases regressed"),
        ([("a", 9), ("m", 9)], [("m", 9)], 3, "base's 9 cases in t (a) can be compared"),
    ],
)
def test_each_model_is_compared_with_itself_however_many_there_are(tmp_path, runevals, base, head, code, said):
    """Another model that was listed first hid what the one of the base had lost, or blocked in its place."""
    stored = str(tmp_path / "base.json")
    runevals("gate", logs(tmp_path / "base", *base), "-o", stored)
    new = str(tmp_path / "head.json")
    found, out, err = runevals("gate", logs(tmp_path / "head", *head), "--baseline", stored, "-o", new)
    ended(found, code, out + err, said)
    found, out, err = runevals("compare", stored, new)
    ended(found, code, out + err, said)


@pytest.mark.parametrize("older_s", [60, -60])
def test_results_that_are_older_than_the_commit_are_said_to_be(repository, runevals, older_s):
    """The tool may have ended before it wrote them."""
    repository.write("head.xml", '<testsuite><testcase classname="t" name="a"/></testsuite>')
    repository.git("commit", "-q", "--allow-empty", "-m", "now")
    made = int(repository.git("log", "-1", "--format=%ct"))
    os.utime(repository.path / "head.xml", (made - older_s, made - older_s))
    code, out, _ = runevals("gate", "head.xml")
    told = "head.xml is older than the commit that is checked out" in out
    assert (code, told) == (0, older_s > 0), out
