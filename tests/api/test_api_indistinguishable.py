"""A forged id of something that exists costs what an id of nothing costs, so that time tells nothing either.

Clocks would show noise; what takes time is what the store is asked. The same requests go to two stores, of which one
knows the other user, and all that is asked on their behalf must be the same: the kinds of requests, the partitions,
the answers' statuses and the request units.
"""

from typing import Any

import pytest
from api_routes import PUBLIC, body_of, filled_in, routes
from api_world import client_of
from scripted_model import ScriptedChat
from store_requests import Asked, asked_meanwhile, record_requests

from agent_memory import AsyncMemory, Cadence
from agent_memory.api import InlineProcessing, create_app
from agent_memory.api.credentials import ApiKeys, new_key
from agent_memory.language.hashing import HashingEmbeddings

QUIET = Cadence(extract=10**6, summarize=10**6, profile=10**6, reconcile=10**6, idle_seconds=0)
NEEDED = {"/v1/memory": "?project_id=p", "/api/memory/memories": "?confirm=true", "/memory/memories": "?confirm=true"}
ALICE = {"x-user-id": "alice"}


def opened() -> AsyncMemory:
    return AsyncMemory.local(chat_model=ScriptedChat(), embedding_model=HashingEmbeddings(), cadence=QUIET)


async def a_life(memory: AsyncMemory) -> str:
    """All kinds of things of Alice's; the id of one of them."""
    alice = memory.user("alice")
    await alice.thread("t-alice").add("user", "fact: code=the launch code is 4711", id="turn-alice")
    await alice.thread("t-alice").process("extract")
    await alice.thread("t-alice").process("summarize")
    await alice.process("profile")
    await alice.update_settings(deny_categories=["health"])
    await alice.forget(query="something else")
    return (await alice.remember("The launch code is 4711")).id


async def asked_for(memory: AsyncMemory, fact: str) -> dict[tuple[str, ...], tuple[Asked, int]]:
    """What the store is asked for each request of Bob's that names Alice's things, and the answer's status."""
    key, entry = new_key("bob", user="bob")
    identity, own = ApiKeys([entry]), {"x-api-key": key}
    document = create_app(memory, InlineProcessing(memory.runtime), identity).openapi()
    ids = dict.fromkeys(("id", "memory_id", "run_id", "dead_letter_id"), fact)
    ids |= {"user": "alice", "thread_id": "t-alice", "step": "extract"}
    found = {}
    async with client_of(memory, identity) as http:
        for verb, path in sorted(routes(memory)):
            if path in PUBLIC:
                continue
            body: Any = body_of(document, verb, path)
            named = body | {"thread_id": "t-alice"} if isinstance(body, dict) and "thread_id" in body else body
            url = filled_in(path, ids) + (NEEDED.get(path, "") if verb == "DELETE" else "")
            for as_whom, headers in (("bob", own), ("alice", own | ALICE), ("anybody", ALICE)):
                with asked_meanwhile() as asked:
                    answer = await http.request(verb, url, json=named, headers=headers)
                found[as_whom, verb, path] = (asked, answer.status_code)
    return found


@pytest.mark.req("S0-003", "S0-088", "S2-56")
async def test_the_store_is_asked_the_same_whether_the_other_user_exists_or_not(monkeypatch: pytest.MonkeyPatch):
    record_requests(monkeypatch)
    async with opened() as known:
        fact = await a_life(known)
        with_alice = await asked_for(known, fact)
    async with opened() as unknown:
        without = await asked_for(unknown, fact)
    assert {one for one in with_alice if with_alice[one] != without[one]} == set()
    # Whoever names another user, or shows no credentials, is refused ahead of the store.
    forged = {one: asked for one, asked in with_alice.items() if one[0] != "bob"}
    assert {status for _, status in forged.values()} == {401, 403}
    assert {one for one, (asked, _) in forged.items() if asked} == set()
    # And what is compared is not nothing.
    assert sum(bool(asked) for (who, *_), (asked, _) in with_alice.items() if who == "bob") > 50
