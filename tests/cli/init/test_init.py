"""`runevals init`: what it finds, writes and runs."""

from __future__ import annotations

import json
import os
import re

import pytest
import yaml

from runevals.github.workflow import GATED, plain
from runevals.models.facts import model
from tests.chat_server import Reply, chat_server
from tests.ending import ended
from tests.sample_suites import AGENT, SUITE

PYTHON = ("--target", "python:agent.py:answer")


def test_init_writes_what_a_first_run_needs_and_runs_it(project, runevals):
    code, out, _ = runevals("init", "--yes", *PYTHON)
    assert code == 0
    assert "✓ 3 of 3 cases pass" in out
    assert "wrong answers are noticed, in 3 cases; runevals strength says which are not" in out
    for name in ("evals/evals.json", "agent.py", "runevals.yaml", ".gitignore"):
        assert f"✓ {name}: written" in out
        assert (project.path / name).is_file()
    assert (project.path / ".gitignore").read_text().split() == [".evals/", ".env.local.user"]
    assert runevals()[0] == 0  # what was written stands by itself


def test_a_first_change_for_the_worse_of_the_starter_program_is_red(project, runevals):
    runevals("init", "--yes", *PYTHON)
    assert runevals("-o", "base.json")[0] == 0
    project.write("agent.py", "def answer(prompt, messages, case):\n    return 'nope'\n")
    code, out, _ = runevals("--baseline", "base.json")
    assert code == 1
    assert out.startswith("✗ 3 of 3 cases regressed")


def test_a_program_that_was_there_is_not_called_deterministic(project, runevals):
    project.write("agent.py", AGENT)
    runevals("init", "--yes", *PYTHON)
    assert "deterministic" not in (project.path / "runevals.yaml").read_text()


def test_init_overwrites_nothing_and_says_so(project, runevals):
    own = {
        "evals/evals.json": json.dumps(SUITE),
        "runevals.yaml": "version: 1\nconcurrency: 2\n",
        "agent.py": AGENT,
        ".gitignore": "*.log\n/.evals\n.env.local.user",
        ".github/workflows/evals.yml": "mine\n",
    }
    for name, text in own.items():
        project.write(name, text)
    code, out, _ = runevals("init", "--yes", *PYTHON, "--github")
    assert code == 0
    for name, text in own.items():
        assert (project.path / name).read_text() == text
        assert f"– {name}: already exists, skipped" in out


@pytest.mark.parametrize("before", ["*.log", "*.log\r\n"], ids=["without an end", "CRLF"])
def test_lines_of_gitignore_are_added_to_what_is_there(project, runevals, before):
    (project.path / ".gitignore").write_bytes(before.encode())
    runevals("init", "--yes", *PYTHON)
    text = (project.path / ".gitignore").read_bytes().decode()
    assert text.split() == ["*.log", ".evals/", ".env.local.user"]
    assert ("\r\n" in text) == ("\r\n" in before)


def test_without_a_target_it_is_checked_and_planned_but_not_run(project, runevals):
    code, out, _ = runevals("init", "--yes")
    assert code == 0
    assert "Not run yet: no target is set" in out
    assert "✓ evals/evals.json: 3 cases, 3 checks" in out
    assert "cases       3" in out
    assert f'target: "openai:{model("openai")}"' in (project.path / "runevals.yaml").read_text()
    assert runevals("settings")[0] == 0  # as a comment
    assert not (project.path / ".evals").exists()


@pytest.mark.parametrize("has_suite", [False, True])
def test_the_prompt_that_was_found_is_in_the_target_that_is_proposed(project, runevals, has_suite):
    """Without it a later change of the prompt would be ✓, as nothing would send it."""
    project.write("prompts/support.md", "Always cite the number of the order.\n")
    if has_suite:
        project.write("evals/evals.json", SUITE)
    _, out, _ = runevals("init", "--yes")
    of_target = {"type": "openai", "model": model("openai"), "system_prompt_file": "prompts/support.md"}
    assert f"  for the target: put into the settings file: target: {json.dumps(of_target)}, or another" in out
    (project.path / "runevals.yaml").unlink()
    runevals("init", "--yes", "--target", "openai:m")
    assert '  system_prompt_file: "prompts/support.md"\n' in (project.path / "runevals.yaml").read_text()


