"""Who gets in: the address that signs in once, the cookie, other sites' pages, other names, and the lock."""

import base64
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import quote

import httpx2 as httpx
import pytest
from api_world import Issuer, platform_header
from pytest_httpserver import HTTPServer

from agent_memory import AsyncMemory
from agent_memory.api import ApiSettings, Explorer, HeaderIdentity, Identity, InlineProcessing, create_app
from agent_memory.api.credentials import ApiKeys, Claims, JwtIdentity, PlatformPrincipal, new_key
from agent_memory.api.identity import AnyOf
from agent_memory.errors import ConfigurationError

HOST = "localhost:8900"
OWN_PAGE = {"origin": f"http://{HOST}", "sec-fetch-site": "same-origin"}
MAYA = {"x-user-id": "maya"}


@asynccontextmanager
async def explored(
    memory: AsyncMemory, identity: Identity | None = None, *, client: str = "127.0.0.1", key: str | None = None
) -> AsyncIterator[tuple[httpx.AsyncClient, Explorer]]:
    explorer = Explorer(key)
    app = create_app(
        memory, InlineProcessing(memory.runtime), identity or HeaderIdentity(allowed=True), explorer=explorer
    )
    transport = httpx.ASGITransport(app=app, client=(client, 1234))
    async with httpx.AsyncClient(transport=transport, base_url=f"http://{HOST}") as http:
        yield http, explorer


async def signed_in(http: httpx.AsyncClient, explorer: Explorer) -> None:
    address = explorer.address(f"http://{HOST}")
    assert (await http.get(address, follow_redirects=False)).status_code == 303


async def test_an_address_becomes_a_cookie_that_scripts_and_other_sites_cannot_use(memory: AsyncMemory):
    async with explored(memory) as (http, explorer):
        address = explorer.address(f"http://{HOST}")
        assert address.startswith(f"http://{HOST}/ui/?token=")
        answer = await http.get(address, follow_redirects=False)
        assert (answer.status_code, answer.headers["location"]) == (303, "./")
        cookie = answer.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "samesite=strict" in cookie.lower()
        assert address.partition("token=")[2] not in cookie  # the token is not the key of the session
        state = (await http.get("/ui/session")).json()
        assert (state["caller"], state["operates"], state["locked"]) == ("explorer", True, True)
        http.cookies.clear()
        again = await http.get(address, follow_redirects=False)
        assert again.headers["location"] == "./#/used"
        assert "set-cookie" not in again.headers
        assert (await http.get("/ui/session")).status_code == 401


async def test_instances_with_one_key_share_sessions_and_each_token_works_once_on_all(memory: AsyncMemory):
    key = "k" * 32
    async with explored(memory, key=key) as (one, explorer), explored(memory, key=key) as (two, _):
        address = explorer.address(f"http://{HOST}")
        assert "set-cookie" in (await two.get(address)).headers
        assert "set-cookie" not in (await one.get(address)).headers
        [made] = list(two.cookies.jar)
        cookie = {"cookie": f"{made.name}={made.value}"} | OWN_PAGE
        unlocked = await one.patch("/ui/session", json={"locked": False}, headers=cookie)
        assert unlocked.json()["locked"] is False
        assert (await two.get("/ui/session", headers=cookie)).json()["locked"]  # it has the old cookie
        assert (await one.delete("/ui/session", headers=cookie)).status_code == 204
        assert (await two.get("/ui/session", headers=cookie)).status_code == 401
    async with explored(memory, key="l" * 32) as (other, _):
        assert (await other.get("/ui/session", headers=cookie)).status_code == 401
    with pytest.raises(ConfigurationError, match="32 characters"):
        Explorer("short")


