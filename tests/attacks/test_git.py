"""Our git takes nothing from what is checked out: no repository, no program, no attribute, no other base."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from runevals import __version__
from tests.attacks.conftest import REGRESSED, SECRETS, SUITE, commit, stock

SETTINGS = "suites: [evals.json]\ntarget: {{type: openai, model: tiny, system_prompt_file: prompt.md}}\n{more}"


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


def test_so_are_those_in_a_home_that_is_a_repository_itself(monorepo, tmp_path_factory):
    """The control: many keep their settings files in git, with everything else beside them."""
    home = tmp_path_factory.mktemp("home")
    stock(home, "init", "-q")
    (home / "dotfile").touch()
    commit(home, "home")
    stock(home, "clone", "-q", "--bare", str(monorepo.path), "src/project.git")
    stock(home / "src" / "project.git", "worktree", "add", "-q", "../work", "change")
    monorepo.run("run", "--base", "main", cwd=home / "src" / "work" / "agent").must(1, REGRESSED)


@pytest.mark.parametrize("variable", ["HOME", "XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL"])
def test_configuration_among_the_files_of_the_change_is_none(monorepo, trap, variable):
    stock(monorepo.path, "checkout", "-q", "main")
    monorepo.write(".gitattributes", "prompt.md filter=own\n")
    commit(monorepo.path, "attributes")
    stock(monorepo.path, "update-ref", "refs/remotes/origin/main", "HEAD")
    stock(monorepo.path, "checkout", "-q", "change")
    stock(monorepo.path, "rebase", "-q", "main")
    for name in (".gitconfig", "git/config"):
        monorepo.write(name, f'[filter "own"]\n\tsmudge = {trap.program}\n')
    value = str(monorepo.path / ".gitconfig" if variable == "GIT_CONFIG_GLOBAL" else monorepo.path)
    words = ["git", "worktree", "add", "-q", "--detach", "../control-" + monorepo.path.name, "main"]
    subprocess.run(words, cwd=monorepo.path, env={"PATH": os.environ["PATH"], variable: value}, check=False)
    assert trap.springs(), "a plain git must run it"
    monorepo.run("run", "--base", "origin/main", cwd=monorepo.agent, **{variable: value}).must(1, REGRESSED)
    assert not trap.springs()


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
    monorepo.run("run", "--base", ref, cwd=monorepo.agent).must(2, "write one of them in full", "refs/tags/")
    full = "refs/heads/main" if ref == "main" else "refs/remotes/origin/main"
    monorepo.run("run", "--base", full, cwd=monorepo.agent).must(1, REGRESSED)


def test_nor_is_one_named_like_the_beginning_of_its_sha(monorepo):
    short = stock(monorepo.path, "rev-parse", "main").stdout[:10]
    stock(monorepo.path, "update-ref", f"refs/tags/{short}", "HEAD")
    monorepo.run("run", "--base", short, cwd=monorepo.agent).must(2, "write one of them in full")


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


def committed_run(monorepo, name: bytes) -> Path:
    """A journal in the repository, as `--resume` would look for it."""
    folder = monorepo.agent / ".evals" / "runs" / os.fsdecode(name)
    folder.mkdir(parents=True)
    told = {"output": ["../PWNED.md"], "fail_on": "none"}
    content = {"version": __version__, "options": told, "paths": [], "code": {}, "addresses": []}
    (folder / "options.json").write_text(json.dumps(content), encoding="utf-8")
    stock(monorepo.path, "add", "-f", "agent/.evals")
    commit(monorepo.path, "a run")
    return folder


@pytest.mark.parametrize("above", [".evals", ".evals/runs", ".evals/runs/2020-01-01_00-00-00-abcd"])
def test_a_run_that_somebody_committed_is_not_resumed(monorepo, above):
    """Not even where it hides behind a repository that is laid out beside it."""
    committed_run(monorepo, b"2020-01-01_00-00-00-abcd")
    plant(monorepo, monorepo.agent / above)
    monorepo.run("run", "--resume", cwd=monorepo.agent).must(2, "there is no unfinished run")
    assert not (monorepo.path / "PWNED.md").exists()


@pytest.mark.parametrize("name", [b"\xff", b" 2020", b"2020 ", b"a\nb"])
def test_its_name_does_not_hide_that_it_was_committed(monorepo, name):
    committed_run(monorepo, name)
    monorepo.run("run", "--resume", cwd=monorepo.agent).must(2, "there is no unfinished run")


@pytest.mark.parametrize("folder", [b"ag\xe9nt", b" agent"])
def test_nor_does_that_of_the_folder_we_work_in(monorepo, folder):
    committed_run(monorepo, b"2020")
    work = monorepo.path / os.fsdecode(folder)
    monorepo.agent.rename(work)
    commit(monorepo.path, "renamed")
    monorepo.run("run", "--resume", cwd=work).must(2, "there is no unfinished run")


def test_without_git_nobody_knows_whether_a_run_was_committed(monorepo):
    committed_run(monorepo, b"2020")
    monorepo.run("run", "--resume", cwd=monorepo.agent, PATH="/nowhere").must(2, "git cannot tell")


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


EVENTS = ["issue_comment", "repository_dispatch", "check_suite", "pull_request_review"]


@pytest.fixture
def lenient(monorepo, tmp_path_factory):
    """main has a gate, the change has none; `monorepo.step(event)` is the action with the change checked out."""
    stock(monorepo.path, "checkout", "-q", "main")
    monorepo.write("agent/runevals.yaml", SETTINGS.format(more="min_pass_rate: 0.9\n"))
    main = commit(monorepo.path, "a gate")
    stock(monorepo.path, "checkout", "-q", "-B", "change")
    monorepo.write("agent/runevals.yaml", SETTINGS.format(more="fail_on: [none]\n"))
    monorepo.write("agent/prompt.md", "Say no.")
    head = commit(monorepo.path, "own rules")
    payload = tmp_path_factory.mktemp("event") / "event.json"
    own = {"id": 1}
    change = {"number": 7, "base": {"sha": main, "ref": "main", "repo": own}, "head": {"sha": head, "repo": own}}
    payload.write_text(json.dumps({"pull_request": change}), encoding="utf-8")

    def step(event, *, sha=None, cwd=None, **more):
        trusted = head if event.startswith("pull_request") else main
        job = {"CI": "true", "GITHUB_ACTIONS": "true", "GITHUB_EVENT_PATH": str(payload), **more}
        names = {"GITHUB_EVENT_NAME": event, "GITHUB_SHA": trusted if sha is None else sha}
        return monorepo.run("action", cwd=cwd or monorepo.agent, **job, **names)

    monorepo.step, monorepo.main, monorepo.head = step, main, head
    return monorepo


def test_the_change_passes_by_its_own_rules(lenient):
    """The control of those below: a push is judged by what it brings."""
    lenient.step("push").must(0)


@pytest.mark.parametrize("event", EVENTS[:3])
def test_a_strangers_head_is_refused_where_there_are_secrets(lenient, event):
    """A comment runs the default branch's workflow with its secrets; a step then checks out the change."""
    lenient.step(event).must(2, "allow_untrusted: true")


