"""Whoever holds one user's credentials learns nothing of another, by any route that the app has.

The routes are taken from the app, so that a new one is tried too. To each goes what a curious user would send: the ids
of another user's things, and ids of nothing at all. The answers to both are the same but for the ids in them.
"""

import json
from typing import Any

import httpx2 as httpx
import pytest
from api_routes import PUBLIC, body_of, filled_in, routes
from api_world import serving

from agent_memory import AsyncMemory
from agent_memory.api import InlineProcessing, create_app
from agent_memory.api.credentials import ApiKeys, new_key
from agent_memory.store.containers import COUNTER, MEMORIES, SUMMARIES, TURNS

SECRET = "the launch code is 4711"
NOTHING = "nothing-of-anybody"
FORGED: list[dict[str, str]] = [{"x-user-id": "alice"}, {"x-api-key": "amk_guessed"}, {"authorization": "Bearer x"}]
ALIKE = ["ALICE", "аlice", "ａlice", "alice\u200b", "alice%20"]
"""Taken in turn from route to route."""


async def everything_of(memory: AsyncMemory, user: str) -> list[str]:
    """Every document of a user in every container, without the trace that others cannot cause."""
    found = []
    for container in (TURNS, MEMORIES, SUMMARIES, COUNTER):
        rows = await memory.runtime.store.query(container, "SELECT * FROM c", (user,))
        found += [json.dumps({k: v for k, v in row.items() if k[0] != "_"}, sort_keys=True) for row in rows]
    return sorted(found)


@pytest.mark.req("S0-003", "S0-005", "S3-42", "S3-43")
async def test_no_route_shows_or_changes_another_users_data(memory: AsyncMemory):
    alice = memory.user("alice")
    await alice.thread("t-alice").add("user", f"fact: secret={SECRET}", id="turn-alice")
    await alice.thread("t-alice").process("extract")
    await alice.thread("t-alice").process("summarize")
    fact = await alice.remember(f"Remember: {SECRET}")
    before = await everything_of(memory, "alice")
    bobs, bob = new_key("bob", user="bob")
    operators, operator = new_key("operator", operates=True)
    identity = ApiKeys([bob, operator])
    document = create_app(memory, InlineProcessing(memory.runtime), identity).openapi()
    tried = 0
    async with serving(memory, identity) as url, httpx.AsyncClient(base_url=url, timeout=60) as http:

        async def ask(verb: str, path: str, headers: dict[str, Any], body: Any = None) -> httpx.Response:
            place, _, query = path.partition("?")
            needed = (
                {
                    "/v1/memory": "project_id=p",
                    "/api/memory/memories": "confirm=true",
                    "/memory/memories": "confirm=true",
                }
                if verb == "DELETE"
                else {}
            )
            query = "&".join(part for part in (query, needed.get(place)) if part)
            return await http.request(verb, f"{place}?{query}" if query else place, json=body, headers=headers)

        for number, (verb, path) in enumerate(sorted(routes(memory))):
            if path in PUBLIC:
                continue
            body = body_of(document, verb, path)
            foreign = dict.fromkeys(("id", "memory_id", "run_id", "dead_letter_id"), fact.id) | {"user": "alice"}
            nothing = dict.fromkeys(foreign, NOTHING)
            theirs = filled_in(path, foreign | {"thread_id": "t-alice", "step": "extract"})
            nobodys = filled_in(path, nothing | {"thread_id": "t-nobody", "step": "extract"})
            assert "{" not in theirs, path

            # Nobody, and whoever says to be somebody, is asked for credentials ahead of anything else.
            for headers in ({}, FORGED[number % len(FORGED)]):
                assert (await ask(verb, theirs, headers, body)).status_code == 401, (verb, path)
            # Bob may name nobody else, and learns nothing of who there is.
            key = {"x-api-key": bobs}
            for name in ("alice", ALIKE[number % len(ALIKE)], NOTHING):
                headers = key | {"x-user-id": name.encode()}
                assert (await ask(verb, theirs, headers, body)).status_code == 403, (verb, path, name)
            assert (await ask(verb, f"{theirs}?user_id=alice", key, body)).status_code == 403, (verb, path)
            if isinstance(body, dict):
                assert (await ask(verb, theirs, key, body | {"user_id": "alice"})).status_code == 403, (verb, path)

            # The ids of Alice's things are ids of nothing.
            seen, none = await ask(verb, theirs, key, body), await ask(verb, nobodys, key, body)
            tried += 1
            assert seen.status_code == none.status_code, (verb, path, seen.text, none.text)
            assert "4711" not in seen.text, (verb, path)
            if seen.status_code >= 400:
                said = [
                    one.text.replace(fact.id, NOTHING).replace("t-alice", "t-nobody").replace("alice", NOTHING)
                    for one in (seen, none)
                ]
                assert said[0] == said[1], (verb, path)
            assert seen.headers.keys() == none.headers.keys(), (verb, path)
            if path.startswith("/v1/admin"):
                assert seen.status_code == 403, (verb, path)
        for path in ("/v1/memories", "/v1/stats"):  # an operator sees to the service and to nobody's memory
            assert (await http.get(path, headers={"x-api-key": operators})).status_code == 401
            headers = {"x-api-key": operators, "x-user-id": "alice"}
            assert (await http.get(path, headers=headers)).status_code == 403
    assert tried > 60
    assert await everything_of(memory, "alice") == before


