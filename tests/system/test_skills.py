"""The three skills of the skill-case specification, with its own cases, and how skills fail."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from tests.ending import ended

OPENCLAW = Path(__file__).parent / "openclaw"


@pytest.fixture
def claw(project):
    shutil.copytree(OPENCLAW, project.path, dirs_exist_ok=True)
    return project


def statuses(project):
    return {case["key"]: case["status"] for case in project.document()["cases"]}


def test_the_specifications_cases_are_found_and_pass(claw, runevals):
    code, out, _ = runevals("-q", "-o", "out.json")
    assert code == 0, out
    found = claw.document()
    assert set(statuses(claw).values()) == {"passed"}
    assert len(found["cases"]) == len(list(OPENCLAW.rglob("data/**/*.json")))
    assert found["run"]["suites"][0]["name"] == "data/eval"
    assert {gate["name"]: gate["state"] for gate in found["gates"]} == {
        "replay": "passed",
        "regression": "passed",
        "redteam": "passed",
        "measured": "passed",
    }
    assert found["run"]["target"]["deterministic"] is True


def test_a_gate_is_counted_for_each_skill(claw, runevals):
    """One of three failing cases of one skill is under 99 % there, however many others pass."""
    shared = {"skill": "text_echo", "category": "regression", "input": {"text": "a", "format": "uppercase"}}
    many = [{"id": f"r{n}", **shared, "expected": {"type": "exact", "value": "A"}} for n in range(400)]
    claw.write("data/eval/regression/many.json", many)
    path = claw.path / "skills/ffmpeg_arg_builder/skill.py"
    path.write_text(path.read_text().replace('"-b:v"', '"-b"'))
    code, out, _ = runevals("-q", "-o", "out.json")
    assert code == 1, out
    assert "The gate regression failed (at least 99 % must pass): ffmpeg_arg_builder: 0 of 1 passed" in out


NO_JSON = ("bytes", "set", "nan")  # returned, and equal to no value that a suite can name
UNREADABLE = (*NO_JSON, "large", "inside")  # and may hold anything
ENDINGS = """
import time

MOCK_DATA = None

def action(how, mock_data=None):
    if how == "raise":
        raise KeyError("root: secret")
    if how == "exit":
        raise SystemExit(3)
    if how == "hang":
        time.sleep(60)
    if how == "nothing":
        return None
    if how == "bytes":
        return b"root:x"
    if how == "set":
        return {"root:x"}
    if how == "inside":
        return ["root:x", b""]
    if how == "large":
        return "root:x" * 10_000_000
    if how == "nan":
        return float("nan")
    if how == "mock":
        return [MOCK_DATA["a"], mock_data["a"]]
    return {"n": 1, "t": True, "x": None}
