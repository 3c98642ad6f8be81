"""The store of LangGraph: one suite for LangGraph's own store in RAM and for ours."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("langgraph.store.base", reason="langgraph is not installed: make integrations ARGS=langgraph")

from langgraph.store.base import GetOp, InvalidNamespaceError, PutOp, SearchOp
from langgraph.store.memory import InMemoryStore

from agent_memory import AsyncMemory, Memory
from agent_memory.errors import InvalidInput, MemoryDisabled
from agent_memory.integrations.langgraph import MemoryStore
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.transfer.moving import contents_of

pytestmark = pytest.mark.filterwarnings("ignore")
HERS = ("memories", "alice")


class Hashed:
    """The same embeddings for LangGraph's own store."""

    async def __call__(self, texts: list[str]) -> list[list[float]]:
        return [list(vector) for vector in (await HashingEmbeddings().embed(texts)).vectors]


@pytest.fixture(params=["theirs", "ours"])
async def store(request: pytest.FixtureRequest, memory: AsyncMemory) -> AsyncIterator[Any]:
    if request.param == "theirs":
        yield InMemoryStore(index={"dims": HashingEmbeddings().dimensions, "embed": Hashed().__call__})
    else:
        yield MemoryStore(memory)


def found(items: list[Any]) -> list[tuple[tuple[str, ...], str]]:
    return sorted((item.namespace, item.key) for item in items)


VALUES = [
    {},
    {"a": 1, "b": 1.5, "c": None, "d": True, "e": [1, [2, {"f": "g"}]], "h": {"i": {}}},
    {"text": "Grüße, 東京, zero\u200bwidth, e\u0301, \ufb01, 'quotes\" \\ and\nlines\t"},
    {"big": 2**70, "small": 1e-300, "": "an empty name", "memory_id": "x", "ttl": 5},
    {"long": "word " * 2000},
]


@pytest.mark.parametrize("value", VALUES, ids=range(len(VALUES)))
async def test_a_value_comes_back_as_it_was_put(store: Any, value: Any):
    await store.aput(HERS, "key", value)
    item = await store.aget(HERS, "key")
    assert item.value == value
    assert (item.key, item.namespace) == ("key", HERS)
    assert item.created_at.tzinfo is not None
    assert item.updated_at >= item.created_at


@pytest.mark.parametrize("key", ["a/b\\c?d#e", "..", "__init__", "ключ", " ", "k" * 400, "a%2Fb"])
async def test_any_text_is_a_key(store: Any, key: str):
    await store.aput(HERS, key, {"of": key})
    await store.aput(HERS, key + "x", {"of": "another"})
    assert (await store.aget(HERS, key)).value == {"of": key}
    assert found(await store.asearch(HERS)) == sorted([(HERS, key), (HERS, key + "x")])


async def test_a_put_replaces_and_a_delete_removes(store: Any):
    await store.aput(HERS, "key", {"text": "the same", "n": 1})
    await store.aput(HERS, "key", {"text": "the same", "n": 2})
    assert (await store.aget(HERS, "key")).value["n"] == 2
    assert len(await store.asearch(HERS)) == 1
    await store.adelete(HERS, "key")
    await store.adelete(HERS, "key")
    assert await store.aget(HERS, "key") is None
    assert await store.asearch(HERS) == []


async def test_equal_values_under_two_keys_are_two_items(store: Any):
    for key in ("one", "two"):
        await store.aput(HERS, key, {"text": "User likes tea."})
    await store.adelete(HERS, "one")
    assert (await store.aget(HERS, "two")).value == {"text": "User likes tea."}


async def test_a_batch_reads_first_and_the_last_put_counts(store: Any):
    await store.aput(HERS, "key", {"n": 0})
    operations = [PutOp(HERS, "key", {"n": 1}), GetOp(HERS, "key"), PutOp(HERS, "key", {"n": 2})]
    results = await store.abatch([*operations, SearchOp(HERS)])
    assert [results[0], results[1].value, results[2], [one.value for one in results[3]]] == [
        None,
        {"n": 0},
        None,
        [{"n": 0}],
    ]
    assert (await store.aget(HERS, "key")).value == {"n": 2}


async def test_a_prefix_ends_at_the_end_of_a_label(store: Any):
    for namespace in (HERS, (*HERS, "notes"), (*HERS, "notes", "old"), (*HERS, "notes2"), (*HERS, 'no"te,s')):
        await store.aput(namespace, "key", {"n": 1})
    assert found(await store.asearch((*HERS, "notes"))) == [
        ((*HERS, "notes"), "key"),
        ((*HERS, "notes", "old"), "key"),
    ]
    assert len(await store.asearch(HERS)) == 5
    assert found(await store.asearch((*HERS, 'no"te,s'))) == [((*HERS, 'no"te,s'), "key")]


