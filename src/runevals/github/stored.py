"""The results that earlier runs of a workflow stored as artifacts: their selection and text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import quote

from msgspec import Struct
from msgspec.structs import replace

from runevals.github.api import Api, GitHubRefused, github_shape_errors
from runevals.github.archive import MOST_BYTES, UnsafeArchive, check_digest, members
from runevals.repository import git

READ_RUNS, READ_COMMITS = "actions: read", "contents: read"
RESULTS = "results.json"
MOST_COMMITS = 50  # before the base, whose runs are looked for among those of the branch
MOST_ASKED_FOR = 12  # of them, one by one, if no run is of them; and runs of other commits of the branch
MOST_LISTED = 300  # runs of the branch that may be read
MOST_SEEN = 1000  # runs and artifacts that are looked through for these: anyone may add some by a pull request
# These events run code of the repository; a pull request can run any code.
TRUSTED = frozenset({"push", "schedule", "workflow_dispatch", "merge_group"})


class StoredQuery(Struct, frozen=True, kw_only=True):
    """A query for a stored result."""

    repository: str
    workflow: str  # its file's name; empty: none of ours
    others: bool = False  # runs of other workflow files count too
    artifact: str
    file: str = RESULTS  # of the artifact
    commit: str | None
    branch: str | None
    default_branch: str | None = None  # whose runs count if the branch has none
    before: tuple[str, ...] = ()  # the commits before `commit` on its branch; requested if they are not known
    not_run: int | None = None  # our own
    runs_base: bool = False  # of a change, and where no workflow of ours stores one: if none was ever stored


class StoredRun(Struct, frozen=True, kw_only=True):
    """A run that may have stored one, `behind` commits before the one in the query; None: not before it."""

    id: int
    number: int
    commit: str
    branch: str
    behind: int | None = 0
    workflow: str = ""  # the file of another workflow than the one in the query

    @property
    def title(self) -> str:
        """Its number, with the workflow if that is another."""
        return f"run {self.number} of {self.workflow}" if self.workflow else f"run {self.number}"


class NotStored(Exception):
    """Why a run has no usable result."""


class UnreadableResult(NotStored):
    """It has one, which cannot be read or used."""


def runs(api: Api, query: StoredQuery) -> Iterator[StoredRun]:
    """Runs to compare with: of the commit, of those before it, of the branch. Raises GitHubRefused."""
    before: dict[str, int] = {}
    if query.commit is not None:
        yield from _of(api, query, 0, status="completed", head_sha=query.commit)
        commits = query.before or _before(api, query)
        before = {commit: behind for behind, commit in enumerate(commits, start=1)}
    of_others = list(_of_others(api, query, before)) if query.others else []
    yield from (run for run in of_others if run.behind == 0)
    of_branch = list(_of_branch(api, query, query.branch)) + of_others
    near = list(_near(of_branch, before))
    if not near and query.default_branch != query.branch:
        of_branch += _of_branch(api, query, query.default_branch)
        near = list(_near(of_branch, before))
    yield from sorted(near, key=lambda run: run.behind or 0)
    asked_for = 0 if near else MOST_ASKED_FOR  # commits of a merge queue, say, or older than what is listed
    for commit in [*before][:asked_for]:
        yield from _of(api, query, before[commit], status="completed", head_sha=commit)
    rest = [run for run in of_branch if run.commit not in {query.commit, *before}]
    for branch in dict.fromkeys((query.branch, query.default_branch)):
        yield from islice((run for run in rest if run.branch == branch), MOST_ASKED_FOR)


def _of_branch(api: Api, query: StoredQuery, branch: str | None) -> Iterator[StoredRun]:
    if branch is not None:
        yield from _of(api, query, None, most=MOST_LISTED, status="completed", branch=branch)


def _near(runs: Iterable[StoredRun], before: Mapping[str, int]) -> Iterator[StoredRun]:
    yield from (replace(run, behind=before[run.commit]) for run in runs if run.commit in before)


def _of_others(api: Api, query: StoredQuery, before: Mapping[str, int]) -> Iterator[StoredRun]:
    """Runs of any workflow file here that stored an artifact of this name. Raises GitHubRefused."""
    for run in _that_stored(api, query, before):
        if _file(run) != query.workflow and run["status"] == "completed":
            behind = 0 if run["head_sha"] == query.commit else None
            yield replace(_stored_run(run, behind), workflow=_file(run))


def _that_stored(api: Api, query: StoredQuery, before: Mapping[str, int]) -> Iterator[Any]:
    """Trusted runs that stored an artifact of the wanted name. Of which workflow they are, only each run says."""
    path = f"/repos/{query.repository}/actions"

    def is_near(item: Any) -> bool:
        of = item.get("workflow_run") or {}
        ours = of.get("head_repository_id") == of.get("repository_id")
        near = of.get("head_sha") in (query.commit, *before)
        return ours and (near or of.get("head_branch") in (query.branch, query.default_branch))

    artifacts = api.items(f"{path}/artifacts", READ_RUNS, "artifacts", name=query.artifact)
    near = islice(among_many(artifacts, is_near), MOST_LISTED)
    known = dict.fromkeys(item["workflow_run"]["id"] for item in near)
    for number in islice(known, MOST_ASKED_FOR):
        run = api.get(f"{path}/runs/{number}", READ_RUNS)
        if _is_trusted(run, query):
            yield run


def _file(run: Any) -> str:
    """The file of a run's workflow."""
    return str(run["path"]).partition("@")[0].rpartition("/")[2]


