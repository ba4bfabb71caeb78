"""One comment, ours, however many there are and whoever writes what."""

from __future__ import annotations

import pytest

from runevals.github.api import GitHubRefused
from runevals.github.comments import CommentOrigin, Comments, marker, origin_of, slug
from tests.github.emulator import US, Fault

OURS = marker("evals/test")
BODY = f"{OURS}\n### ✅ fine\n"


@pytest.fixture
def comments(api):
    return Comments(api, "o/r")


def test_the_first_is_created_and_the_next_changes_it(hub, comments):
    first = comments.put(7, OURS, BODY)
    assert (first.what, first.url) == ("created", "https://github.com/o/r/pull/7#issuecomment-1")
    assert comments.put(7, OURS, f"{OURS}\nother").what == "changed"
    assert hub.bodies() == [f"{OURS}\nother"]


def test_an_unchanged_one_is_not_touched(hub, comments):
    hub.comment(7, BODY.strip().replace("\n", "\r\n"))
    assert comments.put(7, OURS, BODY).what == "unchanged"
    assert hub.paths("PATCH") == hub.paths("POST") == []


def test_ours_is_found_among_250_and_a_forged_one_is_not_taken(hub, comments):
    for number in range(100):
        hub.comment(7, f"comment {number}", author="ana")
    hub.comment(7, f"{OURS}\nolder", author=US)
    for number in range(100):
        hub.comment(7, f"comment {number}", author="ana")
    hub.comment(7, f"{OURS}\nours", author=US)
    for number in range(46):
        hub.comment(7, f"comment {number}", author="ana")
    hub.comment(7, f"{OURS}\nforged", author="mallory")
    hub.comment(7, f"As we said:\n{OURS}\nquoted", author=US)
    assert len(hub.comments[7]) == 250
    assert comments.put(7, OURS, BODY).what == "changed"
    bodies = hub.bodies()
    assert bodies[201] == BODY
    assert bodies[100] == f"{OURS}\nolder"
    assert bodies[248:] == [f"{OURS}\nforged", f"As we said:\n{OURS}\nquoted"]


def test_a_forged_one_alone_is_left_alone(hub, comments):
    hub.comment(7, f"{OURS}\nforged", author="mallory")
    assert comments.put(7, OURS, BODY).what == "created"
    assert hub.bodies() == [f"{OURS}\nforged", BODY]


def test_a_users_own_token_is_that_user(hub, comments):
    hub.login = "ana"
    hub.comment(7, f"{OURS}\nours", author="ana")
    hub.comment(7, f"{OURS}\nthe bot's", author=US)
    comments.put(7, OURS, BODY)
    assert hub.bodies() == [BODY, f"{OURS}\nthe bot's"]


def test_the_token_of_an_app_finds_its_comment_again(hub, comments):
    hub.app = "our-app[bot]"
    hub.comment(7, f"{OURS}\nthe job's", author=US)
    hub.comment(7, f"{OURS}\na person's", author="our-app")
    for text in ("first", "second", "third"):
        comments.put(7, OURS, f"{OURS}\n{text}")
    assert hub.bodies() == [f"{OURS}\nthe job's", f"{OURS}\na person's", f"{OURS}\nthird"]


def test_where_no_query_is_answered_the_token_is_the_jobs(hub, comments):
    hub.faults.append(Fault("QUERY", 403))
    hub.comment(7, f"{OURS}\nours")
    assert comments.put(7, OURS, BODY).what == "changed"


def of_run(run, text, attempt=1, head="a" * 40):
    origin = CommentOrigin(run=run, attempt=attempt, head=head)
    return f"{OURS}\n{text}\n\n{origin}\n", origin


