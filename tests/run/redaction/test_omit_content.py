"""`redact: {content}`: results that can be compared, shown and kept, and hold nothing of what was said."""

from __future__ import annotations

import json

import pytest

ITEMS = [
    {
        "testId": f"k{n}",
        "prompt": f"Secret prompt {n}?",
        "expected_response": "private wording",
        "context": "inner",
    }
    for n in range(3)
]
SUITE = {"schemaVersion": "1.2.0", "default_evaluators": {"ExactMatch": {}}, "items": ITEMS}
WORDS = ("Secret prompt", "private wording", "known to few", "confidential answer")
REPORTS = ("out.json", "out.html", "out.xml", "out.csv", "out.md")


@pytest.fixture
def measured(project, runevals):
    project.write("evals.json", SUITE)

    def run(answer, content, *more):
        lines = [json.dumps({"case": f"k{n}", "output": answer}) for n in range(3)]
        project.write("answers.jsonl", "\n".join(lines))
        project.write("runevals.yaml", f"suites: [evals.json]\nredact: {{content: {content}}}\n")
        return runevals("--target", "recorded:answers.jsonl", *more)

    return run


@pytest.mark.parametrize("content", ["hashes", "none"])
def test_no_file_and_no_screen_holds_what_was_said(measured, project, content):
    outputs = [word for name in REPORTS for word in ("-o", name)]
    assert measured("private wording", content, "-o", "base.json")[0] == 0
    code, out, err = measured("confidential answer", content, *outputs, "--baseline", "base.json")
    assert code == 1, err
    assert "3 of 3 cases regressed" in out
    told = [out, *((project.path / name).read_text() for name in (*REPORTS, "base.json"))]
    assert [word for word in WORDS for text in told if word in text] == []


def test_hashes_tell_equal_answers_from_others(measured, project):
    measured("one", "hashes", "-o", "a.json")
    measured("one", "hashes", "-o", "b.json")
    measured("two", "hashes", "-o", "c.json")
    documents = (project.document(f"{name}.json") for name in "abc")
    a, b, c = (document["cases"][0]["attempts"][0]["turns"][0]["output"] for document in documents)
    assert a == b != c
    assert a.startswith("sha256:")


def test_nothing_is_left_out_unless_asked(measured, project):
    measured("confidential answer", "full", "-o", "out.json")
    assert "confidential answer" in (project.path / "out.json").read_text()
