"""Proxies and authorities of certificates, as the environment names them, for models and for other addresses."""

from __future__ import annotations

import socket
import threading
from contextlib import contextmanager, suppress
from types import SimpleNamespace

import certifi
import pytest

from runevals.models.chat.chat import Chat, ChatFailed, Endpoint
from runevals.models.http.network import CA_VARIABLES, certificates, route, session, unreachable
from runevals.models.http.throttle import Throttle
from runevals.records.errors import TargetRefused
from tests.chat_server import Reply, chat_server
from tests.json_server import Answer, json_server
from tests.serving import own_certificate
from tests.targets.openai_target import asking, target

NETWORK = (*CA_VARIABLES, *(f"{name}_proxy" for name in ("http", "https", "all", "no")))


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch):
    for name in NETWORK:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@contextmanager
def socks_server(passed):
    """The port of a SOCKS5 proxy; `passed` has the places that it was asked for."""

    def serve(connection):
        with connection, suppress(OSError):
            connection.recv(2 + 255)
            connection.sendall(b"\x05\x00")
            request = connection.recv(262)
            if request[3] == 3:
                host, port = request[5 : 5 + request[4]].decode(), request[5 + request[4] :]
            else:
                host, port = socket.inet_ntoa(request[4:8]), request[8:]
            passed.append(host)
            with socket.create_connection((host, int.from_bytes(port[:2]))) as beyond:
                connection.sendall(b"\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00")
                beyond.sendall(connection.recv(65536))
                while content := beyond.recv(65536):
                    connection.sendall(content)

    with socket.create_server(("127.0.0.1", 0)) as server:

        def accept():
            with suppress(OSError):
                while True:
                    threading.Thread(target=serve, args=(server.accept()[0],), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)


@contextmanager
def tls_server(folder):
    """The address of a server whose certificate nobody knows, and how often it was called."""
    context = own_certificate(folder)
    served = SimpleNamespace(calls=0)
    body = b'{"choices": [{"message": {"content": "Hi"}}]}'

    with socket.create_server(("127.0.0.1", 0)) as server:

        def accept():
            with suppress(OSError):
                while True:
                    connection, _ = server.accept()
                    served.calls += 1
                    with suppress(OSError), context.wrap_socket(connection, server_side=True) as secured:
                        secured.recv(65536)
                        head = f"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {len(body)}\r\n\r\n"
                        secured.sendall(head.encode() + body)

        threading.Thread(target=accept, daemon=True).start()
        served.base_url = f"https://localhost:{server.getsockname()[1]}/v1"
        yield served
        server.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize("variable", ["ALL_PROXY", "HTTP_PROXY"])
@pytest.mark.parametrize("excepted", [False, True])
def test_a_socks_proxy_is_used_unless_the_host_is_excepted(monkeypatch, variable, excepted):
    passed = []
    with socks_server(passed) as port, chat_server(lambda body, n: Reply("Hi")) as server:
        monkeypatch.setenv(variable, f"socks5://127.0.0.1:{port}")
        if excepted:
            monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        assert target(server).answer(asking()).text == "Hi"
        assert unreachable(server.base_url) is None
    assert len(passed) == (0 if excepted else 2)


def test_an_error_names_the_proxy_in_the_way_without_its_password(monkeypatch):
    monkeypatch.setenv("ALL_PROXY", "socks5://me:secret@127.0.0.1:9")
    problem = target(SimpleNamespace(base_url="http://127.0.0.1:1/v1"), attempts=1).answer(asking()).problem
    assert "through the proxy socks5://127.0.0.1:9" in problem.message
    assert "through the proxy" in unreachable("http://127.0.0.1:1")
    assert "secret" not in problem.message
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    assert route("http://127.0.0.1:1/v1") == ""


def test_a_proxy_of_an_unknown_kind_is_an_error_in_one_line(monkeypatch, capsys):
    monkeypatch.setenv("ALL_PROXY", "gopher://127.0.0.1:9")
    chat = Chat(Endpoint(model="m", api_key="k", base_url="http://127.0.0.1:1/v1"), Throttle())
    chat.warm_up()
    with pytest.raises(ChatFailed, match="gopher") as failed:
        chat.ask([{"role": "user", "content": "?"}], {})
    assert failed.value.refused
    assert capsys.readouterr().err == ""


def test_a_host_sees_the_credentials_of_its_address_and_nothing_of_netrc(monkeypatch, tmp_path):
    (tmp_path / "netrc").write_text("default login me password secret-of-mine\n", encoding="utf-8")
    (tmp_path / "netrc").chmod(0o600)
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    with json_server(lambda asked, n: {}) as other:
        moved = Answer({}, 302, {"Location": f"{other.url}/there"})
        with json_server(lambda asked, n: moved) as server, session() as client:
            client.get(server.url.replace("//", "//ann:password@"))
            client.get(server.url)
            assert unreachable(server.url) is None
    sent = [[asked.headers.get("authorization") for asked in each.requests] for each in (server, other)]
    assert sent == [["Basic YW5uOnBhc3N3b3Jk", None, None], [None, None]]


@pytest.mark.needs("openssl")
@pytest.mark.parametrize("variable", CA_VARIABLES)
def test_each_variable_names_an_authority_for_models_and_other_addresses(monkeypatch, tmp_path, variable):
    with tls_server(tmp_path) as server:
        monkeypatch.setenv(variable, str(tmp_path / "cert.pem"))
        assert target(server).answer(asking()).text == "Hi"
        with session() as client:
            assert client.get(server.base_url).status_code == 200


@pytest.mark.needs("openssl")
def test_a_certificate_that_is_not_accepted_is_not_tried_again_and_says_what_helps(monkeypatch, tmp_path):
    with tls_server(tmp_path) as server:
        with pytest.raises(TargetRefused, match="certificate is not accepted") as refused:
            target(server, attempts=5).answer(asking())
        assert server.calls == 1
        for name in CA_VARIABLES:
            assert name in str(refused.value)
        assert "none of them is set" in str(refused.value)
        assert "certificate is not accepted" in unreachable(server.base_url)


def test_the_file_of_authorities_is_read_once_for_all_clients(monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", certifi.where())
    assert certificates() is certificates()


def test_a_file_of_authorities_that_cannot_be_read_is_named(monkeypatch, tmp_path):
    (tmp_path / "ca.pem").write_text("no certificate")
    monkeypatch.setenv("CURL_CA_BUNDLE", str(tmp_path / "ca.pem"))
    with pytest.raises(ValueError, match=r"CURL_CA_BUNDLE=.*ca\.pem"):
        certificates()
