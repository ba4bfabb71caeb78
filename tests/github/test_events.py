"""What each event asks for."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from runevals.github.events import (
    PULL_REQUEST_EVENTS,
    Event,
    Job,
    deciding_commit,
    is_change,
    is_guarded,
    job_of,
    may_identify,
)

BASE, HEAD, MERGE, TIP, OLD = (letter * 40 for letter in "abcde")
REPOSITORY = {"repository": {"id": 1, "default_branch": "main"}}
GROUP = {"merge_group": {"base_sha": BASE, "base_ref": "refs/heads/main", "head_sha": HEAD}}


def pull_request(repository=1):
    head = {"sha": HEAD, "ref": "main", "repo": None if repository is None else {"id": repository}}
    return {
        "pull_request": {"number": 7, "head": head, "base": {"sha": BASE, "ref": "main", "repo": {"id": 1}}},
        **REPOSITORY,
    }


def event(name, payload, *, head=MERGE, parents=(TIP, HEAD), actor="ana", sha=MERGE):
    return Event(name=name, payload=payload, actor=actor, sha=sha, head=head, parents=parents)


def by_hand(ref="refs/heads/topic", **more):
    return replace(event("workflow_dispatch", {"ref": ref, **REPOSITORY}), **more)


MERGED = Job(base=TIP, branch="main", head=HEAD, pull_request=7)


@pytest.mark.parametrize(
    ("given", "job"),
    [
        pytest.param(event("pull_request", pull_request()), MERGED, id="the merge commit's first parent"),
        pytest.param(
            event("pull_request", pull_request(), head=HEAD, parents=(OLD,)),
            Job(base=BASE, forked=True, branch="main", head=HEAD, pull_request=7),
            id="the head itself is checked out",
        ),
        pytest.param(
            event("pull_request", pull_request(), head=HEAD, parents=(OLD, TIP)),
            Job(base=BASE, forked=True, branch="main", head=HEAD, pull_request=7),
            id="a head that is a merge of its own",
        ),
        pytest.param(
            event("pull_request", pull_request(2)),
            Job(base=TIP, branch="main", head=HEAD, pull_request=7, has_secrets=False),
            id="a fork whose branch is called main",
        ),
        pytest.param(
            event("pull_request", pull_request(None)),
            Job(base=TIP, branch="main", head=HEAD, pull_request=7, has_secrets=False),
            id="a fork that is gone",
        ),
        pytest.param(
            event("pull_request", pull_request(), actor="dependabot[bot]"),
            Job(base=TIP, branch="main", head=HEAD, pull_request=7, has_secrets=False),
            id="dependabot",
        ),
        pytest.param(
            event("pull_request_target", pull_request(2), head=TIP, parents=(OLD,), sha=TIP),
            Job(base=BASE, forked=True, branch="main", head=HEAD, pull_request=7),
            id="the base's code of pull_request_target",
        ),
        pytest.param(event("merge_group", GROUP), Job(base=BASE, branch="main", head=HEAD), id="merge queue"),
        pytest.param(
            event("push", {"before": BASE, "ref": "refs/heads/main", **REPOSITORY}),
            Job(base=BASE, branch="main"),
            id="push",
        ),
        pytest.param(
            event("push", {"before": "0" * 40, "ref": "refs/heads/new", **REPOSITORY}),
            Job(branch="main"),
            id="push of a new branch",
        ),
        pytest.param(event("schedule", REPOSITORY), Job(branch="main"), id="schedule"),
        pytest.param(
            event("workflow_dispatch", {"ref": "refs/heads/main", **REPOSITORY}), Job(branch="main"), id="by hand"
        ),
        pytest.param(
            by_hand(left_default=OLD),
            Job(base=OLD, branch="main", head=MERGE),
            id="by hand, of another branch",
        ),
        pytest.param(by_hand(left_default=MERGE), Job(branch="main"), id="by hand, of what is merged"),
        pytest.param(
            event("pull_request", {"action": "labeled", **pull_request()}), MERGED, id="pull_request: labeled"
        ),
        pytest.param(event("pull_request_review", pull_request()), MERGED, id="a review"),
        pytest.param(event("pull_request_review_comment", pull_request()), MERGED, id="a comment of a review"),
        pytest.param(
            event("workflow_run", {"workflow_run": {"id": 31}}), Job(task="comment", run=31), id="workflow_run"
        ),
        pytest.param(event("release", REPOSITORY), Job(), id="anything else"),
        pytest.param(event("", {}), Job(), id="a laptop"),
    ],
)
def test_job(given, job):
    assert job_of(given) == job


@pytest.mark.parametrize(
    "name", ["pull_request", "pull_request_target", "merge_group", "push", "schedule", "workflow_run"]
)
@pytest.mark.parametrize("payload", [{}, {"pull_request": 1}, {"workflow_run": []}, {"merge_group": {}}])
def test_a_payload_that_says_nothing_is_a_run_without_a_base(name, payload):
    job = job_of(event(name, payload, head=MERGE))
    assert (job.task, job.base, job.pull_request) == ("run", None, None)
    assert "does not say" in job.why


@pytest.mark.parametrize("parents", [(TIP, HEAD), (OLD,)])
def test_a_strangers_code_is_refused_where_there_are_secrets(parents):
    given = event("pull_request_target", pull_request(2), head=HEAD, parents=parents, sha=TIP)
    assert job_of(given).task == "refused"
    assert "allow_untrusted: true" in job_of(given).why
    assert job_of(given, allow_untrusted=True).task == "run"
    run = event("workflow_run", {"workflow_run": {"id": 31}}, head=HEAD, sha=TIP)
    assert job_of(run, "run").task == "refused"
    assert job_of(run).task == "comment"  # which runs nothing


FROM_ELSEWHERE = ["issue_comment", "repository_dispatch", "check_suite", "check_run", "issues", "release"]


@pytest.mark.parametrize("name", FROM_ELSEWHERE)
def test_an_event_that_is_not_listed_runs_the_commit_of_its_own_workflow_only(name):
    payload = {**REPOSITORY, "issue": {"pull_request": {}}}
    assert job_of(event(name, payload, head=TIP, sha=TIP)) == Job()
    unknown = event(name, payload, head=None)  # checked out elsewhere, or without git: it may be anybody's
    assert (job_of(unknown).task, job_of(unknown, allow_untrusted=True).task) == ("refused", "run")
    given = event(name, payload, head=HEAD, sha=TIP)
    assert job_of(given).task == "refused"
    assert job_of(given).why.startswith(f"{name} runs with secrets, and what is checked out is not the base's own")
    assert job_of(given, allow_untrusted=True).task == "run"
    assert (is_guarded(given), deciding_commit(given)) == (True, TIP)


@pytest.mark.parametrize("name", ["push", "schedule", "pull_request", "pull_request_review", "merge_group"])
def test_a_listed_event_may_check_out_another_commit_on_purpose(name):
    payload = {"before": BASE, "ref": "refs/heads/main", **GROUP, **pull_request()}
    assert job_of(event(name, payload, head=HEAD, sha=TIP)).task == "run"


@pytest.mark.parametrize("name", sorted(PULL_REQUEST_EVENTS - {"pull_request_target"}))
def test_a_proposed_change_is_guarded_by_its_base(name):
    given = event(name, {**pull_request(), **GROUP})
    assert (is_change(given), is_guarded(given)) == (True, True)
    assert deciding_commit(given) == (BASE if name == "merge_group" else TIP)


@pytest.mark.parametrize(
    ("given", "guarded"),
    [
        pytest.param(by_hand("refs/heads/main"), False, id="the default branch"),
        pytest.param(by_hand("refs/heads/main", head=HEAD), True, id="another commit checked out"),
        pytest.param(by_hand(), True, id="another branch"),
        pytest.param(by_hand("refs/tags/main"), True, id="a tag of that name"),
        pytest.param(by_hand(left_default=MERGE), False, id="a commit that the default branch has"),
        pytest.param(by_hand(head=None), False, id="nothing checked out"),
        pytest.param(event("workflow_dispatch", {}), True, id="a payload that says nothing"),
        pytest.param(event("push", {"ref": "refs/heads/topic", **REPOSITORY}), False, id="a push"),
    ],
)
def test_a_run_by_hand_is_guarded_unless_the_default_branch_has_its_commit(given, guarded):
    assert (is_guarded(given), is_change(given)) == (guarded, False)
    if guarded:
        assert deciding_commit(given) == given.left_default


def test_a_comment_needs_a_run_to_show():
    assert job_of(event("pull_request", pull_request()), "comment").task == "refused"


def test_a_shallow_merge_commit_tells_its_parents(repository, tmp_path_factory):
    from runevals.repository.git import git, head_and_parents

    repository.git("commit", "-q", "--allow-empty", "-m", "parent of nothing\n\nparent 123")
    repository.git("checkout", "-q", "main")
    repository.git("commit", "-q", "--allow-empty", "-m", "on main")
    tip, head = repository.git("rev-parse", "main"), repository.git("rev-parse", "change")
    repository.git("merge", "-q", "--no-ff", "-m", "merge\n\nparent 456", "change")
    shallow = tmp_path_factory.mktemp("shallow")
    repository.git("clone", "-q", "--depth=1", f"file://{repository.path}", str(shallow / "clone"))
    commit, parents = head_and_parents(shallow / "clone")
    assert (commit, parents) == (repository.git("rev-parse", "HEAD"), (tip, head))
    assert git(shallow / "clone", "rev-parse", "--verify", "-q", "HEAD^1") is None


def test_no_checkout_has_no_commit(tmp_path):
    from runevals.repository.git import head_and_parents

    assert head_and_parents(tmp_path) == (None, ())


PUSH = {"before": BASE, "ref": "refs/heads/main"}


@pytest.mark.parametrize(
    ("given", "may"),
    [
        pytest.param(event("pull_request", pull_request()), True, id="a change of the repository's own"),
        pytest.param(event("pull_request", pull_request(2)), False, id="of a fork"),
        pytest.param(event("pull_request", pull_request(None)), False, id="of a fork that is gone"),
        pytest.param(event("pull_request", pull_request(), actor="dependabot[bot]"), False, id="of Dependabot"),
        pytest.param(event("pull_request", {}), False, id="an event that says nothing"),
        pytest.param(event("pull_request_review", pull_request()), True, id="a review"),
        pytest.param(event("pull_request_review", pull_request(2)), False, id="a review of a fork's change"),
        pytest.param(event("merge_group", GROUP), True, id="a merge queue"),
        pytest.param(event("push", PUSH), True, id="a push"),
        pytest.param(event("schedule", REPOSITORY), True, id="a schedule"),
        pytest.param(event("pull_request_target", pull_request()), False, id="the base's workflow on a change"),
        pytest.param(event("workflow_run", {"workflow_run": {"id": 1}}), False, id="another workflow's end"),
        pytest.param(event("issue_comment", REPOSITORY), False, id="a comment"),
        pytest.param(event("", {}), False, id="no event"),
    ],
)
def test_only_jobs_without_the_code_of_others_get_an_identity(given, may):
    assert may_identify(given) is may
