"""One note on a merge request, on a GitLab that knows only the calls that python-gitlab makes for it."""

from __future__ import annotations

import json
import re
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from urllib.parse import parse_qsl, urlsplit

import pytest

from runevals.gitlab.notes import inert
from runevals.lib.text.escape import inert_line
from tests.sample_suites import AGENT, SUITE
from tests.serving import Quiet, own_certificate, serving

pytestmark = pytest.mark.needs("python-gitlab")

TOKEN = "glpat-of-the-test"
NOTES = r"/api/v4/projects/5/merge_requests/7/notes"
US, OTHER = {"id": 1, "username": "evals"}, {"id": 2, "username": "mallory"}


class GitLab:
    """The notes of one merge request. `problems`: calls that such a GitLab does not know."""

    def __init__(self):
        self.notes, self.problems, self.calls, self.status = [], [], [], None

    def note(self, body, author=US):
        made = {"id": len(self.notes) + 1, "body": body, "author": author, "system": False}
        self.notes.append(made)
        return made

    def answer(self, method, target, token, body):
        parts = urlsplit(target)
        query = dict(parse_qsl(parts.query))
        self.calls.append(f"{method} {parts.path}")
        if token != TOKEN:
            return 401, {"message": "401 Unauthorized"}, {}
        if self.status is not None and method != "GET":
            return self.status, {"message": "no"}, {}
        if (method, parts.path) == ("GET", "/api/v4/user"):
            return 200, US, {}
        if (method, parts.path) == ("GET", NOTES):
            return self.page(query, parts.path)
        if (method, parts.path) == ("POST", NOTES) and set(body) == {"body"}:
            return 201, self.note(body["body"]), {}
        changed = re.fullmatch(rf"{NOTES}/(\d+)", parts.path)
        if changed and method == "PUT" and set(body) == {"body"}:
            note = self.notes[int(changed[1]) - 1]
            note["body"] = body["body"]
            return 200, note, {}
        self.problems.append(f"{method} {target} {body}")
        return 404, {"message": "404 Not Found"}, {}

    def page(self, query, path):
        if set(query) - {"order_by", "sort", "per_page", "page"} or query["sort"] != "asc":
            self.problems.append(f"GET {query}")
        number, size = int(query.get("page", 1)), 2  # fewer than were asked for, so that there are pages
        shown = self.notes[(number - 1) * size : number * size]
        headers = {"X-Page": str(number), "X-Per-Page": str(size)}
        if number * size < len(self.notes):
            following = f"{self.url}{path}?order_by=created_at&sort=asc&per_page=100&page={number + 1}"
            headers |= {"Link": f'<{following}>; rel="next"', "X-Next-Page": str(number + 1)}
        return 200, shown, headers


@pytest.fixture
def server(monkeypatch):
    with _gitlab(monkeypatch) as state:
        yield state


@contextmanager
def _gitlab(monkeypatch, tls=None):
    state = GitLab()

    class Handler(Quiet, BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _any(self):
            told = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            given = self.headers.get("PRIVATE-TOKEN")
            status, value, headers = state.answer(self.command, self.path, given, json.loads(told or b"{}"))
            text = json.dumps(value).encode()
            self.send_response(status)
            for name, item in {**headers, "Content-Type": "application/json", "Content-Length": len(text)}.items():
                self.send_header(name, str(item))
            self.end_headers()
            self.wfile.write(text)

        do_GET = do_POST = do_PUT = _any  # noqa: N815 - http.server's names

    with serving(Handler, tls) as url:
        state.url = url
        variables = {
            "GITLAB_TOKEN": TOKEN,
            "CI_SERVER_URL": url,
            "CI_PROJECT_ID": "5",
            "CI_MERGE_REQUEST_IID": "7",
            "CI_PROJECT_URL": "https://gitlab.example/o/r",
        }
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        yield state
    assert not state.problems, state.problems


@pytest.fixture
def results(project, runevals):
    project.write("evals.json", SUITE)
    project.write("agent.py", AGENT)
    assert runevals("--target", "python:agent.py:answer", "-o", "results.json")[0] == 0
    return "results.json"


def test_one_note_is_kept_and_changed(server, results, runevals):
    code, out, err = runevals("comment", results, "--gitlab", "--trusted")
    assert (code, out.strip()) == (0, "https://gitlab.example/o/r/-/merge_requests/7#note_1"), err
    [note] = server.notes
    assert "1 of 2 cases pass" in note["body"]
    note["body"] += "older"
    assert runevals("comment", results, "--gitlab", "--trusted")[0] == 0
    assert [one["body"].endswith("older") for one in server.notes] == [False]
    writes = [call for call in server.calls if not call.startswith("GET")]
    assert runevals("comment", results, "--gitlab", "--trusted")[0] == 0
    assert [call for call in server.calls if not call.startswith("GET")] == writes, "unchanged: not touched"


@pytest.mark.needs("openssl")
def test_the_environment_names_the_authority_of_its_certificate(tmp_path, monkeypatch, results, runevals):
    with _gitlab(monkeypatch, own_certificate(tmp_path)) as server:
        assert runevals("comment", results, "--gitlab", "--trusted")[0] == 3
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "cert.pem"))
        assert runevals("comment", results, "--gitlab", "--trusted")[0] == 0
        assert len(server.notes) == 1