"""


@pytest.mark.parametrize(
    ("how", "expected", "status"),
    [
        ("value", {"type": "exact", "value": {"t": True, "n": 1.0, "x": None}}, "passed"),
        ("value", {"type": "exact", "value": {"t": 1, "n": 1, "x": None}}, "failed"),
        ("value", {"type": "schema", "schema": {"type": "object", "required": ["n"]}}, "passed"),
        ("value", {"type": "schema", "schema": {"type": "array"}}, "failed"),
        ("value", {"type": "regex", "pattern": "x"}, "failed"),
        ("value", {"type": "contains", "values": ["n"]}, "failed"),
        ("value", {"type": "no_forbidden_patterns", "forbidden": ["root:"]}, "passed"),
        ("value", {"type": "timeout_or_error", "max_duration_ms": 5000}, "failed"),
        ("mock", {"type": "exact", "value": [7, 7]}, "passed"),
        ("raise", {"type": "exact", "value": 1}, "failed"),
        ("raise", {"type": "regex", "pattern": ""}, "failed"),
        ("raise", {"type": "no_forbidden_patterns", "forbidden": ["root:"]}, "passed"),
        ("raise", {"type": "timeout_or_error"}, "passed"),
        ("exit", {"type": "timeout_or_error"}, "passed"),
        ("hang", {"type": "timeout_or_error", "max_duration_ms": 100}, "passed"),
        ("hang", {"type": "contains", "values": ["x"]}, "failed"),
        ("nothing", {"type": "exact", "value": None}, "passed"),
        ("nothing", {"type": "exact", "value": "null"}, "failed"),
        ("nothing", {"type": "schema", "schema": {"type": "null"}}, "passed"),
        ("nothing", {"type": "regex", "pattern": "nu"}, "failed"),
        ("nothing", {"type": "contains", "values": ["ull"]}, "failed"),
        *((how, {"type": "no_forbidden_patterns", "forbidden": ["root:"]}, "errored") for how in UNREADABLE),
        *((how, {"type": "exact", "value": "root:x"}, "failed") for how in NO_JSON),
        *((how, {"type": "contains", "values": ["root:x"]}, "failed") for how in NO_JSON),
        *((how, {"type": "regex", "pattern": "root"}, "failed") for how in NO_JSON),
        *((how, {"type": "schema", "schema": {"type": "string"}}, "failed") for how in NO_JSON),
        *((how, {"type": "schema", "schema": {"minLength": 9}}, "errored") for how in NO_JSON),
        *((how, {"type": "timeout_or_error"}, "failed") for how in NO_JSON),
        ("inside", {"type": "exact", "value": ["root:x"]}, "errored"),
    ],
)
def test_how_a_skill_ends_is_what_is_judged(project, runevals, how, expected, status):
    project.write("skills/s/skill.py", ENDINGS)
    case = {
        "id": "a",
        "skill": "s",
        "input": {"how": how},
        "mock_data": {"a": 7},
        "timeout_ms": 400 if how == "hang" else 20_000,
    }
    project.write("eval/replay/a.json", {**case, "expected": expected})
    code, out, _ = runevals("-q", "-o", "out.json")
    assert statuses(project) == {"a": status}, out
    assert code == {"passed": 0, "failed": 1, "errored": 3}[status]


def test_a_leak_in_an_errors_message_is_told(project, runevals):
    project.write("skills/s/skill.py", ENDINGS)
    expected = {"type": "no_forbidden_patterns", "forbidden": ["root:"]}
    project.write(
        "eval/redteam/a.json", {"id": "a", "skill": "s", "input": {"how": "raise"}, "expected": expected}
    )
    runevals("-q", "-o", "out.json")
    (result,) = project.document()["cases"][0]["attempts"][0]["turns"][0]["results"]
    assert result["reason"].startswith("passed by error: KeyError")
    assert result["details"] == {"warning": "its message holds: root:"}


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({"skills/t/skill.py": "def action(): pass"}, "there is no skills/s/skill.py"),
        ({"skills/s/skill.py": "def run(): pass"}, "it defines no function action"),
        ({"skills/s/skill.py": "def action(:"}, "syntax error (line 1)"),
        ({"skills/s/skill.py": "import no_such_module"}, "ModuleNotFoundError"),
        ({"skills/s/skill.py": "raise SystemExit(0)"}, "SystemExit"),
        ({"skills/s/skill.py": "import os; os._exit(0)"}, "ended without an answer"),
    ],
)
def test_a_skill_that_cannot_be_called_is_an_error_not_a_failure(project, runevals, files, told):
    for name, content in files.items():
        project.write(name, content)
    expected = {"type": "timeout_or_error"}
    project.write("eval/replay/a.json", {"id": "a", "skill": "s", "input": {}, "expected": expected})
    code, out, _ = runevals("-q", "-o", "out.json")
    assert (code, statuses(project)) == (3, {"a": "errored"})
    assert told in out


def test_skills_without_their_folder_are_a_usage_error(project, runevals):
    project.write(
        "eval/replay/a.json", {"id": "a", "skill": "s", "input": {}, "expected": {"type": "timeout_or_error"}}
    )
    code, _, err = runevals("-q")
    ended(code, 2, err, f"target: there is no folder {project.path / 'skills'}")


def test_a_skill_that_is_a_link_out_of_its_folder_is_an_error_of_its_cases_alone(project, runevals):
    project.write("skills/s/skill.py", ENDINGS)
    project.write("real/skill.py", ENDINGS)
    (project.path / "skills/linked").mkdir()
    (project.path / "skills/linked/skill.py").symlink_to(project.path / "real/skill.py")
    for name in ("s", "linked"):
        case = {"id": name, "skill": name, "input": {"how": "value"}, "expected": {"type": "timeout_or_error"}}
        project.write(f"eval/replay/{name}.json", case)
    assert runevals("-q", "-o", "out.json")[0] == 1
    assert statuses(project) == {"s": "failed", "linked": "errored"}


def test_a_file_among_the_cases_that_is_none_stops_the_run(project, runevals):
    """A mistyped key must not take a case out of its gate."""
    project.write("skills/s/skill.py", ENDINGS)
    case = {"id": "a", "skill": "s", "input": {"how": "value"}, "expected": {"type": "timeout_or_error"}}
    project.write("data/eval/redteam/a.json", case)
    project.write("data/eval/redteam/b.json", {"skil": "s", **{k: v for k, v in case.items() if k != "skill"}})
    for words in ([], ["--all"], ["data/eval"]):
        code, _, err = runevals(*words)
        assert code == 2
        assert "data/eval/redteam/b.json" in err


def test_cases_of_skills_are_not_asked_of_anything_else(project, runevals):
    project.write("bot.py", "def answer(prompt): return 'I would never'")
    expected = {"type": "no_forbidden_patterns", "forbidden": ["x"]}
    project.write("eval/redteam/a.json", {"id": "a", "skill": "s", "input": {}, "expected": expected})
    code, _, err = runevals("--target", "python:bot.py:answer")
    assert code == 2
    assert "eval holds cases for skills, which the python target is not" in err


def test_cases_of_skills_that_are_not_run_are_named(project, runevals):
    project.write("eval/redteam/a.json", {"id": "a", "skill": "s", "input": {}, "expected": {"type": "exact"}})
    project.write("evals.json", {"schemaVersion": "1.2.0", "items": [{"prompt": "p", "expected_response": "p"}]})
    project.write("bot.py", "def answer(prompt): return prompt")
    _, out, err = runevals("--target", "python:bot.py:answer", "--no-judge")
    assert "also found, not run: eval (--all runs them)" in out + err


def test_skills_outside_the_repository_are_refused(project, runevals):
    project.write("eval/replay/a.json", {"id": "a", "skill": "s", "input": {}, "expected": {"type": "exact"}})
    project.write("runevals.yaml", "target: {type: skill, skills_dir: ../elsewhere}\n")
    code, _, err = runevals()
    assert code == 2
    assert "target.skills_dir: ../elsewhere is not a folder inside the repository" in err


def test_a_worse_skill_is_a_regression_by_name(claw, runevals):
    assert runevals("-q", "-o", "base.json")[0] == 0
    path = claw.path / "skills/text_echo/shapes.py"
    path.write_text(path.read_text().replace("str.title", "str.lower"))
    code, out, _ = runevals("-q", "--baseline", "base.json", "-o", "out.json")
    assert code == 1
    assert "replay_text_echo_003" in out
    answers = json.loads((claw.path / "out.json").read_text())["comparison"]["changes"]
    assert [change["key"] for change in answers] == ["replay_text_echo_003"]


UPPER = {"text": "a", "format": "uppercase"}
ESCAPED = {"id": "escaped", "skill": "text_echo", "category": "other", "input": UPPER}


def test_a_folders_category_cannot_be_left_by_a_field(claw, runevals):
    """A failing case in redteam/ fails that gate, whatever its `category` says; the two are told to differ."""
    claw.write("data/eval/redteam/escaped.json", {**ESCAPED, "expected": {"type": "exact", "value": "B"}})
    code, out, err = runevals("-q", "-o", "out.json")
    assert code == 1, out + err
    assert "The gate redteam failed (at least 100 % must pass): text_echo: 3 of 4 passed" in out
    assert (
        "data/eval/redteam/escaped.json:4:2: /category warning: is 'other', but the folder decides: the case is "
        "counted as 'redteam'; write 'redteam' and use tags for the rest, or move the file"
    ) in err


def test_a_link_in_a_gated_folder_is_counted_there(claw, runevals):
    claw.write("stash/escaped.json", {**ESCAPED, "expected": {"type": "exact", "value": "B"}})
    (claw.path / "data/eval/redteam/escaped.json").symlink_to("../../../stash/escaped.json")
    code, out, err = runevals("-q", "-o", "out.json")
    assert code == 1, out + err
    assert "The gate redteam failed" in out


def test_a_category_of_ones_own_holds_in_another_folder(claw, runevals):
    claw.write("data/other/own.json", {**ESCAPED, "expected": {"type": "exact", "value": "A"}})
    code, out, err = runevals("data/other", "-q", "-o", "out.json")
    assert (code, err) == (0, ""), out
    assert [case["category"] for case in claw.document()["cases"]] == ["other"]


def test_the_cases_of_further_folders_are_run_with_the_others(claw, runevals):
    claw.write("data/eval/custom/own.json", {**ESCAPED, "expected": {"type": "exact", "value": "A"}})
    claw.write("data/eval/fixtures/input.json", {"text": "is no case"})
    for words in ((), ("data/eval",), ("--all",)):
        code, out, err = runevals(*words, "-q", "-o", "out.json")
        assert (code, err) == (0, ""), out
        assert [(c["suite"], c["key"], c["category"]) for c in claw.document()["cases"]][-1] == (
            "data/eval",
            "escaped",
            "other",
        )


LOADS = """
import json, sys
from pathlib import Path

