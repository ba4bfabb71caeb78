"""Problems of suites as lines of text."""

from __future__ import annotations

from msgspec.structs import replace

from runevals.records import FileProblem, Location
from runevals.records.errors import InvalidSuite
from runevals.records.problem import problem_lines


def problems(number: int, file: str = "a.json", line: int | None = 1) -> list[FileProblem]:
    return [
        FileProblem(
            location=Location(file=file, line=None if line is None else line + index),
            pointer=f"/items/{index}",
            message=f"'key{index}' is missing",
        )
        for index in range(number)
    ]


def test_more_than_ten_problems_of_one_kind_in_a_file_are_one_line_with_number_and_first_three_places():
    many = "10,000 problems of this kind in this file"
    error = InvalidSuite([*problems(10_000), *problems(1, file="b.json")])
    assert str(error).splitlines() == [
        f"a.json:1: /items/0 'key0' is missing ({many}; the first are at lines 1, 2, 3)",
        "b.json:1: /items/0 'key0' is missing",
    ]
    assert len(error.problems) == 10_001


def test_ten_problems_of_one_kind_in_a_file_are_listed_one_by_one_in_order():
    other = FileProblem(location=Location(file="a.json", line=3), pointer="", message="is empty")
    listed = [*problems(5), other, *problems(5)]
    assert str(InvalidSuite(listed)).splitlines() == list(map(str, listed))


def test_problems_without_lines_are_located_by_their_pointers():
    assert str(InvalidSuite(problems(11, line=None))).endswith("the first are at /items/0, /items/1, /items/2)")


def test_errors_are_listed_before_warnings():
    first, second = problems(2)
    warning = replace(first, level="warning")
    assert problem_lines([warning, second]) == [str(second), str(warning)]
