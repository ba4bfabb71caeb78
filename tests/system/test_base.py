"""`--base REF`: the base is run beside the head, in a real repository."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest
from msgspec.structs import replace

from runevals.records.errors import InvalidSettings
from runevals.repository.git import merge_base
from runevals.run.baseline.from_files import read_baseline
from runevals.settings.file import BaseSide
from runevals.settings.resolve import RawSettings, resolve
from tests.ending import ended
from tests.sample_suites import AGENT, SETTINGS, SUITE, WORSE


def test_an_unchanged_branch_is_green_and_leaves_nothing_behind(repository, runevals):
    code, out, _ = runevals("--base", "main", "-o", "out.json")
    assert code == 0, out
    assert out.startswith("✓ No regression shown in 2 cases")
    assert "the base is the commit that is checked out: only changes" in " ".join(out.split())
    commit = repository.git("rev-parse", "main")
    assert repository.document()["comparison"]["source"] == f"a fresh run of {commit[:7]}"
    assert repository.git("worktree", "list").count("\n") == 0
    assert repository.git("status", "--porcelain") == "?? out.json"


def test_a_worse_agent_is_red_before_it_is_committed(repository, runevals):
    repository.write("agent.py", WORSE)
    code, out, _ = runevals("--base", "main")
    assert code == 1
    assert "− Paris" in out


def test_a_lost_case_that_is_also_renamed_is_named(repository, runevals):
    repository.write("agent.py", WORSE)
    repository.write("evals.json", json.dumps(SUITE).replace('"testId": "a"', '"testId": "capital"'))
    code, out, err = runevals("--base", "main")
    assert (code, "1 of 2 cases regressed: capital" in out) == (1, True), out + err


def test_a_base_whose_suite_cannot_be_read_is_said_to_be_the_bases(repository, runevals):
    repository.git("checkout", "-q", "main")
    repository.write("evals.json", {**SUITE, "default_evaluators": {"ExactMacht": {}}})
    repository.git("commit", "-qam", "a suite with a mistake")
    repository.git("checkout", "-qB", "change")
    repository.write("evals.json", SUITE)
    code, _, err = runevals("--base", "main")
    ended(code, 3, err, "the base", "cannot be run", "ExactMacht")


def test_the_base_is_run_with_its_own_suite_and_settings(repository, runevals):
    repository.write("suites/new.json", SUITE)
    repository.write("runevals.yaml", SETTINGS.replace("evals.json", "suites/new.json"))
    (repository.path / "evals.json").unlink()
    code, out, _ = runevals("--base", "main")
    assert code == 0, out
    assert out.startswith("✓ No regression shown in 2 cases")


def test_commits_of_main_after_the_branch_began_do_not_count(repository, runevals):
    repository.git("checkout", "-q", "main")
    repository.write("agent.py", AGENT.replace("'Quito'", "'Lima'"))
    repository.git("commit", "-qam", "better on main")
    repository.git("checkout", "-q", "change")
    code, out, _ = runevals("--base", "main")
    assert code == 0, out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            ["--base", "no-such-branch"],
            "git knows no such commit here; is it fetched? (branches here: change, main)",
        ),
        (["--base", "release"], "git knows no such commit here; did you mean 'origin/release'?"),
        (["--base", "--upload-pack=x"], "git knows no such commit here"),
        (["--base", "main", "--baseline", "x.json"], "do not also give --baseline"),
    ],
)
def test_bad_bases_are_told(repository, runevals, words, told):
    if "release" in words:
        repository.git("update-ref", "refs/remotes/origin/release", "main")
    code, _, err = runevals(*words)
    assert code == 2
    assert told in err


def test_a_base_that_a_shallow_clone_lacks_says_how_to_fetch_it(repository, tmp_path_factory):
    clone = tmp_path_factory.mktemp("shallow") / "clone"
    address = f"file://{repository.path}"
    repository.git("commit", "-q", "--allow-empty", "-m", "next")
    repository.git("clone", "-q", "--depth", "1", "--branch", "change", address, str(clone))
    repository.git("-C", str(clone), "fetch", "-q", "--depth", "1", address, "main:refs/remotes/origin/main")
    with pytest.raises(InvalidSettings, match="this clone is shallow: git fetch --unshallow"):
        merge_base(clone, "origin/main")
    with pytest.raises(InvalidSettings, match="no such commit here; this clone is shallow: git fetch --unshallow"):
        merge_base(clone, "HEAD~9")
    repository.git("-C", str(clone), "update-ref", "-d", "refs/remotes/origin/main")
    with pytest.raises(InvalidSettings, match="git fetch --unshallow origin") as error:
        merge_base(clone, "main")
    fetch = re.search(r"git (fetch .*), then --base (\S+)", str(error.value))
    repository.git("-C", str(clone), *fetch[1].split())
    assert merge_base(clone, fetch[2]) == repository.git("rev-parse", "main")


def test_a_repository_without_a_commit_says_so(project, runevals):
    (project.path / ".git").rmdir()
    subprocess.run(["git", "init", "-q"], check=True)
    project.write("evals.json", SUITE)
    code, _, err = runevals("run", "--base", "main", "--target", "command:cat")
    ended(code, 2, err, "no branch has a commit yet: commit first")


def ten_cases(*edited):
    """A suite of ten cases; each of `edited` takes the place of the last ones."""
    items = [{"testId": f"k{n}", "prompt": f"Ask {n}\nnow", "expected_response": "right"} for n in range(10)]
    return {
        "schemaVersion": "1.2.0",
        "default_evaluators": {"ExactMatch": {}},
        "items": [*items[: 10 - len(edited)], *edited],
    }


@pytest.mark.parametrize(
    "edit",
    [
        pytest.param({"prompt": "Ask 9\nnow "}, id="a trailing blank"),
        pytest.param({"prompt": "Ask 9\r\n\r\nnow"}, id="line ends"),
        pytest.param({"expected_response": "right\n"}, id="a newline after the expected text"),
        pytest.param({"name": "nine", "tags": ["new"], "notes": "seen"}, id="metadata"),
        pytest.param({"testId": "renamed"}, id="another key"),
        pytest.param({"testId": "renamed", "prompt": "Ask 9 now"}, id="another key and white space"),
    ],
)
@pytest.mark.parametrize("stored", [True, False], ids=["a stored base", "a fresh base"])
def test_an_edit_that_changes_no_content_hides_no_loss(repository, runevals, edit, stored):
    nine = {"testId": "k9", "prompt": "Ask 9\nnow", "expected_response": "right"}
    agent = "def answer(prompt, messages, case):\n    return {answers!r}['9' in prompt]\n"
    repository.git("checkout", "-q", "main")
    repository.write("evals.json", ten_cases(nine))
    repository.write("agent.py", agent.format(answers=["right", "right"]))
    repository.git("commit", "-qam", "ten cases")
    assert runevals("--baseline", "none", "-q", "-o", "base.json")[0] == 0
    repository.git("checkout", "-q", "-B", "change")
    repository.write("evals.json", ten_cases({**nine, **edit}))
    repository.write("agent.py", agent.format(answers=["right", "wrong"]))
    code, out, err = runevals(*(("--baseline", "base.json") if stored else ("--base", "main")), "-o", "out.json")
    assert code == 1, out + err
    changes = repository.document()["comparison"]["changes"]
    kind = "edited" if "expected_response" in edit else "regressed"  # checks see an expected text as it is
    assert [(change["change"], change["before"]["key"]) for change in changes] == [(kind, "k9")]


def test_a_base_whose_skill_is_not_found_is_said_to_be_the_bases(repository, runevals, monkeypatch):
    repository.git("checkout", "-q", "main")
    repository.write(
        "evals.json", {"skill_name": "notes", "evals": [{"prompt": "Write", "assertions": ["It is"]}]}
    )
    repository.write("runevals.yaml", "suites: [evals.json]\ntarget: {type: codex}\n")
    repository.git("add", ".")
    repository.git("commit", "-qm", "a suite whose skill is missing")
    repository.git("checkout", "-qB", "change")
    repository.write("skills/notes/SKILL.md", "---\nname: notes\ndescription: Notes.\n---\nWrite.\n")
    program = repository.write("bin/codex", "#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=":")
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    code, _, err = runevals("--base", "main")
    ended(code, 3, err, "the base", "cannot be run", "for the skill notes, and no SKILL.md of it was found")


BAD = "def answer(prompt):\n    return 'bad'\n"


def named_suites(repository, *paths):
    """On main, a good agent and its suites, committed; then a branch."""
    repository.git("checkout", "-q", "main")
    repository.git("rm", "-q", "evals.json")
    repository.write("runevals.yaml", "target: {type: python, function: 'agent.py:answer', deterministic: true}\n")
    repository.write("agent.py", "def answer(prompt):\n    return 'right'\n")
    for path in paths:
        repository.write(path, ten_cases())
    repository.git("add", "-A")
    repository.git("commit", "-qm", "an agent")
    repository.git("checkout", "-qB", "change")


@pytest.mark.parametrize(
    ("moved", "words"),
    [
        ("", ("evals/evals.json", "evals/new.json")),
        ("evals/zz.json", ("evals/new.json", "evals/zz.json")),
        ("evals/zz.json", ("evals/zz.json",)),
    ],
)
def test_a_path_that_only_the_change_has_hides_no_loss(repository, runevals, moved, words):
    named_suites(repository, "evals/evals.json")
    if moved:
        repository.git("mv", "evals/evals.json", moved)
    if "evals/new.json" in words:
        repository.write("evals/new.json", {**SUITE, "items": [{"prompt": "x", "expected_response": "bad"}]})
    repository.write("agent.py", BAD)
    code, out, err = runevals("run", *words, "--base", "main", "-q")
    assert code == 1, out + err
    assert "10 of 10" in out


def test_a_folder_that_only_the_change_has_hides_no_loss(repository, runevals):
    named_suites(repository, "skills/one/evals/evals.json")
    repository.git("mv", "skills/one", "skills/two")
    repository.write("agent.py", BAD)
    code, out, err = runevals("run", "skills/two", "--base", "main", "-q")
    assert code == 1, out + err


def test_a_suite_that_only_the_change_has_is_a_first_run(repository, runevals):
    named_suites(repository, "evals/evals.json")
    repository.write("more/new.json", ten_cases())
    code, out, err = runevals("run", "more/new.json", "--base", "main", "-q")
    assert code == 0, out + err
    assert "nothing to compare with yet" in out


@pytest.mark.parametrize("words", [["suites/evals.json"], ["evals/more.json", "suites/evals.json"]])
def test_a_suite_that_was_moved_is_compared_with_what_it_was(repository, runevals, words):
    other = ten_cases()
    other["items"] = [{**item, "testId": f"m{n}", "prompt": f"Other {n}"} for n, item in enumerate(other["items"])]
    named_suites(repository, "evals/evals.json")
    repository.git("checkout", "-q", "main")
    repository.write("evals/more.json", other)
    repository.git("add", "-A")
    repository.git("commit", "-qm", "more")
    repository.git("checkout", "-qB", "change")
    (repository.path / "suites").mkdir()
    repository.git("mv", "evals/evals.json", "suites/evals.json")
    repository.write("agent.py", "def answer(prompt):\n    return 'right' if prompt[0] == 'O' else 'bad'\n")
    code, out, err = runevals("run", *words, "--base", "main", "-q")
    ended(code, 1, out + err, "10 of")


def test_new_and_removed_folders_without_suites_are_no_matter(repository, runevals):
    named_suites(repository, "evals/evals.json")
    repository.git("checkout", "-q", "main")
    repository.write("i18n/de.json", [{"input": "yes", "expected": "ja"}])
    repository.write("helpers/words.json", {"words": ["a"] * 50})
    repository.git("add", "-A")
    repository.git("commit", "-qm", "texts")
    repository.git("checkout", "-qB", "change")
    repository.git("rm", "-qr", "i18n")
    repository.write("smoke/new.json", ten_cases())
    repository.git("mv", "helpers/words.json", "smoke/words.txt")
    for words in (["smoke/new.json"], ["evals/evals.json", "smoke/new.json"]):
        code, out, err = runevals("run", *words, "--base", "main", "-q")
        assert code == 0, out + err


def test_a_suite_that_the_base_makes_is_compared(repository, runevals):
    named_suites(repository, "evals/evals.json")
    repository.git("checkout", "-q", "main")
    made = json.dumps(ten_cases()).replace("Ask", "Made").replace('"k', '"m')
    repository.write(
        "make.py", f"import os\nos.makedirs('data', exist_ok=True)\nopen('data/m.json', 'w').write({made!r})\n"
    )
    repository.write(".gitignore", "data/\n")
    settings = (repository.path / "runevals.yaml").read_text(encoding="utf-8")
    repository.write("runevals.yaml", f"{settings}base_setup: [{json.dumps(sys.executable)}, make.py]\n")
    repository.git("add", "-A")
    repository.git("commit", "-qm", "made")
    repository.git("checkout", "-qB", "change")
    subprocess.run([sys.executable, "make.py"], check=True)
    repository.write("agent.py", "def answer(prompt):\n    return 'right' if prompt[0] == 'A' else 'bad'\n")
    code, out, err = runevals("run", "evals/evals.json", "data/m.json", "--base", "main", "-q")
    ended(code, 1, out + err, "10 of")


def test_a_draft_that_git_ignores_is_named_and_does_not_stop_the_rest(repository, runevals):
    named_suites(repository, "evals/evals.json")
    repository.write(".gitignore", "evals/draft.json\n")
    repository.write("evals/draft.json", json.loads(json.dumps(ten_cases()).replace('"k', '"d')))
    code, out, err = runevals("run", "evals", "--base", "main", "-q")
    ended(code, 0, out + err, "Not compared: a checkout of the base does not have evals/draft.json")
    repository.write("agent.py", BAD)
    assert runevals("run", "evals", "--base", "main", "-q")[0] == 1


@pytest.mark.parametrize(
    ("folder", "words"),
    [("proj2", []), ("proj2", ["--config", "own.yaml"]), (".", ["--config", "proj2/own.yaml"])],
)
def test_a_folder_that_was_renamed_is_compared_with_what_it_was(repository, runevals, monkeypatch, folder, words):
    named_suites(repository, "proj/evals.json")
    target = "{type: python, function: '../agent.py:answer', deterministic: true}"
    repository.write("proj/own.yaml", f"suites: [evals.json]\ntarget: {target}\n")
    repository.git("add", "-A")
    repository.git("commit", "-qm", "settings of its own")
    repository.git("branch", "-f", "main")
    repository.git("mv", "proj", "proj2")
    monkeypatch.chdir(repository.path / folder)
    code, out, err = runevals("run", "--base", "main", "-q", *words)
    ended(code, 0, out + err, without=["nothing to compare"])
    repository.write("agent.py", BAD)
    code, out, err = runevals("run", "--base", "main", "-q", *words)
    ended(code, 1, out + err, "10 of 10")


@pytest.mark.parametrize("words", [[], ["--config", "proj2/runevals.yaml"]], ids=" ".join)
def test_a_folder_that_was_renamed_keeps_its_rules(repository, runevals, monkeypatch, words):
    """Its gates block, and what the base's list has in quarantine is flaky here, too."""
    named_suites(repository, "proj/evals.json")
    listed = "- {key: k0, owner: ana, reason: it rounds, expires: 2099-12-31}\n"
    gate = "gates: [{name: strict, metric: weakening, op: '<=', limit: 0}]\n"
    target = "target: {type: python, function: '../agent.py:answer', deterministic: true}\n"
    repository.write("proj/runevals.quarantine.yaml", listed)
    repository.write("proj/runevals.yaml", f"suites: [evals.json]\n{target}{gate}")
    repository.git("add", "-A")
    repository.git("commit", "-qm", "rules")
    repository.git("branch", "-f", "main")
    repository.git("mv", "proj", "proj2")
    monkeypatch.chdir(repository.path / ("." if words else "proj2"))
    code, out, err = runevals("run", "--base", "main", "-q", *words)
    ended(code, 0, out + err, "✓ strict", without=["the base's default holds"])
    repository.write("agent.py", "def answer(prompt):\n    return 'no' if 'Ask 0' in prompt else 'right'\n")
    code, out, err = runevals("run", "--base", "main", "-q", *words)
    ended(code, 0, out + err, "quarantine")
    suite = ten_cases()
    del suite["items"][1:3]
    repository.write("proj2/evals.json", suite)
    code, out, err = runevals("run", "--base", "main", "-q", *words)
    ended(code, 1, out + err, "✗ strict", without=["regressed"])


