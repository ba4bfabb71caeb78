"""Parquet, as data sets are published: a row is a case, and nothing of it is lost."""

from __future__ import annotations

import sys
from datetime import date

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from runevals.lib.parsing import source
from tests.ending import ended

ROWS = [
    {"id": 1, "question": "Capital of France?", "answer": "Paris", "asked": date(2026, 1, 2), "map": b"\0\1"},
    {"id": 2, "question": "Capital of Peru?", "answer": "Lima", "asked": None, "map": None},
]
PROGRAM = "def answer(prompt, messages, case):\n    print(case['metadata'])\n    return str(case['metadata'])\n"


@pytest.fixture
def table(project):
    pq.write_table(pa.Table.from_pylist(ROWS), project.path / "data.parquet", compression="zstd")
    project.write("agent.py", PROGRAM)
    return project


def test_rows_are_cases_and_their_columns_reach_the_target(table, runevals):
    words = ("--evaluators", "contains", "--target", "python:agent.py:answer", "-o", "out.json", "data.parquet")
    code, out, err = runevals("run", *words)
    ended(code, 0, out + err, "2 of 2 cases pass")  # each row's answer is in its metadata
    answers = {case["key"]: case["attempts"][0]["turns"][0]["output"] for case in table.document()["cases"]}
    assert "'asked': '2026-01-02', 'map': '2 bytes'" in answers["1"]
    assert "'asked': None, 'map': None" in answers["2"]


def test_columns_may_be_named(table, runevals):
    table.write(
        "runevals.yaml",
        "suites: [{path: data.parquet, columns: {prompt: answer, expected: question}, evaluators: [contains]}]\n",
    )
    code, out, err = runevals("validate")
    ended(code, 0, out + err, "2 cases")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"PAR1" + bytes(20) + b"PAR1", "cannot be read as Parquet"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 5\n", "is a pointer of Git LFS"),
    ],
)
def test_what_is_no_parquet_says_so(project, runevals, content, told):
    (project.path / "data.parquet").write_bytes(content)
    code, out, err = runevals("validate", "data.parquet", "--evaluators", "contains")
    ended(code, 2, out + err, f"data.parquet: {told}")


def test_a_small_file_of_large_texts_is_refused_before_it_fills_the_memory(table, runevals):
    """A dictionary has a text once in the file, and each row would have its own."""
    text = "x" * 1024**2
    rows = pa.table({"input": pa.DictionaryArray.from_arrays(pa.array([0] * 5000, pa.int32()), [text])})
    pq.write_table(rows, table.path / "data.parquet", compression="zstd")
    assert (table.path / "data.parquet").stat().st_size < source.MAX_BYTES / 1000
    code, out, err = runevals("validate", "data.parquet", "--evaluators", "contains")
    ended(code, 2, out + err, "data.parquet: has more than 64 MiB of text")


def test_a_missing_package_is_named(table, runevals, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    code, out, err = runevals("validate", "data.parquet", "--evaluators", "contains")
    ended(code, 2, out + err, "data.parquet: is Parquet, which needs: pip install 'runevals[parquet]'")