FILTERS: list[tuple[dict[str, Any], list[str]]] = [
    ({"kind": "a"}, ["1", "2"]),
    ({"kind": "a", "n": 1}, ["1"]),
    ({"n": {"$gt": 1}}, ["2", "3"]),
    ({"n": {"$gte": 2, "$lt": 3}}, ["2"]),
    ({"n": {"$lte": 1}}, ["1"]),
    ({"kind": {"$ne": "a"}}, ["3"]),
    ({"kind": {"$eq": "b"}}, ["3"]),
    ({"in": {"deep": True}}, ["3"]),
    ({"missing": None}, ["1", "2", "3"]),
    ({"missing": "x"}, []),
]


@pytest.mark.parametrize(("asked", "keys"), FILTERS)
async def test_a_search_filters_by_fields(store: Any, asked: Any, keys: list[str]):
    await store.aput(HERS, "1", {"kind": "a", "n": 1})
    await store.aput(HERS, "2", {"kind": "a", "n": 2})
    await store.aput(HERS, "3", {"kind": "b", "n": 3, "in": {"deep": True, "x": 1}})
    assert [item.key for item in await store.asearch(HERS, filter=asked)] == keys


async def test_a_search_by_meaning_ranks_and_scores(store: Any):
    await store.aput(HERS, "tea", {"text": "The user drinks green tea."})
    await store.aput(HERS, "car", {"text": "The user drives a red car."})
    first, *_ = await store.asearch(HERS, query="What colour is the car?")
    assert first.key == "car"
    assert first.score is not None
    assert len(await store.asearch(HERS, query="car", limit=1)) == 1
    assert [one.key for one in await store.asearch(HERS, query="tea", filter={"text": {"$ne": "x"}}, limit=1)] == [
        "tea"
    ]


async def test_what_is_not_indexed_comes_last_and_has_no_score(store: Any):
    await store.aput(HERS, "hidden", {"text": "green tea"}, index=False)
    await store.aput(HERS, "shown", {"text": "green tea"})
    await store.aput(HERS, "field", {"text": "red car", "about": {"x": ["green tea"]}}, index=["about.x[*]"])
    items = await store.asearch(HERS, query="green tea")
    assert {one.key for one in items[:2]} == {"shown", "field"}
    assert (items[2].key, items[2].score) == ("hidden", None)


async def test_pages_follow_each_other(store: Any):
    for number in range(7):
        await store.aput(HERS, f"{number}", {"n": number})
    pages = [await store.asearch(HERS, limit=3, offset=offset) for offset in (0, 3, 6, 9)]
    assert [[item.key for item in page] for page in pages] == [["0", "1", "2"], ["3", "4", "5"], ["6"], []]


async def test_namespaces_are_listed(store: Any):
    for last in (("a", "x"), ("a", "y"), ("b", "x")):
        await store.aput((*HERS, *last), "key", {"n": 1})
    assert await store.alist_namespaces(prefix=HERS) == [(*HERS, "a", "x"), (*HERS, "a", "y"), (*HERS, "b", "x")]
    assert await store.alist_namespaces(prefix=HERS, suffix=("x",)) == [(*HERS, "a", "x"), (*HERS, "b", "x")]
    assert await store.alist_namespaces(prefix=HERS, max_depth=3) == [(*HERS, "a"), (*HERS, "b")]
    assert await store.alist_namespaces(prefix=(*HERS, "*", "x"), limit=1, offset=1) == [(*HERS, "b", "x")]


@pytest.mark.parametrize("namespace", [(), ("a.b", "c"), ("", "c"), ("langgraph", "c")])
async def test_a_namespace_must_be_valid(store: Any, namespace: tuple[str, ...]):
    with pytest.raises(InvalidNamespaceError):
        await store.aput(namespace, "key", {})


async def test_a_time_to_live_is_not_supported(store: Any):
    with pytest.raises(NotImplementedError):
        await store.aput(HERS, "key", {}, ttl=5)


# --- what is ours alone ---------------------------------------------------------------------------------------


async def test_a_namespace_that_names_no_user_is_refused(memory: AsyncMemory):
    store = MemoryStore(memory)
    for call in (store.asearch(("memories",)), store.alist_namespaces(), store.aput(("memories",), "key", {"n": 1})):
        with pytest.raises(InvalidInput, match="names the user"):
            await call


