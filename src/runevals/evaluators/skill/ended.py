"""What the skill evaluators share: a skill that raised, and JSON equality."""

from __future__ import annotations

from runevals.evaluators.kinds import Subject
from runevals.records import Response, Verdict


def raised(subject: Subject) -> Verdict | None:
    """The failed verdict of a call that raised or timed out; None if it returned."""
    error = subject.response.raised
    return None if error is None else Verdict(0.0, f"the skill ended with an error: {error}")


def no_json(response: Response) -> Verdict:
    """The failed verdict of a result that is not JSON, and so none of the values that a suite can name."""
    return Verdict(0.0, "" if response.problem is None else response.problem.message)


def result_of(subject: Subject) -> object:
    """The JSON value that the skill returned; of another target, its text, of which `null` is the JSON value."""
    response = subject.response
    return response.text if response.value is None and response.text not in ("", "null") else response.value


def json_equal(left: object, right: object) -> bool:
    """Equality of JSON values: true is not 1, 1 is 1.0, and the order of keys does not count."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(json_equal(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(json_equal, left, right))
    return left == right