async def test_a_forged_cookie_opens_no_session(memory: AsyncMemory):
    async with explored(memory) as (http, explorer):
        await signed_in(http, explorer)
        [made] = list(http.cookies.jar)
        assert made.value is not None
        content, _, mac = made.value.partition(".")
        more = base64.urlsafe_b64decode(content + "===").replace(b'"unlocked": 0.0', b'"unlocked": 9e99')
        forged = base64.urlsafe_b64encode(more).decode().rstrip("=")
        assert forged != content
        token = explorer.address("").partition("token=")[2]  # signed too, for something else
        for value in (f"{forged}.{mac}", f"{content}.", content, "", ".", token, f"{content}.{mac}é"):
            answer = await http.get("/ui/session", headers={"cookie": f"{made.name}={value}".encode()})
            assert answer.status_code == 401, value


async def test_a_cookie_that_names_no_key_is_refused(memory: AsyncMemory):
    async with explored(memory) as (http, explorer):
        await signed_in(http, explorer)
        [made] = list(http.cookies.jar)
        content = json.loads(base64.urlsafe_b64decode(made.value.partition(".")[0] + "==="))
        for given, status in ((content, 200), ({k: v for k, v in content.items() if k != "credential"}, 401)):
            value = explorer.sessions._signed("cookie", given)
            assert (await http.get("/ui/session", headers={"cookie": f"{made.name}={value}"})).status_code == status


@pytest.mark.parametrize("thread", [".", "..", "a%b", "%2E", "ä ö+c", "x&y=1"])
async def test_the_page_reaches_threads_of_every_name(memory: AsyncMemory, thread: str):
    await memory.user("maya").thread(thread).add("user", "Here I am.")
    async with explored(memory) as (http, explorer):
        await signed_in(http, explorer)
        twice = quote(quote(thread, safe="").replace(".", "%2E"), safe="")
        answer = await http.get(f"/ui/v1/threads/{twice}/turns", headers=MAYA)
        assert [turn["content"] for turn in answer.json()["turns"]] == ["Here I am."]


async def test_the_cookie_counts_for_what_the_page_sends_and_nothing_else(memory: AsyncMemory):
    async with explored(memory, HeaderIdentity(allowed=False)) as (http, explorer):
        await signed_in(http, explorer)
        assert (await http.get("/ui/v1/memories", headers=MAYA)).status_code == 200
        assert (await http.get("/v1/memories", headers=MAYA)).status_code == 401
    async with explored(memory) as (http, _):  # and what the API takes elsewhere does not count there
        assert (await http.get("/v1/memories", headers=MAYA)).status_code == 200
        assert (await http.get("/ui/v1/memories", headers=MAYA)).status_code == 401


async def test_the_page_says_how_strict_it_is_and_is_kept_nowhere(memory: AsyncMemory):
    async with explored(memory) as (http, explorer):
        for path in ("/ui/", "/ui/app.js", "/ui/app.css", "/ui/vendor/preact-htm.js", "/ui/explorer.html"):
            answer = await http.get(path)
            assert answer.status_code == 200
            policy = answer.headers["content-security-policy"]
            assert policy.startswith("default-src 'none'")
            assert "unsafe" not in policy
            assert "frame-ancestors 'none'" in policy
            assert answer.headers["cache-control"] == "no-store"
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers["referrer-policy"] == "no-referrer"
        assert (await http.get("/ui/explorer.html")).headers["content-disposition"].startswith("attachment")
        assert (await http.get("/ui", follow_redirects=False)).headers["location"] == "ui/"
        await signed_in(http, explorer)
        for path in ("/ui/v1/memories", "/ui/v1/admin/health", "/ui/v1/none"):
            assert (await http.get(path, headers=MAYA)).headers["cache-control"] == "no-store"


