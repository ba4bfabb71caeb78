"""What a comparison calls a regression, and what it refuses to."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from runevals.records import ComparisonVerdict as V
from runevals.records import Layer, ModelIdentity, Outcome
from runevals.verdict.compare import FreshRuns, Sides, compare
from runevals.verdict.decide import decide
from runevals.verdict.headlines import loss
from runevals.verdict.regression import Strictness, settled_early
from runevals.verdict.score import over_attempts, over_turns
from runevals.verdict.suspects import unrun
from runevals.verdict.wording import in_short
from tests.sample_reports import LETTERS, case, check, report


def compared(head, base, **more):
    return compare(report(head, **more), report(base, **more), "base.json")


def test_deterministic_one_flip_is_a_confirmed_regression():
    found = compared({"a": "f", "b": "p"}, {"a": "p", "b": "p"}, deterministic=True)
    assert found.verdict is V.REGRESSION
    assert [(c.key, c.change, c.label) for c in found.changes] == [("a", "regressed", "confirmed")]


@pytest.mark.parametrize(
    ("base", "head", "verdict"),
    [
        pytest.param("pp", "pf", V.INCONCLUSIVE, id="the same test of two jobs fails in one"),
        pytest.param("ppp", "pfp", V.INCONCLUSIVE, id="one of three"),
        pytest.param("pp", "pff", V.REGRESSION, id="most runs fail"),
        pytest.param("p", "fp", V.NO_CHANGE, id="run again and passed"),
        pytest.param("p", "ffp", V.REGRESSION, id="two of three jobs, or run again until it passed"),
        pytest.param("pp", "fpp", V.NO_CHANGE, id="run again in one of two jobs"),
        pytest.param("p", "pf", V.INCONCLUSIVE, id="no tool runs again what passed"),
        pytest.param("p", "fpp", V.INCONCLUSIVE, id="one of three, of one on the base"),
        pytest.param("pf", "pf", V.NO_CHANGE, id="so was the base"),
    ],
)
def test_deterministic_a_case_that_now_fails_in_some_of_as_many_runs_may_be_lost(base, head, verdict):
    others = {"b": "p", "c": "p"}
    found = compared({"a": head, **others}, {"a": base, **others}, deterministic=True)
    assert found.verdict is verdict
    if verdict is V.INCONCLUSIVE:
        assert found.inconclusive_by == "suspects"
        assert found.why.startswith("a may be lost (it failed in some runs only, though")


def test_deterministic_many_cases_that_passed_only_when_run_again_are_no_chance():
    """One of three runs fails: for each case alone, that has two chances of three."""
    some, all_ = ({f"k{n}": "fp" if n < many else "p" for n in range(20)} for many in (8, 20))
    base = {f"k{n}": "p" for n in range(20)}
    assert compared(some, base, deterministic=True).verdict is V.NO_CHANGE
    found = compared(all_, base, deterministic=True)
    assert (found.verdict, found.inconclusive_by) == (V.INCONCLUSIVE, "suspects")
    assert found.why.startswith("k0, k1")


def test_deterministic_an_edited_case_never_regresses():
    base = report([case("a", "p"), *(case(f"k{n}", "p") for n in range(9))], deterministic=True)
    head = report([case("a", "f", fingerprint="e"), *(case(f"k{n}", "p") for n in range(9))], deterministic=True)
    found = compare(head, base, "base.json")
    assert found.verdict is V.NO_CHANGE
    assert [(c.key, c.change) for c in found.changes] == [("a", "edited")]


def test_stochastic_a_few_flips_are_noise():
    base = {f"k{n}": "ppp" for n in range(40)}
    found = compared({**base, "k0": "pff", "k1": "pff"}, base)
    assert found.p_value > 0.01
    assert found.verdict in (V.INCONCLUSIVE, V.NO_CHANGE)
    assert {c.label for c in found.of_kind("regressed")} == {"suspect"}


def test_stochastic_a_clear_drop_is_a_regression():
    base = {f"k{n}": "ppp" for n in range(40)}
    found = compared({**base, **{f"k{n}": "fff" for n in range(8)}}, base)
    assert found.verdict is V.REGRESSION
    assert found.drop == pytest.approx(0.2)
    assert found.p_value <= 0.01
    assert found.interval[0] > 0


def test_a_drop_under_two_points_is_never_red():
    base = {f"k{n}": "ppp" for n in range(600)}
    found = compared({**base, **{f"k{n}": "fff" for n in range(10)}}, base)
    assert found.p_value <= 0.01
    assert found.verdict is V.SMALL


def test_a_critical_case_that_never_failed_and_now_always_does_is_a_regression():
    rest = [case(f"k{n}", "ppp") for n in range(30)]
    for marked in ({"critical": True}, {"category": "redteam"}):
        base = report([case("a", "ppp", **marked), *rest])
        assert compare(report([case("a", "fff", **marked), *rest]), base, "b").verdict is V.REGRESSION
        assert compare(report([case("a", "ffp", **marked), *rest]), base, "b").verdict is V.NO_CHANGE
        flaky_base = report([case("a", "pfp", **marked), *rest])
        assert compare(report([case("a", "fff", **marked), *rest]), flaky_base, "b").verdict is not V.REGRESSION


def test_a_clear_gain_is_an_improvement():
    base = {f"k{n}": "fff" if n < 8 else "ppp" for n in range(40)}
    assert compared(dict.fromkeys(base, "ppp"), base).verdict is V.IMPROVED


def test_graded_cases_are_compared_by_their_share():
    base = {f"k{n}": [0.9, 0.9, 0.9] for n in range(30)}
    found = compared({key: [0.7, 0.7, 0.7] for key in base}, base)
    assert (found.metric, found.verdict) == ("share", V.REGRESSION)
    assert found.drop == pytest.approx(0.2)


def test_the_base_against_itself_is_no_change():
    base = {f"k{n}": "pfp" if n % 3 else "ppp" for n in range(50)}
    assert compared(base, base).verdict is V.NO_CHANGE


def test_too_few_shared_cases_cannot_be_compared():
    base = {f"k{n}": "p" for n in range(10)}
    head = {f"k{n}": "p" for n in range(7)}
    found = compared(head, base)
    assert (found.verdict, found.shared, found.base_cases) == (V.INCOMPARABLE, 7, 10)
    assert [w.message for w in found.weakenings] == ["the case was removed"] * 3


def test_failures_that_became_errors_do_not_turn_red_into_green():
    base = {f"k{n}": "ppp" for n in range(100)}
    failing = {**base, **{f"k{n}": "fff" for n in range(8)}}
    erroring = {**base, **{f"k{n}": "eee" for n in range(8)}}
    assert compared(failing, base).verdict is V.REGRESSION
    assert compared(erroring, base).verdict is V.INCONCLUSIVE
    assert compared({**base, "k0": "eee"}, base).verdict is V.NO_CHANGE  # one cannot decide
    assert compared({"a": "e", "b": "p"}, {"a": "p", "b": "p"}, deterministic=True).verdict is V.INCONCLUSIVE
    rest = [case(f"k{n}", "ppp") for n in range(30)]
    hidden = report([case("a", "ffe", critical=True), *rest])
    assert compare(hidden, report([case("a", "ppp", critical=True), *rest]), "b").verdict is V.INCONCLUSIVE


def test_a_drop_of_exactly_two_points_counts():
    base = {f"k{n}": "p" if n < 300 else "f" for n in range(1000)}
    head = {f"k{n}": "p" if 20 <= n < 300 else "f" for n in range(1000)}
    assert compared(head, base).verdict is V.REGRESSION


def test_a_gain_under_two_points_is_no_improvement():
    base = {f"k{n}": "ppp" for n in range(600)}
    worse = {**base, **{f"k{n}": "fff" for n in range(10)}}
    assert compared(base, worse).verdict is V.NO_CHANGE


def test_too_many_errors_are_inconclusive_not_red_and_not_green():
    base = {f"k{n}": "ppp" for n in range(10)}
    assert compared({**base, "k0": "eee", "k1": "eee", "k2": "eee"}, base).verdict is V.INCONCLUSIVE


def test_a_drop_that_would_vanish_if_the_errored_had_passed_is_not_called_one():
    base = {f"k{n}": "ppp" for n in range(20)}
    clear = {**base, **{f"k{n}": "fff" for n in range(6)}}
    assert compared(clear, base).verdict is V.REGRESSION
    # Two attempts of each failing case errored: had they passed, the loss would be noise.
    torn = {**base, **{f"k{n}": "fee" for n in range(4)}}
    assert compared(torn, base).p_value <= 0.01
    assert compared(torn, base).verdict is V.INCONCLUSIVE


def test_which_half_errors_never_turns_red_into_green():
    base = {f"k{n}": "ppp" for n in range(40)}
    head = {**base, **{f"k{n}": "fff" for n in range(10)}}
    for errored in (range(4), range(36, 40)):
        found = compared({**head, **{f"k{n}": "eee" for n in errored}}, base)
        assert found.verdict in (V.REGRESSION, V.INCONCLUSIVE)


def test_suites_are_told_apart_unless_there_is_one_on_each_side():
    base = report([case("a", "p", suite="old/evals.json")], deterministic=True)
    moved = report([case("a", "f", suite="new/evals.json")], deterministic=True)
    assert compare(moved, base, "b").verdict is V.REGRESSION
    another = case("a", "f", suite="new/evals.json", fingerprint="another")
    two = report([another, case("b", "p", suite="x.json")], deterministic=True)
    assert compare(two, base, "b").verdict is V.INCOMPARABLE


def in_round(head, base, planned=3):
    return compare(report(head, repeat=planned), report(base), "base.json")


def test_an_unchanged_suite_settles_after_its_first_round():
    base = {f"k{n}": "ppp" for n in range(40)}
    found = in_round(dict.fromkeys(base, "p"), base)
    assert (found.rounds_done, found.rounds_planned) == (1, 3)
    assert settled_early(found)


def test_a_doubtful_first_round_asks_for_another_and_a_second_one_is_held_to_more():
    base = {f"k{n}": "ppp" for n in range(40)}
    doubtful = {**base, "k0": "f", "k1": "f"}
    assert not settled_early(in_round({key: letters[0] for key, letters in doubtful.items()}, base))
    weak = {f"k{n}": "pfp" if n < 20 else "ppp" for n in range(120)}
    second = {key: "fp" if n < 18 else "pp" for n, key in enumerate(weak)}
    found = in_round(second, weak)
    assert (0.10 < found.p_value < 0.30, found.drop < 0.05) == (True, True)
    assert settled_early(found)


def test_a_run_does_not_stop_while_five_points_are_missing():
    weak = {f"k{n}": "pfp" for n in range(40)}
    second = {**dict.fromkeys(weak, "pp"), **{f"k{n}": "fp" for n in range(33)}}
    found = in_round(second, weak)
    assert (found.p_value > 0.10, found.drop > 0.05) == (True, True)
    assert not settled_early(found)


def test_an_early_round_is_red_only_when_it_is_very_clear():
    base = {f"k{n}": "ppp" for n in range(40)}
    some = {**dict.fromkeys(base, "p"), **{f"k{n}": "f" for n in range(5)}}
    found = in_round(some, base)
    assert found.p_value < 0.01
    assert found.verdict is not V.REGRESSION
    assert not settled_early(found)
    many = {**dict.fromkeys(base, "p"), **{f"k{n}": "f" for n in range(20)}}
    assert in_round(many, base).verdict is V.REGRESSION


def test_one_failure_of_a_critical_case_is_no_proof_and_keeps_the_run_going():
    rest = [case(f"k{n}", "ppp") for n in range(30)]
    base = report([case("a", "ppp", critical=True), *rest])
    first = report([case("a", "f", critical=True), *(case(f"k{n}", "p") for n in range(30))], repeat=3)
    found = compare(first, base, "b")
    assert found.verdict is not V.REGRESSION
    assert not settled_early(found)


def test_an_early_round_is_screened_more_mildly_than_it_decides():
    base = {f"k{n}": "ppp" for n in range(40)}
    early = report({**dict.fromkeys(base, "p"), **{f"k{n}": "f" for n in range(5)}}, repeat=3)
    assert compare(early, report(base), "stored").verdict is not V.REGRESSION
    assert compare(early, report(base), "stored", Strictness.SCREENING).verdict is V.REGRESSION


def judged_case(key, letter, score, *, judge_fails=False):
    """One attempt with an ExactMatch (p or f) and a judge's score 1–5; None: the judge was not asked."""
    results = [check(LETTERS[letter])]
    if judge_fails or score is not None:
        outcome = Outcome.ERRORED if judge_fails else Outcome.PASSED if score >= 3 else Outcome.FAILED
        more = {} if judge_fails else {"score": (score - 1) / 4, "value": score}
        results.append(check(outcome, id="Relevance", evaluator="Relevance", layer=Layer.JUDGE, **more))
    made = case(key, letter)
    turn = replace(made.attempts[0].turns[0], results=tuple(results))
    return over_attempts(made, [over_turns(1, [turn])])


