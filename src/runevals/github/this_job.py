"""The event that started this job, the change that it checks out, and the job's own tokens."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from runevals.github import events
from runevals.lib.checkout import repository_root
from runevals.lib.nullable import if_known, without
from runevals.lib.parsing.shapes import object_in
from runevals.lib.text.secrets import remember, secret_values
from runevals.models.http.exchanges import REQUEST_TOKEN, REQUEST_URL
from runevals.records.errors import InvalidSettings
from runevals.repository import git
from runevals.run.baseline.protected_side import ChangeEvent
from runevals.settings.resolve import RawSettings, input_of
from runevals.settings.table import INPUTS

if TYPE_CHECKING:
    from runevals.github.api import Api

ALLOW_UNTRUSTED = "RUNEVALS_ALLOW_UNTRUSTED"
_TOKENS = ("INPUT_GITHUB_TOKEN", "GITHUB_TOKEN", "GH_TOKEN")
_FOR_ACTIONS = "ACTIONS_"  # ACTIONS_RUNTIME_TOKEN, ACTIONS_ID_TOKEN_REQUEST_TOKEN and whatever there will be


def job_here(environment: Mapping[str, str], workspace: Path, inputs: Mapping[str, str]) -> events.Job:
    """The job of the event that started it. Raises InvalidSettings."""
    mode = action_input("mode", inputs)
    event = read_event(environment, repository_root(workspace), inputs.get("github_token", ""))
    untrusted = bool(action_input("allow_untrusted", inputs))
    return events.job_of(event, if_known(str, mode), allow_untrusted=untrusted)


def require_own_code(raw: RawSettings) -> None:
    """Raises InvalidSettings if a command would run untrusted code with access to secrets, as the action does.

    `RUNEVALS_ALLOW_UNTRUSTED` allows it: in CI only the workflow sets variables.
    """
    if raw.environment.get("GITHUB_EVENT_NAME"):
        allowed = raw.environment.get(ALLOW_UNTRUSTED, "")
        job = job_here(raw.environment, raw.cwd, {"allow_untrusted": allowed})
        if job.task == "refused":
            raise InvalidSettings(job.why)


def with_own_identity(environment: Mapping[str, str]) -> Mapping[str, str]:
    """The environment, without the job's identity at an event that may bring code from elsewhere."""
    if not environment.get(REQUEST_URL) or events.may_identify(_event_of(environment)):
        return environment
    return without(environment, (REQUEST_URL, REQUEST_TOKEN))


def payload_of(environment: Mapping[str, str]) -> Mapping[str, Any]:
    """GitHub's description of the event that started this job; empty if there is none."""
    with suppress(OSError, ValueError):
        return object_in(json.loads(Path(environment.get("GITHUB_EVENT_PATH", "")).read_text(encoding="utf-8")))
    return {}


def _event_of(environment: Mapping[str, str]) -> events.Event:
    """What the runner says of it, without the checkout."""
    name, actor, sha = (environment.get(f"GITHUB_{what}", "") for what in ("EVENT_NAME", "ACTOR", "SHA"))
    return events.Event(name=name, actor=actor, sha=sha, payload=payload_of(environment))


def read_event(environment: Mapping[str, str], repository: Path, token: str = "") -> events.Event:
    """The event of this job and the checkout; without a name if there is none."""
    head, parents = git.head_and_parents(repository)
    unreadable = None if head is not None else git.why_unreadable(repository)
    event = replace(_event_of(environment), head=head, parents=parents, unreadable=unreadable)
    if not events.is_elsewhere(event):
        return event
    return replace(event, left_default=_left_default(event, environment, repository, token))


def _left_default(event: events.Event, environment: Mapping[str, str], repository: Path, token: str) -> str | None:
    """The merge base of HEAD and the default branch; None if it is unknown."""
    branch = default_branch(event.payload)
    if branch is None or event.head is None:
        return None
    common = git.common_ancestor(repository, f"refs/remotes/origin/{branch}")
    if common is not None or (api := api_of(environment, token)) is None:
        return common
    from runevals.github.stored import merge_base  # only here is GitHub asked

    return merge_base(api, environment["GITHUB_REPOSITORY"], branch, event.head)


def default_branch(payload: Mapping[str, Any]) -> str | None:
    """The name of the repository's default branch, if the event says it."""
    return events.text_or_none(events.value_at(payload, "repository", "default_branch"))


def change_event(raw: RawSettings) -> ChangeEvent:
    """The change that is checked out, by the event. Raises InvalidSettings."""
    token = raw.inputs.get("github_token") or raw.environment.get("GITHUB_TOKEN", "")
    event = read_event(raw.environment, repository_root(raw.cwd), token)
    return ChangeEvent(
        unreadable=event.unreadable if event.name else None,
        on_pull_request=events.is_change(event),
        untrusted=events.is_guarded(event),
        base=events.deciding_commit(event),
    )


def action_input(name: str, inputs: Mapping[str, str]) -> object:
    """The value of an input that only a workflow can set, or its default. Raises InvalidSettings."""
    return input_of(next(setting for setting in INPUTS if setting.name == name), inputs)


def api_of(environment: Mapping[str, str], token: str) -> Api | None:
    """The API as the variables of the job address it; None without a token or a repository."""
    if not token or not environment.get("GITHUB_REPOSITORY"):
        return None
    from runevals.github.api import PUBLIC_API, Api  # most commands ask GitHub nothing

    return Api(environment.get("GITHUB_API_URL") or PUBLIC_API, token)


def read_only(environment: Mapping[str, str]) -> str | None:
    """Why this job may have a token that cannot write and no secrets of Actions; None if nothing says so."""
    if environment.get("GITHUB_EVENT_NAME") != "pull_request":
        return None
    if environment.get("GITHUB_ACTOR") == events.DEPENDABOT:
        return (
            "Dependabot opened this pull request: there are only Dependabot secrets, and the token writes only if "
            "`permissions:` says so"
        )
    try:
        change = payload_of(environment)["pull_request"]
        forked = change["head"]["repo"]["full_name"] != change["base"]["repo"]["full_name"]
    except (KeyError, TypeError):
        return None
    why = "this pull request comes from a fork: the token cannot write, and there are no secrets"
    return why if forked else None


def without_tokens(environment: MutableMapping[str, str]) -> dict[str, str]:
    """All of `environment`, from which the tokens are then removed: they are passed on explicitly.

    They are still taken out of all that is printed.
    """
    whole = dict(environment)
    tokens = {
        name: value
        for name, value in whole.items()
        if name in _TOKENS or (name.startswith(_FOR_ACTIONS) and name.endswith("_TOKEN"))
    }
    remember(tokens)
    for name in tokens:
        del environment[name]
    return whole


def mask_commands(environment: Mapping[str, str], more_names: Iterable[str] = ()) -> Iterator[str]:
    """One `::add-mask::` line for each value of a variable named like a secret, or in `more_names`."""
    for value in secret_values(environment, more_names):
        yield f"::add-mask::{value.replace('%', '%25')}"
