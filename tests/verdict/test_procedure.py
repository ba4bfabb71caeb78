"""How a change is held against its base: what is run, what is confirmed, and when it ends."""

from __future__ import annotations

from datetime import timedelta

import pytest
from msgspec.structs import replace

from runevals.records import ComparisonVerdict as V
from runevals.records import GateRules, RegressionRule
from runevals.verdict.accepted import lost_cases, without_accepted
from runevals.verdict.compare import compare
from runevals.verdict.decide import conclusion_of
from runevals.verdict.procedure import compare_in_rounds
from runevals.verdict.wording import compared_cases
from tests.sample_reports import case, report
from tests.scripted_runner import ScriptedRunner, always

SUITE = {f"k{n}": "ppp" for n in range(30)}
FINE = always("p")


def held(runner, base=SUITE, **fields):
    stored = report([case(key, letters, **fields) for key, letters in base.items()])
    stored = stored if not runner.deterministic else report(list(stored.cases), deterministic=True)
    return compare_in_rounds(runner, stored, "stored", RegressionRule())[1]


def states(found):
    return {suspect.key: suspect.state for suspect in found.suspects}


def test_an_unchanged_suite_is_fine_after_one_round_and_nothing_is_run_again():
    runner = ScriptedRunner(SUITE, FINE, FINE)
    found = held(runner)
    assert (found.verdict, found.rounds_done, runner.asked, runner.looks) == (V.NO_CHANGE, 1, [], 0)


def test_rounds_that_only_critical_cases_made_are_not_counted():
    cases = {**SUITE, "k31": "ppp"}
    runner = ScriptedRunner(cases, FINE, FINE)
    runner.report_of = lambda runs: report([case(k, v, critical=k == "k31") for k, v in runs.items()], repeat=3)
    head, found = compare_in_rounds(runner, runner.report_of(cases), "stored", RegressionRule())
    assert [len(one.attempts) for one in head.cases[-2:]] == [1, 3]
    assert compared_cases(found).endswith(", in 1 of 3 rounds")


def test_one_dead_case_of_thirty_is_confirmed_on_fresh_runs_of_both_sides_in_turn():
    runner = ScriptedRunner({**SUITE, "k7": "fff"}, FINE, always("p", k7="f"))
    found = held(runner)
    assert (found.verdict, states(found)) == (V.REGRESSION, {"k7": "confirmed"})
    (suspect,) = found.suspects
    assert (suspect.base.pass_rate, suspect.head.pass_rate) == (1.0, 0.0)
    assert len(suspect.base.attempts) == len(suspect.head.attempts) == 8
    assert suspect.p_value == pytest.approx(1 / 12870)
    assert [side for side, _ in runner.asked[:6]] == ["head", "head", "base", "head", "base", "head"]
    assert [(c.key, c.label) for c in found.of_kind("regressed")] == [("k7", "confirmed")]


def test_a_case_that_failed_by_luck_is_dropped_after_two_fresh_runs():
    runner = ScriptedRunner({**SUITE, "k7": "fff"}, FINE, FINE)
    found = held(runner)
    assert (found.verdict, states(found)) == (V.NO_CHANGE, {"k7": "dropped"})
    assert (runner.runs("head", "k7"), runner.runs("base", "k7")) == (2, 0)
    assert [(c.key, c.label) for c in found.of_kind("regressed")] == [("k7", "suspect")]


