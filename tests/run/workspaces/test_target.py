"""A target whose attempts work in folders of their own."""

from __future__ import annotations

import os
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from runevals.records import Conversation, Problem, Response, Workspace
from runevals.records.errors import TargetRefused
from runevals.reports.results_document import read
from runevals.run.workspaces.folders import Workspaces
from runevals.run.workspaces.target import WorkspaceTarget
from runevals.targets.python import PythonSettings, PythonTarget
from tests.run.workspaces.working import Worker, turn


@pytest.fixture
def workspaces():
    made = Workspaces({"PATH": os.environ["PATH"]}, at_once=2)
    yield made
    made.close()


def test_a_case_without_a_workspace_is_asked_as_it_is(workspaces, tmp_path):
    worker = Worker(lambda _: "Here.")
    asked = Conversation(suite="s", case="c", attempt=1, turn=1, prompt="?", cwd=tmp_path)
    answer = WorkspaceTarget(worker, workspaces).answer(asked)
    assert (worker.folders, answer.workspace) == ([tmp_path], None)


def test_a_workspace_that_cannot_be_made_is_errored(workspaces):
    answer = WorkspaceTarget(Worker(lambda _: "Done."), workspaces).answer(turn(Workspace(setup=(("false",),))))
    assert (answer.problem.code, "exit code 1" in answer.problem.message) == ("workspace_failed", True)


class Failing(Worker):
    def answer(self, conversation: Conversation) -> Response:
        super().answer(conversation)
        return Response(problem=Problem(code="target_failed", message="no"))


class Refusing(Worker):
    def answer(self, conversation: Conversation) -> Response:
        super().answer(conversation)
        raise TargetRefused("no")


def test_after_a_failed_turn_the_folder_is_gone(workspaces):
    worker = Failing(lambda work: (work / "x").touch() or "")
    answer = WorkspaceTarget(worker, workspaces).answer(turn(Workspace(), turns=2))
    assert [change.path for change in answer.workspace.changes] == ["x"]
    assert not worker.folders[0].exists()


def test_after_a_refusal_the_folder_is_gone(workspaces):
    worker = Refusing(lambda _: "")
    with pytest.raises(TargetRefused):
        WorkspaceTarget(worker, workspaces).answer(turn(Workspace(), turns=2))
    assert not worker.folders[0].exists()


def test_no_more_folders_than_attempts_at_once(workspaces):
    seen: list[int] = []

    def work(folder: Path) -> str:
        seen.append(len([path for path in folder.parent.parent.iterdir() if path.name.isdecimal()]))
        return "Done."

    target = WorkspaceTarget(Worker(work), workspaces)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: target.answer(turn(Workspace(), thread=f"t{n}")), range(24)))
    assert max(seen) <= 2


def test_one_worker_of_a_python_target_serves_attempts_one_after_the_other(workspaces, tmp_path):
    code = "import os\ndef answer(prompt):\n open('made', 'w').close()\n return str(os.getpid())"
    (tmp_path / "agent.py").write_text(code, encoding="utf-8")
    function = PythonTarget(PythonSettings(type="python", base=tmp_path, function="agent.py:answer"), {})
    target = WorkspaceTarget(function, workspaces)
    try:
        answers = [target.answer(turn(Workspace(), thread=f"t{n}")) for n in range(4)]
    finally:
        function.close()
    assert [answer.problem for answer in answers] == [None] * 4
    assert len({answer.text for answer in answers}) == 1
    assert [[change.path for change in answer.workspace.changes] for answer in answers] == [["made"]] * 4


def _unreadable(work: Path) -> None:
    (work / "locked").mkdir()
    (work / "locked").chmod(0)


BREAKS = {
    "folder removed": shutil.rmtree,
    "a file in its place": lambda work: (work.rmdir(), work.touch()),
    "a link in its place": lambda work: (work.rmdir(), work.symlink_to("/")),
    "unreadable folder": _unreadable,
}


@pytest.mark.parametrize(
    "breaks",
    [
        pytest.param(name, marks=pytest.mark.needs("an ordinary user") if name.startswith("unreadable") else ())
        for name in BREAKS
    ],
)
def test_a_workspace_that_the_attempt_broke_is_its_failure(workspaces, breaks):
    worker = Worker(lambda work: (BREAKS[breaks](work) and "") or "Done.")
    problem = WorkspaceTarget(worker, workspaces).answer(turn(Workspace(), turns=2)).problem
    assert (problem.code, "cannot be read" in problem.message) == ("workspace_broken", True)
    assert "runevals-work" not in problem.message
    assert not os.path.lexists(worker.folders[0])


SUITE = {
    "schemaVersion": "1.2.0",
    "default_evaluators": {},
    "extensions": {"runevals": {"workspace": {"files": {"note": "n"}}}},
    "items": [
        {
            "testId": "broken",
            "prompt": "?",
            "evaluators": {"file_exists": {"path": "note"}, "contains": {"value": "Done"}},
        },
    ],
}


def test_an_attempt_that_breaks_its_workspace_has_failed(project, runevals):
    """All of its checks fail, and none is an error."""
    project.write("evals.json", SUITE)
    project.write("agent.py", "import os, shutil\nshutil.rmtree(os.getcwd())\nprint('Done.')\n")
    target = ["--target", f"command:{sys.executable} {project.path / 'agent.py'}"]
    code, out, err = runevals("run", "-q", "-o", "out.json", "--min-pass-rate", "1", *target)
    assert code == 1, out + err
    case = project.document()["cases"][0]
    [told] = case["attempts"][0]["turns"]
    assert (case["status"], told["error"]["code"]) == ("failed", "workspace_broken")
    assert {result["outcome"] for result in told["results"]} == {"failed"}
    assert read(project.path / "out.json").errors == {}
    assert "it left a workspace that cannot be read: No such file or directory" in out
