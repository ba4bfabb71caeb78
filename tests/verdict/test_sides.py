"""Which cases of two reports can be compared, and when too few can."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from runevals.records import ModelIdentity
from runevals.verdict.sides import Sides
from tests.sample_reports import case, report

TEN = [f"k{n}" for n in range(10)]


def sides(head, base=None):
    """Ten cases on the base; on the head each passes unless told otherwise."""
    return Sides.of(report(head), report(base or [case(key, "p") for key in TEN]))


def changed(number, **fields):
    """The ten cases, the first of which have these fields."""
    letters = fields.pop("letters", "p")
    return [
        case(key, letters if n < number else "p", **(fields if n < number else {})) for n, key in enumerate(TEN)
    ]


@pytest.mark.parametrize(
    ("head", "is_enough"),
    [
        pytest.param(changed(0), True, id="all"),
        pytest.param(changed(0)[2:], True, id="two of ten removed"),
        pytest.param(changed(0)[3:], False, id="three of ten removed"),
        pytest.param(changed(2, fingerprint="e"), True, id="two edited"),
        pytest.param(changed(3, fingerprint="e"), False, id="three edited"),
        pytest.param(changed(3, letters="s"), False, id="three skipped"),
        pytest.param(changed(3, letters="e"), True, id="three that erred: another reason"),
        pytest.param([*changed(0), case("new", "p")], True, id="one more"),
        pytest.param(changed(5, quarantined=True), True, id="quarantined ones are excused"),
        pytest.param([case(f"other {n}", "p") for n in range(10)], False, id="none"),
    ],
)
def test_four_of_five_cases_of_the_base_are_enough(head, is_enough):
    assert (sides(head).too_few() == "") is is_enough


def test_an_edited_case_whose_old_form_was_run_counts():
    found = sides(changed(5, fingerprint="e"))
    keys = frozenset((pair.head.suite, pair.head.key) for pair in found.edited)
    assert len(keys) == 5
    assert found.too_few()
    assert found.too_few(keys) == ""


def test_each_suite_counts_for_itself():
    def suites(removed):
        small = [case(key, "p", suite="small.json") for key in TEN[removed:]]
        return report([*small, *(case(f"b{n}", "p", suite="big.json") for n in range(90))])

    assert Sides.of(suites(2), suites(0)).too_few() == ""
    assert "of the base's 10 cases in small.json" in Sides.of(suites(3), suites(0)).too_few()


def test_another_type_of_target_is_not_compared():
    base = report(changed(0))
    other = replace(base, run=replace(base.run, target=ModelIdentity(type="http")))
    assert Sides.of(other, base).too_few() == "the target is of another type, http, than the base's, openai"


@pytest.mark.parametrize(
    ("base", "head", "is_edited"),
    [
        pytest.param({}, {"fingerprint": "e"}, True, id="another content"),
        pytest.param({}, {}, False, id="the same"),
        pytest.param({}, {"fingerprint": "e", "quarantined": True}, False, id="quarantined"),
        pytest.param({"letters": "f"}, {"fingerprint": "e"}, True, id="never passed on the base"),
        pytest.param(
            {"normalised_fingerprint": "n"}, {"fingerprint": "e", "normalised_fingerprint": "n"}, False,
            id="only white space",
        ),
        pytest.param(
            {"normalised_fingerprint": "n", "critical": True}, {"fingerprint": "e", "normalised_fingerprint": "n"},
            True, id="of a critical one, white space too",
        ),
    ],
)  # fmt: skip
def test_what_is_run_in_both_forms(base, head, is_edited):
    assert bool(sides(changed(1, **head), changed(1, **base)).edited) is is_edited


def test_quarantined_cases_are_matched_and_not_counted():
    found = sides(changed(3, quarantined=True, letters="f"))
    assert (len(found.same), len(found.pairs), len(found.due), len(found.measured)) == (10, 7, 7, 7)


def test_what_could_not_be_measured_was_due_and_what_was_skipped_was_not():
    assert (len(sides(changed(3, letters="e")).due), len(sides(changed(3, letters="e")).measured)) == (10, 7)
    assert (len(sides(changed(3, letters="s")).due), len(sides(changed(3, letters="s")).measured)) == (7, 7)
