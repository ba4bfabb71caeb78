"""What the verdict would see on a suite of known runs. How well it is predicted: `benchmarks/power.py`."""

from __future__ import annotations

import random
import re

import pytest
from msgspec.structs import replace

from runevals.records import RegressionRule
from runevals.run.power.predict import (
    SIZES,
    described,
    gain_of_all,
    of_all,
    of_case,
    of_some,
    predicted,
    suite_of,
)
from runevals.run.power.simulate import Plan
from tests.sample_reports import case, report

RNG = random.Random(1)


def suite(*outcomes, number=20):
    cases = [case(f"k{n}", runs, category="ab"[n % 2]) for n, runs in enumerate(outcomes)]
    plan = Plan(info=report([]).run, rule=RegressionRule(), repeat=3, base_looks=6)
    return replace(suite_of(report(cases), plan), simulations=number)


@pytest.mark.parametrize(
    ("change", "rates"),
    [
        (of_all, [0.5, 0.2]),
        (of_case, [0.5, 0.4]),
        (of_some([[1]]), [1.0, 0.2]),
        (gain_of_all, [1.0, 0.7]),
    ],
)
def test_a_change_moves_the_pass_rates(change, rates):
    assert change([1.0, 0.4], 0.5, RNG) == pytest.approx(rates)


def test_a_steady_suite_raises_no_false_alarm_and_sees_a_lost_case():
    steady = suite(*["pppppp"] * 10, number=200)
    assert steady.shares(of_all, 0.0).worse == 0.0
    assert steady.shares(of_case, 1.0).worse >= 0.9
    detectable = steady.smallest("every case", of_all)
    assert detectable.size in SIZES
    assert detectable.shares.worse >= 0.9
    assert detectable.shares.points == pytest.approx(detectable.size, abs=0.1)


def test_a_share_is_said_with_its_interval_over_the_pass_rates_that_are_probable():
    shares = suite(*["pppppp"] * 5, *["pppfff"] * 5).shares(of_all, 0.3, 60)
    assert len(shares.by_rates) == 6  # each of ten changes
    share, low, high = (float(words) for words in re.findall(r"([\d.]+) %", shares.in_words("worse")))
    assert low <= share <= high
    assert share == pytest.approx(100 * shares.worse, abs=0.5)


def test_a_gain_that_no_record_can_show_is_said_to_be_none():
    detectable = suite(*["pppppp"] * 8).smallest("every case", gain_of_all, "improved")
    assert detectable.size is None


@pytest.fixture(scope="module")
def prediction():
    """Of a suite with dead and flaky cases."""
    return predicted(suite(*["pppppp"] * 9, "pfpfpf", "pppfff", "ffffff"))


def test_the_prediction_names_dead_and_flaky_cases(prediction):
    assert (prediction.dead, sorted(prediction.flaky)) == (["k11"], ["k10", "k9"])
    assert prediction.for_quarantine == prediction.flaky[:1]  # at most a tenth of twelve
    sentences = [sentence for _, sentence in described(prediction)]
    assert sentences[0].startswith("an unchanged change of these 12 cases fails ")
    assert any(sentence.startswith("never passed, so that no loss of them shows: k11") for sentence in sentences)
    assert [name for name, _ in described(prediction)][:5] == ["a/a", "power", "power", "power", "power"]


@pytest.mark.parametrize(
    ("steady", "repair"),
    [
        (6, "split or fix them"),
        (9, "split or fix them, or quarantine 1 case: k9"),
        (17, "or quarantine 2 cases: k17, k18"),
    ],
)
def test_as_many_cases_are_proposed_for_quarantine_as_its_list_may_have(prediction, steady, repair):
    of = suite(*["pppppp"] * steady, *["pfpfpf"] * 3)
    keys = {
        name: [one.case.key for one in cases]
        for name, cases in (("flaky", of.flaky), ("for_quarantine", of.for_quarantine))
    }
    sentences = [sentence for _, sentence in described(replace(prediction, **keys))]
    assert any(sentence.endswith(repair) for sentence in sentences), sentences


def test_categories_are_parts_only_if_the_verdict_tests_them():
    assert [list(part) for part in suite(*["pp"] * 10).parts] == [[0, 2, 4, 6, 8], [1, 3, 5, 7, 9]]
    assert suite(*["pp"] * 8).parts == []
