"""`runevals --all-projects`."""

from __future__ import annotations

import json
import shutil

import pytest

from runevals.cli.run import command
from runevals.cli.run_projects import run_projects
from runevals.records.errors import INTERRUPTED
from tests.against_base import commit, on_main
from tests.ending import ended
from tests.sample_suites import ANSWERS, SUITE, WORSE

RECORDED = "suites: [evals.json]\ntarget: {type: recorded, path: answers.jsonl}\n"
GOOD = ANSWERS.replace("Quito", "Lima")


@pytest.fixture
def projects(repository):
    """Two projects in folders, of which one passes all of its cases, and none at the root."""
    (repository.path / "runevals.yaml").unlink()
    for name, answers in (("search", GOOD), ("support", ANSWERS)):
        repository.write(f"{name}/runevals.yaml", RECORDED + "min_pass_rate: 0.9\n")
        repository.write(f"{name}/evals.json", SUITE)
        repository.write(f"{name}/answers.jsonl", answers)
    repository.git("add", "-A")
    repository.git("commit", "-qm", "projects")
    return repository


def test_each_project_is_run_in_its_folder_and_the_worst_exit_code_counts(projects, runevals):
    code, out, err = runevals("--all-projects", "-o", "out.json")
    assert code == 1, err
    where = "== {0} ({0}/runevals.yaml; its files are in {0})"
    assert err.index(where.format("search")) < err.index(where.format("support"))
    assert out.splitlines()[-1] == "1 of 2 projects failed: support; 1 passed"
    assert projects.document("search/out.json")["verdict"]["outcome"] == "passed"
    assert projects.document("support/out.json")["verdict"]["outcome"] == "failed"


def test_an_interrupted_project_ends_the_run_of_all(projects, capsys):
    begun = []

    def run(_options, _paths, of_project):
        begun.append(of_project.cwd.name)
        return INTERRUPTED

    options = command.make_context("run", ["--all-projects"]).params
    assert run_projects(options, (), run) == INTERRUPTED
    assert begun == ["search"]
    assert capsys.readouterr().out.splitlines()[-1] == "2 projects interrupted: search, support"


def test_a_broken_project_does_not_hide_the_others(projects, runevals):
    projects.write("search/evals.json", "{")
    code, out, err = runevals("--all-projects")
    assert code == 1
    assert out.splitlines()[-1] == "1 of 2 projects failed: support; 1 could not be run: search"
    assert "search/evals.json:1" in err


@pytest.mark.parametrize("allowed", [False, True], ids=["not allowed", "allowed by the base"])
def test_a_project_that_the_change_removes_is_no_pass(projects, runevals, allowed):
    rest = RECORDED + ("on_unknown: pass\n" if allowed else "")
    projects.write("support/runevals.yaml", rest)
    projects.git("commit", "-qam", "base")
    projects.git("rm", "-rq", "support")
    projects.git("commit", "-qm", "without support")
    code, out, _ = runevals("--all-projects", "--base", "HEAD~1", "--verify", "off")
    assert code == (0 if allowed else 3)
    assert "the change removes this project" in out
    assert out.splitlines()[-1] == (
        "2 projects passed" if allowed else "1 of 2 projects not measured: support; 1 passed"
    )


def test_a_project_whose_run_was_not_whole_is_continued_in_its_folder(projects, runevals, monkeypatch):
    """And there the commands are of a reader who is there."""
    program = "def answer(prompt):\n return {'Capital of France?': 'Rome'}[prompt]\n"
    projects.write("support/agent.py", program)
    projects.write("support/runevals.yaml", RECORDED.partition("\n")[0] + "\ntarget: python:agent.py:answer\n")
    code, out, err = runevals("--all-projects")
    ended(code, 3, out + err, "Continue this run, if no file changes: cd support && runevals run --resume ")
    monkeypatch.chdir(projects.path / "support")
    code, out, err = runevals("run", "--resume")
    ended(
        code,
        3,
        out + err,
        "see one  runevals run evals.json",
        "Continue this run, if no file changes: runevals run --resume ",
    )


