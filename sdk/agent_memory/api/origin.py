"""Where a request comes from, by its headers: a program on this machine, a proxy, a page of the web.

The API and the local host of the function app ask the same questions here. What to do with the answers is up to them.
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
"""Headers that proxies add: RFC 7239 (Forwarded), RFC 9110 (Via), and their older and unofficial names."""


def is_local(peer: str | None, headers: Mapping[str, str]) -> bool:
    """Whether the caller is a program on this machine, for itself, using a host name of this machine.

    A proxy on this machine calls for others, and says so in a header. A web page that points its own host name to this
    machine cannot hide that name from the Host header.

    Args:
        peer: The address at the other end of the connection, if known.
        headers: The headers of the request.
    """
    return _is_loopback(peer or "") and _is_loopback(_host_name(headers.get("host", ""))) and not _by_proxy(headers)


def is_rebound(peer: str | None, headers: Mapping[str, str], hosts: Set[str] = frozenset()) -> bool:
    """Whether the caller is a program on this machine, using a foreign host name.

    A web page does this when it points its own host name to this machine (DNS rebinding). So does a proxy on this
    machine, which says so in a header.

    Args:
        peer: The address at the other end of the connection, if known.
        headers: The headers of the request.
        hosts: Further host names of this server, with their ports.
    """
    host = headers.get("host", "").lower()
    is_known = _is_loopback(_host_name(host)) or host in hosts
    return _is_loopback(peer or "") and not is_known and not _by_proxy(headers)


def is_cross_site(headers: Mapping[str, str], allowed: Set[str] = frozenset()) -> bool:
    """Whether a browser sends the request for a page of another origin.

    Browsers report this in headers that pages cannot set: Sec-Fetch-Site (W3C Fetch Metadata), or Origin if they do not
    send that one. Other programs send neither.

    Args:
        headers: The headers of the request.
        allowed: Origins whose pages are allowed, such as `https://app.example`.
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
    """The host and port of an origin; None if it is not one, such as `null`."""
    try:
        return urlsplit(origin).netloc.lower() or None
    except ValueError:
        return None