def with_judge(made, model):
    judge = None if model is None else ModelIdentity(type="openai", model=model)
    return replace(made, run=replace(made.run, judge=judge))


def test_a_base_that_was_hardly_measured_gives_no_verdict():
    base = {f"k{n}": "e" if n < 27 else "p" for n in range(30)}
    head = {f"k{n}": "f" if n < 27 else "p" for n in range(30)}
    for deterministic in (True, False):
        found = compared(head, base, deterministic=deterministic)
        assert (found.verdict, found.compared) == (V.INCONCLUSIVE, 3)


def test_a_judge_that_fails_leaves_no_value_and_no_regression():
    letters = {f"k{n}": "f" if n % 2 else "p" for n in range(30)}
    base = report([judged_case(key, letter, 5) for key, letter in letters.items()])
    head = report([judged_case(key, letter, 5, judge_fails=letter == "f") for key, letter in letters.items()])
    found = compare(with_judge(head, "big"), with_judge(base, "big"), "b")
    assert found.verdict is V.INCONCLUSIVE


def test_what_two_judges_scored_cannot_be_compared_though_a_fact_was_checked_too():
    def run(model, score, facts):
        made = [judged_case(f"k{n}", "p", score) for n in range(30)]
        made += [judged_case(f"fact{n}", "p", None) for n in range(facts)]
        return with_judge(report(made), model)

    found = compare(run("other", 1.0, 0), run("big", 5.0, 0), "b")
    assert found.verdict is V.INCOMPARABLE
    assert found.why == (
        "only 0 of the base's 30 cases can be compared, the others were edited, removed or skipped, or lack a "
        "score, or two judges scored them (judge both sides again: compare --rejudge)"
    )
    assert compare(run("other", 1.0, 119), run("big", 5.0, 119), "b").verdict is V.INCOMPARABLE
    few = compare(run("other", 1.0, 120), run("big", 5.0, 120), "b")  # 80 % of the cases
    assert few.verdict is V.NO_CHANGE
    assert "judge scores are not comparable" in few.caveats[0]