@pytest.mark.parametrize(
    ("lost", "headline"),
    [
        ({"crit": "ppp"}, "A critical case is lost: crit"),
        ({"k30": "ppp"}, "1 of 31 cases regressed"),
    ],
    ids=["a critical case was removed", "a case is confirmed as lost"],
)
def test_a_drop_that_is_not_confirmed_does_not_hide_a_lost_case(lost, headline):
    rounds = {f"k{n}": "ffp" if n % 3 == 0 else "pff" if n % 3 == 1 else "ppp" for n in range(30)}
    dead = {"k30": "fff"} if "k30" in lost else {}
    runner = ScriptedRunner({**rounds, **dead}, always("p", k29="f"), always("p", k30="f"))
    base = report([case(key, letters, critical=key == "crit") for key, letters in {**SUITE, **lost}.items()])
    head, found = compare_in_rounds(runner, base, "stored", RegressionRule())
    verdict = conclusion_of(head, found, GateRules()).verdict
    assert (verdict.exit_code, verdict.headline) == (1, headline)
    assert found.verification.state == "not_confirmed"
    assert len([c for c in found.of_kind("regressed") if c.label == "confirmed"]) == len(dead)
    accepted = [loss for loss in lost_cases(found, head.run.target) if loss.case in lost]
    assert without_accepted(head, found, accepted, RegressionRule())[1].verdict is V.NOT_CONFIRMED


def test_a_base_that_fails_as_often_clears_a_suspect():
    runner = ScriptedRunner({**SUITE, "k7": "fff"}, always("p", k7="f"), always("p", k7="f"))
    assert (held(runner).verdict, states(held(runner))) == (V.NO_CHANGE, {"k7": "cleared"})


@pytest.mark.parametrize(
    ("base", "head", "reason"),
    [
        (always("p", k7="e"), always("p", k7="f"), "some fresh runs errored"),
        (always("p", k7=""), always("p", k7="f"), ""),
        (FINE, always("p", k7=""), ""),
    ],
    ids=["the base errs", "the base has no such case", "nothing can be run"],
)
def test_a_suspect_that_cannot_be_settled_is_never_called_fine(base, head, reason):
    found = held(ScriptedRunner({**SUITE, "k7": "fff"}, base, head))
    assert (found.verdict, found.inconclusive_by) == (V.INCONCLUSIVE, "suspects")
    assert states(found) == {"k7": "open"}
    assert "k7 may be lost" in found.why
    assert reason in found.why


def test_an_errored_fresh_run_is_asked_again():
    def head(key, number):
        return "e" if number in (1, 2) else "f" if key == "k7" else "p"

    found = held(ScriptedRunner({**SUITE, "k7": "fff"}, FINE, head))
    assert states(found) == {"k7": "confirmed"}


def test_without_a_base_to_run_a_case_that_always_fails_is_open_and_others_inform():
    runner = ScriptedRunner({**SUITE, "k7": "fff"}, FINE, always("p", k7="f"))
    runner.why_no_base = runner.why_no_second_look = "a file"
    found = held(runner)
    assert (found.verdict, found.inconclusive_by, states(found)) == (V.INCONCLUSIVE, "suspects", {"k7": "open"})
    assert (runner.runs("head", "k7"), runner.runs("base", "k7")) == (12, 0)
    passing = ScriptedRunner({**SUITE, "k7": "fff"}, FINE, FINE)
    passing.why_no_base = passing.why_no_second_look = "a file"
    assert held(passing).verdict is V.NO_CHANGE


@pytest.mark.parametrize(("critical", "verdict"), [(True, V.INCONCLUSIVE), (False, V.NO_CHANGE)])
def test_one_stored_run_is_enough_to_leave_a_critical_case_open(critical, verdict):
    runner = ScriptedRunner({**SUITE, "k7": "fff"}, FINE, always("p", k7="f"), critical=critical)
    runner.why_no_base = runner.why_no_second_look = "a file"
    found = held(runner, dict.fromkeys(SUITE, "p"), critical=critical)
    assert found.verdict is verdict


def test_many_stored_runs_confirm_a_case_without_a_base_to_run():
    base = {f"k{n}": "p" * 12 for n in range(60)}
    runner = ScriptedRunner({**dict.fromkeys(base, "ppp"), "k7": "fff"}, FINE, always("p", k7="f"))
    runner.why_no_base = runner.why_no_second_look = "a file"
    found = held(runner, base)
    assert (found.verdict, states(found)) == (V.REGRESSION, {"k7": "confirmed"})