name = Path("SKILL.md").read_text().split("name: ")[1].split()[0]
asked = sys.argv[-1]
used = {"type": "tool_use", "id": "1", "name": "Skill", "input": {"skill": name}}
events = [{"type": "system", "subtype": "init", "session_id": "s", "skills": [name]}]
if "notes" in json.loads(sys.stdin.read() or "{}").get("prompt", asked):
    events.append({"type": "assistant", "message": {"content": [used]}})
events.append({"type": "result", "subtype": "success", "result": "Done."})
print("\\n".join(map(json.dumps, events)))
"""


def test_a_skill_can_be_renamed_and_its_triggers_are_compared(repository, runevals):
    repository.git("checkout", "-q", "main")
    queries = [{"query": f"Write notes {n}", "should_trigger": True} for n in range(4)]
    queries.append({"query": "Cook", "should_trigger": False})
    repository.write("SKILL.md", "---\nname: notes\ndescription: Writes notes\n---\n# Notes\n")
    repository.write("evals/trigger-evals.json", queries)
    repository.write("agent.py", LOADS)
    target = f"{{type: command, command: [{sys.executable}, agent.py], output: claude-code, deterministic: true}}"
    repository.write("runevals.yaml", f"target: {target}\n")
    repository.git("add", "-A")
    repository.git("commit", "-qm", "a skill")
    repository.git("checkout", "-qB", "change")
    repository.write("SKILL.md", "---\nname: rel-notes\ndescription: Writes notes\n---\n# Notes\n")
    code, out, err = runevals("evals/trigger-evals.json", "--base", "main", "-q", "-o", "out.json")
    ended(code, 0, out + err, "No regression shown in 5 cases")
    repository.write("agent.py", LOADS.replace('"notes" in', '"2" in'))
    code, out, err = runevals("evals/trigger-evals.json", "--base", "main", "-q", "-o", "out.json")
    ended(code, 1, out + err, "3 of 5 cases regressed")