def test_rules_of_another_folder_are_not_those_of_one_that_the_base_has(repository, runevals):
    """Else a change could take up rules that suit it: those of an example, say."""
    lenient = "fail_on: [none]\nsuites: [evals.json]\ntarget: {type: python, function: 'agent.py:answer'}\n"
    repository.git("checkout", "-q", "main")
    repository.git("rm", "-q", "runevals.yaml")
    repository.write("examples/runevals.yaml", lenient)
    repository.git("add", "-A")
    repository.git("commit", "-qm", "an example")
    repository.git("checkout", "-qB", "change")
    repository.git("mv", "examples/runevals.yaml", "runevals.yaml")
    repository.write("agent.py", WORSE)
    code, out, err = runevals("run", "evals.json", "--base", "main", "-q", "--target", "python:agent.py:answer")
    ended(code, 1, out + err, "fail_on: the setting was changed")


def test_a_project_that_the_base_has_elsewhere_is_no_first_run(repository, runevals, monkeypatch):
    named_suites(repository, "proj/evals.json")
    (repository.path / "proj2/evals").mkdir(parents=True)
    repository.git("mv", "proj/evals.json", "proj2/evals/evals.json")
    monkeypatch.chdir(repository.path / "proj2")
    code, _, err = runevals("run", "--base", "main", "-q", "--target", "command:cat")
    told = "proj2/evals/evals.json is proj/evals.json there"
    ended(code, 3, err, told, "compare with a stored result (--baseline FILE)")