def test_a_loss_of_the_whole_is_looked_at_again_and_blocks_where_it_is_seen_again():
    lost = {f"k{n}": "f" for n in range(15)}
    runner = ScriptedRunner({**SUITE, **dict.fromkeys(lost, "fff")}, FINE, always("p", **lost))
    found = held(runner)
    assert (found.verdict, found.rounds_done, runner.looks) == (V.REGRESSION, 1, 1)
    assert found.verification.state == "confirmed"
    assert runner.asked == []  # no single case need be run again
    assert {c.key for c in found.of_kind("regressed") if c.label == "confirmed"} == set(lost)


def test_a_loss_that_is_confirmed_is_not_inconclusive_as_well():
    """Two of sixteen cases: fewer rounds than planned do not show it by themselves."""
    base = {key: SUITE[key] for key in list(SUITE)[:16]}
    found = held(ScriptedRunner({**base, "k0": "fff", "k1": "fff"}, FINE, always("p", k0="f", k1="f")), base)
    assert (found.verdict, found.verification.state) == (V.REGRESSION, "confirmed")
    assert (found.why, found.inconclusive_by) == ("", None)


def test_a_bad_hour_blocks_nobody():
    """The head's scored runs fell into it; the fresh runs of both sides did not."""
    runner = ScriptedRunner({**SUITE, **{f"k{n}": "fff" for n in range(15)}}, FINE, FINE)
    found = held(runner)
    assert found.verdict is V.NOT_CONFIRMED
    assert found.verification.state == "not_confirmed"
    assert (found.rounds_done, runner.looks) == (3, 1)  # the other rounds were made, and the look was kept


def test_a_base_that_moved_is_replaced_by_its_fresh_runs():
    both = always("p", **{f"k{n}": "f" for n in range(15)})
    runner = ScriptedRunner({**SUITE, **{f"k{n}": "fff" for n in range(15)}}, both, both)
    found = held(runner)
    assert (found.verdict, found.verification.state) == (V.NO_CHANGE, "moved")
    assert "it moved by −50.0 points" in found.verification.reason
    assert found.source == "a fresh run"


def with_refunds(head):
    """What is found where 12 of 20 cases of refunds are lost and others get better; `head` runs anew."""
    base = {f"k{n}": "ppp" if n < 20 else "pff" for n in range(120)}
    rounds = {f"k{n}": "fff" if n < 12 else "ppp" for n in range(120)}
    runner = ScriptedRunner(rounds, FINE, head)

    def cases(runs):
        return [case(k, v, category="refunds" if int(k[1:]) < 20 else "rest") for k, v in runs.items()]

    runner.report_of = lambda runs: report(cases(runs), repeat=3)
    return compare_in_rounds(runner, report(cases(base)), "stored", RegressionRule())[1]


def test_a_loss_of_one_part_is_looked_at_on_its_own_cases_and_nobody_pays_for_it():
    found = with_refunds(always("p", **{f"k{n}": "f" for n in range(12)}))
    assert (found.verdict, found.verification.state) == (V.REGRESSION, "confirmed")
    assert found.drop < 0  # the whole rose
    assert [(h.family, h.name) for h in found.hypotheses if h.finding == "lost"] == [("category", "refunds")]


def test_a_part_that_was_lost_in_a_bad_hour_blocks_nobody():
    found = with_refunds(FINE)
    assert (found.verdict, found.verification.state) == (V.NOT_CONFIRMED, "not_confirmed")


def test_a_critical_case_makes_all_its_rounds_and_one_failure_is_no_proof():
    runner = ScriptedRunner({"k0": "pfp", **{k: v for k, v in SUITE.items() if k != "k0"}}, FINE, FINE)
    marked = [case(k, v, critical=k == "k0") for k, v in SUITE.items()]
    runner.report_of = lambda runs: report([case(k, v, critical=k == "k0") for k, v in runs.items()], repeat=3)
    head, found = compare_in_rounds(runner, report(marked), "stored", RegressionRule())
    assert runner.made == {**dict.fromkeys(SUITE, 1), "k0": 3}
    assert {case.key: len(case.attempts) for case in head.cases} == runner.made  # and the report has them all
    assert (found.verdict, states(found)) == (V.NO_CHANGE, {"k0": "dropped"})


