"""Chat models behind TLS, straight and through a proxy, which see to it that no call takes for ever."""

from __future__ import annotations

import json
import os
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest

ANSWER = json.dumps({"choices": [{"message": {"role": "assistant", "content": "yes"}}]}).encode()
SUITE = {
    "schemaVersion": "1.2.0",
    "default_evaluators": {"ExactMatch": {}},
    "items": [{"testId": "k", "prompt": "Well?", "expected_response": "yes"}],
}

pytestmark = pytest.mark.needs("openssl")


@contextmanager
def accepting(serve: Callable[[socket.socket], None]) -> Iterator[int]:
    """The port of a server that hands every connection to `serve`, in a thread of its own."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def one(connection: socket.socket) -> None:
            with connection, suppress(OSError):
                serve(connection)

        def accept() -> None:
            with suppress(OSError):
                while True:
                    connection, _ = server.accept()
                    threading.Thread(target=one, args=(connection,), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)


def piped(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while content := source.recv(65536):
            sink.sendall(content)
    for end in (source, sink):
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def certificate(tmp_path_factory):
    """A certificate of localhost, and the settings of a server that has its key."""
    folder = tmp_path_factory.mktemp("tls")
    command = "openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost"
    words = [*command.split(), "-addext", "subjectAltName=DNS:localhost"]
    subprocess.run(words, cwd=folder, check=True, capture_output=True)
    served = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    served.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    return folder / "cert.pem", served


@pytest.mark.parametrize("by_proxy", [False, True], ids=["straight", "proxy"])
@pytest.mark.parametrize("drips", [False, True], ids=["answers", "drips"])
def test_calls_are_answered_or_cut_in_time(project, certificate, by_proxy, drips):
    path, served = certificate
    received = []

    def answer(connection):
        with served.wrap_socket(connection, server_side=True) as secured:
            received.append(secured.recv(65536))
            if not drips:
                head = f"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {len(ANSWER)}\r\n\r\n"
                secured.sendall(head.encode() + ANSWER)
                return
            secured.sendall(b"HTTP/1.1 200 OK\r\n")
            while True:
                secured.sendall(b"X-More: 1\r\n")
                threading.Event().wait(0.1)

    def tunnel(connection):
        while b"\r\n\r\n" not in connection.recv(65536):
            pass
        with socket.create_connection(("127.0.0.1", port)) as beyond:
            connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            threading.Thread(target=piped, args=(beyond, connection), daemon=True).start()
            piped(connection, beyond)

    project.write("evals.json", SUITE)
    project.write("runevals.yaml", "target: {type: openai, model: tiny, timeout_s: 1}\n")
    with accepting(answer) as port, accepting(tunnel) as proxy:
        environment = {
            **os.environ,
            "OPENAI_BASE_URL": f"https://localhost:{port}/v1",
            "OPENAI_API_KEY": "a-key-of-nobody",
            "SSL_CERT_FILE": str(path),
            **({"HTTPS_PROXY": f"http://127.0.0.1:{proxy}"} if by_proxy else {}),
        }
        command = [sys.executable, "-m", "runevals", "--no-judge", "-o", "out.json"]
        done = subprocess.run(
            command, cwd=project.path, env=environment, capture_output=True, text=True, check=False, timeout=180
        )
    assert done.returncode == (3 if drips else 0), done.stdout + done.stderr
    assert b'"Well?"' in received[0]  # head and body in one
    if drips:
        error = project.document()["cases"][0]["attempts"][0]["turns"][0]["error"]
        assert error["code"] == "target_timeout"
