"""`--changed-only`: nothing is run where nothing that the run depends on has changed."""

from __future__ import annotations

import re
import sys

import pytest

from tests.sample_suites import AGENT, SETTINGS, WORSE
from tests.targets.agents.stub import installed

DECLARED = SETTINGS + "baseline: base.json\ndepends_on: [agent.py, 'prompts/**']\nchanged_only: true\n"


@pytest.fixture
def stored(repository, runevals):
    """A green result of the base's commit, and a target that says what it is made of."""
    repository.write("runevals.yaml", DECLARED)
    repository.write("prompts/support.md", "Be kind.")
    repository.write(".gitignore", "*.json\n!evals.json\n!.mcp.json\n")
    repository.git("add", "-A")
    repository.git("commit", "-qm", "declared")
    code, out, err = runevals("-q", "--baseline", "none", "-o", "base.json")
    assert code == 0, out + err
    return repository


def test_a_change_of_something_else_is_green_without_a_call(stored, runevals):
    stored.write("README.md", "Hello.")
    stored.write("agent_is_not_this.py", "raise SystemExit")
    code, out, _ = runevals("-q", "-o", "out.json")
    commit = stored.git("rev-parse", "HEAD")[:7]
    assert code == 0, out
    assert out.startswith(f"✓ No relevant changes since {commit} – its result is reused: 1 of 2 cases pass")
    assert f"nothing was run: the result of {commit} is reused" in out
    assert stored.document()["cases"] == stored.document("base.json")["cases"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("agent.py", AGENT + "\n"),
        ("prompts/support.md", "Be brief."),
        ("prompts/new.md", "Be new."),
        ("evals.json", None),
        (".mcp.json", "{}"),
        ("runevals.yaml", DECLARED + "repeat: 1\n"),
        ("runevals.quarantine.yaml", "[]\n"),
    ],
)
def test_a_change_of_what_the_run_depends_on_is_run(stored, runevals, name, content):
    if content is None:
        content = (stored.path / name).read_text(encoding="utf-8") + "\n"
    stored.write(name, content)
    code, out, _ = runevals("-q", "-o", "out.json")
    assert code == 0, out
    assert "No regression shown in 2 cases" in out
    assert f"{name}" in out.partition("run in full: changed since")[2]


def test_a_changed_system_prompt_of_a_program_is_run(stored, runevals):
    target = f"{{type: command, command: ['{sys.executable}', main.py], system_prompt_file: system.md}}"
    settings = re.sub("target: .*", f"target: {target}", DECLARED)
    stored.write("runevals.yaml", settings.replace("agent.py", "main.py"))
    stored.write("main.py", "print('Paris')")
    stored.write("system.md", "Be kind.")
    stored.git("add", "-A")
    stored.git("commit", "-qm", "a program")
    code, out, err = runevals("-q", "--baseline", "none", "--changed-only", "-o", "base.json")
    assert code == 0, out + err
    assert "nothing was run" in runevals("-q", "-o", "out.json")[1]
    stored.write("system.md", "Be brief.")
    _, out, _ = runevals("-q", "-o", "out.json")
    assert "system.md" in out.partition("run in full: changed since")[2]


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        (
            DECLARED.replace("depends_on", "tag: []\n#"),
            "the python target may read any file; name what it depends on",
        ),
        (DECLARED.replace("changed_only: true", "min_pass_rate: 0.5\nchanged_only: true"), "changed since"),
    ],
)
def test_where_the_files_are_not_known_everything_is_run(stored, runevals, settings, told):
    stored.write("runevals.yaml", settings)
    code, out, _ = runevals("-q", "-o", "out.json")
    assert code == 0, out
    assert told in out.partition("run in full: ")[2]


