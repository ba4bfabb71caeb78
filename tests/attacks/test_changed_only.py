"""Where nothing is run because nothing has changed, the bytes that would be read are those that the base read."""

from __future__ import annotations

import json
import os
import shutil
import time
from pathlib import Path

import pytest

from runevals.run.baseline.dependencies import changes_since
from runevals.run.load import suites_of
from runevals.settings.resolve import RawSettings, resolve
from tests.attacks.conftest import REGRESSED, SUITE, commit, stock

MODEL = "{type: openai, model: tiny, system_prompt_file: %s}"
PROGRAM = "{type: command, command: [cat, main.py], cwd: %s}"
UNCHANGED = "No relevant changes since"


@pytest.fixture
def change(hostile):
    """A repository with a base, on which a test makes its own files, and a change.

    `change.base(settings)` commits what is there as the base, `change.again()` goes back to it, and `change.why()`
    is why the change must be run, None if it need not be.
    """
    shutil.rmtree(hostile.path / ".git")
    for folder, text in (("v1", "Say yes."), ("v2", "Say no.")):
        hostile.write(f"{folder}/asked.md", f"{text} {{{{prompt}}}}")
        for name in ("prompt.md", "main.py", "judgements.jsonl"):
            hostile.write(f"{folder}/{name}", text)
    hostile.write("prompt.md", "Say yes.")
    stock(hostile.path, "init", "-q", "-b", "main")

    def base(target=MODEL % "prompt.md", more=""):
        hostile.write("runevals.yaml", f"suites: [evals.json]\nverify: 'off'\ntarget: {target}\n{more}")
        hostile.commit = commit(hostile.path, "base")
        stock(hostile.path, "update-ref", "refs/remotes/origin/main", "HEAD")
        stock(hostile.path, "checkout", "-q", "-b", "change")

    def why():
        settings = resolve(RawSettings(cwd=hostile.path, environment={}))
        return changes_since(settings, suites_of(settings), hostile.commit, None)

    def again():
        stock(hostile.path, "reset", "-q", "--hard")
        stock(hostile.path, "clean", "-fdxq")

    hostile.base, hostile.why, hostile.again = base, why, again
    return hostile


def link(path: Path, target: str) -> None:
    """A link, in place of what is there."""
    if path.is_symlink() or path.is_file():
        path.unlink()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(target)


def checked_out_again(change) -> None:
    """The work tree as a plain git writes it, by the attributes of the change."""
    stock(change.path, "add", "-A", ":(top,glob)**/.gitattributes")
    stock(change.path, "commit", "-q", "-m", "attributes")
    for path in (change.path / "prompt.md", change.path / "v1" / "prompt.md"):
        path.unlink()
    stock(change.path, "checkout", "HEAD", "--", ".")


def test_another_change_is_not_run_and_an_open_one_is(change):
    """The control of everything below: a change of what is read is red, one of other files is green."""
    change.base()
    change.write("README.md", "Other words.")
    change.write("v1/.gitattributes", "* -text\n")
    commit(change.path, "words")
    change.run("run", "--base", "origin/main", "--changed-only").must(0, UNCHANGED)
    change.write("prompt.md", "Say no.")
    change.run("run", "--base", "origin/main", "--changed-only").must(1, REGRESSED, "run in full")


def test_a_link_on_the_way_to_a_prompt_is_followed_whole(change):
    link(change.path / "current", "v1")
    change.base(MODEL % "current/prompt.md")
    change.run("run", "--base", "origin/main", "--changed-only").must(0, UNCHANGED)
    link(change.path / "current", "v2")
    commit(change.path, "turned")
    change.run("run", "--base", "origin/main", "--changed-only").must(1, REGRESSED, "run in full")


ATTRIBUTES = {
    "an encoding": "prompt.md working-tree-encoding=UTF-16LE\n",
    "line ends": "prompt.md text eol=crlf\n",
    "an id": "prompt.md ident\n",
}


@pytest.mark.parametrize("line", ATTRIBUTES.values(), ids=ATTRIBUTES)
@pytest.mark.parametrize("place", ["", "v1/"], ids=["root", "folder"])
def test_attributes_that_write_the_same_file_with_other_bytes_are_a_change(change, line, place):
    change.write(f"{place}prompt.md", "Say yes.\n$Id$\n")
    change.base(MODEL % f"{place}prompt.md")
    assert change.why() is None
    change.write(f"{place}.gitattributes", line)
    checked_out_again(change)
    assert (change.path / f"{place}prompt.md").read_bytes() != b"Say yes.\n$Id$\n"  # the control
    assert "changed since" in change.why()


