"""Which base a run is compared with."""

from __future__ import annotations

from datetime import timedelta

import pytest
from msgspec.structs import replace

from runevals.records import GateRules, ModelIdentity
from runevals.records.errors import ExternalError, InvalidSettings, NoSuiteFound
from runevals.reports import results_document as document
from runevals.reports.sections import headline
from runevals.run.baseline.choose import chosen, find_stored, with_remarks
from runevals.run.baseline.stored_base import StoredBase
from runevals.settings.file import BaseSide
from runevals.settings.resolve import RawSettings, defaults, resolve
from runevals.verdict.comparability import other_answers
from runevals.verdict.outcome import Baseline, decision
from tests.sample_reports import report
from tests.sample_suites import WORSE

COMMIT = "c" * 40
STORED = Baseline(report=report({"a": "p"}), source="stored")
FRESH = Baseline(report=report({"a": "p"}), source="fresh", fresh=True)
UNREADABLE = StoredBase(commit=COMMIT, unreadable="GitHub is down")


def run(_commit):
    return FRESH


def refusing(error):
    def run(_commit):
        raise error

    return run


def test_a_stored_result_is_taken_and_nothing_is_run():
    stored = StoredBase(baseline=STORED, commit=COMMIT)
    assert chosen(stored, defaults(), RawSettings(), refusing(AssertionError())) is stored


def test_an_address_that_does_not_answer_is_no_end_where_the_base_can_be_run(tmp_path):
    told = RawSettings(cwd=tmp_path, environment={}, flags={"baseline": "http://127.0.0.1:9/base.json"})
    settings = resolve(told)
    with pytest.raises(ExternalError, match="cannot be fetched"):
        find_stored(settings, None)
    found = find_stored(replace(settings, base_side=BaseSide(commit=COMMIT)), None)
    assert found.commit == COMMIT
    assert "the baseline http://127.0.0.1:9/base.json cannot be fetched" in found.unreadable


def test_a_first_run_runs_no_base():
    assert (
        chosen(StoredBase(commit=COMMIT), defaults(), RawSettings(), refusing(AssertionError())).baseline is None
    )


def test_what_cannot_be_read_is_run_and_the_reason_told():
    found = chosen(UNREADABLE, defaults(), RawSettings(), run)
    assert (found.baseline, found.unreadable) == (FRESH, None)
    assert found.notices == ("the base was run anew: GitHub is down",)


def test_base_run_reads_nothing_and_goes_before_verify_off(tmp_path):
    told = RawSettings(cwd=tmp_path, environment={"RUNEVALS_BASE": "run"})
    settings = resolve(told)
    settings = replace(settings, compare=replace(settings.compare, verify="off"))
    stored = find_stored(settings, StoredBase(commit=COMMIT, baseline=STORED))
    found = chosen(stored, settings, told, run)
    assert (found.baseline, found.notices) == (FRESH, ())
    failed = chosen(stored, settings, told, refusing(ExternalError("no node here")))
    assert failed.unreadable == "the base ccccccc cannot be run: no node here"


@pytest.mark.parametrize("baseline", ["none", "base.json"])
def test_a_flag_goes_before_base_run(repository, baseline):
    repository.write("base.json", document.write(decision(report({"a": "p"}), None, defaults().rules)))
    flags = {"baseline": baseline}
    settings = resolve(RawSettings(cwd=repository.path, environment={"RUNEVALS_BASE": "run"}, flags=flags))
    found = find_stored(replace(settings, base_side=BaseSide(commit=repository.git("rev-parse", "HEAD"))), None)
    assert (found.unreadable, found.baseline is None) == (None, baseline == "none")


def test_an_older_result_stays_where_the_base_cannot_be_run_and_is_named():
    older = replace(STORED, older="bbbbbbb, 1 commit before the base")
    stored = StoredBase(baseline=older, commit=COMMIT, of_commit="b" * 40)
    found = chosen(stored, defaults(), RawSettings(), refusing(ExternalError("no node here")))
    assert found.baseline is older
    assert found.notices == ("the base was not run: the base ccccccc cannot be run: no node here",)
    conclusion = decision(report({"a": "p"}), older, defaults().rules)
    remarked = with_remarks(conclusion, found, defaults())
    told = "compared with an older commit: bbbbbbb, 1 commit before the base"
    assert remarked.verdict.headline == f"No regression shown in 1 case – {told}"
    assert headline(remarked)[0] == "⚠️"


