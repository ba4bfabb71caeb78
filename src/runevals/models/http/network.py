"""How this machine reaches hosts, and whether: proxies and authorities of certificates, of its environment."""

from __future__ import annotations

import os
import ssl
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from runevals.lib.text.escape import one_line
from runevals.models.http.origin import without_credentials

if TYPE_CHECKING:
    import requests

PATIENCE_S = 5.0  # of a look whether a host answers
CA_VARIABLES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
_read = cache(ssl.create_default_context)  # by all clients: it takes 30 ms


def authorities() -> tuple[str, str] | None:
    """The first variable that names a file or folder of authorities, with its value."""
    return next(((name, value) for name in CA_VARIABLES if (value := os.environ.get(name))), None)


def certificates() -> ssl.SSLContext | None:
    """What the environment says to trust; None: what a client trusts by itself. Raises ValueError."""
    variable = authorities()
    if variable is None:
        return None
    name, value = variable
    try:
        return _read(capath=value) if Path(value).is_dir() else _read(cafile=value)
    except OSError as error:  # ssl.SSLError is one
        raise ValueError(f"{name}={value} has no certificates that can be read ({error})") from None


def session() -> requests.Session:
    """A session that trusts the same authorities as all other clients, and never sends what ~/.netrc holds."""
    import requests  # not needed at the start

    class Session(requests.Session):
        def rebuild_auth(self, prepared_request: requests.PreparedRequest, response: requests.Response) -> None:
            if self.should_strip_auth(response.request.url, prepared_request.url):  # type: ignore[no-untyped-call]
                prepared_request.headers.pop("Authorization", None)

    opened = Session()
    opened.verify = os.environ.get(CA_VARIABLES[0]) or True  # requests reads the other two
    opened.auth = _with_credentials_of_its_address
    return opened


def _with_credentials_of_its_address(request: requests.PreparedRequest) -> requests.PreparedRequest:
    request.prepare_auth(None)
    return request


def async_client(headers: Mapping[str, str]) -> Any:
    """An asynchronous client, of the library that the SDKs bring, with the same authorities. Raises ValueError."""
    import httpx2

    return httpx2.AsyncClient(headers=dict(headers), verify=certificates() or True, timeout=None)


def route(url: str) -> str:
    """ " through the proxy …”, if the environment has one for this address."""
    from urllib.request import getproxies, proxy_bypass

    parts, proxies = urlsplit(url), getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if not proxy or proxy_bypass(parts.netloc.rpartition("@")[2]):
        return ""
    return f" through the proxy {without_credentials(proxy)}"


def certificate_fault(error: BaseException) -> str | None:
    """Why a certificate was not accepted, and what helps; None for other errors."""
    for cause in _causes(error):
        if isinstance(cause, ssl.SSLCertVerificationError):
            variable = authorities()
            now = "none of them is set" if variable is None else f"now {'='.join(variable)}"
            return (
                f"its certificate is not accepted: {one_line(cause.verify_message, 200)}; name the file of your "
                f"network's authority in {', '.join(CA_VARIABLES[:-1])} or {CA_VARIABLES[-1]} ({now})"
            )
    return None


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """An error, and the errors behind it: raised from, wrapped in its arguments, or kept as its reason."""
    waiting = [error]
    known: set[int] = set()
    while waiting:
        each = waiting.pop()
        if isinstance(each, BaseException) and id(each) not in known:
            known.add(id(each))
            yield each
            waiting += [each.__cause__, each.__context__, getattr(each, "reason", None), *each.args]


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
