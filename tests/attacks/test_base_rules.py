"""A change is judged by the rules of its base, whole: by none that it brings, and by all that it takes away."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from tests.attacks.conftest import CASES, SUITE, settings

ALL_LOST = f"{CASES} of {CASES} cases regressed"
GOOD, BAD = (f"def answer(prompt):\n    return '{word}'\n" for word in ("yes", "no"))
BY_FLAGS = ("evals.json", "--target", "python:agent.py:answer")


def program(more=""):
    return f"suites: [evals.json]\ntarget: {{type: python, function: 'agent.py:answer'{more}}}\n"


def results(change):
    """The document that the action wrote."""
    return change.project.document(".evals/results/results.json")


def weakened(change):
    return {key for key, _ in change.weakened()}


# --- a base without settings: whoever writes the workflow says all


@pytest.mark.parametrize(
    "rules",
    [
        "",  # the control
        "fail_on: [none]",
        "gates: [{name: no_regression, metric: regressions, op: '<=', limit: 1000}]\nerrors: {limit: 1}",
        "min_effect: 1\nalpha: 0.0001\nverify: 'off'",
        "tag: [none-of-them]",
        "baseline: {on_incomparable: pass}",
        "on_unknown: pass",
    ],
)
def test_a_base_without_settings_lets_no_change_bring_its_own(change, rules):
    change.main(settings=None, agent=GOOD)
    change.write(agent=BAD, **({"settings": rules + "\n"} if rules else {}))
    change.compared(*BY_FLAGS).must(1, ALL_LOST)
    named = {line.partition(":")[0] for line in rules.splitlines()} - {"baseline", "errors"}
    assert named <= weakened(change)


def test_what_the_workflow_says_stands_where_the_base_has_no_settings(change):
    change.main(settings=None, agent=GOOD)
    change.write(agent=BAD)
    change.compared(*BY_FLAGS, "--fail-on", "none").must(0)


def test_to_write_the_default_of_a_setting_is_no_weakening(change):
    change.main(settings=None)
    same = "verify: auto\nredact: {content: full}\nquarantine: runevals.quarantine.yaml\ncategory: []\n"
    change.write(settings=settings("fail_on: [none]\n" + same).removeprefix("blame: off\n"))
    change.compared("evals.json", "--target", "openai:tiny")
    assert weakened(change) == {"fail_on"}


# --- what is written and spent: the stricter side holds


@pytest.mark.parametrize(
    ("pattern", "code", "said"),
    [("[0-9]+[?]", 1, ALL_LOST), (".+", 2, "make the keys of several cases the same")],
)
def test_what_a_change_adds_to_redaction_is_obeyed_at_once_and_hides_no_loss(change, pattern, code, said):
    change.main(settings=settings("redact: {patterns: [Question]}\n"))
    change.loses(*range(CASES))
    change.write(settings=settings(f"redact: {{content: hashes, patterns: ['{pattern}']}}\n"))
    change.compared().must(code, said)
    if code == 1:
        assert "Question" not in (change.path / "out.json").read_text()
        assert change.project.document("out.json")["run"]["settings"]["redact"] == "hashes"
        assert weakened(change) == {"redact_patterns"}


@pytest.mark.parametrize(
    ("budget", "less"), [("max_tokens: 99999", "max_tokens: 1"), ("max_duration: 60", "max_duration: 0.001")]
)
def test_a_budget_that_a_change_makes_too_small_is_no_pass(change, budget, less):
    change.main(settings=settings(budget))
    change.compared().must(0)  # the control
    change.loses(*range(CASES))
    change.write(settings=settings(less))
    change.compared().must(3, "Incomplete")


# --- a base whose settings cannot be read: only a change can repair them

BROKEN = {
    "no YAML": "suites: [evals.json\n",
    "unknown key": settings("fail_onn: [none]\n"),
    "wrong value": settings("fail_on: 7\n"),
    "key of a newer version": settings("on_tuesdays: pass\n"),
    "no such gate": settings("fail_on: [no_regresion]\n"),
    "no mark": settings("mark: 30 days\n"),
    "no address": settings("baseline: {path: 'file:///srv/base.json'}\n"),
    "no name of an artifact": settings("baseline: {artifact: team/evals}\n"),
    "a path to share outside": settings("share: [../secrets]\n"),
    "a list outside": settings("quarantine: ../list.yaml\n"),
}


@pytest.mark.parametrize("broken", BROKEN)
def test_a_change_repairs_settings_of_the_base_that_cannot_be_read(change, broken):
    change.main(settings=BROKEN[broken])
    change.action().must(2, "runevals.yaml")  # the control: what does not repair it is no better
    change.write(settings=settings(""))
    change.action().must(0)
    [told] = [one for one in results(change)["run"]["notices"] if one.startswith("the settings of the base")]
    assert "cannot be read, so what they would decide is at its default: runevals.yaml of the base:" in told
    change.action(INPUT_BASE="run").must(0, "No regression shown in ", "base: a fresh run of ")


@pytest.mark.parametrize("broken", BROKEN)
def test_what_a_change_loses_beside_the_repair_is_found(change, broken):
    """The base is run by the repaired settings, which grant it nothing."""
    change.main(settings=BROKEN[broken])
    change.loses(*range(CASES))
    change.write(settings=settings(""))
    change.action(INPUT_BASE="run").must(1, f"{CASES} of {CASES} cases regressed")


@pytest.mark.parametrize("broken", BROKEN)
def test_a_change_brings_no_settings_that_no_run_could_use_once_they_are_merged(change, broken):
    change.main(settings=settings(""))
    change.action().must(0)  # the control
    change.write(settings=BROKEN[broken])
    change.action().must(2, "runevals.yaml:")


@pytest.mark.parametrize("broken", ["no YAML", "unknown key", "no such gate"])
@pytest.mark.parametrize("rules", ["fail_on: [none]\n", "errors: {limit: 1}\nredact: {content: none}\n"])
def test_settings_of_the_base_that_cannot_be_read_let_no_change_bring_its_own(change, broken, rules):
    change.main(settings=BROKEN[broken])
    change.loses(*range(CASES))
    change.write(settings=settings(rules))
    change.action(INPUT_MIN_PASS_RATE="1").must(1, "✗ min_pass_rate")
    named = {one["key"] for one in results(change)["comparison"]["weakenings"]}
    assert named >= ({"fail_on"} if "fail_on" in rules else {"errors_limit"})


def test_settings_of_the_base_that_cannot_be_read_let_no_change_bring_a_judge(change):
    change.main(settings="judge: [\n", evals=JUDGED)
    change.write(settings=settings("judge: recorded:judge.jsonl\n"), **{"judge.jsonl": judgements(5)})
    change.git("add", "-A")
    change.action().must(2, "judge")
    change.write(settings=settings(""))
    change.action(INPUT_JUDGE="recorded:judge.jsonl").must(2, "a change must not bring its own")


def test_where_a_change_began_with_broken_settings_the_base_is_not_called_empty(change):
    """Its author chose to begin there, so that there would be nothing to compare with."""
    change.main(settings=BROKEN["no YAML"])
    change.loses(*range(CASES))
    change.write(settings=settings(""))
    change.git("commit", "-qam", "worse")
    change.git("checkout", "-q", "main")
    change.write(settings=settings(""))
    change.git("commit", "-qam", "repaired")
    change.git("checkout", "-q", "change")
    change.action(INPUT_BASE="run").must(3, "cannot be run")


# --- the judge


JUDGED = {**SUITE, "default_evaluators": {"Relevance": {}}}


def judgements(score):
    lines = ({"case": f"k{n}", "evaluator": "Relevance", "score": score} for n in range(CASES))
    return "\n".join(map(json.dumps, lines))


@pytest.mark.parametrize("named_by", ["settings", "flag"])
@pytest.mark.parametrize("how", ["control", "rewritten", "a link", "another file"])
def test_the_file_of_a_recorded_judge_is_the_bases(change, named_by, how):
    """What it says of the head's answers is what the base says; the control is judged as bad as the base."""
    judge = "judge: recorded:judge.jsonl\n" if named_by == "settings" else ""
    change.main(evals=JUDGED, settings=settings(judge), **{"judge.jsonl": judgements(1)})
    if how == "rewritten":
        change.write(**{"judge.jsonl": judgements(5)})
    elif how == "a link":
        change.write(**{"judge.jsonl": None, "other.jsonl": judgements(5)})
        (change.path / "judge.jsonl").symlink_to("other.jsonl")
    elif how == "another file":
        change.write(settings=settings("judge: recorded:other.jsonl\n"), **{"other.jsonl": judgements(5)})
    change.git("add", "-A")
    change.compared(*([] if judge else ["--judge", "recorded:judge.jsonl"])).must(0)
    assert change.project.document()["totals"]["passed"] == 0


