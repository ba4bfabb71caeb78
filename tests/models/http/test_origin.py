"""Which addresses are of one owner."""

from __future__ import annotations

import pytest

from runevals.models.http.origin import is_at

PLACE = "https://gateway.example/tenant-a/v1"


@pytest.mark.parametrize(
    "url", [PLACE, f"{PLACE}/", f"{PLACE}?model=m", f"{PLACE}/chat/v2.1", PLACE.replace("ple/", "ple:443/")]
)
def test_an_address_is_at_its_place_and_plainly_below_it(url):
    assert is_at(url, PLACE)


@pytest.mark.parametrize(
    "url",
    [
        "https://gateway.example/tenant-b/v1",
        "https://gateway.example/tenant-a/v10",
        "https://gateway.example/tenant-a",
        "https://gateway.example/",
        "http://gateway.example/tenant-a/v1",
        "https://gateway.example:8443/tenant-a/v1",
        f"{PLACE}/../../tenant-b/v1",
        f"{PLACE}/%2e%2e/%2e%2e/tenant-b",
        f"{PLACE}/.\t./.\t./tenant-b",
        f"{PLACE}\\..\\..\\tenant-b",
        f"{PLACE}//tenant-b",
        f"{PLACE}/{{{{case.key}}}}/tenant-b",
        f"{PLACE}/..;/..;/tenant-b",
    ],
)
def test_it_is_not_elsewhere_on_the_host(url):
    assert not is_at(url, PLACE)


def test_nothing_is_below_the_root_of_a_host():
    assert is_at("https://gateway.example", "https://gateway.example/")
    assert not is_at(PLACE, "https://gateway.example/")
