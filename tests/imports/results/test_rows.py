"""Plain rows: which column is what, in which direction a score is better, and no state without a word."""

from __future__ import annotations

import json

import pytest

from runevals import decide
from runevals.imports.results import read_results
from runevals.imports.results.rows import Columns
from runevals.records import Outcome
from runevals.records.errors import InvalidDocument, InvalidSettings
from runevals.records.rules import Reading
from runevals.run.tool_results import parse_report


def read(tmp_path, rows, *columns, name="rows.jsonl"):
    path = tmp_path / name
    path.write_text(rows if isinstance(rows, str) else "".join(json.dumps(row) + "\n" for row in rows))
    return read_results([path], Reading(columns=tuple(columns)))


def checks(run):
    return {result.id: result for case in run.cases for one in case.attempts for result in one.turn.results}


def test_columns_are_named_as_ours(tmp_path):
    run = read(
        tmp_path, "case,f1,wer\na,0.7,0.1\nb,0.3,0.4\n", "id=case", "score=f1", "score=wer<=0.2", name="r.csv"
    )
    outcomes = [[result.outcome for result in case.attempts[0].turn.results] for case in run.cases]
    assert outcomes == [[Outcome.PASSED] * 2, [Outcome.FAILED] * 2]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("r.csv", "test_id,score,target\na,1,bot\nb,0,bot\n"),
        ("r.csv", "trial_name,task_name,id,score\nx,y,a,1\nx,y,b,0\n"),
        ("r.jsonl", '{"test_id": "a", "score": 1}\n{"test_id": "b", "score": 0}\n'),
    ],
)
def test_rows_with_a_column_named_as_a_field_of_a_tool_are_rows(tmp_path, name, text):
    run = read(tmp_path, text, name=name)
    assert (run.tool, [case.key for case in run.cases]) == ("rows", ["a", "b"])


def test_a_lower_score_is_better_if_the_limit_says_so(tmp_path):
    found = checks(read(tmp_path, [{"id": "a", "seconds": 1.5}], "score=seconds<=2"))
    assert (found["seconds"].passed, found["seconds"].reason) == (True, "1.5, at most 2 passes")
    assert (
        found["seconds"].score
        > checks(read(tmp_path, [{"id": "a", "seconds": 1.9}], "score=seconds<=2"))["seconds"].score
    )


def test_without_a_limit_it_is_said_which_way_is_better(tmp_path):
    rows = [{"id": "a", "wer": 0.3, "f1": 0.2}]
    (told,) = read(tmp_path, rows, "score=wer", "score=f1>=0.5").notices
    assert told == "more of 'wer' is taken as better; if less is: --columns 'score=wer<=LIMIT'"


def rows(score, **more):
    return "".join(json.dumps({"id": f"c{n}", "wer": score, **more}) + "\n" for n in range(30)).encode()


@pytest.mark.parametrize(("base", "head", "code"), [(0.1, 0.4, 1), (0.4, 0.1, 0), (0.1, 0.1, 0)])
def test_an_error_rate_that_rises_is_a_loss(base, head, code):
    both = (parse_report(rows(score), "r.jsonl", Reading(columns=("score=wer<=0.2",))) for score in (base, head))
    assert decide(*both).verdict.exit_code == code


@pytest.mark.parametrize(
    ("row", "error", "outcomes"),
    [
        pytest.param({"score": 1}, None, [Outcome.PASSED], id="measured"),
        pytest.param({"score": None}, "the row has no score", [Outcome.SKIPPED], id="without its score"),
        pytest.param({"score": 1, "status": "timeout"}, "timeout", [], id="lost"),
        pytest.param({"error": "boom"}, "boom", [], id="errored"),
        pytest.param({"score": None, "status": "SKIPPED"}, None, [Outcome.SKIPPED], id="skipped"),
    ],
)
def test_each_state_is_read_as_it_is(row, error, outcomes, tmp_path):
    run = read(tmp_path, [{"id": "other", "score": 1}, {"id": "a", **row}])
    [attempt] = run.cases[1].attempts
    said = attempt.turn.error and attempt.turn.error.message
    assert (said, [one.outcome for one in attempt.turn.results]) == (error, outcomes)


def test_rows_that_have_all_failed_to_run_are_read_as_errors(tmp_path):
    run = read(tmp_path, [{"id": "a", "score": None, "error": "down"}, {"id": "b", "score": 0, "error": "down"}])
    assert all(case.attempts[0].turn.error for case in run.cases)


