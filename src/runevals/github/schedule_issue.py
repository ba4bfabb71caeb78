"""The issue of scheduled runs: open while cases are lost, kept current, closed once they pass again."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

from runevals.github.api import Api, GitHubRefused, github_shape_errors
from runevals.github.comments import Author, slug
from runevals.github.events import value_at
from runevals.github.job import JobContext
from runevals.lib.text.escape import one_line
from runevals.lib.text.numbers import phrase
from runevals.records import CaseReport, Conclusion, Outcome, RunInfo, State
from runevals.reports import comment
from runevals.reports.identity import measured

READS, WRITES = "issues: read", "issues: write"
MOST_ISSUES = 1000  # open ones, the newest first, that are searched
MOST_LOST = 200  # cases that an issue remembers
_LOST = re.compile(r"^<!-- lost ([0-9a-f ]*) -->$", re.MULTILINE)
_SAME = "**The provider changed, your code did not**: commit and suites are those of the last run."
_OTHER = "The code changed too since the last run."


def put_issue(conclusion: Conclusion, here: JobContext) -> str:
    """Opens, updates or closes the issue → its address, empty if there is none. Raises GitHubRefused."""
    if here.api is None:
        raise GitHubRefused("there is no github_token to write it with")
    with github_shape_errors():
        return _put(conclusion, here, here.api)


def _put(conclusion: Conclusion, here: JobContext, api: Api) -> str:
    path = f"/repos/{here.repository}/issues"
    name = " ".join(map(slug, filter(None, (here.comment_id, here.project))))
    marker = f"<!-- runevals-issue {name} -->"
    issue = _own_issue(api, path, marker)
    if conclusion.verdict.outcome == "unmeasured" or (issue is None and not is_lost(conclusion)):
        return "" if issue is None else str(issue["html_url"])
    lost = {_digest(case.suite, case.key) for case in _lost_cases(conclusion)}
    lost |= remembered(value_at(issue, "body"), conclusion.report.cases)
    body = issue_text(conclusion, here, marker, sorted(lost)[:MOST_LOST])
    if issue is None:
        where = phrase(here.project, " in {}")
        title = one_line(f"Evals lost cases on schedule{where}: {measured(conclusion.report.run)}", 200)
        return str(api.post(path, WRITES, {"title": title, "body": body})["html_url"])
    change: dict[str, object] = {"body": body}
    if not lost and conclusion.verdict.outcome == "passed":
        change |= {"state": "closed", "state_reason": "completed"}
    return str(api.patch(f"{path}/{issue['number']}", WRITES, change)["html_url"])


def is_lost(conclusion: Conclusion) -> bool:
    """Whether the run lost against the last one.

    A fresh run of the base has today's provider: a loss that it shows too is not confirmed as one of the code.
    """
    comparison = conclusion.comparison
    if comparison is not None and comparison.state is State.WORSE:
        return conclusion.verdict.outcome == "failed"
    return bool(_lost_cases(conclusion))


def _lost_cases(conclusion: Conclusion) -> list[CaseReport]:
    """The cases that passed in the last run and fail now, and did so again on every fresh run."""
    comparison = conclusion.comparison
    if comparison is None:
        return []
    again = {each.key: each.head for each in comparison.findings if each.family == "case"}
    cases = []
    for change in comparison.of_kind("regressed"):
        head = again.get((change.suite, change.key))
        failing = comparison.state is State.WORSE or (
            head is not None and all(run.status is Outcome.FAILED for run in head.runs)
        )
        if change.head is not None and failing:
            cases.append(change.head)
    return cases


def remembered(body: str | None, cases: Iterable[CaseReport]) -> set[str]:
    """Digests of the cases that the issue lists as lost and that still fail."""
    before = {digest for digests in _LOST.findall(body or "")[:1] for digest in digests.split()}
    return before & {_digest(case.suite, case.key) for case in cases if case.status is not Outcome.PASSED}


def issue_text(conclusion: Conclusion, here: JobContext, marker: str, lost: Sequence[str]) -> str:
    """The comment's text, with what changed since the last run, and invisible: the lost cases."""
    comparison = conclusion.comparison
    why = _cause(comparison.base.run, conclusion.report.run) if comparison and is_lost(conclusion) else ""
    text = comment.render(conclusion, here.links(conclusion.report.run.commit))
    return "\n\n".join(filter(None, (f"{marker}\n<!-- lost {' '.join(lost)} -->", why, text)))


def _cause(then: RunInfo, now: RunInfo) -> str:
    same = then.commit is not None and then.commit == now.commit
    suites = [sorted(suite.fingerprint for suite in run.suites) for run in (then, now)]
    return _SAME if same and suites[0] == suites[1] else _OTHER


def _digest(suite: str, key: str) -> str:
    return hashlib.sha256(f"{suite}\n{key}".encode()).hexdigest()[:16]


def _own_issue(api: Api, path: str, marker: str) -> Any | None:
    """The newest open issue of our own with this marker; other users can write the marker too."""
    author = Author(api)
    for issue in islice(api.items(path, READS, state="open"), MOST_ISSUES):
        of_ours = (issue.get("body") or "").startswith(marker) and "pull_request" not in issue
        if of_ours and author.wrote(issue):
            return issue
    return None
