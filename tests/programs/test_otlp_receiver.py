"""The receiver of traces: who may export to it, and how much."""

from __future__ import annotations

import gzip
import json
import socket
import time
from http.client import HTTPConnection
from urllib.parse import urlsplit

import pytest

from runevals.programs import otlp_receiver
from runevals.programs.otlp_receiver import MOST_BYTES, TOKEN_HEADER, OtlpReceiver

pytestmark = pytest.mark.needs("opentelemetry-proto")


@pytest.fixture(scope="module")
def receiver():
    listening = OtlpReceiver()
    yield listening
    listening.close()


def export(receiver, token, body=b"", path="/v1/traces", **headers):
    """(status, body) of the reply to an export; a length of None is not sent."""
    connection = HTTPConnection(urlsplit(receiver.address).netloc, timeout=30)
    given = {"Content-Type": "application/json", "Content-Length": str(len(body)), TOKEN_HEADER: token}
    given |= {name.replace("_", "-"): value for name, value in headers.items()}
    connection.putrequest("POST", path)
    for name, value in given.items():
        if value is not None:
            connection.putheader(name, value)
    connection.endheaders(body)
    reply = connection.getresponse()
    found = reply.status, reply.read().decode()
    connection.close()
    return found


def spans(*ids) -> bytes:
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [{"spanId": id_} for id_ in ids]}]}]}).encode()


def test_each_recording_has_the_spans_that_came_with_its_token(receiver):
    with receiver.recording() as one, receiver.recording() as other:
        assert export(receiver, one.token, spans("a", "b")) == (200, "{}")
        assert export(receiver, other.token, gzip.compress(spans("c")), Content_Encoding="gzip")[0] == 200
        assert export(receiver, one.token, b"metrics are not looked at", path="/v1/metrics")[0] == 200
        assert export(receiver, one.token, b"", Content_Type="application/x-protobuf") == (200, "")
        assert [span.id for span in one.spans] == ["a", "b"]
        assert [span.id for span in other.spans] == ["c"]
        assert (one.problem, other.problem) == (None, None)


def test_without_the_token_of_a_recording_in_progress_nothing_is_taken(receiver):
    with receiver.recording() as one:
        for token in ("", "guessed", None):
            assert export(receiver, token, spans("a"))[0] == 401
    assert export(receiver, one.token, spans("late"))[0] == 401
    assert (one.spans, one.problem) == ([], None)


def test_nothing_listens_off_loopback(receiver):
    own = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}
    port = urlsplit(receiver.address).port
    assert urlsplit(receiver.address).hostname == "127.0.0.1"
    for address in own - {"127.0.0.1"}:
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((address, port), timeout=1)


def in_chunks(*chunks: bytes) -> bytes:
    return b"".join(b"%x;name=value\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks)


END = b"0\r\nTrailer: of no interest\r\n\r\n"
SENT = spans("a")


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        pytest.param(in_chunks(SENT) + END, None, id="one chunk"),
        pytest.param(in_chunks(SENT[:9], SENT[9:10], SENT[10:]) + END, None, id="several"),
        pytest.param(in_chunks(SENT), "ends early", id="no last chunk"),
        pytest.param(b"9\r\nshort", "ends early", id="short chunk"),
        pytest.param(in_chunks(SENT) + b"1\r\nlong\r\n" + END, "ends early", id="long chunk"),
        pytest.param(
            lambda: in_chunks(*[bytes(2**20)] * 16, b"x"), "is larger than 16 MiB", id="too large in all"
        ),
    ],
)
def test_exports_in_chunks_are_taken_within_the_same_limits(receiver, body, problem):
    """As the exporters of Node send them, byte for byte."""
    body = body() if callable(body) else body
    address = urlsplit(receiver.address)
    with (
        receiver.recording() as one,
        socket.create_connection((address.hostname, address.port), timeout=30) as client,
    ):
        head = (
            f"POST /v1/traces HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: Chunked\r\n{TOKEN_HEADER}: {one.token}\r\n"
        )
        client.sendall(f"{head}Content-Type: application/json\r\n\r\n".encode() + body)
        client.shutdown(socket.SHUT_WR)
        client.makefile("rb").readline()
        ends_at = time.monotonic() + 30
        while problem and one.problem is None and time.monotonic() < ends_at:
            time.sleep(0.01)
        assert (one.problem is None) if problem is None else (problem in one.problem)
        assert [span.id for span in one.spans] == (["a"] if problem is None else [])


def bomb() -> bytes:
    return gzip.compress(bytes(MOST_BYTES + 1))


@pytest.mark.parametrize(
    ("body", "headers", "status", "problem"),
    [
        pytest.param(b"{", {}, 400, "is not an OTLP export", id="no JSON"),
        pytest.param(b"", {"Content_Length": str(MOST_BYTES + 1)}, 400, "is larger than 16 MiB", id="too long"),
        pytest.param(b"", {"Content_Length": None}, 400, "is not an OTLP export", id="no length"),
        pytest.param(b"text", {"Content_Encoding": "gzip"}, 400, "incorrect header check", id="no gzip"),
        pytest.param(gzip.compress(spans("a"))[:-9], {"Content_Encoding": "gzip"}, 400, "ends early", id="half"),
        pytest.param(bomb(), {"Content_Encoding": "gzip"}, 400, "is larger than 16 MiB", id="a bomb"),
        pytest.param(spans(*map(str, range(9))), {}, 400, "has more than 8 spans", id="too many"),
    ],
)
def test_a_trace_that_is_not_whole_says_so(receiver, monkeypatch, body, headers, status, problem):
    monkeypatch.setattr(otlp_receiver, "MOST_SPANS", 8)
    with receiver.recording() as one:
        assert export(receiver, one.token, body, **headers)[0] == status
        assert problem in one.problem
        assert one.spans == []
