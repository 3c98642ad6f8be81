"""What a search can be confined to, through the public call, on the real store."""

import math
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from agent_memory import AsyncMemory, InvalidInput
from agent_memory.contract.table import ENDPOINTS
from agent_memory.scopes import AsyncUserScope
from agent_memory.store.documents import to_document

DAY = datetime(2026, 3, 5, 12, tzinfo=UTC)
Found = Callable[..., Awaitable[set[str]]]


@pytest.fixture
async def alice(memory: AsyncMemory) -> AsyncUserScope:
    """One fact of each sort, all about the garden."""
    user = memory.user("alice")
    facts: dict[str, dict[str, Any]] = {
        "likes": {"kind": "preference", "tags": ["flowers", "home"], "confidence": 0.6, "importance": 0.9},
        "needs": {"kind": "requirement", "tags": ["tools"], "confidence": 0.9, "importance": 0.2},
        "how": {"type": "procedural", "kind": None, "thread_id": "t2", "agent_id": "gardener", "project_id": "green"},
        "event": {"type": "episodic", "kind": "session", "created_at": DAY + timedelta(days=30)},
    }
    for name, changes in facts.items():
        made = await user.remember(f"The garden of {name}")
        fields = {"id": name, "thread_id": "t1", "created_at": DAY, **changes}
        await memory.runtime.store.delete("memories", made.id, (made.user_id, made.thread_id))
        vector = (await memory.runtime.tools.embeddings.embed([made.content])).vectors[0]
        await memory.runtime.store.create("memories", to_document(made.model_copy(update=fields), vector))
    return user


@pytest.fixture
def found(alice: AsyncUserScope) -> Found:
    async def search(**filters: Any) -> set[str]:
        return {hit.memory.id for hit in await alice.search("the garden", limit=20, **filters)}

    return search


ALL = {"likes", "needs", "how", "event"}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, ALL),
        ({"agent_id": "gardener"}, {"how"}),
        ({"agent_id": "nobody"}, set()),
        ({"agent_id": "gardener", "filters": {"project_id": "green"}}, {"how"}),
        ({"agent_id": "gardener", "filters": {"project_id": "red"}}, set()),
        ({"agent_id": "gardener", "filters": {"or": [{"kind": "preference"}, {"type": "procedural"}]}}, {"how"}),
    ],
)
async def test_a_context_is_confined_to_an_agent_as_a_search_is(
    alice: AsyncUserScope, given: dict[str, Any], expected: set[str]
):
    for scope in (alice, alice.thread("now", agent_id="somebody else")):
        told = await scope.context("the garden", **given)
        assert {one["id"] for one in told.used} == expected


async def test_an_agent_that_cannot_be_is_named_in_an_empty_context(alice: AsyncUserScope):
    told = await alice.context("the garden", agent_id="")
    assert told.used == []
    assert "agent_id" in told.degraded[0]


@pytest.mark.req("S0-016", "S0-021", "S0-022", "S0-038")
@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({}, ALL),
        ({"types": None, "tags": None}, ALL),
        ({"types": ["fact"]}, {"likes", "needs"}),
        ({"types": ["procedural", "episodic"]}, {"how", "event"}),
        ({"types": ["preference"]}, {"likes"}),
        ({"types": ["preference", "procedural"]}, {"likes", "how"}),
        ({"types": ["semantic"]}, {"likes", "needs"}),
        ({"types": []}, set()),
        ({"kinds": ["requirement", "session"]}, {"needs", "event"}),
        ({"tags": ["home", "tools"]}, {"likes", "needs"}),
        ({"tags": ["nothing"]}, set()),
        ({"min_confidence": 0.9}, {"needs", "how", "event"}),
        ({"min_importance": 0.9}, {"likes"}),
        ({"created_after": DAY + timedelta(days=1)}, {"event"}),
        ({"created_after": DAY, "created_before": DAY + timedelta(days=30)}, {"likes", "needs", "how"}),
        ({"created_before": DAY}, set()),
        ({"agent_id": "gardener"}, {"how"}),
        ({"project_id": "green", "types": ["fact"]}, set()),
        ({"exclude_threads": ["t1"]}, {"how"}),
        ({"threshold": 0.99}, set()),
        ({"threshold": -1}, ALL),
    ],
)
async def test_a_search_is_confined(found: Found, filters: dict[str, Any], expected: set[str]):
    assert await found(**filters) == expected


@pytest.mark.req("S1-35")
async def test_an_audit_finds_what_was_replaced_too(alice: AsyncUserScope):
    new = await alice.update("likes", content="The garden of likes and roses")
    hits = {hit.memory.id: hit.memory for hit in await alice.search("the garden of likes", limit=20)}
    assert new.id in hits
    assert "likes" not in hits
    hits = {
        hit.memory.id: hit.memory
        for hit in await alice.search("the garden of likes", limit=20, include_superseded=True)
    }
    assert hits["likes"].superseded_by == new.id
    assert new.id in hits


async def test_a_threshold_of_the_request_holds_whatever_the_words(alice: AsyncUserScope):
    near = await alice.search("The garden of likes", limit=20, threshold=0.9)
    assert [hit.memory.id for hit in near] == ["likes"]
    assert near[0].similarity is not None
    assert near[0].similarity > 0.9


async def test_what_is_as_near_as_a_threshold_is_not_above_it(alice: AsyncUserScope):
    asked = "flowers in the garden of likes"
    [best] = await alice.search(asked, limit=1)
    assert best.similarity is not None
    assert best.similarity < 1
    below = math.nextafter(best.similarity, -1)
    assert [hit.memory.id for hit in await alice.search(asked, limit=1, threshold=below)] == [best.memory.id]
    assert await alice.search(asked, limit=20, threshold=best.similarity) == []


@pytest.mark.parametrize(
    ("filters", "complaint"),
    [
        ({"types": ["dream"]}, "unknown memory type 'dream'"),
        ({"types": "fact"}, "a list of names"),
        ({"tags": "home"}, "tags"),
        ({"min_confidence": 2}, "min_confidence"),
        ({"created_after": "yesterday-ish"}, "created_after"),
        ({"agent_id": ""}, "agent_id"),
        ({"threshold": 7}, "threshold"),
        ({"colour": "green"}, "colour"),
    ],
)
async def test_a_filter_that_cannot_be_used_is_named(found: Found, filters: dict[str, Any], complaint: str):
    with pytest.raises(InvalidInput, match=complaint):
        await found(**filters)


@pytest.mark.req("S0-088", "S0-108")
async def test_values_of_filters_are_values(found: Found):
    for text in ("x' OR true --", '"] OR c.user_id != "', "@types"):
        assert await found(tags=[text]) == set()
        assert await found(agent_id=text) == set()


def test_filters_travel_over_http():
    """The API reads its parameters off the method, those behind `**filters` too."""
    given = next(endpoint.given for endpoint in ENDPOINTS if endpoint.name == "search" and endpoint.given)
    assert given is not None
    assert {"query", "limit", "types", "tags", "min_confidence", "exclude_threads"} <= set(given.model_fields)
    assert given.model_fields["tags"].description == "At least one of these tags."