def test_a_project_that_moves_is_compared_with_what_it_was(projects, runevals):
    projects.write("support/answers.jsonl", GOOD)
    projects.git("commit", "-qam", "base")
    projects.git("mv", "search", "routing")
    projects.git("commit", "-qm", "move")
    code, out, err = runevals("--all-projects", "--base", "HEAD~1", "--verify", "off", "-o", "out.md")
    ended(code, 0, out + err, "== routing", "2 projects passed", without=["removes this project"])
    projects.write("routing/answers.jsonl", ANSWERS)
    code, out, err = runevals("--all-projects", "--base", "HEAD~1", "--verify", "off", "-o", "out.md")
    ended(code, 1, out + err, "1 of 2 projects failed: routing; 1 passed")
    assert "\ncd routing && runevals " in (projects.path / "routing/out.md").read_text()


@pytest.mark.parametrize("lost", [False, True])
@pytest.mark.parametrize("words", [("--config", "apps/new/runevals.yaml"), ("--all-projects",), ()], ids=str)
def test_a_project_whose_files_are_written_anew_as_it_moves_is_compared(
    repository, runevals, monkeypatch, words, lost
):
    """Git sees one file move: the others of a folder that is gone keep their names."""
    program = (
        "import pathlib\ndef answer(prompt):\n    return pathlib.Path(__file__).with_name('p.md').read_text()\n"
    )
    items = [{"testId": f"k{n}", "prompt": f"{n}?", "expected_response": "24 months"} for n in range(3)]
    suite = {"schemaVersion": "1.2.0", "default_evaluators": {"contains": {}}, "items": items}
    target = {"type": "python", "function": "agent.py:answer", "deterministic": True}
    repository.write("bot/runevals.yaml", f"suites: [evals.json]\ntarget: {json.dumps(target)}\n")
    files = {"evals.json": suite, "agent.py": program, "p.md": "Of 24 months.\n"}
    for name, content in files.items():
        on_main(repository, f"bot/{name}", content)
    repository.git("rm", "-qr", "bot")
    repository.write(
        "apps/new/runevals.yaml", f"# Anew.\n{json.dumps({'target': target, 'concurrency': 2}, indent=1)}"
    )
    files = {
        **files,
        "evals.json": json.dumps(suite, indent=9),
        "p.md": "Of 2 years.\n" if lost else "Of 24 months!\n",
    }
    commit(repository, {f"apps/new/{name}": content for name, content in files.items()})
    if not words:
        monkeypatch.chdir(repository.path / "apps/new")
    code, out, err = runevals(*words, "--base", "main")
    ended(code, int(lost), out + err, "3 of 3 cases regressed" if lost else "No regression shown in 3 cases")


@pytest.mark.parametrize("in_folder", [False, True], ids=["a new folder", "a folder of the base"])
def test_a_new_project_below_another_is_not_taken_for_that_one(repository, runevals, monkeypatch, in_folder):
    """A job in a folder that the base has ran the project above it there: that stays what it is compared with."""
    settings = "suites: [evals.json]\ntarget: {type: python, function: 'agent.py:answer', deterministic: true}\n"
    on_main(repository, "runevals.yaml", settings)
    if in_folder:
        on_main(repository, "new/notes.txt", "x")
    for name, content in (("runevals.yaml", settings), ("evals.json", SUITE), ("agent.py", WORSE)):
        repository.write(f"new/{name}", content)
    commit(repository, {})
    monkeypatch.chdir(repository.path / "new")
    code, out, err = runevals("--base", "main")
    if in_folder:
        ended(code, 1, out + err, "1 of 2 cases regressed: a")
    else:
        ended(code, 0, out + err, "has nothing to run: it has no settings file new/runevals.yaml")
        monkeypatch.chdir(repository.path)
        code, out, err = runevals("--all-projects", "--base", "main")
        ended(code, 0, out + err, "has nothing to run: it has no settings file new/runevals.yaml", "2 projects")


@pytest.mark.parametrize("place", ["", "apps/"], ids=["the root", "a folder that stays"])
def test_a_project_that_moves_into_a_folder_above_is_compared_with_what_it_was(projects, runevals, place):
    projects.git("rm", "-rq", "support", "evals.json")
    projects.write("apps/notes.txt", "x")
    projects.git("add", "-A")
    projects.git("mv", "search", "apps/search")
    projects.git("commit", "-qm", "base")
    for name in ("runevals.yaml", "evals.json", "answers.jsonl"):
        (projects.path / "apps/search" / name).rename(projects.path / place / name)
    projects.git("add", "-A")
    projects.git("commit", "-qm", "move")
    words = ("--all-projects", "--base", "HEAD~1", "--verify", "off", "-o", "out.md")
    code, out, err = runevals(*words)
    ended(code, 0, out + err, "No regression shown in 2 cases", "1 project passed")
    projects.write(f"{place}answers.jsonl", ANSWERS)
    code, out, err = runevals(*words)
    ended(code, 1, out + err, "1 of 2 cases regressed: b", f"1 project failed: {place[:-1] or '.'}")


