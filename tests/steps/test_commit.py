"""What follows a commit: intents are carried out where they still hold, and cleared by the run that wrote them."""

from collections.abc import Collection, Sequence

import pytest

from agent_memory import AsyncMemory
from agent_memory.forgetting import deletion
from agent_memory.steps import step as module
from agent_memory.steps.step import Draft, Effects, Intents, Supersession, commit, finish
from agent_memory.store.client import Store
from agent_memory.store.containers import MEMORIES
from agent_memory.store.documents import Document
from agent_memory.store.ids import USER_THREAD

PLACE = (MEMORIES, ("alice", USER_THREAD), "reconcile")


async def contradiction(memory: AsyncMemory) -> Draft:
    """The draft of a reconciliation in which Oslo wins over Lisbon."""
    thread = memory.user("alice").thread("t1")
    await thread.add_many([{"role": "user", "content": f"fact: city={city}"} for city in ("Lisbon", "Oslo, since May")])
    await thread.process("extract")
    draft = await memory.runtime.activities["reconcile.think"]({"user_id": "alice"})
    assert draft is not None
    return Draft.model_validate(draft)


async def fact(memory: AsyncMemory, content: str) -> Document:
    (found,) = await memory.runtime.store.query(MEMORIES, "SELECT * FROM c WHERE c.content = @content", content=content)
    return dict(found)


@pytest.mark.parametrize("why", [{"status": "candidate"}, {"status": "quarantined"}, {"superseded_by": "another"}])
async def test_a_winner_that_is_not_active_by_then_replaces_nothing(memory: AsyncMemory, why: dict[str, str]):
    draft = await contradiction(memory)
    store = memory.runtime.store
    await store.upsert(MEMORIES, await fact(memory, "city=Oslo, since May") | why)
    done = await commit(store, draft)
    assert (done.raced, done.result.superseded) == (False, 0)
    assert (await fact(memory, "city=Lisbon")).get("superseded_by") is None


async def test_a_loser_that_another_replaced_by_then_stays_with_it(memory: AsyncMemory):
    draft = await contradiction(memory)
    store = memory.runtime.store
    await store.upsert(MEMORIES, await fact(memory, "city=Lisbon") | {"superseded_by": "another"})
    assert (await commit(store, draft)).result.superseded == 0
    assert (await fact(memory, "city=Lisbon"))["superseded_by"] == "another"


async def test_a_winner_that_is_gone_by_then_replaces_nothing(memory: AsyncMemory):
    draft = await contradiction(memory)
    oslo = await fact(memory, "city=Oslo, since May")
    await memory.runtime.store.delete(MEMORIES, oslo["id"], ("alice", "t1"))
    assert (await commit(memory.runtime.store, draft)).result.superseded == 0
    assert (await fact(memory, "city=Lisbon")).get("superseded_by") is None


async def test_a_run_that_is_slow_leaves_the_intents_of_the_run_after_it(
    memory: AsyncMemory, monkeypatch: pytest.MonkeyPatch
):
    draft = await contradiction(memory)
    store, theirs = memory.runtime.store, draft.supersede[0].model_copy(update={"loser_id": "of the later run"})
    supersede = module.supersede

    async def overtaken(*args: object, **named: object) -> bool:
        """Carries out the intent of this run; meanwhile a later one has committed its own, and was killed then."""
        (cursor,) = await store.query(MEMORIES, 'SELECT * FROM c WHERE c.id = "cursor_reconcile"')
        extra = {"intents": Intents(supersede=[theirs]).to_document()}
        await store.upsert(MEMORIES, cursor | {"runs": cursor["runs"] + 1, "extra": extra})
        return await supersede(*args, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "supersede", overtaken)
    assert (await commit(store, draft)).result.superseded == 1
    (cursor,) = await store.query(MEMORIES, 'SELECT * FROM c WHERE c.id = "cursor_reconcile"')
    assert Intents.model_validate(cursor["extra"]["intents"]).supersede == [theirs]


