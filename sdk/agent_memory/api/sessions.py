"""Sessions of the explorer in a browser: a cookie instead of a credential, read-only until it is unlocked.

They exist only in this process. After a restart, everybody must sign in again.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from fastapi import Request
from starlette.exceptions import HTTPException

from agent_memory.api.credentials import PRINCIPAL_HEADER
from agent_memory.api.errors import is_json
from agent_memory.api.identity import Caller, Identity
from agent_memory.contract.table import ENDPOINTS

SESSION_SECONDS = 8 * 3600.0
"""How long a browser stays signed in: a working day."""
UNLOCKED_SECONDS = 15 * 60.0
"""How long changes are allowed after the last unlocking. A choice: time for a few of them."""
MOST_SESSIONS = 1000
"""Maximum concurrent sessions; beyond that, the oldest ends."""
TERMINAL = Caller("explorer", None, acts_for_users=True, operates=True)
"""The caller with the printed address: the person who runs the server."""
LOCKED = "the explorer is read-only until it is unlocked"

_READING = frozenset(endpoint.path for endpoint in ENDPOINTS if endpoint.reads)


@dataclass(slots=True)
class Session:
    """One browser.

    Attributes:
        caller: The caller that it acts as.
        host: The host name that it uses. A page with another host name cannot use its cookie.
        ends: When it ends, in seconds of the clock.
        by_platform: Whether the platform's sign-in vouches for it, and must do so for each request.
        unlocked_until: Until when changes are allowed.
    """

    caller: Caller
    host: str
    ends: float
    by_platform: bool = False
    unlocked_until: float = 0.0


class Sessions:
    """The open sessions, and the one-time token that opens one."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._sessions: dict[str, Session] = {}
        self._token: str | None = None

    def new_token(self) -> str:
        """A token that opens one session; an earlier one is void."""
        token = secrets.token_urlsafe(32)
        self._token = _digest(token)
        return token

    def redeem(self, token: str, host: str) -> str | None:
        """Opens the session of whoever runs the server; None if the token is not the current one."""
        if self._token is None or not secrets.compare_digest(self._token, _digest(token)):
            return None
        self._token = None
        return self.open(TERMINAL, host)

    def open(self, caller: Caller, host: str, *, by_platform: bool = False) -> str:
        """Opens a session; what its cookie holds."""
        now = self._clock()
        self._sessions = {key: one for key, one in self._sessions.items() if one.ends > now}
        while len(self._sessions) >= MOST_SESSIONS:
            del self._sessions[next(iter(self._sessions))]
        secret = secrets.token_urlsafe(32)
        self._sessions[_digest(secret)] = Session(caller, host, now + SESSION_SECONDS, by_platform)
        return secret

    def find(self, request: Request) -> Session | None:
        """The session of a request's cookie, if it came by the name that it was opened under."""
        secret = request.cookies.get(cookie_name(request))
        session = None if secret is None else self._sessions.get(_digest(secret))
        if session is None or session.host != host_of(request) or session.ends <= self._clock():
            return None
        return session

    def close(self, request: Request) -> None:
        """Ends the session of a request."""
        self._sessions.pop(_digest(request.cookies.get(cookie_name(request), "")), None)

    def unlock(self, session: Session, *, allow: bool) -> None:
        """Allows changes for a while, or no more."""
        session.unlocked_until = self._clock() + UNLOCKED_SECONDS if allow else 0.0

    def seconds_unlocked(self, session: Session) -> int:
        """For how long changes are allowed still."""
        return max(0, round(session.unlocked_until - self._clock()))


class SessionIdentity:
    """Takes the cookie of a session, and otherwise what the server takes anyway."""

    def __init__(self, sessions: Sessions, others: Identity) -> None:
        self._sessions = sessions
        self._others = others

    async def caller(self, request: Request) -> Caller | None:
        """Whose session it is.

        Raises:
            HTTPException: 403, if it would change something and the session is locked.
        """
        session = self._sessions.find(request)
        if session is None:
            return await self._others.caller(request)
        if session.by_platform or PRINCIPAL_HEADER in request.headers:
            known = await self._others.caller(request)
            if known != session.caller:  # somebody else has signed in with this browser, or nobody
                return known
        if self._sessions.seconds_unlocked(session) == 0 and await _changes(request):
            raise HTTPException(403, LOCKED)
        return session.caller


def host_of(request: Request) -> str:
    """The name and port that a request came by."""
    return request.headers.get("host", "").lower()


def cookie_name(request: Request) -> str:
    """Browsers send the cookies of a host to all its ports: two servers on one machine have two names."""
    return f"agent-memory-{host_of(request).rpartition(':')[2] or 'explorer'}"


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


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
