"""The list of flaky cases: what of it holds, and what a change may not do with it."""

from __future__ import annotations

from datetime import date

import pytest
from msgspec.structs import replace

from runevals.records import Case, Location
from runevals.records.errors import InvalidSuite
from runevals.suites.quarantine import active_entries, read_entries, weakened_entries

TODAY = date(2026, 11, 21)
LIST = """
- {key: k1, owner: ana, reason: model flips a coin, expires: 2026-12-01}
- {key: k2, owner: ben, reason: old, expires: 2026-11-20}
- {key: gone, owner: ben, reason: old, expires: 2026-12-01}
"""


def entries(text):
    return read_entries(text.encode(), ".yaml", "runevals.quarantine.yaml")


def cases(number, suite="s"):
    return [
        Case(suite=suite, key=f"k{n}", name=f"k{n}", location=Location(file=suite), fingerprint="f", turns=())
        for n in range(number)
    ]


def test_expired_entries_and_unknown_cases_are_ignored_with_a_notice():
    found = active_entries(entries(LIST), cases(20), TODAY)
    assert found.cases == {("s", "k1")}
    assert found.notices == (
        "quarantine: k2 expired on 2026-11-20 and counts again (ben)",
        "quarantine: no case gone is in the suites of this run",
        "quarantined: k1 (ana: model flips a coin)",
    )


def test_an_entry_of_an_unknown_case_names_the_case_that_is_like_it():
    found = active_entries(entries(LIST.replace("gone", "k-17")), cases(20), TODAY)
    assert "quarantine: no case k-17 is in the suites of this run; did you mean 'k17'?" in found.notices


def test_expired_entries_and_unknown_cases_are_warnings_at_their_lines():
    problems = active_entries(entries(LIST), cases(20), TODAY).problems
    assert [(one.location.line, one.level) for one in problems] == [(3, "warning"), (4, "warning")]


@pytest.mark.parametrize("text", ["", "\n", "# the last entry was removed\n", "[]", "# none\n[]\n"])
def test_a_list_without_entries_is_a_list(text):
    assert entries(text) == ()


def test_a_quarantine_of_more_than_a_tenth_of_the_cases_is_ignored():
    assert active_entries(entries(LIST), cases(10), TODAY).cases == {("s", "k1")}
    found = active_entries(entries(LIST), cases(9), TODAY)
    assert found.cases == frozenset()
    assert "1 of 9 cases of s are listed, more than a tenth" in found.notices[-1]
    assert "more than a tenth" in found.problems[-1].message, "`validate` shows it"


@pytest.mark.parametrize("fields", [{"critical": True}, {"category": "redteam"}, {"category": "replay"}])
def test_a_critical_case_is_never_quarantined(fields):
    some = cases(20)
    found = active_entries(entries(LIST), [some[0], replace(some[1], **fields), *some[2:]], TODAY)
    assert found.cases == frozenset()
    assert found.notices[0] == "quarantine: k1 is critical, so it counts; remove it from the list"
    assert str(found.problems[0]).startswith("runevals.quarantine.yaml:2:9: /0/key k1 is critical")


def test_added_and_prolonged_quarantine_entries_are_weakenings():
    before = entries(LIST)
    longer = entries(LIST.replace("2026-12-01}\n- {key: k2", "2027-12-01}\n- {key: k2"))
    added = entries(LIST + "- {key: k9, owner: me, reason: it fails, expires: 2027-01-01}\n")
    assert [w.key for w in weakened_entries(before, before, "q")] == []
    assert [w.key for w in weakened_entries(before, longer, "q")] == ["k1"]
    assert [w.key for w in weakened_entries(before, added, "q")] == ["k9"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("- {key: a, owner: x, reason: y}", "'expires' is missing"),
        ("- {key: a, owner: x, reason: y, expires: 2026-02-30}", "2026-02-30 is not a calendar date"),
        ("cases: []", "must be"),
    ],
)
def test_an_invalid_quarantine_file_is_reported_with_its_location(text, told):
    with pytest.raises(InvalidSuite, match=r"runevals\.quarantine\.yaml:1") as error:
        entries(text)
    assert told in str(error.value)
