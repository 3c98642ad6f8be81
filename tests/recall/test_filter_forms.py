"""Filters as callers write them: in Python, over HTTP, through the remote memory, on the command line; and refused."""

import json
import logging
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
from api_world import client_of, serving
from plain_filters import matches
from scripted_model import ScriptedChat
from typer.testing import CliRunner

from agent_memory import AsyncMemory, InvalidInput, Memory
from agent_memory.cli.main import app
from agent_memory.models import Filter, NumberIs, SearchFilters, TimeIs, ValueIs
from agent_memory.models.filters import MOST_CONDITIONS, MOST_LEVELS
from agent_memory.scopes import AsyncUserScope
from agent_memory.store.chunks import chunk_of
from agent_memory.store.filters import condition_of_turns

LISBON = {"metadata": {"city": "Lisbon"}}
LIKES = {"or": [{"kind": "preference"}, {"metadata": {"stars": {"gte": 4}}}]}


@pytest.fixture
async def alice(memory: AsyncMemory) -> AsyncUserScope:
    user = memory.user("alice")
    await user.remember("The hotel by the river", metadata={"city": "Lisbon", "stars": 4}, tags=["travel", "stay"])
    await user.remember("The hotel at the station", metadata={"city": "Porto", "stars": 3})
    await user.remember("Prefers a hotel with a garden", kind="preference", project_id="trip")
    return user


def contents(found: Any) -> set[str]:
    return {(getattr(one, "memory", one)).content.split()[-1] for one in found}


async def test_a_model_and_a_mapping_say_the_same(alice: AsyncUserScope):
    model = Filter(
        metadata={"city": ValueIs(eq="Lisbon")},
        confidence=NumberIs(gte=0.5),
        not_=Filter(created_at=TimeIs(lt=YEARS_AGO)),
    )
    data = {**LISBON, "confidence": {"gte": 0.5}, "not": {"created_at": {"lt": YEARS_AGO}}}
    for given in (model, data):
        assert contents(await alice.search("hotel", filters=given)) == {"river"}
        assert contents(await alice.memories(filters=given)) == {"river"}
    assert contents(await alice.search("hotel", tags=["travel"], filters=LIKES)) == {"river"}


YEARS_AGO = datetime.now(UTC) - timedelta(days=3650)


async def test_a_context_has_only_what_matches(alice: AsyncUserScope):
    context = await alice.context("Which hotel?", filters=LISBON)
    assert "river" in context.text
    assert "station" not in context.text
    assert "garden" not in context.text
    assert context.degraded == []
    broken = await alice.context("Which hotel?", filters={"colour": "green"})
    assert broken.text == ""
    assert "filters.colour: not known; a filter names and, or, not, type" in broken.degraded[0]


async def test_they_travel_over_http(alice: AsyncUserScope, memory: AsyncMemory):
    me = {"X-User-Id": "alice"}
    async with client_of(memory, client="127.0.0.1") as http:

        async def post(path: str, given: Any) -> httpx.Response:
            return await http.post(path, json={"query": "hotel", "filters": given}, headers=me)

        hits = (await post("/v1/search", LIKES)).json()["hits"]
        assert {hit["memory"]["content"].split()[-1] for hit in hits} == {"river", "garden"}
        assert "station" in (await post("/v1/context", {"not": LIKES})).json()["text"]
        found = await http.get("/v1/memories", params={"filters": json.dumps(LIKES), "limit": 1}, headers=me)
        page = found.json()
        assert [one["content"].split()[-1] for one in page["memories"]] == ["garden"]
        for name in ("cursor", "continuation"):
            asked = {"filters": json.dumps(LIKES), "limit": 1, name: page["next"]}
            rest = (await http.get("/v1/memories", params=asked, headers=me)).json()["memories"]
            assert [one["content"].split()[-1] for one in rest] == ["river"]
        for bad in ({"colour": 1}, {"metadata": {"city": {"like": "L%"}}}, [], "x", 3, {"kind": {"in": "x"}}):
            for answer in (
                await post("/v1/search", bad),
                await post("/v1/context", bad),
                await http.get("/v1/memories", params={"filters": json.dumps(bad)}, headers=me),
            ):
                assert (answer.status_code, answer.json()["error"]["code"]) == (400, "invalid_input")
        for text in ("{", "[" * 20_000, '{"metadata": {"x": NaN}}', '{"cursor": "x"}'):
            answer = await http.get("/v1/memories", params={"filters": text}, headers=me)
            assert (answer.status_code, answer.json()["error"]["code"]) == (400, "invalid_input")
        answer = await http.get("/v1/memories", params={"cursor": "nonsense"}, headers=me)
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, "invalid_input")
        described = (await http.get("/openapi.json")).json()
    assert "metadata" in described["components"]["schemas"]["Filter"]["properties"]
    listing = described["paths"]["/v1/memories"]["get"]["parameters"]
    assert "FilterText" in json.dumps([one for one in listing if one["name"] == "filters"])
    assert described["components"]["schemas"]["FilterText"]["contentMediaType"] == "application/json"


