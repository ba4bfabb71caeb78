"""The results and the stored answers of earlier attempts of this job."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence

from runevals.github.api import GitHubRefused, github_shape_errors
from runevals.github.comments import slug
from runevals.github.job import JobContext
from runevals.github.stored import NotStored, UnreadableResult, results_text
from runevals.lib.storage.files import require_no_link
from runevals.lib.text.secret_variables import SECRET_NAMES, SHORTEST
from runevals.records import Conclusion
from runevals.records.errors import InvalidDocument
from runevals.reports import results_document
from runevals.run.resume.code_fingerprint import addresses
from runevals.run.resume.unfinished import FILES, RUNS, UnfinishedRun, worth_a_journal
from runevals.settings.resolve import Settings
from runevals.version import __version__

_CHANGE = ("INPUT_", "ACTIONS_", "GITHUB_", "GH_")  # with every attempt, or are set by others


def measured_before(
    here: JobContext, environment: Mapping[str, str], notify: Callable[[str], None]
) -> Conclusion | None:
    """The result of the previous attempt of this job, if it was stored; `notify` gets the reason if not.

    It has the runs of those before it, too.
    """
    number = environment.get("GITHUB_RUN_ATTEMPT", "")
    if here.api is None or here.run is None or not number.isdecimal() or int(number) < 2:
        return None
    try:
        with github_shape_errors():
            text = results_text(here.api, here.repository, here.run, here.artifact, here.results_file)
        return results_document.parse(text, "its result")
    except (UnreadableResult, InvalidDocument, GitHubRefused) as problem:
        notify(f"What the attempt of this job before measured does not count: {problem}")
    except NotStored:
        pass
    return None


def attempted(
    targets: Sequence[Settings], here: JobContext, inputs: Mapping[str, str], notify: Callable[[str], None]
) -> UnfinishedRun | None:
    """The run to resume from the previous attempt, or a new one; None if answers may not be stored.

    `targets` are the settings of each target.

    A change can put any file here, and so can whoever writes the workflow's cache. So only answers count that are
    signed with the job's own secrets, for this very run of the workflow: its commit, inputs and endpoints, this
    version. The settings do not say which secrets those are. Raises InvalidSettings for a folder that leads
    elsewhere. `notify` is called with the reason why nothing is kept.
    """
    settings = targets[0]
    if not worth_a_journal(*targets):
        return None
    if settings.redaction.redact != "full":
        notify("resume: nothing is kept for another attempt, because `redact` keeps answers out of files")
        return None
    secret = _secret(targets, inputs)
    if secret is None:
        names = ", ".join(f"*{name}" for name in SECRET_NAMES)
        notify(f"resume: nothing is kept for another attempt, because no secret ({names}) could sign it")
        return None
    folder = settings.cwd / RUNS / slug(here.artifact)
    require_no_link(*(folder / name for name in FILES))
    return UnfinishedRun(folder, secret=secret)


def _secret(targets: Sequence[Settings], inputs: Mapping[str, str]) -> bytes | None:
    """The signing key, derived from every secret of the job; None without secrets or workflow run."""
    environment = targets[0].environment
    secrets = {
        name: value
        for name, value in environment.items()
        if name.upper().endswith(SECRET_NAMES) and not name.upper().startswith(_CHANGE) and len(value) >= SHORTEST
    }
    run = [environment.get(f"GITHUB_{name}") for name in ("REPOSITORY", "RUN_ID", "SHA", "WORKFLOW_REF")]
    if not secrets or not environment.get("GITHUB_RUN_ID"):
        return None
    options = {name: value for name, value in inputs.items() if name != "github_token"}
    signed = [__version__, secrets, run, options, addresses(*targets)]
    return hashlib.sha256(json.dumps(signed, sort_keys=True).encode()).digest()