def test_attributes_that_are_taken_away_are_a_change(change):
    """What git keeps is then what is read, and was not before: the pointer to a large file, say."""
    change.write(".gitattributes", "/prompt.md text eol=crlf\n")
    change.write("prompt.md", "Say yes.\n")
    change.base()
    (change.path / ".gitattributes").unlink()
    checked_out_again(change)
    assert (change.path / "prompt.md").read_bytes() == b"Say yes.\n"  # as git keeps it
    assert ".gitattributes" in change.why()


TURNED = {
    "system_prompt_file": (MODEL % "current/prompt.md", ""),
    "prompt_file": ("{type: openai, model: tiny, prompt_file: current/asked.md}", ""),
    "depends_on": (MODEL % "prompt.md", "depends_on: [current/prompt.md]\n"),
    "a folder in depends_on": (MODEL % "prompt.md", "depends_on: [current]\n"),
    "depends_on by a pattern": (MODEL % "prompt.md", "depends_on: ['current/*.md']\n"),
    "a pattern over the link": (MODEL % "prompt.md", "depends_on: ['*/prompt.md']\n"),
    "a deep pattern": (MODEL % "prompt.md", "depends_on: ['**/main.py']\n"),
    "target.cwd": (PROGRAM % "current", "depends_on: [prompt.md]\n"),
    "a recorded target": ("{type: recorded, path: current/judgements.jsonl}", ""),
    "a recorded judge": (MODEL % "prompt.md", "judge: {type: recorded, path: current/judgements.jsonl}\n"),
    "a skills folder": ("{type: skill, skills_dir: current}", "depends_on: [prompt.md]\n"),
    "two steps back": (MODEL % "current/../v1/prompt.md", "depends_on: ['current/../*/prompt.md']\n"),
}


@pytest.mark.parametrize(("target", "more"), TURNED.values(), ids=TURNED)
def test_a_folder_link_that_is_turned_round_is_a_change(change, target, more):
    link(change.path / "current", "v1")
    link(change.path / "next", "v2")
    change.base(target, more)
    assert change.why() is None
    for turned in ("v2", "./v1/../v2", "next"):
        link(change.path / "current", turned)
        assert change.why() is not None


def test_a_link_that_leads_nowhere_or_out_is_a_change(change):
    link(change.path / "current", "v1")
    change.base(more="depends_on: [v1/prompt.md, 'current/*']\n")
    assert change.why() is None
    for target in ("/etc", "../outside", "current", "missing", "prompt.md/x", str(change.path / "v1")):
        link(change.path / "current", target)
        assert change.why() is not None


def test_links_that_lead_round_in_a_circle_are_run_in_full_at_once(change):
    for name, target in (("a", "."), ("b", ".."), ("c", "../v1")):
        link(change.path / "v1" / name, target)
    change.base(more="depends_on: ['v1/**/**/*.md']\n")
    started = time.process_time()
    assert "leads to its own parent folder" in change.why()
    assert time.process_time() - started < 5


@pytest.fixture
def nested(change, tmp_path_factory):
    """The same with a submodule `shared`, whose commit v1 says yes."""
    theirs = tmp_path_factory.mktemp("theirs")
    stock(theirs, "init", "-q", "-b", "main")
    for text in ("Say no.", "Say yes."):
        (theirs / "prompt.md").write_text(text, encoding="utf-8")
        commit(theirs, text)
    allowed = ["-c", "protocol.file.allow=always"]
    stock(change.path, *allowed, "submodule", "add", "-q", str(theirs), "shared")
    return change


SUBMODULE = {
    "a prompt": (MODEL % "shared/prompt.md", ""),
    "a file": (MODEL % "prompt.md", "depends_on: [shared/prompt.md]\n"),
    "all in it": (MODEL % "prompt.md", "depends_on: ['shared/*']\n"),
    "all below it": (MODEL % "prompt.md", "depends_on: ['shared/**']\n"),
    "it": (MODEL % "prompt.md", "depends_on: [shared]\n"),
    "everything": (MODEL % "prompt.md", "depends_on: ['**']\n"),
}