def test_gates_and_filters_of_a_project_do_not_hold_for_a_new_one_below_it(repository, runevals):
    repository.write("agent.py", WORSE)
    on_main(
        repository,
        "runevals.yaml",
        "suites: [evals.json]\ntarget: {type: python, function: 'agent.py:answer', deterministic: true}\n"
        "max_calls: 5\ncategory: [none]\nmin_pass_rate: 1.0\n",
    )
    files = {"runevals.yaml": RECORDED, "evals.json": SUITE, "answers.jsonl": ANSWERS}
    commit(repository, {f"skills/x/{name}": content for name, content in files.items()})
    _, out, err = runevals("--all-projects", "--base", "main")
    assert "== skills/x" in err
    ended(0, 0, (out + err).partition("== skills/x")[2], without=["min_pass_rate", "category none", "exceed"])
    assert "2 projects" in out
    assert "1 passed" in out


@pytest.mark.parametrize("kept", ["apps/a", ""], ids=["and stays", "and moves"])
def test_of_a_project_that_is_copied_the_copy_is_new(repository, runevals, kept):
    """Git calls the copy a rename of the files that the moved project edits."""
    settings = {"type": "recorded", "path": "answers.jsonl"}
    (repository.path / "runevals.yaml").unlink()
    files = {
        "runevals.yaml": f"target: {json.dumps(settings)}\n",
        "evals.json": SUITE,
        "kb.md": "Be polite.\n" * 9,
    }
    for name, content in {**files, "answers.jsonl": GOOD}.items():
        on_main(repository, f"apps/a/{name}", content)
    shutil.copytree(repository.path / "apps/a", repository.path / "apps/template")
    moved = kept or "apps/support"
    if not kept:
        repository.git("mv", "apps/a", moved)
    repository.write(f"{moved}/kb.md", "Be kind.\n" + "Be polite.\n" * 8)
    commit(repository, {})
    words = ("--all-projects", "--base", "main", "--verify", "off")
    code, out, err = runevals(*words)
    ended(code, 0, out + err, "No regression shown in 2 cases", "nothing to compare with yet", "2 projects passed")
    repository.write(f"{moved}/answers.jsonl", ANSWERS)
    code, out, err = runevals(*words)
    ended(code, 1, out + err, f"1 of 2 projects failed: {moved}; 1 passed")


def test_a_settings_file_and_the_folder_of_its_suites_that_are_renamed_at_once_are_no_first_run(
    repository, runevals
):
    """Which settings the base had is not known; that it had these suites is."""
    (repository.path / "runevals.yaml").unlink()
    settings = "suites: [../apps/{0}/evals.json]\ntarget: {{type: recorded, path: ../apps/{0}/answers.jsonl}}\n"
    for name, content in {"apps/a/evals.json": SUITE, "apps/a/answers.jsonl": GOOD}.items():
        on_main(repository, name, content)
    on_main(repository, "ci/a.yaml", settings.format("a"))
    repository.git("mv", "apps/a", "apps/renamed")
    repository.git("rm", "-q", "ci/a.yaml")
    commit(repository, {"ci/z.yaml": settings.format("renamed"), "apps/renamed/answers.jsonl": ANSWERS})
    code, out, err = runevals("--config", "ci/z.yaml", "--base", "main")
    ended(code, 3, out + err, "it has no settings file ci/z.yaml", "--baseline FILE")


@pytest.mark.parametrize(
    "words",
    [["search"], ["--config", "search/runevals.yaml"], ["--resume"], ["--open"], ["--output", "/tmp/out.json"]],
    ids=lambda words: words[0],
)
def test_what_names_one_project_is_refused(projects, runevals, words):
    code, _, err = runevals("--all-projects", *words)
    assert code == 2
    assert f"{words[0]}" in err.partition(": not with --all-projects")[0]