async def test_intents_and_drafts_that_were_stored_before_are_read(memory: AsyncMemory):
    """Cursors hold intents, and the histories of orchestrations drafts, as earlier versions wrote them: every list."""
    draft = await contradiction(memory)
    earlier = {name: [] for name in ("retire", "release", "reaffirm", "new_chunks", "told")} | {
        "supersede": [one.model_dump(mode="json") for one in draft.supersede]
    }
    store = memory.runtime.store
    await commit(store, draft.model_copy(update={"supersede": []}))
    (cursor,) = await store.query(MEMORIES, 'SELECT * FROM c WHERE c.id = "cursor_reconcile"')
    await store.upsert(MEMORIES, cursor | {"extra": cursor["extra"] | {"intents": earlier}})
    assert await finish(store, *PLACE) == 1
    assert (await fact(memory, "city=Lisbon"))["superseded_by"] == (await fact(memory, "city=Oslo, since May"))["id"]
    assert Draft.model_validate(draft.model_dump(mode="json") | earlier) == draft


async def test_intents_and_drafts_of_a_later_version_are_read(memory: AsyncMemory):
    """Two versions run beside each other while one is deployed, and a later one is taken back."""
    later = {"field_of_later": [1]}
    draft = await contradiction(memory)
    store = memory.runtime.store
    intents = {"supersede": [one.model_dump(mode="json") | later for one in draft.supersede]} | later
    request = {"user_id": "alice"} | later
    assert await memory.runtime.activities["reconcile.think"](request) is not None
    given = draft.model_copy(update={"supersede": []}).model_dump(mode="json")
    given |= {"result": given["result"] | later} | later
    assert (await memory.runtime.activities["commit"](given))["raced"] is False
    (cursor,) = await store.query(MEMORIES, 'SELECT * FROM c WHERE c.id = "cursor_reconcile"')
    await store.upsert(MEMORIES, cursor | {"extra": cursor["extra"] | {"intents": intents}})
    assert await finish(store, *PLACE) == 1


def test_only_what_is_to_be_done_elsewhere_is_kept_with_the_cursor():
    effects = Effects.model_validate({"result": {"step": "toy"}, "create": [{"id": "x"}]})
    assert effects.to_document() == {}
    one = Supersession(loser_id="a", loser_thread_id="t", winner_id="b", reason="update")
    assert list(effects.model_copy(update={"supersede": [one]}).to_document()) == ["supersede"]


async def test_the_next_run_over_turns_first_does_what_a_killed_one_left(memory: AsyncMemory):
    draft = await contradiction(memory)
    store = memory.runtime.store
    (cursor,) = await store.query(MEMORIES, 'SELECT * FROM c WHERE c.id = "cursor_extract"')
    await store.upsert(MEMORIES, cursor | {"extra": {"intents": draft.to_document()}})
    thread = memory.user("alice").thread("t1")
    await thread.add("user", "fact: pet=a cat")
    await thread.process("extract")
    assert (await fact(memory, "city=Lisbon"))["superseded_by"] == (await fact(memory, "city=Oslo, since May"))["id"]


async def test_what_is_forgotten_is_no_longer_named_by_what_a_killed_run_left(memory: AsyncMemory):
    draft = await contradiction(memory)
    store = memory.runtime.store
    await commit(store, draft.model_copy(update={"supersede": []}))
    (cursor,) = await store.query(MEMORIES, 'SELECT * FROM c WHERE c.id = "cursor_reconcile"')
    await store.upsert(MEMORIES, cursor | {"extra": {"intents": draft.to_document()}})
    lisbon = (await fact(memory, "city=Lisbon"))["id"]
    await memory.user("alice").forget(lisbon)
    left = await store.query(MEMORIES, "SELECT * FROM c WHERE c.type = 'cursor'")
    assert left
    assert lisbon not in str(left)


async def test_what_was_thought_while_facts_are_forgotten_is_not_committed(
    memory: AsyncMemory, monkeypatch: pytest.MonkeyPatch
):
    """A draft made after the cursors were touched, and before the facts were deleted, still has the facts' words."""
    await contradiction(memory)
    drafts: list[Draft] = []
    delete_items = deletion.delete_items

    async def late(store: Store, container: str, partition: Sequence[str], ids: Collection[str]) -> int:
        if container == MEMORIES and not drafts:
            drafts.append(
                Draft.model_validate(await memory.runtime.activities["reconcile.think"]({"user_id": "alice"}))
            )
        return await delete_items(store, container, partition, ids)

    monkeypatch.setattr(deletion, "delete_items", late)
    await memory.user("alice").forget(id=str((await fact(memory, "city=Lisbon"))["id"]))
    assert (await commit(memory.runtime.store, drafts[0])).raced