def test_a_recording_that_a_step_wrote_is_the_workflows_own(change):
    """The control: no commit has it, so that no change could have brought it."""
    change.main(evals=JUDGED, ignored=".evals\nout.json\njudge.jsonl\n")
    change.write(**{"judge.jsonl": judgements(5)})
    judge = ("--judge", "recorded:judge.jsonl")
    change.command("run", *judge, "-q", "-o", "out.json", GITHUB_EVENT_NAME="push").must(0)
    change.action(INPUT_JUDGE="recorded:judge.jsonl", INPUT_BASELINE="none").must(0)


def test_a_change_brings_no_recording_for_the_workflow(change):
    change.main(evals=JUDGED)
    change.write(**{"judge.jsonl": judgements(5)})
    change.git("add", "-A")
    change.compared("--judge", "recorded:judge.jsonl").must(2, "a change must not bring its own")


# --- what the target is


@pytest.mark.parametrize("target", ["", ", deterministic: false"])
@pytest.mark.parametrize("lost", ["0", "012"])
def test_a_target_stays_deterministic_until_the_base_says_otherwise(change, target, lost):
    promised = ", deterministic: true"
    change.main(settings=program(promised), agent=GOOD)
    change.write(agent=GOOD.replace("'yes'", f"'no' if prompt[9:-1] in {list(lost)} else 'yes'"))
    change.write(settings=program(target))
    change.compared("--verify", "off").must(1, f"{len(lost)} of {CASES} cases regressed")
    assert "target" in weakened(change)
    assert change.project.document()["comparison"]["deterministic"]


