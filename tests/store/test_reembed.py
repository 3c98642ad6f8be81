"""Moving a store to another embedding model: killed anywhere, while it is searched and written."""

import asyncio
import contextlib
import hashlib
import math
import random
import time
from types import SimpleNamespace

import pytest
from azure.cosmos.aio import ContainerProxy, DatabaseProxy
from azure.cosmos.exceptions import CosmosHttpResponseError

from agent_memory import AsyncMemory, Cadence, ConfigurationError
from agent_memory.errors import ModelError
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.language.tasks import Embedded
from agent_memory.processing import reembed as moving
from agent_memory.processing.activities import run_workflow
from agent_memory.processing.reembed import catch_up
from agent_memory.store.client import Store
from agent_memory.store.containers import MEMORIES, SUMMARIES
from agent_memory.store.embedding_model import add_vector_path, read_identity
from agent_memory.store.vectors import field_of


class Other(HashingEmbeddings):
    """The same words, in vectors of another length and another order."""

    model_id = "other@512"
    dimensions = 512
    refuses: str | None = None
    fails = False
    texts = 0

    async def embed(self, texts: list[str]) -> Embedded:
        if self.fails:
            raise ModelError("busy", retryable=True)
        if self.refuses is not None and any(self.refuses in text for text in texts):
            raise ModelError("refused", retryable=False)
        self.texts += len(texts)
        whole = await super().embed(texts)
        return Embedded([[*reversed(vector), *[0.0] * 128] for vector in whole.vectors], whole.usage)


FACTS = [
    "Likes green tea in the morning",
    "Lives in Lisbon since May",
    "Allergic to peanuts",
    "Works as a nurse at night",
    "Plays the cello in a quartet",
    "Drives an old blue van",
]
NOTHING_BY_ITSELF = Cadence(extract=0, summarize=0, profile=0, reconcile=0, idle_seconds=0)
QUESTIONS = {"Which allergy?": 2, "What music instrument, a cello?": 4, "Where does she live, Lisbon?": 1, "old van": 5}


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moving, "ALONE_SECONDS", 0.0)
    monkeypatch.setattr(moving, "SETTLING_SECONDS", 0.0)
    monkeypatch.setattr(moving, "PAGE", 3)


async def filled(path: object = None) -> AsyncMemory:
    memory = AsyncMemory.local(path, embedding_model=HashingEmbeddings(), cadence=NOTHING_BY_ITSELF)
    await memory.open()
    alice, bob = memory.user("alice"), memory.user("bob")
    for fact in FACTS:
        await alice.remember(fact)
    await bob.remember("Allergic to cats")
    chat = alice.thread("hawaii")
    await chat.add("user", "My budget for the Hawaii trip is $10,000.")
    await chat.process("index")
    await chat.process("summarize")
    await alice.process("profile")
    return memory


async def raw(memory: AsyncMemory) -> list[dict[str, object]]:
    store = memory.runtime.store
    return [
        row
        for name in (MEMORIES, SUMMARIES)
        for row in await moving._rows(store, name, "SELECT * FROM c WHERE IS_DEFINED(c.content)")
    ]


async def found(memory: AsyncMemory) -> dict[str, float]:
    """The fact that answers each question, and its cosine."""
    made = {}
    for question, fact in QUESTIONS.items():
        hits = await memory.user("alice").search(question, limit=10)
        hit = next((one for one in hits if one.memory.content == FACTS[fact]), None)
        made[question] = 0.0 if hit is None or hit.similarity is None else hit.similarity
    return made


async def test_a_store_moves_to_another_length_and_searches_as_before(tmp_path):
    memory = await filled(tmp_path / "m.db")
    before = await found(memory)
    told: list[tuple[int, int]] = []
    planned = await memory.plan_reembed(Other())
    result = await memory.reembed(Other(), progress=lambda done, of: told.append((done, of)))
    documents = await raw(memory)
    assert (planned.from_model, planned.to_model, planned.dimensions) == ("hashing-384", "other@512", 512)
    assert planned.memories == result.embedded == result.removed == len(documents) == told[-1][0]
    assert (result.done, result.switched, result.failed, told[0]) == (True, True, 0, (0, planned.memories))
    assert await found(memory) == pytest.approx(before, abs=1e-5)
    assert not [one for one in documents if "embedding" in one or "embedding_model" in one]
    indexes = (await memory.runtime.store.container(MEMORIES).read())["indexingPolicy"]["vectorIndexes"]
    assert [one["vectorIndexShardKey"] for one in indexes] == [["/user_id"]] * 2
    assert (await memory.health()).embedding_model == "other@512"
    fact = (await memory.user("alice").memories(types=["fact"]))[0]
    assert fact.embedding_model == "other@512"
    await memory.user("alice").update(fact.id, content="Likes black tea now")
    await memory.user("alice").remember("Has a parrot called Kiki")
    (hit, *_) = await memory.user("alice").search("parrot Kiki")
    assert hit.similarity is not None
    assert hit.similarity > 0.4
    assert (await memory.reembed(Other())).embedded == 0
    await memory.close()
    async with AsyncMemory.local(tmp_path / "m.db", embedding_model=Other()) as again:
        assert (await again.user("alice").search("parrot Kiki"))[0].similarity == pytest.approx(hit.similarity)
    with pytest.raises(
        ConfigurationError, match=r"vectors of 512 dimensions, made by other@512.*reembed --to local:has"
    ):
        async with AsyncMemory.local(tmp_path / "m.db", embedding_model=HashingEmbeddings()):
            pass