@pytest.mark.parametrize(("before", "now"), [(None, "big"), ("big", None)])
def test_a_judge_on_one_side_is_left_out_of_the_comparison_and_named(before, now):
    def run(model, score):
        made = report([judged_case(f"k{n}", "p", None if model is None else score) for n in range(30)])
        return with_judge(made, model)

    found = compare(run(now, 3.0), run(before, 5.0), "b")
    assert found.verdict is V.NO_CHANGE
    assert found.metric == "pass_rate"
    assert "judge scores are not comparable" in found.caveats[0]
    assert found.base_totals.composite == found.head_totals.composite == 5.0  # as they are without a judge
    same = compare(run("big", 3.0), run("big", 5.0), "b")
    assert (same.verdict, same.metric, same.caveats) == (V.REGRESSION, "share", ())


@pytest.mark.parametrize(
    ("before", "now", "cases", "verdict"),
    [
        pytest.param(5.0, 3.0, 20, V.REGRESSION, id="every answer is worse"),
        pytest.param(5.0, 4.95, 20, V.SMALL, id="below the smallest drop that blocks"),
        pytest.param(5.0, 3.0, 4, V.INCONCLUSIVE, id="too few cases to be sure"),
        pytest.param(3.0, 5.0, 20, V.IMPROVED, id="every answer is better"),
        pytest.param(5.0, 5.0, 20, V.NO_CHANGE, id="the same"),
    ],
)
def test_deterministic_a_fall_of_the_judges_scores_is_a_loss_though_every_case_passes(before, now, cases, verdict):
    base, head = (
        with_judge(report([judged_case(f"k{n}", "p", score) for n in range(cases)], deterministic=True), "big")
        for score in (before, now)
    )
    found = compare(head, base, "b")
    assert (found.verdict, found.deterministic, found.metric) == (verdict, True, "share")
    if verdict is V.REGRESSION:
        assert loss(found) == "The score of 20 cases fell by 25.0 points (p < 0.0001)"


