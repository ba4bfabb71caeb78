"""An accepted loss does not block; gates of the settings and everything else do as before."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from runevals.records import Acceptance, GateRules, GateState
from runevals.reports import results_document
from runevals.run.acceptance import matching, with_acceptance, with_waiting
from runevals.settings.resolve import RawSettings, resolve
from runevals.suites.accepted import FILENAME, written
from runevals.verdict.accepted import lost_cases
from runevals.verdict.decide import decide
from runevals.verdict.matching import one_sided
from tests.sample_reports import case, report

RULES = GateRules()


@pytest.fixture
def settings(tmp_path):
    return resolve(RawSettings(cwd=tmp_path, environment={}))


def accepted(rules, head, base, keys, **more):
    """(as it was, with the losses of these keys accepted)."""
    before = decide(report(base, **more), report(head, **more), rules)
    lost = lost_cases(before.comparison, before.report.run.target)
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


def test_a_gate_of_the_settings_looks_at_all_cases():
    floor = replace(RULES, min_pass_rate=0.9)
    _, after = accepted(floor, {"a": "f", "b": "p"}, {"a": "p", "b": "p"}, "a", deterministic=True)
    assert (after.verdict.exit_code, after.acceptance) == (1, None)


def test_what_is_not_known_of_other_cases_is_said_beside():
    base = {f"k{n}": "ppp" for n in range(20)}
    head = {**base, **dict.fromkeys(("k0", "k1", "k2", "k3"), "fff")}
    _, after = accepted(RULES, head, base, ("k0", "k1", "k2"))
    told = "3 regressed, accepted by @ana: wanted. Beside it: Inconclusive"
    assert (after.verdict.exit_code, after.verdict.headline[: len(told)]) == (0, told)
    strict = replace(RULES, on_inconclusive="fail")
    _, after = accepted(strict, head, base, ("k0", "k1", "k2"))
    assert (after.verdict.exit_code, after.verdict.headline.partition(" – ")[0]) == (3, "Inconclusive")


def test_what_looked_lost_as_the_run_ended_is_could_not_measure():
    base = {f"k{n}": "pppppp" for n in range(20)}
    head = {**dict.fromkeys(base, "p"), **dict.fromkeys((f"k{n}" for n in range(12)), "f")}
    lost = [f"k{n}" for n in range(11)]
    _, after = accepted(RULES, head, base, lost, repeat=3)
    assert after.verdict.exit_code == 3
    assert after.verdict.headline.startswith(
        "k11 may be lost, and the run ended before that was settled – 11 regr"
    )


def on_base_suite(head, base, removed=(), *, deterministic=True):
    """A conclusion of the base's suite, of a change that edited every case and removed these."""
    there, before = (report(cases, deterministic=deterministic) for cases in (head, base))
    found = decide(before, there, RULES)
    changes = [one_sided(case, "removed") for case in before.cases if case.key in removed]
    comparison = replace(found.comparison, on_base_suite=True, changes=(*found.comparison.changes, *changes))
    kept = [one for one in there.cases if one.key not in removed]
    own = [case(one.key, "ppp", fingerprint=f"easier {one.key}", category="replay") for one in kept]
    return replace(
        found, report=report(own, deterministic=deterministic), comparison=comparison, head_on_base_suite=there
    )


def accepting(found, keys):
    lost = lost_cases(found.comparison, found.report.run.target)
    losses = tuple(replace(loss, reason="wanted") for loss in lost if loss.case in keys)
    assert matching(found, losses) == losses
    assert [loss.case for loss in losses] == list(keys)
    return with_acceptance(found, Acceptance(by="ana", losses=losses), RULES).verdict


@pytest.mark.parametrize(("keys", "exit_code"), [("a", 1), ("ab", 0)])
def test_what_the_bases_suite_lost_blocks_unless_all_of_it_is_accepted(keys, exit_code):
    base = dict.fromkeys("abcdefgh", "p")
    found = on_base_suite({**base, "a": "f", "b": "f"}, base, removed="b")
    assert accepting(found, keys).exit_code == exit_code


def test_accepting_what_was_removed_accepts_no_fall_of_the_scores_of_others():
    base = {f"k{n}": [1.0, 1.0, 1.0] for n in range(60)}
    head = {**base, **{f"k{n}": [0.5, 0.5, 0.5] for n in range(12)}}
    removed = [f"k{n}" for n in range(40, 60)]
    found = on_base_suite(head, base, removed, deterministic=False)
    assert found.verdict.exit_code == 1
    assert accepting(found, removed).exit_code == 1


def test_an_accepted_loss_of_the_bases_suite_that_was_read_cannot_be_judged():
    base = dict.fromkeys("abcdefgh", "p")
    found = on_base_suite({**base, "a": "f"}, base)
    read = replace(found, head_on_base_suite=None)
    assert matching(read, lost_cases(read.comparison, read.report.run.target)) == ()


def test_a_run_on_a_laptop_says_which_entries_need_a_reviewer(settings, tmp_path):
    runs = [report({"a": letter, "b": "p"}, deterministic=True) for letter in "pf"]
    failed = decide(*runs)
    [loss] = lost_cases(failed.comparison, failed.report.run.target)
    assert with_waiting(failed, settings) == failed
    other = replace(loss, case="b", reason="stale")
    (tmp_path / FILENAME).write_text(written([replace(loss, reason="wanted"), other]), encoding="utf-8")
    waiting = with_waiting(failed, settings)
    assert waiting.verdict == failed.verdict
    assert [caveat for caveat in waiting.comparison.caveats if "reviewer" in caveat] == [
        "a would be accepted if a reviewer approved the pull request: wanted"
    ]
    (tmp_path / FILENAME).write_text("[{}]", encoding="utf-8")
    assert FILENAME in with_waiting(failed, settings).comparison.caveats[-1]