# --- shards outside of GitHub, which do not know their base

PROMISED = program(", deterministic: true")
MIXED = {
    **SUITE,
    "items": [
        {
            **item,
            "category": "ab"[n % 2],
            "tags": ["ab"[n % 2]],
            **({"evaluators": {"Relevance": {}}} if n == 2 else {}),
        }
        for n, item in enumerate(SUITE["items"])
    ],
}
FLAKY = '- {key: k2, owner: ana, reason: "flaky", expires: 2099-12-31}\n'
QUOTED = PROMISED + "judge: recorded:judge.jsonl\n"


@pytest.mark.parametrize("baseline", [[], ["--baseline", ".evals/base.json"]], ids=["run", "stored"])
@pytest.mark.parametrize(
    ("files", "code", "said"),
    [
        pytest.param({}, 1, "1 of 12 cases regressed", id="control"),
        pytest.param({"runevals.quarantine.yaml": FLAKY}, 1, "1 of 12 cases regressed", id="quarantine"),
        pytest.param(
            {"settings": QUOTED + "category: [b]\n"}, 3, "ran with category of the change", id="category"
        ),
        pytest.param({"settings": QUOTED + "tag: [b]\n"}, 3, "ran with tag of", id="tag"),
        pytest.param(
            {"settings": QUOTED.replace("true", "false")}, 3, "ran with target.deterministic of", id="promise"
        ),
        pytest.param(
            {"settings": QUOTED.replace("judge.", "mild."), "mild.jsonl": judgements(5)}, 3, "judge of", id="judge"
        ),
        pytest.param({"judge.jsonl": judgements(4)}, 3, "ran with judge of", id="replies"),
    ],
)
def test_a_merge_with_a_base_has_its_rules_whatever_the_shards_read(change, files, code, said, baseline):
    change.main(settings=QUOTED, evals=MIXED, agent=GOOD, **{"judge.jsonl": judgements(5)})
    change.command("run", "-q", "-o", ".evals/base.json").must(0)
    change.write(agent=GOOD.replace("'yes'", "'no' if prompt == 'Question 2?' else 'yes'"), **files)
    change.git("add", "-A")
    change.git("commit", "-qm", "worse")
    for part in (1, 2):
        change.command("run", "-q", "--shard", f"{part}/2", "-o", f".evals/{part}.json")
    change.command("merge", ".evals/1.json", ".evals/2.json", "--base", "main", *baseline).must(code, said)


