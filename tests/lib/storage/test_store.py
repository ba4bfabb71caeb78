"""What is kept on disk reads as if it were in memory, in every report, and nobody else can read it."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from msgspec.structs import replace

from runevals.lib.parsing.record_json import json_text
from runevals.lib.storage.store import IN_MEMORY, Store, StoredRecords, StoredSequence
from runevals.records import CaseReport, Conclusion, Provenance, Response, ToolCall, TurnReport
from runevals.reports import REPORTERS, console
from runevals.reports import results_document as document
from runevals.run.measurement import Measurement
from runevals.run.world import World
from runevals.sandbox import Sandbox
from runevals.settings.resolve import RawSettings, resolve
from tests.chat_server import Reply, chat_server
from tests.open_files import open_below
from tests.reports.conclusions import all_passed, everything_broken, regressions, thousand_cases
from tests.sample_reports import report
from tests.sample_suites import EXACT, Answers, numbered, plan_of

CANARY = "canary-1234567890"
ROOT = Path(__file__).parents[3]
ROOM = 40_000  # bytes in memory, where a test has made them as few
OUTPUTS = ("out.json", "out.html", "out.xml", "out.csv", "out.md")


@pytest.fixture
def little_memory(monkeypatch):
    monkeypatch.setattr(Store.__init__, "__defaults__", (ROOM,))


def elsewhere(case: CaseReport | None) -> CaseReport | None:
    if case is None:
        return None
    store = Store(TurnReport, in_memory=0)
    attempts = tuple(replace(attempt, turns=store.offload(attempt.turns)) for attempt in case.attempts)
    assert all(isinstance(attempt.turns, StoredSequence) for attempt in attempts)
    return replace(case, attempts=attempts)


@cache
def in_memory_and_on_disk(make: Callable[[], Conclusion]) -> tuple[Conclusion, Conclusion]:
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
    return plain, made


def hundreds_of_cases() -> Conclusion:
    """More, and more that fail, than any report shows of them."""
    return thousand_cases(of=250, fails_each=4)


@pytest.mark.parametrize("reporter", [*REPORTERS, console], ids=lambda reporter: reporter.NAME)
@pytest.mark.parametrize(
    "make", [all_passed, regressions, everything_broken, hundreds_of_cases], ids=lambda make: make.__name__
)
def test_reports_are_identical_if_answers_are_stored_on_disk(reporter, make):
    plain, made = in_memory_and_on_disk(make)
    assert reporter.render(made) == reporter.render(plain)


def large(number: int) -> tuple[Response, ...]:
    """A tenth of what is held in memory, with everything that an answer may have."""
    text = f"answer {number} ü\u2028" * (IN_MEMORY // 150)
    call = ToolCall(name="Read", input={"n": [number, 1.5, None, True]}, output=text, ok=False)
    return (Response(text=text, tool_calls=(call,), value={"n": number}, raised=text, cost_usd=0.1),)


@pytest.mark.needs("linux")
def test_what_does_not_fit_in_memory_is_stored_on_disk_and_read_back_unchanged(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    store = Store(Response)
    stored = [store.offload(large(number)) for number in range(10)]
    assert [os.fstat(file).st_nlink for file in open_below(tmp_path)] == [0]
    assert stored == [large(number) for number in range(10)]
    assert pickle.loads(pickle.dumps(stored[-1])) == large(9)  # as it is sent to another process
    assert (len(stored[-1]), stored[-1][0], stored[-1][:1]) == (1, large(9)[0], large(9))
    assert json_text(stored[-1]) == json_text(large(9))
    assert list(tmp_path.iterdir()) == []
    del store, stored
    assert open_below(tmp_path) == []


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(Response(text="\ud83d"), id="text that is no Unicode"),
        pytest.param(Response(value=object()), id="no JSON"),
    ],
)
def test_what_cannot_be_stored_stays_in_memory(answer):
    values = (answer,)
    assert Store(Response, in_memory=0).offload(values) is values


def test_a_value_nested_too_deep_stays_in_memory():
    deep = []
    for _ in range(100_000):
        deep = [deep]
    values = (Response(value=deep),)
    assert Store(Response, in_memory=0).offload(values) is values


def with_little_room(program: str, *, room: int) -> subprocess.CompletedProcess[str]:
    """Runs a program whose files may have so many bytes, with this module as `t`."""
    beginning = (
        "import resource, tests.lib.storage.test_store as t\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({room}, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))\n"
    )
    command = [sys.executable, "-c", beginning + program]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)


def test_if_the_disk_is_full_values_stay_in_memory():
    done = with_little_room(
        "store = t.Store(t.Response)\n"
        "stored = [store.offload(t.large(number)) for number in range(20)]\n"
        "assert stored == [t.large(number) for number in range(20)]\n",
        room=3_000_000,
    )
    assert done.returncode == 0, done.stderr


CASES = report({"a": "pf", "b": "e", "c": "s", "d": "pp"}).cases


def test_records_are_read_in_any_order_and_as_often_as_needed():
    stored = StoredRecords(CaseReport)
    stored.extend(CASES[:1])
    stored.extend(CASES[1:])
    assert tuple(stored) == tuple(stored) == CASES
    stored.put_in_order([2, 0, 3, 1])
    assert [case.key for case in stored] == ["c", "a", "d", "b"]
    assert (len(stored), stored[0], stored[-1], stored[1:3]) == (4, CASES[2], CASES[1], (CASES[0], CASES[3]))
    assert pickle.loads(pickle.dumps(stored)) == tuple(stored)
    assert CASES[3] in stored


def test_if_the_disk_is_full_a_merge_keeps_the_cases_in_memory():
    done = with_little_room(
        """
