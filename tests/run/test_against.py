"""The same cases measured without the skill under test, in the same rounds."""

from __future__ import annotations

import pytest

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
SKILL = "---\nname: yes\ndescription: Says yes.\n---\nSay yes.\n"
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
    code, out, err = runevals(*AGAINST, "-o", "benchmark.json", "-o", "summary.md")
    assert code == 3, out + err  # the trigger case: this target does not report its tool calls
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
