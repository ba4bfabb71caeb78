"""The same cases measured without the skill under test, in the same rounds."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runevals.run.against import placebo
from tests.ending import ended

AGENT = """
import json, sys
from pathlib import Path

asked = json.load(sys.stdin)
side = "with" if asked.get("system") else "without"
with Path("asked.txt").open("a") as log:
    log.write(f"{side} {asked['prompt']}\\n")
if side == "without" and Path("broken").exists():
    Path("agent.py").unlink()
    sys.exit(3)
says = "yes" if side == "with" or asked["prompt"] == "0?" else "no"
print(json.dumps({"output": says, "cost_usd": 0.03 if side == "with" else 0.02}))
"""
FRONT = "---\nname: yes\ndescription: Says yes.\n---\n"
SKILL = f"{FRONT}Say yes.\n"
CHECKS = [{"id": "yes", "type": "contains", "value": "yes"}]
EVALS = [{"id": f"k{number}", "prompt": f"{number}?", "assertions": CHECKS} for number in range(6)]
TRIGGER = {"id": "loads", "prompt": "Load it?", "should_trigger": True}
TARGET = {"type": "command", "command": "python3 agent.py", "system_prompt_file": "SKILL.md"}
AGAINST = ("run", "-q", "--against", "without-skill", "-o", "out.json")


@pytest.fixture
def skill(project):
    """A skill whose agent says yes to six questions with it, and to one of them without it."""
    project.write("agent.py", AGENT)
    project.write("SKILL.md", SKILL)
    project.write("evals/evals.json", {"skill_name": "yes", "evals": EVALS})
    project.write("runevals.yaml", {"target": TARGET, "repeat": 2, "concurrency": 4})
    return project


def test_the_reports_say_what_the_skill_is_worth(skill, runevals):
    """Both sides in turn; a case that asks whether the skill is loaded is not asked without it."""
    skill.write("evals/evals.json", {"skill_name": "yes", "evals": [*EVALS, TRIGGER]})
    code, out, _ = runevals(*AGAINST, "-o", "benchmark.json", "-o", "summary.md")
    ended(code, 3, out, "the target does not report its tool calls (a program prints `toolCalls` beside `output`)")
    asked = (skill.path / "asked.txt").read_text().splitlines()
    assert [line.split()[0] for line in asked] == [*["with"] * 7, *["without"] * 6] * 2
    assert "without Load it?" not in asked
    worth = "worth +83.3 points, p = 0.00013; 1.5× the cost."
    assert "Against without-skill: pass rate 16.7 % → 100.0 % in 6 cases (95 % interval +" in out
    assert worth in out
    assert "These checks show no difference on any run: always passed: k0: yes." in out
    assert worth in (skill.path / "summary.md").read_text(encoding="utf-8")
    found = skill.document()["against"]
    assert (found["name"], found["cases"], found["metric"]) == ("without-skill", 6, "pass_rate")
    assert (found["gain"], found["always_passed"]) == (pytest.approx(5 / 6), ["k0: yes"])
    summary = skill.document("benchmark.json")["run_summary"]
    assert (summary["without_skill"]["pass_rate"]["mean"], summary["delta"]["pass_rate"]) == (0.1667, "+0.83")
    assert worth in runevals("report", "out.json")[1]


def test_it_informs_and_never_gates(skill, runevals):
    """Neither a skill that is worth nothing nor a side that cannot be measured changes the verdict."""
    skill.write("broken", "")
    code, out, err = runevals(*AGAINST, "--repeat", "1")
    assert code == 0, out + err
    assert "without-skill was not measured in full: " in out
    skill.write("agent.py", AGENT)
    (skill.path / "broken").unlink()
    skill.write("evals/evals.json", {"skill_name": "yes", "evals": EVALS[:1]})
    code, out, err = runevals(*AGAINST, "--repeat", "1", "--min-pass-rate", "1")
    assert (code, "worth 0.0 points" in out) == (0, True), out + err


def test_a_change_is_compared_with_both(skill, runevals):
    """The rounds of the head are those of the other side, and end with it."""
    assert runevals("run", "-q", "-o", "base.json")[0] == 0
    (skill.path / "asked.txt").unlink()
    code, out, err = runevals(*AGAINST, "--baseline", "base.json", "--verify", "off")
    assert code == 0, out + err
    document = skill.document()
    assert document["comparison"]["drop"] == 0.0
    assert document["against"]["gain"] == pytest.approx(5 / 6)
    asked = [line.split()[0] for line in (skill.path / "asked.txt").read_text().splitlines()]
    assert asked[:12] == [*["with"] * 6, *["without"] * 6]


@pytest.mark.parametrize(
    ("settings", "flags", "told"),
    [
        pytest.param(
            {"target": {**TARGET, "system_prompt_file": "agent.py"}}, [], "names no skill", id="no skill"
        ),
        pytest.param({}, ["--shard", "1/2"], "a shard has only a part of the cases", id="shard"),
        pytest.param({}, ["--target", "recorded:a.jsonl"], "cannot be asked for again", id="recorded"),
        pytest.param({}, ["--max-calls", "12"], "24 calls of target and judge are planned", id="calls"),
    ],
)
def test_what_cannot_be_measured_is_a_usage_error(skill, runevals, settings, flags, told):
    skill.write("a.jsonl", '{"case": "k0", "output": "yes"}\n')
    skill.write("runevals.yaml", {"target": TARGET, "repeat": 2, **settings})
    code, _, err = runevals(*AGAINST, *flags)
    assert (code, told in err) == (2, True), err
    assert not (skill.path / "asked.txt").exists()


def test_an_agent_has_the_other_skills_still(tmp_path, project):
    """Only the skill that the suite is for is left out; all of them if it is for none of these."""
    from runevals.run.against import _target_without_skill
    from runevals.run.request import RunRequest

    for name in ("yes", "helper"):
        project.write(f"skills/{name}/SKILL.md", SKILL)
    project.write("skills/yes/evals/evals.json", {"skill_name": "yes", "evals": EVALS})
    project.write("runevals.yaml", {"target": {"type": "codex", "skills": ["skills/yes", "skills/helper"]}})
    request = RunRequest.of("skills/yes/evals/evals.json", cwd=project.path)
    assert request.settings.target is not None
    without = _target_without_skill(request.settings.target, request.suites)
    assert [skill.name for skill in without.agent.skills] == ["helper"]


def test_three_arms_stand_in_one_table(skill, runevals):
    """Without the skill, the base's skill, this one: means over the cases that all three measured."""
    skill.write("SKILL.md", SKILL.replace("Say yes.", "Say less."))
    skill.write("agent.py", AGENT.replace('side == "with"', '"Say yes." in (asked.get("system") or "")'))
    assert runevals("run", "-q", "-o", "base.json")[0] == 0
    skill.write("SKILL.md", SKILL)
    code, out, err = runevals(*AGAINST, "-o", "out.md", "-o", "out.html", "--baseline", "base.json")
    assert code == 0, out + err
    document = skill.document()
    arms = [(arm["name"], arm["cases"], arm["pass_rate"]) for arm in document["against"]["arms"]]
    sixth = pytest.approx(1 / 6)
    assert arms == [("without-skill", 6, sixth), ("base", 6, sixth), ("now", 6, 1.0)]
    for text in (out, (skill.path / "out.md").read_text(encoding="utf-8"), runevals("report", "out.json")[1]):
        assert "The cases that all three arms measured" in text
        assert re.search(r"without.*skill[ |]+16\.7 % .*\n.*base[ |]+16\.7 % .*\n.*now[ |]+100\.0 % ", text), text
    assert "three arms" in (skill.path / "out.html").read_text(encoding="utf-8")


