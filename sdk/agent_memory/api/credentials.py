"""Credentials: tokens of an issuer (OpenID Connect), the platform's header, API keys, and the header of development."""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
import hmac
import json
import logging
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import aiohttp
import jwt
from fastapi import Request
from pydantic import Field, TypeAdapter, ValidationError
from starlette.exceptions import HTTPException

from agent_memory.api.guard import is_local
from agent_memory.api.identity import Caller, named_user, unauthenticated
from agent_memory.errors import ConfigurationError, InvalidInput
from agent_memory.models import Model
from agent_memory.store.documents import validated
from agent_memory.store.ids import check_id, group_owner

KEY_HEADER = "x-api-key"
PRINCIPAL_HEADER = "x-ms-client-principal"

_LONG_CLAIMS = {
    "oid": "http://schemas.microsoft.com/identity/claims/objectidentifier",
    "sub": "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/nameidentifier",
}
"""The names that the platform gives to claims of a token (App Service authentication)."""


@dataclass(frozen=True, slots=True)
class Claims:
    """The claim that holds the user, and the roles that grant rights."""

    user: str = "oid"
    act_role: str = "Memory.ActForUsers"
    operator_role: str = "Memory.Operate"
    groups: str = "groups"

    def caller(self, user_id: object, roles: Sequence[object], groups: Sequence[object] = ()) -> Caller:
        """The caller that claims describe.

        Raises:
            HTTPException: 401, if the user claim is missing or cannot be an id.
        """
        try:
            user = check_id(user_id, f"the claim {self.user}")
        except InvalidInput as error:
            raise unauthenticated(str(error)) from error
        member = frozenset(group for group in groups if isinstance(group, str))
        return Caller(user, user, self.act_role in roles, self.operator_role in roles, member)


class PlatformPrincipal:
    """Trusts the header that App Service and Azure Functions set when their authentication is on.

    The platform removes such a header when a client sends one, but only while that authentication is on: nothing else
    may be in front of this.
    """

    def __init__(self, claims: Claims) -> None:
        self._claims = claims

    async def caller(self, request: Request) -> Caller | None:
        """The signed-in user or application."""
        header = request.headers.get(PRINCIPAL_HEADER)
        if header is None:
            return None
        try:
            principal = json.loads(base64.b64decode(header, validate=True))
            given = [(str(claim["typ"]), claim["val"]) for claim in principal["claims"]]
            names = {self._claims.user, _LONG_CLAIMS.get(self._claims.user)}
            users = {value for name, value in given if name in names}
        except (binascii.Error, ValueError, TypeError, KeyError, RecursionError) as error:
            raise unauthenticated(f"{PRINCIPAL_HEADER} cannot be read") from error
        if len(users) > 1:
            raise unauthenticated(f"{PRINCIPAL_HEADER} names several users")
        role_names = {"roles", principal.get("role_typ")}
        roles = [value for name, value in given if name in role_names]
        groups = [value for name, value in given if name == self._claims.groups]
        return self._claims.caller(next(iter(users), None), roles, groups)


class ApiKey(Model):
    """What a key may do. Only the hash of the key is stored, and a key is too long to be guessed from it."""

    sha256: str = Field(pattern="^[0-9a-f]{64}$")
    name: str = Field(min_length=1, max_length=100)
    user: str | None = None
    acts_for_users: bool = False
    operates: bool = False
    groups: list[str] = Field(default_factory=list, description="The groups that the user is a member of.")


class ApiKeys:
    """Keys that the operator gave out, in the header `x-api-key` or as a bearer token."""

    def __init__(self, keys: Sequence[ApiKey]) -> None:
        if len({key.sha256 for key in keys}) < len(keys):
            raise ConfigurationError("an API key is listed twice")
        for key in keys:
            if key.user is not None:
                check_id(key.user, f"the user of API key {key.name}")
            for group in key.groups:
                group_owner(group)
        self._keys = list(keys)

    @classmethod
    def parse(cls, text: str) -> ApiKeys:
        """Keys out of JSON: a list of objects with the fields of `ApiKey`.

        Raises:
            ConfigurationError: if it is something else.
        """
        try:
            return cls(TypeAdapter(list[ApiKey]).validate_json(text))
        except (ValidationError, InvalidInput) as error:
            form = "it is a JSON list of the entries that `agent-memory api-key` prints: [ENTRY, ENTRY]"
            problem = f"the list of API keys cannot be used; {form}. {_without_input(error)}"
            raise ConfigurationError(problem) from error

    async def caller(self, request: Request) -> Caller | None:
        """The holder of the request's key."""
        given = request.headers.get(KEY_HEADER) or bearer(request)
        if given is None:
            return None
        digest = hashlib.sha256(given.encode()).hexdigest()
        found = [key for key in self._keys if hmac.compare_digest(key.sha256, digest)]
        if not found:
            raise unauthenticated("this key is not known: the server's list of API keys has no entry for it")
        return _holder(found[0])

    def known(self, credential: str) -> Caller | None:
        """Whose key it was, if it is still listed."""
        return next((_holder(key) for key in self._keys if _name(key) == credential), None)


def _name(key: ApiKey) -> str:
    """A digest of what is listed, which says nothing about the key."""
    return hashlib.sha256(f"agent-memory key {key.sha256}".encode()).hexdigest()


def _holder(key: ApiKey) -> Caller:
    groups = frozenset(key.groups)
    return Caller(f"key {key.name}", key.user, key.acts_for_users, key.operates, groups, credential=_name(key))


def new_key(name: str, **rights: Any) -> tuple[str, ApiKey]:
    """A fresh key of 256 random bits, and its entry in the list of keys.

    Raises:
        InvalidInput: if the name is empty or too long, or its user or a group cannot be an id.
    """
    key = f"amk_{secrets.token_urlsafe(32)}"
    entry = validated(ApiKey, {"sha256": hashlib.sha256(key.encode()).hexdigest(), "name": name, **rights}, "key: ")
    ApiKeys([entry])
    return key, entry