@pytest.mark.parametrize(("gates", "code"), [("gates: [{metric: cost_usd, op: '<=', limit: 1}]\n", 3), ("", 0)])
def test_a_merge_with_a_gate_on_cost_has_the_prices_of_its_base(change, gates, code):
    change.main(settings=settings(gates + "prices: {tiny: {input: 1000000, output: 1000000}}\n"))
    change.write(settings=settings("prices: {tiny: {input: 0, output: 0}}\n"))
    change.git("commit", "-qam", "cheap")
    for part in (1, 2):
        change.command("run", "-q", "--shard", f"{part}/2", "-o", f".evals/{part}.json").must(0)
    merged = change.command("merge", ".evals/1.json", ".evals/2.json", "--base", "main")
    merged.must(code, *(["ran with prices of"] if code else []))


def test_a_merge_keeps_the_quarantine_of_its_base(change):
    change.main(settings=PROMISED, agent=GOOD, **{"runevals.quarantine.yaml": FLAKY})
    change.write(
        agent=GOOD.replace("'yes'", "'no' if prompt == 'Question 2?' else 'yes'"),
        **{"runevals.quarantine.yaml": None},
    )
    change.git("add", "-A")
    change.git("commit", "-qm", "not flaky")
    for part in (1, 2):
        change.command("run", "-q", "--shard", f"{part}/2", "--filter", "k[0-4]", "-o", f"{part}.json").must(0)
    change.command("merge", "1.json", "2.json", "--base", "main").must(0, "quarantined: k2 (ana: flaky)")


# --- what a fork's job cannot measure for want of a key

WITHOUT_KEYS = dict.fromkeys(("OPENAI_API_KEY", "OPENAI_BASE_URL"))
PAID = "suites: [evals.json]\ntarget: {type: openai, model: gpt-5}\n"
CLAUDE = "suites: [evals.json]\ntarget: {type: anthropic, model: claude-sonnet-5}\n"


def forked(change, **environment):
    """The action on a fork's pull request, whose base can be run."""
    base = {"INPUT_BASE": "run", **WITHOUT_KEYS, **environment}
    return change.action(payload=change.pull_request(fork=True), **base)


@pytest.mark.parametrize(
    ("files", "code", "said"),
    [
        pytest.param({}, 1, ALL_LOST, id="control"),
        pytest.param({"settings": PAID}, 3, "the change needs OPENAI_API_KEY", id="target"),
        pytest.param({"settings": CLAUDE}, 3, "the change needs ANTHROPIC_API_KEY", id="provider"),
        pytest.param({"settings": program() + "judge: gpt-5\n"}, 3, "the change needs OPENAI_API_KEY", id="judge"),
    ],
)
def test_a_change_does_not_make_itself_skipped(change, files, code, said):
    change.main(settings=program(), agent=GOOD)
    change.write(agent=BAD, **files)
    forked(change).must(code, said)


