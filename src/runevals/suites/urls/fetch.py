"""Addresses in prompts, replaced by their text: public pages only, each fetched once, no private host."""

from __future__ import annotations

import hashlib
import ipaddress
import re
import socket
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from html.parser import HTMLParser
from queue import Empty, SimpleQueue
from typing import Any
from urllib.parse import urljoin, urlsplit

from msgspec.structs import replace

from runevals.lib.nullable import if_known, known
from runevals.lib.text.escape import in_fence
from runevals.lib.text.numbers import phrase
from runevals.models.http.public_address import is_public
from runevals.models.http.reading import TooLarge, TooSlow, pieces, read_limited
from runevals.records import Case, Problem, Suite, Turn
from runevals.records.rules import Fetching

DIALECT = "eval-samples"  # the only format whose addresses are replaced
TIMEOUT_S = 30.0
MOST_REDIRECTS = 5
MOST_BYTES = 2 * 1024 * 1024
AT_ONCE = 8
MOST_CHARACTERS = 512 * 1024 * 1024  # that the texts of pages add to all cases together
_IN_URL = r"[^\s<>\"'`\\^{}|\[\]，。；：！？、（）【】《》「」『』“”]"
_URL = re.compile(rf"https?://(?:\[[^\s\[\]]+\]{_IN_URL}*|{_IN_URL}+)", re.IGNORECASE)
_ASCII_PATH = re.compile(r"\w+://[^/]+/[\x00-\x7f]*")
_TRAILING = ".,;:!?'\"»”’"
_PAIRS = {")": "(", "]": "[", "}": "{"}
_PORTS = {"http": 80, "https": 443}
_SILENT = frozenset({"script", "style", "noscript", "template", "svg", "head"})
_TEXT_TYPES = re.compile(r"text/|application/(?:json|xml|javascript|x-yaml|yaml|[\w.+-]+\+(?:json|xml))")

Resolve = Callable[[str, int], Sequence[str]]  # (host, port) → its addresses. It raises OSError or ValueError


class NotFetched(Exception):
    """Why an address could not be fetched."""


def addresses_in(text: str) -> list[str]:
    """The distinct addresses in a text, in order; closing punctuation is part of one only if it is balanced."""
    urls: dict[str, None] = {}
    for match in _URL.finditer(text):
        url = _without_punctuation(match[0])
        with suppress(ValueError):  # it only looks like an address
            if urlsplit(url).netloc:
                urls[url] = None
    return list(urls)


def _without_punctuation(url: str) -> str:
    """Without the punctuation after it, and without closing brackets that it did not open."""
    counts, end = {mark: url.count(mark) for pair in _PAIRS.items() for mark in pair}, len(url)
    while end:
        last = url[end - 1]
        if last not in _TRAILING and not (last in _PAIRS and counts[_PAIRS[last]] < counts[last]):
            break
        if last in counts:
            counts[last] -= 1
        end -= 1
    return url[:end]


def addresses(suites: Iterable[Suite]) -> set[str]:
    """The distinct addresses in prompts and contexts, of the format in which they mean what they lead to."""
    relevant = [suite for suite in suites if suite.dialect == DIALECT]
    return {url for suite in relevant for case in suite.cases for turn in case.turns for url in _of(turn)}


def inline_addresses(
    suites: Sequence[Suite], fetching: Fetching, fetch: Callable[[str], str]
) -> tuple[Suite, ...]:
    """The suites with every address of their prompts and contexts replaced by its text.

    A case with an address that cannot or may not be fetched is errored (`fetch_failed`) and not sent.
    """
    urls = set() if fetching.enabled is False else addresses(suites)
    if not urls:
        return tuple(suites)
    texts = _fetch_all(sorted(urls), fetch) if fetching.enabled else {}
    room = _Room()
    return tuple(
        replace(suite, cases=tuple(_case(case, texts, fetching, room) for case in suite.cases))
        if suite.dialect == DIALECT
        else suite
        for suite in suites
    )


def _of(turn: Turn) -> list[str]:
    return addresses_in(f"{turn.prompt}\n{turn.context or ''}")


def _fetch_all(urls: Sequence[str], fetch: Callable[[str], str]) -> dict[str, str | NotFetched]:
    def fetch_one(url: str) -> str | NotFetched:
        """The text; if there is none, that of the address before the first letter that is not ASCII."""
        short = next((match[0] for match in _ASCII_PATH.finditer(url)), url)
        try:
            return fetch(url).encode("utf-8", "replace").decode()  # a lone surrogate cannot be stored
        except NotFetched as error:
            text = error if short == url else fetch_one(short)
            return f"{text}{url.removeprefix(short)}" if isinstance(text, str) else error

    pool = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="fetch")
    try:
        return dict(zip(urls, pool.map(fetch_one, urls), strict=True))
    finally:  # a run that is interrupted does not wait for what is slow
        pool.shutdown(wait=False, cancel_futures=True)