async def test_ids_that_look_alike_are_apart(memory: AsyncMemory):
    users = ["alice", "Alice", "ALICE", "аlice", "ａlice", "alice%20", "alic e", "alicé", "alicé"]
    keys = {user: new_key(f"key {number}", user=user) for number, user in enumerate(users)}
    async with (
        serving(memory, ApiKeys([entry for _, entry in keys.values()])) as url,
        httpx.AsyncClient(base_url=url, timeout=60) as http,
    ):
        for number, (key, _) in enumerate(keys.values()):
            body = {"content": f"I am number {number}!"}
            assert (await http.post("/v1/memories", json=body, headers={"x-api-key": key})).status_code == 201
        for number, (key, _) in enumerate(keys.values()):
            listed = (await http.get("/v1/memories", headers={"x-api-key": key})).json()["memories"]
            assert [one["content"] for one in listed] == [f"I am number {number}!"]


async def test_a_group_opens_only_to_its_members(memory: AsyncMemory):
    """By every route: who is no member is refused alike whether or not there is such a group, and changes nothing."""
    await memory.group("team", member="carol").thread("t-team").add("user", f"fact: secret={SECRET}", id="turn-team")
    await memory.group("team").thread("t-team").process("extract")
    fact = await memory.group("team").remember(f"Remember: {SECRET}")
    owner = "__group__team"
    before = await everything_of(memory, owner)
    alices, alice = new_key("alice", user="alice", groups=["team"])
    bobs, bob = new_key("bob", user="bob", groups=["others"])
    service, acting = new_key("service", acts_for_users=True)
    identity = ApiKeys([alice, bob, acting])
    document = create_app(memory, InlineProcessing(memory.runtime), identity).openapi()
    ids = dict.fromkeys(("id", "memory_id", "run_id", "dead_letter_id"), fact.id)
    async with serving(memory, identity) as url, httpx.AsyncClient(base_url=url, timeout=60) as http:
        for verb, path in sorted(routes(memory)):
            if path in PUBLIC or path.startswith("/v1/admin"):
                continue
            where = filled_in(path, ids | {"user": "bob", "thread_id": "t-team", "step": "extract"})
            body = body_of(document, verb, path)
            for group in ("team", "no-such-group", owner):
                answer = await http.request(verb, where, json=body, headers={"x-api-key": bobs, "x-group-id": group})
                assert answer.status_code == (400 if group == owner else 403), (verb, path, answer.text)
                assert "4711" not in answer.text
        assert await everything_of(memory, owner) == before

        for groups in (["team"], ["no-such-group"], ["others", "team"]):
            for path in ("/v1/search", "/v1/context"):
                body = {"query": "the launch code", "groups": groups}
                answer = await http.post(path, json=body, headers={"x-api-key": bobs})
                assert (answer.status_code, "4711" in answer.text) == (403, False), (path, groups)
        for key, status in ((alices, 200), (service, 200)):
            who = {"x-api-key": key} | ({"x-user-id": "dave"} if key == service else {})
            found = await http.post("/v1/search", json={"query": "the launch code", "groups": ["team"]}, headers=who)
            assert (found.status_code, "4711" in found.text) == (status, True)
            assert "4711" not in (await http.post("/v1/search", json={"query": "the launch code"}, headers=who)).text
        here = {"x-api-key": alices, "x-group-id": "team"}
        made = await http.post("/v1/memories", json={"content": "The door is green"}, headers=here)
        assert (made.status_code, made.json()["contributor_id"]) == (201, "alice")
        forged = {"turns": [{"role": "user", "content": "hi", "contributor_id": "carol"}]}
        assert (await http.post("/v1/threads/t1/turns", json=forged, headers=here)).status_code == 400
        mine = (await http.get("/v1/contributions", params={"member": "alice"}, headers=here)).json()
        assert [one["content"] for one in mine["memories"]] == ["The door is green"]
        assert (await http.get("/v1/memories", headers={"x-api-key": alices})).json()["memories"] == []
        stored = await http.post("/v1/memory", json={"content": "The gate is blue"}, headers=here)
        assert stored.status_code == 201
        address = f"/v1/memory/{stored.json()['id']}"
        assert (await http.get(address, headers=here)).json()["content"] == "The gate is blue"
        assert (await http.get(address, headers={"x-api-key": alices})).status_code == 404
        everything = await http.delete("/v1/memory", params={"user_id": "alice"}, headers=here)
        assert everything.status_code == 400, "the group is not alice"
        assert (await http.delete(address, headers=here)).status_code == 200
        assert (await http.get(address, headers=here)).status_code == 404


async def test_a_group_over_http(memory: AsyncMemory):
    async with serving(memory) as url, AsyncMemory.remote(url) as remote:
        team = remote.group("team", member="ålice")
        await team.thread("standup").add("user", "fact: the release is on Monday")
        await team.thread("standup").process("extract")
        await team.update_settings(deny_categories=["health"])
        assert (await remote.user("team").settings()).deny_categories == []
        assert [turn.contributor_id for turn in (await team.contributions("ålice")).turns] == ["ålice"]
        assert [one.contributor_id for one in await remote.group("team").memories()] == ["ålice"]
        hits = await remote.user("bob").search("release", groups=["team"], types=["fact"])
        assert [(hit.group, hit.memory.content) for hit in hits] == [("team", "the release is on Monday")]
        assert "shared in team" in (await remote.user("bob").thread("t").context("release", groups=["team"])).text
        assert await remote.groups() == ["team"]
        assert await remote.groups(contributor="bob") == []
        await team.forget(everything=True)
        assert await remote.groups() == []
