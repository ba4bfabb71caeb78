"""What the skill evaluators share: a skill that raised, and JSON equality."""

from __future__ import annotations

from abc import abstractmethod

from runevals.evaluators.kinds import Check, Evaluator, Subject
from runevals.records import Response, Verdict


def raised(subject: Subject) -> Verdict | None:
    """The failed verdict for a call that raised or timed out; None if it returned."""
    error = subject.response.raised
    return None if error is None else Verdict(0.0, f"the skill ended with an error: {error}")


class OfJson(Evaluator):
    """Fails a result that is not JSON: it equals no value of a suite."""

    def of_no_json(self, response: Response) -> Verdict | None:
        return Verdict(0.0, "" if response.problem is None else response.problem.message)


class OfResult(OfJson, Check):
    """Looks at what the skill returned; one that raised or timed out fails."""

    def check(self, subject: Subject) -> Verdict:
        return raised(subject) or self.of_result(result_of(subject))

    @abstractmethod
    def of_result(self, result: object) -> Verdict:
        """The verdict on the JSON value that the skill returned."""


def result_of(subject: Subject) -> object:
    """The JSON value that the skill returned; of another target, its text, of which `null` is the JSON value."""
    response = subject.response
    return response.text if response.value is None and response.text not in ("", "null") else response.value


def json_equal(a: object, b: object) -> bool:
    """Equality of JSON values: true is not 1, 1 is 1.0, and the order of keys does not count."""
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(json_equal(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(json_equal, a, b))
    return a == b
