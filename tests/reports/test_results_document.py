"""Results documents: what is written can be read, by us and by the schema, for ever."""

import json
import tempfile
from functools import cache
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest
from msgspec.structs import replace

from runevals.records import ToolCall
from runevals.records.errors import InvalidDocument
from runevals.reports import HTML, REPORTERS
from runevals.reports import results_document as document
from tests.open_files import open_below
from tests.reports.conclusions import all_passed, everything_broken, regressions, renames

OLD = Path(__file__).parent / "documents"


@pytest.mark.parametrize(
    "make", [all_passed, regressions, renames, everything_broken], ids=lambda make: make.__name__
)
def test_a_document_is_valid_by_its_published_schema(make):
    jsonschema.validate(json.loads(document.write(make())), document.schema())


@pytest.mark.parametrize(
    "make", [all_passed, regressions, renames, everything_broken], ids=lambda make: make.__name__
)
# The page of a run shows more of the base than a document keeps: see test_html.
@pytest.mark.parametrize("reporter", [r for r in REPORTERS if r is not HTML], ids=lambda reporter: reporter.NAME)
def test_every_report_can_be_made_from_the_document(make, reporter):
    made = make()
    again = document.parse(document.write(made), "x.json")
    assert reporter.render(again) == reporter.render(made)


def test_the_published_schema_is_that_of_the_types():
    """Renew it by `runevals schema results`."""
    published = files("runevals.reports").joinpath("schemas", "results-1.schema.json")
    assert json.loads(published.read_text(encoding="utf-8")) == json.loads(json.dumps(document.schema()))


@pytest.mark.parametrize("make", [all_passed, regressions, everything_broken], ids=lambda make: make.__name__)
def test_what_the_schema_refuses_is_not_read(make):
    good = json.loads(document.write(make()))
    thorough = jsonschema.Draft202012Validator(document.schema())
    for place in (("verdict", "outcome"), ("cases",), ("totals", "cases"), ("run", "target"), ("gates",)):
        bad = json.loads(json.dumps(good))
        parent = bad
        for step in place[:-1]:
            parent = parent[step]
        parent[place[-1]] = "something else"
        assert not thorough.is_valid(bad)
        with pytest.raises(InvalidDocument, match="/" + "/".join(place)):
            document.parse(json.dumps(bad), "x")


@pytest.mark.parametrize("make", [all_passed, regressions, everything_broken], ids=lambda make: make.__name__)
@pytest.mark.parametrize("cases", [True, False], ids=["cases", "no cases"])
def test_a_document_is_written_in_pieces_with_each_case_in_one_line(make, cases):
    made = make()
    if not cases:
        made = replace(made, report=replace(made.report, cases=()), comparison=None)
    pieces = list(document.written(made))
    assert len(pieces) > len(made.report.cases)
    text = "".join(pieces)
    lines = [line.rstrip(",") for line in text.split("\n")]
    first = lines.index(' "cases": [') + 1 if cases else 0
    assert [json.loads(line) for line in lines[first:][: len(made.report.cases)]] == json.loads(text)["cases"]


def test_a_number_that_json_does_not_have_is_written_as_unknown(tmp_path):
    """A program's tool call may have NaN in its input: the document could not be read."""
    conclusion = all_passed()
    case = conclusion.report.cases[0]
    attempt = case.attempts[0]
    call = ToolCall(name="wait", input={"seconds": float("nan"), "most": float("inf"), "text": "é"})
    turn = replace(attempt.turns[0], tool_calls=(call,), cost_usd=float("nan"))
    case = replace(case, attempts=(replace(attempt, turns=(turn,)), *case.attempts[1:]))
    report = replace(conclusion.report, cases=(case, *conclusion.report.cases[1:]))
    path = tmp_path / "results.json"
    path.write_text(document.write(replace(conclusion, report=report)))
    read = document.read(path).cases[0].attempts[0].turns[0]
    assert (read.tool_calls[0].input, read.cost_usd) == ({"seconds": None, "most": None, "text": "é"}, None)


def test_equal_runs_give_equal_bytes():
    assert document.write(regressions()) == document.write(regressions())


@pytest.mark.parametrize("path", sorted(OLD.glob("*.json")), ids=lambda path: path.name)
def test_every_version_we_ever_wrote_is_read(path):
    found = document.read_conclusion(path)
    assert found.report.cases
    assert found.verdict.headline


@pytest.mark.parametrize("path", sorted(OLD.glob("format-1-*.json")), ids=lambda path: path.stem)
def test_a_document_is_written_again_as_it_was_read(path):
    """What it says of the change is written in the terms of today, and all else as it was."""
    text = path.read_text(encoding="utf-8")
    read = document.parse(text, path.name)
    again = document.write(read)
    old, new = json.loads(text), json.loads(again)
    assert new["verdict"] == {**old["verdict"], "warns": new["verdict"]["warns"]}
    assert old.get("against", {}).items() <= new.get("against", {}).items()
    of_today = ("verdict", "comparison", "against", "causes")
    for case in old.get("blame", {}).get("cases", ()):
        case.setdefault("alike", 0)
    assert {key: new[key] for key in new if key not in of_today} == {
        key: old[key] for key in old if key not in of_today
    }
    assert document.parse(again, path.name) == read


