"""The explorer under `/ui/`: its files, and the session of the browser that shows it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, cast
from urllib.parse import unquote

from fastapi import APIRouter, Query, Request, Response
from pydantic import Field
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Receive, Scope, Send

from agent_memory.api.credentials import PRINCIPAL_HEADER
from agent_memory.api.errors import documented
from agent_memory.api.guard import is_rebound
from agent_memory.api.identity import Caller, Identity, unauthenticated
from agent_memory.api.sessions import (
    SESSION_SECONDS,
    UNDER_PAGE,
    Session,
    Sessions,
    cookie_name,
    current,
    host_of,
    store_of,
)
from agent_memory.contract.wire import Body
from agent_memory.explorer.page import TYPES, static_files, template
from agent_memory.models import Model

SELF_CONTAINED = "explorer.html"
"""The page as one file, into which the browser writes the data that it exports."""
API_PREFIX = "/ui/v1/"
"""The page calls the API below its own address, so a gateway that lets the page through also lets its requests
through."""
PAGE_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
        " base-uri 'none'; form-action 'none'; frame-ancestors 'none';"
        " require-trusted-types-for 'script'; trusted-types 'none'"
    ),
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class Lock(Body):
    """Whether to lock the session, so that it can change nothing."""

    locked: bool


class SessionState(Model):
    """Who is signed in to the explorer, and what they may do."""

    caller: str
    user_id: str | None = Field(description="The caller's own id; None for whoever runs the server.")
    acts_for_users: bool = Field(description="Whether they may see other users' memory.")
    operates: bool = Field(description="Whether they may see what concerns all users.")
    locked: bool
    seconds_unlocked: int = Field(description="Seconds for which changes are still allowed.")


class Explorer:
    """What the explorer's routes share.

    Attributes:
        sessions: Signs and reads the cookies.
        on_used: Called when the printed address has been used, so that a fresh one can be printed.

    Args:
        key: The key of the sessions, if several processes serve the page; by default a random one.
    """

    def __init__(self, key: str | None = None) -> None:
        self.sessions = Sessions(key)
        self.on_used: Callable[[], None] | None = None

    def address(self, url: str) -> str:
        """An address that signs a browser in, once."""
        return f"{url.rstrip('/')}/ui/?token={self.sessions.new_token()}"


class UnderPage:
    """Passes `/ui/v1/…` to the API, marked as sent by the page.

    The page encodes its paths twice, because browsers resolve a segment `.` or `..`, which is a valid id.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes the request on."""
        if scope["type"] == "http" and scope["path"].startswith(API_PREFIX):
            raw = scope.get("raw_path") or scope["path"].encode()
            scope = {**scope, "path": unquote(scope["path"][3:]), "raw_path": raw[3:], UNDER_PAGE: True}
        await self._app(scope, receive, send)


router = APIRouter(prefix="/ui", tags=["explorer"])


def _explorer(request: Request) -> Explorer:
    if is_rebound(request.client.host if request.client else None, request.headers):
        raise HTTPException(421, "use a host name of this machine, such as localhost")
    return cast(Explorer, request.app.state.explorer)


def _state(session: Session) -> SessionState:
    caller, left = session.caller, session.seconds_unlocked()
    return SessionState(
        caller=caller.name,
        user_id=caller.user_id,
        acts_for_users=caller.acts_for_users,
        operates=caller.operates,
        locked=left == 0,
        seconds_unlocked=left,
    )


async def _session(request: Request, explorer: Explorer) -> Session:
    session = await current(explorer.sessions, cast(Identity, request.app.state.credentials), request)
    if session is None:
        raise unauthenticated("this browser is not signed in")
    return session


def _set_cookie(request: Request, response: Response, session: Session) -> None:
    response.set_cookie(
        cookie_name(request),
        _explorer(request).sessions.cookie(session),
        max_age=int(SESSION_SECONDS),
        path="/",
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )


@router.get("/session", responses=documented(), operation_id="explorer_session")
async def get_session(request: Request) -> SessionState:
    """Who is signed in, and whether changes are allowed."""
    explorer = _explorer(request)
    return _state(await _session(request, explorer))


@router.post("/session", status_code=201, responses=documented(), operation_id="explorer_sign_in")
async def sign_in(request: Request, response: Response) -> SessionState:
    """Signs a browser in with any credential of the API, except the header of development."""
    explorer = _explorer(request)
    caller: Caller | None = await cast(Identity, request.app.state.credentials).caller(request)
    if caller is None or caller.name == "header":
        raise unauthenticated("this needs credentials: an API key, or the address that the server printed")
    request.app.state.rates.take(caller.name, caller.user_id or "")
    session = explorer.sessions.open(caller, host_of(request), by_platform=PRINCIPAL_HEADER in request.headers)
    _set_cookie(request, response, session)
    return _state(session)


@router.patch("/session", responses=documented(), operation_id="explorer_lock")
async def lock(request: Request, response: Response, body: Lock) -> SessionState:
    """Unlocks the session for fifteen minutes, or locks it."""
    explorer = _explorer(request)
    session, sessions = await _session(request, explorer), explorer.sessions
    session = await sessions.locked(session, store_of(request)) if body.locked else sessions.unlocked(session)
    _set_cookie(request, response, session)
    return _state(session)


@router.delete("/session", status_code=204, responses=documented(), operation_id="explorer_sign_out")
async def sign_out(request: Request, response: Response) -> None:
    """Signs the browser out."""
    sessions = _explorer(request).sessions
    session = await sessions.find(request)
    if session is not None:
        await sessions.close(session, store_of(request))
    response.delete_cookie(cookie_name(request), path="/", httponly=True, samesite="strict")


@router.get("", include_in_schema=False)
async def without_slash() -> Response:
    """Redirects to the page."""
    return Response(status_code=308, headers=PAGE_HEADERS | {"Location": "ui/"})


@router.get("/", include_in_schema=False)
async def page(request: Request, token: Annotated[str | None, Query(max_length=1000)] = None) -> Response:
    """The page. A token in its address becomes a cookie, and leaves the address."""
    explorer = _explorer(request)
    if token is None:
        return file(request, "index.html")
    response = Response(status_code=303, headers=PAGE_HEADERS | {"Location": "./"})
    session = await explorer.sessions.redeem(token, host_of(request), store_of(request))
    if session is None:
        response.headers["Location"] = "./#/used"
        return response
    _set_cookie(request, response, session)
    if explorer.on_used is not None:
        explorer.on_used()
    return response


@router.get("/{name:path}", include_in_schema=False)
async def get_file(request: Request, name: str) -> Response:
    """A file of the page."""
    _explorer(request)
    return file(request, name)


def file(request: Request, name: str) -> Response:
    """A file by its name, or a 404."""
    if name == SELF_CONTAINED:
        download = {"Content-Disposition": f'attachment; filename="{SELF_CONTAINED}"'}
        return Response(template(), headers=PAGE_HEADERS | download, media_type=TYPES["html"])
    content = static_files().get(name)
    if content is None:
        raise HTTPException(404, "there is no such file")
    return Response(content, headers=PAGE_HEADERS, media_type=TYPES[name.rpartition(".")[2]])