def test_a_removed_critical_case_is_a_regression():
    kept = {key: letters for key, letters in SUITE.items() if key != "k0"}
    runner = ScriptedRunner(kept, FINE, FINE)
    base = report([case(k, v, critical=k == "k0") for k, v in SUITE.items()])
    found = compare_in_rounds(runner, base, "stored", RegressionRule())[1]
    assert (found.verdict, found.critical_lost) == (V.REGRESSION, ("k0",))


def test_a_run_that_will_be_a_base_makes_all_rounds():
    runner = ScriptedRunner(SUITE, FINE, FINE)
    runner.all_rounds = True
    assert held(runner).rounds_done == 3


def test_a_deterministic_target_is_asked_again_what_it_fails_now():
    once = dict.fromkeys(SUITE, "p")
    runner = ScriptedRunner({**once, "k7": "f"}, FINE, always("p", k7="f"), deterministic=True)
    found = held(runner, once)
    assert (found.verdict, states(found)) == (V.REGRESSION, {"k7": "confirmed"})
    assert (runner.runs("head", "k7"), runner.runs("base", "k7")) == (2, 1)


@pytest.mark.parametrize(
    ("base", "head", "verdict", "state"),
    [
        ("p", "f", V.REGRESSION, "confirmed"),
        ("f", "f", V.NO_CHANGE, "dropped"),
        ("e", "f", V.INCONCLUSIVE, "open"),
        ("p", "e", V.INCONCLUSIVE, "open"),
        ("p", "p", V.NO_CHANGE, "dropped"),
    ],
)
def test_a_deterministic_target_is_asked_on_the_base_what_errored_there_and_fails_now(base, head, verdict, state):
    once = dict.fromkeys(SUITE, "p")
    runner = ScriptedRunner({**once, "k7": "f"}, always("p", k7=base), always("p", k7=head), deterministic=True)
    found = held(runner, {**once, "k7": "e"})
    assert (found.verdict, states(found)) == (verdict, {"k7": state})
    assert found.deterministic is (head != "p")


@pytest.mark.parametrize(
    ("limit", "critical", "verdict", "state"),
    [
        (0.1, False, V.NO_CHANGE, "cleared"),
        (0.1, True, V.INCONCLUSIVE, "open"),
        (0.0, False, V.INCONCLUSIVE, "open"),
    ],
)
def test_what_errors_on_the_base_of_a_deterministic_target_warns_if_the_settings_let_errors_pass(
    limit, critical, verdict, state
):
    once = dict.fromkeys(SUITE, "p")
    fresh = always("p", k7="e"), always("p", k7="f")
    runner = ScriptedRunner({**once, "k7": "f"}, *fresh, deterministic=True, critical=critical)
    cases = [case(key, letter, critical=critical) for key, letter in {**once, "k7": "e"}.items()]
    base = report(cases, deterministic=True)
    found = compare_in_rounds(runner, base, "stored", RegressionRule(max_errors=limit))[1]
    assert (found.verdict, states(found)) == (verdict, {"k7": state})
    assert found.suspects[0].reason == "errors hide what it was on the base"


def test_what_errored_on_the_base_and_fails_now_is_open_if_nothing_can_be_run():
    once = dict.fromkeys(SUITE, "p")
    runner = ScriptedRunner({**once, "k7": "f"}, FINE, FINE, deterministic=True)
    runner.can_run = False
    found = held(runner, {**once, "k7": "e"})
    assert (found.verdict, found.inconclusive_by) == (V.INCONCLUSIVE, "errors")


def test_a_deterministic_target_that_disagrees_with_itself_is_none():
    once = dict.fromkeys(SUITE, "p")
    runner = ScriptedRunner({**once, "k7": "f"}, FINE, FINE, deterministic=True)
    found = held(runner, once)
    assert (found.verdict, found.deterministic, states(found)) == (V.NO_CHANGE, False, {"k7": "dropped"})
    assert any("gave different answers" in caveat for caveat in found.caveats)


