"""Our git takes nothing from what is checked out: no repository, no program, no attribute, no other base."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from runevals import __version__
from runevals.git import git
from tests.attacks.conftest import SECRETS, SUITE

SETTINGS = "suites: [evals.json]\ntarget: {{type: openai, model: tiny, system_prompt_file: prompt.md}}\n{more}"
REGRESSED = "12 of 12 cases regressed"


def stock(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """What a plain git does in a folder: the control of the traps that are set here."""
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.com"]
    return subprocess.run(["git", *identity, *words], cwd=folder, capture_output=True, text=True, check=False)


class Trap:
    """A program that leaves its environment in a file when somebody runs it."""

    def __init__(self, folder: Path) -> None:
        self.seen = folder / "seen.txt"
        self.program = folder / "trap.sh"
        self.program.write_text(f"#!/bin/sh\nenv >> {self.seen}\ncat\n", encoding="utf-8")
        self.program.chmod(0o755)

    def springs(self) -> bool:
        """Whether it was run since this was asked last."""
        sprung = self.seen.exists()
        self.seen.unlink(missing_ok=True)
        return sprung


@pytest.fixture
def trap(tmp_path_factory):
    return Trap(tmp_path_factory.mktemp("trap"))


@pytest.fixture
def monorepo(hostile):
    """A repository with its evals in `agent/`, a good main, and a change that makes every answer worse."""
    shutil.rmtree(hostile.path / ".git")
    for name in ("evals.json", "runevals.yaml"):
        (hostile.path / name).unlink()
    hostile.agent = hostile.path / "agent"
    hostile.write("agent/evals.json", SUITE)
    hostile.write("agent/runevals.yaml", SETTINGS.format(more="verify: 'off'\n"))
    hostile.write("agent/prompt.md", "Say yes.")
    stock(hostile.path, "init", "-q", "-b", "main")
    commit(hostile.path, "base")
    stock(hostile.path, "update-ref", "refs/remotes/origin/main", "HEAD")
    stock(hostile.path, "checkout", "-q", "-b", "change")
    hostile.write("agent/prompt.md", "Say no.")
    commit(hostile.path, "worse")
    return hostile


def commit(folder: Path, message: str) -> str:
    stock(folder, "add", "-A")
    stock(folder, "commit", "-q", "-m", message)
    return stock(folder, "rev-parse", "HEAD").stdout.strip()


def plant(monorepo, at: Path, config: str = "", *, base: str = "HEAD") -> None:
    """Lays a repository out in a folder, as a commit can: its objects are those of the real one."""
    head = stock(monorepo.path, "rev-parse", base).stdout.strip()
    for name in ("objects/info", "refs/heads", "refs/remotes/origin", "hooks"):
        (at / name).mkdir(parents=True, exist_ok=True)
    (at / "HEAD").write_text(f"{head}\n", encoding="utf-8")
    (at / "refs/remotes/origin/main").write_text(f"{head}\n", encoding="utf-8")
    (at / "objects/info/alternates").write_text(f"{monorepo.path}/.git/objects\n", encoding="utf-8")
    (at / "config").write_text(f"[core]\n\trepositoryformatversion = 0\n{config}", encoding="utf-8")
    (at / "sub").mkdir(exist_ok=True)
    (at / "sub" / "file.txt").write_text("changed", encoding="utf-8")


def test_a_worse_change_is_seen(monorepo):
    """The control of everything below."""
    monorepo.run("run", "--base", "origin/main", cwd=monorepo.agent).must(1, REGRESSED)


PROGRAMS = {
    "diff.external": "\tworktree = sub\n[diff]\n\texternal = {trap}\n",
    "core.fsmonitor": "\tworktree = sub\n\tfsmonitor = {trap}\n",
    "a pager": "\tworktree = sub\n\tpager = {trap}\n[pager]\n\tdiff = true\n[diff]\n\texternal = {trap}\n",
    "an included file": "\tworktree = sub\n[include]\n\tpath = more.config\n",
}


@pytest.mark.parametrize("config", PROGRAMS.values(), ids=PROGRAMS)
@pytest.mark.parametrize("words", [["run"], ["run", "--base", "origin/main"]], ids=["run", "run --base"])
def test_a_repository_that_is_laid_out_in_the_folder_we_work_in_runs_no_program(monorepo, trap, config, words):
    (monorepo.agent / "more.config").write_text(f"[diff]\n\texternal = {trap.program}\n", encoding="utf-8")
    plant(monorepo, monorepo.agent, config.format(trap=trap.program), base="HEAD~1")
    commit(monorepo.path, "plant")
    stock(monorepo.agent, "diff", "HEAD")
    assert trap.springs(), "a plain git must fall into it"
    for target in ("openai:tiny", "command:cat"):  # for programs, the files here are looked at
        monorepo.run(*words, "--target", target, "--no-judge", cwd=monorepo.agent)
        assert not trap.springs()


def test_such_a_repository_chooses_no_base(monorepo):
    plant(monorepo, monorepo.agent)
    commit(monorepo.path, "plant")
    assert stock(monorepo.agent, "diff", "--stat", "origin/main", "HEAD").stdout == ""  # its base is the head
    monorepo.run("run", "--base", "origin/main", cwd=monorepo.agent).must(1, REGRESSED)


@pytest.mark.parametrize("name", ["HEAD", "main", "origin/main", "FETCH_HEAD"])
def test_a_file_that_is_named_like_a_ref_changes_nothing(monorepo, name):
    path = monorepo.agent / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("ref: refs/heads/change\n", encoding="utf-8")
    (monorepo.path / "HEAD").write_text("x", encoding="utf-8")
    commit(monorepo.path, "files")
    monorepo.run("run", "--base", "origin/main", cwd=monorepo.agent).must(1, REGRESSED)


def as_git_file(monorepo, at: Path) -> None:
    plant(monorepo, monorepo.path / "layout")
    (at / ".git").write_text("gitdir: ../layout\n", encoding="utf-8")


def as_git_file_inside(monorepo, at: Path) -> None:
    plant(monorepo, at / "layout")
    (at / ".git").write_text("gitdir: layout\n", encoding="utf-8")


def as_git_folder(monorepo, at: Path) -> None:
    plant(monorepo, at / ".git")


def as_git_link(monorepo, at: Path) -> None:
    plant(monorepo, monorepo.path / "layout")
    (at / ".git").symlink_to("../layout")


def as_worktree(monorepo, at: Path) -> None:
    """One of another repository, whose common folder is planted."""
    plant(monorepo, monorepo.path / "layout")
    inner = monorepo.path / "layout" / "worktrees" / "agent"
    inner.mkdir(parents=True)
    shutil.copy(monorepo.path / "layout" / "HEAD", inner / "HEAD")
    (inner / "commondir").write_text("../..\n", encoding="utf-8")
    (inner / "gitdir").write_text(f"{at}/.git\n", encoding="utf-8")
    (at / ".git").write_text("gitdir: ../layout/worktrees/agent\n", encoding="utf-8")


@pytest.mark.parametrize("put", [as_git_file, as_git_file_inside, as_git_folder, as_git_link, as_worktree])
@pytest.mark.parametrize("words", [["run"], ["run", "--base", "origin/main"]], ids=["run", "run --base"])
def test_a_git_of_its_own_in_the_folder_we_work_in_is_refused(monorepo, put, words):
    """git checks no `.git` out, but an archive, a cache or an earlier step can bring one."""
    put(monorepo, monorepo.agent)
    assert stock(monorepo.agent, "rev-parse", "--git-dir").returncode == 0  # a plain git takes it
    done = monorepo.run(*words, "--target", "command:cat", cwd=monorepo.agent)
    done.must(2, "agent/.git makes a repository of files that belong to the one around it", "remove it")


@pytest.mark.parametrize("separate", [False, True], ids=["its own", "its git folder elsewhere"])
def test_a_repository_beside_others_is_one_of_its_own(monorepo, tmp_path_factory, separate):
    """The control: a checkout below another repository, whose files it does not take, is worked in."""
    own = tmp_path_factory.mktemp("home")
    stock(own, "init", "-q")
    (own / "dotfile").touch()
    commit(own, "home")
    shutil.copytree(monorepo.path, own / "work", symlinks=True)
    if separate:
        stock(own / "work", "init", "-q", f"--separate-git-dir={tmp_path_factory.mktemp('elsewhere') / 'git'}")
        assert (own / "work" / ".git").is_file()
    monorepo.run("run", "--base", "origin/main", cwd=own / "work" / "agent").must(1, REGRESSED)


def test_worktrees_of_a_bare_repository_beside_them_are_worked_in(monorepo, tmp_path_factory):
    """The control: `project/.bare` with a `.git` that leads there, and worktrees beside it."""
    project = tmp_path_factory.mktemp("project")
    stock(project, "clone", "-q", "--bare", str(monorepo.path), ".bare")
    (project / ".git").write_text("gitdir: ./.bare\n", encoding="utf-8")
    stock(project, "worktree", "add", "-q", "work", "change")
    monorepo.run("run", "--base", "main", cwd=project / "work" / "agent").must(1, REGRESSED)


def test_in_ci_a_submodule_is_no_base(monorepo, tmp_path_factory):
    """Which repository it is, a change says: its `origin/main` may be the change itself."""
    theirs = tmp_path_factory.mktemp("theirs") / "agent"
    shutil.copytree(monorepo.agent, theirs)
    stock(theirs, "init", "-q", "-b", "main")
    commit(theirs, "mine")
    shutil.rmtree(monorepo.agent)
    commit(monorepo.path, "gone")
    stock(monorepo.path, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(theirs), "agent")
    commit(monorepo.path, "a submodule")
    assert stock(monorepo.agent, "rev-parse", "origin/main").returncode == 0
    words = ["run", "--base", "origin/main"]
    monorepo.run(*words, cwd=monorepo.agent, CI="true").must(2, "agent is a submodule of")
    monorepo.run(*words, cwd=monorepo.agent, CI="").must(0)  # who works on it knows what it is


def test_hooks_and_replaced_objects_and_grafts_are_passed_over(monorepo, trap):
    hooks = monorepo.path / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    shutil.copy(trap.program, hooks / "post-checkout")
    stock(monorepo.path, "replace", "-f", "HEAD~1", "HEAD")
    (monorepo.path / ".git" / "info" / "grafts").write_text("", encoding="utf-8")
    stock(monorepo.path, "worktree", "add", "-q", "--detach", "../control-" + monorepo.path.name, "HEAD~1")
    assert trap.springs(), "a plain git must run the hook"
    assert "Say no" in stock(monorepo.path, "show", "main:agent/prompt.md").stdout  # and take the other object
    monorepo.run("run", "--base", "origin/main", cwd=monorepo.agent).must(1, REGRESSED)
    assert not trap.springs()


@pytest.mark.parametrize("attributes", ["* filter=trap\n", "* diff=trap\n", "* filter=trap diff=trap\n"])
def test_attributes_of_the_change_call_no_program_that_is_configured(monorepo, trap, attributes):
    for key in ("filter.trap.clean", "diff.trap.textconv", "diff.trap.command"):
        stock(monorepo.path, "config", key, str(trap.program))
    (monorepo.agent / ".gitattributes").write_text(attributes, encoding="utf-8")
    (monorepo.agent / "prompt.md").write_text("Say no!", encoding="utf-8")
    stock(monorepo.path, "diff", "HEAD")
    assert trap.springs(), "a plain git must run it"
    for words in (["--target", "command:cat"], ["--base", "main"], ["--base", "main", "--changed-only"]):
        monorepo.run("run", *words, cwd=monorepo.agent)
        assert not trap.springs()


def test_a_program_that_git_does_run_sees_no_secret(monorepo, trap):
    """The user's own filter is needed to check the base out (Git LFS, say)."""
    stock(monorepo.path, "checkout", "-q", "main")
    (monorepo.agent / ".gitattributes").write_text("prompt.md filter=own\n", encoding="utf-8")
    commit(monorepo.path, "attributes")
    stock(monorepo.path, "update-ref", "refs/remotes/origin/main", "HEAD")
    stock(monorepo.path, "checkout", "-q", "change")
    stock(monorepo.path, "rebase", "-q", "main")
    stock(monorepo.path, "config", "filter.own.smudge", str(trap.program))
    monorepo.run("run", "--base", "origin/main", cwd=monorepo.agent).must(1, REGRESSED)
    environment = trap.seen.read_text(encoding="utf-8")
    assert "GIT_DIR" in environment
    assert not [value for value in (*SECRETS.values(), "sk-test") if value in environment]