def of_base(days=0, reported="gpt-5-2026", judged_by="claude-2", **target_fields):
    """The base's run of so many days ago, which models of these names answered and judged; None: no judge."""
    made = report({"a": "p"})
    target = replace(made.run.target, reported=(reported,), **target_fields)
    judge = None if judged_by is None else ModelIdentity(type="anthropic", model="claude", reported=(judged_by,))
    started_at = made.run.started_at - timedelta(days=days)
    return replace(made, run=replace(made.run, target=target, judge=judge, started_at=started_at))


@pytest.mark.parametrize(
    ("base", "mark", "told"),
    [
        pytest.param(of_base(), "✅", "", id="exact"),
        pytest.param(of_base(days=9), "⚠️", " – compared with a result of 9 days ago", id="old"),
        pytest.param(
            of_base(reported="gpt-5-2025"),
            "⚠️",
            " – the provider answers with another model than for the base: gpt-5-2025 then, gpt-5-2026 now",
            id="another model under the same name",
        ),
        pytest.param(
            of_base(judged_by="claude-1"),
            "⚠️",
            " – the judge's provider answers with another model than for the base: claude-1 then, claude-2 now",
            id="another judge under the same name",
        ),
    ],
)
def test_a_pass_against_a_base_that_is_not_exact_warns(base, mark, told):
    """One that could be measured afresh is not compared with any more."""
    found = StoredBase(baseline=replace(STORED, report=base))
    conclusion = with_remarks(decision(of_base(), found.baseline, defaults().rules), found, defaults())
    assert conclusion.verdict.headline == f"No regression shown in 1 case{told}"
    assert headline(conclusion)[0] == mark
    again = document.parse(document.write(conclusion), "x")
    assert headline(again)[0] == mark


def test_that_nothing_answers_is_no_other_model():
    down = of_base()
    down = replace(down, run=replace(down.run, target=replace(down.run.target, reported=())))
    assert [*other_answers(down, of_base())] == []


@pytest.mark.parametrize(
    ("judged_by", "remark"), [(None, ""), ("claude-2", " – compared with a result of 9 days ago")]
)
def test_what_a_deterministic_target_answered_does_not_age_but_what_a_judge_said_does(judged_by, remark):
    then, now = (of_base(days, judged_by=judged_by, deterministic=True) for days in (9, 0))
    stored = StoredBase(baseline=replace(STORED, report=then))
    conclusion = with_remarks(decision(now, stored.baseline, defaults().rules), stored, defaults())
    assert conclusion.verdict.headline == f"No regression shown in 1 case{remark}"


@pytest.mark.parametrize(
    ("type_", "then", "now", "remark"),
    [
        ("claude-code", "1.0.0", "2.0.0", " – another version of claude-code: 1.0.0 then, 2.0.0 now"),
        ("claude-code", "2.0.0", "2.0.0", ""),
        ("claude-code", None, "2.0.0", ""),
        ("a2a", "1.0.0", "2.0.0", ""),  # it may be the change: an agent that is deployed
    ],
)
def test_a_pass_against_a_base_of_another_version_of_the_agent_warns(type_, then, now, remark):
    stored = StoredBase(baseline=replace(STORED, report=of_base(type=type_, detail={"version": then})))
    head = of_base(type=type_, detail={"version": now})
    conclusion = with_remarks(decision(head, stored.baseline, defaults().rules), stored, defaults())
    assert conclusion.verdict.headline == f"No regression shown in 1 case{remark}"


