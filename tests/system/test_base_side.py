"""Who decides over a change: the base's settings and lists, not those that the change brings along."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest
from msgspec.structs import replace

from runevals.lib.parsing.schema import schema
from runevals.repository import git
from runevals.settings.file import BaseSide, base_settings_file
from runevals.settings.protected import PROTECTED
from runevals.settings.resolve import RawSettings, resolve
from tests.against_base import AGAINST, on_main, pull_request_event, weakened
from tests.sample_suites import AGENT, SETTINGS, TEN, WORSE


def base_of(commit):
    return partial(git.files_at, Path.cwd(), commit)


def test_a_change_cannot_switch_its_own_gate_off(repository, runevals):
    repository.write("runevals.yaml", SETTINGS + "fail_on: [none]\nmin_effect: 1\n")
    repository.write("agent.py", WORSE)
    code, out, _ = runevals(*AGAINST)
    assert code == 1, out
    assert weakened(repository) == {("runevals.yaml", "fail_on"), ("runevals.yaml", "min_effect")}
    assert "the setting was changed; until that is merged, the base's holds" in out


def test_what_a_change_would_leave_out_is_shown_without_what_patterns_match(repository, runevals):
    on_main(repository, "runevals.yaml", SETTINGS + "redact: {patterns: ['CUST-[0-9]+']}\n")
    entry = "{key: CUST-123450, owner: me, reason: flaky since CUST-999, expires: 2999-12-01}"
    repository.write("runevals.quarantine.yaml", f"- {entry}\n")
    _, out, err = runevals(*AGAINST, "-o", "out.html", "-o", "out.md")
    assert [key for _, key in weakened(repository)] == ["[redacted]"]
    for name in ("out.json", "out.html", "out.md"):
        assert "CUST-" not in (repository.path / name).read_text()
    assert "CUST-" not in out + err


def test_a_change_says_no_prices(repository, runevals):
    """It would hide what it costs, also with those of models that are new."""
    on_main(repository, "runevals.yaml", SETTINGS + "prices: {ours: {input: 5, output: 5}}\n")
    free = "{input: 0, output: 0}"
    repository.write("runevals.yaml", SETTINGS + f"prices: {{ours: {free}, gpt-5-mini: {free}, new: {free}}}\n")
    told = RawSettings(cwd=repository.path, environment={})
    commit = repository.git("rev-parse", "main")
    side = BaseSide(
        commit=commit, file=base_settings_file([repository.path], repository.path, None, base_of(commit))
    )
    prices = resolve(replace(told, base_side=side)).measure.prices
    assert prices.cost_usd("ours", 1_000_000, 0) == 5
    assert prices.cost_usd("gpt-5-mini", 1_000_000, 0) > 0
    assert prices.cost_usd("new", 1_000_000, 0) is None
    without_file = resolve(replace(told, base_side=BaseSide(commit=commit))).measure.prices
    assert without_file.cost_usd("new", 1_000_000, 0) is None
    assert resolve(told).measure.prices.cost_usd("new", 1_000_000, 0) == 0  # the control: not on a change
    runevals(*AGAINST)
    assert ("runevals.yaml", "prices") in weakened(repository)


def test_every_setting_of_the_file_is_the_bases_or_knowingly_the_changes():
    own = {
        *("$schema", "version", "suites", "target", "evaluators", "repeat", "concurrency", "judge_concurrency"),
        *("targets", "changed_only", "depends_on", "prices"),  # for models that are new
    }
    known = {**schema("runevals.settings", "settings-1")["properties"]}
    renamed = {"judges": "judge", "errors": "errors_limit", "suspects": "suspects_max_runs"}
    assert {renamed.get(name, name) for name in known} - own <= set(PROTECTED)


def test_a_change_that_removes_the_settings_is_judged_by_them(repository, runevals):
    on_main(repository, "runevals.yaml", SETTINGS + "gates: [{metric: pass_rate, op: '>=', limit: 1}]\n")
    (repository.path / "runevals.yaml").unlink()
    repository.write("agent.py", WORSE)
    code, out, _ = runevals(*AGAINST, "--target", "python:agent.py:answer")
    assert code == 1, out
    assert ("runevals.yaml", "gates") in weakened(repository)


def test_gates_take_effect_once_they_are_on_the_base(repository, runevals):
    on_main(repository, "runevals.yaml", SETTINGS + "fail_on: [none]\n")
    repository.write("agent.py", WORSE)
    code, out, _ = runevals(*AGAINST)
    assert code == 0, out
    assert out.startswith("⚠ ")
    assert "but no gate that may fail the run says so" in out


def test_a_change_can_repair_a_broken_settings_file_of_the_base_which_is_named(repository, runevals):
    on_main(repository, "runevals.yaml", SETTINGS + "gatez: []\n")
    repository.write("runevals.yaml", SETTINGS)
    code, out, err = runevals(*AGAINST)
    assert code == 0, out + err
    assert "runevals.yaml of the base:3" in out + err


@pytest.fixture
def committed_baseline(repository, runevals):
    """A base result that is committed on main and named in the settings."""
    on_main(repository, "runevals.yaml", SETTINGS + "baseline: base.json\n")
    assert runevals("-q", "--baseline", "none", "-o", "base.json")[0] == 0
    on_main(repository, "base.json", (repository.path / "base.json").read_text(encoding="utf-8"))
    return repository


def test_a_committed_baseline_is_the_bases_own_on_a_pull_request(
    committed_baseline, runevals, tmp_path_factory, monkeypatch
):
    repository = committed_baseline
    repository.write("agent.py", WORSE)
    assert runevals("-q", "-o", "base.json")[0] == 1  # and it overwrites the baseline with its own result
    pull_request_event(tmp_path_factory.mktemp("event"), monkeypatch, repository.git("rev-parse", "main"))
    code, out, _ = runevals("-q", "-o", "out.json")
    assert code == 1, out
    assert f"base: base.json of {repository.git('rev-parse', 'main')[:7]}" in out
    # Named in the workflow it is the same file, which the change could have written.
    assert runevals("-q", "--baseline", "base.json", "-o", "out.json")[0] == 1


def test_a_run_in_a_job_of_a_pull_request_says_that_it_compares_nothing(
    repository, runevals, tmp_path_factory, monkeypatch
):
    """Its lost case looks like one that always failed."""
    told = "nothing of the pull request's base is compared: `runevals action` does that, or `--base REF`"
    on_main(repository, "agent.py", AGENT)
    assert told not in runevals("-o", "out.json")[1]  # on a laptop
    pull_request_event(tmp_path_factory.mktemp("event"), monkeypatch, repository.git("rev-parse", "main"))
    assert told in runevals("-o", "out.json")[1]
    for more in (("--base", "main"), ("--baseline", "none")):
        assert told not in runevals("-o", "out.json", *more)[1]


LIST = "- {key: k1, owner: ana, reason: flips, expires: 2999-01-01}\n"


@pytest.fixture
def ten(repository):
    """Ten cases, of which the first fails on the change."""
    on_main(repository, "evals.json", json.dumps(TEN))
    on_main(repository, "agent.py", "def answer(prompt, messages, case):\n    return 'yes'\n")
    repository.write(
        "agent.py", "def answer(prompt, messages, case):\n    return 'no' if '1' in prompt else 'yes'\n"
    )
    return repository


def test_a_change_cannot_quarantine_the_case_that_it_breaks(ten, runevals):
    ten.write("runevals.quarantine.yaml", LIST)
    code, out, _ = runevals(*AGAINST)
    assert code == 1, out
    assert weakened(ten) == {("runevals.quarantine.yaml", "k1")}
    assert "quarantine: once it is merged, quarantined: k1 (ana: flips)" in out


def test_a_change_hears_what_its_quarantine_list_will_not_do(repository, runevals):
    on_main(repository, "runevals.yaml", SETTINGS)
    repository.write("runevals.quarantine.yaml", LIST.replace("k1", "a"))
    _, out, _ = runevals(*AGAINST)
    assert "quarantine: once it is merged, 1 of 2 cases of evals.json are listed, more than a tenth" in out, out


def test_a_merge_of_shards_counts_what_a_change_adds_to_the_list(ten, runevals, tmp_path_factory, monkeypatch):
    assert runevals("--baseline", "none", "--target", "python:agent.py:answer", "-q", "-o", "base.json")[0] == 0
    on_main(ten, "base.json", (ten.path / "base.json").read_text(encoding="utf-8"))
    gate = "gates: [{name: same, metric: weakening, op: '==', limit: 0}]\n"
    on_main(ten, "runevals.yaml", SETTINGS + gate + "baseline: base.json\n")
    ten.write("runevals.quarantine.yaml", LIST)
    pull_request_event(tmp_path_factory.mktemp("event"), monkeypatch, ten.git("rev-parse", "main"))
    assert runevals("-q", "-o", "out.json")[0] == 1
    whole = weakened(ten)
    assert runevals("--shard", "1/1", "-q", "-o", "part.json")[0] == 0
    code, out, _ = runevals("merge", "part.json", "-o", "out.json")
    assert code == 1, out
    assert weakened(ten) == whole == {("runevals.quarantine.yaml", "k1")}


def test_a_case_that_the_base_quarantines_is_run_and_shown_and_blocks_nobody(ten, runevals):
    broken = (ten.path / "agent.py").read_text(encoding="utf-8")
    ten.git("stash", "-q")
    on_main(ten, "runevals.quarantine.yaml", LIST)
    ten.write("agent.py", broken)
    code, out, _ = runevals(*AGAINST)
    assert code == 0, out
    document = ten.document()
    assert [c["key"] for c in document["cases"] if c.get("quarantined")] == ["k1"]
    assert [c["change"] for c in document["comparison"]["changes"]] == ["quarantined"]
    assert "quarantined: k1 (ana: flips)" in out
    # One that is broken on the base leaves nothing out, and a broken one here is told wrong.
    ten.write("runevals.quarantine.yaml", "- {key: k1}\n")
    assert runevals(*AGAINST)[0] == 2
