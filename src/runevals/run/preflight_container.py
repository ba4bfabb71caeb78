"""Refuses addresses that the action's container cannot reach, before anything is measured."""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import urlsplit

from runevals.models.http.network import unreachable
from runevals.programs.processes import what_to_use
from runevals.records.errors import InvalidSettings
from runevals.settings.resolve import Settings


def require_reachable(settings: Settings) -> None:
    """Raises InvalidSettings in the container for a server on the runner, which has a localhost of its own."""
    instead = what_to_use()
    if not instead:
        return
    for what, address in _addresses(settings):
        if _is_loopback(address) and unreachable(address) is not None:
            raise InvalidSettings(f"{what}: nothing answers at {address} within the container{instead}")


def _addresses(settings: Settings) -> list[tuple[str, str]]:
    target, addresses = settings.target, [("judge", judge.base_url) for judge in settings.judges]
    if target is not None:
        addresses.append(("target", target.address or target.base_url))
    return [(what, address) for what, address in addresses if address is not None]


def _is_loopback(address: str) -> bool:
    try:
        host = urlsplit(address).hostname or ""
        return host == "localhost" or host.endswith(".localhost") or ip_address(host).is_loopback
    except ValueError:
        return False
