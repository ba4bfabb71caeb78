"""One JSON endpoint: requests from a template, replies limited in size and time."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

from runevals.lib.parsing.json_template import fill, fill_text
from runevals.lib.text.secrets import beginning
from runevals.models.http import network
from runevals.models.http.endpoint import WebSettings
from runevals.models.http.reading import TooLarge, TooSlow, pieces, read_limited
from runevals.models.http.throttle import CallFailed, Throttle, TryAgain, failure_of_status, final_failure
from runevals.programs.exchange import MAX_OUTPUT_BYTES

if TYPE_CHECKING:
    import requests

MOST_AT_ONCE = 64  # open connections
MOST_REASON = 300  # of a reply, in messages


class JsonEndpoint:
    """One address, shared by all threads. It stores no cookies, follows no redirects and reads no ~/.netrc."""

    def __init__(
        self, web: WebSettings, headers: Mapping[str, str], throttle: Throttle, *, timeout_s: float
    ) -> None:
        """`headers` are those of `web`, with keys."""
        self.web = web
        self._throttle = throttle
        self._headers = {"Accept": "application/json", "User-Agent": "runevals", **headers}
        self._timeout_s = timeout_s
        self._lock = threading.Lock()
        self._open_session: requests.Session | None = None

    def ask(self, values: Mapping[str, object]) -> tuple[bytes, float]:
        """(the reply's bytes, seconds it took); `values` is for the templates. Raises CallFailed."""
        return self._throttle.call(lambda: self._send(values), final_failure)

    def close(self) -> None:
        """Ends the connections."""
        with self._lock:
            if self._open_session is not None:
                self._open_session.close()

    def _send(self, values: Mapping[str, object]) -> tuple[bytes, float]:
        import requests
        import urllib3

        start = time.monotonic()
        try:
            with self._session().request(
                self.web.method,
                _address(self.web.url, values),
                json=fill(self.web.body, values),
                headers=self._headers,
                timeout=self._timeout_s,
                allow_redirects=False,
                stream=True,
            ) as reply:
                content = _content(reply, start + self._timeout_s)
        except (requests.Timeout, urllib3.exceptions.TimeoutError) as error:
            raise TryAgain("timeout", f"no answer within {self._timeout_s:g} s") from error
        except (requests.ConnectionError, urllib3.exceptions.HTTPError) as error:
            if (fault := network.certificate_fault(error)) is not None:
                raise CallFailed("failed", fault, refused=True) from error
            inner = error.args[0] if error.args else error  # the outer messages have the address, and its secrets
            reason = beginning(f"connection failed: {getattr(inner, 'reason', None) or inner}", MOST_REASON)
            raise TryAgain("failed", reason, of_host=True) from error
        except (OSError, ValueError) as error:  # requests raises OSError for a request that it cannot send
            raise CallFailed("failed", f"the request cannot be sent: {type(error).__name__}") from error
        if reply.status_code >= 300:
            raise failure_of_status(reply.status_code, excerpt(content), reply.headers)
        return content, time.monotonic() - start

    def _session(self) -> requests.Session:
        with self._lock:
            if self._open_session is None:
                self._open_session = _session()
            return self._open_session


def _session() -> requests.Session:
    from http.cookiejar import DefaultCookiePolicy

    from requests.adapters import HTTPAdapter

    session = network.session()
    session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))  # cases share no cookies
    for scheme in ("http://", "https://"):
        session.mount(scheme, HTTPAdapter(pool_maxsize=MOST_AT_ONCE))
    return session


def _address(template: str, values: Mapping[str, object]) -> str:
    """Raises ValueError if a value would lead up from the path, to what may be another tenant's."""
    url = fill_text(template, values, lambda text: quote(text, safe=""))
    leading_up = {".", ".."} & set(urlsplit(url).path.split("/"))
    if not leading_up <= set(urlsplit(template).path.split("/")):
        raise ValueError("a placeholder leads up from the path")
    return url


def _content(reply: requests.Response, deadline: float) -> bytes:
    """The body, limited in size and total time: a server may send slowly. Raises CallFailed, TryAgain."""
    try:
        return read_limited(pieces(reply.raw), MAX_OUTPUT_BYTES, deadline)
    except TooLarge:
        raise CallFailed("unparseable", f"the answer is larger than {MAX_OUTPUT_BYTES // 1024**2} MiB") from None
    except TooSlow:
        raise TryAgain("timeout", "the answer was not complete in time") from None


def excerpt(content: bytes) -> str:
    """How a reply begins, for a message."""
    return beginning(content.decode(errors="replace").strip(), MOST_REASON) or "(empty)"
