"""Which variables may be sent to a model or endpoint: in CI, a change names none that its base does not name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from runevals.records.errors import InvalidSettings

DEFAULT = "OPENAI_API_KEY"
VARIABLE = "RUNEVALS_API_KEY_ENV"  # more names, separated by commas; in CI only the workflow can set it
_OF_ONE_COMMIT = (
    "push",
    "schedule",
    "workflow_dispatch",
)  # events at which settings and workflow are one commit's


def require_sendable(
    names: Sequence[str],
    environment: Mapping[str, str],
    base: Mapping[str, Any],
    *,
    what: str,
    of_change: bool,
) -> None:
    """Raises InvalidSettings for a variable that a settings file names, and that only a change may have named.

    `base` is what the settings say that decide over the change, `of_change` whether there is one for sure.
    """
    trusted = environment.get("GITHUB_EVENT_NAME") in _OF_ONE_COMMIT and not of_change
    if not environment.get("CI") or trusted:
        return
    known = {DEFAULT, *environment.get(VARIABLE, "").replace(",", " ").split(), *names_in(base)}
    for name in names:
        if environment.get(name) and name not in known:
            raise InvalidSettings(
                f"{what}: {name} stands in the settings file, which a pull request may change, and would be "
                f"sent; in CI, name it in the workflow ({VARIABLE}={name}) or merge it into the base branch's "
                "settings first"
            )


def names_in(values: Mapping[str, Any]) -> Iterator[str]:
    """The variables that target and judges of a settings file name."""
    judges = values.get("judge")
    for told in (values.get("target"), *(judges if isinstance(judges, list) else [judges])):
        if isinstance(told, Mapping):
            headers = told.get("headers", {}).values()
            named = (
                told.get("api_key_env"),
                *(header.get("env") for header in headers if isinstance(header, Mapping)),
            )
            yield from filter(None, named)