async def test_the_way_back_is_a_move_too(tmp_path):
    memory = await filled(tmp_path / "m.db")
    before = await found(memory)
    await memory.reembed(Other())
    await memory.reembed(HashingEmbeddings())
    assert await found(memory) == pytest.approx(before, abs=1e-5)
    await memory.close()
    async with AsyncMemory.local(tmp_path / "m.db", embedding_model=HashingEmbeddings()) as again:
        assert await found(again) == pytest.approx(before, abs=1e-5)


async def test_another_model_of_the_same_length_is_a_move(tmp_path):
    class Turned(HashingEmbeddings):
        model_id = "turned@384"

        async def embed(self, texts: list[str]) -> Embedded:
            whole = await super().embed(texts)
            return Embedded([vector[::-1] for vector in whole.vectors], whole.usage)

    memory = await filled(tmp_path / "m.db")
    before = await found(memory)
    await memory.reembed(Turned())
    assert await found(memory) == pytest.approx(before, abs=1e-5)
    await memory.close()


class Killed(BaseException):
    """The process ends here."""


class Killer:
    """Ends the process at one of its writes: before it, or with the answer lost."""

    def __init__(self, at: int, *, after: bool) -> None:
        self.at, self.after, self.count = at, after, 0

    def around(self, real):
        async def write(*arguments, **options):
            self.count += 1
            if self.count < self.at:
                return await real(*arguments, **options)
            if self.after:
                await real(*arguments, **options)
            raise Killed

        return write


async def test_a_move_goes_on_after_a_kill_before_and_after_each_write(tmp_path, monkeypatch):
    """Every other write of the move is the last of its process; the memory is opened anew each time."""
    path, kills, ended = tmp_path / "m.db", 0, False
    memory = await filled(path)
    before = await found(memory)
    await memory.close()
    while not ended:
        opened_with = Other() if await _model_of(path) == "other@512" else HashingEmbeddings()
        async with AsyncMemory.local(path, embedding_model=opened_with) as memory:
            assert await found(memory) == pytest.approx(before, abs=1e-5), f"after {kills} kills"
            killer = Killer(1 + kills % 3, after=kills % 2 == 1)
            with monkeypatch.context() as patch, contextlib.suppress(Killed):
                for owner, name in (
                    (ContainerProxy, "patch_item"),
                    (ContainerProxy, "replace_item"),
                    (DatabaseProxy, "replace_container"),
                ):
                    patch.setattr(owner, name, killer.around(getattr(owner, name)))
                ended = (await moving.reembed(memory.runtime.store, Other())).done
            kills += not ended
            if ended:
                assert await found(memory) == pytest.approx(before, abs=1e-5)
                assert not [one for one in await raw(memory) if "embedding_model" in one]
    assert kills > 10


async def _model_of(path) -> str:
    memory = AsyncMemory.local(path, embedding_model=Other())
    await memory.runtime.store.open()
    identity = await read_identity(memory.runtime.store)
    await memory.close()
    return str(identity["embedding_model"])


