"""Addresses in prompts, replaced by what is there: public texts only, each fetched once, never a private host."""

from __future__ import annotations

import hashlib
import ipaddress
import re
import socket
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urljoin, urlsplit

from runevals.records import Case, Problem, Suite, Turn

DIALECT = "eval-samples"  # the one format whose addresses mean what they lead to
TIMEOUT_S = 30.0
MOST_REDIRECTS = 5
MOST_BYTES = 2 * 1024 * 1024
AT_ONCE = 8
_URL = re.compile(r"https?://[^\s<>\"'`\\^{}|\[\]]+", re.IGNORECASE)
_TRAILING = ".,;:!?'\"»”’"
_PAIRS = {")": "(", "]": "[", "}": "{"}
_TEXT_TYPES = re.compile(r"text/|application/(?:json|xml|javascript|x-yaml|yaml|[\w.+-]+\+(?:json|xml))")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetching:
    """Whether addresses are fetched: yes, no (they are plain text), or not told; which private hosts may be."""

    enabled: bool | None = None
    allow_hosts: tuple[str, ...] = ()


class NotFetched(Exception):
    """Why an address could not be fetched."""


def found_in(text: str) -> list[str]:
    """The distinct addresses in a text, in order; closing punctuation is part of one only where it is balanced."""
    found: dict[str, None] = {}
    for match in _URL.finditer(text):
        url = match[0]
        while url and (url[-1] in _TRAILING or _is_unbalanced(url)):
            url = url[:-1]
        if urlsplit(url).netloc:
            found[url] = None
    return list(found)


def _is_unbalanced(url: str) -> bool:
    """Whether it ends with a bracket that it did not open."""
    opening = _PAIRS.get(url[-1])
    return opening is not None and url.count(opening) < url.count(url[-1])


def inlined(suites: Sequence[Suite], fetching: Fetching, fetch: Callable[[str], str]) -> tuple[Suite, ...]:
    """The suites with every address of their prompts and contexts replaced by its text.

    A case with an address that cannot be fetched, or that nobody said may be, is errored (`fetch_failed`): it is
    never sent as it stands.
    """
    if fetching.enabled is False:
        return tuple(suites)
    ours = [suite for suite in suites if suite.dialect == DIALECT]
    wanted = {url for suite in ours for case in suite.cases for turn in case.turns for url in _of(turn)}
    if not wanted:
        return tuple(suites)
    texts = _fetched(sorted(wanted), fetch) if fetching.enabled else {}
    return tuple(
        replace(suite, cases=tuple(_case(case, texts, fetching) for case in suite.cases))
        if suite.dialect == DIALECT
        else suite
        for suite in suites
    )


def _of(turn: Turn) -> list[str]:
    return found_in(f"{turn.prompt}\n{turn.context or ''}")


def _fetched(urls: Sequence[str], fetch: Callable[[str], str]) -> dict[str, str | NotFetched]:
    def one(url: str) -> str | NotFetched:
        try:
            return fetch(url)
        except NotFetched as error:
            return error

    with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="fetch") as pool:
        return dict(zip(urls, pool.map(one, urls), strict=True))


def _case(case: Case, texts: dict[str, str | NotFetched], fetching: Fetching) -> Case:
    urls = [url for turn in case.turns for url in _of(turn)]
    if not urls:
        return case
    if not fetching.enabled:
        told = (
            f"{urls[0]} is not fetched, as nothing says that it may be: url_fetch: {{enabled: true}} in the "
            "settings does, and false leaves addresses as they are"
        )
        return replace(case, problem=Problem(code="fetch_failed", message=told))
    for url in urls:
        text = texts[url]
        if isinstance(text, NotFetched):
            return replace(case, problem=Problem(code="fetch_failed", message=f"{url}: {text}"))
    known = {url: text for url, text in texts.items() if isinstance(text, str)}
    turns = tuple(
        replace(
            turn,
            prompt=_replaced(turn.prompt, known),
            asked=None if turn.asked is None else _replaced(turn.asked, known),
            context=None if turn.context is None else _replaced(turn.context, known),
        )
        for turn in case.turns
    )
    hashes = {url: hashlib.sha256(known[url].encode()).hexdigest() for url in dict.fromkeys(urls)}
    return replace(case, turns=turns, fetched=hashes)


