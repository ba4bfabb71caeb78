"""The one note on a merge request that is ours, found again and changed, by the library python-gitlab."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from runevals.models.http import network
from runevals.records import Links
from runevals.records.errors import ExternalError, InvalidSettings
from runevals.records.quiet import Quiet

if TYPE_CHECKING:
    import gitlab

TIMEOUT_S = 30.0
_QUICK_ACTION = re.compile(r"^\r*/", re.MULTILINE)  # GitLab removes carriage returns first
# What GitHub's escaping leaves of names: !7 ~label ~"two words" &2 %3. GitLab resolves them after the references
# of characters.
_REFERENCE = re.compile(r"(&#(?:33|126|38);|%)(?=[\w\"])")
_VARIABLES = ("CI_SERVER_URL", "CI_PROJECT_ID")


class GitLabError(ExternalError):
    """GitLab did not do what we asked."""


class MergeRequest(Quiet, frozen=True, kw_only=True):
    """A merge request, and who writes on it."""

    hidden = frozenset({"token"})

    server: str
    project: str  # its number, or its path
    number: int
    token: str
    address: str = ""  # of the project, for readers

    @classmethod
    def of_job(cls, environment: Mapping[str, str], number: int | None) -> MergeRequest:
        """The one of this job, or with this number in its project. Raises InvalidSettings for what is missing."""
        token, own = environment.get("GITLAB_TOKEN", ""), environment.get("CI_MERGE_REQUEST_IID", "")
        if number is None and own.isdecimal():
            number = int(own)
        if not token:
            raise InvalidSettings(
                "GITLAB_TOKEN must hold an access token with the scope api: a job's own cannot write"
            )
        if number is None:
            raise InvalidSettings("not a job of a merge request (CI_MERGE_REQUEST_IID); give --pull-request N")
        if missing := [name for name in _VARIABLES if not environment.get(name)]:
            raise InvalidSettings(f"{' and '.join(missing)} must say where the merge request is")
        server, project = (environment[name] for name in _VARIABLES)
        address = environment.get("CI_PROJECT_URL", "")
        return cls(server=server, project=project, number=number, token=token, address=address)

    def links(self, environment: Mapping[str, str]) -> Links:
        """Addresses for a reader of the run of this job."""
        head = environment.get("CI_COMMIT_SHA")
        files = f"{self.address}/-/blob/{head}/" if self.address and head else None
        return Links(files=files, run=environment.get("CI_PIPELINE_URL"), head=head)


def put_note(where: MergeRequest, marker: str, body: str) -> str:
    """Makes `body`, which begins with `marker`, our note there → its address.

    Raises GitLabError, and InvalidSettings without python-gitlab.
    """
    try:
        import requests

        import gitlab
    except ImportError:
        raise InvalidSettings("--gitlab needs python-gitlab: pip install 'runevals[gitlab]'") from None
    try:
        _, verify = network.authorities() or ("", True)
        client = gitlab.Gitlab(where.server, private_token=where.token, timeout=TIMEOUT_S, ssl_verify=verify)
        number = _put(client, where, marker, inert(body))
    except (gitlab.GitlabError, requests.RequestException) as error:
        raise GitLabError(f"GitLab did not take the note: {' '.join(str(error).split())[:200]}") from None
    return f"{where.address}/-/merge_requests/{where.number}#note_{number}" if where.address else ""


def _put(client: gitlab.Gitlab, where: MergeRequest, marker: str, body: str) -> int:
    client.auth()
    project = client.projects.get(where.project, lazy=True)
    notes = project.mergerequests.get(where.number, lazy=True).notes
    note = _ours(client, notes, marker)
    if note is None:
        return int(notes.create({"body": body}).id)
    if note.body.strip() != body.strip():
        note.body = body
        note.save()
    return int(note.id)


def _ours(client: gitlab.Gitlab, notes: Any, marker: str) -> Any | None:
    """The newest note by us that begins with the marker; anybody can write one that has it."""
    assert client.user is not None  # noqa: S101 - auth() sets it
    latest = None
    for note in notes.list(iterator=True, order_by="created_at", sort="asc", per_page=100):
        if note.body.startswith(marker) and note.author["id"] == client.user.id:
            latest = note
    return latest


def inert(body: str) -> str:
    """The text without references to merge requests, labels and epics, and without lines that begin with `/`.

    GitLab takes such a line for a command, such as /merge, and tells others that they were mentioned.
    """
    return _REFERENCE.sub(r"<code>\1</code>", _QUICK_ACTION.sub("&#47;", body))
