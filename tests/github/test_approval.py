"""Who may agree to a loss: somebody who may write, had no part in the change, and saw this very commit."""

from __future__ import annotations

import pytest

from runevals.github.approval import LabelEvent, NotApproved, PullRequest, approver
from tests.github.emulator import FORK_ID, REPOSITORY, Change, Fault, person

HEAD, EARLIER = "a" * 40, "b" * 40
BOT = person("review-bot[bot]")


@pytest.fixture
def change(hub):
    hub.changes = [Change(7, HEAD)]
    hub.permissions = dict.fromkeys(("ana", "ben", "carla", "review-bot[bot]"), "write")
    return hub.changes[0]


@pytest.fixture
def asked(api):
    def ask(label=None, event=None):
        return approver(PullRequest(api=api, repository=REPOSITORY, number=7, head=HEAD), label, event)

    return ask


def labelled(by="ana", name="accepted", head=HEAD):
    return LabelEvent(name=name, head=head, sender=person(by))


def test_an_approval_of_this_commit_counts(change, asked):
    change.review("ana")
    assert asked() == "ana"


def test_a_comment_after_the_approval_does_not_take_it_back(change, asked):
    change.review("ana")
    change.review("ana", "COMMENTED")
    assert asked() == "ana"


def test_of_several_reviews_one_that_counts_is_enough(change, asked):
    change.review("ben")
    change.review("ana")
    assert asked() == "ana"


def test_the_label_of_the_settings_counts_at_this_commit(change, asked):
    change.labels = ["accepted"]
    assert asked("accepted", labelled()) == "ana"


def own_approval(hub, change):
    change.review("ben")


def of_an_earlier_commit(hub, change):
    change.review("ana", commit=EARLIER)


def dismissed(hub, change):
    change.review("ana", "DISMISSED")


def taken_back(hub, change):
    change.review("ana")
    change.review("ana", "CHANGES_REQUESTED")


def by_a_bot(hub, change):
    change.review("review-bot[bot]", user=BOT)


def by_an_account_that_is_gone(hub, change):
    change.review("ana")
    change.reviews[0]["user"] = None


def by_a_reader(hub, change):
    change.review("ana")
    hub.permissions["ana"] = "read"


def by_a_committer(hub, change):
    change.commits.append(("ana", "ben"))
    change.review("ana")


def by_who_applied_a_patch(hub, change):
    change.commits.append(("ben", "ana"))
    change.review("ana")


def by_a_pusher(hub, change):
    change.pushers.insert(0, "ana")
    change.review("ana")


def pushed_by_a_bot_for_who_approves(hub, change):
    change.pushers = ["github-actions[bot]"]
    change.commits = [("github-actions[bot]", "github-actions[bot]")]
    change.review("ana")


def opened_by_a_bot_for_who_approves(hub, change):
    change.author = "github-actions[bot]"
    change.review("ana")


def by_a_co_author(hub, change):
    change.message = f"Shorten\n\nCo-authored-by: Ana <{person('ana')['id']}+ana@users.noreply.github.com>"
    change.review("ana")


def commit_of_nobody(hub, change):
    change.commits.append((None, "ben"))
    change.review("ana")


def push_of_nobody(hub, change):
    change.pushers.append(None)
    change.review("ana")


def push_that_is_not_listed(hub, change):
    change.pushed = EARLIER
    change.review("ana")


def more_commits_than_listed(hub, change):
    change.listed = 300
    change.review("ana")


def from_a_fork(hub, change):
    change.repository_id = FORK_ID
    change.review("ana")


def moved_on(hub, change):
    change.review("ana", commit=HEAD)
    change.head = EARLIER


def refused(path):
    def refuse(hub, change):
        change.review("ana")
        hub.faults.append(Fault(path, 403, message="Resource not accessible by integration"))

    refuse.__name__ = f"403 of {path}"
    return refuse


@pytest.mark.parametrize(
    ("forged", "told"),
    [
        (own_approval, "@ben had a part in the change"),
        (of_an_earlier_commit, "nobody approved aaaaaaa"),
        (dismissed, "nobody approved"),
        (taken_back, "nobody approved"),
        (by_a_bot, "is not a person"),
        (by_an_account_that_is_gone, "nobody approved"),
        (by_a_reader, "@ana may not write"),
        (by_a_committer, "@ana had a part"),
        (by_who_applied_a_patch, "@ana had a part"),
        (by_a_pusher, "@ana had a part"),
        (pushed_by_a_bot_for_who_approves, r"does not say who had github-actions\[bot\] open"),
        (opened_by_a_bot_for_who_approves, r"does not say who had github-actions\[bot\] open"),
        (by_a_co_author, "@ana had a part"),
        (commit_of_nobody, "does not know who made the commit"),
        (push_of_nobody, "does not know everyone who pushed"),
        (push_that_is_not_listed, "does not know who pushed aaaaaaa"),
        (more_commits_than_listed, "lists only 1 of its 300 commits"),
        (from_a_fork, "comes from a fork"),
        (moved_on, "is not the pull request's head any more"),
        *((refused(path), "403") for path in ("/pulls/7$", "/reviews", "/commits", "/activity", "/permission")),
    ],
    ids=lambda value: value.__name__ if callable(value) else "",
)
def test_an_approval_that_proves_nothing_is_refused(hub, change, asked, forged, told):
    forged(hub, change)
    with pytest.raises(NotApproved, match=told):
        asked()


@pytest.mark.parametrize(
    ("event", "labels", "told"),
    [
        pytest.param(labelled(head=EARLIER), ["accepted"], "was set at bbbbbbb", id="an earlier head"),
        pytest.param(labelled(), [], "is not set any more", id="taken away"),
        pytest.param(labelled(name="other"), ["other"], "nobody approved", id="another label"),
        pytest.param(labelled(by="ben"), ["accepted"], "@ben had a part", id="the author's own"),
        pytest.param(labelled(by="dora"), ["accepted"], "@dora may not write", id="of a triager"),
        pytest.param(None, ["accepted"], "nobody approved", id="set before"),
    ],
)
def test_a_label_that_proves_nothing_is_refused(change, asked, event, labels, told):
    change.labels = labels
    with pytest.raises(NotApproved, match=told):
        asked("accepted", event)


def test_without_a_label_in_the_settings_of_the_base_none_counts(change, asked):
    change.labels = ["accepted"]
    with pytest.raises(NotApproved, match="nobody approved"):
        asked(None, labelled())


def test_an_answer_of_another_shape_is_refused(hub, change, asked):
    change.review("ana")
    del change.reviews[0]["commit_id"]
    with pytest.raises(NotApproved, match="not what it describes"):
        asked()
    hub.problems.clear()  # the description says so, too
