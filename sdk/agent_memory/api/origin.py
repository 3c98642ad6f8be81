"""Where a request comes from, by its headers: a program on this machine, a proxy, a page of the web.

The API and the local host of the function app ask the same questions here. What an answer means is their business.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping, Set
from urllib.parse import urlsplit

_PROXY_PREFIXES = ("x-forwarded", "x-original-")
_PROXY_HEADERS = {
    "cf-connecting-ip",
    "client-ip",
    "fastly-client-ip",
    "forwarded",
    "true-client-ip",
    "via",
    "x-client-ip",
    "x-cluster-client-ip",
    "x-real-ip",
}
"""What proxies add: RFC 7239 (Forwarded), RFC 9110 (Via), and the names that they had before and beside these."""


def is_local(peer: str | None, headers: Mapping[str, str]) -> bool:
    """Whether a program on this machine asks, for itself and by a name of this machine.

    A proxy on this machine asks for others, and says so. A page of the web that has given its own name the address of
    this machine cannot hide that name from the Host header.

    Args:
        peer: The address at the other end of the connection, if it is known.
        headers: The headers of the request.
    """
    return _is_loopback(peer or "") and _is_loopback(_host_name(headers.get("host", ""))) and not _by_proxy(headers)


def is_rebound(peer: str | None, headers: Mapping[str, str], hosts: Set[str] = frozenset()) -> bool:
    """Whether a program on this machine asks by a name that is not this machine's.

    A page of the web does, when it has given its own name the address of this machine (DNS rebinding). So does a proxy
    on this machine, which says so in a header.

    Args:
        peer: The address at the other end of the connection, if it is known.
        headers: The headers of the request.
        hosts: Further names, with their ports, by which this server is known.
    """
    host = headers.get("host", "").lower()
    is_known = _is_loopback(_host_name(host)) or host in hosts
    return _is_loopback(peer or "") and not is_known and not _by_proxy(headers)


def is_cross_site(headers: Mapping[str, str], allowed: Set[str] = frozenset()) -> bool:
    """Whether a browser asks for a page of another origin than this server's.

    Browsers say so in headers that pages cannot set: Sec-Fetch-Site (W3C Fetch Metadata), and Origin where they do not
    send that one. What is no browser sends neither.

    Args:
        headers: The headers of the request.
        allowed: Origins whose pages may ask, such as `https://app.example`.
    """
    origin = headers.get("origin")
    if origin is not None and origin.lower() in allowed:
        return False
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site.lower() not in ("same-origin", "none")
    return origin is not None and _authority(origin) != headers.get("host", "").lower()


def _by_proxy(headers: Mapping[str, str]) -> bool:
    names = [name.lower() for name in headers]
    return any(name in _PROXY_HEADERS or name.startswith(_PROXY_PREFIXES) for name in names)


def _host_name(host: str) -> str:
    """The name in a Host header, without port and brackets."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0].lower()


def _is_loopback(name: str) -> bool:
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name == "localhost"


def _authority(origin: str) -> str | None:
    """The host and port of an origin; None for what is none, such as `null`."""
    try:
        return urlsplit(origin).netloc.lower() or None
    except ValueError:
        return None