def _replaced(text: str, texts: dict[str, str]) -> str:
    """Every occurrence, the longest address first where one begins as another does; nothing is read again."""
    urls = sorted((url for url in found_in(text) if url in texts), key=len, reverse=True)
    if not urls:
        return text
    return re.sub("|".join(map(re.escape, urls)), lambda match: texts[match[0]], text)


def fetcher(allow_hosts: Sequence[str]) -> Callable[[str], str]:
    """What fetches one address as text. It raises NotFetched."""

    def fetch(url: str) -> str:
        deadline = time.monotonic() + TIMEOUT_S
        for _ in range(MOST_REDIRECTS + 1):
            found = _answer(url, _checked_address(url, allow_hosts), deadline)
            if isinstance(found, str):
                return found
            url = urljoin(url, found.location)
        raise NotFetched(f"redirects more than {MOST_REDIRECTS} times")

    return fetch


@dataclass(frozen=True, slots=True)
class _Redirect:
    location: str


def _answer(url: str, address: str, deadline: float) -> str | _Redirect:
    """One request, sent to the very address that was checked: the name is not looked up again."""
    import urllib3  # only suites with addresses need it

    parts = urlsplit(url)
    host = parts.hostname or ""
    headers = {"Host": parts.netloc.rpartition("@")[2], "User-Agent": "runevals", "Accept": "text/*, */*;q=0.5"}
    left = urllib3.Timeout(total=max(0.1, deadline - time.monotonic()))
    pool: urllib3.HTTPConnectionPool
    if parts.scheme == "https":
        pool = urllib3.HTTPSConnectionPool(
            address, parts.port or 443, timeout=left, server_hostname=host, assert_hostname=host
        )
    else:
        pool = urllib3.HTTPConnectionPool(address, parts.port or 80, timeout=left)
    path = f"{parts.path or '/'}{'?' + parts.query if parts.query else ''}"
    try:
        with pool:
            reply = pool.urlopen(
                "GET", path, headers=headers, redirect=False, retries=False, preload_content=False
            )
            try:
                return _read(reply, deadline)
            finally:
                reply.close()
    except (urllib3.exceptions.HTTPError, OSError, ValueError) as error:
        raise NotFetched(f"cannot be fetched: {type(error).__name__}") from None


def _read(reply: Any, deadline: float) -> str | _Redirect:
    location = reply.headers.get("Location")
    if reply.status in (301, 302, 303, 307, 308) and location:
        return _Redirect(location)
    if reply.status != 200:
        raise NotFetched(f"answers with status {reply.status}")
    kind = reply.headers.get("Content-Type", "").lower()
    if not _TEXT_TYPES.match(kind):
        raise NotFetched(f"is no text ({kind.partition(';')[0] or 'of no type'})")
    body = bytearray()
    for chunk in reply.stream(65536):
        body += chunk
        if len(body) > MOST_BYTES:
            raise NotFetched(f"is larger than {MOST_BYTES // 1024**2} MiB")
        if time.monotonic() > deadline:
            raise NotFetched(f"took longer than {TIMEOUT_S:g} s")
    charset = re.search(r"charset=[\"']?([\w-]+)", kind)
    try:
        text = bytes(body).decode(charset[1] if charset else "utf-8", errors="replace")
    except LookupError:
        text = bytes(body).decode("utf-8", errors="replace")
    return page_text(text) if "html" in kind else text


def _checked_address(url: str, allow_hosts: Sequence[str]) -> str:
    """The address behind a name. Refuses every name that leads to one that is not public."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if parts.scheme not in ("http", "https") or not host:
        raise NotFetched("is no http address")
    try:
        port = parts.port or (443 if parts.scheme == "https" else 80)
        found = [str(entry[4][0]) for entry in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
    except (OSError, ValueError):  # a name that is none is a ValueError
        raise NotFetched("has no address") from None
    allowed = host in allow_hosts or f"{host}:{parts.port}" in allow_hosts
    if not allowed and not all(ipaddress.ip_address(found.partition("%")[0]).is_global for found in found):
        raise NotFetched("is a private address; url_fetch.allow_hosts can allow it")
    return found[0]


def page_text(page: str) -> str:
    """The words of an HTML page, without its scripts and styles, a line for each block."""
    from bs4 import BeautifulSoup  # only pages need it

    soup = BeautifulSoup(page, "html.parser")
    for silent in soup(["script", "style", "noscript", "template", "svg", "head"]):
        silent.decompose()
    lines = (" ".join(line.split()) for line in soup.get_text("\n").split("\n"))
    return "\n".join(line for line in lines if line)