def test_a_document_of_very_many_answers_is_read(tmp_path):
    path = tmp_path / "large.json"
    path.write_text(document.write(all_passed()) + " " * 65 * 1024**2, encoding="utf-8")
    for name in (path, str(path)):
        assert len(document.read(name).cases) == len(all_passed().report.cases)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "not JSON"),
        ('{"a": 1}\n{"a": 2}', "not JSON"),  # the answers of a target, a line each
        ("[]", "it has no 'format_version'; 1 is needed"),
        ('{"format_version": 2}', "'format_version' is 2; 1 is needed"),
        ('{"format_version": 1}', "'tool' is missing"),
    ],
)
def test_what_is_no_document_is_refused(text, told):
    with pytest.raises(InvalidDocument, match=told):
        document.parse(text, "x.json")


def test_a_damaged_document_says_where():
    damaged = json.loads(document.write(all_passed()))
    damaged["cases"][1]["status"] = "great"
    with pytest.raises(InvalidDocument, match="/cases/1/status"):
        document.parse(json.dumps(damaged), "x.json")


LONG = "a “long” answer\n" * 2_500


@cache
def large_document():
    made = all_passed()
    (attempt,) = made.report.cases[0].attempts
    (turn,) = attempt.turns
    cases = tuple(
        replace(
            made.report.cases[0],
            key=f"k{n}",
            attempts=(replace(attempt, turns=(replace(turn, output=f"{n} {LONG}"),)),),
        )
        for n in range(250)
    )
    report = replace(made.report, cases=cases)
    return document.write(replace(made, report=report, comparison=None))


def _a_value_a_line(text):
    """As cases were laid out before."""
    return json.dumps(json.loads(text), ensure_ascii=False, indent=1) + "\n"


@pytest.mark.needs("linux")
@pytest.mark.parametrize("layout", [str, _a_value_a_line], ids=["a case a line", "a value a line"])
def test_a_large_document_reads_as_a_small_one_without_holding_its_answers(tmp_path, monkeypatch, layout):
    spooled = tmp_path / "spooled"
    spooled.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(spooled))
    text = layout(large_document())
    assert len(text.encode()) > document.LARGE
    file = tmp_path / "large.json"
    file.write_text(text, encoding="utf-8")
    found = document.read_conclusion(file)
    assert len(open_below(spooled)) == 1
    assert found == document.parse(text, "x")
    assert document.write(found) == large_document()


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda text: json.dumps(json.loads(text), ensure_ascii=False), id="on one line"),
        pytest.param(lambda text: json.dumps(json.loads(text), indent=2), id="laid out by others"),
        pytest.param(lambda text: text.replace("\n", "\r\n"), id="with other line ends"),
        pytest.param(lambda text: "\ufeff" + text, id="with a byte order mark"),
        pytest.param(
            lambda text: text.replace(' "cases": [\n', ' "cases": [1],\n "cases": [\n'), id="a key twice"
        ),
        pytest.param(
            lambda text: text.replace('"complete"', '"x": {\n "cases": [\n  {\n  }\n ],\n "y": 1},\n"complete"'),
            id="cases elsewhere too",
        ),
        pytest.param(lambda text: text.replace('"k200"', "200"), id="a field that is none"),
        pytest.param(lambda text: text.replace('"k200"', "NaN"), id="no number"),
        pytest.param(lambda text: text.replace("},\n  {", "}\n  {", 1), id="a comma too few"),
        pytest.param(lambda text: text.replace("}\n ],", "},\n ],"), id="a comma too many"),
        pytest.param(lambda text: text[: len(text) * 9 // 10], id="cut short in a case"),
        pytest.param(lambda text: text[:-10], id="cut short at the end"),
        pytest.param(lambda text: text.replace('"verdict"', '"verdicts"'), id="no verdict"),
        pytest.param(
            lambda text: text.replace('"format_version": 1', '"format_version": 2'), id="of another version"
        ),
    ],
)
def test_a_large_document_of_any_other_kind_is_read_or_refused_as_a_small_one(tmp_path, change):
    text = change(large_document())
    file = tmp_path / "large.json"
    file.write_text(text, encoding="utf-8", newline="")
    assert file.stat().st_size > document.LARGE

    def outcome(read):
        try:
            return document.write(read())
        except InvalidDocument as error:
            return str(error)

    assert outcome(lambda: document.read_conclusion(file)) == outcome(
        lambda: document.parse(text.removeprefix("\ufeff"), str(file))
    )