def gated(skill, limit: float, **settings):
    gate = {"name": "worth it", "metric": "lift", "op": ">=", "limit": limit}
    skill.write("runevals.yaml", {"target": TARGET, "repeat": 2, "gates": [gate], **settings})


@pytest.mark.parametrize(("limit", "code"), [(0.0, 0), (0.2, 0), (0.8, 1)])
def test_a_gate_on_the_lift_takes_what_is_shown(skill, runevals, limit, code):
    """Seen are 83 points; the lower end of the interval decides."""
    gated(skill, limit, against="without-skill")
    ended, out, err = runevals("run", "-q", "-o", "out.json")
    assert ended == code, out + err
    [gate] = [gate for gate in skill.document()["gates"] if gate["name"] == "worth it"]
    assert gate["observed"] == pytest.approx(skill.document()["against"]["interval"][0])
    assert gate["state"] == ("failed" if code else "passed")
    assert "points against without-skill; the lower end of the 95 % interval counts" in gate["reason"]
    assert gate["reason"].endswith(", which more cases bring nearer to it") == (code == 1)


def test_beside_a_base_a_gate_on_the_lift_has_all_the_runs_that_are_asked_for(skill, runevals):
    """Else every change would fail the gate that the branch passes."""
    gated(skill, 0.1, repeat=3, against="without-skill")
    skill.write("evals/evals.json", {"skill_name": "yes", "evals": EVALS[1:5]})
    code, out, err = runevals("run", "-q", "-o", "base.json")
    ended(code, 0, out + err, "worth +100.0 points")
    code, out, err = runevals("run", "-q", "--baseline", "base.json", "--verify", "off")
    ended(code, 0, out + err, "No regression shown in 4 cases", "worth +100.0 points")


