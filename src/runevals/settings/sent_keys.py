"""Which variables are sent to a model or endpoint: in CI a change names none that its base does not send there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from runevals.lib.chat.providers import PROVIDERS, address
from runevals.lib.http.origin import origin_of
from runevals.records.errors import InvalidSettings
from runevals.settings.web_target import URL_VARIABLE, is_of_one_commit

VARIABLE = "RUNEVALS_API_KEY_ENV"  # more names, separated by commas; in CI only the workflow can set it


@dataclass(frozen=True, slots=True, kw_only=True)
class SentKeys:
    """Which variables a target or judge is sent, and to whom; `default` is what nobody needs to name."""

    names: Sequence[str]
    origin: str
    default: str | None = None


def require_sendable(
    sent: SentKeys, environment: Mapping[str, str], base: Mapping[str, Any], *, what: str, of_change: bool
) -> None:
    """Raises InvalidSettings for a variable that a settings file names, and that only a change may have named.

    `base` is what the settings say that decide over the change, `of_change` whether there is one for sure.
    """
    if not environment.get("CI") or is_of_one_commit(environment, of_change=of_change):
        return
    known = {sent.default, *environment.get(VARIABLE, "").replace(",", " ").split()}
    known |= {name for name, origin in sent_by(base, environment) if origin == sent.origin}
    for name in sent.names:
        if environment.get(name) and name not in known:
            raise InvalidSettings(
                f"{what}: {name} stands in the settings file, which a pull request may change, and would be "
                f"sent to {sent.origin}; in CI, name it in the workflow ({VARIABLE}={name}) or merge it into the "
                "base branch's settings first"
            )


def sent_by(values: Mapping[str, Any], environment: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The variables that target and judges of a settings file name, with where they are sent."""
    judges = values.get("judge")
    for told in (values.get("target"), *(judges if isinstance(judges, list) else [judges])):
        if isinstance(told, Mapping):
            headers = told.get("headers", {}).values()
            named = (
                told.get("api_key_env"),
                *(header["env"] for header in headers if isinstance(header, Mapping)),
            )
            with suppress(ValueError, InvalidSettings):  # an address that is none is sent nothing
                origin = _origin(told, environment)
                yield from ((name, origin) for name in named if name)


def _origin(told: Mapping[str, Any], environment: Mapping[str, str]) -> str:
    if told.get("type") in ("http", "a2a"):
        return origin_of(environment.get(URL_VARIABLE) or told.get("url", ""))
    provider = told["type"] if told.get("type") in PROVIDERS else "openai"
    return origin_of(told.get("base_url") or address(provider, environment))
