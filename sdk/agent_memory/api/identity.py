"""Whose memory a request is about."""

from __future__ import annotations

import ipaddress
from typing import Annotated, Protocol, cast

from fastapi import Depends, Request
from starlette.exceptions import HTTPException

from agent_memory.errors import InvalidInput
from agent_memory.store.ids import check_id

USER_HEADER = "x-user-id"


class Identity(Protocol):
    """Tells the user of a request."""

    def user_of(self, request: Request) -> str:
        """The id of the user.

        Raises:
            HTTPException: 401, if the request does not show who it is for.
            InvalidInput: if the id cannot be used.
        """
        ...


class HeaderIdentity:
    """Believes the header `x-user-id`, in UTF-8: for a backend that speaks for its users, and for development.

    Only where that is switched on (`ALLOW_HEADER_IDENTITY=true`), and only from a caller that is trusted for
    another reason: it is on this machine, or the platform has checked its function key (`behind_key`).
    """

    def __init__(self, *, allowed: bool, behind_key: bool = False) -> None:
        self._allowed = allowed
        self._behind_key = behind_key

    def user_of(self, request: Request) -> str:
        """The id in the header."""
        if not self._allowed:
            raise HTTPException(401, f"{USER_HEADER} is not accepted here; ALLOW_HEADER_IDENTITY switches it on")
        if not self._behind_key and not _is_local(request):
            raise HTTPException(401, f"{USER_HEADER} is accepted from this machine only")
        raw = dict(request.headers.raw).get(USER_HEADER.encode(), b"")
        if not raw:
            raise HTTPException(401, f"the header {USER_HEADER} is missing")
        try:
            return check_id(raw.decode(), USER_HEADER)
        except UnicodeDecodeError as error:
            raise InvalidInput(f"the header {USER_HEADER} is not UTF-8") from error


def _is_local(request: Request) -> bool:
    if request.client is None:
        return False
    try:
        return ipaddress.ip_address(request.client.host).is_loopback
    except ValueError:
        return False


def _user_id(request: Request) -> str:
    return cast(Identity, request.app.state.identity).user_of(request)


UserId = Annotated[str, Depends(_user_id)]
"""A parameter of a route: the user that the request is for."""
