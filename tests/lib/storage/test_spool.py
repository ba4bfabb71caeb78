"""What is kept on disk reads as if it were in memory, in every report, and nobody else can read it."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from runevals.lib.sandbox import Sandbox
from runevals.lib.storage.spool import ATTEMPTS_IN_MEMORY, IN_MEMORY, Spool
from runevals.records import CaseReport, Provenance, Response, StoredValue, ToolCall, offload
from runevals.records.lazy_fields import raw_value
from runevals.reports import REPORTERS, console
from runevals.reports import results_document as document
from runevals.reports.results_json import case_line, json_text
from runevals.run.measurement import Measurement
from runevals.run.world import World
from runevals.settings.resolve import RawSettings, resolve
from tests.chat_server import Reply, chat_server
from tests.open_files import open_below
from tests.reports.conclusions import ALL
from tests.sample_reports import report
from tests.sample_suites import EXACT, Answers, numbered, plan_of

CANARY = "canary-1234567890"
ROOT = Path(__file__).parents[3]
OUTPUTS = ("out.json", "out.html", "out.xml", "out.csv", "out.md")


class Elsewhere(StoredValue):
    def __init__(self, value):
        self.value = value

    def read(self):
        return self.value


def elsewhere(case: CaseReport | None) -> CaseReport | None:
    if case is None:
        return None
    return replace(
        case,
        attempts=tuple(
            replace(attempt, turns=tuple(offload(turn, Elsewhere) for turn in attempt.turns))
            for attempt in case.attempts
        ),
    )


@pytest.mark.parametrize("reporter", [*REPORTERS, console], ids=lambda reporter: reporter.NAME)
@pytest.mark.parametrize("make", ALL, ids=lambda make: make.__name__)
def test_reports_are_identical_if_answers_are_stored_on_disk(reporter, make):
    plain = made = make()
    made = replace(made, report=replace(made.report, cases=tuple(map(elsewhere, made.report.cases))))
    if made.comparison is not None:
        changes = tuple(
            replace(change, base=elsewhere(change.base), head=elsewhere(change.head))
            for change in made.comparison.changes
        )
        base = made.comparison.base
        base = replace(base, cases=tuple(map(elsewhere, base.cases)))
        made = replace(made, comparison=replace(made.comparison, base=base, changes=changes))
    assert made == plain
    assert reporter.render(made) == reporter.render(plain)


def large(number: int) -> Response:
    """A tenth of what is held in memory, with everything that an answer may have."""
    text = f"answer {number} \ud83d ü\u2028" * (IN_MEMORY // 150)
    call = ToolCall(name="Read", input={"n": [number, 1.5, None, True]}, output=text, ok=False)
    return Response(text=text, tool_calls=(call,), value={"n": number, "text": text}, raised=text, cost_usd=0.1)


@pytest.mark.needs("linux")
def test_large_values_are_stored_on_disk_and_read_back_unchanged(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    spool = Spool()
    kept = [spool.offload_record(large(number)) for number in range(10)]
    assert [os.fstat(file).st_nlink for file in open_below(tmp_path)] == [0]
    assert kept == [large(number) for number in range(10)]
    assert list(tmp_path.iterdir()) == []
    del spool, kept
    assert open_below(tmp_path) == []


def with_a_spool(program: str, *, room: int) -> subprocess.CompletedProcess[str]:
    """Runs a program that has a `spool` whose files may have so many bytes, and this module as `t`."""
    beginning = (
        "import resource, tests.lib.storage.test_spool as t; from runevals.lib.storage.spool import Spool\n"
        "spool = Spool()\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({room}, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))\n"
    )
    command = [sys.executable, "-c", beginning + program]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)


def test_if_the_disk_is_full_values_stay_in_memory():
    done = with_a_spool(
        "kept = [spool.offload_record(t.large(number)) for number in range(4)]\n"
        "kept += [spool.offload_record(t.large(number)) for number in range(4, 20)]\n"
        "assert kept == [t.large(number) for number in range(20)]\n",
        room=3_000_000,
    )
    assert done.returncode == 0, done.stderr


def case_of(name: str) -> CaseReport:
    return replace(report({"a": "p"}).cases[0], name=name)


def test_prepared_json_is_used_in_the_document_and_a_changed_record_has_none():
    spool, record = Spool(), case_of("\ud83d ü\u2028")
    before = case_line(record)
    spool.attach_json(record, before)
    assert case_line(record) == before
    assert json_text(record) == json_text(case_of("\ud83d ü\u2028"))  # elsewhere in a document
    assert '"line":77,' in case_line(replace(record, line=77))
    spool.attach_json(record, "kept")
    assert case_line(record) == "kept"
    assert record == case_of("\ud83d ü\u2028")


def test_if_the_disk_is_full_json_is_written_again():
    done = with_a_spool(
        "made = [t.case_of('long ' * 300) for _ in range(5)]\n"
        "for record in made: spool.attach_json(record, t.case_line(record))\n"
        "assert len({t.case_line(record) for record in made}) == 1\n",
        room=3000,
    )
    assert done.returncode == 0, done.stderr


def test_json_prepared_during_the_run_equals_json_of_the_results(project, runevals, monkeypatch):
    monkeypatch.setenv("MY_API_KEY", CANARY)
    items = [{"testId": f"k{n}", "prompt": f"{n}?", "expected_response": "yes"} for n in range(5)]
    project.write("evals.json", {**EXACT, "items": items})
    with chat_server(lambda body, n: Reply(f"“yes” {n} {CANARY}")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        assert runevals("--model", "tiny", "--repeat", "2", "-o", "out.json")[0] in (0, 1)
    text = Path("out.json").read_text(encoding="utf-8")
    assert text.count("[redacted MY_API_KEY]") >= 10
    assert document.write(document.parse(text, "out.json")) == text


def test_a_value_nested_too_deep_stays_in_memory():
    deep = []
    for _ in range(100_000):
        deep = [deep]
    spool = Spool()
    for number in range(10):
        spool.offload_record(large(number))
    assert spool.offload_record(replace(large(0), value=deep)).value is deep


@pytest.mark.needs("linux")
def test_no_secret_of_an_answer_is_stored_on_disk(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    plan = plan_of(tmp_path, numbered(20, "x"), **EXACT)
    settings = resolve(RawSettings(cwd=tmp_path, environment={"MY_API_KEY": CANARY}))
    target = Answers(lambda _: Response(text=f"it is {CANARY} " * (IN_MEMORY // 100)))
    with Sandbox(workers=1) as sandbox:
        side = Measurement(plan, settings, World(target=target, judge=None, sandbox=sandbox), Provenance())
        assert len(list(side.everything())) == 20
    (file,) = open_below(tmp_path)
    written = os.pread(file, os.fstat(file).st_size, 0)
    assert written.count(b"it is [redacted MY_API_KEY]") > IN_MEMORY // 100
    assert CANARY.encode() not in written
    outputs = {turn.output for case in side.report().cases for run in case.attempts for turn in run.turns}
    assert outputs == {"it is [redacted MY_API_KEY] " * (IN_MEMORY // 100)}


def test_a_large_run_and_its_comparison_report_every_case(project, runevals):
    def texts(word):
        return {f"k{n:02}": f"{n} begins {word} " + f"“{n}” and so on, " * 6_000 + "end" for n in range(60)}

    items = [{"testId": key, "prompt": f"{key}?", "expected_response": "yes"} for key in texts("")]
    project.write("evals.json", {**EXACT, "items": items})
    for name, word in (("base", "yes"), ("head", "no")):
        lines = [json.dumps({"case": key, "output": text}) for key, text in texts(word).items()]
        project.write(f"{name}.jsonl", "\n".join(lines))
    assert sum(map(len, texts("no").values())) > IN_MEMORY
    code, _, err = runevals("evals.json", "--target", "recorded:base.jsonl", "-o", "base.json")
    assert code == 0, err
    words = [word for name in OUTPUTS for word in ("-o", name)]
    code, _, err = runevals("evals.json", "--target", "recorded:head.jsonl", "--baseline", "base.json", *words)
    assert code == 1, err
    cases = project.document("out.json")["cases"]
    assert {case["key"]: case["attempts"][0]["turns"][0]["output"] for case in cases} == texts("no")
    changes = project.document("out.json")["comparison"]["changes"]
    assert {change["key"]: change["before"]["attempts"][0]["turns"][0]["output"] for change in changes} == texts(
        "yes"
    )
    again = [word for name in OUTPUTS for word in ("-o", f"again-{name}")]
    runevals("report", "out.json", *again)
    for name in OUTPUTS:
        assert (project.path / f"again-{name}").read_bytes() == (project.path / name).read_bytes()


def test_the_turns_of_a_large_run_are_on_disk_whole_and_read_back_unchanged():
    spool = Spool(attempts=ATTEMPTS_IN_MEMORY + 1)
    attempts = [attempt for case in report({"a": "pf", "b": "e", "c": "s"}).cases for attempt in case.attempts]
    offloaded = list(map(spool.offload_attempt, attempts))
    assert all(isinstance(raw_value(attempt, "turns"), StoredValue) for attempt in offloaded)
    assert offloaded == attempts
    assert [attempt.value for attempt in offloaded] == [attempt.value for attempt in attempts]
    assert pickle.loads(pickle.dumps(offloaded)) == attempts  # as they are sent to another process
    for attempt, before in zip(offloaded, attempts, strict=True):
        assert replace(attempt, attempt=7) == replace(before, attempt=7)
