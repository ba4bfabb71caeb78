"""A job looks at a change by the base's rules, whatever started it, and with secrets at no stranger's."""

from __future__ import annotations

import subprocess

import pytest

from tests.attacks.conftest import CASES, settings

ALL_LOST = f"{CASES} of {CASES} cases regressed"
FAILED = "The gate min_pass_rate failed (at least 100 % must pass): 0 of"
OWN = "fail_on: [none]\n"
REPOSITORY = {"repository": {"id": 1, "default_branch": "main"}}


@pytest.fixture
def worse(change):
    """A committed change that loses every case, and would have no gate fail."""
    change.loses(*range(CASES))
    change.write(settings=settings(OWN))
    change.git("add", "-A")
    change.git("commit", "-q", "-m", "worse")
    return change


@pytest.mark.parametrize(
    "event", ["issue_comment", "repository_dispatch", "check_suite", "check_run", "release", "pull_request_target"]
)
def test_a_strangers_commit_is_refused_beside_secrets(worse, event):
    sha = worse.git("rev-parse", "main")
    payload = {**worse.pull_request(fork=True), "issue": {"number": 7, "pull_request": {}}}
    done = worse.action(event, payload, GITHUB_SHA=sha)
    done.must(2, f"{event} runs with secrets, and what is checked out is not the base's own code")
    worse.git("checkout", "-q", "main")  # the control
    worse.action(event, payload, GITHUB_SHA=sha).must(0)


@pytest.mark.parametrize("event", ["issue_comment", "pull_request_target"])
@pytest.mark.parametrize(
    "command", [("run", "-q"), ("run", "--base", "main"), ("merge", "shard.json")], ids=" ".join
)
def test_a_command_refuses_a_strangers_commit_as_the_action_does(worse, event, command):
    worse.write(**{"shard.json": "{}"})
    job = {"event": event, "payload": worse.pull_request(fork=True), "GITHUB_SHA": worse.git("rev-parse", "main")}
    worse.action(**job, words=command).must(2, f"{event} runs with secrets", "RUNEVALS_ALLOW_UNTRUSTED=true")
    allowed = worse.action(**job, words=command, RUNEVALS_ALLOW_UNTRUSTED="true")
    assert "runs with secrets" not in allowed.text
    worse.write(**{"shard.json": None})
    worse.git("checkout", "-q", "main")  # the control
    worse.action(**job, words=("run", "-q")).must(0)


@pytest.mark.parametrize("event", ["issue_comment", "repository_dispatch", "check_suite"])
def test_who_lets_it_in_all_the_same_is_judged_by_the_default_branch(worse, event):
    sha = worse.git("rev-parse", "main")
    told = {"GITHUB_SHA": sha, "INPUT_ALLOW_UNTRUSTED": "true", "INPUT_BASE": "run"}
    worse.action(event, REPOSITORY, **told).must(1, ALL_LOST)


@pytest.mark.parametrize(
    "event", ["pull_request", "pull_request: labeled", "pull_request_review", "pull_request_review_comment"]
)
@pytest.mark.parametrize("fork", [True, False])
def test_a_review_and_a_label_are_guarded_as_the_pull_request_is(worse, event, fork):
    name, _, action = event.partition(": ")
    payload = {**worse.pull_request(fork=fork), "action": action}
    worse.action(name, payload, GITHUB_SHA=worse.git("rev-parse", "HEAD")).must(1, ALL_LOST)


def by_hand(change, ref="refs/heads/change", **environment):
    """A run by hand, of the branch that is checked out unless it is told otherwise; all cases must pass."""
    gate = {"INPUT_MIN_PASS_RATE": "1", "INPUT_BASELINE": "none"}
    told = {"GITHUB_SHA": change.git("rev-parse", "HEAD"), **gate, **environment}
    return change.action("workflow_dispatch", {"ref": ref, **REPOSITORY}, **told)


def pushed(change):
    """Main as `actions/checkout` leaves it with the whole history."""
    change.git("update-ref", "refs/remotes/origin/main", "main")
    return change


def test_a_run_by_hand_of_another_branch_is_guarded_by_its_merge_base(worse):
    by_hand(pushed(worse)).must(1, FAILED)


def test_a_run_by_hand_of_a_commit_that_a_step_checked_out_is_guarded_too(worse):
    main = worse.git("rev-parse", "main")
    by_hand(pushed(worse), "refs/heads/main", GITHUB_SHA=main).must(1, FAILED)


@pytest.mark.parametrize("ref", ["refs/heads/main", "refs/tags/v1"])
def test_a_run_by_hand_of_what_is_merged_goes_by_its_own_rules(worse, ref):
    """The control."""
    worse.git("checkout", "-q", "main")
    worse.git("merge", "-q", "--ff-only", "change")
    by_hand(pushed(worse), ref).must(0)


def test_a_run_by_hand_that_cannot_tell_where_its_branch_began_is_not_judged_by_its_own_rules(worse):
    by_hand(worse).must(3, "does not say on which base")


def test_of_a_shallow_checkout_github_says_where_it_began(worse, hub, tmp_path_factory):
    hub.history = [worse.git("rev-parse", "main")]
    hub.merge_base = hub.history[0]
    worse.git("config", "uploadpack.allowAnySHA1InWant", "true")
    shallow = tmp_path_factory.mktemp("shallow") / "clone"
    origin = f"file://{worse.path}"
    subprocess.run(["git", "clone", "-q", "--depth=1", "-b", "change", origin, str(shallow)], check=True)
    compared = {"INPUT_MIN_PASS_RATE": "", "INPUT_BASELINE": "", "INPUT_BASE": "run"}
    api = {"GITHUB_API_URL": hub.url, "GITHUB_REPOSITORY": "o/r", "INPUT_GITHUB_TOKEN": "ghs_ours", **compared}
    by_hand(worse, cwd=shallow, **api).must(1, ALL_LOST)
    hub.merge_base, hub.history = None, []
    by_hand(worse, cwd=shallow, **api).must(3, "does not say on which base")