def test_a_lift_that_could_not_be_measured_is_no_pass(skill, runevals):
    gated(skill, 0.2, against="without-skill")
    skill.write("broken", "")
    code, out, err = runevals("run", "-q", "--repeat", "1")
    assert code == 3, out + err


def test_a_gate_on_the_lift_needs_the_other_side(skill, runevals):
    gated(skill, 0.2)
    code, _, err = runevals("run", "-q")
    assert (code, "lift needs `against`: without-skill or placebo-skill" in err) == (2, True), err


@pytest.mark.parametrize("ci", [False, True])
def test_the_other_side_is_left_out_with_its_gate_but_not_in_ci(skill, runevals, monkeypatch, ci):
    gated(skill, 0.8, against="without-skill", fail_on=["worth it"])
    if ci:
        monkeypatch.setenv("CI", "true")
    code, out, err = runevals("run", "-q", "--against", "none")
    told = "lift needs `against`" if ci else "--against none leaves out the gate on lift"
    assert (code, told in out + err) == (2 if ci else 0, True), out + err


def test_a_placebo_has_the_length_of_the_skill_and_helps_with_nothing(skill, runevals):
    """Name and description stay; the worth is then that of what the skill says, not of its length."""
    seen = AGENT.replace(
        "says =",
        'with Path("systems.txt").open("a") as log: log.write(json.dumps(asked["system"]) + "\\n")\nsays =',
    )
    skill.write("agent.py", seen.replace('side == "with"', '"Say yes." in asked["system"]'))
    code, out, err = runevals("run", "-q", "--against", "placebo-skill", "-o", "out.json")
    assert code == 0, out + err
    assert skill.document()["against"]["name"] == "placebo-skill"
    assert "Against placebo-skill: pass rate 16.7 % → 100.0 %" in out
    systems = {json.loads(line) for line in (skill.path / "systems.txt").read_text().splitlines()}
    [other] = systems - {SKILL}
    assert (len(other), other.startswith(SKILL.removesuffix("Say yes.\n"))) == (len(SKILL), True)


def test_an_agent_has_a_placebo_in_the_place_of_the_skill(tmp_path, project):
    from runevals.run.against import _target_without_skill
    from runevals.run.request import RunRequest

    for name in ("yes", "helper"):
        project.write(f"skills/{name}/SKILL.md", SKILL)
    project.write("skills/yes/run.py", "print('yes')\n")
    project.write("skills/yes/evals/evals.json", {"skill_name": "yes", "evals": EVALS})
    project.write("runevals.yaml", {"target": {"type": "codex", "skills": ["skills/yes", "skills/helper"]}})
    request = RunRequest.of("skills/yes/evals/evals.json", cwd=project.path)
    other = _target_without_skill(request.settings.target, request.suites, tmp_path)
    helper, placebo = other.agent.skills
    assert (helper.name, placebo) == ("helper", tmp_path / "yes")
    assert [path.name for path in placebo.iterdir()] == ["SKILL.md"]
    assert "Say yes." not in (placebo / "SKILL.md").read_text(encoding="utf-8")


@given(st.text(max_size=3000))
def test_a_placebo_has_the_length_and_the_front_matter_of_its_skill(body):
    assert placebo(FRONT + body).startswith(FRONT)
    assert len(placebo(FRONT + body)) == len(FRONT + body)


def test_of_a_skill_without_front_matter_all_is_replaced():
    assert placebo("Say yes.\n") == "The plove"


def test_without_a_target_the_ways_to_one_are_named(skill, runevals):
    skill.write("runevals.yaml", "version: 1\n")
    code, _, err = runevals(*AGAINST)
    assert (code, "nothing says what to run the suite against" in err) == (2, True), err