SEARCHED = [".:{path}", "bin:{path}", ":{path}", "{here}/bin:{path}", "{here}/agent/../bin:{path}"]


@pytest.mark.parametrize("path", SEARCHED)
def test_a_git_among_the_files_of_the_change_is_not_run(monorepo, trap, path):
    for folder in (monorepo.agent, monorepo.agent / "bin", monorepo.path, monorepo.path / "bin"):
        folder.mkdir(exist_ok=True)
        shutil.copy(trap.program, folder / "git")
    search = path.format(path=os.environ["PATH"], here=monorepo.path)
    subprocess.run(["/bin/sh", "-c", "git < /dev/null"], cwd=monorepo.agent, env={"PATH": search}, check=False)
    assert trap.springs(), "a shell must find it"
    monorepo.run("run", "--base", "origin/main", cwd=monorepo.agent, PATH=search).must(1, REGRESSED)
    assert not trap.springs()


@pytest.mark.parametrize("ref", ["origin/main", "origin/main~0", "main"])
def test_a_tag_named_like_the_base_is_not_taken_for_it(monorepo, ref):
    stock(monorepo.path, "update-ref", "refs/tags/main" if ref == "main" else "refs/tags/origin/main", "HEAD")
    assert "Say no" in stock(monorepo.path, "show", f"{ref}:agent/prompt.md").stdout  # git takes the tag
    monorepo.run("run", "--base", ref, cwd=monorepo.agent).must(2, "name one of them in full", "refs/tags/")
    full = "refs/heads/main" if ref == "main" else "refs/remotes/origin/main"
    monorepo.run("run", "--base", full, cwd=monorepo.agent).must(1, REGRESSED)