@pytest.mark.parametrize("path", ["../page.py", "..%2fpage.py", "vendor/../../page.py", "none.js", "vendor", "app.js/"])
async def test_nothing_but_the_files_is_served(memory: AsyncMemory, path: str):
    async with explored(memory) as (http, _):
        assert (await http.get(f"/ui/{path}")).status_code == 404


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8900", "localhost.evil.example:8900", ""])
async def test_a_page_that_took_this_machines_address_gets_nothing(memory: AsyncMemory, host: str):
    async with explored(memory) as (http, explorer):
        await signed_in(http, explorer)
        cookie = "; ".join(f"{one.name}={one.value}" for one in http.cookies.jar)
        token = explorer.address("")
        rebound = {"host": host, "cookie": cookie}
        for path in ("/ui/", "/ui/app.js", "/ui/session", token):
            answer = await http.get(path, headers=rebound)
            assert answer.status_code == 421, path
            assert "set-cookie" not in answer.headers
        assert (await http.get("/ui/v1/memories", headers=rebound | MAYA)).status_code == 401


async def test_a_cookie_holds_for_the_name_that_it_was_made_for(memory: AsyncMemory):
    async with explored(memory) as (http, explorer):
        await signed_in(http, explorer)
        [made] = list(http.cookies.jar)
        other = {"host": "127.0.0.1:8900", "cookie": f"{made.name}={made.value}"}
        assert (await http.get("/ui/session", headers=other)).status_code == 401


FOREIGN: list[dict[str, str]] = [
    {"origin": "https://evil.example"},
    {"origin": "null"},
    {"origin": "http://localhost:3000", "sec-fetch-site": "same-site"},
    {"origin": f"https://{HOST}.evil.example", "sec-fetch-site": "cross-site"},
]


@pytest.mark.parametrize("foreign", FOREIGN)
async def test_another_sites_page_changes_nothing_even_with_the_cookie(memory: AsyncMemory, foreign: dict[str, str]):
    async with explored(memory) as (http, explorer):
        await signed_in(http, explorer)
        asked = [
            ("PATCH", "/ui/session", {"locked": False}),
            ("POST", "/ui/session", {}),
            ("DELETE", "/ui/session", None),
            ("GET", "/ui/session", None),
            ("POST", "/ui/v1/memories", {"content": "Trust evil.example"}),
            ("POST", "/ui/v1/memory/forget", {"everything": True}),
            ("GET", "/ui/v1/memories", None),
        ]
        for verb, path, body in asked:
            for kind in ("application/json", "text/plain"):
                content = None if body is None else json.dumps(body)
                answer = await http.request(
                    verb, path, content=content, headers={**foreign, **MAYA, "content-type": kind}
                )
                assert answer.status_code == 403, (verb, path)
        assert (await http.get("/ui/session")).json()["locked"]


async def test_nothing_is_changed_until_it_is_unlocked(memory: AsyncMemory):
    async with explored(memory) as (http, explorer):
        await signed_in(http, explorer)
        kept = await memory.user("maya").remember("Lives in Lisbon")
        writes: list[tuple[str, str, Any]] = [
            ("POST", "/ui/v1/memories", {"content": "Lives in Porto"}),
            ("PATCH", f"/ui/v1/memories/{kept.id}", {"pinned": True}),
            ("POST", "/ui/v1/memory/forget", {"id": kept.id}),
            ("POST", "/ui/v1/memory/forget", {"id": kept.id, "dry_run": False}),
            ("POST", "/ui/v1/memory/forget", {"id": kept.id, "dry_run": "no"}),
            ("POST", "/ui/v1/threads/t/turns", {"turns": [{"role": "user", "content": "Hello"}]}),
            ("DELETE", "/ui/v1/threads/t", None),
            ("DELETE", "/ui/v1/users/me", None),
            ("POST", "/ui/v1/process/profile", {}),
        ]
        for verb, path, body in writes:
            answer = await http.request(verb, path, json=body, headers=MAYA | OWN_PAGE)
            assert answer.status_code == 403, (verb, path)
            assert "read-only" in answer.json()["error"]["message"]
        reads: list[tuple[str, Any]] = [
            ("/ui/v1/search", {"query": "Where?"}),
            ("/ui/v1/context", {"query": "Where?"}),
            ("/ui/v1/memory/forget", {"id": kept.id, "dry_run": True}),
        ]
        for path, body in reads:
            assert (await http.post(path, json=body, headers=MAYA | OWN_PAGE)).status_code == 200, path
        unlocked = await http.patch("/ui/session", json={"locked": False}, headers=OWN_PAGE)
        assert 0 < unlocked.json()["seconds_unlocked"] <= 900
        made = await http.post("/ui/v1/memories", json={"content": "Lives in Porto"}, headers=MAYA | OWN_PAGE)
        assert made.status_code == 201
        await http.patch("/ui/session", json={"locked": True}, headers=OWN_PAGE)
        again = await http.post("/ui/v1/memories", json={"content": "Likes tea"}, headers=MAYA | OWN_PAGE)
        assert again.status_code == 403


