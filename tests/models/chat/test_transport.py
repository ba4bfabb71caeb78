"""How requests to chat models go over the wire, and how many at once."""

from __future__ import annotations

import gzip
import json
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler
from types import SimpleNamespace

import pytest

from runevals.models.chat.chat import Chat, Endpoint
from runevals.models.http.throttle import Throttle
from runevals.records.errors import TargetRefused
from runevals.targets.openai import OpenAITarget
from tests.chat_server import Reply, chat_server
from tests.serving import Quiet, own_certificate, serving
from tests.targets.openai_target import asking, target

ANSWER = json.dumps({"choices": [{"message": {"role": "assistant", "content": "Hi"}}]})


@contextmanager
def listening(serve):
    """The address of a server that hands its connections to `serve`, one after the other."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def accept():
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    serve(connection)

        threading.Thread(target=accept, daemon=True).start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/v1"
        server.shutdown(socket.SHUT_RDWR)


def answered(base_url: str, prompt: str):
    return target(SimpleNamespace(base_url=base_url), attempts=1).answer(asking(prompt))


def reply(connection: socket.socket, status: str, body: str) -> None:
    connection.sendall(f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())


def test_request_headers_and_body_are_sent_in_one_packet():
    pieces = []

    def serve(connection):
        pieces.append(connection.recv(65536))
        reply(connection, "200 OK", ANSWER)

    with listening(serve) as base_url:
        assert answered(base_url, "Hello?").text == "Hi"
    head, _, body = pieces[0].partition(b"\r\n\r\n")
    assert head.startswith(b"POST /v1/chat/completions HTTP/1.1")
    assert json.loads(body)["messages"] == [{"role": "user", "content": "Hello?"}]


def test_a_large_request_arrives_complete():
    prompt, received = "long " * 400_000, bytearray()

    def serve(connection):
        while b"}]" not in received[-64:]:
            received.extend(connection.recv(65536))
        reply(connection, "200 OK", ANSWER)

    with listening(serve) as base_url:
        assert answered(base_url, prompt).text == "Hi"
    assert json.loads(received.partition(b"\r\n\r\n")[2])["messages"][0]["content"] == prompt


@pytest.mark.parametrize("size", [10, 20_000_000])
def test_an_error_sent_before_the_request_is_complete_is_read(size):
    def serve(connection):
        connection.recv(1000)
        reply(connection, "413 Too Large", '{"error": {"message": "that is too much"}}')
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(65536):  # so that what was said is not lost
            pass

    with listening(serve) as base_url:
        assert "413: " in answered(base_url, "x" * size).problem.message


def test_a_call_holds_its_slot_until_its_answer_is_complete():
    lock, now, most = threading.Lock(), [], []

    class Slow(Quiet, BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            with lock:
                now.append(1)
                most.append(len(now))
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.send_header("Content-Length", str(len(ANSWER)))
            self.end_headers()
            self.wfile.flush()
            time.sleep(0.05)
            with lock:
                now.pop()
            self.wfile.write(ANSWER.encode())

    with serving(Slow) as address, ThreadPoolExecutor(6) as pool:
        endpoint = Endpoint(model="tiny", api_key="key-1", base_url=address, timeout_s=10)
        tested = OpenAITarget(Chat(endpoint, Throttle(), at_once=2), system_prompt=None, parameters={})
        answers = list(pool.map(lambda _: tested.answer(asking()).text, range(24)))
    assert answers == ["Hi"] * 24
    assert max(most) == 2


def test_a_call_waits_for_the_tokens_that_the_answers_before_it_announce():
    """Each call takes 10 of 100 tokens, which come back in 30 s; 40 stay for calls that take more than others."""

    def answer(body, number):
        names = {"limit": "100", "remaining": str(90 - 10 * number), "reset": "30s"}
        return Reply(headers={f"x-ratelimit-{name}-tokens": value for name, value in names.items()})

    stopped = threading.Event()
    with chat_server(answer) as server, ThreadPoolExecutor(1) as pool:
        throttle = Throttle(stopped=stopped.is_set)
        chat = Chat(Endpoint(model="tiny", api_key="key-1", base_url=server.base_url), throttle)
        tested = OpenAITarget(chat, system_prompt=None, parameters={})
        for _ in range(7):
            assert tested.answer(asking()).text == "ok"
        waiting = pool.submit(tested.answer, asking())
        while not throttle.holds_s():
            assert not waiting.done()
            time.sleep(0.01)
        stopped.set()
        assert "was stopped" in waiting.result().problem.message
    assert len(server.requests) == 7


HEAD = "HTTP/1.1 {}\r\nContent-Length: {}\r\n{}\r\n{}"
BAD = {
    "a refusal with its message": ("429 Too Many", '{"error": {"message": "slow down", "code": "busy"}}', ""),
    "a parameter that is not taken": (
        "400 Bad",
        '{"error": {"message": "no temperature", "param": "temperature"}}',
        "",
    ),
    "an error without an object": ("500 Oops", "it broke", ""),
    "an empty error": ("503 Away", "", "Retry-After: 0\r\n"),
    "an error that is a list": ("404 Not Found", '[{"error": {"message": "no such thing"}}]', ""),
    "an error without a message": ("422 No", '{"detail": [1]}', ""),
    "a redirect to nowhere": ("302 Found", "", "Location: ftp://elsewhere/\r\n"),
    "a key that is refused": ("401 Unauthorized", '{"error": {"message": "who is there?"}}', ""),
    "a web page": ("200 OK", "<html>", ""),
    "an answer that is cut short": ("200 OK", None, ""),
}


@pytest.mark.parametrize("bad", BAD, ids=str)
def test_calls_after_the_first_are_sent_and_fail_as_the_first_does(bad):
    """The first request to a model is sent by the SDK, the others are written to its connection."""
    status, body, headers = BAD[bad]
    refused = HEAD.format(status, 9 if body is None else len(body), headers, body or "")
    found, requests = [], []
    for answers in ((refused,), (HEAD.format("200 OK", len(ANSWER), "", ANSWER), refused)):
        left = [*answers]

        def serve(connection, left=left):
            while left and (request := connection.recv(65536)):
                requests.append(request)
                connection.sendall(left.pop(0).encode())

        with listening(serve) as base_url:
            asked = target(SimpleNamespace(base_url=base_url), attempts=1, temperature=0)
            for _ in answers:
                try:
                    said = asked.answer(asking()).problem
                except TargetRefused as error:
                    said = str(error)
            found.append(str(said).replace(base_url, "URL"))
    assert found[0] == found[1] != "None"
    first, again = (request.partition(b"\r\n\r\n") for request in requests[1:])
    assert first[2] == again[2]
    assert first[0].lower().split(b"\r\n") == again[0].lower().split(b"\r\n")


def chunked(body: bytes, headers: str = "") -> bytes:
    pieces = (body[at : at + 20] for at in range(0, len(body), 20))
    chunks = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces)
    return f"HTTP/1.1 200 OK\r\n{headers}Transfer-Encoding: chunked\r\n\r\n".encode() + chunks + b"0\r\n\r\n"


def whole(body: bytes, status: str = "200 OK", headers: str = "") -> bytes:
    return f"HTTP/1.1 {status}\r\n{headers}Content-Length: {len(body)}\r\n\r\n".encode() + body


@contextmanager
def answering(*answers: bytes):
    """The address of a server that gives these answers, one a request, and of each request (connection, bytes).

    It closes a connection after an answer that does not say how long it is.
    """
    left, requests, connections = [*answers], [], []

    def serve(connection):
        connections.append(connection)
        while left and (request := connection.recv(65536)):
            requests.append((len(connections), request))
            answer = left.pop(0)
            with suppress(OSError):
                connection.sendall(answer)
            if b"Content-Length: " not in answer and b"chunked" not in answer:
                return

    with listening(serve) as base_url:
        yield base_url, requests


def texts(base_url: str, calls: int, **options) -> list[str]:
    """The answers of a target to that many calls, or what was wrong."""
    asked = target(SimpleNamespace(base_url=base_url), attempts=1, **options)
    answers = [asked.answer(asking()) for _ in range(calls)]
    return [answer.problem.message if answer.problem else answer.text for answer in answers]


PLAIN, PACKED = whole(ANSWER.encode()), gzip.compress(ANSWER.encode())
LATER = {
    "plain": PLAIN,
    "gzip": whole(PACKED, headers="Content-Encoding: gzip\r\n"),
    "in chunks": chunked(ANSWER.encode()),
    "gzip in chunks": chunked(PACKED, "Content-Encoding: gzip\r\n"),
    "after another status": b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + PLAIN,
    "a header that is not ASCII": whole(ANSWER.encode(), headers="X-Name: Zoë\r\n"),
}


@pytest.mark.parametrize("later", LATER)
def test_calls_after_the_first_use_its_connection(later):
    with answering(PLAIN, LATER[later], PLAIN) as (base_url, requests):
        assert texts(base_url, 3) == ["Hi"] * 3
    assert [connection for connection, _ in requests] == [1, 1, 1]


LAST = {
    "it says no length": b"HTTP/1.1 200 OK\r\n\r\n" + ANSWER.encode(),
    "it is of HTTP/1.0": b"HTTP/1.0 200 OK\r\n\r\n" + ANSWER.encode(),
    "it says that it closes": whole(ANSWER.encode(), headers="Connection: close\r\n"),
}


@pytest.mark.parametrize("last", LAST)
def test_a_connection_that_is_not_fit_for_another_call_is_replaced(last):
    with answering(PLAIN, LAST[last], PLAIN, PLAIN) as (base_url, requests):
        assert texts(base_url, 4) == ["Hi"] * 4
    assert [connection for connection, _ in requests] == [1, 1, 2, 2]


def test_what_follows_an_answer_is_not_taken_for_the_answer_to_the_next_call():
    with answering(PLAIN, PLAIN + PLAIN.replace(b"Hi", b"Evil"), PLAIN) as (base_url, _):
        assert texts(base_url, 3) == ["Hi"] * 3


def test_a_connection_that_the_server_closed_meanwhile_is_replaced():
    """Most servers close a connection that is idle for a while, without a word."""
    connections, closed = [], threading.Event()

    def serve(connection):
        connections.append(connection)
        connection.recv(65536)
        connection.sendall(PLAIN)
        connection.close()
        closed.set()

    with listening(serve) as base_url:
        asked = target(SimpleNamespace(base_url=base_url), attempts=1)
        for _ in range(4):
            closed.clear()
            assert asked.answer(asking()).text == "Hi"
            assert closed.wait(10)
    assert len(connections) == 4


@pytest.mark.parametrize(
    ("head", "piece", "says"),
    [
        (b"HTTP/1.1 200 OK\r\n", b"X-More: 1\r\n" * 100, "no answer from"),
        (b"HTTP/1.1 200 OK\r\nX-More: ", b"x" * 65536, "no answer from"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"0" * 65536, "no answer from"),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
            b"8000\r\n" + b"x" * 0x8000 + b"\r\n",
            "larger than 16 MiB",
        ),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n", b"x" * 65536, "larger than 16 MiB"),
        (b"HTTP/1.1 500 Oops\r\n\r\n", b"x" * 65536, "500: "),
    ],
    ids=["headers", "header", "length of a chunk", "chunks", "body", "error"],
)
def test_an_endless_answer_to_a_later_call_is_not_read_to_its_end(head, piece, says):
    first = [True]

    def serve(connection):
        while connection.recv(65536):
            connection.sendall(PLAIN if first else head)
            while not first:
                connection.sendall(piece)
            first.clear()

    def served(connection):
        with suppress(OSError):
            serve(connection)
        first.append(True)

    with listening(served) as base_url:
        ok, refused, again = texts(base_url, 3)
    assert (ok, says in refused, again) == ("Hi", True, "Hi")


@pytest.mark.parametrize(("status", "code"), [(200, "target_timeout"), (500, "target_failed")])
def test_a_later_call_ends_in_time_although_the_server_sends_its_body_slowly(status, code):
    slow = Reply(raw=" " * 1000, pause_s=0.1, status=status)
    with chat_server(lambda body, number: slow if number == 1 else Reply()) as server:
        tested = target(server, timeout_s=2, attempts=1)
        assert tested.answer(asking()).text == "ok"
        started = time.monotonic()
        assert tested.answer(asking()).problem.code == code
        assert time.monotonic() - started < 60
        assert tested.answer(asking()).text == "ok"


def test_a_later_call_ends_in_time_although_the_server_sends_its_headers_slowly():
    first = [PLAIN]

    def serve(connection):
        while first and connection.recv(65536):
            connection.sendall(first.pop())
        connection.recv(65536)
        with suppress(OSError):
            connection.sendall(b"HTTP/1.1 200 OK\r\n")
            while True:
                time.sleep(0.1)
                connection.sendall(b"X-More: 1\r\n")

    with listening(serve) as base_url:
        tested = target(SimpleNamespace(base_url=base_url), timeout_s=2, attempts=1)
        assert tested.answer(asking()).text == "Hi"
        started = time.monotonic()
        assert tested.answer(asking()).problem.code == "target_timeout"
        assert time.monotonic() - started < 60


@pytest.mark.parametrize("size", range(1, len(PLAIN), 7))
def test_a_later_answer_that_is_cut_short_is_none(size):
    """Wherever the connection ends, in the head or in the body: another attempt may get all of it."""
    first = [PLAIN]

    def serve(connection):
        while first and connection.recv(65536):
            connection.sendall(first.pop())
        connection.recv(65536)
        connection.sendall(PLAIN[:size])

    with listening(serve) as base_url:
        asked = target(SimpleNamespace(base_url=base_url), attempts=1)
        assert asked.answer(asking()).text == "Hi"
        assert asked.answer(asking()).problem.code == "target_failed"


def test_an_error_sent_before_a_later_request_is_complete_is_read():
    first = [True]

    def serve(connection):
        while first and connection.recv(65536):
            connection.sendall(PLAIN)
            first.clear()
        connection.recv(1000)
        reply(connection, "413 Too Large", '{"error": {"message": "that is too much"}}')
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(65536):
            pass

    with listening(serve) as base_url:
        asked = target(SimpleNamespace(base_url=base_url), attempts=1)
        assert asked.answer(asking()).text == "Hi"
        assert "413: " in asked.answer(asking("x" * 20_000_000)).problem.message


@pytest.mark.parametrize(
    ("status", "method", "body"), [(307, b"POST", True), (308, b"POST", True), (303, b"GET", False)]
)
def test_a_later_call_follows_a_redirect(status, method, body):
    moved = whole(b"moved", f"{status} Moved", "Location: /v2/elsewhere\r\n")
    with answering(PLAIN, moved, PLAIN, PLAIN) as (base_url, requests):
        assert texts(base_url, 3) == ["Hi"] * 3
    head, _, content = requests[2][1].partition(b"\r\n\r\n")
    assert head.startswith(method + b" /v2/elsewhere HTTP/1.1")
    assert (content == requests[1][1].partition(b"\r\n\r\n")[2]) is body
    assert requests[3][1].startswith(b"POST /v1/chat/completions")


def test_calls_after_the_first_use_its_connection_with_tls(tmp_path, monkeypatch):
    tls, peers = own_certificate(tmp_path), []
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "cert.pem"))

    class Handler(Quiet, BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            peers.append(self.client_address)
            self.rfile.read(int(self.headers["Content-Length"]))
            self.wfile.write(PLAIN)

    with serving(Handler, tls) as address:
        assert texts(address, 3) == ["Hi"] * 3
    assert len(peers) == 3
    assert len(set(peers)) == 1


def test_calls_after_the_first_go_through_the_proxy_too(monkeypatch):
    for name in ("NO_PROXY", "no_proxy", "http_proxy"):
        monkeypatch.delenv(name, raising=False)
    with answering(PLAIN, PLAIN, PLAIN) as (base_url, requests):
        monkeypatch.setenv("HTTP_PROXY", base_url.removesuffix("/v1"))
        assert texts("http://model.example/v1", 3) == ["Hi"] * 3
    assert [request.split()[1] for _, request in requests] == [b"http://model.example/v1/chat/completions"] * 3
