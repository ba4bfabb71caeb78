"""A change against its base: scored runs choose where to look, and fresh runs of both sides decide."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from runevals.records import GateRules, Problem, Reason, RegressionRule, State
from runevals.verdict.outcome import conclusion_of
from runevals.verdict.settle import alone, is_open, settled
from tests.sample_reports import case, report
from tests.scripted_runner import ScriptedRunner, always, concluded

RULE = RegressionRule()
KEYS = [f"k{n}" for n in range(30)]
STORED = dict.fromkeys(KEYS, "ppp")
RUNS = st.text("pf", min_size=12, max_size=12)
QUIET = settings(max_examples=60, deadline=None)


def ran(head, base, *, rounds="fff", stored=STORED, rules=None, edit=None, **attributes):
    """(how it ended, its runner): k7 looks lost, and fresh runs of it come out as these letters."""
    fields = {name: attributes.pop(name) for name in ("category", "deterministic") if name in attributes}
    runner = ScriptedRunner({**STORED, "k7": rounds}, always("p", k7=base), always("p", k7=head), **fields)
    for name, value in attributes.items():
        setattr(runner, name, value)
    of_base = report([case(key, letters) for key, letters in stored.items()], deterministic=runner.deterministic)
    return concluded(runner, edit(of_base) if edit else of_base, rules), runner


def allowing(fresh_runs):
    return GateRules(regression=RegressionRule(max_fresh_runs=fresh_runs))


def rank(conclusion):
    """✓, ⚠, 3, 1."""
    return {0: int(conclusion.verdict.warns), 3: 2, 1: 3}[conclusion.verdict.exit_code]


def about(conclusion, key="k7"):
    return next((each.reason for each in conclusion.comparison.findings if each.name == key), None)


@pytest.mark.parametrize("stored", ["p", "ppp", "p" * 10])
@pytest.mark.parametrize("deterministic", [False, True])
def test_a_dead_case_is_worse_where_it_can_be_run_again(stored, deterministic):
    found, _ = ran("f", "p", stored={**STORED, "k7": stored}, deterministic=deterministic)
    assert (found.verdict.exit_code, about(found)) == (1, Reason.PROVEN)


BAD_HOUR = {key: "fff" if n < 12 else "ppp" for n, key in enumerate(KEYS)}


@pytest.mark.parametrize(
    ("attributes", "exit_code"),
    [
        pytest.param({"why_no_base": "it is deployed"}, 3, id="the base cannot be run"),
        pytest.param({"can_run": False}, 0, id="recorded answers"),
        pytest.param({"base": "e"}, 3, id="the base errs"),
        pytest.param({"head": "e"}, 3, id="the head errs"),
        pytest.param({"base": ""}, 3, id="no run of the base arrives"),
        pytest.param({"head": "", "trouble": "the key expired"}, 3, id="no run arrives, and it is known why"),
        pytest.param({"stored": BAD_HOUR}, 1, id="the base was stored in a bad hour"),
        pytest.param({"stored": {**STORED, "k7": "eee"}}, 1, id="the stored base erred"),
        pytest.param({"base": "f"}, 0, id="the base fails as well now"),
        pytest.param({"rules": allowing(0)}, 0, id="no runs are allowed"),
        pytest.param({"rules": allowing(0), "deterministic": True}, 1, id="nor of a deterministic target"),
        pytest.param({"rules": allowing(2)}, 0, id="two runs are"),
        pytest.param({"why_no_rounds": "they cost too much"}, 1, id="no whole rounds"),
    ],
)
def test_a_dead_case_is_never_fine(attributes, exit_code):
    sides = {side: attributes.pop(side, letter) for side, letter in (("head", "f"), ("base", "p"))}
    found, _ = ran(**sides, **attributes)
    assert found.verdict.exit_code == exit_code, found.verdict.headline
    assert exit_code or (found.verdict.warns and "k7" in found.verdict.headline)


@pytest.mark.parametrize(
    ("attributes", "reason"),
    [
        pytest.param({"base_lacks": "data.csv"}, Reason.BASE_FILES, id="its checkout lacks files"),
        pytest.param(
            {"edit": lambda made: replace(made, run=replace(made.run, uncommitted="abc"))}, Reason.BASE_EDITS,
            id="it was made with edits",
        ),
        pytest.param({}, Reason.UNPROVEN, id="it is as stored"),
    ],
)  # fmt: skip
def test_what_a_base_that_fails_now_says_depends_on_how_it_was_made(attributes, reason):
    assert about(ran("f", "f", **attributes)[0]) is reason


def test_two_passes_clear_a_case_and_the_base_is_not_asked():
    found, runner = ran("p", "p")
    assert (rank(found), about(found)) == (0, Reason.PASSED_AGAIN)
    assert (runner.runs("head", "k7"), runner.runs("base", "k7")) == (2, 0)


def test_what_passes_is_not_run_again():
    found, runner = ran("p", "p", rounds="ppp")
    assert (rank(found), runner.asked, runner.fresh_rounds_made) == (0, [], 0)


def test_one_round_is_enough_if_nothing_is_in_question_and_a_run_that_is_stored_makes_all():
    for attributes, made in (({}, 1), ({"all_rounds": True}, 3)):
        _, runner = ran("p", "p", rounds="ppp", **attributes)
        assert runner.made["k0"] == made


def test_a_whole_category_is_looked_at_on_fresh_rounds_of_both_sides():
    lost = {key: "fff" if n < 15 else "ppp" for n, key in enumerate(KEYS)}
    base = report([case(key, "ppp") for key in KEYS])
    for now, state in (("f", State.WORSE), ("p", State.NOT_WORSE)):
        runner = ScriptedRunner(lost, always("p"), always("p", **dict.fromkeys(KEYS[:15], now)))
        head, found = settled(runner, base, "stored", RULE)
        assert (found.state, runner.fresh_rounds_made, found.fresh) == (state, 1, "a fresh run")
        assert is_open(head, base, RULE)


LOST = {key: "fff" if n < 15 else "ppp" for n, key in enumerate(KEYS)}


@pytest.mark.parametrize(
    ("acceptable", "reason"),
    [((), Reason.BUDGET), (range(1), Reason.PROVEN), (range(1, 15), Reason.PROVEN), (range(15), Reason.PROVEN)],
)
def test_beside_a_lost_part_the_cases_are_only_run_again_if_losses_may_be_accepted(acceptable, reason):
    runner = ScriptedRunner(LOST, always("p"), always("p", **dict.fromkeys(KEYS[:15], "f")))
    some = {(case("k", "p").suite, KEYS[number]) for number in acceptable}
    _, found = settled(runner, report(STORED), "stored", RULE, acceptable=some)
    assert (found.state, found.finding(found.base.cases[0].suite, "k0").reason) == (State.WORSE, reason)


def test_a_case_beside_losses_that_may_be_accepted_is_decided_as_if_there_were_none():
    acceptable = {(case("k", "p").suite, key) for key in KEYS[1:15]}
    counts = []
    for rounds in ({**STORED, "k0": "fff"}, LOST):
        runner = ScriptedRunner(rounds, always("p"), lambda key, _, rounds=rounds: rounds[key][0])
        settled(runner, report(STORED), "stored", RULE, acceptable=acceptable)
        counts.append((runner.runs("base", "k0"), runner.runs("head", "k0")))
    assert counts[0] == counts[1]


def test_what_was_proven_lost_by_an_earlier_attempt_stays_lost():
    before, _ = ran("f", "p")
    lost = tuple(each for each in before.comparison.findings if each.name == "k7")
    found, runner = ran("p", "p", lost_before=lost)
    assert (found.verdict.exit_code, runner.asked) == (1, [])


def test_a_run_that_stopped_asks_for_nothing_more():
    runner = ScriptedRunner({**STORED, "k7": "fff"}, always("p"), always("f"))
    stopped = Problem(code="budget_exhausted", message="$1 is spent")
    made = runner.next_round()
    runner.next_round = lambda: replace(made, run=replace(made.run, stopped=stopped))
    found = concluded(runner, report(STORED))
    assert (found.verdict.exit_code, runner.asked) == (3, [])


@pytest.mark.parametrize(("on_unknown", "exit_code"), [("pass", 0), ("unmeasured", 3), ("fail", 3)])
def test_what_is_not_known_ends_as_the_settings_say(on_unknown, exit_code):
    found, _ = ran("f", "e", rules=GateRules(on_unknown=on_unknown))
    assert (found.verdict.exit_code, "k7" in found.verdict.headline) == (exit_code, True)


@pytest.mark.parametrize(("on_unknown", "exit_code"), [("pass", 0), ("unmeasured", 0), ("fail", 3)])
def test_a_warning_ends_as_the_settings_say(on_unknown, exit_code):
    found, _ = ran("f", "f", rules=GateRules(on_unknown=on_unknown))
    assert (found.verdict.exit_code, "k7" in found.verdict.headline) == (exit_code, True)


@pytest.mark.parametrize(
    ("rounds", "head", "base", "exit_code"),
    [
        pytest.param("e", "p", "p", 0, id="once"),
        pytest.param("epp", "p", "", 0, id="in one of three runs"),
        pytest.param("epp", "pe", "pe", 0, id="in half of the runs of both sides"),
        pytest.param("epp", "pee", "p", 3, id="in two of three the runs of the change only"),
        pytest.param("epp", "e", "p", 3, id="in each fresh run"),
        pytest.param("epp", "e", "e", 3, id="in each fresh run of both sides"),
        pytest.param("e", "f", "p", 1, id="and is lost"),
        pytest.param("epp", "", "", 3, id="and no fresh run arrives"),
    ],
)
def test_a_case_that_erred_is_measured_if_fresh_runs_err_no_more_than_the_base(rounds, head, base, exit_code):
    found, runner = ran(head, base, rounds=rounds, all_rounds=True)
    assert found.verdict.exit_code == exit_code, found.verdict.headline
    assert is_open(runner.report_of({**STORED, "k7": rounds}), report([case(key, "ppp") for key in KEYS]), RULE)
    [erred] = [each for each in found.report.cases if each.key == "k7"]
    assert (erred.unmeasured, "k7" in str(found.report.run.notices)) == (exit_code != 0, exit_code == 0)


def test_the_error_that_is_told_is_of_a_case_that_fresh_runs_replace():
    """The first case that erred errs for good, with another error."""
    lasting = case("k3", "e")
    [attempt] = lasting.attempts
    turn = replace(attempt.turns[0], error=Problem(code="target_failed", message="no such model"))
    lasting = replace(lasting, attempts=(replace(attempt, turns=(turn,)),))
    rounds = {**STORED, "k3": "e", "k7": "e"}
    runner = ScriptedRunner(rounds, always(""), always("p", k3="e"), cases={"k3": lasting})
    runner.all_rounds, runner.why_no_base = True, "there is no base"
    [told] = alone(runner, RULE).run.notices
    assert ("k7" in told, "connection reset" in told, "no such model" in told) == (True, True, False)


@pytest.mark.parametrize("acceptable", [False, True])
def test_beside_a_loss_a_case_that_erred_is_run_again_if_losses_may_be_accepted(acceptable):
    runner = ScriptedRunner({**STORED, "k0": "fff", "k7": "epp"}, always("p"), always("p", k0="f"))
    some = {(case("k", "p").suite, "k0")} if acceptable else ()
    head, found = settled(runner, report(STORED), "stored", RULE, acceptable=some)
    assert found.state is State.WORSE
    assert [each.key for each in head.cases if each.unmeasured] == ([] if acceptable else ["k7"])


@pytest.mark.parametrize(("head", "exit_code"), [("p", 0), ("e", 3), ("pe", 3)])
def test_a_new_case_that_erred_is_measured_if_two_fresh_runs_are(head, exit_code):
    runner = ScriptedRunner({**STORED, "new": "e"}, always("p", new=""), always("p", new=head))
    assert concluded(runner, report(STORED)).verdict.exit_code == exit_code


@pytest.mark.parametrize(
    ("rounds", "head", "measured"),
    [
        pytest.param({"k7": "epp"}, "p", True, id="once"),
        pytest.param({"k7": "eee"}, "p", True, id="always, and not again"),
        pytest.param({"k7": "epp"}, "pe", False, id="again"),
        pytest.param(dict.fromkeys(KEYS[:16], "eee"), "p", False, id="most of all cases"),
    ],
)
def test_without_a_base_a_case_that_erred_is_measured_if_two_fresh_runs_are(rounds, head, measured):
    runner = ScriptedRunner({**STORED, **rounds}, always(""), always(head))
    runner.all_rounds, runner.why_no_base = True, "there is no base"
    found = conclusion_of(alone(runner, RULE), None, GateRules())
    assert found.verdict.exit_code == (0 if measured else 3), found.verdict.headline


def test_few_errors_of_a_service_do_not_block_a_change():
    """3 % of all calls err, on both sides: some case of thirty does so in every second change."""
    ends = []
    for seed in range(60):
        draw = random.Random(seed)
        rounds = {key: "".join(draw.choices("pe", (97, 3), k=3)) for key in KEYS}
        runner = ScriptedRunner(rounds, *[lambda *_, draw=draw: draw.choices("pe", (97, 3))[0]] * 2)
        ends.append(concluded(runner, report([case(key, "ppp") for key in KEYS])).verdict.exit_code)
    assert ends.count(3) <= 2
    assert {*ends} <= {0, 3}


@QUIET
@given(RUNS, RUNS, st.data())
def test_a_further_loss_never_improves_it(base, head, data):
    if "p" in head:
        place = data.draw(st.sampled_from([n for n, letter in enumerate(head) if letter == "p"]))
        worse = head[:place] + "f" + head[place + 1 :]
        assert rank(ran(worse, base)[0]) >= rank(ran(head, base)[0])


@QUIET
@given(RUNS)
def test_what_comes_out_alike_on_both_sides_is_no_loss(letters):
    assert ran(letters, letters)[0].verdict.exit_code != 1


@QUIET
@given(RUNS, RUNS, st.integers(0, 12), st.sampled_from(["head", "base"]))
def test_runs_that_do_not_arrive_never_turn_a_loss_into_what_is_fine(base, head, arrived, side):
    full = ran(head, base)[0]
    sides = {"head": head, "base": base}
    sides[side] = [*sides[side][:arrived], *([""] * 60)]
    less = ran(**sides)[0]
    assert rank(full) < 3 or rank(less) > 0


@QUIET
@given(RUNS, st.sampled_from(["head", "base"]), st.booleans())
def test_errors_of_a_side_never_make_it_fine(letters, side, deterministic):
    """Unless the head passes its first fresh runs."""
    sides = {"head": letters, "base": letters, side: "e"}
    found, _ = ran(**sides, deterministic=deterministic)
    assert rank(found) or (side == "base" and letters.startswith("pp"))


@pytest.mark.parametrize(
    ("old", "new", "most", "least"),
    [(0.8, 0.8, 3, 0), (0.2, 0.2, 200, 180), (0.4, 0.4, 200, 100), (0.2, 1.0, 0, 0), (0.8, 0.2, 0, 0)],
    ids=["unchanged", "worse", "somewhat worse", "expectations edited to what comes now", "made stricter"],
)
def test_a_loss_of_cases_that_were_all_edited_is_seen_in_their_old_form(old, new, most, least):
    rng, worse = random.Random(4), 0

    def letters(share):
        return "p" if rng.random() < share else "f"

    for _ in range(200):
        runner = ScriptedRunner(
            {key: letters(new) for key in KEYS},
            lambda *_: letters(0.8),
            lambda *_: letters(new),
            old_form=lambda *_: letters(old),
            fingerprint="edited",
        )
        base = report([case(key, letters(0.8)) for key in KEYS])
        found = concluded(runner, base).comparison.findings
        worse += any((each.family, each.state) == ("whole", State.WORSE) for each in found)
    assert least <= worse <= most


def test_both_measures_of_what_edited_cases_lost_are_told():
    """Their scores fell, and none passes any more."""
    [low] = case("x", [0.2]).attempts
    runner = ScriptedRunner(
        dict.fromkeys(KEYS, "f"),
        lambda *_: "p",
        lambda *_: "f",
        old_form=lambda *_: "low",
        cases={key: case(key, [0.2], fingerprint="edited") for key in KEYS},
        answers={"low": low},
    )
    found = concluded(runner, report([case(key, [1.0] * 3) for key in KEYS])).comparison.findings
    whole = [each.metric for each in found if (each.family, each.state) == ("whole", State.WORSE)]
    assert whole == ["pass_rate", "share"]