@pytest.mark.parametrize("event", [*EVENTS, "pull_request", "pull_request_review_comment"])
def test_a_strangers_head_is_not_judged_by_its_own_rules(lenient, event):
    lenient.step(event, INPUT_ALLOW_UNTRUSTED="true").must(1, "min_pass_rate")


@pytest.mark.parametrize("event", EVENTS[:3])
def test_where_no_commit_is_trusted_nothing_is_run(lenient, event):
    lenient.step(event, sha="", INPUT_ALLOW_UNTRUSTED="true").must(3, "does not say on which base")


@pytest.mark.needs("root")
@pytest.mark.parametrize("event", [*EVENTS, "workflow_run", "pull_request_target", "pull_request"])
def test_a_checkout_that_git_does_not_trust_is_not_run(lenient, event):
    """Nobody knows what is checked out there: it may be anybody's code, with the job's secrets."""
    for path in (lenient.path / ".git", lenient.path):
        os.chown(path, 65534, 65534)
    lenient.step(event, INPUT_MODE="run").must(2, "dubious ownership")


def test_a_commit_that_looks_like_the_merge_chooses_no_base(lenient):
    """Its first parent would be the base; it is the change's own."""
    stock(lenient.path, "checkout", "-q", "--detach", lenient.main)
    lenient.write("agent/runevals.yaml", SETTINGS.format(more="min_pass_rate: 0\n"))
    commit(lenient.path, "the stranger's base")
    stock(lenient.path, "merge", "-q", "-X", "ours", "-m", "merge", lenient.head)
    parents = stock(lenient.path, "rev-list", "--parents", "-1", "HEAD").stdout.split()[1:]
    assert parents[1:] == [lenient.head]
    lenient.step("pull_request", sha="1" * 40).must(1, "min_pass_rate")