class _Room:
    """How many characters the texts of pages may still add."""

    def __init__(self) -> None:
        self._left = MOST_CHARACTERS

    def holds(self, case: Case, texts: dict[str, str]) -> bool:
        """Whether these texts, wherever their addresses are in the case, can be added, which they then are."""
        fields = [text for turn in case.turns for text in known((turn.prompt, turn.author_prompt, turn.context))]
        added = sum(len(page) * text.count(url) for text in fields for url, page in texts.items())
        fits = added <= self._left
        self._left -= fits * added
        return fits


def _case(case: Case, texts: dict[str, str | NotFetched], fetching: Fetching, room: _Room) -> Case:
    urls = [url for turn in case.turns for url in _of(turn)]
    if not urls:
        return case
    if not fetching.enabled:
        message = (
            f"{urls[0]} is not fetched, because it is not allowed: allow it with url_fetch: {{enabled: true}} in "
            "the settings; with false, addresses stay plain text"
        )
        return replace(case, problem=Problem(code="fetch_failed", message=message))
    fetched_texts: dict[str, str] = {}
    for url in urls:
        text = texts[url]
        if isinstance(text, NotFetched):
            return replace(case, problem=Problem(code="fetch_failed", message=f"{url}: {text}"))
        fetched_texts[url] = text
    if not room.holds(case, fetched_texts):
        most = f"{MOST_CHARACTERS // 1024**2} MiB"
        message = f"the texts of all pages, wherever they are named, are larger than {most}"
        return replace(case, problem=Problem(code="fetch_failed", message=message))
    fill = partial(_replace, texts=fetched_texts)
    turns = tuple(
        replace(
            turn,
            prompt=_prompt(turn, fetched_texts),
            author_prompt=if_known(fill, turn.author_prompt),
            context=if_known(fill, turn.context),
        )
        for turn in case.turns
    )
    hashes = {url: hashlib.sha256(text.encode()).hexdigest() for url, text in fetched_texts.items()}
    return replace(case, turns=turns, fetched=hashes)


def _prompt(turn: Turn, texts: dict[str, str]) -> str:
    """The prompt to send; its context gets a new fence, because a fetched text may contain the old one."""
    if turn.context is None or not turn.prompt.endswith(in_fence(turn.context)):
        return _replace(turn.prompt, texts)
    head = turn.prompt.removesuffix(in_fence(turn.context))
    return _replace(head, texts) + in_fence(_replace(turn.context, texts))


def _replace(text: str, texts: dict[str, str]) -> str:
    """Replaces every occurrence, the longest address first; replaced text is not searched again."""
    urls = sorted((url for url in addresses_in(text) if url in texts), key=len, reverse=True)
    return text if not urls else re.sub("|".join(map(re.escape, urls)), lambda match: texts[match[0]], text)


def resolve_host(host: str, port: int) -> list[str]:
    """The IP addresses of a host name. Raises OSError or ValueError."""
    return [str(entry[4][0]) for entry in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]


def fetcher(allow_hosts: Sequence[str], resolve: Resolve = resolve_host) -> Callable[[str], str]:
    """What fetches one address as text. It raises NotFetched."""

    def follow(url: str, line: _Line) -> str:
        for _ in range(MOST_REDIRECTS + 1):
            try:
                text, location = _answer(url, _checked_address(url, allow_hosts, resolve), line)
                if not location:
                    return text
                url = urljoin(url, location)
            except ValueError:
                raise NotFetched("redirects to an invalid address") from None
        raise NotFetched(f"redirects more than {MOST_REDIRECTS} times")

    return lambda url: _in_time(lambda line: follow(url, line))


class _Line:
    """The connections of one fetch, which can be closed at its timeout."""

    def __init__(self) -> None:
        self.deadline = time.monotonic() + TIMEOUT_S
        self._connections: list[Any] = []

    def noting(self, connect: Callable[..., Any]) -> Callable[..., Any]:
        """`connect`, its connections noted."""

        def connected(*args: Any, **options: Any) -> Any:
            self._connections.append(connect(*args, **options))
            return self._connections[-1]

        return connected

    def hang_up(self) -> None:
        for connection in self._connections:
            with suppress(OSError, AttributeError):  # it is closed already
                connection.sock.shutdown(socket.SHUT_RDWR)


def _in_time(work: Callable[[_Line], str]) -> str:
    """What `work` gives within the time; then its line is cut, whatever it waits for."""
    results: SimpleQueue[str | Exception] = SimpleQueue()
    line = _Line()

    def run() -> None:
        try:
            results.put(work(line))
        except Exception as error:  # noqa: BLE001 - raised again in the waiting thread
            results.put(error)

    threading.Thread(target=run, daemon=True, name="fetch one").start()
    try:
        result = results.get(timeout=TIMEOUT_S)
    except Empty:
        line.hang_up()
        raise NotFetched(f"took longer than {TIMEOUT_S:g} s") from None
    if isinstance(result, Exception):
        raise result
    return result


