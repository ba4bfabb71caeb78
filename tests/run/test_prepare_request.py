"""What a run knows before it measures."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from runevals.records.errors import InvalidSettings
from runevals.run.baseline.choose import settled_base
from runevals.run.baseline.stored_base import StoredBase
from runevals.run.load import suites_of
from runevals.run.prepare_request import prepared, require_comparable
from runevals.run.request import RunRequest
from runevals.settings.resolve import RawSettings, resolve
from runevals.verdict.outcome import Baseline
from tests.sample_reports import report
from tests.sample_suites import SUITE, TEN


def request_of(project, base=None, **flags):
    raw = RawSettings(cwd=project.path, environment={}, flags=flags)
    settings = resolve(raw)
    return RunRequest(settings=settings, suites=suites_of(settings), raw=raw, base=base)


def test_a_shard_is_not_compared(project):
    project.write("evals.json", SUITE)
    with pytest.raises(InvalidSettings, match="a shard is compared with nothing, but --base was given"):
        require_comparable(request_of(project, shard="1/2").settings, "main")
    with pytest.raises(InvalidSettings, match=r"^there is no file .*b\.json"):
        prepared(request_of(project, shard="1/2", baseline="b.json", target="command:agent"))
    with pytest.raises(InvalidSettings, match="a merge is of all shards"):
        require_comparable(request_of(project, shard="1/2").settings, merges=True)


def test_the_quarantine_list_and_a_missing_mark_are_in_the_request(project):
    project.write("evals.json", TEN)
    expires = datetime.now(UTC).date() + timedelta(days=2)
    entry = f"- {{key: k1, suite: evals.json, owner: me, reason: flaky, expires: {expires}}}\n"
    project.write("runevals.quarantine.yaml", entry)
    request = prepared(request_of(project, mark="best", target="command:agent"))
    assert request.suites.quarantined == {("evals.json", "k1")}
    assert request.notices == ("quarantined: k1 (me: flaky)", "no mark: no result is stored of these cases")
    assert (request.mark, request.weakenings) == (None, ())


SAYS = "the model is not sent skills/notes/SKILL.md: its cases tell a worse one once `target.system_prompt_file`"


@pytest.mark.parametrize(
    ("target", "notices"),
    [
        ("{type: openai, model: m}", 1),
        ("{type: openai, model: m, system_prompt_file: system.md}", 1),
        ("{type: openai, model: m, system_prompt_file: skills/notes/SKILL.md}", 0),
        ("{type: anthropic, model: m, prompt_file: skills/notes/SKILL.md}", 0),
        ("{type: command, command: [agent]}", 0),  # it may read what it likes
    ],
)
def test_a_skill_that_a_model_is_not_sent_is_named(project, target, notices):
    """Its cases would pass whatever a change makes of it."""
    project.write("skills/notes/SKILL.md", "---\nname: notes\ndescription: Writes notes.\n---\nOf {{prompt}}.\n")
    cases = {"skill_name": "notes", "evals": [{"id": "a", "prompt": "hi", "expectations": ["contains 'x'"]}]}
    project.write("skills/notes/evals/evals.json", cases)
    project.write("system.md", "Be brief.")
    project.write("runevals.yaml", f"target: {target}\n")
    said = [notice for notice in prepared(request_of(project)).notices if notice.startswith(SAYS)]
    assert len(said) == notices


def test_edits_that_a_workspace_of_a_commit_does_not_have_are_named(repository):
    """The agent reads the commit's files: without a word, an edit of CLAUDE.md would look measured."""
    suite = {**SUITE, "extensions": {"runevals": {"workspace": {"git": "HEAD"}}}}
    repository.write("evals.json", suite)
    repository.write("CLAUDE.md", "Be kind.")
    repository.git("add", "-A")
    repository.git("commit", "-qm", "instructions")
    repository.write("evals.json", {**suite, "name": "edited"})  # read with its edit
    repository.write("new.txt", "git does not track it")
    assert prepared(request_of(repository, target="command:agent")).notices == ()
    repository.write("CLAUDE.md", "Never answer.")
    commit = repository.git("rev-parse", "--short=7", "HEAD")
    notice = f"workspaces are of the commit {commit}, without uncommitted edits: CLAUDE.md"
    assert prepared(request_of(repository, target="command:agent")).notices == (notice,)
    repository.git("add", "-A")
    assert prepared(request_of(repository, target="command:agent")).notices == (
        notice.replace("CLAUDE.md", "CLAUDE.md, new.txt"),
    )
    repository.write("evals.json", SUITE)
    assert prepared(request_of(repository, target="command:agent")).notices == ()


@pytest.mark.parametrize("workspace", [True, False])
def test_a_base_that_is_checked_out_is_not_compared_with_edits_of_its_workspaces(repository, workspace):
    if workspace:
        repository.write("evals.json", {**SUITE, "extensions": {"runevals": {"workspace": {"git": "HEAD"}}}})
        repository.git("add", "-A")
        repository.git("commit", "-qm", "workspace")
    request = request_of(repository, base="HEAD", target="command:agent")
    known = StoredBase(commit=repository.git("rev-parse", "HEAD").strip())
    notice, _ = settled_base(known, request, lambda _: Baseline(report=report({"a": "p"}), source="fresh")).notices
    assert notice.endswith("workspaces of that commit have none of them") is workspace
    assert "only changes that are not committed are compared" in notice
