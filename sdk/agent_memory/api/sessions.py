"""Sessions of the explorer in a browser: a cookie instead of a credential, read-only until it is unlocked.

A session is stored in its cookie, signed with a key. Every process with that key accepts it, so any number of instances
can serve one browser. The store records only what ended early: tokens that were used, sessions that signed out,
permissions to change something that were taken back. A session of an API key lasts as long as that key is listed.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import math
import secrets
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, cast

from fastapi import Request
from starlette.exceptions import HTTPException

from agent_memory.api.credentials import PRINCIPAL_HEADER
from agent_memory.api.errors import is_json
from agent_memory.api.identity import Caller, Identity, Revocable
from agent_memory.contract.table import ENDPOINTS
from agent_memory.errors import ConfigurationError, Conflict
from agent_memory.memory import AsyncMemory
from agent_memory.store.client import Store
from agent_memory.store.containers import SUMMARIES
from agent_memory.store.ids import SESSIONS_THREAD, STORE_USER

SESSION_SECONDS = 8 * 3600.0
"""How long a browser stays signed in: a working day."""
UNLOCKED_SECONDS = 15 * 60.0
"""How long changes are allowed after the last unlocking. A choice: time for a few of them."""
TOKEN_SECONDS = 600.0
"""How long a token works that a configured key signed: time to paste an address."""
PROCESS_SECONDS = 365 * 86400.0
"""The same for a key that only this process has: as long as the process runs."""
KEY_LENGTH = 32
"""Minimum length of a configured key, in characters: 128 bits if it is hexadecimal."""
TERMINAL = Caller("explorer", None, acts_for_users=True, operates=True)
"""The caller with the printed address: the person who runs the server."""
LOCKED = "the explorer is read-only until it is unlocked"
UNDER_PAGE = "agent_memory.under_page"
"""Marks, in the ASGI scope, a request that the page sent: only its cookie authenticates it."""

_READING = frozenset(endpoint.path for endpoint in ENDPOINTS if endpoint.reads)


@dataclass(frozen=True, slots=True)
class Session:
    """One browser.

    Attributes:
        id: Names the session in the store after it has signed out.
        caller: The caller that it acts as.
        host: The host name that it uses. A page with another host name cannot use its cookie.
        ends: When it ends, in seconds since 1970.
        by_platform: Whether the platform's sign-in vouches for it, and must do so for each request.
        unlocked_until: Until when changes are allowed.
        unlocking: Names this permission in the store after it was taken back.
    """

    id: str
    caller: Caller
    host: str
    ends: float
    by_platform: bool = False
    unlocked_until: float = 0.0
    unlocking: str = ""

    def seconds_unlocked(self) -> int:
        """Seconds for which changes are still allowed."""
        return max(0, round(self.unlocked_until - time.time()))


class Sessions:
    """Signs and reads cookies, and the one-time tokens that open a session.

    Args:
        key: The key, the same in each instance; by default a random one, which only this process has.

    Raises:
        ConfigurationError: if the key is too short.
    """

    def __init__(self, key: str | None = None) -> None:
        if key is not None and len(key) < KEY_LENGTH:
            raise ConfigurationError(
                f"AGENT_MEMORY_EXPLORER_KEY needs at least {KEY_LENGTH} characters: python -c"
                " 'import secrets; print(secrets.token_hex(32))'"
            )
        self._key = secrets.token_bytes(32) if key is None else key.encode()
        self._token_seconds = PROCESS_SECONDS if key is None else TOKEN_SECONDS

    def new_token(self) -> str:
        """A token that opens one session."""
        return self._signed("token", {"id": secrets.token_urlsafe(16), "ends": time.time() + self._token_seconds})

    async def redeem(self, token: str, host: str, store: Store) -> Session | None:
        """The session of whoever runs the server; None if the token is not valid, or was used."""
        given = self._read("token", token)
        if given is None or not await _end(store, given["id"], given["ends"] - time.time()):
            return None
        return self.open(TERMINAL, host)

    def open(self, caller: Caller, host: str, *, by_platform: bool = False) -> Session:
        """A new session."""
        ends = min(caller.until, time.time() + SESSION_SECONDS)
        return Session(secrets.token_urlsafe(16), caller, host, ends, by_platform)

    def cookie(self, session: Session) -> str:
        """What the cookie of a session holds."""
        caller = session.caller
        rights = {} if session.by_platform else {"acts": caller.acts_for_users, "operates": caller.operates}
        groups = [] if session.by_platform else sorted(caller.groups)
        content = {"id": session.id, "ends": session.ends, "host": session.host, "platform": session.by_platform}
        who = {"name": caller.name, "user": caller.user_id, "groups": groups, "credential": caller.credential}
        unlocked = {"unlocked": session.unlocked_until, "unlocking": session.unlocking}
        return self._signed("cookie", content | who | rights | unlocked)

    async def find(self, request: Request) -> Session | None:
        """The session of a request's cookie, if it came by the host name that it was opened under."""
        found = self._read("cookie", request.cookies.get(cookie_name(request), ""))
        store = store_of(request)
        if found is None or "credential" not in found:  # earlier versions did not say with which key it was opened
            return None
        if found["host"] != host_of(request) or await _has_ended(store, found["id"]):
            return None
        rights = (found.get("acts", False), found.get("operates", False), frozenset(found["groups"]))
        caller = Caller(found["name"], found["user"], *rights, credential=found["credential"])
        session = Session(found["id"], caller, found["host"], found["ends"], found["platform"])
        unlocked, unlocking = found["unlocked"], found.get("unlocking", "")
        if unlocked <= time.time() or await _has_ended(store, unlocking):
            return session
        return replace(session, unlocked_until=unlocked, unlocking=unlocking)

    async def close(self, session: Session, store: Store) -> None:
        """Ends a session, in every instance."""
        await _end(store, session.id, session.ends - time.time())

    def unlocked(self, session: Session) -> Session:
        """The session with changes allowed for a while."""
        unlocking = session.unlocking or secrets.token_urlsafe(16)
        return replace(session, unlocked_until=time.time() + UNLOCKED_SECONDS, unlocking=unlocking)

    async def locked(self, session: Session, store: Store) -> Session:
        """The session with changes forbidden, in every instance and for copies of its cookie."""
        if session.unlocking:
            await _end(store, session.unlocking, session.ends - time.time())
        return replace(session, unlocked_until=0.0, unlocking="")

    def _signed(self, purpose: str, content: Mapping[str, Any]) -> str:
        text = base64.urlsafe_b64encode(json.dumps(content).encode()).decode().rstrip("=")
        return f"{text}.{self._mac(purpose, text)}"

    def _read(self, purpose: str, signed: str) -> dict[str, Any] | None:
        """The content that was signed for a purpose; None if the signature is wrong or expired."""
        text, _, mac = signed.partition(".")
        if not hmac.compare_digest(mac.encode(), self._mac(purpose, text).encode()):
            return None
        try:
            content = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
        except (binascii.Error, ValueError):
            return None
        return content if content["ends"] > time.time() else None

    def _mac(self, purpose: str, text: str) -> str:
        made = hmac.digest(self._key, f"agent-memory explorer {purpose} {text}".encode(), hashlib.sha256)
        return base64.urlsafe_b64encode(made).decode().rstrip("=")


