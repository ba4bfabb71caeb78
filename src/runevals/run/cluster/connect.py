"""Connects to a running Ray cluster."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from runevals.records.errors import ExternalError, InvalidSettings
from runevals.run.interrupts import handlers_restored

REACH_S = 5.0
HOW = (
    "start one with `ray start --head`, add machines with `ray start --address HOST:6379`, and name it with "
    "--ray-address HOST:6379 or RAY_ADDRESS"
)


@contextmanager
def connected(ray_address: str | None, environment: Mapping[str, str]) -> Iterator[None]:
    """Makes this process a driver of the cluster: `ray_address`, that of RAY_ADDRESS, or this machine's.

    Raises InvalidSettings if Ray is not installed, ExternalError where there is no cluster that takes us.
    """
    try:
        import ray
    except ImportError as error:
        raise InvalidSettings(
            f"--executor ray needs Ray ({error}); install it with: pip install 'runevals[ray]'"
        ) from None
    if ray.is_initialized():  # for the other side of a comparison
        yield
        return
    address = ray_address or environment.get("RAY_ADDRESS") or "auto"
    _require_reachable(address)
    os.environ.setdefault("RAY_COLOR_PREFIX", "0")  # else what Ray prints of a lost node is coloured in files too
    with handlers_restored():  # Ray replaces that of SIGTERM
        try:
            ray.init(address=address, log_to_driver=False, logging_level=logging.CRITICAL)
        except ConnectionError as error:
            raise ExternalError(f"there is no Ray cluster to run on ({address}): {_line(error)}\n{HOW}") from error
        except ValueError as error:
            text = f"the address of the Ray cluster, {address}, is invalid: {_line(error)}"
            raise InvalidSettings(f"{text}; it is HOST:PORT or ray://HOST:PORT") from error
        except (OSError, RuntimeError, ImportError, ray.exceptions.RayError) as error:  # other versions, say
            raise ExternalError(f"the Ray cluster {address} cannot be used: {_line(error)}") from error
    try:
        yield
    finally:
        ray.shutdown()


def _require_reachable(address: str) -> None:
    """Without this check Ray would retry for minutes."""
    host, _, port = address.rpartition("/")[2].rpartition(":")
    if not host or not port.isdigit():
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), REACH_S).close()
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ExternalError(f"the Ray cluster {address} cannot be reached: {reason}\n{HOW}") from error


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:500]