def newest(api: Api, query: StoredQuery, most: int, *, until: datetime, commit: str | None) -> Iterator[StoredRun]:
    """The newest completed runs of a commit, or of the branch until some time. Raises GitHubRefused."""
    created = f"<={until:%Y-%m-%dT%H:%M:%SZ}"
    of_branch = partial(_of, api, query, None, status="completed", branch=query.branch or "", created=created)
    of_commit = partial(_of, api, query, None, status="completed", head_sha=commit or "")
    yield from islice(of_branch() if commit is None else of_commit(), most)


def storing_files(api: Api, query: StoredQuery) -> tuple[str, ...]:
    """The workflow files whose runs store the wanted artifact, the wanted one first. Raises GitHubRefused."""
    others = (_file(run) for run in _that_stored(api, query, {})) if query.others else ()
    return tuple(dict.fromkeys(filter(None, (query.workflow, *others))))


def unfinished(api: Api, query: StoredQuery, files: Iterable[str]) -> StoredRun | None:
    """A run of the wanted commit and of one of these workflow files that is in progress. Raises GitHubRefused.

    Only one whose result may be used counts.
    """
    for file in files if query.commit is not None else ():
        for run in _of(api, replace(query, workflow=file), 0, finished=False, head_sha=query.commit or ""):
            return run if file == query.workflow else replace(run, workflow=file)
    return None


def results_text(api: Api, repository: str, run: int, artifact: str, file: str = RESULTS) -> str:
    """The results document in a run's artifact of this name; that of a project is a file of its own.

    Raises NotStored, UnreadableResult, or GitHubRefused for what may pass.
    """
    texts = _texts(api, repository, run, artifact, lambda name: name == file, 1)
    if not texts and file != RESULTS:
        raise NotStored("it stored none of this project")
    return _some(texts)[0]


def results_texts(api: Api, repository: str, run: int, artifact: str, most: int) -> list[str]:
    """The results documents in a run's artifact: one, or one of each project. Raises as `results_text`."""
    return _some(_texts(api, repository, run, artifact, lambda name: f".{name}".endswith(f".{RESULTS}"), most))


def _some(texts: list[str]) -> list[str]:
    if not texts:
        raise UnreadableResult(f"it was refused: it holds no {RESULTS}")
    return texts


def _texts(
    api: Api, repository: str, run: int, artifact: str, is_selected: Callable[[str], bool], most: int
) -> list[str]:
    """Raises as `results_text`."""
    items = api.items(f"/repos/{repository}/actions/runs/{run}/artifacts", READ_RUNS, "artifacts", name=artifact)
    artifacts = [item for item in items if item["name"] == artifact]
    if not artifacts:
        raise NotStored("it stored none")
    newest = max(artifacts, key=lambda item: int(item["id"]))
    if newest["expired"]:
        raise UnreadableResult("it has expired")
    if newest["size_in_bytes"] > MOST_BYTES:
        raise UnreadableResult(f"it is larger than {MOST_BYTES // 1024**2} MiB")
    try:
        path = f"/repos/{repository}/actions/artifacts/{newest['id']}/zip"
        archive = api.download(path, READ_RUNS, MOST_BYTES)
        check_digest(archive, newest.get("digest"))
        return [content.decode("utf-8") for content in members(archive, is_selected, most)]
    except GitHubRefused as refused:
        if refused.status in (404, 410):
            raise UnreadableResult("it has expired") from None
        raise
    except UnsafeArchive as unsafe:
        raise UnreadableResult(f"it was refused: {unsafe}") from None
    except UnicodeDecodeError:
        raise UnreadableResult("it was refused: it is not UTF-8 text") from None


