"""Whom the API believes: tokens, the platform, keys; and what a caller may say about others."""

import base64
import json
import time
from pathlib import Path
from typing import Any

import pytest
from api_world import Issuer, client_of, platform_header, stop_rates
from pytest_httpserver import HTTPServer

from agent_memory import AsyncMemory
from agent_memory.api import ApiSettings, HeaderIdentity
from agent_memory.api.credentials import Claims, JwtIdentity, PlatformPrincipal, new_key
from agent_memory.errors import ConfigurationError

PATH = "/v1/threads/t1/turns"
CLOSED = HeaderIdentity(allowed=False)


@pytest.fixture
def issuer(httpserver: HTTPServer) -> Issuer:
    made = Issuer(httpserver.url_for("").rstrip("/"))
    httpserver.expect_request("/.well-known/openid-configuration").respond_with_json(made.configuration())
    httpserver.expect_request("/keys").respond_with_json(made.keys())
    return made


def tokens_of(issuer: Issuer, **claims: Any) -> JwtIdentity:
    return JwtIdentity(issuer.url, "api://memory", Claims(**claims))


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


async def asked(memory: AsyncMemory, identity: Any, headers: Any, path: str = PATH) -> tuple[int, str]:
    async with client_of(memory, identity) as http:
        answer = await http.get(path, headers=headers)
        return answer.status_code, answer.json().get("error", {}).get("code", "")


async def whose(memory: AsyncMemory, identity: Any, headers: dict[str, str]) -> str:
    """The user that a write with these headers is kept for."""
    before = set(await memory.users())
    async with client_of(memory, identity) as http:
        answer = await http.post(PATH, json={"turns": [{"role": "user", "content": "hello"}]}, headers=headers)
        assert answer.status_code == 201, answer.text
    (user,) = set(await memory.users()) - before
    return user


@pytest.mark.req("S0-005", "S3-43")
async def test_a_token_of_the_issuer_says_who_the_user_is(memory: AsyncMemory, issuer: Issuer):
    assert await whose(memory, tokens_of(issuer), bearer(issuer.token())) == "alice"
    assert await whose(memory, tokens_of(issuer, user="sub"), bearer(issuer.token(sub="bob"))) == "bob"


@pytest.mark.parametrize(
    "claims",
    [
        {"exp": int(time.time()) - 600},
        {"exp": None},
        {"nbf": int(time.time()) + 600},
        {"aud": "api://another"},
        {"aud": None},
        {"iss": "https://evil.example"},
        {"oid": None},
        {"oid": "__static__"},
        {"oid": ["alice"]},
        {"oid": ""},
        {"headers": {"kid": "unknown"}},
        {"algorithm": "HS256", "key": "a shared secret that is long enough for the check"},
        {"algorithm": "none", "key": ""},
    ],
)
async def test_a_token_that_does_not_hold_is_refused(memory: AsyncMemory, issuer: Issuer, claims: dict[str, Any]):
    assert await asked(memory, tokens_of(issuer), bearer(issuer.token(**claims))) == (401, "unauthenticated")


async def test_credentials_that_no_parser_reads_to_the_end_are_refused(memory: AsyncMemory, issuer: Issuer):
    def part(text: str) -> str:
        return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")

    deep = "[" * 50_000 + "]" * 50_000
    header, claims, signature = issuer.token().split(".")
    for token in (f"{part(deep)}.{claims}.{signature}", f"{header}.{part(deep)}.{signature}"):
        assert await asked(memory, tokens_of(issuer), bearer(token)) == (401, "unauthenticated")
    claim = '{"claims": [{"typ": "oid", "val": VALUE}]}'
    for said in (deep, claim.replace("VALUE", '["alice"]'), claim.replace("VALUE", deep)):
        principal = {"x-ms-client-principal": base64.b64encode(said.encode()).decode()}
        assert await asked(memory, PlatformPrincipal(Claims()), principal) == (401, "unauthenticated")


async def test_a_token_of_another_key_or_with_changed_claims_is_refused(memory: AsyncMemory, issuer: Issuer):
    forged = Issuer(issuer.url).token()
    head, _, signature = issuer.token().split(".")
    claims = {"iss": issuer.url, "aud": "api://memory", "exp": int(time.time()) + 600, "oid": "bob"}
    changed = base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=")
    for token in (forged, f"{head}.{changed}.{signature}", f"{head}.{changed}.", "a.b.c", ".."):
        assert await asked(memory, tokens_of(issuer), bearer(token)) == (401, "unauthenticated")