FORGED = """
import json, pathlib, subprocess

def answer(prompt):
    head = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()
    subprocess.run(["git", "update-ref", "refs/heads/main", head], check=True)
    event = pathlib.Path("EVENT")
    forged = json.loads(event.read_text())
    forged["pull_request"]["base"]["sha"] = head
    event.write_text(json.dumps(forged))
    return "Paris"
"""


@pytest.mark.parametrize("words", [["--base", "main"], []], ids=["a branch", "the event"])
def test_a_program_of_one_project_cannot_choose_the_base_of_another(
    projects, runevals, monkeypatch, tmp_path_factory, words
):
    """It writes the event anew and moves the branch, as if the change were its own base."""
    base = projects.git("rev-parse", "HEAD").strip()
    projects.git("branch", "-f", "main", base)
    projects.write("support/runevals.yaml", RECORDED + "min_pass_rate: 0.1\n")
    event = tmp_path_factory.mktemp("event") / "event.json"
    projects.write("aaa/agent.py", FORGED.replace("EVENT", str(event)))
    projects.write(
        "aaa/runevals.yaml", "suites: [evals.json]\ntarget: {type: python, function: 'agent.py:answer'}\n"
    )
    projects.write("aaa/evals.json", {**SUITE, "items": SUITE["items"][:1]})
    projects.git("add", "-A")
    projects.git("commit", "-qm", "change")
    own = {"repo": {"id": 1}}
    sides = {
        "base": {"sha": base, "ref": "main", **own},
        "head": {"sha": projects.git("rev-parse", "HEAD"), **own},
    }
    payload = {"pull_request": {"number": 7, **sides}, "repository": {"id": 1, "default_branch": "main"}}
    event.write_text(json.dumps(payload), encoding="utf-8")
    monkeypatch.setenv("CI", "true")
    if not words:
        monkeypatch.setenv("GITHUB_EVENT_NAME", "pull_request")
        monkeypatch.setenv("GITHUB_EVENT_PATH", str(event))
    code, out, err = runevals("--all-projects", "--verify", "off", *words)
    assert json.loads(event.read_text(encoding="utf-8")) != payload, "the attack was made"
    assert code == 1, out + err
    assert "1 of 3 projects failed: support" in out


def test_a_folder_without_settings_names_the_projects_below_it(projects, runevals):
    way = "settings lie in search, support: run all by runevals --all-projects, or one in its folder"
    code, _, err = runevals()
    ended(code, 2, err, "nothing says what to run the suite against", way)
    (projects.path / "evals.json").unlink()
    projects.write("support/SKILL.md", "---\nname: support\ndescription: helps\n---\nHelp.\n")
    for words in ((), ("validate",), ("doctor",)):
        code, out, err = runevals(*words)
        ended(code, 2, out + err, "no suite found", way, without=["no target is set"])
    code, out, _ = runevals("init", "--yes", "--github")
    ended(code, 0, out, "✓ .github/workflows/evals.yml: written", f"No settings written: {way}", without=["skill"])
    assert "all_projects: true" in (projects.path / ".github/workflows/evals.yml").read_text("utf-8")
    assert not (projects.path / "runevals.yaml").exists()


def test_a_project_whose_suites_are_of_those_below_it_is_told_so(projects, runevals):
    """Two skills were begun in turn: each is a project by now, and so is the folder above them."""
    (projects.path / "evals.json").unlink()
    projects.write("runevals.yaml", "version: 1\n")
    way = "settings lie in search, support: run all by runevals --all-projects, or one in its folder; a settings"
    code, out, err = runevals()
    ended(code, 2, out + err, "no suite found", f"{way} file makes this folder one, too: remove it")


def test_in_the_folder_of_the_suites_the_settings_above_are_named(projects, runevals, monkeypatch):
    projects.write("support/evals/evals.json", SUITE)
    monkeypatch.chdir(projects.path / "support/evals")
    code, _, err = runevals()
    ended(
        code, 2, err, "nothing says what to run the suite against", "/support has settings: run `runevals` there"
    )