def test_settings_that_the_base_does_not_have_are_said_to_be_missing_there(repository, runevals):
    named_suites(repository, "evals/evals.json")
    repository.write("other.yaml", "target: {type: python, function: 'agent.py:answer'}\n")
    code, _, err = runevals("run", "--base", "main", "-q", "--config", "other.yaml")
    ended(code, 3, err, "cannot be run: it has no settings file other.yaml", "--baseline FILE")


@pytest.mark.parametrize("listed", ["", "suites: [evals]\n"])
@pytest.mark.parametrize("folder", ["third", "."])
def test_settings_that_a_change_brings_with_their_first_suite_are_a_first_run(
    repository, runevals, folder, listed
):
    for words in (["checkout", "-q", "main"], ["rm", "-q", "evals.json", "runevals.yaml"]):
        repository.git(*words)
    repository.git("commit", "-qm", "no project")
    repository.git("checkout", "-qB", "change")
    repository.write(f"{folder}/evals/evals.json", SUITE)
    repository.write(f"{folder}/agent.py", AGENT)
    target = "target: {type: python, function: 'agent.py:answer', deterministic: true}\n"
    repository.write(f"{folder}/runevals.yaml", listed + target)
    repository.git("add", "-A")
    repository.git("commit", "-qm", "the first project")
    code, out, err = runevals("run", "--base", "main", "-q", "--config", f"{folder}/runevals.yaml")
    ended(code, 0, out + err, "has nothing to run: it has no settings file", without=["cannot be run"])