async def test_the_public_key_is_no_shared_secret(memory: AsyncMemory, issuer: Issuer):
    """The classic confusion of algorithms: a token signed with the published key as if it were a password."""
    import hashlib
    import hmac

    def part(value: Any) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    claims = {"iss": issuer.url, "aud": "api://memory", "exp": int(time.time()) + 600, "oid": "alice"}
    text = f"{part({'alg': 'HS256', 'kid': 'k1'})}.{part(claims)}"
    public = json.dumps(issuer.keys()["keys"][0]).encode()
    signature = base64.urlsafe_b64encode(hmac.new(public, text.encode(), hashlib.sha256).digest()).decode().rstrip("=")
    assert (await asked(memory, tokens_of(issuer), bearer(f"{text}.{signature}")))[0] == 401


async def test_keys_are_fetched_once_and_made_up_key_ids_do_not_fetch_more(
    memory: AsyncMemory, issuer: Issuer, httpserver: HTTPServer
):
    identity = tokens_of(issuer)
    for n in range(5):
        assert (await asked(memory, identity, bearer(issuer.token())))[0] == 200
        assert (await asked(memory, identity, bearer(issuer.token(headers={"kid": f"k-{n}"}))))[0] == 401
    assert sum(request.path == "/keys" for request, _ in httpserver.log) == 1


async def test_an_issuer_that_does_not_answer_or_is_another_is_no_fault_of_the_caller(
    memory: AsyncMemory, httpserver: HTTPServer
):
    issuer = Issuer(httpserver.url_for("").rstrip("/"))
    token = bearer(issuer.token())
    assert await asked(memory, tokens_of(issuer), token) == (503, "store_unavailable")
    other = {**issuer.configuration(), "issuer": "https://evil.example"}
    httpserver.expect_request("/.well-known/openid-configuration").respond_with_json(other)
    httpserver.expect_request("/keys").respond_with_json(issuer.keys())
    assert (await asked(memory, tokens_of(issuer), token))[0] == 503


@pytest.mark.req("S0-005", "S3-43")
async def test_the_platform_says_who_is_signed_in_where_it_is_believed(memory: AsyncMemory):
    identity = PlatformPrincipal(Claims())
    long = "http://schemas.microsoft.com/identity/claims/objectidentifier"
    assert await whose(memory, identity, platform_header(("oid", "alice"))) == "alice"
    assert await whose(memory, identity, platform_header((long, "bob"), ("name", "Carol"))) == "bob"
    both = platform_header(("oid", "alice"), (long, "bob"))
    for refused in (
        both,
        platform_header(("name", "x")),
        {"x-ms-client-principal": "e30="},
        {"x-ms-client-principal": "%"},
        {},
    ):
        assert await asked(memory, identity, refused) == (401, "unauthenticated")
    # Where the platform's authentication is off, anybody could have set the header.
    settings = ApiSettings(api_keys="[]").identity(header=CLOSED)
    assert (await asked(memory, settings, platform_header(("oid", "alice"))))[0] == 401


