"""What is public, and what only looks so."""

from __future__ import annotations

import ipaddress

import pytest

from runevals.models.http.public_address import is_public

PUBLIC = ["8.8.8.8", "1.1.1.1", "168.63.129.15", "168.63.129.17", "192.88.98.255", "192.88.100.0", "192.0.1.1"]
PUBLIC += ["172.32.0.1", "100.128.0.1", "223.255.255.255", "2606:4700:4700::1111", "2a00:1450:4001::200e"]
PUBLIC += ["::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2001:200::1", "2001:470:0:0:0:5efe:8.8.8.8"]

# By what they are; the ones marked were let through by `is_global` alone, some only before Python 3.12.4.
NOT_PUBLIC = {
    "this machine": ["127.0.0.1", "127.255.255.254", "0.0.0.0", "0.1.2.3", "::1", "::"],
    "private": ["10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.0.1", "fc00::1", "fd12:3456::1", "fec0::1"],
    "shared": ["100.64.0.1", "100.100.100.200", "100.127.255.255"],
    "a cloud's own": ["169.254.169.254", "169.254.170.2", "fd00:ec2::254", "fe80::a9fe:a9fe", "168.63.129.16"],
    "protocol assignments": ["192.0.0.1", "192.0.0.9", "192.0.0.10", "192.0.0.170", "192.0.0.192"],
    "anycast": ["192.88.99.1", "192.31.196.1", "192.52.193.1", "192.175.48.1", "2620:4f:8000::1", "2001:3::1"],
    "documentation": ["192.0.2.1", "198.51.100.1", "203.0.113.1", "2001:db8::1", "3fff::1"],
    "benchmarks": ["198.18.0.1", "198.19.255.255", "2001:2::1"],
    "multicast": ["224.0.0.1", "239.255.255.250", "255.255.255.255", "ff02::1", "ff0e::1"],
    "reserved": ["240.0.0.1", "254.1.2.3", "100::1", "100:0:0:1::1", "5f00::1", "4000::1", "e000::1"],
    "mapped": ["::ffff:127.0.0.1", "::ffff:a9fe:a9fe", "::ffff:168.63.129.16", "::ffff:192.0.0.192"],
    "compatible": ["::127.0.0.1", "::169.254.169.254", "::8.8.8.8"],
    "translated": ["::ffff:0:127.0.0.1", "::ffff:0:a9fe:a9fe", "::ffff:0:8.8.8.8"],
    "NAT64": ["64:ff9b::127.0.0.1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::7f00:1", "64:ff9b:1::8.8.8.8"],
    "6to4": ["2002:7f00:1::", "2002:a9fe:a9fe::1", "2002:c0a8:1::1", "2002:808:808::1"],
    "Teredo": ["2001::1", "2001:0:7f00:1::", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001:0:a9fe:a9fe::"],
    "ISATAP": ["2001:470::5efe:127.0.0.1", "2001:470::200:5efe:10.0.0.1", "fe80::5efe:169.254.169.254"],
    "ORCHID": ["2001:10::1", "2001:20::1", "2001:30::1"],
}  # fmt: skip


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_are_public(address):
    assert is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize(
    "address", [pytest.param(one, id=f"{kind} {one}") for kind, all_ in NOT_PUBLIC.items() for one in all_]
)
def test_private_and_special_addresses_are_not_public(address):
    assert not is_public(ipaddress.ip_address(address))