async def test_searches_and_writes_during_a_move_lose_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(moving, "ALONE_SECONDS", 2.0)  # what has begun with the old vectors ends with them
    memory = await filled(tmp_path / "m.db")
    alice, before, done = memory.user("alice"), await found(memory), asyncio.Event()
    seen: list[dict[str, float]] = []
    written: list[str] = []

    async def search() -> None:
        while not done.is_set():
            seen.append(await found(memory))
            await asyncio.sleep(0)

    async def write() -> None:
        number = 0
        while not done.is_set():
            word = hashlib.sha256(str(number).encode()).hexdigest()[:10]
            await alice.remember(f"The code of locker {number} is {word}")
            written.append(word)
            number += 1
            hits = await alice.search(word, limit=3)
            assert hits[0].similarity is not None, "a new memory is near to its own words at once"
            assert word in hits[0].memory.content

    work = [asyncio.create_task(search()), asyncio.create_task(write())]
    await memory.reembed(Other())
    done.set()
    await asyncio.gather(*work)
    assert len(seen) > 3
    assert len(written) > 3
    for one in seen:
        assert all(one[question] >= before[question] - 1e-5 for question in before)
    documents = await raw(memory)
    assert all("embedding_model" not in one for one in documents)
    assert sum("locker" in str(one["content"]) for one in documents) >= len(written)
    await memory.close()


async def test_what_is_written_during_a_move_gets_both_vectors_with_the_write(tmp_path):
    memory, target = await filled(tmp_path / "m.db"), Other()
    current = memory.runtime.tools.embeddings
    while not (await moving.move(memory.runtime.store, target, current)).embedded:
        pass
    made = await memory.user("alice").remember("Has a parrot called Kiki")
    thread = memory.user("alice").thread("new")
    await thread.add("user", "The alarm code is 9321.")
    await thread.process("index")
    both = [one for one in await raw(memory) if "Kiki" in str(one["content"]) or "9321" in str(one["content"])]
    assert len(both) == 2
    assert all(len([name for name in one if name.endswith("_model")]) == 2 for one in both)
    await memory.reembed(target)
    assert (await memory.user("alice").get(made.id)).embedding_model == "other@512"
    await memory.close()


async def test_an_account_that_lets_nobody_change_containers_is_given_the_path_by_its_template(tmp_path, monkeypatch):
    async def refused(*_, **__):
        raise CosmosHttpResponseError(status_code=403, message="cannot be authorized by AAD token in data plane")

    memory = await filled(tmp_path / "m.db")
    store, before = memory.runtime.store, await found(memory)
    with monkeypatch.context() as patch:
        patch.setattr(DatabaseProxy, "replace_container", refused)
        with pytest.raises(ConfigurationError) as error:
            await moving.reembed(store, Other())
        said = str(error.value)
        assert f'"path": "/{field_of("other@512")}", "dimensions": 512' in said
        assert "infra/more-vectors.json" in said
    await add_vector_path(store, field_of("other@512"), 512)  # as the template does
    with monkeypatch.context() as patch:
        patch.setattr(DatabaseProxy, "replace_container", refused)
        assert (await moving.reembed(store, Other())).done
    await memory.close()
    async with AsyncMemory.local(tmp_path / "m.db", embedding_model=Other()) as again:
        assert await found(again) == pytest.approx(before, abs=1e-5)


async def test_a_model_that_refuses_every_text_is_not_moved_to(tmp_path):
    memory, target = await filled(tmp_path / "m.db"), Other()
    before = await found(memory)
    target.refuses = ""
    with pytest.raises(ModelError, match="refused"):
        await memory.reembed(target)
    assert await found(memory) == before
    target.refuses = None
    assert (await memory.reembed(target)).failed == 0
    await memory.close()


async def test_a_text_that_the_new_model_refuses_stops_nothing(tmp_path):
    memory, target = await filled(tmp_path / "m.db"), Other()
    target.refuses = "peanuts"
    result = await memory.reembed(target)
    assert result.done
    assert result.failed >= 1
    assert FACTS[2] in [hit.memory.content for hit in await memory.user("alice").search("peanuts")]
    await memory.close()


async def test_a_text_that_changes_while_it_is_embedded_gets_the_vector_of_its_new_words(tmp_path):
    class Rival(Other):
        async def embed(self, texts: list[str]) -> Embedded:
            for row in list(summaries):
                if str(row["content"]) in texts:
                    summaries.remove(row)
                    row["content"] = f"Other words than before about {row['id']}"
                    await memory.runtime.store.container(SUMMARIES).upsert_item(row)
            return await super().embed(texts)

    memory = await filled(tmp_path / "m.db")
    summaries = await moving._rows(memory.runtime.store, SUMMARIES, "SELECT * FROM c WHERE IS_DEFINED(c.content)")
    await memory.reembed(Rival())
    field = (await read_identity(memory.runtime.store) or {})["field"]
    moved = await moving._rows(memory.runtime.store, SUMMARIES, "SELECT * FROM c WHERE IS_DEFINED(c.content)")
    assert len(moved) == 2
    for row in moved:
        assert row["content"].startswith("Other words")
        [vector] = (await Other().embed([row["content"]])).vectors
        assert row[field] == pytest.approx(vector, abs=1e-6)
    await memory.close()