@pytest.mark.parametrize("words", [[], ["--config", "proj2/runevals.yaml"]], ids=" ".join)
@pytest.mark.parametrize("lost", [False, True])
@pytest.mark.parametrize("how", ["the folder", "the suite", "the folder, with other settings"])
def test_what_moves_together_with_settings_that_are_repaired_is_no_first_run(
    repository, runevals, monkeypatch, how, lost, words
):
    """Nor where it has settings of which git cannot say what they were."""
    named_suites(repository, "proj/evals.json")
    settings = (
        "suites: [evals.json]\ntarget: {type: python, function: '../agent.py:answer', deterministic: true}\n"
    )
    repository.write("proj/runevals.yaml", settings if "other" in how else f"{settings}fail_on: 7\n")
    repository.git("add", "-A")
    repository.git("commit", "-qm", "broken")
    repository.git("branch", "-f", "main")
    place = "proj" if how == "the suite" else "proj2"
    repository.git("mv", "proj", "proj2")
    if how == "the suite":
        repository.git("mv", "proj2", "proj")
        repository.git("mv", "proj/evals.json", "proj/cases.json")
        settings = settings.replace("evals.json", "cases.json")
        words = [word.replace("proj2", "proj") for word in words]
    others = "# another text\nversion: 1\nrepeat: 3\ncategory: []\nverify: auto\n" * ("other" in how)
    repository.write(f"{place}/runevals.yaml", settings if not others else others + settings)
    repository.git("add", "-A")
    monkeypatch.chdir(repository.path / ("." if words else place))
    if lost:
        repository.write("agent.py", BAD)
    code, out, err = runevals("run", "--base", "main", "-q", *words)
    assert code in ((1, 3) if lost else (0, 3)), out + err
    assert "nothing to compare" not in out
    assert code != 3 or others