def test_runs_that_differ_break_the_promise_of_a_deterministic_target_too():
    """Each case still passes twice of three times, so none failed by itself."""
    runner = ScriptedRunner(dict.fromkeys(SUITE, "fpp"), FINE, lambda _, n: "fp"[n % 2], deterministic=True)
    found = held(runner)
    assert (found.verdict, found.deterministic) == (V.REGRESSION, False)
    assert any("gave different answers" in caveat for caveat in found.caveats)


@pytest.mark.parametrize(
    ("limit", "ending"), [(None, (V.REGRESSION, "confirmed")), (15, (V.INCONCLUSIVE, "open"))]
)
def test_a_broken_promise_does_not_hide_the_loss_of_a_case_behind_the_first_few(limit, ending):
    """Five that fail once come first; six that are fixed pay for the one that is lost."""
    base = {f"k{n}": "f" if 5 <= n < 11 else "p" for n in range(12)}
    runner = ScriptedRunner(
        {**dict.fromkeys(base, "p"), **{f"k{n}": "f" for n in (*range(5), 11)}},
        FINE,
        always("p", k11="f"),
        deterministic=True,
    )
    stored = report(base, deterministic=True)
    found = compare_in_rounds(runner, stored, "stored", RegressionRule(max_fresh_runs=limit))[1]
    assert (found.verdict, states(found)["k11"]) == ending


@pytest.mark.parametrize(
    ("fresh", "limit", "verdict", "state"),
    [
        ("e", 0.1, V.INCONCLUSIVE, "open"),
        ("f", 0.1, V.REGRESSION, "confirmed"),
        ("p", 0.1, V.NO_CHANGE, "dropped"),
        ("e", 0.0, V.NO_CHANGE, None),  # the gate `measured` fails
    ],
)
def test_a_case_with_errors_alone_is_run_again_if_the_settings_let_errors_pass(fresh, limit, verdict, state):
    runner = ScriptedRunner({**SUITE, "k7": "eee"}, FINE, always("p", k7=fresh))
    found = compare_in_rounds(runner, report(SUITE), "stored", RegressionRule(max_errors=limit))[1]
    assert (found.verdict, states(found).get("k7")) == (verdict, state)
    assert runner.runs("head", "k7") <= 8


def test_a_bad_hour_with_errors_is_not_made_longer():
    runner = ScriptedRunner({**SUITE, **{f"k{n}": "eee" for n in range(10)}}, FINE, FINE)
    found = compare_in_rounds(runner, report(SUITE), "stored", RegressionRule(max_errors=0.5))[1]
    assert (found.verdict, found.inconclusive_by, runner.asked) == (V.INCONCLUSIVE, "errors", [])


def test_what_looks_lost_beyond_the_runs_that_may_be_made_is_open():
    base = {f"k{n}": "ppp" for n in range(60)}
    rounds = {f"k{n}": "fff" if n < 40 else "ppp" for n in range(60)}

    def coin(key, number):
        return "pf"[number % 2] if int(key[1:]) < 40 else "p"

    runner = ScriptedRunner(rounds, coin, coin)
    found = held(runner, base)
    assert found.verdict is not V.NO_CHANGE
    assert len(runner.asked) <= 96


def aged(runner, days, base=SUITE):
    stored = report(base)
    stored = replace(stored, run=replace(stored.run, started_at=stored.run.started_at - timedelta(days=days)))
    return compare_in_rounds(runner, stored, "stored", RegressionRule())[1]


def test_an_old_base_is_measured_afresh_before_anything_passes():
    """The model got better since; the change gives ten points back, which the stored base does not show."""
    base = {f"k{n}": "ppp" if n < 24 else "fff" for n in range(30)}
    runner = ScriptedRunner(base, FINE, always("p", **{f"k{n}": "f" for n in range(24, 30)}))
    assert aged(runner, 1, base).verdict is V.NO_CHANGE
    runner = ScriptedRunner(base, FINE, always("p", **{f"k{n}": "f" for n in range(24, 30)}))
    found = aged(runner, 8, base)
    assert (found.verdict, runner.looks) == (V.REGRESSION, 1)
    assert "it moved by +20.0 points" in found.verification.reason