@pytest.mark.parametrize("choice", ["", "score=score", "score=score>=50"], ids=str)
@pytest.mark.parametrize("flag", [{}, {"passed": True}, {"status": "ok"}], ids=str)
@pytest.mark.parametrize("cell", ["0,9", "90 %", "A", {"f1": 0.9}, [0.9]], ids=str)
@pytest.mark.parametrize("other", [None, 0.9], ids=str)
def test_a_score_that_is_no_number_is_an_error_if_it_is_named_or_all_there_is(tmp_path, choice, flag, cell, other):
    rows = [{"id": "a", "score": other, **flag}, {"id": "b", "score": cell, **flag}]
    if choice or not flag or other:
        with pytest.raises(InvalidDocument, match=r"rows.jsonl:2: /score is .*, not a number such as 0.9"):
            read(tmp_path, rows, *filter(None, [choice]))
    else:
        assert "score" not in checks(read(tmp_path, rows))  # a note beside the verdict


def test_a_score_that_is_named_is_skipped_where_no_row_has_it(tmp_path):
    found = checks(read(tmp_path, [{"id": "a", "f1": None, "wer": 0.1}], "score=f1", "score=wer<=0.2"))
    assert [found[name].outcome for name in ("f1", "wer")] == [Outcome.SKIPPED, Outcome.PASSED]


def test_a_score_that_is_named_is_an_error_if_its_scale_is_not_known(tmp_path):
    rows = [{"id": "a", "f1": 80, "wer": 0.1}]
    with pytest.raises(InvalidDocument, match=r"between 0 and 1: f1; say what passes"):
        read(tmp_path, rows, "score=f1", "score=wer<=0.2")


@pytest.mark.parametrize(
    "ours", ["id", "suite", "category", "run", "status", "passed", "model", "latency_s", "cost_usd"]
)
def test_a_column_that_is_named_and_has_an_object_is_an_error(tmp_path, ours):
    for value in ({"a": 1}, ["a"]):
        with pytest.raises(InvalidDocument, match=r"rows.jsonl: /meta is .*, not "):
            read(tmp_path, [{"id": "a", "meta": value, "score": 1}], f"{ours}=meta")


def test_a_column_may_be_a_path(tmp_path):
    row = {"id": "a", "m": {"f1": 0.4, "wer": "0.1", "no": 3, "took": 2}, "took s": "7"}
    run = read(tmp_path, [row], "score=m.f1", "score=m.wer<=0.2", "category=m.no", "latency_s=took s")
    assert {name: check.passed for name, check in checks(run).items()} == {"m.f1": False, "m.wer": True}
    assert (run.cases[0].category, run.cases[0].attempts[0].turn.latency_s) == ("3", 7.0)
    with pytest.raises(InvalidDocument, match=r"has no column 'm.f2'"):
        read(tmp_path, [row], "score=m.f2")


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (["id=cas"], r"has no column 'cas'; did you mean 'case'\? \(there are case, value\)"),
        (["score=f1"], r"has no column 'f1' \(there are case, value\)"),
        (["id=case"], "no column says how a case ended"),
    ],
)
def test_a_column_that_is_not_there_is_refused(columns, message, tmp_path):
    with pytest.raises(InvalidDocument, match=message):
        read(tmp_path, [{"case": "a", "value": 1}, {"case": "b", "value": 0}], *columns)


def test_a_table_without_a_header_is_told_that_its_first_line_names_the_columns(tmp_path):
    told = "the first line must name the columns, such as id,score, and names refund, 0.9"
    with pytest.raises(InvalidDocument, match=told):
        read(tmp_path, "refund,0.9\nship,1\n", name="r.csv")


@pytest.mark.parametrize(
    "choice", ["f1", "scor=f1", "id=a>=1", "score=", "score=wer<0.2", "score=f1 > 0.2"], ids=str
)
def test_a_choice_that_is_none_is_refused(choice):
    with pytest.raises(InvalidSettings, match="is not OURS=THEIRS"):
        Columns.chosen([choice])


def test_a_table_that_may_be_cut_short_is_named(tmp_path):
    assert read(tmp_path, "id,score\na,1\nb,0.9", name="r.csv").notices[0].endswith("is it the whole file?")
    assert read(tmp_path, "id,score\na,1\nb,0.9\n", name="r.csv").notices == ()


