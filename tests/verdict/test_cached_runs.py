"""Which repeats are one answer given again, and what follows."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from runevals.records import Delivery, Reason, RegressionRule
from runevals.verdict.cached_runs import copies, from_cache
from runevals.verdict.case_runs import CaseRuns
from runevals.verdict.compare import compare
from runevals.verdict.matching import Side
from runevals.verdict.score import over_attempts
from runevals.verdict.sides import Sides
from tests.sample_reports import LETTERS, attempt, case, report
from tests.scripted_runner import ScriptedRunner, always

ID, OTHER = "chatcmpl-0123456789", "chatcmpl-9876543210"
WHOLE = Delivery(made_at=1.7e9, cached_tokens=10)  # the prompt of a sample's turn has ten


def delivered(number, letter, delivery, output="Within 30 days."):
    made = attempt(number, LETTERS[letter], output=output)
    return replace(made, turns=tuple(replace(turn, delivery=delivery) for turn in made.turns))


@pytest.mark.parametrize(
    ("first", "second", "is_copy"),
    [
        pytest.param(Delivery(response_id=ID), Delivery(response_id=ID), True, id="the same response id"),
        pytest.param(Delivery(response_id=ID), Delivery(response_id=OTHER), False, id="another"),
        pytest.param(Delivery(response_id="chat-12"), Delivery(response_id="chat-12"), False, id="a number"),
        pytest.param(None, Delivery(from_cache=True), True, id="a cache says so"),
        pytest.param(None, Delivery(), False, id="the same words alone"),
        pytest.param(WHOLE, WHOLE, True, id="the whole prompt cached, at the same moment"),
        pytest.param(replace(WHOLE, cached_tokens=0), WHOLE, True, id="and the first of them not"),
        pytest.param(replace(WHOLE, made_at=1.7e9 - 1), WHOLE, False, id="at another moment"),
        pytest.param(WHOLE, replace(WHOLE, cached_tokens=9), False, id="not the whole prompt"),
    ],
)
def test_what_shows_that_two_answers_are_one(first, second, is_copy):
    attempts = [delivered(1, "p", first), delivered(2, "p", second)]
    assert copies(attempts) == ((2,) if is_copy else ())
    assert bool(from_cache(attempts[1], attempts[:1])) is is_copy


@pytest.mark.parametrize("delivery", [Delivery(response_id=ID), Delivery(from_cache=True), WHOLE])
def test_other_words_are_another_answer(delivery):
    assert copies([delivered(1, "p", delivery), delivered(2, "p", delivery, "Never.")]) == ()


def test_a_conversation_is_a_copy_only_in_all_of_its_turns():
    one, other = (delivered(n, "p", Delivery(response_id=ID)) for n in (1, 2))
    fresh = delivered(2, "p", Delivery(response_id=OTHER)).turns
    assert copies([replace(one, turns=one.turns * 2), replace(other, turns=other.turns + fresh)]) == ()
    assert from_cache(replace(other, turns=other.turns + fresh), [replace(one, turns=one.turns * 2)])


def cached_report(letters, *, cached):
    """Thirty cases with three runs each, which a cache answered after the first, or not."""
    cases = []
    for number in range(30):
        ids = [f"{ID}-{number}-{0 if cached else run}" for run in range(3)]
        attempts = [delivered(run + 1, letters[number], Delivery(response_id=ids[run])) for run in range(3)]
        cases.append(over_attempts(case(f"k{number}", "ppp"), attempts))
    return report(cases)


def test_repeats_that_a_cache_gave_count_as_one_run():
    base, lost = cached_report("p" * 30, cached=True), "ff" + "p" * 28
    found = compare(cached_report(lost, cached=True), base, "b")
    true = compare(cached_report(lost, cached=False), cached_report("p" * 30, cached=False), "b")
    assert (found.p_value, true.p_value < found.p_value) == (0.25, True)
    told = "a cache on the way gave 60 answers of the base and 60 answers of this run again"
    assert found.caveats == (f"{told}: repeats of one answer count as one run",)
    assert (Side.of(base.cases[0]).runs, len(base.cases[0].attempts)) == (1, 3)
    assert true.caveats == ()


@pytest.mark.parametrize("side", ["base", "head"])
def test_a_cache_seen_in_fresh_runs_leaves_the_case_open(side):
    def again(of_side, pairs):
        made = ScriptedRunner.again(runner, of_side, pairs)
        shared = Delivery(response_id=ID if of_side == side else f"{OTHER}-{len(runner.asked)}")
        return {key: delivered(1, "p" if of_side == "base" else "f", shared) for key in made}

    runner = ScriptedRunner({f"k{n}": "fff" if n == 0 else "ppp" for n in range(10)}, always("p"), always("f"))
    runner.again = again
    base, head = report({f"k{n}": "ppp" for n in range(10)}), runner.report_of(runner.rounds)
    [found] = CaseRuns(runner, RegressionRule()).findings(Sides.of(head, base).pairs, (), deterministic=False)
    told = "a cache on the way answers its fresh runs (the same response id)"
    assert (found.reason, found.detail) == (Reason.CACHE, told)