@pytest.mark.parametrize("required", [False, True])
def test_a_change_to_a_base_that_needs_a_key_is_skipped_as_the_base_says(change, required):
    change.main(settings=PAID + f"require_credentials: {str(required).lower()}\n")
    change.write(settings=PAID + f"require_credentials: {str(not required).lower()}\n")
    forked(change).must(3 if required else 0, "have no access to OPENAI_API_KEY")
    change.write(settings=program(), agent=GOOD)  # nor does one that needs none any more
    forked(change).must(3 if required else 0, "have no access to OPENAI_API_KEY")


# --- what a change takes away from its suite

GATED = "gates: [{name: seen, metric: weakening, op: '<=', limit: 0}]\n"
ITEMS = SUITE["items"]


def suite(edits=(), items=ITEMS, **document):
    """The suite with these fields of its first case changed; None removes one."""
    first = {name: value for name, value in {**items[0], **dict(edits)}.items() if value is not None}
    return {**SUITE, **document, "items": [first, *items[1:]]}


def test_a_recording_of_the_right_answers_is_not_compared(change):
    answers = "\n".join(json.dumps({"case": f"k{n}", "output": "yes"}) for n in range(CASES))
    change.main(settings=settings("fail_on: [no_regression]\n"))
    change.loses(*range(CASES))
    change.compared().must(1, ALL_LOST)  # the control
    target = "target: {type: recorded, path: answers.jsonl}"
    change.write(settings=f"suites: [evals.json]\n{target}\n", **{"answers.jsonl": answers})
    why = "the target is of another type, recorded, than the base's, openai"
    change.compared().must(3, f"Not known – {why}")
    assert ("target", why) in change.weakened()


@pytest.mark.parametrize(
    ("edits", "weaker"),
    [
        pytest.param({"expected_response": "y"}, "its expected text was edited", id="expected"),
        pytest.param({"prompt": "Say yes."}, "its prompt was edited", id="prompt"),
        pytest.param(
            {"evaluators": {"contains": {"value": "y"}}}, "its checks or other fields were edited", id="check"
        ),
        pytest.param({"tags": []}, "lost the tag safety", id="tag"),
        pytest.param({"category": None}, "moved from category refunds to none", id="category"),
        pytest.param({"testId": "x", "prompt": "Yes?"}, "the case was removed", id="replaced"),
    ],
)
def test_a_gate_on_weakening_blocks_it(change, edits, weaker):
    """All cases pass, and the control is the change without it."""
    items = [{**ITEMS[0], "tags": ["safety"], "category": "refunds"}, *ITEMS[1:]]
    change.main(evals=suite(items=items), settings=settings(GATED))
    change.compared().must(0)
    change.write(evals=suite(edits, items=items))
    change.compared().must(1, "The gate seen failed: weakening is")
    assert weaker in {message for _, message in change.weakened()}


def test_a_gate_that_the_base_fails_says_how_to_merge_a_change_of_it(change):
    """It stands for this change, too; what a person wrote into the workflow leaves it out."""
    change.main(settings=f"{program()}min_pass_rate: 0.9\n", agent=BAD)
    change.write(settings=f"{program()}min_pass_rate: 0\n")
    change.compared().must(1, "holds until a change of it is merged: leave it out once, by --fail-on or its input")
    change.compared("--fail-on", "no_regression").must(0)


@pytest.mark.parametrize("metric", ["tag", "category", "case"])
def test_a_lost_case_does_not_leave_the_scope_of_its_gate(change, metric):
    """The gate is all that may fail; two cases stay in its scope."""
    labels = {"tag": {"tags": ["safety"]}, "category": {"category": "safety"}, "case": {}}[metric]
    scope = {"tag": "safety", "category": "safety", "case": "k*"}[metric]
    items = [{**item, **labels} for item in ITEMS[:3]] + ITEMS[3:]
    gate = f"{{name: safe, metric: pass_rate, op: '>=', limit: 1, scope: {{{metric}: '{scope}'}}}}"
    change.main(evals=suite(items=items), settings=settings(f"fail_on: [safe]\ngates: [{gate}]\n"))
    change.loses(0)
    change.compared().must(1, "The gate safe failed")  # the control
    left = {"tag": {"tags": []}, "category": {"category": "other"}, "case": {"testId": "other"}}[metric]
    change.write(evals=suite(left, items=items))
    change.compared().must(1, "The gate safe failed")