def test_of_two_prompts_none_is_chosen_for_suites_that_are_there(project, runevals):
    project.write("evals/evals.json", SUITE)
    for name in ("prompts/a.md", "prompts/b.txt"):
        project.write(name, "Be brief.\n")
    runevals("init", "--yes", "--target", "openai:m")
    assert "system_prompt_file" not in (project.path / "runevals.yaml").read_text()


def test_without_the_key_nothing_is_called_and_the_key_is_named(project, runevals):
    code, out, _ = runevals("init", "--yes", "--target", "openai:some-model")
    assert code == 0
    assert ": the variable OPENAI_API_KEY is not set. This is what would run:" in out
    assert "  for the target: export OPENAI_API_KEY=…, or write it into .env.local.user" in out


def test_a_chat_model_is_asked_once_and_the_workflow_hands_on_its_variables(project, runevals, monkeypatch):
    def answer(body, _):
        prompt = body["messages"][-1]["content"]
        return Reply("Paris" if "France" in prompt else "green" if "blue" in prompt else "144")

    with chat_server(answer) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        code, out, _ = runevals("init", "--yes", "--target", "openai:small", "--github")
    assert code == 0
    assert "✓ 3 of 3 cases pass" in out
    assert len(server.requests) == 3
    step = _workflow(project)["jobs"]["evals"]["steps"][-1]
    assert step["env"] == {
        "OPENAI_API_KEY": "${{ secrets.OPENAI_API_KEY }}",
        "OPENAI_BASE_URL": "${{ vars.OPENAI_BASE_URL }}",
    }
    assert "  add OPENAI_BASE_URL to the repository's variables, there too: an address" in out


def test_a_coding_agent_that_is_absent_is_planned_and_the_workflow_installs_it(project, runevals, monkeypatch):
    monkeypatch.setenv("PATH", str(project.path))
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    code, out, _ = runevals("init", "--yes", "--target", "claude-code", "--github")
    assert code == 0
    assert "Not run yet: the claude-code target needs the program `claude`; install it with: npm install" in out
    assert "  add ANTHROPIC_API_KEY to the repository's secrets" in out
    _, install, action = _workflow(project)["jobs"]["evals"]["steps"]
    assert install == {"run": "npm install -g @anthropic-ai/claude-code"}
    assert action["env"] == {"ANTHROPIC_API_KEY": "${{ secrets.ANTHROPIC_API_KEY }}"}


def test_a_workflow_of_ours_that_lacks_the_agent_and_its_key_is_told_the_lines(project, runevals, monkeypatch):
    """It was written before the target was chosen."""
    monkeypatch.setenv("PATH", str(project.path))
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    runevals("init", "--yes", "--github")
    lines = (
        "npm install -g @anthropic-ai/claude-code\n          ANTHROPIC_API_KEY: ${{ secrets.ANTHROPIC_API_KEY }}\n"
    )
    project.write("runevals.yaml", "target: claude-code\n")
    _, out, _ = runevals("init", "--yes", "--github")
    path = ".github/workflows/evals.yml"
    told = f"{path}: already exists, skipped\n  add these steps to a job of {path}:\n      - run: {lines}"
    assert told in out, out
    text = (project.path / path).read_text(encoding="utf-8")
    project.write(path, f"{text}      - run: {lines}")
    assert "add these steps" not in runevals("init", "--yes", "--github")[1]


