"""Authorization: the server checks the `authorization` header of requests.

A client signs the verb, the kind of resource, its link and the date with the account's key. In process nothing is
checked, because a program that has the engine has the data.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import ipaddress
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from email.utils import parsedate_to_datetime
from urllib.parse import parse_qs, unquote

from embedded_cosmos.errors import forbidden, unauthorized
from embedded_cosmos.messages import Request
from embedded_cosmos.rids import last_number

WELL_KNOWN_KEY = "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw=="
"""The well-known key of Microsoft's emulator. It prevents accidents, not attacks."""

MAX_CLOCK_SKEW_SECONDS = 15 * 60
_PROXIED = {"forwarded", "via", "x-real-ip"}
_DELETE_BY_KEY = ["operations", "partitionkeydelete"]


class Authorizer:
    """Accepts requests that are signed with the account's key."""

    def __init__(
        self,
        key: str = WELL_KNOWN_KEY,
        *,
        allow_aad: bool = False,
        known_as: Collection[str] = (),
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Take the key of the account.

        Args:
            key: The key in base64.
            allow_aad: Accept any Entra ID token. Its signature is not checked, so this is for tests of clients.
            known_as: Further host names for the server, besides those of this machine and of its containers.
            clock: Returns the time in seconds since 1970.
        """
        try:
            self._key = base64.b64decode(key, validate=True)
        except binascii.Error:
            raise ValueError("The account key must be base64.") from None
        if not self._key:
            raise ValueError("The account key must not be empty.")
        self._allow_aad = allow_aad
        self._everybody_may_sign = key == WELL_KNOWN_KEY or allow_aad
        self._known_as = {name.lower() for name in known_as}
        self._clock = clock

    def check(self, request: Request) -> None:
        """Raises 401 or 403 if the request is not authorized."""
        if self._everybody_may_sign:
            self._check_origin(request.headers)
        header = request.headers.get("authorization")
        if not header:
            raise unauthorized("Required Header authorization is missing.")
        # parse_qs would read a plus sign of base64 as a space.
        token = parse_qs(unquote(header).replace("+", "%2B"))
        match token.get("type"), token.get("sig"):
            case ["master"], [signature]:
                self._check_signature(request, signature)
            case ["aad"], [_]:
                if not self._allow_aad:
                    raise unauthorized("Entra ID tokens are accepted only when the server is started with --allow-aad.")
            case ["resource"], _:
                raise unauthorized("Resource tokens are not supported: there are no users and permissions.")
            case _:
                raise unauthorized("The authorization token is not of the form type=…&ver=1.0&sig=….")

    def _check_origin(self, headers: Mapping[str, str]) -> None:
        """Refuses web pages and clients behind a proxy if they use the well-known key.

        A web page may point its own host name to this machine (DNS rebinding), but the Host header shows that name.
        """
        host = _host_name(headers.get("host", ""))
        if not (_is_nearby(host) or host in self._known_as):
            raise forbidden(
                f"The key is well known, so only programs near this server may use it, and {host!r} is not a name"
                " of it. Start the server with --known-as and the name, or with a --key of your own."
            )
        if any(name.lower() in _PROXIED or name.lower().startswith("x-forwarded") for name in headers):
            raise forbidden(
                "The key is well known, so it cannot be used through a proxy."
                " Start the server with a --key of your own."
            )

    def _check_signature(self, request: Request, signature: str) -> None:
        date = request.headers.get("x-ms-date", "")
        expected = [self._sign(request, resource_type, link) for resource_type, link in _signed_links(request.path)]
        matches = [hmac.compare_digest(candidate.encode(), signature.encode()) for candidate in expected]
        if not any(matches):
            raise unauthorized(
                "The input authorization token can't serve the request."
                " The wrong key is being used or the expected payload is not built as per the protocol."
            )
        self._check_date(date or request.headers.get("date", ""))

    def _check_date(self, date: str) -> None:
        try:
            signed_at = parsedate_to_datetime(date).timestamp()
        except ValueError:
            raise forbidden(f"The date of the request is not an HTTP date: {date!r}.") from None
        if abs(self._clock() - signed_at) > MAX_CLOCK_SKEW_SECONDS:
            raise forbidden(f"The authorization token is not valid at the current time: it was signed at {date}.")

    def _sign(self, request: Request, resource_type: str, link: str) -> str:
        dates = request.headers.get("x-ms-date", ""), request.headers.get("date", "")
        text = "\n".join([request.method.lower(), resource_type, link, dates[0].lower(), dates[1].lower(), ""])
        return base64.b64encode(hmac.digest(self._key, text.encode(), hashlib.sha256)).decode()


def _host_name(host: str) -> str:
    """The name in a Host header, in lower case, without port and brackets."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0].lower()


def _is_nearby(name: str) -> bool:
    """Whether no web page can have this host name: an address, a name without a dot, or one reserved for private use.

    Containers call each other by names without a dot, and their host by one that ends with `.internal` (reserved by
    ICANN in 2024); `.localhost` is reserved by RFC 6761.
    """
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return "." not in name or name.endswith((".localhost", ".internal"))
    return True


def _signed_links(path: str) -> Iterator[tuple[str, str]]:
    """The pairs that a client may have signed for a path: the kind of resource, and the link to it or to its owner."""
    raw = [segment for segment in path.split("/") if segment]
    if raw[-2:] == _DELETE_BY_KEY:
        raw[-2:], resource_type = [], "colls"
    elif len(raw) % 2:
        resource_type = raw.pop()
    else:
        resource_type = raw[-2] if raw else ""
    # Clients sign names unquoted. Of a path of rids they sign only the last one.
    yield resource_type, unquote("/".join(raw))
    if raw and (raw[0] == "offers" or last_number(unquote(raw[1])) is not None):
        yield resource_type, unquote(raw[-1]).lower()