def test_settings_that_the_base_has_elsewhere_are_no_first_run(repository, runevals):
    named_suites(repository, "p/evals/evals.json")
    for words in (["checkout", "-q", "main"], ["mv", "runevals.yaml", "p/"], ["commit", "-qm", "a project"]):
        repository.git(*words)
    repository.git("checkout", "-qB", "change")
    repository.git("rm", "-q", "p/runevals.yaml")
    target = "{type: python, function: 'agent.py:answer', deterministic: true}"
    repository.write("runevals.yaml", f"suites: [p/evals/*.json]\ntarget: {target}\n")
    repository.write("agent.py", BAD)
    code, _, err = runevals("run", "--base", "main", "-q")
    ended(code, 3, err, "the base has its settings in p/runevals.yaml, which the change removes")


def split_projects(repository, rule=""):
    """On main, two skills that are projects; in the change, one at the root with both."""
    repository.git("checkout", "-q", "main")
    repository.write("target.py", "import json, sys\nprint(json.load(sys.stdin)['prompt'])\n")
    for name in ("alpha", "beta"):
        case = {"id": "one", "prompt": f"Say {name}", "assertions": [{"type": "contains", "value": name}]}
        repository.write(f"{name}/SKILL.md", f"---\nname: {name}\ndescription: says {name}\n---\n")
        repository.write(f"{name}/evals/evals.json", json.dumps({"skill_name": name, "evals": [case]}))
        repository.write(f"{name}/runevals.yaml", f"target: 'command:python ../target.py'\n{rule}")
    repository.git("rm", "-qf", "runevals.yaml", "evals.json")
    for words in (["add", "-A"], ["commit", "-qm", "projects"], ["checkout", "-qB", "change"]):
        repository.git(*words)
    repository.git("rm", "-q", "alpha/runevals.yaml", "beta/runevals.yaml")
    repository.write("runevals.yaml", "target: 'command:python target.py'\n")