def test_a_coding_agent_without_a_key_is_not_called(project, runevals, monkeypatch):
    (project.path / "codex").write_text("#!/bin/sh\nexit 1\n")
    (project.path / "codex").chmod(0o755)
    monkeypatch.setenv("PATH", str(project.path))
    for name in ("CODEX_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    code, out, _ = runevals("init", "--yes", "--target", "codex")
    assert code == 0
    assert "Not run yet: codex has no key: none of CODEX_API_KEY" in out


@pytest.mark.parametrize(
    ("program", "key", "lack"),
    [
        (
            "claude",
            "",
            "export ANTHROPIC_API_KEY=…, or write it into .env.local.user (which must not be committed)",
        ),
        ("other", "k", "npm install -g @anthropic-ai/claude-code; docs/agents.md has its keys"),
    ],
)
def test_a_skill_without_a_target_is_told_what_its_agent_lacks(project, runevals, monkeypatch, program, key, lack):
    project.write(program, "#!/bin/sh\n").chmod(0o755)
    project.write("SKILL.md", _SKILL)
    monkeypatch.setenv("PATH", str(project.path))
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:1")
    monkeypatch.delenv("CLAUDE_CODE_OAUTH_TOKEN", raising=False)
    monkeypatch.setenv("ANTHROPIC_API_KEY", key)
    code, out, err = runevals("init", "--yes")
    ended(code, 0, out + err, f"; a skill needs a coding agent: {lack}, then --target claude-code\n")
    project.write(program, "").chmod(0o755)
    if program == "claude":
        monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
        ended(2, *runevals("doctor")[:2], "a skill needs a coding agent: --target claude-code\n")


def test_with_a_judge_the_suite_has_a_case_for_it(project, runevals):
    project.write("judge.jsonl", "")
    runevals("init", "--yes", *PYTHON, "--judge", "recorded:judge.jsonl")
    assert [item["testId"] for item in project.document("evals/evals.json")["items"]] == [
        "capital",
        "product",
        "abilities",
    ]


def test_the_workflow_has_the_least_rights_and_one_action(project, runevals):
    runevals("init", "--yes", *PYTHON, "--github")
    written = _workflow(project)
    assert written["permissions"] == {"contents": "read", "actions": "read", "pull-requests": "write"}
    checkout, ours = written["jobs"]["evals"]["steps"]
    assert checkout["with"] == {"persist-credentials": False, "fetch-depth": 0}
    assert ours["uses"].startswith("runevals/runevals@")
    assert "with" not in ours


def test_a_comparison_is_suggested_with_the_branch_that_there_is(repository, runevals):
    repository.git("branch", "-m", "main", "master")
    assert "see what a change does: runevals --base master" in runevals("init", "--yes")[1]
    assert "runevals --base master needs none: it runs the base first" in runevals("doctor")[1]


def test_where_nothing_is_committed_no_comparison_is_suggested(project, runevals):
    assert "--base" not in runevals("init", "--yes", *PYTHON)[1]
    assert "--base" not in runevals("doctor", *PYTHON)[1]


def test_a_workflow_that_there_is_is_not_suggested(project, runevals):
    assert "runevals init --github" in runevals("init", "--yes", *PYTHON)[1]
    runevals("init", "--yes", *PYTHON, "--github")
    assert "runevals init --github" not in runevals("init", "--yes", *PYTHON)[1]


def test_the_workflow_stores_results_of_the_branch_that_changes_go_to(repository, runevals):
    runevals("init", "--yes", "--github")  # on the branch `change`
    assert _workflow(repository)[True]["push"] == {"branches": ["main"]}  # YAML 1.1 reads `on` so
    (repository.path / ".github/workflows/evals.yml").unlink()
    repository.git("branch", "-m", "main", "trunk")
    repository.git("update-ref", "refs/remotes/origin/trunk", "trunk")
    repository.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk")
    runevals("init", "--yes", "--github")
    assert _workflow(repository)[True]["push"] == {"branches": ["trunk"]}


@pytest.mark.parametrize("name", ["a]: x", "${{ x }}", "-x", "ä", 'b"'])
def test_a_branch_whose_name_could_mean_more_is_not_written(name):
    assert plain(name) == "main"


def test_the_workflow_of_a_project_in_a_folder_lies_at_the_root(project, runevals, monkeypatch):
    (project.path / "app").mkdir()
    monkeypatch.chdir(project.path / "app")
    runevals("init", "--yes", *PYTHON, "--github")
    assert _workflow(project)["jobs"]["evals"]["steps"][-1]["with"] == {"config": "app/runevals.yaml"}
    monkeypatch.chdir(project.path)
    assert runevals("--config", "app/runevals.yaml")[0] == 0


def test_cases_for_skills_need_no_target(project, runevals):
    case = {"id": "1", "skill": "echo", "category": "regression", "input": {}, "expected": {"type": "exact"}}
    case["expected"]["value"] = "hello"
    project.write("evals/regression/echo.json", case)
    project.write("skills/echo/skill.py", "def action():\n    return 'hello'\n")
    code, out, _ = runevals("init", "--yes")
    assert code == 0
    assert "– evals/regression/echo.json: already exists" in out
    assert "✓ 1 of 1 case passes" in out
    assert 'target: "skill"' in (project.path / "runevals.yaml").read_text()
    assert runevals()[0] == 0


def test_a_broken_suite_stops_init_before_it_writes(project, runevals):
    project.write("evals.json", "{")
    code, _, err = runevals("init", "--yes", *PYTHON)
    assert code == 2
    assert "evals.json:1:2" in err
    assert project.files() == ["evals.json"]


@pytest.mark.parametrize("wrong", ["nonsense", "python:no-function", "recorded:absent.jsonl", "skill"])
def test_a_target_that_cannot_be_is_told_before_anything_is_written(project, runevals, wrong):
    code, _, err = runevals("init", "--yes", "--target", wrong)
    assert code == 2
    assert err.startswith("Error: ")
    assert project.files() == []


def _workflow(project):
    text = (project.path / ".github/workflows/evals.yml").read_text(encoding="utf-8")
    return yaml.safe_load(text)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ("repeat: 1\n", True),
        ("target: python:agent.py:answer\n", False),
        ("target: python:agent.py:other\n", True),
    ],
)
def test_settings_without_the_target_are_completed_by_the_next_steps(project, runevals, settings, told):
    project.write("runevals.yaml", settings)
    project.write("agent.py", "def answer(prompt):\n    return 'x'\n")
    code, out, _ = runevals("init", "--yes", "--target", "python:agent.py:answer")
    assert code == 0
    assert ('  put into the settings file: target: "python:agent.py:answer"\n' in out) is told, out