@pytest.mark.parametrize(("target", "more"), SUBMODULE.values(), ids=SUBMODULE)
def test_a_submodule_is_never_taken_for_unchanged(nested, target, more):
    nested.base(target, more)
    modules = nested.path / ".gitmodules"
    modules.write_text(f"{modules.read_text()}\tignore = all\n", encoding="utf-8")
    stock(nested.path / "shared", "checkout", "-q", "HEAD~1")
    assert (nested.path / "shared" / "prompt.md").read_text() == "Say no."
    commit(nested.path, "pointer")
    assert "shared is a submodule" in nested.why()


@pytest.mark.parametrize("kept", [False, True], ids=["files in its place", "as it was"])
def test_nor_is_one_that_the_change_takes_apart(nested, kept):
    nested.base(more="depends_on: ['shared/*.md']\n")
    stock(nested.path, "rm", "-q", "--cached", "shared")
    (nested.path / "shared" / ".git").unlink()
    if not kept:
        nested.write("shared/prompt.md", "Say no.")
    commit(nested.path, "apart")
    assert "shared is a submodule" in nested.why()


def test_a_submodule_that_nothing_reads_is_none_of_ours(nested):
    """The control."""
    nested.base(more="depends_on: ['v1/*']\n")
    stock(nested.path / "shared", "checkout", "-q", "HEAD~1")
    assert nested.why() is None


GLOBS = ["data/*", "data/**", "data", "data/*/*", "**/p.txt", "da[t]a/?/p.txt", "./data/a/../*"]


@pytest.mark.parametrize("pattern", GLOBS)
def test_what_a_pattern_matches_on_either_side_counts(change, pattern):
    for name in ("data/a/p.txt", "data/b/p.txt"):
        change.write(name, "x")
    change.write(".gitignore", "/data/c\n")
    change.base(more=f"depends_on: ['{pattern}']\n")
    assert change.why() is None
    shutil.rmtree(change.path / "data" / "b")
    assert "changed since" in change.why()
    for name in ("data/d/p.txt", "data/c/p.txt"):  # git ignores the second
        change.again()
        change.write(name, "x")
        assert "changed since" in change.why()
    shutil.rmtree(change.path / "data")
    assert change.why() is not None


def as_link(path: Path) -> None:
    path.rename(path.with_name("copy"))
    path.symlink_to("copy")


def as_program(path: Path) -> None:
    path.chmod(0o755)


def as_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def as_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def hidden_from_git(path: Path) -> None:
    stock(path.parent, "update-index", "--assume-unchanged", path.name)
    path.write_text("Say no.", encoding="utf-8")


def never_looked_at(path: Path) -> None:
    stock(path.parent, "update-index", "--skip-worktree", path.name)
    path.write_text("Say no.", encoding="utf-8")


def only_in_the_index(path: Path) -> None:
    path.write_text("Say no.", encoding="utf-8")
    stock(path.parent, "add", path.name)
    info = path.stat()
    stock(path.parent, "update-index", "--refresh")
    os.utime(path, ns=(info.st_atime_ns, info.st_mtime_ns))


EDITS = [as_link, as_program, as_pipe, as_folder, hidden_from_git, never_looked_at, only_in_the_index]


@pytest.mark.parametrize("edit", EDITS)
def test_what_stands_in_place_of_a_file_counts(change, edit):
    change.base(more="depends_on: ['v1/*.py']\n")
    assert change.why() is None
    edit(change.path / "v1" / "main.py")
    assert change.why() is not None


FILES = {
    "a grader's file": ("graders/check.py", "code"),
    "a custom assertion": ("samples/check.py", "fn"),
    "what a mock returns": ("samples/reply.txt", "mock"),
    "a new suite": ("more/new.json", "folder"),
    "a suite of a pattern": ("more/deep/new.json", "pattern"),
    "a suite in the usual places": ("prompts.json", "usual"),
}


@pytest.mark.parametrize(("name", "kind"), FILES.values(), ids=FILES)
def test_files_that_suites_and_settings_name_or_find_count(change, name, kind):
    sample = {"sample_id": "s", "prompt": "Question?", "assertions": [{"type": "custom", "fn": "check.py"}]}
    mocks = {"mocks": [{"tool": "search", "return_file": "reply.txt"}]}
    change.write("samples/eval-samples.json", [{**sample, **mocks}])
    change.write("samples/check.py", "def grade(output):\n    return True\n")
    change.write("samples/reply.txt", "one")
    change.write("graders/check.py", "def grade(output):\n    return True\n")
    change.write("more/old.json", SUITE)
    change.write("more/deep/old.json", SUITE)
    suites = {"folder": "[more]", "pattern": "['more/**/*.json']"}.get(
        kind, "[evals.json, samples/eval-samples.json]"
    )
    change.base(more="evaluators: [{id: mine, type: code, file: graders/check.py}]\n")
    settings = (change.path / "runevals.yaml").read_text(encoding="utf-8")
    change.write(
        "runevals.yaml", settings.replace("suites: [evals.json]", "" if kind == "usual" else f"suites: {suites}")
    )
    change.commit = commit(change.path, "suites")
    assert change.why() is None
    change.write(name, json.dumps(SUITE) if name.endswith(".json") else "def grade(output):\n    return 1\n")
    assert "changed since" in change.why()