def test_nor_is_one_named_like_the_beginning_of_its_sha(monorepo):
    short = stock(monorepo.path, "rev-parse", "main").stdout[:10]
    stock(monorepo.path, "update-ref", f"refs/tags/{short}", "HEAD")
    monorepo.run("run", "--base", short, cwd=monorepo.agent).must(2, "name one of them in full")


def test_variables_of_another_repository_lead_nowhere(monorepo, tmp_path_factory):
    """In a hook, git sets them: of the repository that is committed to."""
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    stock(elsewhere, "init", "-q")
    variables = {"GIT_DIR": str(elsewhere / ".git"), "GIT_WORK_TREE": str(elsewhere), "GIT_INDEX_FILE": "/none"}
    monorepo.run("run", "--base", "origin/main", cwd=monorepo.agent, **variables).must(1, REGRESSED)


@pytest.mark.needs("root")
def test_a_repository_of_another_user_is_not_trusted(monorepo, tmp_path_factory):
    """As git has it; who does trust it says so, as to git."""
    for path in (monorepo.path / ".git", *(monorepo.path / ".git").rglob("*"), monorepo.path):
        os.chown(path, 65534, 65534, follow_symlinks=False)
    assert "dubious ownership" in stock(monorepo.path, "status").stderr
    words = ["run", "--base", "origin/main"]
    monorepo.run(*words, cwd=monorepo.agent).must(2, "dubious ownership")
    home = tmp_path_factory.mktemp("home")
    (home / ".gitconfig").write_text(f"[safe]\n\tdirectory = {monorepo.path}\n", encoding="utf-8")
    monorepo.run(*words, cwd=monorepo.agent, HOME=str(home)).must(1, REGRESSED)