def test_it_is_found_on_a_later_page_and_never_another_persons(server, results, runevals):
    runevals("comment", results, "--gitlab", "--trusted")
    body = server.notes[0]["body"]
    server.notes.clear()
    for author in (OTHER, OTHER, OTHER, US, OTHER):
        server.note(body + "x", author)
    assert runevals("comment", results, "--gitlab", "--trusted")[0] == 0
    assert [one["body"] == body for one in server.notes] == [False, False, False, True, False]


def test_results_that_the_change_has_committed_are_not_the_jobs(server, repository, runevals, monkeypatch):
    """If the run ends early, its `-o results.json` is what the change has put there."""
    assert runevals("-o", "results.json")[0] == 0
    repository.git("add", "-f", "results.json")
    repository.git("commit", "-q", "-m", "results of ours")
    monkeypatch.setenv("CI_COMMIT_SHA", repository.git("rev-parse", "HEAD"))
    code, _, err = runevals("comment", "results.json", "--gitlab", "--trusted")
    assert (code, server.notes) == (2, []), err
    assert "not of its run" in err
    assert runevals("-o", "results.json")[0] == 0
    assert runevals("comment", "results.json", "--gitlab", "--trusted")[0] == 0


def test_results_of_a_job_whose_image_has_no_git_are_its_own(server, results, runevals, monkeypatch):
    monkeypatch.setenv("CI_COMMIT_SHA", "1" * 40)
    code, _, err = runevals("comment", results, "--gitlab", "--trusted")
    assert (code, server.notes) == (2, []), err
    monkeypatch.setenv("PATH", "")
    assert runevals("--target", "python:agent.py:answer", "-o", "results.json")[0] == 0
    code, _, err = runevals("comment", results, "--gitlab", "--trusted")
    assert (code, len(server.notes)) == (0, 1), err


def test_without_trusted_it_says_whose_word_it_is(server, results, runevals):
    assert runevals("comment", results, "--gitlab", "--comment-id", "nightly")[0] == 0
    assert server.notes[0]["body"].startswith("<!-- runevals-unverified nightly -->")


def test_no_line_is_a_command_to_gitlab():
    assert inert("a\n/merge\n /x\n\r/close") == "a\n&#47;merge\n /x\n&#47;close"


def test_no_name_is_a_reference_to_another_merge_request():
    text = inert(inert_line('see !7 ~bug ~"next week" %3 %"v 1" &2, o/r!8; 50 % of R & D!'))
    escaped = ["<code>&#33;</code>7", "<code>&#126;</code>bug", "<code>&#38;</code>2", "r<code>&#33;</code>8"]
    escaped += ['<code>&#126;</code>"next week"', "<code>%</code>3", '<code>%</code>"v 1"', "50 % of"]
    assert all(one in text for one in escaped), text
    assert text.endswith("R &#38; D&#33;")


@pytest.mark.parametrize("status", [403, 404, 500])
def test_a_gitlab_that_refuses_is_exit_3(server, results, runevals, status):
    server.status = status
    code, _, err = runevals("comment", results, "--gitlab", "--trusted")
    assert (code, "GitLab did not take the note" in err, TOKEN in err) == (3, True, False)


def test_a_token_that_is_wrong_is_exit_3(server, results, runevals, monkeypatch):
    monkeypatch.setenv("GITLAB_TOKEN", "other")
    assert runevals("comment", results, "--gitlab", "--trusted")[0] == 3


@pytest.mark.parametrize("name", ["GITLAB_TOKEN", "CI_PROJECT_ID", "CI_SERVER_URL", "CI_MERGE_REQUEST_IID"])
def test_what_is_missing_is_named(server, results, runevals, monkeypatch, name):
    monkeypatch.delenv(name)
    code, _, err = runevals("comment", results, "--gitlab", "--trusted")
    assert (code, name in err) == (2, True)


def test_on_github_the_number_is_still_asked_for(results, runevals):
    code, _, err = runevals("comment", results)
    assert (code, "--pull-request" in err) == (2, True)