@pytest.mark.parametrize(
    "edits",
    [
        {},  # the control
        {"category": None},
        {"category": "easy", "prompt": " Question  0?"},
        {"category": None, "testId": "other", "prompt": "Question 0? "},
        {"category": None, "expected_response": "no"},
        {"category": None, "expected_response": "no", "prompt": "Question 0? Really?"},
        None,  # removed
    ],
)
def test_a_lost_critical_case_does_not_become_another(change, edits):
    items = [{**ITEMS[0], "category": "redteam"}, *ITEMS[1:]]
    change.main(evals=suite(items=items))
    change.loses(0)
    change.write(evals=suite(items=items[1:]) if edits is None else suite(edits, items=items))
    change.compared().must(1)


# --- several targets: what the gate on another target compares with

DROP = "gates: [{name: near, metric: against_drop, op: '<=', limit: 0.6}]\nfail_on: [near]\nverify: 'off'\n"
AGAINST = "against: large\nmargin: 0.1\n"


def targets(rules=AGAINST, **prompts):
    """A settings file with two targets, each with its prompt; without further words, those of main."""
    known = {"large": "prompt.md", "mini": "mini.md", **prompts}
    files = {name: file for name, file in known.items() if file}
    each = [f"{name}: {{type: openai, model: tiny, system_prompt_file: {file}}}" for name, file in files.items()]
    return f"suites: [evals.json]\ntargets: {{{', '.join(each)}}}\nrepeat: 1\n{DROP}{rules}"


@pytest.fixture
def two_targets(change):
    """Two good targets on main, of which the change makes one lose everything."""
    change.main(settings=targets(), **{"mini.md": "Say yes.", "worse.md": "Say yes."})
    change.write(**{"mini.md": "No to " + "".join(f"<Question {number}?>" for number in range(CASES))})
    return change


def test_a_change_does_not_choose_what_its_targets_are_compared_with(two_targets):
    """The control is the change without it."""
    change = two_targets
    change.compared().must(1, "The gate near failed")
    for rules in ("against: mini\n", "against: none\n", "", "against: without-skill\nmargin: 1\n"):
        change.write(settings=targets(rules))
        change.compared().must(1, "The gate near failed")
        weakenings = change.weakened("out.mini.json")
        assert ("against", "the setting was changed; until that is merged, the base's holds") in weakenings
    change.write(settings=targets(large=None))
    change.compared().must(2, "against is 'large'")


def test_a_change_does_not_switch_off_what_the_gate_on_the_lift_is_measured_against(change):
    """The base's gate holds, and so does its `against`: a skill worth nothing does not pass."""
    skill = "target: {type: openai, model: tiny, system_prompt_file: SKILL.md}\nsuites: [evals.json]\nrepeat: 1\n"
    gate = "gates: [{name: worth, metric: lift, op: '>=', limit: 0.5}]\nfail_on: [worth]\nverify: 'off'\n"
    against = "against: without-skill\n"
    change.main(settings=f"{skill}{gate}{against}", **{"SKILL.md": "Say yes."})
    nothing = "No to " + "".join(f"<Question {number}?>" for number in range(CASES))
    for rules in (against, "", "against: none\n"):
        change.write(settings=f"{skill}{gate}{rules}", **{"SKILL.md": nothing})
        change.compared().must(1, "The gate worth failed")


def test_another_target_to_compare_with_is_a_weakening_and_so_is_one_that_is_removed(two_targets):
    change = two_targets
    change.main(settings=targets(third="prompt.md"))
    change.write(settings=targets(large="mini.md"), **{"mini.md": "Say no."})
    change.compared()
    assert change.weakened("out.mini.json") >= {
        ("targets.large", "the target that others are compared with was changed"),
        ("targets.third", "the target was removed"),
    }


