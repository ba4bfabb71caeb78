"""What a suite says of a workspace, and what of it is in a fingerprint."""

from __future__ import annotations

import re

import pytest

from runevals.records import Case, Location, Suite, Turn, Workspace
from runevals.repository.fresh_copy import content_hash
from runevals.suites.workspace import (
    Places,
    Unusable,
    files_of,
    with_workspaces,
    workspace_fingerprint,
    workspace_of,
)


@pytest.fixture
def places(tmp_path):
    (tmp_path / "evals" / "app").mkdir(parents=True)
    (tmp_path / "evals" / "app" / "a.py").write_text("a", encoding="utf-8")
    (tmp_path / ".git").mkdir()
    (tmp_path / "evals" / "way").symlink_to("../.git")
    (tmp_path / "evals" / "data.csv").write_text("1,2", encoding="utf-8")
    return Places(base=tmp_path / "evals", root=tmp_path)


def test_all_of_it(places):
    found = workspace_of(
        {"from": "app", "files": {"n.md": "n"}, "setup": ["npm", "ci"], "keep": "on-failure"}, places
    )
    assert found == Workspace(
        folder=places.base / "app", files={"n.md": "n"}, setup=(("npm", "ci"),), keep="on-failure"
    )
    assert workspace_of({"setup": [["a"], ["b", "c"]]}, places).setup == (("a",), ("b", "c"))
    assert workspace_of({"git": "HEAD"}, places) == Workspace(repository=places.root, commit="HEAD")


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        ({"from": "gone"}, "gone is not a folder"),
        ({"from": "data.csv"}, "is not a folder"),
        ({"from": "../.."}, "lies outside the repository"),
        ({"from": "../.git"}, "belongs to git"),
        ({"from": "way"}, "belongs to git"),
        ({"from": "app", "git": "HEAD"}, "not of both"),
        ({"files": {"../a": "x"}}, "../a is not a path below the workspace"),
        ({"files": {".git/hooks/post-commit": "x"}}, "not a path below the workspace"),
        ({"setup": [1]}, "a program with its arguments"),
        ({"setup": [["a"], []]}, "a program with its arguments"),
    ],
)
def test_what_cannot_be_is_named(places, told, reason):
    with pytest.raises(Unusable, match=re.escape(reason)):
        workspace_of(told, places)


def test_the_files_of_a_case(places):
    assert files_of(["data.csv", "app"], places) == {
        "data.csv": places.base / "data.csv",
        "app": places.base / "app",
    }
    with pytest.raises(Unusable, match=r"there is no gone\.csv"):
        files_of(["gone.csv"], places)
    with pytest.raises(Unusable, match="way belongs to git"):
        files_of(["way"], places)


def test_a_fixture_that_was_edited_is_another_one(tmp_path):
    prints = []
    for number in range(3):
        folder = tmp_path / str(number) / "app"
        folder.mkdir(parents=True)
        (folder / "a.py").write_text("a" if number < 2 else "b", encoding="utf-8")
        prints.append(workspace_fingerprint(Workspace(folder=folder), {}, content_hash))
    assert prints[0] == prints[1] != prints[2]


def test_a_fixture_with_a_link_that_leads_out_is_unusable(places):
    (places.base / "app" / "out").symlink_to("/etc")
    with pytest.raises(Unusable, match="leads out"):
        workspace_fingerprint(Workspace(folder=places.base / "app"), {}, content_hash)


def test_cases_with_files_have_a_workspace_and_for_an_agent_all_have(places):
    where = Location(file="s.json")
    plain = Case(suite="s", key="a", name="a", turns=(Turn(prompt="?"),), location=where, cwd=places.base / "app")
    filed = Case(suite="s", key="b", name="b", turns=(Turn(prompt="?"),), location=where, files={"x": places.base})
    suite = Suite(name="s", path="s", dialect="d", cases=(plain, filed))
    [sometimes] = with_workspaces([suite], always=False)
    assert [case.workspace for case in sometimes.cases] == [None, Workspace()]
    [always] = with_workspaces([suite], always=True)
    assert [case.workspace for case in always.cases] == [Workspace(folder=places.base / "app"), Workspace()]


@pytest.mark.parametrize(
    ("target", "workspace", "code", "level"),
    [
        pytest.param("openai:m", None, 2, "", id="refused"),
        pytest.param(None, None, 0, "warning: ", id="no target yet"),
        pytest.param("codex", None, 0, None, id="an agent has one always"),
        pytest.param("openai:m", {"files": {"a": "b"}}, 0, None, id="it has one"),
    ],
)
def test_checks_on_a_workspace_that_is_not_there_are_refused(project, runevals, target, workspace, code, level):
    """At their place, once for all cases."""
    document = {
        "schemaVersion": "1.2.0",
        "default_evaluators": {"only_touches": {"paths": ["a"]}},
        **({} if workspace is None else {"extensions": {"runevals": {"workspace": workspace}}}),
        "items": [{"testId": "x", "prompt": "1"}, {"testId": "y", "prompt": "2"}],
    }
    project.write("evals.json", document)
    project.write("runevals.yaml", {} if target is None else {"target": target})
    ended, out, err = runevals("validate")
    assert ended == code, out + err
    told = [line for line in (out + err).splitlines() if "looks at a workspace" in line]
    assert len(told) == (level is not None)
    if level is not None:
        assert f"evals.json:4:3: /default_evaluators/only_touches {level}only_touches looks at a work" in told[0]
        assert "and case 'x' has none; write `workspace`" in told[0]