def test_a_loss_against_an_old_base_that_cannot_be_run_again_is_not_known_to_be_one():
    runner = ScriptedRunner({**SUITE, **{f"k{n}": "fff" for n in range(12)}}, FINE, FINE)
    runner.why_no_base = runner.why_no_second_look = "its commit is not here"
    assert aged(runner, 1).verdict is V.REGRESSION
    runner = ScriptedRunner({**SUITE, **{f"k{n}": "fff" for n in range(12)}}, FINE, FINE)
    runner.why_no_base = runner.why_no_second_look = "its commit is not here"
    found = aged(runner, 8)
    assert (found.verdict, found.inconclusive_by) == (V.INCONCLUSIVE, "base")
    assert "8 days old, and it could not be run again (its commit is not here)" in found.why
    runner = ScriptedRunner({**SUITE, **{f"k{n}": "fff" for n in range(12)}}, FINE, FINE)
    runner.why_no_base = runner.why_no_second_look = "its commit is not here"
    found = aged(runner, 8, [*report(SUITE).cases, case("crit", "ppp", critical=True)])
    assert (found.verdict, found.critical_lost) == (V.REGRESSION, ("crit",))


def edited(runner, key="k7", **fields):
    """Against a base whose case of this name had another content."""

    def cases(runs, fingerprint):
        return [case(k, v, **(fields | {"fingerprint": fingerprint} if k == key else {})) for k, v in runs.items()]

    runner.report_of = lambda runs: report(cases(runs, "new" * 20), repeat=3)
    return compare_in_rounds(runner, report(cases(SUITE, "old" * 20)), "stored", RegressionRule())[1]


def test_an_edited_case_that_fails_is_lost_where_its_old_form_fails_too():
    runner = ScriptedRunner({**SUITE, "k7": "fff"}, FINE, FINE)
    runner.fresh["old form"] = always("f")
    found = edited(runner)
    assert (found.verdict, states(found)) == (V.REGRESSION, {"k7": "confirmed"})
    assert found.suspects[0].edited


@pytest.mark.parametrize("rest", ["edited", "removed"])
def test_edits_of_cases_that_the_base_did_not_measure_do_not_hide_the_loss_of_an_edited_case(rest):
    """Of 16 cases the base skipped four: with these edited or removed too, 11 of the 12 others are compared."""

    def cases(runs, content):
        return [case(k, v, **({"fingerprint": content} if v == "s" or k == "k0" else {})) for k, v in runs.items()]

    base = {f"k{n}": "p" if n < 12 else "s" for n in range(16)}
    rounds = {k: v for k, v in {**base, "k0": "f"}.items() if rest == "edited" or v != "s"}
    runner = ScriptedRunner(rounds, FINE, FINE)
    runner.fresh["old form"] = always("f")
    runner.report_of = lambda runs: report(cases(runs, "new"))
    found = compare_in_rounds(runner, report(cases(base, "old")), "stored", RegressionRule())[1]
    assert (found.verdict, states(found)) == (V.REGRESSION, {"k0": "confirmed"})


def test_an_edited_case_whose_old_form_passes_was_made_stricter():
    runner = ScriptedRunner({**SUITE, "k7": "fff"}, FINE, FINE)
    runner.fresh["old form"] = always("p")
    found = edited(runner)
    assert (found.verdict, states(found)) == (V.NO_CHANGE, {"k7": "dropped"})


@pytest.mark.parametrize("critical", [False, True])
def test_an_edited_case_is_run_in_its_old_form_also_beside_the_loss_of_the_whole(critical):
    """Whoever accepts that loss would accept this one unseen."""
    lost = {f"k{n}": "f" for n in range(10, 30)}
    runner = ScriptedRunner({**SUITE, **dict.fromkeys(lost, "fff"), "k7": "fff"}, FINE, always("p", **lost))
    runner.fresh["old form"] = always("f")
    found = edited(runner, critical=critical)
    assert (found.rounds_done, states(found)) == (1, {"k7": "confirmed"})


