"""The matrix as a table, and the pairs that are confused more."""

from __future__ import annotations

from runevals.records.conclusion import SkillMatrix, SkillUse
from runevals.reports.skill_matrix import MOST_COLUMNS, lines, table


def matrix(*uses: tuple[str, str, int | None, int]) -> SkillMatrix:
    """Of uses `("pdf", "docx+pdf", runs of the base, runs now)`; an empty text is none."""
    return SkillMatrix(
        cases=len(uses),
        uses=tuple(
            SkillUse(
                asks_for=tuple(filter(None, query.split("+"))),
                loads=tuple(filter(None, loads.split("+"))),
                base_runs=base,
                head_runs=head,
            )
            for query, loads, base, head in uses
        ),
    )


def test_none_and_several_have_a_row_and_a_column_and_what_is_confused_more_a_mark():
    made = matrix(("a", "a", 2, 1), ("a", "a+b", 0, 1), ("b", "b", 2, 2), ("", "", 3, 2), ("", "b", 0, 1))
    assert table(made) == (
        ("", "a", "a + b", "b", "none"),
        ("a", "2/2 → 1/2", "⚠ 0/2 → 1/2", "", ""),
        ("b", "", "", "2/2 → 2/2", ""),
        ("none", "", "", "⚠ 0/3 → 1/3", "3/3 → 2/3"),
    )
    assert list(lines(made)) == [
        "asked for a, loaded a + b: 0.0 % → 50.0 % of the runs",
        "asked for none, loaded b: 0.0 % → 33.3 % of the runs",
    ]


def test_if_nothing_is_confused_more_it_says_so():
    assert list(lines(matrix(("a", "a", 1, 2), ("a", "b", 1, 0)))) == [
        "No skills are confused more than on the base in 2 trigger cases"
    ]
    assert list(lines(matrix(("a", "a", None, 2)))) == ["No skills are confused in 1 trigger case"]


def test_of_very_many_skills_only_the_pairs_are_shown():
    names = [f"s{number:02}" for number in range(MOST_COLUMNS + 1)]
    made = matrix(*((name, name, 1, 1) for name in names), ("s00", "s01", 0, 1))
    assert table(made) == ()
    assert list(lines(made)) == ["asked for s00, loaded s01: 0.0 % → 50.0 % of the runs"]