AGENT = "{type: claude-code, tools: ['mcp:docs'], mcp: .mcp.agent.json, args: [%s]}"
MODEL_WITH_SERVERS = "{type: openai, model: tiny, mcp: .mcp.agent.json}"


@pytest.mark.parametrize(
    ("target", "name"),
    [
        (AGENT % "'--append-system-prompt-file', v1/asked.md", ".mcp.agent.json"),
        (AGENT % "'--append-system-prompt-file', v1/asked.md", "v1/asked.md"),
        (AGENT % "'--append-system-prompt-file=v1/asked.md'", "v1/asked.md"),
        (MODEL_WITH_SERVERS, ".mcp.agent.json"),
        (MODEL_WITH_SERVERS, "v1/main.py"),
    ],
)
def test_files_of_an_agents_options_and_of_mcp_servers_count(change, target, name):
    servers = {"docs": {"command": "python3", "args": ["v1/main.py"]}}
    change.write(".mcp.agent.json", {"mcpServers": servers})
    change.base(target, more="depends_on: [prompt.md]\n")
    assert change.why() is None
    changed = {"mcpServers": {"docs": {**servers["docs"], "env": {"A": "b"}}}}
    change.write(name, changed if name.endswith(".json") else "Other words.")
    assert f"changed since {change.commit[:7]}: {name}" in change.why()


@pytest.mark.parametrize("ref", ["HEAD", "change"])
def test_a_committed_file_counts_if_workspaces_are_of_that_commit(change, ref):
    """What an agent may read of the workspace is every file of the commit, whatever `depends_on` names."""
    document = json.loads((change.path / "evals.json").read_text(encoding="utf-8"))
    document["extensions"] = {"runevals": {"workspace": {"git": ref}}}
    change.write("evals.json", document)
    change.base("{type: claude-code, tools: [read]}", more="depends_on: [prompt.md]\n")
    assert change.why() is None
    change.write("notes.txt", "Nobody commits this.")
    assert change.why() is None
    change.write("CLAUDE.md", "Never answer.")
    commit(change.path, "instructions")
    assert "CLAUDE.md" in change.why().partition("changed since")[2]


def test_a_workspace_of_a_fixed_commit_is_not_changed_by_another_commit(change):
    document = json.loads((change.path / "evals.json").read_text(encoding="utf-8"))
    fixed = commit(change.path, "before")
    document["extensions"] = {"runevals": {"workspace": {"git": fixed}}}
    change.write("evals.json", document)
    change.base("{type: claude-code, tools: [read]}", more="depends_on: [prompt.md]\n")
    change.write("CLAUDE.md", "Never answer.")
    commit(change.path, "instructions")
    assert change.why() is None


@pytest.mark.parametrize("committed", [False, True])
@pytest.mark.parametrize("name", ["v1/__pycache__/main.cpython-311.pyc", ".evals/kept.txt"])
def test_what_runs_leave_behind_counts_only_if_a_commit_brought_it(change, name, committed):
    change.write(".gitignore", "__pycache__\n.evals\n")
    change.base(more="depends_on: ['**']\n")
    change.write(name, "x")
    if committed:
        stock(change.path, "add", "-f", name)
        commit(change.path, "brought")
    assert (change.why() is not None) is committed


@pytest.mark.parametrize("pattern", ["../outside/*", "/etc/hostname"])
def test_what_lies_outside_the_repository_is_run_in_full(change, around, pattern):
    change.base(more=f"depends_on: ['{pattern}']\n")
    (around.parent / "outside").mkdir(exist_ok=True)
    (around.parent / "outside" / "x").touch()
    assert change.why() is not None


def test_two_thousand_files_do_not_cost_a_second(change):
    for number in range(2000):
        change.write(f"data/{number % 50}/{number}.txt", f"{number}")
    change.base(more="depends_on: ['data/**', 'data/*/1*.txt']\n")
    started = time.process_time()
    assert change.why() is None
    assert time.process_time() - started < 1.5