async def test_they_travel_through_the_remote_memory(alice: AsyncUserScope, memory: AsyncMemory):
    async with serving(memory) as url, AsyncMemory.remote(url) as remote:
        far = remote.user("alice")
        for given in (LIKES, Filter.model_validate(LIKES), {"created_at": {"gt": YEARS_AGO}, **LIKES}):
            assert contents(await far.search("hotel", filters=given)) == {"river", "garden"}
            assert contents(await far.memories(filters=given)) == {"river", "garden"}
            assert "station" not in (await far.context("hotel", filters=given)).text
        first = await far.memories(filters=LIKES, limit=1)
        near = await alice.memories(filters=LIKES, limit=1)
        assert (first, first.next) == (near, near.next)
        assert contents(await far.memories(filters=LIKES, limit=1, cursor=first.next)) == {"river"}
        assert (await far.memories(filters=LIKES)).next is None
        for scope in (far, alice):
            with pytest.raises(InvalidInput, match=r"filters\.colour: not known"):
                await scope.search("hotel", filters={"colour": 1})
            with pytest.raises(InvalidInput, match="not at both"):
                await scope.memories(cursor=first.next, before=YEARS_AGO)
            with pytest.raises(InvalidInput, match="cursor"):
                await scope.memories(cursor="nonsense")
            assert "not known" in (await scope.context("hotel", filters={"colour": 1})).degraded[0]


def test_the_command_line(tmp_path: Path):
    store = str(tmp_path / "memory.db")
    with Memory.local(store) as memory:
        memory.user("alice").remember("The hotel by the river", metadata={"city": "Lisbon"})
        memory.user("alice").remember("The hotel at the station", metadata={"city": "Porto"})

    def run(*arguments: str, code: int = 0) -> str:
        result = CliRunner().invoke(app, [*arguments, "--store", store])
        assert result.exit_code == code, result.output
        return result.output

    for command in (["search", "hotel"], ["context", "Which hotel?"], ["show"]):
        shown = run(*command, "--filter", json.dumps(LISBON))
        assert "river" in shown
        assert "station" not in shown
    assert "JSON" in run("search", "hotel", "--filter", "{", code=2)
    assert "JSON object" in run("search", "hotel", "--filter", "[]", code=2)
    assert "not known" in run("search", "hotel", "--filter", '{"colour": 1}', code=2)


def nested(levels: int) -> dict[str, Any]:
    found: dict[str, Any] = {"kind": "fact"}
    for _ in range(levels):
        found = {"not": found}
    return found


LOOP: dict[str, Any] = {}
LOOP["and"] = [LOOP]


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"colour": 1}, r"filters\.colour: not known; a filter names and, or, not, type, kind"),
        ({"metadata": {"city": {"$ne": 1}}}, r"filters\.metadata\.city\.\$ne: not known.* eq, in, contains, gt"),
        ({"metadata": {"city": None}}, '"eq": null'),
        ({"metadata": {"city": {}}}, "at least one of eq, in"),
        ({"metadata": {"city": {"eq": {"a": 1}}}}, "a text, a number, true or false"),
        ({"metadata": {"city": {"gt": True}}}, "compared with a number"),
        ({"metadata": {"": 1}}, "1 to 255 characters"),
        ({"metadata": {"x" * 256: 1}}, "1 to 255 characters"),
        ({"metadata": {5: 1}}, "1 to 255 characters"),
        ({"metadata": {"\ud800": 1}}, "surrogate"),
        ({"metadata": {"x": "\udfff"}}, "surrogate"),
        ({"metadata": {"x": "x" * 1001}}, "1000 characters"),
        ({"metadata": {"x": float("inf")}}, "finite"),
        ({"metadata": {"x": 10**400}}, r"2\^53"),
        ({"confidence": "0.5"}, "compared with a number"),
        ({"confidence": True}, "compared with a number"),
        ({"created_at": {"gte": 5}}, "ISO 8601"),
        ({"created_at": {"gte": "yesterday-ish"}}, r"created_at\.gte"),
        ({"type": "dream"}, "'fact', 'episodic'"),
        ({"type": {"eq": None}}, "every memory has a type"),
        ({"kind": ["x"] * 101}, "at most 100 items"),
        ({"kind": {"in": None}}, "null is allowed only in eq"),
        ({"and": {"kind": "fact"}}, "list"),
        ({"or": ["fact"]}, "filters.or.0"),
        ({"not": []}, "filters.not"),
        ({"and": [{"kind": "fact"}] * (MOST_CONDITIONS + 1)}, "at most 50 conditions"),
        ({"metadata": {f"k{number}": 1 for number in range(MOST_CONDITIONS + 1)}}, "at most 50 conditions"),
        ({"metadata": {"x": ["x" * 1000 + str(number) for number in range(0)] or ["y" * 999] * 65}}, "64,000 bytes"),
        (nested(MOST_LEVELS + 1), "8 levels"),
        (nested(100_000), "8 levels"),
        (LOOP, "8 levels"),
        ("fact", "filters: "),
        (["fact"], "filters: "),
        (7, "filters: "),
    ],
)
async def test_what_cannot_be_used_is_named(alice: AsyncUserScope, given: Any, complaint: str):
    with pytest.raises(InvalidInput, match=complaint):
        await alice.search("hotel", filters=given)
    with pytest.raises(InvalidInput, match=complaint):
        await alice.memories(filters=given)


