"""A client of GitHub's REST API: one origin, one token, retries at rate limits."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from io import BytesIO
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from runevals.models.http import network
from runevals.models.http.origin import origin_of
from runevals.models.http.reading import TooLarge, TooSlow, pieces, read_limited
from runevals.models.http.throttle import Throttle, TryAgain, retry_after_s
from runevals.records.errors import ExternalError

if TYPE_CHECKING:
    import requests

PUBLIC_API = "https://api.github.com"
VERSION = "2022-11-28"
TIMEOUT_S = 30.0  # from one byte to the next
TOTAL_S = 300.0  # of one answer or download
PAGE = 100
MOST_PAGES = 100
SECONDARY_LIMIT_S = 60.0  # what GitHub asks for where it names no time of its own
MOST_BYTES = 64 * 1024 * 1024  # of an answer


class GitHubRefused(ExternalError):
    """GitHub refused a request. `status` is the response's, None if there was none."""

    def __init__(self, message: str, status: int | None = None) -> None:
        self.status = status
        super().__init__(message)


class Api:
    """Requests to one API with one token, which is never sent to another host."""

    def __init__(self, url: str, token: str, throttle: Throttle | None = None) -> None:
        """`url` is the runner's GITHUB_API_URL. Raises GitHubRefused if that is not a web address."""
        self._url = url.rstrip("/")
        self._throttle = throttle or Throttle()
        self._session = network.session()
        self._session.auth = _Bearer(self._url, token)
        self._session.headers.update(
            {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": VERSION, "User-Agent": "runevals"}
        )
        if urlsplit(self._url).scheme not in ("http", "https"):
            raise GitHubRefused(f"GITHUB_API_URL is {self._url}, which is no web address")

    def __repr__(self) -> str:
        return f"Api({self._url!r})"

    def get(self, path: str, needs: str, **query: str | int) -> Any:
        """The JSON at `path`. `needs` names the required permission in messages. Raises GitHubRefused."""
        return _json(self._answered("GET", self._url + path, needs, params=query))

    def items(self, path: str, needs: str, key: str | None = None, **query: str | int) -> Iterator[Any]:
        """The entries of a list over all its pages; `key` names the list if it is inside an object."""
        url, query = self._url + path, {**query, "per_page": PAGE}
        for _ in range(MOST_PAGES):
            answer = self._answered("GET", url, needs, params=query)
            page = _json(answer)
            yield from page if key is None else page[key]
            url, query = answer.links.get("next", {}).get("url", ""), {}
            if not url:
                return
            if origin_of(url) != origin_of(self._url):
                raise GitHubRefused(
                    f"{path}: GitHub's next page is said to be at another host, {urlsplit(url).netloc}"
                )

    def post(self, path: str, needs: str, body: Mapping[str, object]) -> Any:
        """Creates an object. The request is not repeated if it may have succeeded without a response."""
        return _json(self._answered("POST", self._url + path, needs, json=body))

    def patch(self, path: str, needs: str, body: Mapping[str, object]) -> Any:
        """Changes an object and returns it."""
        return _json(self._answered("PATCH", self._url + path, needs, json=body))

    def delete(self, path: str, needs: str) -> None:
        """Deletes what is at `path`."""
        self._answered("DELETE", self._url + path, needs)

    def graphql(self, query: str) -> Any:
        """The data of a read-only GraphQL query. Raises GitHubRefused."""
        url = f"{self._url.removesuffix('/v3')}/graphql"  # a self-hosted server has it beside /api/v3
        answer = _json(self._answered("POST", url, "", json={"query": query}))
        if not isinstance(answer, dict) or not isinstance(answer.get("data"), dict):
            raise GitHubRefused(f"{_display_request('POST', url)}: GitHub's answer has no data")
        return answer["data"]

    def download(self, path: str, needs: str, most_bytes: int) -> bytes:
        """The content that `path` redirects to, fetched without the token. Raises GitHubRefused."""

        def once() -> bytes:  # the address is valid for a minute only, so both steps are repeated
            answer = self._once("GET", self._url + path, needs, {})
            if answer.status_code != 302 or "Location" not in answer.headers:
                raise GitHubRefused(
                    f"{path}: GitHub answers with {answer.status_code} and no address to fetch it from"
                )
            return _elsewhere(answer.headers["Location"], most_bytes)

        return self._throttle.call(once, lambda last: GitHubRefused(f"{path}: {last}"))

    def _answered(self, method: str, url: str, needs: str, **more: Any) -> requests.Response:
        def once() -> requests.Response:
            answer = self._once(method, url, needs, more)
            if answer.is_redirect:
                raise GitHubRefused(
                    f"{_display_request(method, url)}: GitHub redirects to elsewhere, where we do not follow"
                )
            return answer

        return self._throttle.call(once, lambda last: GitHubRefused(f"{_display_request(method, url)}: {last}"))

    def _once(self, method: str, url: str, needs: str, more: Mapping[str, Any]) -> requests.Response:
        import requests
        import urllib3

        try:
            answer = self._session.request(
                method, url, timeout=TIMEOUT_S, allow_redirects=False, stream=True, **more
            )
            with closing(answer.raw):
                content = _body(answer, "GitHub", MOST_BYTES)
            answer.raw = BytesIO(content)
        except (requests.RequestException, urllib3.exceptions.HTTPError) as error:
            text = f"GitHub does not answer ({type(error).__name__})"
            if method == "POST":
                raise GitHubRefused(f"{_display_request(method, url)}: {text}") from None
            raise TryAgain("failed", text) from None
        _may_pass(answer, method)
        if answer.status_code >= 400:
            raise GitHubRefused(_refusal(answer, _display_request(method, url), needs), answer.status_code)
        return answer


class _Bearer:
    """Adds the token to requests to the API itself."""

    def __init__(self, url: str, token: str) -> None:
        self._origin, self._token = origin_of(url), token

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        if self._token and origin_of(request.url or "") == self._origin:
            request.headers["Authorization"] = f"Bearer {self._token}"
        return request


@contextmanager
def github_shape_errors() -> Iterator[None]:
    """Raises GitHubRefused for a response whose shape GitHub does not document."""
    try:
        yield
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise GitHubRefused(
            f"GitHub's answer is not what it describes ({type(error).__name__}: {error})"
        ) from None


def _may_pass(answer: requests.Response, method: str) -> None:
    """Raises TryAgain at a rate limit, with the time until its end, and if the server is down."""
    status = answer.status_code
    if status in (403, 429):
        after = _until_lifted(answer)
        if after is not None:
            raise TryAgain("rate_limited", f"GitHub's rate limit ({status})", after, pauses_host=True)
    if status >= 500 and method != "POST":
        raise TryAgain("failed", f"GitHub answers with {status}", retry_after_s(answer.headers))


def _until_lifted(answer: requests.Response) -> float | None:
    """Seconds until the end of a rate limit; None if there is none."""
    after = retry_after_s(answer.headers)
    if after is not None:
        return after
    if answer.headers.get("x-ratelimit-remaining") == "0":
        try:
            return max(0.0, float(answer.headers.get("x-ratelimit-reset", "")) - time.time())
        except ValueError:
            return SECONDARY_LIMIT_S
    secondary = "secondary rate limit" in _message(answer).lower()
    return SECONDARY_LIMIT_S if secondary or answer.status_code == 429 else None


def _refusal(answer: requests.Response, request: str, needs: str) -> str:
    text = f"{request}: GitHub answers with {answer.status_code} ({_message(answer)})"
    if answer.status_code == 401:
        return f"{text}: the token is not valid"
    if answer.status_code == 403 and "is locked" in _message(answer):
        return f"{text}: nobody can comment until the conversation is unlocked; nothing is wrong with the token"
    if answer.status_code == 403:
        return f"{text}: the job's token lacks `permissions: {{{needs}}}`, or can only read, as on a fork's change"
    return text


def _message(answer: requests.Response) -> str:
    with suppress(ValueError, KeyError, TypeError):
        content = answer.json()
        return " ".join(str(content["message"]).split())[:200]
    return answer.reason or "no reason given"


def _json(answer: requests.Response) -> Any:
    try:
        return answer.json()
    except ValueError:
        raise GitHubRefused(f"{_display_request('GET', answer.url)}: GitHub's answer is not JSON") from None


def _elsewhere(address: str, most_bytes: int) -> bytes:
    """The bytes at a blob host's address, which contains its own permission and refuses other tokens."""
    import requests
    import urllib3

    host = urlsplit(address).netloc
    try:
        with (
            network.session() as client,
            client.get(address, timeout=TIMEOUT_S, stream=True, allow_redirects=False) as answer,
        ):
            if answer.status_code >= 500:
                raise TryAgain("failed", f"{host} answers with {answer.status_code}")
            if answer.status_code != 200:
                raise GitHubRefused(f"{host} answers with {answer.status_code}", answer.status_code)
            return _body(answer, host, most_bytes)
    except (requests.RequestException, urllib3.exceptions.HTTPError) as error:
        raise TryAgain("failed", f"{host} does not answer ({type(error).__name__})") from None


def _body(answer: requests.Response, host: str, most_bytes: int) -> bytes:
    """The content, limited in size and total time. Raises GitHubRefused."""
    try:
        return read_limited(pieces(answer.raw), most_bytes, time.monotonic() + TOTAL_S)
    except TooLarge:
        raise GitHubRefused(f"{host} sends more than {most_bytes // 1024**2} MiB") from None
    except TooSlow:
        raise GitHubRefused(f"{host} sends too slowly: not complete within {TOTAL_S:g} s") from None


def _display_request(method: str, url: str) -> str:
    return f"{method} {urlsplit(url).path}"