async def test_a_busy_model_ends_the_run_and_the_next_run_continues(tmp_path):
    memory, target = await filled(tmp_path / "m.db"), Other()
    before = await found(memory)
    target.fails = True
    with pytest.raises(ModelError, match="busy"):
        await memory.reembed(target)
    assert await found(memory) == pytest.approx(before, abs=1e-5)
    with pytest.raises(ConfigurationError, match="is moving to other@512"):
        await moving.move(memory.runtime.store, _third())
    target.fails = False
    assert (await memory.plan_reembed(target)).under_way
    assert (await memory.reembed(target)).done
    await memory.close()


def _third() -> HashingEmbeddings:
    made = Other()
    made.model_id = "third@512"
    return made


async def test_a_forgotten_memory_leaves_no_vector_of_either_model(tmp_path):
    memory, target = await filled(tmp_path / "m.db"), Other()
    current = memory.runtime.tools.embeddings
    for _ in range(4):
        await moving.move(memory.runtime.store, target, current)
    await memory.user("alice").forget(query="Allergic to peanuts")
    await memory.reembed(target)
    assert not [one for one in await raw(memory) if "peanuts" in str(one["content"])]
    await memory.close()


async def test_rate_paces_the_move(monkeypatch):
    memory, slept = await filled(), []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    monkeypatch.setattr(moving.asyncio, "sleep", sleep)
    await memory.reembed(Other(), rate=2.0)
    assert math.isclose(max(slept), 1.5, abs_tol=0.5)
    monkeypatch.undo()
    await memory.close()


async def test_the_workflow_moves_a_store_and_another_process_takes_the_model_over(tmp_path):
    """What the function app does: `AGENT_MEMORY_REEMBED` names the model, an orchestration calls piece after piece."""
    memory = await filled(tmp_path / "m.db")
    before, current = await found(memory), memory.runtime.tools.embeddings
    with pytest.raises(ConfigurationError, match="AGENT_MEMORY_REEMBED"):
        await run_workflow("reembed", {}, memory.runtime.activities)
    current.next = Other()
    (result,) = await run_workflow("reembed", {}, memory.runtime.activities)
    assert result["done"]
    assert await found(memory) == pytest.approx(before, abs=1e-5)

    # Another process on the same store, which saw nothing of it, looks again.
    from agent_memory.language.current import CurrentEmbeddings

    elsewhere = CurrentEmbeddings(HashingEmbeddings(), Other())
    store: Store = memory.runtime.store
    await catch_up(store, elsewhere)
    assert elsewhere.model_id == "other@512"
    await memory.close()


@pytest.mark.parametrize("seed", range(3))
def test_no_vector_moves_to_the_wrong_field(seed):
    """Documents and queries keep their meaning through the store's own names of fields."""
    from agent_memory.store import queries, search_queries
    from agent_memory.store.vectors import VectorFields, at_field, field_of

    chance, fields = random.Random(seed), VectorFields()
    fields.settle({"embedding_model": "b", "field": field_of("b"), "move": {"fields": {"a": "embedding"}}})
    document = {"id": "1", "embedding_model": chance.choice("ab"), "embedding": [chance.random()], "content": "c"}
    stored = fields.outgoing(document)
    assert (field_of("b") in stored) == (document["embedding_model"] == "b")
    assert fields.incoming(stored) == document
    for sql in (queries.RECORDED_SINCE, queries.NEAREST_ARCHIVE, search_queries.found_near("true", links=True)):
        moved = at_field(sql, "embedding_x")
        assert "c.embedding," not in moved
        assert "c.embedding_model " not in moved
        assert moved.count("VectorDistance(c.embedding_x,") == sql.count("VectorDistance(c.embedding,")


async def test_a_move_prolongs_nothing_that_expires(tmp_path, monkeypatch):
    memory = await filled(tmp_path / "m.db")
    kept = await memory.user("alice").remember("Parks on level three today", ttl=1000)
    later = SimpleNamespace(time=lambda: time.time() + 100, monotonic=time.monotonic)
    monkeypatch.setattr(moving, "time", later)
    await memory.reembed(Other())
    [row] = [one for one in await raw(memory) if one["id"] == kept.id]
    assert isinstance(row["ttl"], int)
    assert 1 <= row["ttl"] <= 900
    await memory.close()