async def test_the_largest_filters_are_taken(alice: AsyncUserScope):
    full = [{"metadata": {f"k{number}": list(range(100))}} for number in range(MOST_CONDITIONS)]
    sizes = [(nested(MOST_LEVELS), 2), ({"or": full}, 0), ({"not": {"or": full}}, 3), ({"kind": ["x" * 600] * 100}, 0)]
    for given, size in sizes:
        assert len(await alice.search("hotel", filters=given)) == size
        assert len(await alice.memories(filters=given)) == size


async def test_no_name_and_no_value_becomes_text_of_a_query(alice: AsyncUserScope, caplog: pytest.LogCaptureFixture):
    """Whatever a key holds, nothing of another user is found, and nothing fails."""
    caplog.set_level(logging.WARNING)
    await alice._runtime.store.read_mark("alice")
    other = "bob"
    hostile = [
        '"] = 1 OR c.user_id = "bob',
        "'; DROP",
        "@user_id",
        "a]['b",
        "/*",
        "--",
        "c.user_id",
        "${x}",
        "\n",
        "\x00",
    ]
    for key in hostile:
        for given in ({"metadata": {key: other}}, {"not": {"metadata": {key: {"in": [other, key, None]}}}}):
            found = await alice.search("hotel", limit=50, filters=given)
            assert {hit.memory.user_id for hit in found} <= {"alice"}
            assert {memory.user_id for memory in await alice.memories(filters=given)} <= {"alice"}
    assert caplog.text == ""


@pytest.mark.parametrize(
    "given",
    [
        {"type": "episodic"},
        {"not": {"type": "fact"}},
        {"kind": "chunk"},
        {"kind": ["fact", "session"]},
        {"not": {"kind": {"eq": None}}},
        {"tags": "home"},
        {"not": {"tags": ["home", "x"]}},
        {"source": "agent"},
        {"not": {"source": "agent"}},
        {"agent_id": "gardener"},
        {"project_id": {"eq": None}},
        {"thread_id": ["t2"]},
        {"run_id": "r1"},
        {"confidence": {"gte": 1}},
        {"importance": {"gt": 0.3}},
        {"importance": {"in": [0.3]}},
        {"valid_to": {"eq": None}},
        {"valid_from": {"gte": "2026-02-01T00:00:00Z"}},
        {"created_at": {"lt": "2026-02-01T00:00:00Z"}},
        {"or": [{"agent_id": "gardener"}, {"created_at": {"lt": "2026-02-01T00:00:00Z"}}]},
    ],
)
async def test_talk_that_is_not_indexed_yet_is_filtered_like_what_it_becomes(
    memory: AsyncMemory, given: dict[str, Any], caplog: pytest.LogCaptureFixture
):
    alice = memory.user("alice")
    said = [("user", "t1", "gardener", 1), ("assistant", "t1", None, 2), ("user", "t2", "other", 3)]
    for role, thread_id, agent_id, month in said:
        thread = alice.thread(thread_id, agent_id=agent_id, project_id="trip" if month == 3 else None)
        at = datetime(2026, month, 5, tzinfo=UTC)
        await thread.add(role, f"The hotel number {month} has a garden", created_at=at, run_id=f"r{month}")
    turns = [turn for thread in ("t1", "t2") for turn in await alice.thread(thread).turns()]
    expected = {turn.id for turn in turns if matches(given, chunk_of(turn, turn.content, None))}
    hits = await alice.search("hotel garden", limit=20, filters=given)
    assert {hit.memory.source_turn_ids[0] for hit in hits} == expected
    assert caplog.text == ""


def test_what_a_chunk_notes_is_unknown_before_it_is_indexed(chat: ScriptedChat):
    given = Filter.model_validate({"or": [{"not": {"metadata": {"speaker": "Ann"}}}]})
    assert condition_of_turns(SearchFilters(filters=given)) is None