def test_the_folder_that_a_case_runs_in_is_a_part_of_it(stored, runevals):
    sample = {"prompt": "p", "cwd": "fx", "assertions": [{"type": "contains", "value": "good"}]}
    stored.write("eval-samples.json", [{"sample_id": name, **sample} for name in "ab"])
    stored.write("fx/data.txt", "good")
    target = "{type: command, command: [sh, -c, cat data.txt], deterministic: true}"
    settings = re.sub("target: .*", f"target: {target}", DECLARED).replace("evals.json", "eval-samples.json")
    stored.write("runevals.yaml", settings)
    stored.write(".gitignore", "/*.json\n!eval-samples.json\n")
    stored.git("add", "-A")
    stored.git("commit", "-qm", "a folder")
    assert runevals("-q", "--baseline", "none", "-o", "base.json")[0] == 0
    assert "No relevant changes since" in runevals("-q", "-o", "out.json")[1]
    stored.write("fx/data.txt", "bad")
    for mode in ("true", "cases"):
        stored.write("runevals.yaml", settings.replace("changed_only: true", f"changed_only: {mode}"))
        stored.git("commit", "-qam", mode, "--allow-empty")
        code, out, _ = runevals("-q", "-o", "out.json")
        assert code == 1, out
        assert "2 of 2 cases regressed" in out


def test_a_link_that_leads_elsewhere_is_a_change(stored, runevals):
    suite = (stored.path / "evals.json").read_text(encoding="utf-8")
    for name in ("v1.json", "v2.json"):
        stored.write(f"suites/{name}", suite)
    link = stored.path / "evals.json"
    link.unlink()
    link.symlink_to("suites/v1.json")
    stored.write(".gitignore", "/*.json\n!evals.json\n")
    stored.git("add", "-A")
    stored.git("commit", "-qm", "a link")
    assert runevals("-q", "--changed-only", "--baseline", "none", "-o", "base.json")[0] == 0
    assert "No relevant changes since" in runevals("-q", "-o", "out.json")[1]
    link.unlink()
    link.symlink_to("suites/v2.json")
    _, out, _ = runevals("-q", "-o", "out.json")
    assert "run in full:" in out
    link.unlink()
    link.symlink_to("suites/v1.json")
    stored.write("suites/v1.json", suite + "\n")
    assert "suites/v1.json" in runevals("-q", "-o", "out.json")[1].partition("run in full: changed since")[2]


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        (DECLARED.replace("agent.py, 'prompts/**'", "agent.py, 'promts/**'"), "nothing here matches"),
        (DECLARED, "the base's result is of other cases"),
    ],
)
def test_what_cannot_stand_for_this_run_does_not(stored, runevals, settings, told):
    stored.write("runevals.yaml", settings)
    stored.git("commit", "-qam", "settings", "--allow-empty")
    assert runevals("-q", "--baseline", "none", "--filter", "a", "-o", "base.json")[0] == 0
    _, out, _ = runevals("-q", "-o", "out.json")
    assert told in out.partition("run in full: ")[2]


@pytest.mark.parametrize("type_", ["python", "command"])
def test_the_result_of_another_program_does_not_stand_for_this_run(stored, runevals, type_):
    """Both are in the base's commit: a flag or an input of the workflow names the other one."""
    name = "python:{}.py:answer" if type_ == "python" else f"command:{sys.executable} {{}}.py"
    stored.write("runevals.yaml", DECLARED.replace("agent.py, ", "'*.py', "))
    stored.write("agent.py", f"{AGENT}\nif __name__ == '__main__':\n print('Paris')\n")
    stored.write("other.py", f"{WORSE}\nif __name__ == '__main__':\n print('Rome')\n")
    stored.git("add", "-A")
    stored.git("commit", "-qm", "two programs")
    assert runevals("-q", "--target", name.format("agent"), "--baseline", "none", "-o", "base.json")[0] == 0
    assert "No relevant changes since" in runevals("-q", "--target", name.format("agent"), "-o", "out.json")[1]
    _, out, _ = runevals("-q", "--target", name.format("other"), "-o", "out.json")
    assert "run in full: the base's result is of another target" in out
    assert "a failed that passed on the base" in out