@pytest.mark.parametrize(
    ("stored", "settings", "error", "told"),
    [
        pytest.param(
            UNREADABLE,
            {},
            ExternalError("no node here\nmore"),
            "GitHub is down; the base ccccccc cannot be run: no node here",
            id="refused",
        ),
        pytest.param(
            UNREADABLE,
            {},
            InvalidSettings("x"),
            "GitHub is down; the base ccccccc cannot be run: x",
            id="settings",
        ),
        pytest.param(
            replace(UNREADABLE, commit=None),
            {},
            AssertionError(),
            "GitHub is down; nothing says which commit to run instead",
            id="no commit",
        ),
        pytest.param(
            UNREADABLE,
            {"verify": "off"},
            AssertionError(),
            "GitHub is down; it is not run again (verify: off)",
            id="deployed",
        ),
    ],
)
def test_without_either_nothing_is_green(stored, settings, error, told):
    settings = replace(defaults(), compare=replace(defaults().compare, **settings))
    found = chosen(stored, settings, RawSettings(), refusing(error))
    assert (found.baseline, found.unreadable) == (None, told)
    assert found.notices == (f"no baseline: {told}",)
    verdict = with_remarks(decision(report({"a": "p"}), None, settings.rules), found, settings).verdict
    assert (verdict.outcome, verdict.exit_code) == ("unmeasured", 3)
    way = "store it, or name another: `--baseline`"
    assert verdict.headline == f"Not known – there is no base to compare with: {told}; {way}"


def test_a_base_without_a_suite_is_a_first_run():
    found = chosen(UNREADABLE, defaults(), RawSettings(), refusing(NoSuiteFound("no suite in evals/")))
    assert (found.baseline, found.unreadable) == (None, None)
    assert found.notices == ("no baseline: the base ccccccc has nothing to run: no suite in evals/",)
    conclusion = decision(report({"a": "p"}), None, defaults().rules)
    assert with_remarks(conclusion, found, defaults()) == conclusion


def test_it_only_informs_where_the_settings_say_so_and_a_failed_gate_stays_one():
    def decided(letter, **rules):
        settings = replace(defaults(), rules=GateRules(**rules))
        alone = decision(report({"a": letter}), None, settings.rules)
        return headline(with_remarks(alone, UNREADABLE, settings)), alone.verdict.exit_code

    (mark, line), code = decided("p", on_unknown="pass")
    assert (mark, code, line.startswith("Not known – there is no base")) == ("⚠️", 0, True)
    (mark, line), code = decided("f", min_pass_rate=1.0)
    assert (mark, code, line.startswith("The gate min&#95;pass&#95;rate failed")) == ("❌", 1, True)


@pytest.fixture
def with_results(repository, runevals):
    """Runs it against the folder of its earlier results → (exit code, output)."""

    def run():
        return runevals("--baseline", ".evals/results")[:2]

    repository.write(".gitignore", ".evals\n__pycache__\n")
    repository.write("notes.md", "")
    repository.git("add", "-A")
    repository.git("commit", "-qm", "ignore")
    assert runevals()[0] == 0
    return run


def commit(repository, agent):
    repository.write("agent.py", agent)
    repository.git("commit", "-qam", "change")


def test_a_second_run_of_a_commit_is_not_compared_with_its_first(repository, with_results):
    commit(repository, WORSE)
    assert [with_results()[0] for _ in range(3)] == [1, 1, 1]
    repository.git("commit", "-q", "--allow-empty", "-m", "the same files")
    assert with_results()[0] == 1


def test_results_of_the_same_commit_alone_are_a_base_that_a_notice_names(with_results):
    code, out = with_results()
    assert code == 0
    assert "the base is an earlier result of this same commit" in out


def test_changes_that_are_in_no_commit_are_compared_with_the_commit(repository, with_results):
    commit(repository, WORSE)
    assert with_results()[0] == 1  # the one that the next is compared with
    repository.write("agent.py", f"{WORSE}\n")
    code, out = with_results()
    assert (code, "this same commit" in out) == (0, False)


def test_in_ci_a_run_of_the_same_code_is_compared_with_that(repository, with_results, monkeypatch):
    commit(repository, WORSE)
    assert with_results()[0] == 1
    monkeypatch.setenv("CI", "true")
    code, out = with_results()
    assert code == 0, out