def test_the_way_to_the_lines_that_lost_a_case_begins_in_the_folder_of_the_project(projects, runevals):
    projects.write("support/agent.py", "def answer(prompt, messages, case):\n    return 'Lima, Paris'\n")
    projects.write(
        "support/runevals.yaml", "target: {type: python, function: agent.py:answer, deterministic: true}\n"
    )
    projects.git("add", "-A")
    projects.git("commit", "-qm", "base")
    projects.write("support/agent.py", "def answer(prompt, messages, case):\n    return 'Rome'\n")
    projects.git("commit", "-qam", "change")
    code, out, _ = runevals("--all-projects", "--base", "HEAD~1", "-o", "out.json")
    ended(code, 1, out, "  which line  cd support && runevals blame --code\n")


def test_projects_with_results_of_another_tool_have_nothing_to_run(projects, runevals, monkeypatch):
    projects.write("tests/runevals.yaml", "baseline: main.xml\n")
    code, out, err = runevals("--all-projects", "-o", "out.json")
    ended(code, 1, err, "tests: nothing to run, its results are gated by runevals gate RESULTS")
    assert out.splitlines()[-1] == "1 of 2 projects failed: support; 1 passed"
    monkeypatch.chdir(projects.path / "tests")
    code, _, err = runevals("--all-projects")
    ended(code, 2, err, "no project here has anything to run")


def test_a_change_keeps_the_gate_of_a_project_that_had_nothing_to_run(projects, runevals):
    """Such as settings at the root that only say how a test of another tool is run again."""
    (projects.path / "evals.json").unlink()
    projects.write("runevals.yaml", "gates: []\n")
    projects.git("add", "-A")
    projects.git("commit", "-qm", "base")
    projects.write("runevals.yaml", "rerun: [echo, '{test}']\n")
    code, out, err = runevals("--all-projects", "--base", "HEAD", "-o", "out.json")
    ended(code, 1, out + err, ".: nothing to run, its results are gated by runevals gate RESULTS")


def test_a_change_that_takes_the_suites_from_a_project_does_not_take_its_run(projects, runevals):
    for name in ("search", "support"):
        projects.write(f"{name}/runevals.yaml", "gates: []\n")
        (projects.path / name / "evals.json").unlink()
    code, out, err = runevals("--all-projects", "--base", "HEAD")
    assert (code, "nothing to run" in err) == (2, False), out + err


@pytest.mark.parametrize(("inputs", "told"), [("{config: runevals.yaml}", True), ("{all_projects: true}", False)])
def test_a_run_names_a_project_that_the_workflow_leaves_out(projects, runevals, inputs, told):
    step = f"- {{uses: runevals/runevals@v0, with: {inputs}}}"
    projects.write(".github/workflows/e.yml", f"jobs:\n  evals:\n    steps:\n    {step}\n")
    projects.write("runevals.yaml", RECORDED)
    projects.write("answers.jsonl", GOOD)
    projects.write("evals.json", SUITE)
    code, _, err = runevals("evals.json")
    assert (code, "not gated: search, support; in .github/workflows/e.yml" in err) == (0, told), err


def test_a_suite_of_another_project_says_whose_settings_are_not_read(projects, runevals):
    projects.write("runevals.yaml", "target: 'command:echo no'\n")
    for words in (("run", "-q"), ("plan",)):
        _, out, err = runevals(*words, "support/evals.json")
        notice = "support/evals.json is run without the settings of its project; with them: --config support/"
        assert notice in " ".join((out + err).split()), out + err
    projects.write("other.yaml", "target: 'command:echo no'\n")
    for chosen in ("support/runevals.yaml", "other.yaml"):
        code, out, err = runevals("support/evals.json", "--config", chosen, "-q")
        ended(code, 1 if chosen.startswith("support") else 0, out + err, without=["without the settings"])


@pytest.mark.parametrize("gates", ["", "gates: []\n"], ids=["suites alone", "with gates"])
def test_a_link_out_of_the_repository_where_suites_may_be_stops_no_project(projects, runevals, tmp_path, gates):
    """Such as a folder of skills that several repositories share."""
    for name in ("search", "support"):
        projects.write(f"{name}/runevals.yaml", f"min_pass_rate: 0\n{gates}")
        (projects.path / name / "evals").symlink_to(tmp_path.parent)
    projects.git("add", "-A")
    projects.git("commit", "-qm", "links")
    target = ("--target", "recorded:answers.jsonl", "--verify", "off")
    code, out, err = runevals("--all-projects", "--base", "HEAD", *target)
    ended(code, 0, out + err, "2 projects passed", without=["This is a bug"])