def test_the_workflow_of_a_folder_installs_there_and_other_projects_join_it(repository, runevals, monkeypatch):
    (repository.path / "runevals.yaml").unlink()
    for name in ("first", "second"):
        repository.write(f"{name}/requirements.txt", "")
        monkeypatch.chdir(repository.path / name)
        code, out, err = runevals("init", "--yes", *PYTHON, "--github")
        told = {"first": "written", "second": "extended"}[name]
        ended(code, 0, out + err, f"✓ ../.github/workflows/evals.yml: {told}")
        assert "not gated" not in out
        if name == "first":
            _, _, ours = _workflow(repository)["jobs"]["evals"]["steps"]
            assert ours["with"] == {"config": "first/runevals.yaml"}
    _, *install, ours = _workflow(repository)["jobs"]["evals"]["steps"]
    of_pip = {"run": "pip install -r requirements.txt"}
    assert install == [{**of_pip, "working-directory": "first"}, {**of_pip, "working-directory": "second"}]
    assert ours["with"] == {"all_projects": True}
    for tool in ("pytest", "promptfoo"):
        repository.write("tests/test_a.py", "")
        repository.write("tests/requirements-dev.txt", "pytest")
        monkeypatch.chdir(repository.path / "tests")
        _, out, _ = runevals("init", "--gate", tool)
        ended(code, 0, out, "✓ ../.github/workflows/evals.yml: extended")
        packages, run, gate = _workflow(repository)["jobs"]["evals"]["steps"][-3:]
        own = {"pytest": "pip install pytest"}.get(tool, "pip install -r requirements-dev.txt")
        in_tests = {"working-directory": "tests", "if": "${{ !cancelled() }}"}  # though another gate failed
        assert (packages, run) == ({"run": own, **in_tests}, {"run": GATED[tool][0], **in_tests})
        assert gate["if"] == in_tests["if"]
        results = f"tests/{GATED[tool][1]}"
        assert gate["with"] == {"mode": "gate", "results": results, "config": "tests/runevals.yaml"}
    repository.write("third/requirements.txt", "")
    monkeypatch.chdir(repository.path / "third")
    runevals("init", "--yes", *PYTHON, "--github")
    inputs = [step.get("with", {}) for step in _workflow(repository)["jobs"]["evals"]["steps"]]
    assert [one.get("mode", one.get("all_projects")) for one in inputs if one][1:] == ["gate", "gate", True]
    *_, last = _workflow(repository)["jobs"]["evals"]["steps"]
    assert last["if"] == "${{ !cancelled() }}"
    ignored = (repository.path / ".gitignore").read_text(encoding="utf-8").split()
    assert ignored == [".evals/", ".env.local.user", "/tests/junit.xml", "/tests/output.json"]
    assert not list(repository.path.glob("*/.gitignore"))