def test_projects_that_are_put_together_say_what_helps(repository, runevals):
    split_projects(repository)
    code, _, err = runevals("run", "--base", "main", "-q")
    names = "alpha/runevals.yaml and beta/runevals.yaml, which the change removes"
    ended(code, 3, err, names, "--baseline FOLDER", "`on_unknown: pass` there", without=["share", "base_setup"])


def test_projects_are_put_together_if_each_lets_pass_what_is_not_known(repository, runevals):
    split_projects(repository, "on_unknown: pass\n")
    code, out, err = runevals("run", "--base", "main", "-q")
    ended(code, 0, out + err, "no baseline", "on_unknown: pass")


def test_suites_that_git_ignores_are_no_first_run(repository, runevals):
    repository.write(".gitignore", "evals/\n")
    named_suites(repository, "evals/evals.json")
    repository.write("agent.py", BAD)
    code, _, err = runevals("run", "--base", "main", "-q")
    ended(code, 3, err, "a checkout of the base does not have evals/evals.json, because git ignores it")


def test_suites_of_a_submodule_are_no_first_run(repository, runevals, tmp_path_factory):
    other = tmp_path_factory.mktemp("evals")
    (other / "evals.json").write_text(json.dumps(ten_cases()))
    for words in (
        ["init", "-q"],
        ["add", "-A"],
        ["-c", "user.name=n", "-c", "user.email=e", "commit", "-qm", "s"],
    ):
        subprocess.run(["git", *words], cwd=other, check=True)
    repository.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other), "evals")
    named_suites(repository)
    repository.write("agent.py", BAD)
    code, _, err = runevals("run", "--base", "main", "-q")
    ended(code, 3, err, "evals is a repository of its own")