def _answer(url: str, address: str, line: _Line) -> tuple[str, str]:
    """(the text, else where a redirect leads) of one request.

    It is sent to the very address that was checked: the name is not looked up again.
    """
    import urllib3  # only suites with addresses need it

    parts = urlsplit(url)
    name = parts.hostname or ""
    host = name if name.isascii() else name.encode("idna").decode("ascii")  # ValueError: an invalid name
    host_text = f"[{host}]" if ":" in host else host
    host_header = f"{host_text}:{parts.port}" if parts.port else host_text
    headers = {"Host": host_header, "User-Agent": "runevals", "Accept": "text/*, */*;q=0.5"}
    remaining_s = line.deadline - time.monotonic()
    if remaining_s <= 0:
        raise NotFetched(f"took longer than {TIMEOUT_S:g} s")
    timeout = urllib3.Timeout(total=remaining_s)
    pool: Any
    if parts.scheme == "https":
        pool = urllib3.HTTPSConnectionPool(
            address, parts.port or _PORTS["https"], timeout=timeout, server_hostname=host, assert_hostname=host
        )
    else:
        pool = urllib3.HTTPConnectionPool(address, parts.port or _PORTS["http"], timeout=timeout)
    pool.ConnectionCls = line.noting(pool.ConnectionCls)
    path = f"{parts.path or '/'}{phrase(parts.query, '?{}')}"
    try:
        with pool:
            reply = pool.urlopen(
                "GET", path, headers=headers, redirect=False, retries=False, preload_content=False
            )
            try:
                return _read(reply, line.deadline)
            finally:
                reply.close()
    except urllib3.exceptions.TimeoutError:
        raise NotFetched(f"took longer than {TIMEOUT_S:g} s") from None
    except (urllib3.exceptions.HTTPError, OSError, ValueError) as error:
        raise NotFetched(f"cannot be fetched: {type(error).__name__}") from None


def _read(reply: Any, deadline: float) -> tuple[str, str]:
    location = reply.headers.get("Location")
    if reply.status in (301, 302, 303, 307, 308) and location:
        return "", location
    if reply.status != 200:
        raise NotFetched(f"answers with status {reply.status}")
    kind = reply.headers.get("Content-Type", "").lower()
    if not _TEXT_TYPES.match(kind):
        raise NotFetched(f"is not text ({kind.partition(';')[0] or 'of no type'})")
    try:
        body = read_limited(pieces(reply), MOST_BYTES, deadline)
    except TooLarge:
        raise NotFetched(f"is larger than {MOST_BYTES // 1024**2} MiB") from None
    except TooSlow:
        raise NotFetched(f"took longer than {TIMEOUT_S:g} s") from None
    charset = re.search(r"charset=[\"']?([\w-]+)", kind)
    try:
        text = body.decode(charset[1] if charset else "utf-8", errors="replace")
    except LookupError:
        text = body.decode("utf-8", errors="replace")
    return page_text(text) if "html" in kind else text, ""


def _checked_address(url: str, allow_hosts: Sequence[str], resolve: Resolve) -> str:
    """The IP address of a host. Refuses every host with an address that is not public."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if parts.scheme not in _PORTS or not host:
        raise NotFetched("is not an http address")
    try:
        addresses_ = resolve(host, parts.port or _PORTS[parts.scheme])
    except (OSError, ValueError):  # an invalid name is a ValueError
        raise NotFetched("has no address") from None
    allowed = host in allow_hosts or f"{host}:{parts.port}" in allow_hosts
    if not allowed and not all(is_public(ipaddress.ip_address(name.partition("%")[0])) for name in addresses_):
        raise NotFetched("is a private address; url_fetch.allow_hosts can allow it")
    return addresses_[0]


def page_text(page: str) -> str:
    """The words of an HTML page, without its scripts and styles, a line for each block. Raises NotFetched."""
    words = _Words()
    try:
        words.feed(page)
        words.close()
    except AssertionError:  # how the parser refuses
        raise NotFetched("has HTML that cannot be parsed") from None
    return "\n".join(filter(None, (" ".join(line.split()) for line in "".join(words.pieces).split("\n"))))


class _Words(HTMLParser):
    """Extracts the text while parsing a page: a tree would need four hundred times its size."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self._silent: list[str] = []  # the open elements whose text is not shown

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002 - its signature
        self.pieces.append("\n")
        if tag == "body":
            self._silent = [open_ for open_ in self._silent if open_ != "head"]
        elif tag in _SILENT:
            self._silent.append(tag)

    def handle_endtag(self, tag: str) -> None:
        self.pieces.append("\n")
        if tag in self._silent:
            while self._silent.pop() != tag:
                pass

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.pieces.append(data)

    def unknown_decl(self, data: str) -> None:
        self.pieces.append("\n")
        self.handle_data(data.removeprefix("CDATA[") if data.startswith("CDATA[") else "")
        self.pieces.append("\n")

    def handle_comment(self, data: str) -> None:  # noqa: ARG002 - its signature
        self.pieces.append("\n")

    def handle_decl(self, decl: str) -> None:
        self.handle_comment(decl)

    handle_pi = handle_comment
