"""Every reason, its sentence, and what settles it."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from runevals.records import Finding, Reason, State
from runevals.records.report import OF_TOOL
from runevals.verdict.headlines import not_known, warning
from runevals.verdict.outcome import decide
from runevals.verdict.reasons import MEANINGS, table
from tests.sample_reports import report

BASE = report({f"k{n}": "ppp" for n in range(10)})


def finding(reason, **more):
    fields = {"family": "case", "suite": "evals/evals.json", "name": "k7", **more}
    return Finding(state=MEANINGS[reason].state, reason=reason, **fields)


def comparison_with(one):
    return replace(decide(BASE, BASE).comparison, findings=(one,), state=one.state)


def of_state(state, *, warns=False):
    return [reason for reason, meaning in MEANINGS.items() if meaning.state is state and meaning.warns is warns]


def test_each_reason_has_one_meaning_and_one_row_of_the_documentation():
    assert [*MEANINGS] == [*Reason]
    assert len(MEANINGS) <= 20
    rows = [*table()][2:]
    assert len(rows) == len({*rows}) == len(MEANINGS)
    for row, meaning in zip(rows, MEANINGS.values(), strict=True):
        assert meaning.sentence in row
        assert meaning.settles in row


def test_sentences_differ_and_what_is_worse_or_not_known_can_be_settled():
    assert len({meaning.sentence for meaning in MEANINGS.values()}) == len(MEANINGS)
    open_ = [meaning for meaning in MEANINGS.values() if meaning.state is not State.NOT_WORSE]
    assert [meaning.sentence for meaning in open_ if not meaning.settles or meaning.warns] == []


@pytest.mark.parametrize("reason", of_state(State.NOT_KNOWN))
def test_what_is_not_known_is_named_with_its_reason_and_the_way_out(reason):
    meaning = MEANINGS[reason]
    line = not_known([finding(reason)], BASE.run)
    assert line == f"Not known – k7 may be lost: {meaning.sentence}; {meaning.settles}"
    assert "; 1 more for other reasons" in not_known([finding(reason)] * 2 + [finding(_another(reason))], BASE.run)


def test_results_of_another_tool_are_not_repeated_by_settings_that_it_does_not_read():
    suites = [replace(suite, dialect=f"{OF_TOOL}junit") for suite in BASE.run.suites]
    of_tool = replace(BASE, run=replace(BASE.run, suites=suites))
    line = not_known([finding(Reason.CHANCE)], of_tool.run)
    assert ("`rerun`" in line, "`repeat`" in line) == (True, False), line
    line = warning(replace(comparison_with(finding(Reason.BY_CHANCE, dead=True)), base=of_tool))
    assert ("`rerun`" in line, "`repeat`" in line) == (True, False), line


def _another(reason):
    return next(other for other in of_state(State.NOT_KNOWN) if other is not reason)


@pytest.mark.parametrize("reason", of_state(State.NOT_WORSE, warns=True))
def test_what_warns_is_in_the_first_line(reason):
    more = {"family": "whole", "name": "", "base_mean": 1.0, "head_mean": 0.99, "p_value": 0.001}
    one = finding(reason, dead=True, **(more if reason is Reason.SMALL else {}))
    line = warning(comparison_with(one))
    assert "1.0 points" in line if reason is Reason.SMALL else "k7" in line
    sentence = MEANINGS[reason].sentence
    assert reason in (Reason.SMALL, Reason.NEW_FORM) or sentence in line


@pytest.mark.parametrize("reason", of_state(State.NOT_WORSE))
def test_what_cleared_a_case_is_no_warning(reason):
    assert warning(comparison_with(finding(reason))) == "" or MEANINGS[reason].warns