# --- a baseline of its own

FUTURE = "2999-01-01T00:00:00Z"


@pytest.fixture
def bases(change):
    """A folder `bases` outside git with one good result, and a change that loses all."""
    change.main(settings=settings("verify: 'off'\n"), ignored=".evals\nout.json\n/bases/\n")
    change.command("run", "-q", "--baseline", "none", "-o", "bases/real.json", GITHUB_EVENT_NAME="push").must(0)
    change.project.good = change.project.document("bases/real.json")
    change.loses(*range(CASES))
    return change


def forged(change, started_at=None):
    """The result of a base that failed everything, so that nothing can be lost."""
    text = json.dumps(change.project.good).replace(': "passed"', ': "failed"')
    numbers = {"pass_rate": (1.0, 0.0), "score": (1.0, 0.0), "value": (1.0, 0.0), "share": (1.0, 0.0)}
    for name, (good, worst) in {**numbers, "composite": (5.0, 1.0), "fact": (5.0, 1.0)}.items():
        text = text.replace(f'"{name}": {good}', f'"{name}": {worst}')
    bad = json.loads(text)
    bad["run"]["started_at"] = started_at or bad["run"]["started_at"]
    return bad


def newer(change):
    """The same, of a run that began just after."""
    return forged(change, datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"))


def against_folder(change):
    return change.action(INPUT_BASELINE="bases", INPUT_CHANGED_ONLY="false")


def test_the_control_of_a_folder_of_baselines(bases):
    against_folder(bases).must(1, ALL_LOST)
    bases.write(**{"bases/real.json": forged(bases)})  # a step of the job may
    against_folder(bases).must(0)


@pytest.mark.parametrize("how", ["link", "file", "linked file", "submodule"])
def test_a_folder_of_baselines_is_not_led_elsewhere(bases, how):
    bad = newer(bases)
    if how == "link":
        bases.project.write("evil/real.json", bad)
        (bases.path / "bases").rename(bases.path / "before")
        (bases.path / "bases").symlink_to("evil")
    elif how == "submodule":
        (bases.path / "bases").rename(bases.path / "before")
        bases.project.write("bases/real.json", bad)
        inside = ("-C", "bases")
        bases.git(*inside, "init", "-q")
        bases.git(*inside, "add", "-A")
        bases.git(*inside, "commit", "-q", "-m", "mine")
        bases.write(ignored=".evals\nout.json\nbefore\n")
    elif how == "file":
        bases.project.write("bases/zz.json", bad)
    else:
        bases.project.write("evil.json", bad)
        (bases.path / "bases/real.json").unlink()
        (bases.path / "bases/real.json").symlink_to("../evil.json")
    bases.git("add", "-f", *(["bases/zz.json"] if how == "file" else ["-A"]))
    done = against_folder(bases)
    assert done.code in ((1,) if how == "file" else (2,)), done.text


@pytest.mark.parametrize("named_by", ["settings", "input"])
def test_a_folder_that_is_committed_is_read_from_the_base(bases, named_by):
    told = "verify: 'off'\n" + ("baseline: bases\n" if named_by == "settings" else "")
    files = {"bases/real.json": bases.project.good, "prompt": "Say yes."}
    bases.main(settings=settings(told), ignored=".evals\nout.json\n", **files)
    bases.loses(*range(CASES))
    bases.write(**{"bases/real.json": forged(bases), "bases/zz.json": newer(bases)})
    bases.git("add", "-A")
    words = {"INPUT_BASELINE": "bases"} if named_by == "input" else {}
    bases.action(**words, INPUT_CHANGED_ONLY="false").must(1, ALL_LOST)


def test_a_result_of_the_future_is_none(bases):
    """It would be the newest of its folder, and never too old."""
    bases.write(**{"bases/zz.json": forged(bases, FUTURE)})
    against_folder(bases).must(1, ALL_LOST)
    bases.action(INPUT_BASELINE="bases/zz.json").must(2, "is of a run that is yet to begin, 2999-01-01 00:00 UTC")