def test_skipped_cases_are_not_missing_ones():
    base = {f"k{n}": "s" if n < 3 else "p" for n in range(10)}
    assert compared(base, base).verdict is V.NO_CHANGE
    assert compared(base, base, deterministic=True).verdict is V.NO_CHANGE


def test_leaving_a_gated_group_is_a_weakening_even_where_nothing_else_was_edited():
    base = report([case("a", "ppp", category="redteam"), case("b", "ppp", critical=True)])
    head = report([case("a", "fff"), case("b", "fff")])
    found = compare(head, base, "b")
    assert [w.message for w in found.weakenings] == [
        "moved from category redteam to none",
        "is no longer marked as critical",
    ]
    assert found.verdict is V.REGRESSION  # it was critical when the base was measured


def test_categories_are_compared_over_the_cases_that_both_sides_share():
    base = [case("a", "pp", category="billing"), case("b", "pf", category="billing"), case("c", "pp")]
    head = [case("a", "pf", category="billing"), case("b", "ff", category="billing"), case("c", "se")]
    found = compare(
        report([*head, case("new", "ff", category="billing")]), report([*base, case("old", "ff")]), "base.json"
    )
    assert [(c.name, c.cases, c.base_rate, c.head_rate) for c in found.categories] == [
        ("billing", 2, 0.75, 0.25),
        (None, 1, 1.0, None),
    ]