class SessionIdentity:
    """Accepts the session's cookie on requests of the page, and the server's usual credentials on all others."""

    def __init__(self, sessions: Sessions, others: Identity) -> None:
        self._sessions = sessions
        self._others = others

    async def caller(self, request: Request) -> Caller | None:
        """Who calls. Raises HTTPException: 403, if the page would change something and its session is locked."""
        if not request.scope.get(UNDER_PAGE):
            return await self._others.caller(request)
        session = await current(self._sessions, self._others, request)
        if session is None:
            return None
        if session.seconds_unlocked() == 0 and await _changes(request):
            raise HTTPException(403, LOCKED)
        return session.caller


async def current(sessions: Sessions, credentials: Identity, request: Request) -> Session | None:
    """The session of a request. A revoked credential ends what was opened with it.

    If the platform signs people in, its principal must match and decides their rights.
    """
    session = await sessions.find(request)
    if session is None:
        return None
    if session.by_platform or PRINCIPAL_HEADER in request.headers:
        known = await credentials.caller(request)
        if known is None or (known.name, known.user_id) != (session.caller.name, session.caller.user_id):
            return None  # somebody else has signed in with this browser, or nobody
        return replace(session, caller=known)
    if session.caller.credential:
        known = credentials.known(session.caller.credential) if isinstance(credentials, Revocable) else None
        return None if known is None else replace(session, caller=known)
    return session


def store_of(request: Request) -> Store:
    """The store behind the app that answers a request."""
    return cast(AsyncMemory, request.app.state.memory).runtime.store


def host_of(request: Request) -> str:
    """The name and port that a request came by."""
    return request.headers.get("host", "").lower()


def cookie_name(request: Request) -> str:
    """The name of the cookie, with the port: browsers send a host's cookies to all its ports."""
    return f"agent-memory-{host_of(request).rpartition(':')[2] or 'explorer'}"


async def _end(store: Store, name: str, seconds: float) -> bool:
    """Records that a token or a session is over; False if it was before."""
    document = {
        "id": _digest(name),
        "user_id": STORE_USER,
        "thread_id": SESSIONS_THREAD,
        "type": "ended",
        "ttl": max(1, math.ceil(seconds)),
    }
    try:
        await store.create(SUMMARIES, document)
    except Conflict:
        return False
    return True


async def _has_ended(store: Store, name: str) -> bool:
    return await store.read(SUMMARIES, _digest(name), (STORE_USER, SESSIONS_THREAD)) is not None


async def _changes(request: Request) -> bool:
    """Whether a request may change anything; a dry run does not."""
    if request.method in ("GET", "HEAD", "OPTIONS") or request.url.path in _READING:
        return False
    if request.url.path.endswith("/forget") and is_json(request):
        body: object = None
        with suppress(ValueError, RecursionError):  # invalid JSON is refused where it is parsed
            body = await request.json()
        return not (isinstance(body, dict) and body.get("dry_run") is True)
    return True


def _digest(name: str) -> str:
    return f"ended_{hashlib.sha256(name.encode()).hexdigest()}"
