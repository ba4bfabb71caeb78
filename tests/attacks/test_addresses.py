"""An address in a suite leads to public hosts only, whatever form it has, and wherever it or a name leads next."""

from __future__ import annotations

from urllib.parse import quote, urlsplit

import pytest

from runevals.suites.urls.fetch import NotFetched, fetcher
from tests.page_server import page_server

PRIVATE = "is a private address"

# Ways to write the address of this machine; each of them reaches the server of the test where it is allowed.
THIS_MACHINE = [
    *("127.0.0.1", "127.1", "127.0.1", "2130706433", "017700000001", "0x7f000001", "0X7F000001"),
    *("0177.0.0.1", "0177.1", "0x7f.0.0.1", "0x7f.1", "0x7f.0x0.0x0.0x1", "127.0x1", "127.0.0x0.1", "127.0.01"),
    *("00000000177.00.00.01", "0x00007f.00.0x00.01", "0", "0.0.0.0", "0x0", "00", "0.0"),
    *("localhost", "LOCALHOST", "LocalHost", "someone@127.0.0.1", "a:b@localhost", "a@b@127.1"),
    *("[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:ffff:7f00:1]", "[::FFFF:7F00:0001]"),
    *("１２７.０.０.１", "127。0。0。1", "①②⑦.⓪.⓪.①", "ｌｏｃａｌｈｏｓｔ", "⓪x7f.1", "[::ffff:0.0.0.0]"),
]  # fmt: skip

# Hosts that no test can reach: what must be seen is that nobody tries.
ELSEWHERE = [
    *("127.8.8.8", "10.1.2.3", "172.16.9.9", "192.168.1.1", "3232235777", "0xc0a80101", "0300.0250.1", "10.66051"),
    *("169.254.169.254", "2852039166", "0xa9fea9fe", "025177524776", "0251.0376.0251.0376", "169.254.43518"),
    *("0xA9.0xFE.0xA9.0xFE", "169.0xfe.0251.254", "100.100.100.200", "192.0.0.192", "168.63.129.16", "2822734096"),
    *("0xa83f8110", "168.4161808", "192.88.99.1", "224.0.0.1", "255.255.255.255", "4294967295", "240.1"),
    *("198.18.0.1", "[::]", "[::1]", "[::127.0.0.1]", "[::a9fe:a9fe]", "[fd00:ec2::254]", "[fc00::1]"),
    *("[0:0:0:0:0:0:0:1]", "[fe80::1]", "[fec0::1]", "[ff02::1]", "[::ffff:a9fe:a9fe]", "[::ffff:10.0.0.1]"),
    *("[::ffff:0:7f00:1]", "[::ffff:0:169.254.169.254]", "[64:ff9b::7f00:1]", "[64:ff9b::169.254.169.254]"),
    *("[64:ff9b:1::7f00:1]", "[64:ff9b:1::a9fe:a9fe]", "[2002:7f00:1::]", "[2002:a9fe:a9fe::1]", "[5f00::1]"),
    *("[2001::1]", "[2001:0:7f00:1::]", "[2001:db8::1]", "[3fff::1]", "[100::1]", "[2001:470::5efe:7f00:1]"),
    *("１６９.２５４.１６９.２５４", "169。254。169。254", "[::ffff:168.63.129.16]", "[2001:470::200:5efe:a00:1]"),
]  # fmt: skip


@pytest.fixture
def web():
    """A server of this machine, and the paths that it was asked for."""
    with page_server() as (address, seen):
        yield urlsplit(address).port, seen


@pytest.mark.parametrize("host", THIS_MACHINE)
def test_no_form_of_this_machine_is_asked(web, host):
    port, seen = web
    url = f"http://{host}:{port}/a"
    with pytest.raises(NotFetched, match=PRIVATE):
        fetcher([])(url)
    assert seen == []
    assert fetcher([urlsplit(url).hostname])(url) == "text of /a"  # the control


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("host", ELSEWHERE)
def test_no_form_of_a_private_host_is_asked(scheme, host):
    with pytest.raises(NotFetched, match=PRIVATE):
        fetcher([])(f"{scheme}://{host}/latest/meta-data")