async def test_the_platforms_own_variable_switches_it_on(memory: AsyncMemory, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("WEBSITE_AUTH_ENABLED", "True")
    identity = ApiSettings().identity(header=CLOSED)
    assert (await asked(memory, identity, platform_header(("oid", "alice"))))[0] == 200


async def test_keys_are_mapped_to_users_and_rights(memory: AsyncMemory, tmp_path: Path):
    alices, first = new_key("alice's laptop", user="alice")
    backend, second = new_key("backend", acts_for_users=True)
    file = tmp_path / "keys.json"
    file.write_text(f"[{first.model_dump_json()}, {second.model_dump_json()}]")
    assert alices not in file.read_text()
    identity = ApiSettings(api_keys_file=file).identity(header=CLOSED)
    assert await whose(memory, identity, {"x-api-key": alices}) == "alice"
    assert await whose(memory, identity, bearer(backend) | {"x-user-id": "bob"}) == "bob"
    assert await asked(memory, identity, bearer(backend)) == (401, "unauthenticated")
    assert await asked(memory, identity, bearer(alices) | {"x-user-id": "bob"}) == (403, "forbidden")
    assert await asked(memory, identity, bearer(alices) | {"x-user-id": "alice"}) == (200, "")
    for wrong in (alices[:-1], alices + "x", alices.upper(), first.sha256, "é"):
        assert await asked(memory, identity, {"x-api-key": wrong.encode()}) == (401, "unauthenticated")


@pytest.mark.parametrize(
    "settings",
    [
        {"api_keys": "no json"},
        {"api_keys": '[{"sha256": "x", "name": "n"}]'},
        {"api_keys": '[{"name": "n", "key": "in the clear"}]'},
        {"api_keys": json.dumps([{"sha256": "0" * 64, "name": "n", "user": "a/b"}])},
        {"api_keys": json.dumps([{"sha256": "0" * 64, "name": "n"}] * 2)},
        {"api_keys": "[]", "api_keys_file": "x"},
        {"api_keys_file": "/nowhere/at/all"},
        {"jwt_issuer": "https://issuer.example"},
    ],
)
def test_settings_that_do_not_hold_are_refused_and_not_repeated(settings: dict[str, Any]):
    with pytest.raises(ConfigurationError) as refused:
        ApiSettings(**settings).identity(header=CLOSED)
    assert "in the clear" not in str(refused.value)


@pytest.mark.req("S0-005", "S0-071", "S3-43")
async def test_only_an_explicit_role_lets_a_caller_act_for_a_user(memory: AsyncMemory, issuer: Issuer):
    service = issuer.token(oid="service", roles=["Memory.ActForUsers"])
    for identity, act, plain in (
        (tokens_of(issuer), bearer(service), bearer(issuer.token(roles=["Reader"]))),
        (
            PlatformPrincipal(Claims()),
            platform_header(("oid", "service"), ("roles", "Memory.ActForUsers")),
            platform_header(("oid", "alice"), ("scp", "Memory.ActForUsers")),
        ),
    ):
        assert await asked(memory, identity, act | {"x-user-id": "bob"}) == (200, "")
        # A user who exists and one who does not look the same from outside.
        assert await asked(memory, identity, plain | {"x-user-id": "bob"}) == (403, "forbidden")
        assert await asked(memory, identity, plain | {"x-user-id": "nobody"}) == (403, "forbidden")
        assert await asked(memory, identity, plain, f"{PATH}?user_id=bob") == (403, "forbidden")
        assert await asked(memory, identity, plain, f"{PATH}?user_id=alice") == (200, "")
        for bad in ("a/b", "__static__", ""):
            assert await asked(memory, identity, act | {"x-user-id": bad}) == (400, "invalid_input")
    assert await asked(
        memory, tokens_of(issuer), bearer(issuer.token(roles="Memory.ActForUsers")) | {"x-user-id": "b"}
    ) == (
        403,
        "forbidden",
    )


@pytest.mark.req("S0-005", "S0-071")
async def test_a_body_cannot_say_who_it_is_for(memory: AsyncMemory):
    alice = {"x-user-id": "alice"}
    async with client_of(memory) as http:
        for body in ({"user_id": "bob"}, {"memory_context": {"user_id": "bob"}}, {"user_id": 7}, {"user_id": "Alice"}):
            answer = await http.post("/v1/search", json={"query": "x", **body}, headers=alice)
            assert (answer.status_code, answer.json()["error"]["code"]) == (403, "forbidden")


async def test_a_page_or_a_proxy_on_this_machine_is_no_local_caller(memory: AsyncMemory):
    alice = {"x-user-id": "alice"}
    async with client_of(memory) as http:
        for header in ({"host": "evil.example"}, {"x-forwarded-for": "1.2.3.4"}, {"forwarded": "for=1.2.3.4"}):
            assert (await http.get(PATH, headers=alice | header)).status_code == 401
        for host in ("127.0.0.1:8080", "[::1]:80", "localhost"):
            assert (await http.get(PATH, headers=alice | {"host": host})).status_code == 200


async def test_a_caller_over_the_rate_limit_learns_when_to_retry(memory: AsyncMemory, monkeypatch: pytest.MonkeyPatch):
    stop_rates(monkeypatch, 3600)
    async with client_of(memory, rate_limit="3/hour") as http:

        async def ask(user: str) -> Any:
            return await http.get(PATH, headers={"x-user-id": user})

        assert [(await ask("alice")).status_code for _ in range(4)] == [200, 200, 200, 429]
        refused = await ask("alice")
        assert refused.json()["error"]["code"] == "rate_limited"
        assert 0 < int(refused.headers["retry-after"]) <= 3600
        assert (await ask("bob")).status_code == 200
    with pytest.raises(ConfigurationError):
        client_of(memory, rate_limit="often")


async def test_a_server_without_keys_refuses_a_key(memory: AsyncMemory):
    """Else a wrong key would work, until keys are set."""
    identity, alice = HeaderIdentity(allowed=True), {"x-user-id": "alice"}
    assert (await asked(memory, identity, alice))[0] == 200
    for key in (bearer("wrong"), {"x-api-key": "wrong"}):
        assert await asked(memory, identity, alice | key) == (401, "unauthenticated")
    behind = HeaderIdentity(allowed=True, behind_key=True)
    assert (await asked(memory, behind, alice | bearer("of the platform")))[0] == 200


@pytest.mark.parametrize("second", ["bob", "alice"])
async def test_a_request_that_names_its_user_twice_is_refused(memory: AsyncMemory, second: str):
    """A proxy in front may have checked the other one."""
    named = [("x-user-id", "alice"), ("x-user-id", second)]
    assert await asked(memory, HeaderIdentity(allowed=True), named) == (400, "invalid_input")
