"""A small GitHub on loopback that remembers: runs, artifacts at a host of their own, comments in pages, pulls.

Every exchange is held against GitHub's own description; what that finds fails the test that used the emulator.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from itertools import pairwise
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from tests.github.described import complaints, complete
from tests.github.exchanged_files import packed
from tests.serving import Quiet, serving

REPOSITORY, REPOSITORY_ID, FORK_ID = "o/r", 1, 2
TOKEN = "ghs_the-jobs-own-token-1234"
US = "github-actions[bot]"
Answer = tuple[int, dict[str, str], bytes]


@dataclass
class Fault:
    """What answers instead, `times` over, where method and path match."""

    match: str
    status: int
    headers: dict[str, str] = field(default_factory=dict)
    message: str = "no"
    times: int = 10**9


def person(login: str, **more: Any) -> dict[str, Any]:
    """A user; each name has a number of its own."""
    number = int.from_bytes(hashlib.sha256(login.encode()).digest()[:4], "big")
    kind = "Bot" if login.endswith("[bot]") else "User"
    return complete("simple-user", login=login, id=number, type=kind, **more)


@dataclass
class Change:
    """A pull request with what GitHub knows of its history; tests change it."""

    number: int
    head: str
    author: str = "ben"
    commits: list[tuple[str | None, str | None]] = field(default_factory=lambda: [("ben", "ben")])
    pushers: list[str | None] = field(default_factory=lambda: ["ben"])
    pushed: str | None = None  # the newest commit of the branch; None: its head
    reviews: list[dict[str, Any]] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    repository_id: int = REPOSITORY_ID
    message: str = "Shorten"  # of its commits
    listed: int | None = None  # commits that it says it has; None: as many as are listed

    def review(self, login: str, state: str = "APPROVED", commit: str | None = None, **more: Any) -> None:
        by = more.pop("user", None) or person(login)
        given = {"user": by, "state": state, "commit_id": commit or self.head, "body": "", **more}
        self.reviews.append(complete("pull-request-review", id=len(self.reviews) + 1, **given))


@dataclass
class GitHub:
    """The state; tests change it and read it. `asked` is every request: method, path, query, authorization."""

    url: str = ""
    blob_url: str = ""
    runs: list[dict[str, Any]] = field(default_factory=list)
    artifacts: list[dict[str, Any]] = field(default_factory=list)  # with `run` and `content`
    comments: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    commented: int = 0
    issues: list[dict[str, Any]] = field(default_factory=list)
    just_before: list[str] = field(default_factory=list)  # comments of other runs, made just before ours
    pulls: list[dict[str, Any]] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    permissions: dict[str, str] = field(default_factory=dict)  # of people, by their names
    history: list[str] = field(default_factory=list)  # shas, newest first
    merged: set[str] = field(default_factory=set)  # of these, the commits of branches that were merged
    branches: dict[str, str] = field(default_factory=dict)  # name → sha
    tags: dict[str, str] = field(default_factory=dict)  # name → sha
    ends_after: dict[int, int] = field(default_factory=dict)  # run → how often it is shown in progress
    merge_base: str | None = None
    login: str | None = None  # whose token it is; None: an installation's, which may not ask
    app: str = US  # whose installation's
    faults: list[Fault] = field(default_factory=list)
    blob_faults: list[Fault] = field(default_factory=list)
    asked: list[tuple[str, str, dict[str, str], str | None]] = field(default_factory=list)
    blob_asked: list[tuple[str, str | None]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def run(self, number: int, sha: str, *, branch: str = "main", event: str = "push", **more: Any) -> None:
        owner = more.pop("repository_id", REPOSITORY_ID)
        login = "o" if owner == REPOSITORY_ID else "mallory"
        given = {
            "id": number,
            "run_number": number,
            "head_sha": sha,
            "head_branch": branch,
            "event": event,
            "status": "completed",
            "conclusion": "success",
            "path": ".github/workflows/evals.yml",
            "repository": {"id": REPOSITORY_ID, "full_name": REPOSITORY},
            "head_repository": {"id": owner, "full_name": f"{login}/r", "owner": {"login": login}},
            "pull_requests": [],
            **more,
        }
        self.runs.append(complete("workflow-run", **given))

    def artifact(self, run: int, name: str, content: bytes | dict[str, str], **more: Any) -> None:
        zipped = content if isinstance(content, bytes) else packed(*content.items())
        digest = f"sha256:{hashlib.sha256(zipped).hexdigest()}"
        given = {
            "id": len(self.artifacts) + 1,
            "name": name,
            "size_in_bytes": len(zipped),
            "digest": digest,
            **more,
        }
        of = next((one for one in self.runs if one["id"] == run), None)
        if of is not None:
            given["workflow_run"] = {
                "id": run,
                "repository_id": of["repository"]["id"],
                "head_repository_id": of["head_repository"]["id"],
                "head_branch": of["head_branch"],
                "head_sha": of["head_sha"],
            }
        self.artifacts.append({"run": run, "content": zipped, "shown": complete("artifact", **given)})

    def comment(self, pull_request: int, body: str, author: str = US) -> dict[str, Any]:
        self.commented += 1
        number = self.commented
        url = f"https://github.com/o/r/pull/{pull_request}#issuecomment-{number}"
        made = complete("issue-comment", id=number, body=body, user={"login": author}, html_url=url)
        self.comments.setdefault(pull_request, []).append(made)
        return made

    def issue(self, title: str, body: str, author: str = US, **more: Any) -> dict[str, Any]:
        number = len(self.issues) + 1
        given = {"number": number, "title": title, "body": body, "user": person(author), "state": "open", **more}
        made = complete("issue", html_url=f"https://github.com/o/r/issues/{number}", **given)
        self.issues.append(made)
        return made

    def pull(self, number: int, sha: str, *, branch: str, owner: str = "o", repository_id: int = REPOSITORY_ID):
        head = {
            "sha": sha,
            "ref": branch,
            "label": f"{owner}:{branch}",
            "repo": {"id": repository_id},
            "user": {"login": owner},
        }
        self.pulls.append(complete("pull-request-simple", number=number, head=head, state="open"))

    def bodies(self, pull_request: int = 7) -> list[str]:
        return [comment["body"] for comment in self.comments.get(pull_request, ())]

    def paths(self, method: str) -> list[str]:
        return [path for asked, path, _, _ in self.asked if asked == method]


@contextmanager
def github() -> Iterator[GitHub]:
    """Starts API and blob host; at the end no exchange may have been one that GitHub does not know."""
    state = GitHub()
    with ExitStack() as stack:
        state.url = stack.enter_context(_server(lambda *request: _api(state, *request)))
        state.blob_url = stack.enter_context(_server(lambda *request: _blob(state, *request)))
        yield state
    assert not state.problems, "\n".join(state.problems)


def _api(state: GitHub, method: str, target: str, headers: Any, body: bytes) -> Answer:
    parts = urlsplit(target)
    query = dict(parse_qsl(parts.query))
    if parts.path == "/graphql":
        return _graphql(state, json.loads(body))
    state.asked.append((method, parts.path, query, headers.get("Authorization")))
    answer = _fault(state.faults, method, target) or _answered(state, method, parts.path, query, body)
    asked = {name: value for name, value in headers.items() if name in ("Accept", "Content-Type")}
    plain = target.replace("created=%3C%3D", "created=")  # the description has no word for the search syntax
    state.problems += complaints((method, plain, asked, body), answer)
    return answer


def _graphql(state: GitHub, body: Any) -> Answer:
    """Its one query of ours; the description of the REST API does not know it."""
    state.problems += [] if body == {"query": "query { viewer { login } }"} else [f"another query: {body}"]
    fault = _fault(state.faults, "QUERY", "/graphql")
    return fault or _json(200, {"data": {"viewer": {"login": state.login or state.app.removesuffix("[bot]")}}})


def _answered(state: GitHub, method: str, path: str, query: dict[str, str], body: bytes) -> Answer:
    for wanted, pattern, operation in _OPERATIONS:
        found = re.fullmatch(pattern, path)
        if found and wanted == method:
            return operation(state, query, json.loads(body) if body else {}, *found.groups())
    return _error(404, "Not Found")


def _workflow_runs(state: GitHub, query: dict[str, str], _: Any, workflow: str) -> Answer:
    def fits(run: dict[str, Any]) -> bool:
        return all(
            (
                run["path"].endswith(f"/{workflow}"),
                query.get("head_sha") in (None, run["head_sha"]),
                query.get("branch") in (None, run["head_branch"]),
                run["created_at"] <= query.get("created", "<=9").removeprefix("<="),
                query.get("event") in (None, run["event"]),
                query.get("status") in (None, run["status"], run["conclusion"]),
            )
        )

    found = [run for run in reversed(state.runs) if fits(run)]
    answer = _page(state, found, query, "workflow_runs")
    for run in found:
        if run["id"] in state.ends_after:
            state.ends_after[run["id"]] -= 1
            if not state.ends_after[run["id"]]:
                del state.ends_after[run["id"]]
                run |= {"status": "completed", "conclusion": "success"}
    return answer


def _run(state: GitHub, _: dict[str, str], __: Any, number: str) -> Answer:
    found = [run for run in state.runs if run["id"] == int(number)]
    return _json(200, found[0]) if found else _error(404, "Not Found")


def _artifacts(state: GitHub, query: dict[str, str], _: Any, run: str) -> Answer:
    found = [one["shown"] for one in state.artifacts if one["run"] == int(run)]
    found = [shown for shown in found if query.get("name") in (None, shown["name"])]
    return _page(state, found, query, "artifacts")


def _all_artifacts(state: GitHub, query: dict[str, str], _: Any) -> Answer:
    found = [one["shown"] for one in reversed(state.artifacts)]
    return _page(
        state, [shown for shown in found if query.get("name") in (None, shown["name"])], query, "artifacts"
    )


def _branch(state: GitHub, _: dict[str, str], __: Any, name: str) -> Answer:
    if name not in state.branches:
        return _error(404, "Branch not found")
    shown = complete("branch-with-protection", name=name, commit={**complete("commit", sha=state.branches[name])})
    return _json(200, shown)


def _zip(state: GitHub, _: dict[str, str], __: Any, number: str) -> Answer:
    shown = next((one["shown"] for one in state.artifacts if one["shown"]["id"] == int(number)), None)
    if shown is None:
        return _error(404, "Not Found")
    if shown["expired"]:
        return _error(410, "Artifact has expired")
    return 302, {"Location": f"{state.blob_url}/signed/{number}?sig=secret%2Bsignature"}, b""


def _commits(state: GitHub, query: dict[str, str], _: Any) -> Answer:
    sha = state.tags.get(query.get("sha", "").removeprefix("refs/tags/"), query.get("sha"))
    if sha not in state.history:
        return _error(404, "Not Found")
    known = state.history[state.history.index(sha) :]
    own = [sha for sha in known if sha not in state.merged]
    parents = {sha: [{"sha": parent, "url": "https://github.com/o/r"}] for sha, parent in pairwise(own)}
    listed = [{**complete("commit", sha=sha), "parents": parents.get(sha, [])} for sha in known]
    return _page(state, listed, query)


def _compare(state: GitHub, _: dict[str, str], __: Any, base: str, head: str) -> Answer:
    known = [0 if name == "main" else state.history.index(name) for name in (base, head) if _is_known(state, name)]
    common = state.merge_base or (state.history[max(known)] if len(known) == 2 else None)
    if common is None:
        return _error(404, "Not Found")
    return _json(200, complete("commit-comparison", merge_base_commit={"sha": common}))


def _is_known(state: GitHub, name: str) -> bool:
    return name in state.history or (name == "main" and bool(state.history))


def _pulls(state: GitHub, query: dict[str, str], _: Any) -> Answer:
    found = [pull for pull in state.pulls if query.get("head") in (None, pull["head"]["label"])]
    return _page(state, found, query)


_LABEL = {
    "id": 1,
    "node_id": "x",
    "url": "https://github.com/o/r",
    "description": None,
    "color": "0",
    "default": False,
}


def _of_change(answer: Callable[..., Answer]) -> Callable[..., Answer]:
    def find(state: GitHub, query: dict[str, str], _: Any, number: str) -> Answer:
        found = next((change for change in state.changes if change.number == int(number)), None)
        return _error(404, "Not Found") if found is None else answer(state, query, found)

    return find


@_of_change
def _pull(_: GitHub, __: dict[str, str], change: Change) -> Answer:
    shown = complete(
        "pull-request",
        number=change.number,
        user=person(change.author),
        commits=len(change.commits) if change.listed is None else change.listed,
        labels=[{**_LABEL, "name": name} for name in change.labels],
        head={"sha": change.head, "ref": "change", "repo": {"id": change.repository_id}},
        base={"sha": "0" * 40, "ref": "main", "repo": {"id": REPOSITORY_ID}},
        state="open",
    )
    return _json(200, shown)


@_of_change
def _reviews(state: GitHub, query: dict[str, str], change: Change) -> Answer:
    return _page(state, change.reviews, query)


@_of_change
def _pull_commits(state: GitHub, query: dict[str, str], change: Change) -> Answer:
    def shown(number: int, names: tuple[str | None, str | None]) -> Any:
        made = complete("commit", sha=f"{number:040x}")
        people = {
            role: person(name) if name else {} for role, name in zip(("author", "committer"), names, strict=True)
        }
        return {**made, **people, "commit": {**made["commit"], "message": change.message}}

    return _page(state, [shown(number, names) for number, names in enumerate(change.commits)], query)


def _activity(state: GitHub, query: dict[str, str], _: Any) -> Answer:
    found = [
        {
            **complete("activity", id=number, ref="refs/heads/change", after=change.pushed or change.head),
            "actor": name and person(name),
        }
        for change in state.changes
        for number, name in enumerate(change.pushers, start=1)
        if query.get("ref") == "refs/heads/change"
    ]
    return _page(state, found, query)


def _permission(state: GitHub, _: dict[str, str], __: Any, login: str) -> Answer:
    name = state.permissions.get(login, "read")
    return _json(200, complete("repository-collaborator-permission", permission=name, role_name=name))


def _comments(state: GitHub, query: dict[str, str], _: Any, number: str) -> Answer:
    return _page(state, state.comments.get(int(number), []), query)


def _create_comment(state: GitHub, _: dict[str, str], body: Any, number: str) -> Answer:
    us = state.login or state.app
    while state.just_before:
        state.comment(int(number), state.just_before.pop(0), us)
    return _json(201, state.comment(int(number), body["body"], us))


def _change_comment(state: GitHub, _: dict[str, str], body: Any, number: str) -> Answer:
    for comment in (comment for comments in state.comments.values() for comment in comments):
        if comment["id"] == int(number):
            comment["body"] = body["body"]
            return _json(200, comment)
    return _error(404, "Not Found")


def _delete_comment(state: GitHub, _: dict[str, str], __: Any, number: str) -> Answer:
    for comments in state.comments.values():
        for comment in comments:
            if comment["id"] == int(number):
                comments.remove(comment)
                return 204, {}, b""
    return _error(404, "Not Found")


def _issues(state: GitHub, query: dict[str, str], _: Any) -> Answer:
    found = [issue for issue in reversed(state.issues) if query.get("state", "open") in ("all", issue["state"])]
    return _page(state, found, query)


def _create_issue(state: GitHub, _: dict[str, str], body: Any) -> Answer:
    return _json(201, state.issue(body["title"], body["body"], state.login or state.app))


def _change_issue(state: GitHub, _: dict[str, str], body: Any, number: str) -> Answer:
    issue = next((issue for issue in state.issues if issue["number"] == int(number)), None)
    if issue is None:
        return _error(404, "Not Found")
    issue |= body
    return _json(200, issue)


def _user(state: GitHub, _: dict[str, str], __: Any) -> Answer:
    if state.login is None:
        return _error(403, "Resource not accessible by integration")
    return _json(200, complete("public-user", login=state.login, user_view_type="public"))


_REPOSITORY = r"/repos/o/r"
_OPERATIONS: tuple[tuple[str, str, Callable[..., Answer]], ...] = (
    ("GET", rf"{_REPOSITORY}/actions/workflows/([^/]+)/runs", _workflow_runs),
    ("GET", rf"{_REPOSITORY}/actions/runs/(\d+)", _run),
    ("GET", rf"{_REPOSITORY}/actions/runs/(\d+)/artifacts", _artifacts),
    ("GET", rf"{_REPOSITORY}/actions/artifacts/(\d+)/zip", _zip),
    ("GET", rf"{_REPOSITORY}/actions/artifacts", _all_artifacts),
    ("GET", rf"{_REPOSITORY}/branches/([^/]+)", _branch),
    ("GET", rf"{_REPOSITORY}/commits", _commits),
    ("GET", rf"{_REPOSITORY}/compare/(\w+)\.\.\.(\w+)", _compare),
    ("GET", rf"{_REPOSITORY}/pulls", _pulls),
    ("GET", rf"{_REPOSITORY}/pulls/(\d+)", _pull),
    ("GET", rf"{_REPOSITORY}/pulls/(\d+)/reviews", _reviews),
    ("GET", rf"{_REPOSITORY}/pulls/(\d+)/commits", _pull_commits),
    ("GET", rf"{_REPOSITORY}/activity", _activity),
    ("GET", rf"{_REPOSITORY}/collaborators/([^/]+)/permission", _permission),
    ("GET", rf"{_REPOSITORY}/issues", _issues),
    ("POST", rf"{_REPOSITORY}/issues", _create_issue),
    ("PATCH", rf"{_REPOSITORY}/issues/(\d+)", _change_issue),
    ("GET", rf"{_REPOSITORY}/issues/(\d+)/comments", _comments),
    ("POST", rf"{_REPOSITORY}/issues/(\d+)/comments", _create_comment),
    ("PATCH", rf"{_REPOSITORY}/issues/comments/(\d+)", _change_comment),
    ("DELETE", rf"{_REPOSITORY}/issues/comments/(\d+)", _delete_comment),
    ("GET", "/user", _user),
)


def _page(state: GitHub, found: list[Any], query: dict[str, str], key: str | None = None) -> Answer:
    size, number = int(query.get("per_page", 30)), int(query.get("page", 1))
    shown = found[(number - 1) * size : number * size]
    status, headers, body = _json(200, shown if key is None else {"total_count": len(found), key: shown})
    if number * size < len(found):
        path = state.asked[-1][1]
        following = urlencode({**query, "page": number + 1})
        headers["Link"] = f'<{state.url}{path}?{following}>; rel="next"'
    return status, headers, body


def _blob(state: GitHub, method: str, target: str, headers: Any, _: bytes) -> Answer:
    state.blob_asked.append((target, headers.get("Authorization")))
    if headers.get("Authorization") is not None:
        return 400, {}, b"InvalidAuthenticationInfo"
    number = int(urlsplit(target).path.rsplit("/", 1)[-1])
    content = next(one["content"] for one in state.artifacts if one["shown"]["id"] == number)
    return _fault(state.blob_faults, method, target) or (200, {"Content-Type": "application/zip"}, content)


def _fault(faults: list[Fault], method: str, target: str) -> Answer | None:
    for fault in faults:
        if fault.times > 0 and re.search(fault.match, f"{method} {target}"):
            fault.times -= 1
            status, headers, body = _error(fault.status, fault.message)
            return status, {**headers, **fault.headers}, body
    return None


def _error(status: int, message: str) -> Answer:
    problem = {"message": message, "documentation_url": "https://docs.github.com/rest", "status": str(status)}
    return _json(status, problem)


def _json(status: int, value: Any) -> Answer:
    return status, {"Content-Type": "application/json"}, json.dumps(value).encode()


@contextmanager
def _server(answer: Callable[..., Answer]) -> Iterator[str]:
    class Handler(Quiet, BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _any(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            status, headers, body = answer(self.command, self.path, self.headers, self.rfile.read(length))
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = do_PATCH = do_DELETE = _any  # noqa: N815 - http.server's names

    with serving(Handler) as address:
        yield address