@pytest.mark.parametrize("above", [".evals", ".evals/runs", ".evals/runs/2020-01-01_00-00-00-abcd"])
def test_a_run_that_somebody_committed_is_not_resumed(monorepo, above):
    """Not even where it hides behind a repository that is laid out beside it."""
    run = monorepo.agent / ".evals" / "runs" / "2020-01-01_00-00-00-abcd"
    run.mkdir(parents=True)
    told = {
        "version": __version__,
        "told": {"output": ["../PWNED.md"], "fail_on": "none"},
        "paths": [],
        "code": {},
    }
    (run / "told.json").write_text(json.dumps({**told, "addresses": []}), encoding="utf-8")
    stock(monorepo.path, "add", "-f", "agent/.evals")
    commit(monorepo.path, "a run")
    plant(monorepo, monorepo.agent / above)
    assert stock(run, "ls-files", "--", ".").stdout == "" or above != ".evals/runs/2020-01-01_00-00-00-abcd"
    monorepo.run("run", "--resume", cwd=monorepo.agent).must(2, "there is no unfinished run")
    assert not (monorepo.path / "PWNED.md").exists()


@pytest.mark.parametrize("how", ["somewhere else", "open to others", "of another name"])
def test_a_worktree_that_we_did_not_make_is_not_removed(monorepo, tmp_path_factory, monkeypatch, how):
    """Whoever writes into `.git` can note any folder as a worktree."""
    temporary, elsewhere = tmp_path_factory.mktemp("tmp"), tmp_path_factory.mktemp("elsewhere")
    folder = (elsewhere if how == "somewhere else" else temporary) / "runevals-base-x"
    if how == "of another name":
        folder = temporary / "work"
    folder.mkdir(mode=0o755 if how == "open to others" else 0o700)
    (folder / "thesis.txt").write_text("mine", encoding="utf-8")
    (folder / "lock").touch()
    stock(monorepo.path, "worktree", "add", "-q", "--detach", str(folder / "base"), "HEAD")
    with monkeypatch.context() as patch:
        patch.setattr("tempfile.tempdir", str(temporary))
        monorepo.run("run", "--base", "origin/main", cwd=monorepo.agent).must(1, REGRESSED)
    assert (folder / "thesis.txt").read_text(encoding="utf-8") == "mine"
    assert (folder / "base" / "agent").is_dir()


