"""The API's limits, failures and pages, as GitHub makes them."""

from __future__ import annotations

import time

import pytest

from runevals.github.api import Api, GitHubRefused
from runevals.models.http.throttle import Throttle
from tests.github.emulator import TOKEN, Fault, github
from tests.json_server import Answer, json_server

COMMENTS = "/repos/o/r/issues/7/comments"
READ, WRITE = "pull-requests: read", "pull-requests: write"


def test_all_pages_are_read(hub, api):
    for number in range(250):
        hub.comment(7, f"comment {number}")
    assert [item["body"] for item in api.items(COMMENTS, READ)] == [f"comment {n}" for n in range(250)]
    assert len(hub.asked) == 3


def test_a_next_page_elsewhere_is_refused_and_sees_no_token(hub, api):
    with github() as stranger:
        link = f'<{stranger.url}/repos/o/r/pulls>; rel="next"'
        hub.comment(7, "one")
        hub.faults.append(Fault(COMMENTS, 200, {"Link": link}))
        hub.problems.clear()
        with pytest.raises(GitHubRefused, match="next page is said to be at another host"):
            list(api.items(COMMENTS, READ))
        assert stranger.asked == []
    hub.problems.clear()  # the answer was meant to be wrong


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(Fault(COMMENTS, 502, times=3), id="502 burst"),
        pytest.param(Fault(COMMENTS, 429, {"Retry-After": "0"}, times=2), id="429"),
        pytest.param(
            Fault(
                COMMENTS,
                403,
                {"Retry-After": "0"},
                message="You have exceeded a secondary rate limit",
                times=2,
            ),
            id="secondary limit",
        ),
    ],
)
def test_what_passes_is_waited_for(hub, api, fault):
    hub.faults.append(fault)
    assert list(api.items(COMMENTS, READ)) == []


def test_a_limit_is_lifted_when_github_says(hub, api):
    reset = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(int(time.time()) + 1)}
    hub.faults.append(Fault(COMMENTS, 403, reset, message="API rate limit exceeded", times=1))
    assert list(api.items(COMMENTS, READ)) == []
    assert len(hub.asked) == 2


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (Fault(COMMENTS, 502), "GitHub answers with 502"),
        (Fault(COMMENTS, 429, {"Retry-After": "3600"}), r"GitHub's rate limit \(429\)"),
        (Fault(COMMENTS, 403, message="You have exceeded a secondary rate limit"), "rate limit"),
        (Fault(COMMENTS, 404), r"404 \(no\)"),
        (Fault(COMMENTS, 401), "the token is not valid"),
        (Fault(COMMENTS, 403), "lacks `permissions: {pull-requests: read}`"),
    ],
)
def test_patience_ends_and_the_reason_is_told(hub, api, fault, told):
    hub.faults.append(fault)
    with pytest.raises(GitHubRefused, match=told):
        list(api.items(COMMENTS, READ))
    assert len(hub.asked) <= 5


def test_what_may_have_been_made_is_not_made_twice(hub, api):
    hub.faults.append(Fault("POST", 502))
    with pytest.raises(GitHubRefused):
        api.post(COMMENTS, WRITE, {"body": "x"})
    assert hub.paths("POST") == [COMMENTS]


def test_a_post_that_a_limit_held_back_is_sent_again(hub, api):
    hub.faults.append(Fault("POST", 403, {"Retry-After": "0"}, times=1))
    assert api.post(COMMENTS, WRITE, {"body": "x"})["body"] == "x"
    assert hub.bodies() == ["x"]


def test_only_the_api_sees_the_token(hub, api, tmp_path, monkeypatch):
    netrc = tmp_path / "netrc"  # requests would send this to every host that it names
    netrc.write_text("machine 127.0.0.1 login a password b\n", encoding="utf-8")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    hub.run(1, "a" * 40)
    hub.artifact(1, "x", {"results.json": "{}"})
    assert api.download("/repos/o/r/actions/artifacts/1/zip", "actions: read", 10**6)[:2] == b"PK"
    assert hub.asked[0][3] == f"Bearer {TOKEN}"
    assert [authorization for _, authorization in hub.blob_asked] == [None]


def test_a_blob_host_that_redirects_again_is_not_followed(hub, api):
    with github() as stranger:
        hub.artifact(1, "x", {"results.json": "{}"})
        hub.blob_faults.append(Fault("GET", 302, {"Location": f"{stranger.url}/user"}))
        with pytest.raises(GitHubRefused, match="answers with 302"):
            api.download("/repos/o/r/actions/artifacts/1/zip", "actions: read", 10**6)
        assert stranger.asked == []


def test_an_api_that_redirects_is_not_followed(hub, api):
    with github() as stranger:
        hub.faults.append(Fault("GET /user", 307, {"Location": f"{stranger.url}/user"}))
        with pytest.raises(GitHubRefused, match="redirects to elsewhere"):
            api.get("/user", READ)
        assert stranger.asked == []
    hub.problems.clear()  # the answer was meant to be wrong


def test_a_blob_host_that_is_down_for_a_moment_is_asked_anew(hub, api):
    hub.artifact(1, "x", {"results.json": "{}"})
    hub.blob_faults.append(Fault("GET", 503, times=2))
    assert api.download("/repos/o/r/actions/artifacts/1/zip", "actions: read", 10**6)
    assert len(hub.paths("GET")) == 3  # each time a new address, as they are good for a minute


def test_a_download_ends_where_it_is_too_large(hub, api):
    hub.artifact(1, "x", b"x" * 3 * 1024**2)
    with pytest.raises(GitHubRefused, match="more than 1 MiB"):
        api.download("/repos/o/r/actions/artifacts/1/zip", "actions: read", 1024**2)


def test_nobody_there_is_told():
    with pytest.raises(GitHubRefused, match="GitHub does not answer"):
        Api("http://127.0.0.1:9", TOKEN, Throttle(max_attempts=2, first_delay_s=0.01)).get("/user", READ)


def test_the_token_is_not_shown(api):
    assert TOKEN not in repr(api)
    assert TOKEN not in repr(vars(api)["_session"].auth)


@pytest.mark.parametrize(
    "read", [lambda api: list(api.items(COMMENTS, READ)), lambda api: api.download("/zip", READ, 10**6)]
)
def test_an_answer_that_arrives_byte_by_byte_does_not_hold_the_job(monkeypatch, read):
    def answer(asked, number):
        if asked.path == "/zip":
            return Answer(status=302, headers={"Location": f"{server.url}/blob"})
        return Answer(raw=b"[" * 100_000, drip_s=0.01)

    monkeypatch.setattr("runevals.github.api.TOTAL_S", 0.3)
    with json_server(answer) as server:
        start = time.monotonic()
        with pytest.raises(GitHubRefused, match="sends too slowly"):
            read(Api(server.url, "t"))
        assert time.monotonic() - start < 60  # all of it takes 1000
