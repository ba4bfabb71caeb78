"""Each statement of the original documents holds, or differs as its row says."""

from __future__ import annotations

import json
import os
import re
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

from runevals.cli import call
from tests.seeds import table

DOCS = Path(__file__).parents[2] / "docs"
SKILLS = Path(__file__).parent / "skills"
FORMS = ("samples", "items", "rows")


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """The cases of all rows that are run with recorded answers, by key."""
    folder = tmp_path_factory.mktemp("seeds")
    rows = [row for row in table.of_kind("run") if row["form"] in FORMS]
    definitions = [one for row in rows for one in row.get("evaluators", ())]
    _write(folder, "runevals.yaml", {"evaluators": definitions} if definitions else {"version": 1})
    _write_lines(folder / "answers.jsonl", [one for row in rows for one in table.answers_of(row)])
    _write_lines(folder / "judge.jsonl", [one for row in rows for one in table.judgements_of(row)])
    _write(folder, "samples/check.js", "module.exports = (output) => output.includes('yes')")
    return _cases(folder, rows, "--target", "recorded:answers.jsonl", "--judge", "recorded:judge.jsonl")


@pytest.fixture(scope="module")
def skills(tmp_path_factory):
    """The cases of all rows about skills, which run in the sandbox."""
    folder = tmp_path_factory.mktemp("skills")
    for file in SKILLS.rglob("*.py"):
        _write(folder, f"skills/{file.relative_to(SKILLS)}", file.read_text("utf-8"))
    rows = [row for row in table.of_kind("run") if row["form"] == "skill"]
    return _cases(folder, rows, "--target", "skill", "--no-judge")


@pytest.fixture(scope="module")
def complaints(tmp_path_factory):
    """What `validate` says of the files of all rows that are only read, by file."""
    folder = tmp_path_factory.mktemp("read")
    rows = table.of_kind("read")
    for row in rows:
        _write(folder, table.path_of(row), table.document_of(row))
    groups = [[row for row in rows if row["outcome"] == outcome] for outcome in ("read", "refused")]
    told = "".join(_printed(folder, "validate", *map(table.path_of, group)) for group in groups).splitlines()
    return {row["id"]: "\n".join(line for line in told if table.path_of(row) in line) for row in rows}


@pytest.mark.parametrize(
    "row", [row for row in table.of_kind("run") if row["form"] in FORMS], ids=lambda r: r["id"]
)
def test_a_case_has_the_outcome_that_the_document_says(measured, row):
    _check(measured[row["id"]], row)


@pytest.mark.parametrize(
    "row", [row for row in table.of_kind("run") if row["form"] == "skill"], ids=lambda r: r["id"]
)
def test_a_case_of_a_skill_has_the_outcome_that_the_document_says(skills, row):
    _check(skills[row["id"]], row)


@pytest.mark.parametrize("row", table.of_kind("read"), ids=lambda r: r["id"])
def test_a_file_is_read_or_refused_as_the_document_says(complaints, row):
    told = complaints[row["id"]]
    errors = [line for line in told.splitlines() if not re.search(r"^✓|: (warning|notice):", line)]
    assert ("refused" if errors else "read") == row["outcome"], told
    assert [words for words in row.get("says", ()) if words not in told] == [], told


@pytest.mark.parametrize("row", table.of_kind("command"), ids=lambda r: r["id"])
def test_a_command_does_what_the_document_says(project, runevals, row):
    for path, content in row.get("files", {}).items():
        project.write(path, content)
    code, out, err = runevals(*row["arguments"])
    assert code == row["exit"], out + err
    assert [words for words in row.get("says", ()) if words not in out + err] == [], out + err
    assert [path for path in row.get("writes", ()) if not list(project.path.glob(path))] == []


def test_the_page_is_in_step(golden):
    golden(DOCS / "seeds.md", table.page())


def _check(case, row):
    reasons = [
        check["reason"] for attempt in case["attempts"] for turn in attempt["turns"] for check in turn["results"]
    ]
    assert case["status"] == row["outcome"], reasons
    if "composite" in row:
        assert case["composite"] == pytest.approx(row["composite"], abs=0.005)
    assert [words for words in row.get("says", ()) if words not in " ".join(map(str, reasons))] == [], reasons


def _cases(folder, rows, *options):
    for row in rows:
        _write(folder, table.path_of(row), table.document_of(row))
    told = _printed(folder, *sorted({table.path_of(row) for row in rows}), *options, "-o", "out.json", "-q")
    assert (folder / "out.json").exists(), told
    return {case["key"]: case for case in json.loads((folder / "out.json").read_text("utf-8"))["cases"]}


def _printed(folder, *arguments):
    (folder / ".git").mkdir(exist_ok=True)
    before, printed = Path.cwd(), StringIO()
    os.chdir(folder)
    try:
        with redirect_stdout(printed), redirect_stderr(printed):
            call(list(arguments))
    finally:
        os.chdir(before)
    return printed.getvalue()


def _write(folder, name, content):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content, ensure_ascii=False), "utf-8")


def _write_lines(path, lines):
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), "utf-8")