class HeaderIdentity:
    """Trusts the header `x-user-id`: for development, and for a backend that has a function key.

    It trusts the header only from a program on this machine, or if the platform has checked the caller's function key
    (`behind_key`). Such a caller may also operate the service.

    A request of a program on this machine must not have a key: nothing could check it, so a wrong one would seem right.
    """

    def __init__(self, *, allowed: bool, behind_key: bool = False) -> None:
        self._allowed = allowed
        self._behind_key = behind_key

    async def caller(self, request: Request) -> Caller | None:
        """The caller named in the header."""
        if not self._allowed:
            raise unauthenticated(
                "credentials are missing: send an API key in x-api-key, or a token in Authorization"
                " (ALLOW_HEADER_IDENTITY would accept a header)"
            )
        if not self._behind_key and not is_local(request.client.host if request.client else None, request.headers):
            raise unauthenticated("a header as identity is accepted from this machine only")
        if not self._behind_key and (request.headers.get(KEY_HEADER) or bearer(request)) is not None:
            raise unauthenticated(
                "this server has no keys and cannot check yours: send none, or start it with AGENT_MEMORY_API_KEYS_FILE"
            )
        return Caller("header", named_user(request), acts_for_users=True, operates=True)


def bearer(request: Request) -> str | None:
    """The bearer token of a request."""
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() or None if kind.lower() == "bearer" else None


def _without_input(error: ValidationError | InvalidInput) -> str:
    if isinstance(error, InvalidInput):
        return str(error)
    problems: list[Mapping[str, Any]] = [dict(problem) for problem in error.errors(include_input=False)]
    return "; ".join(": ".join(filter(None, (".".join(map(str, one["loc"])), one["msg"]))) for one in problems)


logger = logging.getLogger("agent_memory")

ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]
"""Signatures with a private key. With a shared secret, everybody who can check a token could also make one."""
KEYS_LIVE = 3600.0
"""Seconds after which the issuer's keys are fetched again."""
KEYS_REST = 30.0
"""Minimum seconds between two fetches, whatever key ids callers invent."""
_FAR = 2**40  # seconds since 1970
LEEWAY = 60.0
"""Seconds by which clocks may differ."""
FETCH_TIMEOUT = 10.0


class IssuerKeys:
    """The public keys of an issuer, by their ids: found through its configuration document, and kept for an hour."""

    def __init__(self, issuer: str) -> None:
        self._issuer = issuer
        self._keys: dict[str | None, jwt.PyJWK] = {}
        self._fetched = self._tried = float("-inf")
        self._lock = asyncio.Lock()

    async def key(self, key_id: str | None) -> jwt.PyJWK | None:
        """The key with this id; None if the issuer has no such key.

        Raises:
            HTTPException: 503, if the keys of the issuer are not known yet.
        """
        async with self._lock:
            now = time.monotonic()
            wanted = now - self._fetched > KEYS_LIVE or key_id not in self._keys
            if wanted and now - self._tried > KEYS_REST:
                self._tried = now
                await self._refresh()
            if not self._keys:
                raise HTTPException(503, "the issuer of tokens does not answer", headers={"Retry-After": "30"})
            return self._keys.get(key_id)

    async def _refresh(self) -> None:
        """Fetches the keys. If that fails, logs why and keeps the known keys."""
        url = f"{self._issuer.rstrip('/')}/.well-known/openid-configuration"
        try:
            async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(FETCH_TIMEOUT)) as session:
                configuration = await _json(session, url)
                if configuration["issuer"] != self._issuer:
                    raise ValueError(f"{url} speaks for {configuration['issuer']!r}")
                listed = await _json(session, configuration["jwks_uri"])
            keys = jwt.PyJWKSet.from_dict(listed).keys
        except (aiohttp.ClientError, TimeoutError, jwt.PyJWTError, ValueError, KeyError, TypeError) as error:
            logger.warning("the keys of %s could not be fetched: %r", self._issuer, error)
            return
        self._keys = {key.key_id: key for key in keys if key.public_key_use in (None, "sig")}
        self._fetched = time.monotonic()


class JwtIdentity:
    """Bearer tokens of one issuer for one audience."""

    def __init__(self, issuer: str, audience: str, claims: Claims) -> None:
        self._issuer = issuer
        self._audience = audience
        self._claims = claims
        self._keys = IssuerKeys(issuer)

    async def caller(self, request: Request) -> Caller | None:
        """The caller that the token names."""
        token = bearer(request)
        if token is None or token.count(".") != 2:
            return None
        try:
            header = jwt.get_unverified_header(token)
            key = await self._keys.key(header.get("kid"))
            if key is None:
                raise unauthenticated("the token is not signed with a key of the issuer")
            claims: dict[str, Any] = jwt.decode(
                token,
                key,
                algorithms=ALGORITHMS,
                audience=self._audience,
                issuer=self._issuer,
                leeway=LEEWAY,
                options={"require": ["exp", "iss", "aud"]},
            )
        except (jwt.PyJWTError, RecursionError) as error:
            raise unauthenticated(f"the token is not valid: {error}") from error
        roles, groups = (claims.get(name) for name in ("roles", self._claims.groups))
        lists = (one if isinstance(one, list) else [] for one in (roles, groups))
        return replace(self._claims.caller(claims.get(self._claims.user), *lists), until=min(int(claims["exp"]), _FAR))


async def _json(session: aiohttp.ClientSession, url: str) -> Any:
    async with session.get(url) as answer:
        answer.raise_for_status()
        return await answer.json(content_type=None)