def test_half_of_the_smallest_visible_drop_takes_more_runs():
    base = {f"k{n}": "pff" if n % 3 == 0 else "ppp" for n in range(100)}
    found = compared(base, base)
    assert found.detectable_drop < 1
    assert found.repeats_for_half > 3
    assert compared({"a": "p"}, {"a": "p"}, deterministic=True).repeats_for_half is None


@pytest.mark.parametrize(
    ("cleared", "verdict"), [((), V.INCONCLUSIVE), (("k0",), V.INCONCLUSIVE), (("k0", "k1"), V.NO_CHANGE)]
)
def test_a_large_drop_is_unclear_unless_fresh_runs_cleared_the_cases_that_make_it(cleared, verdict):
    head = {f"k{n}": "ppf" if n < 5 else "ppp" for n in range(20)}
    base = report(dict.fromkeys(head, "ppp"))
    suspects = tuple(unrun(pair, "", "cleared") for pair in Sides.of(report(head), base).pairs)
    fresh = FreshRuns(tuple(suspect for suspect in suspects if suspect.key in cleared))
    found = compare(report(head), base, "base.json", fresh=fresh)
    assert {h.finding for h in found.hypotheses} == {"unclear"}
    assert found.verdict is verdict


@pytest.mark.parametrize(
    ("cases", "before", "now", "by"),
    [
        (100, "ppp", "fff", "families"),
        (100, "ppp", "ffe", "families"),
        (100, "ppp", "eee", None),  # one cannot decide
        (12, "p" * 8, "e" * 8, "suspects"),
        (100, "ppp", "fpe", None),
        (100, "pp", "ee", None),
        (12, "p" * 8, "ffffeeee", "suspects"),
    ],
)
def test_errors_of_a_case_count_as_failures_when_it_is_asked_whether_it_may_be_lost(cases, before, now, by):
    base = dict.fromkeys([f"k{n}" for n in range(cases)], before)
    found = compared({**{key: "p" * len(before) for key in base}, "k7": now}, base)
    assert (found.verdict is V.INCONCLUSIVE, found.inconclusive_by) == (by is not None, by)


def test_cases_that_pass_with_an_empty_answer_are_named_if_the_base_had_one():
    def answering(text, letter="p"):
        one = case("a", letter)
        [attempt] = one.attempts
        turns = tuple(replace(turn, output=text) for turn in attempt.turns)
        return report([replace(one, attempts=(replace(attempt, turns=turns),))])

    caveat = "1 case passed with an empty answer, which was not empty on the base"
    assert caveat in compare(answering(" \n"), answering("yes"), "base").caveats
    for head, base in (("yes", "yes"), ("", ""), ("yes", "")):
        assert caveat not in compare(answering(head), answering(base), "base").caveats
    assert caveat not in compare(answering("", "f"), answering("yes"), "base").caveats


@pytest.mark.parametrize(("lost", "cases", "is_lost"), [(4, 4, True), (6, 6, True), (5, 6, False), (3, 3, False)])
def test_all_cases_of_a_small_suite_are_lost_even_if_each_ran_once(lost, cases, is_lost):
    base = {f"k{number}": "p" for number in range(cases)}
    found = decide(report(base), report({**base, **{f"k{number}": "f" for number in range(lost)}})).verdict
    headline = f"{lost} of {cases} cases regressed" if is_lost else "Inconclusive"
    assert (found.exit_code, found.headline.startswith(headline)) == (int(is_lost), True)


def test_a_graded_comparison_says_the_scores_of_five_and_the_pass_rate():
    base = with_judge(report([judged_case(f"k{n}", "p", 5.0) for n in range(30)]), "big")
    head = with_judge(report([judged_case(f"k{n}", "pf"[n < 3], 4.0) for n in range(30)]), "big")
    told = in_short(compare(head, base, "b"))
    assert told.startswith("Pass rate 100.0 % → 90.0 %, score 5.00 → 4.")
    assert "of 5 (−0." in told
