"""Which addresses lead to the public network: not to this machine, its network or its cloud."""

from __future__ import annotations

import ipaddress

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

# What `is_global` has as public, or had before Python 3.12.4.
_SPECIAL_4 = (
    ipaddress.IPv4Network("168.63.129.16/32"),  # Azure's host, as each of its machines and GitHub's runners see it
    ipaddress.IPv4Network("192.0.0.0/24"),  # protocol assignments: PCP, TURN, DS-Lite, Oracle's metadata
    ipaddress.IPv4Network("192.31.196.0/24"),  # AS112
    ipaddress.IPv4Network("192.52.193.0/24"),  # multicast tunnels
    ipaddress.IPv4Network("192.88.99.0/24"),  # 6to4 relays
    ipaddress.IPv4Network("192.175.48.0/24"),  # AS112
)
# everything else is reserved, local, or another form of an IPv4 address
_UNICAST_6 = ipaddress.IPv6Network("2000::/3")
_SPECIAL_6 = (
    ipaddress.IPv6Network("2001::/23"),  # protocol assignments, Teredo among them
    ipaddress.IPv6Network("2001:db8::/32"),  # documentation
    ipaddress.IPv6Network("2002::/16"),  # 6to4, whatever IPv4 address is in it
    ipaddress.IPv6Network("2620:4f:8000::/48"),  # AS112
    ipaddress.IPv6Network("3fff::/20"),  # documentation
)
_MAPPED = ipaddress.IPv6Network("::ffff:0:0/96")
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")  # RFC 6052
_ISATAP = (0x00005EFE, 0x02005EFE)  # RFC 5214: in front of an IPv4 address


def is_public(address: Address) -> bool:
    """Whether an address is public, including other forms of IPv4 addresses."""
    if isinstance(address, ipaddress.IPv4Address):
        return _is_ordinary(address) and not any(address in network for network in _SPECIAL_4)
    inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    if address in _MAPPED or address in _NAT64:
        return is_public(inner)
    if address not in _UNICAST_6 or any(address in network for network in _SPECIAL_6):
        return False
    tunnelled = (int(address) >> 32) & 0xFFFFFFFF in _ISATAP
    return _is_ordinary(address) and (not tunnelled or is_public(inner))


def _is_ordinary(address: Address) -> bool:
    return address.is_global and not address.is_multicast
