"""An accepted loss does not block; gates of the settings and everything else do as before."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from runevals.records import Acceptance, Gate, GateRules, GateState
from runevals.reports import results_document
from runevals.run.acceptance import matching, with_acceptance, with_waiting
from runevals.settings.resolve import RawSettings, resolve
from runevals.suites.accepted import FILENAME, written
from runevals.verdict.accepted import lost_cases
from runevals.verdict.outcome import decide
from tests.sample_reports import case, report

RULES = GateRules()


@pytest.fixture
def settings(tmp_path):
    return resolve(RawSettings(cwd=tmp_path, environment={}))


def accepted(rules, head, base, keys, **more):
    """(as it was, with the losses of these keys accepted)."""
    before = decide(report(base, **more), report(head, **more), rules)
    lost = lost_cases(before)
    losses = tuple(replace(loss, reason="wanted") for loss in lost if loss.case in keys)
    assert matching(before, losses) == losses
    return before, with_acceptance(before, Acceptance(by="ana", losses=losses), rules)


def test_the_results_document_keeps_the_loss_and_who_accepted_it():
    before, after = accepted(RULES, {"a": "f", "b": "p"}, {"a": "p", "b": "p"}, "a", deterministic=True)
    assert (before.verdict.exit_code, after.verdict.exit_code) == (1, 0)
    assert (after.report, after.comparison) == (before.report, before.comparison)
    read = results_document.parse(results_document.write(after), "x")
    assert (read.acceptance, read.verdict) == (after.acceptance, after.verdict)


@pytest.mark.parametrize("category", ["replay", "regression", "redteam"])
def test_a_preset_gate_does_not_look_at_an_accepted_case(category):
    base = [case("a", "p", category=category), case("b", "p", category=category)]
    head = [case("a", "f", category=category), case("b", "p", category=category)]
    before, after = accepted(RULES, head, base, "a", deterministic=True)
    assert {gate.name: gate.state for gate in before.gates}[category] is GateState.FAILED
    assert after.verdict.headline == "1 regressed, accepted by @ana: wanted"
    assert {gate.name: gate.state for gate in after.gates}[category] is GateState.WARNED


@pytest.mark.parametrize("runs", [("f", "f"), ("ppf", "ppf"), ("ppp", "ppf")])
def test_a_leak_blocks_until_it_is_accepted_also_if_the_base_has_it(runs):
    base, head = ([case("a", one, category="redteam"), case("b", "p")] for one in runs)
    before, after = accepted(RULES, head, base, "a")
    assert (before.verdict.exit_code, after.verdict.exit_code) == (1, 0)
    assert after.verdict.headline.endswith("accepted by @ana: wanted")
    _, after = accepted(RULES, head, base[1:], "a")  # a new case
    assert after.verdict.headline == "1 failing, accepted by @ana: wanted"


def test_a_gate_of_the_settings_looks_at_all_cases():
    floor = replace(RULES, min_pass_rate=0.9)
    _, after = accepted(floor, {"a": "f", "b": "p"}, {"a": "p", "b": "p"}, "a", deterministic=True)
    assert (after.verdict.exit_code, after.acceptance) == (1, None)


STEADY = {f"k{n}": "ppppp" for n in range(60)}


def test_what_is_left_is_decided_without_what_was_accepted():
    """Four cases that died together are a loss; of the one that is left it is not known."""
    lost = {**STEADY, **dict.fromkeys(("k0", "k1", "k2", "k3"), "fffff")}
    before, after = accepted(RULES, lost, STEADY, ("k0", "k1", "k2"))
    assert (before.verdict.exit_code, after.verdict.exit_code) == (1, 3)
    assert after.verdict.headline.startswith("Not known – k3 may be lost: ")
    assert after.verdict.headline.endswith("– 3 regressed, accepted by @ana: wanted")
    _, after = accepted(replace(RULES, on_unknown="pass"), lost, STEADY, ("k0", "k1", "k2"))
    told = "3 regressed, accepted by @ana: wanted. Beside it: Not known – k3 may be lost"
    assert (after.verdict.exit_code, after.verdict.headline[: len(told)]) == (0, told)


def test_a_case_that_was_not_run_again_because_the_run_was_lost_anyway_is_named():
    base = {f"k{n}": "pppppp" for n in range(20)}
    head = {**dict.fromkeys(base, "p"), **dict.fromkeys((f"k{n}" for n in range(12)), "f")}
    lost = [f"k{n}" for n in range(11)]
    _, after = accepted(RULES, head, base, lost, repeat=3)
    assert "k11" in after.verdict.headline


def removing(keys, lost=""):
    """(before, with these removals accepted) of a change that removes critical cases and loses others."""
    base = [case(key, "ppp", critical=True) for key in "abcdefgh"]
    head = [case(one.key, "fff" if one.key in lost else "ppp") for one in base if one.key not in keys]
    return accepted(RULES, head, base, keys, deterministic=True)


def test_the_removal_of_critical_cases_can_be_accepted_and_nothing_else_with_it():
    before, after = removing("a")
    assert (before.verdict.exit_code, after.verdict.exit_code) == (1, 0)
    before, after = removing("a", lost="b")
    assert (before.verdict.exit_code, after.verdict.exit_code) == (1, 1)


def test_accepting_what_was_removed_accepts_no_fall_of_the_scores_of_others():
    base = [case(f"k{n}", [1.0, 1.0, 1.0], critical=n == 59) for n in range(60)]
    head = [case(one.key, [0.5] * 3 if number < 12 else [1.0] * 3) for number, one in enumerate(base[:-1])]
    before, after = accepted(RULES, head, base, ["k59"])
    assert (before.verdict.exit_code, after.verdict.exit_code) == (1, 1)


def test_a_run_on_a_laptop_says_which_entries_need_a_reviewer(settings, tmp_path):
    runs = [report({"a": letter, "b": "p"}, deterministic=True) for letter in "pf"]
    failed = decide(*runs)
    [loss] = lost_cases(failed)
    assert with_waiting(failed, settings) == failed
    other = replace(loss, case="b", reason="stale")
    (tmp_path / FILENAME).write_text(written([replace(loss, reason="wanted"), other]), encoding="utf-8")
    waiting = with_waiting(failed, settings)
    assert waiting.verdict == failed.verdict
    assert [caveat for caveat in waiting.comparison.caveats if "reviewer" in caveat] == [
        "1 case will be accepted once a reviewer approves this commit: a"
    ]
    (tmp_path / FILENAME).write_text("[{}]", encoding="utf-8")
    assert FILENAME in with_waiting(failed, settings).comparison.caveats[-1]


@pytest.mark.parametrize("gone", [{}, {"c": "s"}], ids=["removed", "skipped"])
def test_what_is_gone_is_accepted_if_a_gate_on_weakenings_blocks_it(gone):
    strict = replace(RULES, gates=(Gate(name="strict", metric="weakening", op="<=", limit=0),))
    both = {"a": "p", "b": "p"}
    before, after = accepted(strict, both | gone, both | {"c": "p"}, "c", deterministic=True)
    assert (before.verdict.exit_code, after.verdict.exit_code, len(after.acceptance.losses)) == (1, 0, 1)
    assert after.comparison.weakenings == before.comparison.weakenings


def test_accepting_a_removal_accepts_no_other_weakening():
    strict = replace(RULES, gates=(Gate(name="strict", metric="weakening", op="<=", limit=0),))
    base = {"a": "p", "b": "p", "c": "p", "d": "p"}
    _, after = accepted(strict, {"a": "p", "b": "p"}, base, "c", deterministic=True)
    assert (after.verdict.exit_code, after.acceptance) == (1, None)
