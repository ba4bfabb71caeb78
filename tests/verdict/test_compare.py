"""What a comparison calls a regression, and what it refuses to."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from runevals.records import Layer, ModelIdentity, Outcome, Reason, State
from runevals.verdict.compare import compare
from runevals.verdict.headlines import loss
from runevals.verdict.outcome import decide
from runevals.verdict.score import over_attempts, over_turns
from runevals.verdict.wording import in_short
from tests.sample_reports import LETTERS, case, check, report


def compared(head, base, **more):
    return compare(report(head, **more), report(base, **more), "base.json")


def test_deterministic_one_flip_is_a_confirmed_regression():
    found = compared({"a": "f", "b": "p"}, {"a": "p", "b": "p"}, deterministic=True)
    assert found.state is State.WORSE
    assert [(c.key, c.change, c.label) for c in found.changes] == [("a", "regressed", "confirmed")]


def test_the_old_form_of_an_edited_case_that_fails_now_is_not_known():
    base = report([case("a", "p"), *(case(f"k{n}", "p") for n in range(9))], deterministic=True)
    head = report([case("a", "f", fingerprint="e"), *(case(f"k{n}", "p") for n in range(9))], deterministic=True)
    found = compare(head, base, "base.json")
    assert [(c.key, c.change) for c in found.changes] == [("a", "edited")]
    assert [(f.name, f.reason) for f in found.findings if f.state is State.NOT_KNOWN] == [("a", Reason.OLD_FORM)]


def test_stochastic_a_few_flips_are_noise():
    base = {f"k{n}": "ppp" for n in range(40)}
    found = compared({**base, "k0": "pff", "k1": "pff"}, base)
    assert found.p_value > 0.01
    assert found.state in (State.NOT_KNOWN, State.NOT_WORSE)
    assert {c.label for c in found.of_kind("regressed")} == {"suspect"}


def test_stochastic_a_clear_drop_is_a_regression():
    base = {f"k{n}": "ppp" for n in range(40)}
    found = compared({**base, **{f"k{n}": "fff" for n in range(8)}}, base)
    assert found.state is State.WORSE
    assert found.drop == pytest.approx(0.2)
    assert found.p_value <= 0.01
    assert found.interval[0] > 0


def test_a_drop_under_two_points_is_no_loss_of_the_whole():
    base = {f"k{n}": "ppp" for n in range(600)}
    found = compared({**base, **{f"k{n}": "fff" for n in range(10)}}, base)
    assert found.p_value <= 0.01
    assert found.findings[0].reason is Reason.SMALL
    assert found.state is State.NOT_KNOWN  # but ten dead cases are no chance


def test_a_case_that_died_is_never_fine_and_a_critical_one_is_named_first():
    rest = [case(f"k{n}", "ppp") for n in range(30)]
    for marked in ({"critical": True}, {"category": "redteam"}):
        base = report([case("a", "ppp", **marked), *rest])
        found = compare(report([case("a", "fff", **marked), *rest]), base, "b")
        assert (found.state, found.findings[-1].critical) == (State.NOT_KNOWN, True)
        assert compare(report([case("a", "ffp", **marked), *rest]), base, "b").state is State.NOT_WORSE


def test_a_clear_gain_is_an_improvement():
    base = {f"k{n}": "fff" if n < 8 else "ppp" for n in range(40)}
    assert compared(dict.fromkeys(base, "ppp"), base).improved


def test_graded_cases_are_compared_by_their_share():
    base = {f"k{n}": [0.9, 0.9, 0.9] for n in range(30)}
    found = compared({key: [0.7, 0.7, 0.7] for key in base}, base)
    assert (found.metric, found.state) == ("share", State.WORSE)
    assert found.drop == pytest.approx(0.2)


def test_the_base_against_itself_is_no_change():
    base = {f"k{n}": "pfp" if n % 3 else "ppp" for n in range(50)}
    assert compared(base, base).state is State.NOT_WORSE


def test_too_few_shared_cases_cannot_be_compared():
    base = {f"k{n}": "p" for n in range(10)}
    head = {f"k{n}": "p" for n in range(7)}
    found = compared(head, base)
    assert (found.state, found.shared, found.base_cases) == (State.NOT_KNOWN, 7, 10)
    assert [w.message for w in found.weakenings] == ["the case was removed"] * 3


def test_failures_that_became_errors_do_not_turn_red_into_green():
    base = {f"k{n}": "ppp" for n in range(100)}
    failing = {**base, **{f"k{n}": "fff" for n in range(8)}}
    erroring = {**base, **{f"k{n}": "eee" for n in range(8)}}
    assert compared(failing, base).state is State.WORSE
    assert compared(erroring, base).state is State.NOT_KNOWN
    assert compared({**base, "k0": "eee"}, base).state is State.NOT_KNOWN
    assert compared({"a": "e", "b": "p"}, {"a": "p", "b": "p"}, deterministic=True).state is State.NOT_KNOWN
    rest = [case(f"k{n}", "ppp") for n in range(30)]
    hidden = report([case("a", "ffe", critical=True), *rest])
    assert compare(hidden, report([case("a", "ppp", critical=True), *rest]), "b").state is State.NOT_KNOWN


def test_a_drop_of_exactly_two_points_counts():
    base = {f"k{n}": "p" if n < 300 else "f" for n in range(1000)}
    head = {f"k{n}": "p" if 20 <= n < 300 else "f" for n in range(1000)}
    assert compared(head, base).state is State.WORSE


def test_a_gain_under_two_points_is_no_improvement():
    base = {f"k{n}": "ppp" for n in range(600)}
    worse = {**base, **{f"k{n}": "fff" for n in range(10)}}
    assert compared(base, worse).state is State.NOT_WORSE


def test_too_many_errors_are_inconclusive_not_red_and_not_green():
    base = {f"k{n}": "ppp" for n in range(10)}
    assert compared({**base, "k0": "eee", "k1": "eee", "k2": "eee"}, base).state is State.NOT_KNOWN


def test_a_drop_that_would_vanish_if_the_errored_had_passed_is_not_called_one():
    base = {f"k{n}": "ppp" for n in range(20)}
    clear = {**base, **{f"k{n}": "fff" for n in range(6)}}
    assert compared(clear, base).state is State.WORSE
    # Two attempts of each failing case errored: had they passed, the loss would be noise.
    torn = {**base, **{f"k{n}": "fee" for n in range(4)}}
    assert compared(torn, base).p_value <= 0.01
    assert compared(torn, base).state is State.NOT_KNOWN


def test_which_half_errors_never_turns_red_into_green():
    base = {f"k{n}": "ppp" for n in range(40)}
    head = {**base, **{f"k{n}": "fff" for n in range(10)}}
    for errored in (range(4), range(36, 40)):
        found = compared({**head, **{f"k{n}": "eee" for n in errored}}, base)
        assert found.state in (State.WORSE, State.NOT_KNOWN)


def test_suites_are_told_apart_unless_there_is_one_on_each_side():
    base = report([case("a", "p", suite="old/evals.json")], deterministic=True)
    moved = report([case("a", "f", suite="new/evals.json")], deterministic=True)
    assert compare(moved, base, "b").state is State.WORSE
    another = case("a", "f", suite="new/evals.json", fingerprint="another")
    two = report([another, case("b", "p", suite="x.json")], deterministic=True)
    assert compare(two, base, "b").state is State.NOT_KNOWN


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


@pytest.mark.parametrize(
    ("letter", "score", "state"),
    [
        pytest.param("f", 5, State.WORSE, id="what no judge had a part in is lost"),
        pytest.param("p", 1, State.NOT_WORSE, id="a judge may have erred once"),
        pytest.param("f", 1, State.WORSE, id="both"),
        pytest.param("p", 5, State.NOT_WORSE, id="neither"),
    ],
)
def test_a_deterministic_target_is_so_in_the_checks_that_no_judge_makes(letter, score, state):
    """One run a side, as of recorded answers: nothing can be run again."""
    others = [judged_case(f"k{n}", "p", 5) for n in range(8)]
    base, head = (
        report([judged_case("a", *one), *others], deterministic=True) for one in (("p", 5), (letter, score))
    )
    assert compare(head, base, "b").state is state


def with_judge(made, model):
    judge = None if model is None else ModelIdentity(type="openai", model=model)
    return replace(made, run=replace(made.run, judge=judge))


def test_a_base_that_was_hardly_measured_gives_no_verdict():
    base = {f"k{n}": "e" if n < 27 else "p" for n in range(30)}
    head = {f"k{n}": "f" if n < 27 else "p" for n in range(30)}
    for deterministic in (True, False):
        found = compared(head, base, deterministic=deterministic)
        assert (found.state, found.compared) == (State.NOT_KNOWN, 3)


def test_a_judge_that_fails_leaves_no_value_and_no_regression():
    letters = {f"k{n}": "f" if n % 2 else "p" for n in range(30)}
    base = report([judged_case(key, letter, 5) for key, letter in letters.items()])
    head = report([judged_case(key, letter, 5, judge_fails=letter == "f") for key, letter in letters.items()])
    found = compare(with_judge(head, "big"), with_judge(base, "big"), "b")
    assert found.state is State.NOT_KNOWN


def test_what_two_judges_scored_cannot_be_compared_though_a_fact_was_checked_too():
    def run(model, score, facts):
        made = [judged_case(f"k{n}", "p", score) for n in range(30)]
        made += [judged_case(f"fact{n}", "p", None) for n in range(facts)]
        return with_judge(report(made), model)

    found = compare(run("other", 1.0, 0), run("big", 5.0, 0), "b")
    assert found.state is State.NOT_KNOWN
    assert next(each.detail for each in found.findings if each.reason is Reason.INCOMPARABLE) == (
        "only 0 of the base's 30 cases can be compared, the others were edited, removed or skipped, or lack a "
        "score, or two judges scored them (judge both sides again: compare --rejudge)"
    )
    assert compare(run("other", 1.0, 119), run("big", 5.0, 119), "b").state is State.NOT_KNOWN
    few = compare(run("other", 1.0, 120), run("big", 5.0, 120), "b")  # 80 % of the cases
    assert few.state is State.NOT_WORSE
    assert "judge scores are not comparable" in few.caveats[0]


@pytest.mark.parametrize(("before", "now"), [(None, "big"), ("big", None)])
def test_a_judge_on_one_side_is_left_out_of_the_comparison_and_named(before, now):
    def run(model, score):
        made = report([judged_case(f"k{n}", "p", None if model is None else score) for n in range(30)])
        return with_judge(made, model)

    found = compare(run(now, 3.0), run(before, 5.0), "b")
    assert found.state is State.NOT_WORSE
    assert found.metric == "pass_rate"
    assert "judge scores are not comparable" in found.caveats[0]
    assert found.base_totals.composite == found.head_totals.composite == 5.0  # as they are without a judge
    same = compare(run("big", 3.0), run("big", 5.0), "b")
    assert (same.state, same.metric, same.caveats) == (State.WORSE, "share", ())


@pytest.mark.parametrize(
    ("before", "now", "cases", "verdict"),
    [
        pytest.param(5.0, 3.0, 20, State.WORSE, id="every answer is worse"),
        pytest.param(5.0, 4.95, 20, State.NOT_WORSE, id="below the smallest drop that blocks"),
        pytest.param(5.0, 3.0, 3, State.NOT_WORSE, id="too few cases to be sure"),
        pytest.param(3.0, 5.0, 20, State.NOT_WORSE, id="every answer is better"),
    ],
)
def test_deterministic_a_fall_of_the_judges_scores_is_a_loss_though_every_case_passes(before, now, cases, verdict):
    base, head = (
        with_judge(report([judged_case(f"k{n}", "p", score) for n in range(cases)], deterministic=True), "big")
        for score in (before, now)
    )
    found = compare(head, base, "b")
    assert (found.state, found.deterministic, found.metric) == (verdict, True, "share")
    if verdict is State.WORSE:
        assert loss(head, found) == "The score of 20 cases fell by 25.0 points"


def test_every_number_beside_the_score_is_without_quarantined_cases():
    base = with_judge(report([judged_case(f"k{n}", "p", 4.5) for n in range(20)]), "big")
    now = [judged_case(f"k{n}", "f" if n < 2 else "p", 4.5) for n in range(20)]
    head = with_judge(report([replace(one, quarantined=n < 2) for n, one in enumerate(now)]), "big")
    found = compare(head, base, "b")
    assert (found.metric, found.compared, found.head_totals.pass_rate) == ("share", 18, 1.0)


def test_skipped_cases_are_not_missing_ones():
    base = {f"k{n}": "s" if n < 3 else "p" for n in range(10)}
    assert compared(base, base).state is State.NOT_WORSE
    assert compared(base, base, deterministic=True).state is State.NOT_WORSE


def test_leaving_a_gated_group_is_a_weakening_even_where_nothing_else_was_edited():
    base = report([case("a", "ppp", category="redteam"), case("b", "ppp", critical=True)])
    head = report([case("a", "fff"), case("b", "fff")])
    found = compare(head, base, "b")
    assert [w.message for w in found.weakenings] == [
        "moved from category redteam to none",
        "is no longer marked as critical",
    ]
    assert found.state is State.WORSE  # it was critical when the base was measured


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


@pytest.mark.parametrize(("lost", "cases", "is_lost"), [(5, 5, True), (6, 6, True), (3, 3, False)])
def test_all_cases_of_a_small_suite_are_lost_even_if_each_ran_once(lost, cases, is_lost):
    base = {f"k{number}": "p" for number in range(cases)}
    found = decide(report(base), report({**base, **{f"k{number}": "f" for number in range(lost)}})).verdict
    headline = f"{lost} of {cases} cases regressed" if is_lost else "Not known – k0, k1, k2 may be lost"
    assert (found.exit_code, found.headline.startswith(headline)) == (1 if is_lost else 3, True)


def test_a_graded_comparison_says_the_scores_of_five_and_the_pass_rate():
    base = with_judge(report([judged_case(f"k{n}", "p", 5.0) for n in range(30)]), "big")
    head = with_judge(report([judged_case(f"k{n}", "pf"[n < 3], 4.0) for n in range(30)]), "big")
    told = in_short(compare(head, base, "b"))
    assert told.startswith("Pass rate 100.0 % → 90.0 %, score 5.00 → 4.")
    assert "of 5 (−0." in told


@pytest.mark.parametrize(("ends", "is_shown"), [("ppp", True), ("fff", False)])
def test_a_drop_is_said_to_show_only_where_the_base_can_fall_so_far(ends, is_shown):
    one = report({f"k{number}": ends for number in range(12)})
    told = in_short(compare(one, one, "b"))
    assert ("would have shown a drop" in told) is is_shown