def test_a_link_in_place_of_the_folder_hides_no_rules(lenient):
    stock(lenient.path, "mv", "agent", "agent2")
    (lenient.path / "agent").symlink_to("agent2")
    commit(lenient.path, "moved")
    lenient.step("pull_request", cwd=lenient.path / "agent").must(1, "min_pass_rate")


def test_links_of_the_base_are_followed_in_the_base(lenient):
    stock(lenient.path, "checkout", "-q", "main")
    stock(lenient.path, "mv", "agent", "packages")
    (lenient.path / "agent").symlink_to("packages")
    commit(lenient.path, "a link")
    stock(lenient.path, "checkout", "-q", "-B", "change")
    lenient.write("packages/runevals.yaml", SETTINGS.format(more="fail_on: [none]\n"))
    lenient.write("packages/prompt.md", "Say no.")
    commit(lenient.path, "own rules")
    words = ["run", "--base", "main", "--config", "agent/runevals.yaml", "packages/evals.json"]
    lenient.run(*words, cwd=lenient.path).must(1, "min_pass_rate")


def test_a_base_that_git_cannot_read_is_none_without_rules(lenient, tmp_path_factory):
    """A clone without contents, whose origin does not answer."""
    clone = tmp_path_factory.mktemp("clone") / "repository"
    stock(lenient.path, "config", "uploadpack.allowFilter", "true")
    stock(clone.parent, "clone", "-q", "--filter=blob:none", f"file://{lenient.path}", str(clone))
    stock(clone, "remote", "set-url", "origin", "file:///gone")
    lenient.step("pull_request", cwd=clone / "agent").must(3, "git cannot read")


@pytest.mark.parametrize("how", ["behind a link", "in a submodule", "by another name"])
def test_a_change_brings_no_baseline(lenient, tmp_path_factory, how):
    results = lenient.agent / "results"
    lenient.run("run", "-o", "results/base.json", cwd=lenient.agent)
    named = "results/base.json"
    if how == "behind a link":
        results.rename(lenient.agent / "elsewhere")
        results.symlink_to("elsewhere")
    elif how == "in a submodule":
        theirs = tmp_path_factory.mktemp("theirs") / "results"
        shutil.move(results, theirs)
        stock(theirs, "init", "-q")
        commit(theirs, "results")
        stock(
            lenient.path,
            "-c",
            "protocol.file.allow=always",
            "submodule",
            "add",
            "-q",
            str(theirs),
            "agent/results",
        )
    else:
        named = f"/proc/self/cwd/{named}"
    commit(lenient.path, "a base of its own")
    assert (lenient.agent / "results" / "base.json").is_file()
    done = lenient.step("pull_request", INPUT_BASELINE=named)
    assert done.code in (2, 3), done.text