@pytest.mark.parametrize(
    ("there", "ours", "what"),
    [
        pytest.param((812,), (813,), "changed", id="later run"),
        pytest.param((813,), (812,), "of a later run", id="older run that ends later"),
        pytest.param((812, 1), (812, 2), "changed", id="run again"),
        pytest.param((812, 2), (812, 1), "of a later run", id="first attempt that ends later"),
        pytest.param((813,), (812, 2), "changed", id="older run of this commit, run again"),
        pytest.param((813, 1, "b" * 40), (812, 2), "of a later run", id="older run of another commit, run again"),
    ],
)
def test_a_later_runs_verdict_is_not_replaced_by_an_older_runs(hub, comments, there, ours, what):
    def body(run, attempt=1, head="a" * 40):
        return of_run(run, str((run, attempt)), attempt, head)

    standing, _ = body(*there)
    text, origin = body(*ours)
    hub.comment(7, standing)
    assert comments.put(7, OURS, text, origin=origin).what == what
    assert hub.bodies() == [text if what == "changed" else standing]


def test_a_comment_that_names_no_run_is_replaced(hub, comments):
    hub.comment(7, f"{OURS}\nby hand\n<!-- run 999, attempt 1, of x --> says somebody")
    text, origin = of_run(1, "fine")
    assert comments.put(7, OURS, text, origin=origin).what == "changed"
    assert origin_of(text) == origin


@pytest.mark.parametrize(("other", "stays"), [(812, "813"), (814, "814")])
def test_first_runs_at_one_time_leave_one_comment_of_the_later_run(hub, comments, other, stays):
    hub.just_before.append(of_run(other, str(other))[0])
    text, origin = of_run(813, "813")
    comments.put(7, OURS, text, origin=origin)
    assert hub.bodies() == [of_run(int(stays), stays)[0]]


def test_a_second_comment_that_cannot_be_deleted_is_no_trouble(hub, comments):
    hub.just_before.append(f"{OURS}\nother")
    hub.faults.append(Fault("DELETE", 403))
    assert comments.put(7, OURS, BODY).what == "created"


def test_one_that_was_deleted_meanwhile_is_made_anew(hub, comments):
    hub.comment(7, f"{OURS}\nours")
    hub.faults.append(Fault("PATCH", 404))
    assert comments.put(7, OURS, BODY).what == "created"


def test_comments_of_another_id_are_others(hub, comments):
    hub.comment(7, f"{marker('evals/test2')}\nother")
    assert comments.put(7, OURS, BODY).what == "created"


def test_none_is_made_where_only_an_old_one_is_to_be_corrected(hub, comments):
    assert comments.put(7, OURS, BODY, create=False).what == "none"
    hub.comment(7, f"{OURS}\n### ❌ red")
    assert comments.put(7, OURS, BODY, create=False).what == "changed"


def test_a_burst_of_502_makes_one_comment(hub, comments):
    hub.faults += [Fault("POST", 502, times=2), Fault("GET .*/comments", 502, times=2)]
    assert comments.put(7, OURS, BODY).what == "created"
    assert hub.bodies() == [BODY]


@pytest.mark.parametrize(
    ("status", "message", "told"),
    [
        (403, "Resource not accessible by integration", "lacks `permissions: {pull-requests: write}`"),
        (422, "Body is too long (maximum is 65536 characters)", "Body is too long"),
        (404, "Not Found", "404"),
        (403, "Unable to create comment because issue is locked.", "until the conversation is unlocked"),
        (410, "Issue is locked", "locked"),
    ],
)
def test_a_refusal_is_told_once(hub, comments, status, message, told):
    hub.faults.append(Fault("POST", status, message=message))
    with pytest.raises(GitHubRefused, match=told):
        comments.put(7, OURS, BODY)
    assert len(hub.paths("POST")) == 1


@pytest.mark.parametrize(
    "given", ["a --> b", "<!--", "ünï", "x" * 300, "a b", "a-b", "", "../..", "a\nb", "::x::"]
)
def test_an_id_cannot_end_its_marker(given):
    assert set(slug(given)) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")
    assert marker(given).count("-->") == 1
    assert len(slug(given)) <= 60


def test_ids_that_differ_stay_apart():
    assert len({slug(given) for given in ("a b", "a-b", "a/b", "a_b", "A-b", "a", "a" * 80, "a" * 81)}) == 8