@pytest.mark.parametrize(("status", "is_read"), [("failed", True), ("Passed", True), ("shipped", False)])
def test_a_status_says_how_a_case_ended_if_it_is_one(tmp_path, status, is_read):
    (tmp_path / "r.jsonl").write_text(f'{{"id": "a", "status": "passed"}}\n{{"id": "b", "status": "{status}"}}\n')
    if is_read:
        read_results([tmp_path / "r.jsonl"])
    else:
        with pytest.raises(InvalidDocument, match='2: /status is "shipped", not one of passed, failed'):
            read_results([tmp_path / "r.jsonl"])
        (tmp_path / "orders.jsonl").write_text('{"id": "a", "status": "shipped"}\n')
        with pytest.raises(InvalidDocument, match="--columns"):
            read_results([tmp_path / "orders.jsonl"])


NOT_READ = "not read, as plain rows beside results of a tool: name the file, or --columns"


def test_a_case_in_several_files_is_told_to_be_several_runs(tmp_path):
    for name in ("one.csv", "two.csv"):
        (tmp_path / name).write_text("id,score\na,1\n" + ("b,1\n" if name == "one.csv" else ""))
    [notice] = read_results([tmp_path]).notices
    assert notice.startswith("1 case in several files: read as further runs of them; a column `suite`")


def test_plain_rows_beside_results_of_a_tool_are_read_if_their_columns_are_named(tmp_path):
    (tmp_path / "data.csv").write_text("id,score\na,1\n")
    assert [case.key for case in read_results([tmp_path]).cases] == ["a"]  # as `rerun` writes them
    (tmp_path / "junit.xml").write_text('<testsuite><testcase classname="t" name="b"/></testsuite>')
    mixed = read_results([tmp_path])
    assert [case.key for case in mixed.cases] == ["t.b"]
    assert [notice.endswith(NOT_READ) for notice in mixed.notices] == [True]
    both = read_results([tmp_path, tmp_path / "data.csv"])
    assert ([case.key for case in both.cases], both.notices) == (["t.b", "a"], ())
    assert [case.key for case in read_results([tmp_path], Reading(columns=("id=id",))).cases] == ["a", "t.b"]


def test_columns_are_of_plain_rows_only(tmp_path):
    """Another tool's report beside the rows, or among them, is read as what it is."""
    reading = Reading(columns=("id=case", "score=f1"))
    (tmp_path / "junit.xml").write_text('<testsuite><testcase classname="a" name="b"/></testsuite>')
    assert read_results([tmp_path / "junit.xml"], reading).tool == "junit"
    (tmp_path / "rows.jsonl").write_text('{"case": "a", "f1": 1, "test_id": "x", "status": "ok", "score": 0}\n')
    assert [case.key for case in read_results([tmp_path], reading).cases] == ["a.b", "a"]


@pytest.mark.parametrize("choice", ["score=f1", "score=f1 ", "score= f1 >=0.5"], ids=str)
def test_blanks_around_the_name_of_a_column_of_a_table_are_none_of_it(tmp_path, choice):
    run = read(tmp_path, "id ,f1 \na,0.9\n", choice, name="r.csv")
    assert ([case.key for case in run.cases], list(checks(run))) == (["a"], ["f1"])
    with pytest.raises(InvalidDocument, match="two columns differ only by blanks"):
        read(tmp_path, "id,f1,f1 \na,0.9,0.1\n", choice, name="r.csv")


@pytest.mark.parametrize(("cell", "outcome"), [("pass", Outcome.PASSED), ("Failed", Outcome.FAILED)])
def test_a_word_may_say_whether_a_row_passed(tmp_path, cell, outcome):
    run = read(tmp_path, f"id,verdict\na,{cell}\n", "passed=verdict", name="r.csv")
    assert [result.outcome for result in checks(run).values()] == [outcome]


def test_a_table_without_rows_and_a_column_with_a_comma_say_so(tmp_path):
    with pytest.raises(InvalidDocument, match="is a table without a row"):
        read(tmp_path, "id,passed\n", name="r.csv")
    with pytest.raises(InvalidSettings, match=r"comma in its name is named in runevals\.yaml, columns:"):
        Columns.chosen(["score=F1", "macro"])
    assert list(checks(read(tmp_path, 'id,"F1, macro"\na,0.9\n', "score=F1, macro", name="r.csv"))) == [
        "F1, macro"
    ]