def test_a_dotenv_file_of_the_change_sets_no_rule(repository, runevals):
    named_suites(repository, "evals/evals.json")
    repository.write("agent.py", BAD)
    repository.write(".env.local", "RUNEVALS_FAIL_ON=none\nGREETING=hello\n")
    repository.git("add", "-f", ".env.local")
    code, out, err = runevals("run", "--base", "main", "-q")
    ended(code, 1, out + err, "RUNEVALS_FAIL_ON not used: git tracks the file")
    repository.git("rm", "-q", "--cached", ".env.local")
    assert runevals("run", "--base", "main", "-q")[0] == 0  # one's own laptop, one's own rule


@pytest.mark.parametrize("key", ["language", "type"])
def test_what_a_target_reads_of_a_skills_case_is_part_of_it(repository, runevals, key):
    """An edit of it would make another question of a critical case, which is run in its old form."""
    agent = (
        "def answer(prompt, messages, case):\n    return 'ok' if case['metadata'][{key!r}] in {fine} else 'no'\n"
    )
    assertions = [{"type": "equals", "value": "ok"}]
    cases = [{"id": f"k{n}", "prompt": f"Ask {n}", key: "a", "assertions": assertions} for n in range(9)]
    critical = {"id": "B", "prompt": "say", "critical": True, key: "b", "assertions": assertions}
    repository.write("agent.py", agent.format(key=key, fine=["a", "b"]))
    repository.write("SKILL.md", "---\nname: s\ndescription: A skill.\n---\nText.\n")
    repository.write("evals/evals.json", {"skill_name": "s", "evals": [*cases, critical]})
    repository.write("runevals.yaml", "target: {type: python, function: 'agent.py:answer', deterministic: true}\n")
    repository.git("checkout", "-q", "main")
    repository.git("rm", "-qf", "evals.json")
    repository.git("add", "-A")
    repository.git("commit", "-qm", "a skill")
    repository.git("checkout", "-qB", "change")
    repository.write("agent.py", agent.format(key=key, fine=["a"]))
    assert runevals("run", "--base", "main", "-q")[0] == 1
    repository.write("evals/evals.json", {"skill_name": "s", "evals": [*cases, {**critical, key: "a"}]})
    code, out, err = runevals("run", "--base", "main", "-q")
    ended(code, 1, out + err, "a critical case is lost: B")


def test_a_renamed_target_is_no_first_run_under_its_new_name(repository, runevals):
    target = "{type: python, function: 'agent.py:answer', deterministic: true}"
    named_suites(repository, "evals/evals.json")
    repository.git("checkout", "-q", "main")
    repository.write("runevals.yaml", f"targets: {{a: {target}}}\n")
    repository.git("commit", "-qam", "a name")
    repository.git("checkout", "-qB", "change")
    repository.write("agent.py", BAD)
    repository.write("runevals.yaml", f"targets: {{a: {target}, b: {target}}}\n")
    assert runevals("run", "--target", "b", "--base", "main", "-q")[0] == 0  # it is new
    repository.write("runevals.yaml", f"targets: {{b: {target}}}\n")
    code, out, err = runevals("run", "--target", "b", "--base", "main", "-q")
    ended(code, 3, out + err, "the change removes a from `targets`")


@pytest.mark.parametrize("lost", [4, 8, 10])
def test_a_deterministic_target_that_drifted_outside_of_the_change_does_not_block(
    repository, runevals, monkeypatch, lost
):
    """The base's own fresh runs fail too: its stored result no longer holds."""
    agent = "import os\ndef answer(prompt):\n    n = int(prompt.split()[1])\n    return 'wrong' if "
    named_suites(repository, "evals/evals.json")
    repository.git("checkout", "-q", "main")
    repository.write("agent.py", f"{agent}os.environ.get('MODE') and n < {lost} else 'right'\n")
    repository.git("commit", "-qam", "an agent")
    assert runevals("run", "-q", "-o", "base.json")[0] == 0
    repository.git("checkout", "-qB", "change")
    repository.write("README.md", "more\n")
    repository.git("add", "README.md")
    repository.git("commit", "-qm", "words")
    monkeypatch.setenv("MODE", "drifted")
    code, out, err = runevals("run", "--baseline", "base.json", "-q")
    ended(code, 0, out + err, "fresh runs show no difference", without=["regressed"])
    repository.write("agent.py", f"{agent}n < {lost} else 'right'\n")
    monkeypatch.delenv("MODE")
    code, out, err = runevals("run", "--baseline", "base.json", "-q")
    ended(code, 1, out + err, f"{lost} of 10 cases")


