"""What any Cosmos account must do for the library: `make live` runs this against the one that COSMOS_ENDPOINT names."""

import os
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from agent_memory import Memory
from agent_memory.errors import Conflict
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.store.containers import container_specs

pytestmark = [
    pytest.mark.skipif("COSMOS_ENDPOINT" not in os.environ, reason="COSMOS_ENDPOINT is not set"),
    # Emulators on this machine have certificates that nobody signed.
    pytest.mark.filterwarnings("ignore:Unverified HTTPS request"),
]

TALK = [
    ("user", "My budget for the Hawaii trip is $10,000."),
    ("assistant", "Noted, I will look for flights within it."),
    ("user", "I am allergic to peanuts, so no satay please."),
    ("assistant", "I will leave it out."),
]


def told(memory: Memory, user_id: str, thread_id: str = "hawaii") -> Any:
    chat = memory.user(user_id).thread(thread_id)
    chat.add_many([{"id": f"turn-{i}", "role": role, "content": content} for i, (role, content) in enumerate(TALK)])
    return chat


@pytest.mark.req("S1-50", "S1-51", "S1-52", "S1-53", "S1-54", "S1-55")
def test_the_store_has_five_containers_with_their_keys(account: Any):
    database = account.client().get_database_client(account.database)
    found = {container["id"]: container["partitionKey"]["paths"] for container in database.list_containers()}
    assert found == {spec.name: list(spec.partition_key_paths) for spec in container_specs()}


def test_the_store_keeps_vector_and_text_policies(account: Any):
    properties = account.client().get_database_client(account.database).get_container_client("memories").read()
    [vector] = properties["vectorEmbeddingPolicy"]["vectorEmbeddings"]
    assert (vector["path"], vector["dimensions"]) == ("/embedding", HashingEmbeddings().dimensions)
    assert [path["path"] for path in properties["fullTextPolicy"]["fullTextPaths"]] == ["/content"]


def test_a_store_that_is_there_is_left_alone(open_memory: Callable[[], Memory]):
    with open_memory() as memory:
        memory.create_memory_store()
        assert memory.health().ok


@pytest.mark.needs("vectors", "words")
def test_turns_become_memories_that_are_found(open_memory: Callable[[], Memory], user_id: str):
    with open_memory() as memory:
        told(memory, user_id)
        assert memory.drain(timeout=120) == 0
        alice = memory.user(user_id)
        facts = alice.memories(types=["fact"])
        assert any("$10,000" in fact.content and fact.source_turn_ids == ["turn-0"] for fact in facts)
        assert "$10,000" in alice.search("What is my budget for Hawaii?", limit=3)[0].memory.content
        context = alice.thread("later").context("What is my budget for Hawaii?")
        assert "$10,000" in context.text
        assert not context.degraded


@pytest.mark.req("S0-003")
def test_users_do_not_see_each_other(open_memory: Callable[[], Memory], user_id: str):
    with open_memory() as memory:
        told(memory, user_id)
        memory.drain(timeout=120)
        stranger = memory.user(f"{user_id}-stranger")
        assert stranger.memories() == []
        assert stranger.threads() == []
        assert stranger.thread("hawaii").turns(last=10) == []


@pytest.mark.req("S0-003")
@pytest.mark.needs("vectors", "words")
def test_nobody_finds_what_another_user_said(open_memory: Callable[[], Memory], user_id: str):
    with open_memory() as memory:
        told(memory, user_id)
        memory.drain(timeout=120)
        assert memory.user(f"{user_id}-stranger").search("budget for Hawaii") == []


def test_writing_a_turn_again_adds_nothing(open_memory: Callable[[], Memory], user_id: str):
    with open_memory() as memory:
        chat = told(memory, user_id)
        told(memory, user_id)
        assert [turn.id for turn in chat.turns(last=10)] == [f"turn-{i}" for i in range(len(TALK))]
        with pytest.raises(Conflict):
            chat.add("user", "Something else.", id="turn-0")


def test_what_was_processed_is_not_processed_again(open_memory: Callable[[], Memory], user_id: str):
    with open_memory() as memory:
        told(memory, user_id)
        assert memory.drain(timeout=120) == 0
        before = {memory_.id for memory_ in memory.user(user_id).memories(include_superseded=True)}
    with open_memory() as memory:
        memory.user(user_id).thread("hawaii").add("user", "The flight leaves on Friday at noon.")
        assert memory.drain(timeout=120) == 0
        after = {memory_.id for memory_ in memory.user(user_id).memories(include_superseded=True)}
    assert before < after


def test_a_fact_that_was_corrected_keeps_its_past(open_memory: Callable[[], Memory], user_id: str):
    with open_memory() as memory:
        alice = memory.user(user_id)
        fact = alice.remember("Lives in Lisbon")
        between = datetime.now(UTC)
        alice.update(fact.id, content="Lives in Porto")
        assert [found.content for found in alice.memories(types=["fact"])] == ["Lives in Porto"]
        assert [found.content for found in alice.memories(types=["fact"], as_of=between)] == ["Lives in Lisbon"]
        assert len(alice.history(fact.id)) == 2