from msgspec.structs import replace
from runevals.records import ShardInfo
from runevals.run.shards import merge

merge.IN_MEMORY = 2
made = t.report({"a": "p"})
documents = []
for part, case in enumerate(t.CASES, start=1):
    shard = ShardInfo(part=part, of=4, plan_cases=4, positions=(4 - part,))
    documents.append((f"{part}.json", replace(made, run=replace(made.run, shard=shard), cases=(case,))))
assert tuple(merge.merged(documents).cases) == t.CASES[::-1]
""",
        room=2000,
    )
    assert done.returncode == 0, done.stderr


def test_cases_written_during_a_run_are_those_of_its_results(project, runevals, monkeypatch):
    monkeypatch.setenv("MY_API_KEY", CANARY)
    items = [{"testId": f"k{n}", "prompt": f"{n}?", "expected_response": "yes"} for n in range(5)]
    project.write("evals.json", {**EXACT, "items": items})
    with chat_server(lambda body, n: Reply(f"“yes” {n} {CANARY}")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        assert runevals("--model", "tiny", "--repeat", "2", "-o", "out.json")[0] in (0, 1)
    text = Path("out.json").read_text(encoding="utf-8")
    assert text.count("[redacted MY_API_KEY]") >= 10
    assert document.write(document.parse(text, "out.json")) == text


@pytest.mark.needs("linux")
def test_no_secret_of_an_answer_is_stored_on_disk(tmp_path, monkeypatch, little_memory):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    plan = plan_of(tmp_path, numbered(20, "x"), **EXACT)
    settings = resolve(RawSettings(cwd=tmp_path, environment={"MY_API_KEY": CANARY}))
    target = Answers(lambda _: Response(text=f"it is {CANARY} " * (ROOM // 100)))
    with Sandbox(workers=1) as sandbox:
        side = Measurement(plan, settings, World(target=target, judge=None, sandbox=sandbox), Provenance())
        assert len(list(side.everything())) == 20
    (file,) = open_below(tmp_path)
    written = os.pread(file, os.fstat(file).st_size, 0)
    assert written.count(b"it is [redacted MY_API_KEY]") > ROOM // 100
    assert CANARY.encode() not in written
    outputs = {turn.output for case in side.report().cases for run in case.attempts for turn in run.turns}
    assert outputs == {"it is [redacted MY_API_KEY] " * (ROOM // 100)}


def test_a_large_run_and_its_comparison_report_every_case(project, runevals, monkeypatch, little_memory):
    monkeypatch.setattr(document, "LARGE", ROOM)  # from where on it is read case by case

    def texts(word):
        return {f"k{n:02}": f"{n} begins {word} " + f"“{n}” and so on, " * 600 + "end" for n in range(60)}

    items = [{"testId": key, "prompt": f"{key}?", "expected_response": "yes"} for key in texts("")]
    project.write("evals.json", {**EXACT, "items": items})
    for name, word in (("base", "yes"), ("head", "no")):
        lines = [json.dumps({"case": key, "output": text}) for key, text in texts(word).items()]
        project.write(f"{name}.jsonl", "\n".join(lines))
    assert sum(map(len, texts("no").values())) > 10 * ROOM
    project.write("runevals.yaml", "target: recorded:base.jsonl\n")
    code, _, err = runevals("evals.json", "-o", "base.json")
    assert code == 0, err
    words = [word for name in OUTPUTS for word in ("-o", name)]
    project.write("runevals.yaml", "target: recorded:head.jsonl\n")
    code, _, err = runevals("evals.json", "--baseline", "base.json", *words)
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