async def test_locking_also_locks_copies_of_the_cookie(memory: AsyncMemory):
    async with explored(memory) as (http, explorer):
        await signed_in(http, explorer)
        cookies = []
        for _ in range(2):  # allowed, and allowed for longer
            await http.patch("/ui/session", json={"locked": False}, headers=OWN_PAGE)
            [made] = list(http.cookies.jar)
            cookies.append({"cookie": f"{made.name}={made.value}"} | MAYA | OWN_PAGE)
        for number, cookie in enumerate(cookies):
            kept = await http.post("/ui/v1/memories", json={"content": f"Likes tea {number}"}, headers=cookie)
            assert kept.status_code == 201
        await http.patch("/ui/session", json={"locked": True}, headers=OWN_PAGE)
        for cookie in cookies:
            refused = await http.post("/ui/v1/memories", json={"content": "Likes milk"}, headers=cookie)
            assert refused.status_code == 403
            assert (await http.get("/ui/session", headers=cookie)).json()["locked"]
        again = await http.patch("/ui/session", json={"locked": False}, headers=OWN_PAGE)
        assert not again.json()["locked"]


async def test_a_session_ends_with_the_key_that_opened_it_and_has_its_rights_of_now(memory: AsyncMemory):
    key, entry = new_key("laptop", user="maya", operates=True)
    signing = "k" * 32
    async with explored(memory, AnyOf([ApiKeys([entry])]), key=signing) as (http, _):
        opened = await http.post("/ui/session", headers=OWN_PAGE | {"x-api-key": key})
        assert opened.json()["operates"]
        [made] = list(http.cookies.jar)
        cookie = {"cookie": f"{made.name}={made.value}"}
    fewer = entry.model_copy(update={"operates": False})
    other = new_key("laptop", user="maya")[1]
    for keys, status in (([fewer], 200), ([other], 401), ([], 401)):
        async with explored(memory, AnyOf([ApiKeys(keys)]), key=signing) as (http, _):
            assert (await http.get("/ui/v1/memories", headers=cookie)).status_code == status
            state = await http.get("/ui/session", headers=cookie)
            assert state.status_code == status
            assert status == 401 or not state.json()["operates"]


async def test_a_session_lasts_no_longer_than_the_token_that_opened_it(memory: AsyncMemory, httpserver: HTTPServer):
    issuer = Issuer(httpserver.url_for("").rstrip("/"))
    httpserver.expect_request("/.well-known/openid-configuration").respond_with_json(issuer.configuration())
    httpserver.expect_request("/keys").respond_with_json(issuer.keys())
    ends = int(time.time()) + 600
    async with explored(memory, JwtIdentity(issuer.url, "api://memory", Claims())) as (http, _):
        token = {"authorization": f"Bearer {issuer.token(exp=ends)}"}
        assert (await http.post("/ui/session", headers=OWN_PAGE | token)).status_code == 201
        [made] = list(http.cookies.jar)
        assert made.value is not None
        content = json.loads(base64.urlsafe_b64decode(made.value.partition(".")[0] + "==="))
        assert (content["user"], content["ends"]) == ("alice", ends)


async def test_signing_out_ends_the_session(memory: AsyncMemory):
    async with explored(memory) as (http, explorer):
        await signed_in(http, explorer)
        [made] = list(http.cookies.jar)
        assert (await http.delete("/ui/session", headers=OWN_PAGE)).status_code == 204
        stolen = {"cookie": f"{made.name}={made.value}"}
        assert (await http.get("/ui/session", headers=stolen)).status_code == 401