def test_attributes_hide_no_change_from_changed_only(monorepo):
    """Nothing of the base's is touched, and yet the prompt that is read is another one."""
    stock(monorepo.path, "checkout", "-q", "-B", "quiet", "main")
    words = ["run", "--base", "main", "--changed-only"]
    monorepo.run(*words, cwd=monorepo.agent).must(0, "nothing was run")
    monorepo.write(".gitattributes", "agent/prompt.md working-tree-encoding=UTF-16LE\n")
    stock(monorepo.path, "add", ".gitattributes")
    stock(monorepo.path, "commit", "-q", "-m", "attributes")
    (monorepo.agent / "prompt.md").unlink()
    stock(monorepo.path, "checkout", "-q", "--", "agent/prompt.md")
    assert b"\0" in (monorepo.agent / "prompt.md").read_bytes()
    assert stock(monorepo.path, "diff", "--name-only", "main", "--", "agent").stdout == ""  # git sees none
    done = monorepo.run(*words, cwd=monorepo.agent)
    assert "nothing was run" not in done.text


@pytest.mark.parametrize("event", ["issue_comment", "repository_dispatch", "check_suite", "pull_request_review"])
def test_a_strangers_head_is_not_judged_by_its_own_rules(monorepo, tmp_path_factory, event):
    """A comment runs the default branch's workflow with its secrets; a step then checks out the change."""
    main = stock(monorepo.path, "rev-parse", "main").stdout.strip()
    monorepo.write("agent/runevals.yaml", SETTINGS.format(more="gates: []\nmin_pass_rate: 0\nfail_on: [none]\n"))
    commit(monorepo.path, "own rules")
    stock(monorepo.path, "checkout", "-q", "-B", "main-with-a-gate", "main")
    monorepo.write("agent/runevals.yaml", SETTINGS.format(more="min_pass_rate: 0.9\n"))
    trusted = commit(monorepo.path, "a gate")
    stock(monorepo.path, "checkout", "-q", "change")
    payload = tmp_path_factory.mktemp("event") / "event.json"
    payload.write_text("{}", encoding="utf-8")
    job = {"CI": "true", "GITHUB_ACTIONS": "true", "GITHUB_EVENT_PATH": str(payload), "GITHUB_EVENT_NAME": event}
    done = monorepo.run("action", cwd=monorepo.agent, GITHUB_SHA=trusted, **job)
    done.must(1, "min_pass_rate")
    assert git(monorepo.path, "rev-parse", "HEAD") not in (main, trusted)