async def test_all_namespaces_can_belong_to_one_user(memory: AsyncMemory):
    store = MemoryStore(memory, user="app")
    for namespace in (("a",), ("a", "b"), ("c",)):
        await store.aput(namespace, "key", {"of": list(namespace)})
    assert await store.alist_namespaces() == [("a",), ("a", "b"), ("c",)]
    assert found(await store.asearch(())) == [(("a",), "key"), (("a", "b"), "key"), (("c",), "key")]
    assert len(await memory.user("app").memories(types=["document"])) == 3


async def test_users_do_not_see_each_others_items_and_forgetting_one_deletes_theirs(memory: AsyncMemory):
    store = MemoryStore(memory)
    await store.aput(HERS, "key", {"text": "hers"})
    await store.aput(("memories", "bob@example%2Ecom"), "key", {"text": "his"})
    assert [item.value for item in await store.asearch(("memories", "bob@example%2Ecom"), query="hers")] == [
        {"text": "his"}
    ]
    assert await memory.user("bob@example.com").memories(types=["document"])
    await memory.user("alice").forget(everything=True)
    assert await store.aget(HERS, "key") is None
    assert (await store.aget(("memories", "bob@example%2Ecom"), "key")).value == {"text": "his"}  # type: ignore[union-attr]


SECRET = "my key is sk-abcdefghijklmnopqrstuvwxyz1234567890ABCDEF"


@pytest.mark.parametrize("value", [{"text": SECRET}, {"text": "fine", "deep": [{"er": SECRET}]}])
async def test_a_value_that_the_policy_would_change_is_refused_and_the_old_one_stays(memory: AsyncMemory, value: Any):
    store = MemoryStore(memory)
    await store.aput(HERS, "key", {"text": "the old one"})
    for key in ("key", "new"):
        with pytest.raises(MemoryDisabled):
            await store.aput(HERS, key, value, index=["text"])
    assert (await store.aget(HERS, "key")).value == {"text": "the old one"}  # type: ignore[union-attr]
    assert await store.aget(HERS, "new") is None


async def test_a_namespace_that_the_policy_would_change_is_refused(memory: AsyncMemory):
    store = MemoryStore(memory)
    with pytest.raises(MemoryDisabled):
        await store.aput((*HERS, SECRET), "key", {"text": "fine"})
    assert await store.aget((*HERS, SECRET), "key") is None


async def test_puts_of_one_key_at_once_leave_one_of_them(memory: AsyncMemory):
    store = MemoryStore(memory)
    await asyncio.gather(*(store.aput(HERS, "key", {"n": number}) for number in range(6)))
    assert (await store.aget(HERS, "key")).value["n"] in range(6)  # type: ignore[union-attr]
    assert len(await store.asearch(HERS)) == 1


async def test_what_is_no_json_is_refused(memory: AsyncMemory):
    with pytest.raises(InvalidInput, match="not JSON"):
        await MemoryStore(memory).aput(HERS, "key", {"when": object()})


def test_the_synchronous_face_works_with_a_synchronous_memory():
    with Memory.local(embedding_model=HashingEmbeddings()) as memory:
        store = MemoryStore(memory)
        store.put(HERS, "key", {"n": 1})
        assert store.get(HERS, "key").value == {"n": 1}  # type: ignore[union-attr]
        assert store.list_namespaces(prefix=HERS) == [HERS]
        assert found(store.search(HERS, query="n")) == [(HERS, "key")]


async def test_the_database_of_the_sqlite_store_of_langgraph_comes_over(memory: AsyncMemory, tmp_path: Path):
    sqlite = pytest.importorskip(
        "langgraph.store.sqlite.aio", reason="langgraph-checkpoint-sqlite is not installed: make integrations"
    )
    file = tmp_path / "store.db"
    async with sqlite.AsyncSqliteStore.from_conn_string(str(file)) as theirs:
        await theirs.setup()
        await theirs.aput(HERS, "tea", {"text": "Drinks green tea.", "cups": 3}, ttl=600)
        await theirs.aput(HERS, "bike", {"kind": "Memory", "content": {"content": "Cycles to work."}})
        await theirs.aput(("memories", "bob"), "ski", {"text": "Skis."})
        lines = contents_of(file, only="alice").lines  # while it is open
        items = {item.key: item for item in await theirs.asearch(HERS)}
    alice = memory.user("alice")
    await alice.import_lines(lines)
    kept = {one.content: one for one in await alice.memories()}
    assert kept.keys() == {"Drinks green tea.", "Cycles to work."}
    tea = kept["Drinks green tea."]
    assert tea.created_at == items["tea"].created_at.replace(tzinfo=UTC)  # theirs names no zone
    assert tea.expires_at is not None
