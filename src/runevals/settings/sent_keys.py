"""Which variables are sent to a model or endpoint: in CI a change may add none that its base does not send."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct

from runevals.lib.chat.providers import PROVIDERS, address
from runevals.lib.http.origin import is_at, origin_of
from runevals.records.agent import AGENTS
from runevals.records.errors import InvalidSettings
from runevals.settings.web_target import URL_VARIABLE, is_of_one_commit

VARIABLE = "RUNEVALS_API_KEY_ENV"  # more names, separated by commas; in CI only the workflow can set it


class SentKeys(Struct, frozen=True, kw_only=True):
    """The variables sent to a target or judge, their headers and the address.

    `default` is the provider's own variable, which is always allowed.
    """

    names: Collection[tuple[str, str]]  # (variable, header in lower case)
    address: str
    default: str | None = None


VARIABLES = "environment"  # in place of a header: an agent gets environment variables
_AGENTS_PLACE = "https://agent.invalid/"
AUTHORIZATION = "authorization"  # the header of the key of a chat model


def require_sendable(
    sent: SentKeys, environment: Mapping[str, str], base: Mapping[str, Any], *, what: str, of_change: bool
) -> None:
    """Raises InvalidSettings for a variable in the settings file that a change may have added.

    `base` holds the settings that decide over the change; `of_change`: there certainly is one.
    """
    if not environment.get("CI") or is_of_one_commit(environment, of_change=of_change):
        return
    known = {sent.default, *environment.get(VARIABLE, "").replace(",", " ").split()}
    of_base = [one.names for one in sent_by(base, environment) if is_at(sent.address, one.address)]
    for name, header in sent.names:
        if environment.get(name) and name not in known and not any((name, header) in names for names in of_base):
            raise InvalidSettings(
                f"{what}: {name} stands in the settings file, which a pull request may change, and would be "
                f"sent to {_display_address(sent.address)} in the header {header}; in CI, name it in the workflow "
                f"({VARIABLE}={name}) or merge it into the base branch's settings first"
            )


def agent_address(agent: str) -> str:
    """Stands for the address of a coding agent, which gets variables and may send them anywhere."""
    return f"{_AGENTS_PLACE}{agent}"


def _display_address(address: str) -> str:
    if address.startswith(_AGENTS_PLACE):
        return f"the agent {address.removeprefix(_AGENTS_PLACE)}"
    return f"{origin_of(address)}{urlsplit(address).path}"


def sent_by(values: Mapping[str, Any], environment: Mapping[str, str]) -> Iterator[SentKeys]:
    """The variables that target and judges of a settings file name, with the address they are sent to."""
    judges = values.get("judge")
    for endpoint in (values.get("target"), *(judges if isinstance(judges, list) else [judges])):
        if isinstance(endpoint, Mapping):
            headers = endpoint.get("headers", {}).items()
            names = {(header["env"], name.lower()) for name, header in headers if isinstance(header, Mapping)}
            if endpoint.get("api_key_env"):
                names.add((endpoint["api_key_env"], AUTHORIZATION))
            if endpoint.get("type") in AGENTS:
                names |= {(name, VARIABLES) for name in endpoint.get("env", ())}
            with suppress(ValueError, InvalidSettings):  # nothing is sent to an invalid address
                place = _address(endpoint, environment)
                origin_of(place)
                yield SentKeys(names=names, address=place)


def _address(endpoint: Mapping[str, Any], environment: Mapping[str, str]) -> str:
    if endpoint.get("type") in AGENTS:
        return agent_address(endpoint["type"])
    if endpoint.get("type") in ("http", "a2a"):
        return str(environment.get(URL_VARIABLE) or endpoint.get("url", ""))
    provider = endpoint["type"] if endpoint.get("type") in PROVIDERS else "openai"
    return str(endpoint.get("base_url") or address(provider, environment, endpoint.get("model")))