@pytest.mark.parametrize(
    ("step", "told"),
    [
        (
            "- uses: runevals/runevals@v0",
            "under with: of the step of runevals, write all_projects: true\n",
        ),
        ("- {uses: a/runevals@v0, with: {config: other/x.yaml}}", "write all_projects: true in place of config:"),
        (
            "- {uses: runevals/runevals@v0, with: {mode: gate, results: a}}",
            "add a step: - {uses: runevals/runevals@",
        ),
        ("- {uses: runevals/runevals@v0, with: {all_projects: true}}", None),
        ("- {uses: runevals/runevals@v0, with: {config: '${{ matrix.project }}/runevals.yaml'}}", None),
        ("- {uses: runevals/runevals@v0, with: {config: app/runevals.yaml}}", None),
        ("- run: runevals --all-projects", None),
    ],
)
def test_a_workflow_of_others_is_left_and_the_line_that_adds_a_project_is_told(
    repository, runevals, monkeypatch, step, told
):
    (repository.path / "runevals.yaml").unlink()
    text = f"jobs:\n  evals:\n    steps:\n      {step}\n"
    repository.write(".github/workflows/evals.yml", text)
    repository.write("app/agent.py", AGENT)
    monkeypatch.chdir(repository.path / "app")
    _, out, _ = runevals("init", "--yes", *PYTHON, "--github")
    assert (repository.path / ".github/workflows/evals.yml").read_text(encoding="utf-8") == text
    steps = out.rpartition("\nNext\n")[2]
    assert ("not gated: app; in .github/workflows/evals.yml, " in steps) is (told is not None), out
    assert told is None or told in steps


def test_a_first_run_that_fails_says_what_to_do_next_too(project, runevals):
    project.write("runevals.yaml", "version: 1\n")
    project.write("bot.py", "def answer(prompt):\n    raise ValueError('no')\n")
    code, out, _ = runevals("init", "--yes", "--target", "python:bot.py:answer")
    assert code == 3
    assert '  put into the settings file: target: "python:bot.py:answer"\n' in out


def test_a_folder_below_a_project_with_a_target_or_a_skill_of_its_own_becomes_a_project(
    project, runevals, monkeypatch
):
    project.write("bot.py", "def answer(prompt):\n    return prompt\n")
    assert runevals("init", "--yes", "--github", "--target", "python:bot.py:answer")[0] == 0
    project.write("triage/answer.py", "def answer(prompt):\n    return prompt\n")
    project.write("skills/refunds/SKILL.md", "---\nname: refunds\ndescription: Refunds\n---\nRefund it.\n")
    for folder, words in (("triage", ("--target", "python:answer.py:answer")), ("skills/refunds", ())):
        monkeypatch.chdir(project.path / folder)
        code, out, err = runevals("init", "--yes", "--github", *words)
        told = "The settings above are those of another project: this folder becomes one, too\n"
        ended(code, 0, out + err, told, "✓ runevals.yaml: written\n", without=["runevals.yaml: already exists"])
    assert "all_projects: true" in (project.path / ".github/workflows/evals.yml").read_text("utf-8")