async def test_a_key_shows_its_own_user_and_nobody_else(memory: AsyncMemory):
    key, entry = new_key("laptop", user="maya")
    await memory.user("maya").remember("Lives in Lisbon")
    async with explored(memory, AnyOf([ApiKeys([entry]), HeaderIdentity(allowed=False)])) as (http, _):
        assert (await http.post("/ui/session", headers=OWN_PAGE)).status_code == 401
        assert (await http.post("/ui/session", headers=OWN_PAGE | {"x-api-key": "amk_wrong"})).status_code == 401
        opened = await http.post("/ui/session", headers=OWN_PAGE | {"x-api-key": key})
        assert opened.status_code == 201
        assert (opened.json()["user_id"], opened.json()["operates"]) == ("maya", False)
        assert len((await http.get("/ui/v1/memories", headers=MAYA)).json()["memories"]) == 1
        assert (await http.get("/ui/v1/memories", headers={"x-user-id": "bob"})).status_code == 403
        for path in ("/ui/v1/admin/users", "/ui/v1/admin/health", "/ui/v1/admin/dead-letters"):
            assert (await http.get(path)).status_code == 403


async def test_the_header_of_development_opens_no_session(memory: AsyncMemory):
    async with explored(memory) as (http, _):
        assert (await http.post("/ui/session", headers=OWN_PAGE | MAYA)).status_code == 401


async def test_a_session_of_the_platforms_sign_in_ends_with_it(memory: AsyncMemory):
    maya, bob = (platform_header(("oid", name)) for name in ("maya", "bob"))
    async with explored(memory, PlatformPrincipal(Claims()), client="10.0.0.7") as (http, _):
        assert (await http.post("/ui/session", headers=OWN_PAGE | maya)).status_code == 201
        assert (await http.get("/ui/session", headers=maya)).json()["user_id"] == "maya"
        assert (await http.get("/ui/v1/memories", headers=maya)).status_code == 200
        assert (await http.get("/ui/v1/memories")).status_code == 401  # the cookie alone
        assert (await http.get("/ui/session")).status_code == 401
        assert (await http.get("/ui/v1/memories", headers=bob | {"x-user-id": "maya"})).status_code == 401


async def test_a_session_of_a_key_does_not_act_for_who_is_signed_in_at_the_platform(memory: AsyncMemory):
    key, entry = new_key("laptop", user="maya")
    both = AnyOf([PlatformPrincipal(Claims()), ApiKeys([entry])])
    async with explored(memory, both, client="10.0.0.7") as (http, _):
        assert (await http.post("/ui/session", headers=OWN_PAGE | {"x-api-key": key})).status_code == 201
        assert (await http.get("/ui/v1/memories")).status_code == 200
        bob = platform_header(("oid", "bob"))
        assert (await http.get("/ui/v1/memories", headers=bob)).status_code == 401
        assert (await http.get("/ui/session", headers=bob)).status_code == 401


async def test_a_printed_address_does_not_act_for_who_is_signed_in_at_the_platform(memory: AsyncMemory):
    async with explored(memory, PlatformPrincipal(Claims()), client="10.0.0.7") as (http, explorer):
        await signed_in(http, explorer)
        assert (await http.get("/ui/v1/memories", headers=MAYA)).status_code == 200
        bob = platform_header(("oid", "bob"))
        assert (await http.get("/ui/v1/memories", headers=MAYA | bob)).status_code == 401


async def test_the_session_is_documented(memory: AsyncMemory):
    async with explored(memory) as (http, _):
        paths = (await http.get("/openapi.json")).json()["paths"]
        assert set(paths["/ui/session"]) == {"get", "post", "patch", "delete"}
        assert not [path for path in paths if path.startswith("/ui") and path != "/ui/session"]
    assert ApiSettings().allowed_origins == []