def test_an_edited_case_that_fails_and_whose_old_form_cannot_be_run_is_open():
    runner = ScriptedRunner({**SUITE, "k7": "fff"}, FINE, FINE)
    runner.why_no_base = runner.why_no_second_look = "a file"
    found = edited(runner)
    assert (found.verdict, found.inconclusive_by, states(found)) == (V.INCONCLUSIVE, "suspects", {"k7": "open"})


def test_an_edited_critical_case_is_run_in_its_old_form_though_it_passes():
    runner = ScriptedRunner(SUITE, FINE, FINE)
    runner.fresh["old form"] = always("f")
    found = edited(runner, critical=True)
    assert (found.verdict, found.critical_lost) == (V.REGRESSION, ("k7",))
    runner = ScriptedRunner(SUITE, FINE, FINE)
    runner.fresh["old form"] = always("p")
    assert edited(runner, critical=True).verdict is V.NO_CHANGE


@pytest.mark.parametrize(("old_form", "verdict"), [("f", V.REGRESSION), ("p", V.NO_CHANGE), (None, V.NO_CHANGE)])
def test_so_is_one_of_which_only_white_space_was_edited(old_form, verdict):
    runner = ScriptedRunner(SUITE, FINE, FINE)
    if old_form is None:
        runner.why_no_base = runner.why_no_second_look = "its commit is not here"
    else:
        runner.fresh["old form"] = always(old_form)
    assert edited(runner, critical=True, normalised_fingerprint="same" * 16).verdict is verdict


def aged_deterministic(runner, base):
    stored = report([case(key, letters) for key, letters in base.items()], deterministic=True)
    stored = replace(stored, run=replace(stored.run, started_at=stored.run.started_at - timedelta(days=30)))
    return compare_in_rounds(runner, stored, "stored", RegressionRule())[1]


def test_an_open_case_of_a_deterministic_target_stays_open_when_an_old_base_is_measured_again():
    """Its fresh runs err: nobody knows whether it is lost."""
    base = {f"k{n}": "p" for n in range(20)}
    runner = ScriptedRunner({**base, "k1": "f"}, FINE, always("p", k1="e"), deterministic=True)
    found = aged_deterministic(runner, base)
    assert (found.verdict, states(found)) == (V.INCONCLUSIVE, {"k1": "open"})


@pytest.mark.parametrize("lacks", ["", "facts.txt"])
def test_a_base_that_is_better_than_it_was_stored_excuses_nothing(lacks):
    """What its checkout lacks cannot make it better."""
    stored = {f"k{n}": "ppp" if n % 3 else "fff" for n in range(60)}
    runner = ScriptedRunner(stored, FINE, lambda key, _: stored[key][0])
    runner.base_lacks = lacks
    found = aged(runner, 30, stored)
    assert found.verdict is V.REGRESSION


def test_a_base_that_is_worse_where_it_lacks_files_leaves_a_loss_open_and_a_pass_alone():
    def answer(key, _):
        return "f" if int(key[1:]) % 3 == 0 else "p"

    lost = {f"k{n}": answer(f"k{n}", 0) * 3 for n in range(30)}
    for rounds, head, verdict in [(lost, answer, V.INCONCLUSIVE), (SUITE, FINE, V.NO_CHANGE)]:
        runner = ScriptedRunner(rounds, answer, head)
        runner.base_lacks = "facts.txt"
        found = aged(runner, 30)
        assert found.verdict is verdict, found.why


@pytest.mark.parametrize(("limit", "verdict"), [(0.0, V.INCONCLUSIVE), (0.1, V.NO_CHANGE)])
def test_a_case_that_erred_on_the_base_is_open_unless_errors_are_allowed(limit, verdict):
    base = {**{f"k{n}": "p" for n in range(20)}, "k1": "e"}
    head = report({**base, "k1": "f"})
    found = compare(head, report(base), "base.json", rule=RegressionRule(max_errors=limit))
    assert found.verdict is verdict or "k1 may be lost" in found.why
    assert (found.inconclusive_by == "suspects") is (limit == 0.0)
