"""The webhook: an address that receives changes of memories."""

from __future__ import annotations

from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from urllib.parse import urlsplit

from agent_memory.errors import ConfigurationError

SHORTEST_SECRET = 16
"""Minimum length, in characters. A shorter secret could be guessed from one signed message."""
_PLATFORM = IPv4Address("168.63.129.16")
"""Azure's platform gives a virtual machine data about itself at this address (Microsoft Learn, "IP address
168.63.129.16"). It is in a public range."""
_NAT64 = IPv6Network("64:ff9b::/96")


@dataclass(frozen=True, slots=True)
class Webhook:
    """An address that receives the changes of all users' memories.

    Attributes:
        url: The address to post changes to. It must be https, unless `allow_private`.
        secret: Signs each message. It has at least 16 characters, and the receiver knows it too.
        allow_private: Whether the address may be on this machine or in a private network, and use http.

    Raises:
        ConfigurationError: if the address or the secret cannot be used.
    """

    url: str
    secret: str = field(repr=False)
    allow_private: bool = False

    def __post_init__(self) -> None:
        try:
            parts = urlsplit(self.url)
            host, schemes = parts.hostname, ("https", "http") if self.allow_private else ("https",)
            usable = parts.scheme in schemes and host and not parts.username and (parts.port is None or parts.port)
        except ValueError:
            host, usable = None, False
        if not usable or host is None:
            raise ConfigurationError("the webhook's URL must be like https://example.com/path, without a user's name")
        if not self.allow_private and not _may_be_called(host):
            raise ConfigurationError("the webhook is in a private network; AGENT_MEMORY_WEBHOOK_PRIVATE=true allows it")
        if len(self.secret) < SHORTEST_SECRET:
            raise ConfigurationError(f"the webhook's secret must have at least {SHORTEST_SECRET} characters")


def is_public(address: str) -> bool:
    """Whether an IP address is on the internet: not this machine, no private network, not the platform's own."""
    ip = ip_address(address.partition("%")[0])
    return all(one.is_global and not one.is_multicast and one != _PLATFORM for one in (ip, *_within(ip)))


def _within(ip: IPv4Address | IPv6Address) -> list[IPv4Address]:
    """The IPv4 addresses that an IPv6 address stands for."""
    if isinstance(ip, IPv4Address):
        return []
    found = [ip.sixtofour, *(ip.teredo or ())]
    if ip in _NAT64:
        found.append(IPv4Address(int(ip) & 0xFFFFFFFF))
    return [one for one in (*found, ip.ipv4_mapped) if one is not None]


def _may_be_called(host: str) -> bool:
    """Whether a host is a public address, or a name. A name is checked again when it is resolved."""
    try:
        return is_public(host)
    except ValueError:
        return host != "localhost" and not host.endswith(".localhost")
