"""Which cases are named, and as what."""

from __future__ import annotations

from random import Random

import pytest

from runevals.records import State
from runevals.verdict.compare import compare
from tests.sample_reports import case, report


def compared(head, base):
    return compare(report(head), report(base), "base.json")


def labels(found):
    return {change.key: change.label for change in found.of_kind("regressed")}


def test_three_runs_of_the_base_can_confirm_no_case_by_itself():
    base = {f"k{n}": "ppp" for n in range(40)}
    assert labels(compared({**base, "k0": "fff"}, base)) == {"k0": "suspect"}


def test_nine_runs_of_the_base_confirm_a_case_that_always_fails_now():
    base = {f"k{n}": "ppppppppp" for n in range(20)}
    head = {**dict.fromkeys(base, "ppp"), "k0": "fff", "k1": "pff"}
    # k0: 1 of C(12, 3) = 220 deals is as bad, 0.0045 ≤ 0.10 × 1/20; k1: 10 of C(12, 2)… is not.
    assert labels(compared(head, base)) == {"k0": "confirmed", "k1": "suspect"}


def test_expected_flips_are_those_of_an_unchanged_suite():
    """Drawn again from the same truth, the suite flips as often as was told; whatever the change broke."""
    rng = Random(7)
    told, seen = [], []
    for _ in range(60):
        truth = [rng.betavariate(0.6, 0.2) for _ in range(100)]
        base, again = ([["fp"[rng.random() < p] for _ in range(3)] for p in truth] for _ in range(2))
        broken = [["f"] * 3 if n < 10 else letters for n, letters in enumerate(again)]
        named = [{f"k{n}": "".join(letters) for n, letters in enumerate(run)} for run in (base, again, broken)]
        seen.append(compared(named[1], named[0]).flips.down)
        told.append(compared(named[2], named[0]).flips.expected_down)
    assert sum(told) == pytest.approx(sum(seen), rel=0.25)


def test_one_run_of_the_base_does_not_tell_how_many_flip():
    found = compared({"a": "f", "b": "p"}, {"a": "p", "b": "p"}).flips
    assert (found.down, found.expected_down) == (1, None)


def test_flips_are_counted_each_way():
    found = compared({"a": "f", "b": "f", "c": "p", "d": "p"}, {"a": "p", "b": "p", "c": "f", "d": "p"})
    assert (found.flips.down, found.flips.up) == (2, 1)


def test_a_case_that_disagrees_with_itself_is_named_with_how_often():
    base = {"coin": "ppffpf", **{f"k{n}": "pppppp" for n in range(20)}}
    found = compared({**dict.fromkeys(base, "ppp"), "coin": "fpp"}, base)
    assert [case.key for case in found.flaky] == ["coin"]
    assert found.flaky[0].runs == 9
    assert 0.4 < found.flaky[0].rate <= 0.5


def test_cases_that_are_all_alike_are_not_called_flaky_for_their_luck():
    """Twenty cases of 10 % failures: what differs between them in nine runs is sampling."""
    letters = ["pppppp", "ppppfp", "pppppp", "fppppp", "pppppp", "ppffpp", "pppppp", "pppppp", "ppppfp", "pppppp"]
    base = {f"k{n}": letters[n % 10] for n in range(20)}
    assert compared(dict.fromkeys(base, "ppp"), base).flaky == ()


def test_a_regressed_case_whose_judge_failed_breaks_nothing():
    """It has a status and no value: the fact check failed, the judge did not answer."""
    from msgspec.structs import replace

    from runevals.records import Layer, Layers

    broken = case("a", "fff")
    attempts = tuple(replace(a, layers=Layers(incomplete=(Layer.JUDGE,))) for a in broken.attempts)
    rest = [case(f"k{n}", "ppp") for n in range(20)]
    found = compare(report([replace(broken, attempts=attempts), *rest]), report([case("a", "ppp"), *rest]), "b")
    assert found.state in (State.NOT_KNOWN, State.NOT_WORSE)


def test_a_case_that_changed_is_no_flake_and_few_runs_say_nothing():
    assert compared({"a": "fff", "b": "ppp"}, {"a": "ppp", "b": "ppp"}).flaky == ()
    assert compared({"a": "fp", "b": "pp"}, {"a": "pf", "b": "pp"}).flaky == ()


def test_a_quarantined_case_is_shown_but_decides_nothing():
    base = [case("a", "ppp"), *(case(f"k{n}", "ppp") for n in range(30))]
    head = [case("a", "fff", quarantined=True), *base[1:]]
    found = compare(report(head), report(base), "base.json")
    assert found.state is State.NOT_WORSE
    assert found.quarantined == 1
    assert [change.key for change in found.of_kind("quarantined")] == ["a"]
    assert found.of_kind("regressed") == ()
