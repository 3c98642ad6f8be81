"""The caller of a request, and the user whose memory it is for.

A credential names a caller: a user, or a service. A user gets their own memory and nothing else; a service with the
right to act for users names one in the header `x-user-id`. Nothing else in a request selects the user: a `user_id` in
the query or the body may repeat it, and is refused if it differs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Protocol, cast, runtime_checkable

from fastapi import Depends, Request
from starlette.exceptions import HTTPException

from agent_memory.api.errors import is_json
from agent_memory.audit import Actor, acts
from agent_memory.errors import InvalidInput
from agent_memory.store.ids import check_id, group_owner

USER_HEADER = "x-user-id"
GROUP_HEADER = "x-group-id"


@dataclass(frozen=True, slots=True)
class Caller:
    """The owner of a credential.

    Attributes:
        name: Identifies the caller, for rate limits and the log.
        user_id: The caller's user id; None for a service.
        acts_for_users: Whether it may name another user.
        operates: Whether it may use operations on all users: dead letters, health, the list of users.
        groups: The user's groups, according to the credential. A service that acts for users may name any.
        credential: Names the credential, if it is one that the operator can revoke (`Revocable`).
        until: When the credential ends, in seconds since 1970, if it says so.
    """

    name: str
    user_id: str | None
    acts_for_users: bool = False
    operates: bool = False
    groups: frozenset[str] = frozenset()
    credential: str = ""
    until: float = math.inf


class Identity(Protocol):
    """Reads one kind of credentials."""

    async def caller(self, request: Request) -> Caller | None:
        """The caller of a request; None if it brings no credentials of this kind.

        Raises:
            HTTPException: 401, if it brings such credentials and they do not hold.
        """
        ...


@runtime_checkable
class Revocable(Protocol):
    """Credentials that the operator can revoke. Sessions that were opened with a revoked one end."""

    def known(self, credential: str) -> Caller | None:
        """The caller by the name of a credential; None if it was revoked."""
        ...


class AnyOf:
    """Several kinds of credentials: the first that a request brings counts."""

    def __init__(self, identities: Sequence[Identity]) -> None:
        self._identities = identities

    async def caller(self, request: Request) -> Caller | None:
        """The caller by the first kind of credentials that the request brings."""
        for identity in self._identities:
            found = await identity.caller(request)
            if found is not None:
                return found
        return None

    def known(self, credential: str) -> Caller | None:
        """The caller by the name of a credential; None if it was revoked."""
        kinds = (identity for identity in self._identities if isinstance(identity, Revocable))
        return next((caller for kind in kinds if (caller := kind.known(credential)) is not None), None)


def unauthenticated(message: str) -> HTTPException:
    """The refusal of a request that does not show who it comes from."""
    return HTTPException(401, message, headers={"WWW-Authenticate": 'Bearer realm="agent-memory"'})


def named_user(request: Request) -> str | None:
    """The user named in the header `x-user-id`, in UTF-8. Raises InvalidInput if it is present and not a valid id."""
    return _named(request, USER_HEADER)


def _named(request: Request, header: str) -> str | None:
    values = [value for name, value in request.headers.raw if name == header.encode()]
    if not values:
        return None
    if len(values) > 1:
        raise InvalidInput(f"the header {header} occurs more than once")
    try:
        return check_id(values[0].decode(), header)
    except UnicodeDecodeError as error:
        raise InvalidInput(f"the header {header} is not UTF-8") from error


async def caller_of(request: Request) -> Caller:
    """The caller of a request, determined once.

    Raises:
        HTTPException: 401, if it has no valid credential; 429, if the caller sends too many requests.
    """
    known = getattr(request.state, "caller", None)
    if known is not None:
        return cast(Caller, known)
    caller = await cast(Identity, request.app.state.identity).caller(request)
    if caller is None:
        raise unauthenticated("this needs credentials")
    request.app.state.rates.take(caller.name, named_user(request) or caller.user_id or "")
    request.state.caller = caller
    return caller


async def user_of(request: Request) -> str:
    """Whose memory a request is for: a user's, or that of the group in the header `x-group-id`.

    Raises:
        HTTPException: 401, if it does not identify the user; 403, if it names a user or a group that the caller may not
            use.
    """
    caller = await caller_of(request)
    user_id, group = named_user(request) or caller.user_id, _named(request, GROUP_HEADER)
    if user_id is None and (group is None or not caller.acts_for_users):
        raise unauthenticated(f"this caller is not a user: name one in the header {USER_HEADER}")
    if user_id != caller.user_id and not caller.acts_for_users:
        allowed = "an API key made with --acts-for-users, or a token with the role for it"
        raise HTTPException(403, f"this caller may not act for another user: that takes {allowed}")
    if group is not None:
        check_member(caller, [group])
    for said in [*request.query_params.getlist("user_id"), *await _users_in_body(request)]:
        if said != user_id:
            raise HTTPException(403, "user_id differs from the user that the credentials show")
    acts(Actor(caller.name, "api", request.client.host if request.client else None))
    if group is None:
        assert user_id is not None
        return user_id
    request.state.member = user_id
    return group_owner(group)


def check_member(caller: Caller, groups: Sequence[str]) -> None:
    """Refuses groups of which the caller is not a member. The response is the same whether or not the group exists.

    Raises:
        HTTPException: 403.
    """
    if not caller.acts_for_users and not caller.groups.issuperset(groups):
        raise HTTPException(403, "this caller is not a member of the group")


async def _users_in_body(request: Request) -> list[object]:
    """The users that a JSON body names: its `user_id`, and that of its `memory_context`."""
    body: object = None
    if not is_json(request):
        return []
    with suppress(ValueError, RecursionError):  # invalid JSON is refused where it is parsed
        body = await request.json()
    if not isinstance(body, dict):
        return []
    inner = body.get("memory_context")
    places = [body, inner if isinstance(inner, dict) else {}]
    return [place["user_id"] for place in places if place.get("user_id") is not None]


async def _operator(request: Request) -> Caller:
    caller = await caller_of(request)
    if not caller.operates:
        allowed = "an API key made with --operates, or a token with the role for it"
        raise HTTPException(403, f"this is for the operator of the service: it takes {allowed}")
    return caller


UserId = Annotated[str, Depends(user_of)]
"""A parameter of a route: the user that the request is for."""
Operator = Annotated[Caller, Depends(_operator)]
"""A parameter of a route: the calling operator."""