def test_the_result_of_another_version_of_the_agent_does_not_stand_for_this_run(
    stored, runevals, tmp_path_factory, monkeypatch
):
    folder = tmp_path_factory.mktemp("npm")
    end = '{"type": "result", "subtype": "success", "result": "Paris"}'
    for name, value in installed(folder, f"print({end!r})").items():
        monkeypatch.setenv(name, value)
    stored.write("runevals.yaml", re.sub("target: .*", "target: {type: claude-code, skills: []}", DECLARED))
    stored.git("commit", "-qam", "an agent")
    code, out, err = runevals("-q", "--baseline", "none", "-o", "base.json")
    assert code == 0, out + err
    assert "No relevant changes since" in runevals("-q", "-o", "out.json")[1]
    manifest = folder / "node_modules/@anthropic-ai/claude-code/package.json"
    manifest.write_text(manifest.read_text(encoding="utf-8").replace("9.8.7", "9.9.0"), encoding="utf-8")
    _, out, _ = runevals("-q", "-o", "out.json")
    assert "run in full: the base's result is of claude-code 9.8.7, and 9.9.0 is installed" in out
    assert "another version of claude-code: 9.8.7 then, 9.9.0 now" in out


def test_a_result_made_with_uncommitted_edits_does_not_stand_for_this_run(stored, runevals):
    stored.write("agent.py", AGENT + "\n")
    code, out, err = runevals("-q", "--baseline", "none", "-o", "base.json")
    assert code == 0, out + err
    stored.git("checkout", "agent.py")
    _, out, _ = runevals("-q", "-o", "out.json")
    assert "run in full: the base's result was made with changes that are in no commit" in out


def test_patterns_are_relative_to_the_file_that_has_them(stored, runevals, monkeypatch):
    stored.write("evals/keep.txt", "x")
    monkeypatch.chdir(stored.path / "evals")
    words = ("--target", f"python:{stored.path}/agent.py:answer", "-q", "-o", "../out.json")
    assert "No relevant changes since" in runevals(*words)[1]
    stored.write("prompts/support.md", "Be brief.")
    assert "prompts/support.md" in runevals(*words)[1].partition("run in full: changed since")[2]


def test_gates_on_the_numbers_are_not_passed_over(stored, runevals):
    stored.write("runevals.yaml", DECLARED.replace("baseline: base.json\n", "min_pass_rate: 0.9\n"))
    stored.git("commit", "-qam", "a floor")
    stored.git("branch", "-f", "main", "HEAD")
    code, out, _ = runevals("--base", "main", "-q", "-o", "out.json")
    assert (code, "run in full: gates on the numbers themselves: min_pass_rate" in out) == (1, True), out


def test_a_base_that_was_not_green_does_not_stand_for_a_run(stored, runevals):
    base = stored.document("base.json")
    [case, *_] = base["cases"]
    case |= {"category": "replay", "status": "failed"}
    for attempt in case["attempts"]:
        attempt["status"] = "failed"
        for result in attempt["turns"][0]["results"]:
            result |= {"outcome": "failed", "passed": False}
    stored.write("base.json", base)
    _, out, _ = runevals("-q", "-o", "out.json")
    assert "is not green itself" in out


def test_beside_a_base_that_is_run_too_nothing_at_all_is_run(stored, runevals):
    stored.write("runevals.yaml", DECLARED.replace("baseline: base.json\n", ""))
    stored.git("commit", "-qam", "no stored result")
    stored.git("branch", "-f", "main", "HEAD")
    code, out, _ = runevals("--base", "main", "-q", "-o", "out.json")
    assert code == 0, out
    assert "nothing was run" in out.splitlines()[0]
    stored.write("prompts/support.md", "Be brief.")
    code, out, _ = runevals("--base", "main", "-q", "-o", "out.json")
    assert "No regression shown in 2 cases" in out
