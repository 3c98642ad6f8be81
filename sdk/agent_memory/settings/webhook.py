"""Where changes of memories are sent to."""

from __future__ import annotations

from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from urllib.parse import urlsplit

from agent_memory.errors import ConfigurationError

SHORTEST_SECRET = 16
"""Characters: fewer could be guessed from one signed message."""
_PLATFORM = IPv4Address("168.63.129.16")
"""Azure's platform answers virtual machines here, with data of the machine (Microsoft Learn, "IP address
168.63.129.16"). It lies in a public range."""
_NAT64 = IPv6Network("64:ff9b::/96")


@dataclass(frozen=True, slots=True)
class Webhook:
    """An address that is told of changes of memories, of all users.

    Attributes:
        url: Where the changes are posted to; https, unless `allow_private`.
        secret: Signs each message: at least 16 characters that the receiver knows too.
        allow_private: Whether the address may lie on this machine or in a private network, and speak http.

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
    """Whether an IP address is one of the internet, and none of this machine, a private network or the platform."""
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
    """Whether a host is a name, which is looked at again when it is resolved, or a public address."""
    try:
        return is_public(host)
    except ValueError:
        return host != "localhost" and not host.endswith(".localhost")
