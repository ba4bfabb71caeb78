"""Whether anything answers at an address."""

from __future__ import annotations

from runevals.lib.text.escape import one_line
from runevals.models.http.network import certificate_fault, route, session

PATIENCE_S = 5.0


def unreachable(address: str) -> str | None:
    """Why there is no answer from this address, or None. No key is sent, and no model is called."""
    import requests  # not needed at the start

    try:
        with session() as client:
            client.get(address, timeout=PATIENCE_S, stream=True, allow_redirects=False).close()
    except requests.exceptions.SSLError as error:
        return certificate_fault(error) or f"its certificate is not accepted ({one_line(str(error), 120)})"
    except requests.Timeout:
        return f"nothing answers within {PATIENCE_S:.0f} s{route(address)}"
    except (requests.RequestException, ValueError):
        return f"nothing answers there{route(address)}"
    return None
