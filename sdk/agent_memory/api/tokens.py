"""Tokens of an issuer (OpenID Connect): their signature, issuer, audience and age are checked here."""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import replace
from typing import Any

import aiohttp
import jwt
from fastapi import Request
from starlette.exceptions import HTTPException

from agent_memory.api.credentials import Claims, bearer
from agent_memory.api.identity import Caller, unauthenticated

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