def test_a_folder_of_results_has_none_of_the_change_itself_for_its_base(repository, runevals, tmp_path_factory):
    """The first push fails; the second, of words only, must not be compared with the first."""
    results = tmp_path_factory.mktemp("results")
    named_suites(repository, "evals/evals.json")
    repository.git("checkout", "-q", "main")
    assert runevals("run", "-q", "-o", str(results / "1.json"))[0] == 0
    assert runevals("run", "-q", "--filter", "k3", "-o", str(results / "2.json"))[0] == 0  # not of all cases
    repository.git("checkout", "-qB", "change")
    repository.write("agent.py", BAD)
    runevals("run", "-q", "-o", str(results / "3.json"))  # with changes in no commit
    repository.git("commit", "-qam", "worse")
    runevals("run", "-q", "-o", str(results / "4.json"))
    repository.git("commit", "-q", "--amend", "-m", "worse, in other words")
    for path in results.iterdir():  # one after the other, however fast this machine is
        begun = f"2026-01-0{path.stem}T00:00:00Z"
        path.write_text(
            re.sub(r'("started_at": ?)"[^"]*"', rf'\1"{begun}"', path.read_text(encoding="utf-8"), count=1)
        )
    settings = resolve(RawSettings(flags={"baseline": str(results)}))
    side = BaseSide(commit=repository.git("rev-parse", "main"))
    found, _ = read_baseline(replace(settings, base_side=side))
    assert found.report.totals.passed == 10
    found, _ = read_baseline(settings)  # nothing says which commits are the change's
    assert found.report.totals.passed == 0


def test_shards_of_an_earlier_commit_are_not_those_of_this_one(repository, runevals, monkeypatch):
    named_suites(repository, "evals/evals.json")
    for part in ("1", "2"):
        assert runevals("run", "--shard", f"{part}/2", "-q", "-o", f"{part}.json")[0] == 0
    assert runevals("run", "-q", "-o", "base.json")[0] == 0
    repository.write("agent.py", BAD)
    repository.git("commit", "-qam", "worse")
    words = ("merge", "1.json", "2.json", "--baseline", "base.json")
    code, out, err = runevals(*words)
    ended(code, 0, out + err, "Notice: the shards are of commit")
    monkeypatch.setenv("CI", "true")
    code, out, err = runevals(*words)
    ended(code, 3, out + err, "the shards are of commit", "were they made by an earlier run?")


def test_a_base_of_a_part_of_the_cases_is_named(repository, runevals):
    named_suites(repository, "evals/evals.json")
    assert runevals("run", "-q", "--filter", "k3", "-o", "part.json")[0] == 0
    code, out, err = runevals("run", "--baseline", "part.json", "-q")
    ended(code, 0, " ".join((out + err).split()), "compared with a result of a part of the cases (filter)")
    code, out, err = runevals("run", "--baseline", "part.json", "--filter", "k3", "-q")
    assert "a part of the cases" not in out + err


def test_a_renamed_suite_with_a_mistake_on_the_base_is_no_first_run(repository, runevals):
    named_suites(repository, "evals/a.json")
    repository.git("checkout", "-q", "main")
    text = (repository.path / "evals/a.json").read_text(encoding="utf-8")
    repository.write("evals/a.json", text.replace("ExactMatch", "ExactMacht"))
    repository.git("commit", "-qam", "a mistake")
    repository.git("checkout", "-qB", "change")
    repository.git("mv", "evals/a.json", "evals/b.json")
    repository.write("evals/b.json", text)
    code, _, err = runevals("run", "evals/b.json", "--base", "main", "-q")
    ended(code, 3, err, "cannot be run", "ExactMacht")


@pytest.mark.parametrize("path", ["data", "data/*.json", "data/m.json"])
def test_a_named_path_of_which_the_base_has_nothing_is_no_pass(repository, runevals, path):
    named_suites(repository, "evals/evals.json")
    repository.write(".gitignore", "data/\n")
    repository.write("data/m.json", json.loads(json.dumps(ten_cases()).replace('"k', '"m')))
    code, _, err = runevals("run", "evals", path, "--base", "main", "-q")
    ended(code, 3, err, "a checkout of the base does not have data/m.json, because git ignores it")
