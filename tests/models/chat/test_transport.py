"""How requests to chat models go over the wire, and how many at once."""

from __future__ import annotations

import json
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from types import SimpleNamespace

import pytest

from runevals.models.chat.chat import Chat, Endpoint
from runevals.models.http.throttle import Throttle
from runevals.records.errors import TargetRefused
from runevals.targets.openai import OpenAITarget
from tests.chat_server import Reply, chat_server
from tests.serving import Quiet, serving
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
    """The first request to a model is the SDK's, the others are sent by its HTTP client."""
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
