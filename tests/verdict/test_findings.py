"""What the runs that there are say: worse, not worse, or not known and why."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runevals.records import Reason, RegressionRule, State
from runevals.verdict.compare import compare
from runevals.verdict.findings import deciding_runs, state_of, stored_findings
from runevals.verdict.outcome import decide
from runevals.verdict.sides import Sides
from tests.sample_reports import case, checked_case, report

ORDER = [State.NOT_WORSE, State.NOT_KNOWN, State.WORSE]
SIDE = st.text("pf", min_size=1, max_size=4)
SUITES = st.lists(st.tuples(SIDE, SIDE), min_size=1, max_size=25)
QUIET = settings(max_examples=100, deadline=None)
STEADY = [("ppp", "ppp")] * 20


def reports(pairs, **options):
    """Base and head: of each case both sides, as letters or as runs of checks."""
    return [
        report(
            [
                case(f"k{n}", runs[side]) if isinstance(runs[side], str) else checked_case(f"k{n}", *runs[side])
                for n, runs in enumerate(pairs)
            ],
            **options,
        )
        for side in (0, 1)
    ]


def compared(pairs, rule=None, **options):
    base, head = reports(pairs, **options)
    return compare(head, base, "stored", rule or RegressionRule())


def cases_of(pairs, rule=None, **options):
    return {each.name: each.reason for each in compared(pairs, rule, **options).findings if each.family == "case"}


def rank(pairs, **options):
    return ORDER.index(compared(pairs, **options).state)


@pytest.mark.parametrize(
    ("one", "reason"),
    [
        pytest.param(("ppp", "fff"), Reason.CHANCE, id="dead, after three runs of a steady suite"),
        pytest.param(("p" * 12, "f" * 12), Reason.EXACT, id="dead, after twelve"),
        pytest.param(("ppp", "ffp"), Reason.BY_CHANCE, id="it still passes at times"),
        pytest.param(("ppp", "eee"), Reason.ERRORS, id="no value now"),
        pytest.param(("ppp", "ffe"), Reason.ERRORS, id="dead, if the run that erred failed as well"),
        pytest.param(("ppe", "fff"), Reason.ERRORS, id="dead, if that of the base passed"),
        pytest.param(("eee", "fff"), Reason.UNMEASURED, id="no value on the base"),
        pytest.param(("ppp", "ppp"), None, id="nothing"),
        pytest.param(([["fp"]] * 12, [["ff"]] * 12), Reason.EXACT, id="a check of a case that failed before"),
        pytest.param(([["p", "p"]] * 12, [["p", "f"]] * 12), Reason.EXACT, id="turn 2 of 2"),
        pytest.param(([[(1.0,)]] * 12, [[(0.25,)]] * 12), Reason.EXACT, id="a score"),
    ],
)
def test_one_case_of_a_steady_suite(one, reason):
    assert cases_of([one, *STEADY]).get("k0") is reason


def test_a_lost_check_is_named():
    found = compared([([["fp"]] * 12, [["ff"]] * 12), *STEADY])
    assert [each.checks for each in found.findings if each.name == "k0"] == [("c2",)]


@pytest.mark.parametrize(
    ("pairs", "states"),
    [
        pytest.param([("p", "f")], {State.NOT_WORSE, State.NOT_KNOWN}, id="one run of one case"),
        pytest.param([("p", "f")] * 8 + [("p", "p")] * 30, {State.WORSE}, id="eight of them"),
        pytest.param([("ppp", "fff"), *STEADY], {State.NOT_KNOWN}, id="a steady suite"),
        pytest.param(
            [("ppp", "fff"), *[("pfp", "fpf"), ("fff", "ppp"), ("ppf", "fpp")] * 20], {State.NOT_WORSE},
            id="one in which cases go both ways",
        ),
    ],
)  # fmt: skip
def test_what_chance_says_depends_on_the_suite(pairs, states):
    assert compared(pairs).state in states


def test_what_chance_says_is_told_with_its_number_and_the_runs_that_settle_it():
    [found] = [each for each in compared([("ppp", "fff"), *STEADY]).findings if each.family == "case"]
    assert found.chance <= 0.03
    assert found.expected < 1
    assert found.more >= 2
    assert found.dead
    assert "such cases would be lost without any change" in found.detail


@pytest.mark.parametrize(("lost", "cases"), [(1, 1), (1, 5), (1, 100), (3, 100), (8, 38), (1, 2000)])
def test_the_number_of_runs_that_is_proposed_is_the_smallest_that_proves_the_loss(lost, cases):
    def state(runs):
        pairs = [("p" * runs, "f" * runs)] * lost + [("p" * runs, "p" * runs)] * (cases - lost)
        base, head = reports(pairs)
        found = stored_findings(Sides.of(head, base).pairs, RegressionRule(), deterministic=False)
        return {each.state for each in found}

    runs = deciding_runs(lost, cases, RegressionRule())
    assert (state(runs), State.WORSE in state(runs - 1)) == ({State.WORSE}, False)


def test_the_sentence_of_a_loss_that_is_not_proven_names_the_number_of_runs():
    base, head = reports([("ppp", "fff"), *STEADY])
    assert "; 7 runs of each case on both sides (`repeat`), or" in decide(base, head).verdict.headline


@pytest.mark.parametrize(("critical", "reason"), [(False, Reason.ERRORS_ALLOWED), (True, Reason.ERRORS)])
def test_errors_are_allowed_by_a_setting_and_not_of_critical_cases(critical, reason):
    base, head = (report([case("k0", letters, critical=critical), case("k1", "p")]) for letters in ("p", "e"))
    found = stored_findings(Sides.of(head, base).pairs, RegressionRule(max_errors=0.5), deterministic=False)
    assert [each.reason for each in found] == [reason]


def test_a_critical_case_that_was_removed_is_worse():
    base, head = report([case("a", "p", critical=True), *_rest()]), report(_rest())
    found = compare(head, base, "stored").findings
    assert [(each.name, each.state) for each in found if each.reason is Reason.REMOVED] == [("a", State.WORSE)]


def _rest():
    return [case(f"k{n}", "p") for n in range(9)]


def test_critical_cases_come_first():
    base, head = (
        report(
            [*(case(f"k{n}", letters * 3) for n in range(3)), case("z", letters * 3, critical=True), *_steady()]
        )
        for letters in "pf"
    )
    assert next(each.name for each in compare(head, base, "stored").findings if each.family == "case") == "z"


def _steady():
    return [case(f"s{n}", "ppp") for n in range(20)]


@QUIET
@given(SUITES, st.integers(1, 4), st.booleans())
def test_a_dead_case_is_never_fine(others, runs, deterministic):
    base, head = reports([("p" * runs, "f" * runs), *others], deterministic=deterministic)
    found = decide(base, head)
    assert found.verdict.exit_code or (found.verdict.warns and "k0" in found.verdict.headline)
    assert not deterministic or found.verdict.exit_code == 1


@QUIET
@given(SUITES)
def test_the_same_on_both_sides_is_not_worse(pairs):
    for deterministic in (True, False):
        assert rank([(base, base) for base, _ in pairs], deterministic=deterministic) == 0


@QUIET
@given(SUITES, st.data())
def test_of_a_deterministic_target_a_further_loss_never_improves_it(pairs, data):
    passing = [n for n, (_, head) in enumerate(pairs) if "p" in head]
    if passing:
        place = data.draw(st.sampled_from(passing))
        worse = [*pairs]
        worse[place] = (pairs[place][0], pairs[place][1].replace("p", "f", 1))
        assert rank(worse, deterministic=True) >= rank(pairs, deterministic=True)


@QUIET
@given(SUITES, st.data(), st.booleans())
def test_an_error_in_place_of_the_values_of_a_case_never_clears_it(pairs, data, deterministic):
    place = data.draw(st.integers(0, len(pairs) - 1))
    base, head = pairs[place]
    erring = data.draw(st.sampled_from([(base, "e" * len(head)), ("e" * len(base), head)]))
    before, after = (
        {each.name: each for each in compared(some, deterministic=deterministic).findings if each.family == "case"}
        for some in (pairs, [*pairs[:place], erring, *pairs[place + 1 :]])
    )
    if f"k{place}" in before:
        assert after[f"k{place}"].state is State.NOT_KNOWN


@QUIET
@given(SUITES, st.data())
def test_an_error_in_place_of_a_single_failure_never_turns_it_into_not_worse(pairs, data):
    failing = [(n, place) for n, (_, head) in enumerate(pairs) for place, run in enumerate(head) if run == "f"]
    if failing:
        n, place = data.draw(st.sampled_from(failing))
        base, head = pairs[n]
        errs = [*pairs[:n], (base, head[:place] + "e" + head[place + 1 :]), *pairs[n + 1 :]]
        before, after = (_state(some, n) for some in (pairs, errs))
        assert ORDER.index(after) >= min(ORDER.index(before), 1)


def _state(pairs, n):
    return state_of(each for each in compared(pairs).findings if each.name == f"k{n}")


@QUIET
@given(SUITES)
def test_a_case_that_is_left_out_is_named(pairs):
    base, head = reports([("p", "p"), *pairs])
    found = decide(base, report([case for case in head.cases if case.key != "k0"])).verdict
    assert found.exit_code or (found.warns and "1 case removed: k0" in found.headline)


def test_the_worst_state_is_the_state_of_all():
    found = compared([("ppp", "fff"), *STEADY]).findings
    assert state_of(found) is State.NOT_KNOWN
    assert state_of(()) is State.NOT_WORSE


@pytest.mark.parametrize("fields", [{"critical": True}, {"category": "redteam"}])
@pytest.mark.parametrize(("before", "now"), [("ppp", "s"), ("ffp", "sss"), ("sss", "sss"), ("ppp", "ppp")])
def test_a_critical_case_that_is_skipped_now_is_not_known(fields, before, now):
    others = [case(f"other{n}", "ppp") for n in range(9)]
    base, head = (report([case("k", one, **fields), *others]) for one in (before, now))
    found = decide(base, head)
    is_open = "p" in before and "p" not in now
    assert found.verdict.exit_code == (3 if is_open else 0), found.verdict.headline
    assert ("k may be lost: critical" in found.verdict.headline) is is_open