def to(port: int, location: str, status: int = 302) -> str:
    return f"http://127.0.0.1:{port}/to/{quote(f'{status} {location}')}"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize(
    "location",
    [
        *("http://127.0.0.1:{port}/secret", "http://localhost:{port}/secret", "//127.0.0.1:{port}/secret"),
        *("http://0x7f.1:{port}/secret", "HTTP://[::FFFF:7f00:1]:{port}/secret", "http://me@0:{port}/secret"),
        *(
            "ht\ttp://127.0.0.1:{port}/secret",
            "http://127.0.0.1:0{port}/secret",
            "http://127.1:{port}/x/../secret",
        ),
    ],
)
def test_a_redirect_leads_to_no_private_host(web, status, location):
    """The server that redirects is allowed, the other is not; where both are, it is asked."""
    with page_server() as (other, asked):
        there = location.format(port=urlsplit(other).port)
        first = to(web[0], there, status)
        with pytest.raises(NotFetched, match=PRIVATE):
            fetcher([f"127.0.0.1:{web[0]}"])(first)
        assert asked == []
        assert fetcher(["127.0.0.1", "localhost", "0x7f.1", "::ffff:7f00:1", "0", "127.1"])(first)
        assert [path.rpartition("/")[2] for path in asked] == ["secret"]


@pytest.mark.parametrize(
    "location",
    [
        *("file:///etc/passwd", "ftp://127.0.0.1/", "gopher://127.0.0.1/", "data:text/plain,x", "javascript:1"),
        *("https://:443/", "http://[::1", "http://[127.0.0.1]/", "http://a b/", "http://[fe80::1%25lo]/"),
        *("http://127.0.0.1:99999/", "http://127.0.0.1:x/", "http://%31%32%37.1/", "http://xn--0/", "http://\u2488.1/"),
        *("http://" + "a" * 64 + ".example/", "http://" + "a." * 200 + "example/"),
        *("http://127.0.0.1\\@8.8.8.8/", "http://127.0.0.1#@8.8.8.8/"),
        *("http://127.0.0.1?@8.8.8.8/", "http://8.8.8.8:80@127.0.0.1/", "http://169.254.169.254\\.example/"),
    ],
)  # fmt: skip
def test_a_redirect_to_what_is_no_public_address_is_refused(web, location):
    with pytest.raises(NotFetched):
        fetcher([f"127.0.0.1:{web[0]}"])(to(web[0], location))
    assert len(web[1]) == 1


def answers(*lookups):
    """A resolver that gives one of these after the other, and the lookups that it was asked for."""
    asked = []

    def resolve(host, _port):
        asked.append(host)
        return lookups[len(asked) - 1]

    return resolve, asked


@pytest.mark.parametrize("private", ["127.0.0.1", "169.254.169.254", "168.63.129.16", "::1", "fe80::1%eth0"])
@pytest.mark.parametrize("public", [["8.8.8.8"], ["2606:4700::1"], ["8.8.8.8", "1.1.1.1"]])
@pytest.mark.parametrize("first", [True, False])
def test_a_name_with_a_private_address_among_others_is_refused(web, private, public, first):
    resolve, _ = answers([private, *public] if first else [*public, private])
    with pytest.raises(NotFetched, match=PRIVATE):
        fetcher([], resolve)(f"http://mixed.example:{web[0]}/")
    assert web[1] == []


def test_a_name_is_looked_up_once_and_asked_where_it_was_then(web):
    """Rebinding: whoever answers the second lookup chooses nothing. No other resolver knows this name."""
    resolve, asked = answers(["127.0.0.1"], ["10.0.0.1"], ["10.0.0.1"])
    url = f"http://rebind.example:{web[0]}/a"
    assert fetcher(["rebind.example"], resolve)(url) == "text of /a"
    assert asked == ["rebind.example"]


def test_a_name_is_looked_up_again_for_each_redirect(web):
    resolve, asked = answers(["127.0.0.1"], ["127.0.0.1"])
    first = to(web[0], f"http://second.example:{web[0]}/a").replace("127.0.0.1", "first.example", 1)
    with pytest.raises(NotFetched, match=PRIVATE):
        fetcher(["first.example"], resolve)(first)
    assert asked == ["first.example", "second.example"]
    assert len(web[1]) == 1


def test_a_proxy_of_the_job_is_not_asked(web, monkeypatch):
    with page_server() as (proxy, asked):
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy)
        assert fetcher(["127.0.0.1"])(f"http://127.0.0.1:{web[0]}/a") == "text of /a"
        assert asked == []