def artifact_names(api: Api, repository: str, run: int, prefix: str) -> list[str]:
    """The names of a run's artifacts that begin with `prefix`."""
    artifacts = api.items(f"/repos/{repository}/actions/runs/{run}/artifacts", READ_RUNS, "artifacts")
    return sorted({str(item["name"]) for item in artifacts if item["name"].startswith(prefix)})


def is_before(api: Api, github: str, repository: Path, commit: str, tip: str | None) -> bool:
    """Whether `tip` has a commit in its history: a tag may be named as a branch, and a branch be rewritten."""
    if tip is None:
        return False
    known = commit == tip or git.is_ancestor(repository, commit, tip)
    return known or merge_base(api, github, commit, tip) == commit


def require_of_run(api: Api, github: str, repository: Path, commit: str | None, run: StoredRun) -> None:
    """Raises UnreadableResult if the result of a run is of a commit that the run's own does not contain.

    One before it may be: that result was reused, or an older commit was checked out.
    """
    if commit is not None and not is_before(api, github, repository, commit, run.commit):
        raise UnreadableResult(f"it is of {commit[:7]}, which is not in the history of its run's commit")


def tip_of(api: Api, repository: str, branch: str) -> str | None:
    """The newest commit of a branch, never of a tag; None if GitHub does not return it."""
    return _sha_of("commit", api, f"/repos/{repository}/branches/{quote(branch, safe='')}")


def merge_base(api: Api, repository: str, base: str, head: str) -> str | None:
    """The commit at which `head` left `base`, a commit or a branch; None if GitHub does not return it."""
    return _sha_of("merge_base_commit", api, f"/repos/{repository}/compare/{quote(base, safe='')}...{head}")


def _sha_of(name: str, api: Api, path: str) -> str | None:
    with suppress(GitHubRefused), github_shape_errors():
        return str(api.get(path, READ_COMMITS)[name]["sha"])
    return None


def _before(api: Api, query: StoredQuery) -> list[str]:
    """The first parents before the wanted commit; none if GitHub does not say, as the branch is left to look at.

    GitHub lists the commits of merged branches too, which were never the base.
    """
    path = f"/repos/{query.repository}/commits"
    try:
        commits = api.get(path, READ_COMMITS, sha=query.commit or "", per_page=MOST_COMMITS + 1)
    except GitHubRefused:
        return []
    parents = {str(commit["sha"]): [str(parent["sha"]) for parent in commit["parents"]] for commit in commits}
    before, at = list[str](), query.commit
    while at := next(iter(parents.get(at or "", ())), None):
        before.append(at)
    return before


def _of(
    api: Api,
    query: StoredQuery,
    behind: int | None,
    *,
    finished: bool = True,
    most: int | None = None,
    **parameters: str,
) -> Iterator[StoredRun]:
    """Runs of the repository itself: a fork's branch may have any name and any commit."""
    if not query.workflow:
        return
    workflow = quote(query.workflow, safe="")
    path = f"/repos/{query.repository}/actions/workflows/{workflow}/runs"
    newest_first = api.items(path, READ_RUNS, "workflow_runs", **parameters)
    for run in islice(among_many(newest_first, partial(_is_trusted, query=query)), most):
        if (run["status"] == "completed") == finished:
            yield _stored_run(run, behind)


def among_many(items: Iterator[Any], is_wanted: Callable[[Any], bool]) -> Iterator[Any]:
    """The wanted artifacts. Raises GitHubRefused if none is among so many: there may be one behind them."""
    count = 0
    for item in islice(items, MOST_SEEN):
        if is_wanted(item):
            count += 1
            yield item
    if not count and next(items, None) is not None:
        raise GitHubRefused(f"none of the newest {MOST_SEEN} runs or artifacts is of the branch itself")


def is_trusted(run: Any) -> bool:
    """Whether a run is of code of the repository itself."""
    ours = (run.get("head_repository") or {}).get("id") == run["repository"]["id"]
    return ours and run["event"] in TRUSTED


def _is_trusted(run: Any, query: StoredQuery) -> bool:
    return is_trusted(run) and run["id"] != query.not_run


def _stored_run(run: Any, behind: int | None) -> StoredRun:
    return StoredRun(
        id=run["id"],
        number=run["run_number"],
        commit=run["head_sha"],
        branch=run["head_branch"] or "",
        behind=behind,
    )