_SKILL = "---\nname: pay\ndescription: Ways to pay.\n---\n- An invoice is due in 14 days.\n"
_PROMPTS = {
    "SKILL.md": _SKILL,
    "prompts/a.md": "Be kind.\n- Never shout.\n",
    "t.prompt.yml": "messages: [{role: user, content: '{{m}}'}]\ntestData: [{m: hi, expected: hi}]\n"
    "evaluators: [{name: e, string: {equals: '{{expected}}'}}]\n",
}


@pytest.mark.parametrize("place", ["runevals.yaml", ".github/runevals.yaml"])
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("SKILL.md", ()),
        *(
            (name, ("--target", *words.split()))
            for name in (*_PROMPTS, None)
            for words in (
                "openai:m1",
                "claude-code",
                "python:agent.py:answer",
                "command:cat",
                "openai:x --judge openai:m2",
            )
        ),
    ],
)
def test_a_folder_below_a_project_becomes_what_it_is_alone(project, runevals, monkeypatch, place, name, words):
    """With the same settings, suites and next steps, whatever the settings above say."""
    project.write("bin/claude", "#!/bin/sh\nexit 1\n").chmod(0o755)
    monkeypatch.setenv("PATH", f"{project.path / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    above = "target: {type: openai, model: m, system_prompt_file: a.md}\nsuites: [x.json]\njudge: openai:m3\n"
    project.write(f"beside/{place}", above)
    project.write("beside/a.md", "Be kind.")
    ends = []
    for root in ("alone", "beside"):
        (project.path / root / ".git").mkdir(parents=True)
        folder = project.path / root / "skills/pay"
        for file in ("agent.py", *filter(None, [name])):
            project.write(f"{root}/skills/pay/{file}", _PROMPTS.get(file, AGENT))
        monkeypatch.chdir(folder)
        code, out, err = runevals("init", "--yes", *words)
        out = re.sub(r"took .*|\d{4}-\d\d-\d\d_[\d-]+|The settings above are .*\n", "", out)
        files = {str(path): path.read_text("utf-8") for path in folder.rglob("*.*") if ".evals" not in path.parts}
        ends.append((code, err, out, {path.removeprefix(str(folder)): text for path, text in files.items()}))
    alone, beside = ends
    assert beside == alone


def test_a_second_skill_whose_text_is_not_sent_becomes_a_project(project, runevals):
    """The settings send the first one's text: with a suite alone, its cases would test that."""
    for name in ("a", "b"):
        front = f"---\nname: {name}\ndescription: Does {name}.\n---\n"
        project.write(f"skills/{name}/SKILL.md", f"{front}- Do {name}.\n")
    project.write("tools/agent.py", "import json, sys\nprint(json.load(sys.stdin)['system'][-10:])\n")
    assert runevals("init", "--yes", "--target", "command:python tools/agent.py", "--judge", "x")[0] == 0
    second = ("init", "--yes", "--prompt-file", "skills/b/SKILL.md")
    code, out, err = runevals(*second, "--target", "command:python tools/agent.py")
    told = "✓ skills/b/runevals.yaml: written, as the settings here send another prompt"
    ended(
        code,
        0,
        out + err,
        told,
        "✓ skills/b/evals/evals.json: written",
        "– .gitignore: already exists, skipped",
        "then: (cd skills/b && runevals)",
        "  run all projects: runevals --all-projects",
    )
    assert out.count("skipped") == 1
    for name in ("a", "b"):
        check = {"type": "contains", "value": f"Do {name}."}
        suite = {"skill_name": name, "evals": [{"id": 1, "prompt": "p", "assertions": [check]}]}
        project.write(f"skills/{name}/evals/evals.json", suite)
    code, out, err = runevals("--all-projects", "--no-judge")
    ended(code, 0, out + err, "2 projects passed")
    judge = yaml.safe_load((project.path / "skills/b/runevals.yaml").read_text(encoding="utf-8"))["judge"]
    assert (out.count("✓ 1 of 1 case passes"), judge) == (2, "x")
    code, out, err = runevals(*second)
    ended(code, 2, err, "another prompt than skills/b/SKILL.md", "run init where the settings send it")


def test_a_prompt_beside_that_of_the_settings_gets_no_suite(project, runevals):
    for name in ("a.md", "b.md"):
        project.write(name, "Be kind to everybody.\n")
    project.write("agent.py", AGENT)
    settings = "target: {type: python, function: 'agent.py:answer', system_prompt_file: a.md}\n"
    project.write("runevals.yaml", settings)
    code, out, err = runevals("init", "--yes", "--prompt-file", "b.md")
    ended(code, 2, out + err, "the settings here send another prompt than b.md")
    assert not (project.path / "evals").exists()


def test_a_folder_whose_name_github_would_evaluate_gets_no_workflow(repository, runevals, monkeypatch):
    (repository.path / "runevals.yaml").unlink()
    folder = repository.path / "${{ secrets.KEY }}"
    folder.mkdir()
    monkeypatch.chdir(folder)
    code, out, err = runevals("init", "--yes", *PYTHON, "--github")
    ended(code, 2, err, "GitHub would evaluate")
    assert (out, list(folder.iterdir()), (repository.path / ".github").exists()) == ("", [], False)


def test_the_workflow_installs_the_packages_of_the_program(project, runevals):
    project.write("agent.py", AGENT)
    project.write("requirements.txt", "httpx\n")
    assert runevals("init", "--yes", "--target", "python:agent.py:answer", "--github")[0] == 0
    _, install, _ = _workflow(project)["jobs"]["evals"]["steps"]
    assert install == {"run": "pip install -r requirements.txt"}


def test_an_agents_judge_is_written_and_a_missing_one_is_the_next_step(project, runevals, monkeypatch):
    monkeypatch.setenv("PATH", str(project.path))
    project.write("changelog/SKILL.md", "---\nname: changelog\ndescription: Writes.\n---\n- Name the ticket.\n")
    assert runevals("init", "--yes", "--target", "claude-code")[0] == 0
    assert f'judge: "anthropic:{model("anthropic")}"' in (project.path / "runevals.yaml").read_text()
    project.write("evals.json", {**SUITE, "default_evaluators": {"Relevance": {}}})
    project.write("runevals.yaml", "suites: [evals.json]\ntarget: 'command:absent'\n")
    code, out, _ = runevals("init", "--yes")
    needed = (
        "  for the judge: name one with --judge-model MODEL (with OPENAI_API_KEY set) or `judge:` in runevals.yaml"
    )
    ended(code, 0, out, "Not run yet: there is no program absent", "  for the target: name it right", needed)


def test_a_gate_of_a_folder_has_settings_there_beside_which_its_lists_are(repository, runevals, monkeypatch):
    (repository.path / "runevals.yaml").unlink()
    repository.write("app/test_a.py", "")
    monkeypatch.chdir(repository.path / "app")
    runevals("init", "--gate", "pytest")
    *_, ours = _workflow(repository)["jobs"]["evals"]["steps"]
    assert ours["with"] == {"mode": "gate", "results": "app/junit.xml", "config": "app/runevals.yaml"}
    assert (repository.path / "app" / "runevals.yaml").read_text() == "version: 1\n"


@pytest.mark.parametrize("tool", GATED)
def test_a_workflow_can_gate_the_results_of_a_tool(project, runevals, tool):
    project.write("package-lock.json", "{}")
    code, out, err = runevals("init", "--gate", tool)
    ended(code, 0, out + err, "✓ .github/workflows/evals.yml: written", f"runevals gate {GATED[tool][1]}")
    _, install, *own, run, action = _workflow(project)["jobs"]["evals"]["steps"]
    assert (install["run"], run["run"]) == ("npm ci", GATED[tool][0])
    assert ([one["run"] for one in own], "if" in action) == (GATED[tool][2:], False)
    assert action["with"] == {"mode": "gate", "results": GATED[tool][1]}
    assert project.files() == [".github/workflows/evals.yml", ".gitignore", "package-lock.json"]
    ignored = (project.path / ".gitignore").read_text(encoding="utf-8").split()
    assert ignored == [".evals/", ".env.local.user", f"/{GATED[tool][1]}"]  # CI refuses results that are committed
