"""Skills among skills: six skills with trigger queries, recorded traces of a base and of a change."""

from __future__ import annotations

import json
import re
from html import unescape

import pytest

from runevals.records.conclusion import SkillMatrix, SkillUse
from runevals.verdict.skill_matrix import confusions

SKILLS = ("docx", "notes", "pdf", "pptx", "review", "xlsx")
RUN = ("run", "-q", "-o", "out.json", "-o", "out.md", "-o", "out.html")


def answer(case: str, *loads: str) -> str:
    calls = [{"name": "Skill", "input": {"skill": name}} for name in loads]
    return json.dumps({"case": case, "output": "OK", "tool_calls": calls, "skills": SKILLS}) + "\n"


@pytest.fixture
def six(project):
    """Each skill has two queries and a near miss; `for-pdf` of docx is a query of pdf, word by word."""
    for name in SKILLS:
        project.write(f"skills/{name}/SKILL.md", f"---\nname: {name}\ndescription: Makes {name}.\n---\nDo it.\n")
        queries = [
            {"id": f"{name}-1", "query": f"Make a {name}", "should_trigger": True},
            {"id": f"{name}-2", "query": f"Now another {name}", "should_trigger": True},
            {"id": f"{name}-no", "query": f"What is {name}?", "should_trigger": False},
        ]
        if name == "docx":
            queries.append({"id": "for-pdf", "query": "Make a pdf", "should_trigger": False})
        project.write(f"skills/{name}/evals/trigger-evals.json", queries)
    project.write("runevals.yaml", {"target": {"type": "recorded", "path": "head.jsonl"}})

    def answers(file: str, **others: list[str]) -> None:
        right = {
            **{f"{name}-{number}": [name] for name in SKILLS for number in (1, 2)},
            **{f"{name}-no": [] for name in SKILLS},
            "for-pdf": ["pdf"],
        }
        right.update({case.replace("_", "-"): loads for case, loads in others.items()})
        project.write(file, "".join(answer(case, *loads) for case, loads in right.items()))

    answers("base.jsonl", xlsx_no=["xlsx"])
    answers("head.jsonl", docx_1=["pdf"], docx_2=["docx", "pdf"], pptx_1=[], notes_no=["notes"])
    return project


def uses(document) -> dict[tuple[str, str], tuple[int | None, int]]:
    return {
        ("+".join(use["asks_for"]), "+".join(use["loads"])): (use.get("base_runs"), use["head_runs"])
        for use in document["skill_matrix"]["uses"]
    }


def test_the_matrix_counts_the_runs_of_both_sides(six, runevals):
    """None and several included; a near miss that is a query of another skill counts for that one."""
    assert runevals(*RUN, "--target", "recorded:base.jsonl")[0] == 0
    (six.path / "out.json").rename(six.path / "base.json")
    code, out, err = runevals(*RUN, "--baseline", "base.json")
    assert code in (0, 1), err
    document = six.document()
    assert uses(document) == {
        ("docx", "docx"): (2, 0),
        ("docx", "pdf"): (0, 1),
        ("docx", "docx+pdf"): (0, 1),
        ("notes", "notes"): (2, 2),
        ("pdf", "pdf"): (3, 3),
        ("pptx", "pptx"): (2, 1),
        ("pptx", ""): (0, 1),
        ("review", "review"): (2, 2),
        ("xlsx", "xlsx"): (2, 2),
        ("", ""): (5, 5),
        ("", "notes"): (0, 1),
        ("", "xlsx"): (1, 0),
    }
    assert document["skill_matrix"]["cases"] == 19
    for text in (out, unescape((six.path / "out.md").read_text(encoding="utf-8"))):
        assert "asked for docx, loaded pdf: 0.0 % → 50.0 % of the runs" in text
        assert "asked for docx, loaded docx + pdf: 0.0 % → 50.0 % of the runs" in text
        assert "asked for pptx, loaded none: 0.0 % → 50.0 % of the runs" in text
        assert "loaded xlsx:" not in text  # it was confused before
        assert re.search(r"pptx[ |]+.*2/2 → 1/2", text)
    assert "Skills: asked for (rows), loaded (columns)" in (six.path / "out.html").read_text(encoding="utf-8")
    again = runevals("report", "out.json")[1]
    assert "asked for docx, loaded pdf: 0.0 % → 50.0 % of the runs" in again


def test_without_a_base_it_has_the_runs_of_this_one(six, runevals):
    code, out, err = runevals(*RUN)
    assert code == 0, err
    assert uses(six.document())["docx", "pdf"] == (None, 1)
    assert "asked for pptx, loaded none: 50.0 % of the runs" in out


def test_a_base_without_evidence_is_no_base_of_the_matrix(six, runevals):
    """As one that was stored with its details left out: nothing is then said to be confused more."""
    runevals(*RUN, "--target", "recorded:base.jsonl")
    document = six.document()
    for case in document["cases"]:
        for attempt in case["attempts"]:
            for turn in attempt["turns"]:
                for result in turn["results"]:
                    result.pop("details", None)
    six.write("base.json", document)
    runevals(*RUN, "--baseline", "base.json")
    assert uses(six.document())["docx", "pdf"] == (None, 1)


def test_a_repository_of_one_skill_has_no_matrix(six, runevals):
    code, out, err = runevals(*RUN, "skills/pdf")
    assert code == 0, err
    assert "skill_matrix" not in six.document() or six.document()["skill_matrix"] is None
    assert "asked for" not in out


def test_only_what_is_confused_more_is_named_the_most_first():
    counts = [("a", "a", 6, 4), ("a", "b", 2, 4), ("b", "a", 0, 1), ("b", "b", 8, 7), ("b", "", 2, 0)]
    matrix = SkillMatrix(
        cases=4,
        uses=tuple(
            SkillUse(asks_for=(query,), loads=(name,) if name else (), base_runs=base, head_runs=head)
            for query, name, base, head in counts
        ),
    )
    assert [(one.asks_for, one.loads, one.base_share, one.head_share) for one in confusions(matrix)] == [
        (("a",), ("b",), 0.25, 0.5),
        (("b",), ("a",), 0.0, 0.125),
    ]


def test_a_near_miss_that_another_skill_answers_confuses_none(six, runevals):
    """Who wrote it says which skill it is not for, and nothing of the others."""
    lines = [json.loads(line) for line in (six.path / "head.jsonl").read_text().splitlines()]
    for line in lines:
        if line["case"] == "review-no":
            line["tool_calls"] = [{"name": "Skill", "input": {"skill": "notes"}}]
    six.write("head.jsonl", "".join(f"{json.dumps(line)}\n" for line in lines))
    runevals(*RUN)
    assert uses(six.document())["", ""] == (None, 5)
    assert ("", "notes") in uses(six.document())  # its own near miss, which loads it
