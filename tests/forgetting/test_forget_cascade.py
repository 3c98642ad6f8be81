"""What goes with what is forgotten, what stays, and that the rest of the store stays exact."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from scripted_model import ScriptedChat
from store_scan import scan

from agent_memory import AsyncMemory, scopes
from agent_memory.errors import InvalidInput, ModelError, NotFound
from agent_memory.models import ForgetReceipt, Memory, Turn, now
from agent_memory.steps import over_turns
from agent_memory.steps.dead_letters import list_dead_letters
from agent_memory.store.chunks import chunk_id
from agent_memory.store.containers import MEMORIES, SUMMARIES
from agent_memory.store.cursors import read_cursor
from agent_memory.store.documents import upsert

SPRING = datetime(2026, 3, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)


async def tell(memory: AsyncMemory, thread: str, *lines: str, day: int = 0, project: str | None = None) -> None:
    """Says lines in a thread, and has everything derived from them."""
    chat = memory.user("alice").thread(thread, project_id=project)
    await chat.add_many(
        [
            {"role": "user", "content": line, "id": f"{thread}-{day}-{n}", "created_at": SPRING + day * DAY}
            for n, line in enumerate(lines)
        ]
    )
    await memory.drain(timeout=30)


async def fact(memory: AsyncMemory, content: str) -> Memory:
    """The fact with this content, whether it is believed or not."""
    facts = await memory.user("alice").memories(include_superseded=True)
    return next(one for one in facts if one.content == content)


async def contents(memory: AsyncMemory) -> list[str]:
    return sorted(one.content for one in await memory.user("alice").memories())


@pytest.mark.req("S0-063", "S0-064")
@pytest.mark.parametrize(
    "place",
    [
        {"id": "t1-0-0"},
        {"query": "locker code"},
        {"thread_id": "t1"},
        {"project_id": "p1"},
        {"until": SPRING + DAY},
        {"delete": True},
    ],
    ids=lambda place: next(iter(place)),
)
async def test_a_long_turn_goes_with_all_the_parts_that_it_is_searched_by(
    memory: AsyncMemory, place: dict[str, object]
):
    filler = "Nothing of interest is said here. " * 500
    await tell(memory, "t1", f"My locker code is 4711. {filler} The parrot is called Polly.", project="p1")
    await tell(memory, "t2", "The bicycle is red and fast.", day=2)
    alice = memory.user("alice")
    (hit,) = await alice.search("parrot called Polly", limit=1)
    assert "Polly" in hit.memory.content
    if place.pop("delete", False):
        await alice.thread("t1").delete()
    else:
        await alice.forget(**place)  # type: ignore[arg-type]
    assert await scan(memory, "polly", "4711", "nothing of interest", "t1-0-0") == []
    assert [hit.memory.source_turn_ids for hit in await alice.search("bicycle", types=["episodic"])] == [["t2-2-0"]]


@pytest.mark.req("S0-007", "S0-062", "C21")
async def test_a_fact_goes_with_its_turn_its_chunk_the_summary_and_the_profile(memory: AsyncMemory):
    alice, chat = memory.user("alice"), memory.user("alice").thread("t1")
    await tell(memory, "t1", "fact: locker code=4711", "fact: city=Lisbon, by the river")
    secret = await fact(memory, "locker code=4711")
    receipt = await alice.forget(secret.id)
    assert receipt.deleted == {"fact": [secret.id], "turn": ["t1-0-0"]}
    assert len(receipt.rebuilt) == 2
    assert await scan(memory, "4711", secret.id, "t1-0-0") == []
    assert await contents(memory) == ["city=Lisbon, by the river"]
    summary, profile = await chat.summary(), await alice.profile()
    assert summary is not None
    assert (summary.key_points, summary.turn_count) == (["fact: city=Lisbon, by the river"], 1)
    assert profile is not None
    assert profile.personal == ["city=Lisbon, by the river"]
    assert (await chat.stats()).unprocessed_turns == (await alice.stats()).unprocessed_turns == 0
    assert await memory.drain(timeout=300) == 0


async def test_counts_stay_exact_when_talk_goes_on(memory: AsyncMemory):
    await tell(memory, "t1", "fact: locker code=4711", "fact: city=Lisbon, by the river")
    await memory.user("alice").forget(query="locker code")
    chat = memory.user("alice").thread("t1")
    await chat.add("user", "fact: food=no peanuts at all")
    assert (await chat.stats()).unprocessed_turns == 1
    assert await memory.drain(timeout=300) == 0
    stats = await chat.stats()
    assert (stats.turns, stats.unprocessed_turns, stats.memories) == (2, 0, 2)
    assert (await memory.health()).unprocessed_turns == 0
    summary = await chat.summary()
    assert summary is not None
    assert summary.turn_count == 2


@pytest.mark.req("S0-064")
async def test_other_wordings_of_the_same_go_also_in_other_threads_and_before_they_are_processed(memory: AsyncMemory):
    await tell(memory, "t1", "fact: locker code=4711")
    await tell(memory, "t2", "By the way, 4-7-1-1 opens my locker.", "fact: bike=red and fast")
    await memory.user("alice").thread("t3").add("tool", '{"lookup": "4711"}', id="t3-pending")
    receipt = await memory.user("alice").forget((await fact(memory, "locker code=4711")).id)
    assert receipt.deleted["turn"] == ["t1-0-0", "t2-0-0", "t3-pending"]
    assert await memory.drain(timeout=300) == 0
    assert await scan(memory, "4711", "4-7-1-1", "t2-0-0", "t3-pending") == []
    assert await contents(memory) == ["bike=red and fast"]


async def test_other_memories_from_the_turn_stay_without_their_quote(memory: AsyncMemory):
    await tell(memory, "t1", "fact: locker code=4711\nfact: city=Lisbon, by the river")
    receipt = await memory.user("alice").forget((await fact(memory, "locker code=4711")).id)
    (kept,) = receipt.kept
    city = await fact(memory, "city=Lisbon, by the river")
    assert (kept.id, kept.content) == (city.id, None)
    assert (city.quote, city.source_turn_ids) == (None, [])
    assert await scan(memory, "4711", "t1-0-0") == []


async def test_the_words_of_a_time_go_with_the_quote(memory: AsyncMemory):
    await tell(memory, "t1", "fact: locker code=4711\nfact: city=Lisbon, by the river")
    city = await fact(memory, "city=Lisbon, by the river")
    place, store = ("alice", "t1"), memory.runtime.store
    row = await store.read(MEMORIES, city.id, place)
    assert row is not None
    await store.batch(MEMORIES, place, [upsert(row | {"time_phrase": "the day I got locker 4711"})])
    await memory.user("alice").forget((await fact(memory, "locker code=4711")).id)
    assert (await fact(memory, "city=Lisbon, by the river")).time_phrase is None
    assert await scan(memory, "4711") == []


async def test_all_versions_of_a_claim_go_whichever_is_named(memory: AsyncMemory):
    await tell(memory, "t1", "fact: salary=eighty thousand euros a year")
    await tell(memory, "t2", "fact: salary=ninety thousand dollars per annum", day=1)
    old = await fact(memory, "salary=eighty thousand euros a year")
    assert old.superseded_by is not None
    receipt = await memory.user("alice").forget(old.id)
    assert len(receipt.deleted["fact"]) == 2
    assert await scan(memory, "salary") == []


async def test_what_was_merged_of_it_goes_too(memory: AsyncMemory):
    await tell(memory, "t1", "fact: pet=a Parrot called Polly")
    await tell(memory, "t2", "fact: pet=a parrot, called polly!", day=1)
    (merged,) = await memory.user("alice").memories()
    assert merged.thread_id == "__user__"
    await memory.user("alice").forget((await fact(memory, "pet=a Parrot called Polly")).id)
    assert await scan(memory, "parrot") == []


@pytest.mark.req("S0-063", "S4-43", "C22")
async def test_a_thread_goes_as_if_it_had_never_been(memory: AsyncMemory):
    alice = memory.user("alice")
    await tell(memory, "t1", "fact: city=Lisbon, by the river", "fact: pet=a Parrot called Polly")
    await tell(memory, "t2", "fact: city=Oslo, by the fjord", "fact: pet=a parrot, called polly!", day=1)
    assert len(await contents(memory)) == 2
    receipt = await alice.forget(thread_id="t2")
    assert len(receipt.deleted["turn"]) == 2
    assert await scan(memory, "oslo", "polly!", "t2-1-0") == []
    assert await contents(memory) == ["city=Lisbon, by the river", "pet=a Parrot called Polly"]  # both believed again
    assert [info.thread_id for info in await alice.threads()] == ["t1"]
    assert (await fact(memory, "city=Lisbon, by the river")).valid_to is None
    assert (await alice.stats()).unprocessed_turns == 0


@pytest.mark.req("S3-45", "C22")
async def test_a_deleted_thread_leaves_what_was_learned_from_it(memory: AsyncMemory):
    await tell(memory, "t1", "fact: city=Lisbon, by the river")
    chat = memory.user("alice").thread("t1")
    receipt = await chat.delete()
    assert receipt.deleted == {"turn": ["t1-0-0"]}
    assert await chat.turns() == []
    assert await chat.summary() is None
    assert await chat.state() is None
    assert await contents(memory) == ["city=Lisbon, by the river"]
    assert await memory.user("alice").profile() is not None
    (found,) = await memory.user("alice").search("Lisbon")  # the memory; the chunk is gone
    assert found.memory.type == "fact"
    await chat.delete(include_memories=True)
    assert await contents(memory) == []
    assert await scan(memory, "lisbon") == []


@pytest.mark.req("S0-063")
async def test_a_project_and_a_time_range_go(memory: AsyncMemory):
    alice = memory.user("alice")
    await tell(memory, "t1", "fact: gold=project one says so", project="p1")
    await tell(memory, "t1", "fact: silver=project two says so", project="p2", day=1)
    await tell(memory, "t1", "fact: copper=nobody says so", day=2)
    await alice.forget(project_id="p1")
    assert await contents(memory) == ["copper=nobody says so", "silver=project two says so"]
    await alice.forget(since=SPRING + 2 * DAY, until=SPRING + 3 * DAY)
    assert await contents(memory) == ["silver=project two says so"]
    assert await scan(memory, "gold=", "copper=") == []


async def test_a_topic_goes_in_one_project_and_stays_in_the_others(memory: AsyncMemory):
    alice = memory.user("alice")
    await tell(memory, "t1", "fact: hall=the locker in the hall is number 4711", project="p1")
    await tell(memory, "t2", "fact: loft=upstairs a locker of oak, 5822", project="p2")
    await tell(memory, "t3", "fact: pool=swimmers get locker 6933")
    await alice.forget(query="locker", project_id="p1")
    assert await contents(memory) == ["loft=upstairs a locker of oak, 5822", "pool=swimmers get locker 6933"]
    assert await scan(memory, "4711") == []


async def test_a_dry_run_shows_what_would_go_and_deletes_nothing(memory: AsyncMemory):
    await tell(memory, "t1", "fact: locker code=4711\nfact: city=Lisbon, by the river")
    before = await scan(memory, "4711")
    dry = await memory.user("alice").forget(query="locker code", dry_run=True)
    assert dry.dry_run
    assert {(item.type, item.why) for item in dry.items} == {("fact", "about it"), ("turn", "about it")}
    assert all(item.content and "4711" in item.content for item in dry.items)
    assert [item.content for item in dry.kept] == ["city=Lisbon, by the river"]
    assert await scan(memory, "4711") == before
    done = await memory.user("alice").forget(query="locker code")
    assert (done.deleted, done.total) == (dry.deleted, 2)
    assert "4711" not in done.model_dump_json()


async def test_a_dry_run_shows_all_turns_of_a_place_that_is_forgotten_in_pieces(
    memory: AsyncMemory, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(scopes.forgetting, "PIECE", 2)
    await tell(memory, "t1", "fact: locker code=4711", "It rains.", "I take the bus.", "The sun is back.", "Bye.")
    chat = memory.user("alice").thread("t1")
    dry = await chat.forget(dry_run=True)
    assert len(dry.deleted["turn"]) == 5
    done = await chat.forget()
    assert {kind: set(ids) for kind, ids in done.deleted.items()} == {
        kind: set(ids) for kind, ids in dry.deleted.items()
    }


async def test_a_wrong_memory_goes_and_the_talk_stays(memory: AsyncMemory):
    alice = memory.user("alice")
    await tell(memory, "t1", "fact: sister lives in Oslo")
    wrong = await fact(memory, "sister lives in Oslo")
    receipt = await alice.forget(wrong.id, include_sources=False)
    assert receipt.deleted == {"fact": [wrong.id]}
    assert len(await alice.thread("t1").turns()) == 1
    assert await contents(memory) == []
    profile = await alice.profile()
    assert profile is None or "Oslo" not in profile.content


async def test_what_is_said_again_comes_back(memory: AsyncMemory):
    alice = memory.user("alice")
    await tell(memory, "t1", "fact: locker code=4711")
    await alice.forget(query="locker code")
    await tell(memory, "t1", "fact: locker code=4711", day=400)
    assert await contents(memory) == ["locker code=4711"]


async def test_a_write_that_is_repeated_does_not_bring_a_turn_back(memory: AsyncMemory):
    alice = memory.user("alice")
    await tell(memory, "t1", "fact: locker code=4711")
    await alice.forget(query="locker code")
    again = await alice.thread("t1").add("user", "fact: locker code=4711", id="t1-0-0")
    assert (again.created, again.forgotten) == (0, ["t1-0-0"])
    old = await alice.thread("t2").add("user", "fact: locker code=4711", created_at=SPRING)
    assert old.created == 0
    assert await scan(memory, "4711") == []
    new = await alice.thread("t2").add("user", "fact: locker code=4711")
    assert (new.created, new.forgotten) == (1, [])


async def test_what_a_clock_ahead_of_ours_wrote_stays_forgotten(memory: AsyncMemory):
    alice, ahead = memory.user("alice"), now() + timedelta(minutes=10)
    await alice.thread("t1").add("user", "fact: locker code=4711", created_at=ahead)
    await alice.thread("t1").process("extract")
    [fact] = await alice.memories()
    await alice.forget(fact.id)
    await alice.thread("t2").add("user", "fact: locker code=4711", created_at=ahead)
    await alice.thread("t2").process("extract")
    assert await alice.memories() == []


async def test_a_draft_that_was_thought_before_cannot_bring_it_back(memory: AsyncMemory):
    alice, run = memory.user("alice"), memory.runtime.activities
    await alice.thread("t1").add("user", "fact: locker code=4711", id="the-turn-x1")
    thread = {"user_id": "alice", "thread_id": "t1"}
    drafts = [await run["extract.think"](thread), await run["summarize.think"](thread)]
    await alice.forget("the-turn-x1")
    for draft in drafts:
        assert draft is not None
        assert (await run["commit"](draft))["raced"]  # type: ignore[index]
    assert await scan(memory, "4711", "the-turn-x1") == []


async def test_a_profile_and_a_merge_that_were_thought_before_cannot_bring_it_back(memory: AsyncMemory):
    alice, run = memory.user("alice"), memory.runtime.activities
    await alice.thread("t1").add_many([{"role": "user", "content": "fact: pet=a Parrot called Polly"}])
    await alice.thread("t2").add_many([{"role": "user", "content": "fact: pet=a parrot, called polly!"}])
    for thread in ("t1", "t2"):
        await alice.thread(thread).process("extract")
    drafts = [await run["profile.think"]({"user_id": "alice"}), await run["reconcile.think"]({"user_id": "alice"})]
    await alice.forget(query="pet")
    for draft in drafts:
        assert draft is not None
        assert (await run["commit"](draft))["raced"]  # type: ignore[index]
    assert await scan(memory, "parrot") == []


async def test_what_a_rival_committed_in_between_goes_too(memory: AsyncMemory, monkeypatch: pytest.MonkeyPatch):
    """The rival commits after the plan was made and before the turns are gone."""
    from agent_memory.scopes import forgetting

    alice = memory.user("alice")
    await alice.thread("t1").add("user", "fact: locker code=4711", id="the-turn-x1")
    real = forgetting.carry_out

    async def late(*given: object) -> list[str]:
        await alice.thread("t1").process("extract")
        return await real(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(forgetting, "carry_out", late)
    await alice.forget("the-turn-x1")
    assert await scan(memory, "4711", "the-turn-x1") == []


async def test_a_crash_in_the_middle_is_finished_by_the_next_forget(
    memory: AsyncMemory, monkeypatch: pytest.MonkeyPatch
):
    alice, store = memory.user("alice"), memory.runtime.store
    await tell(memory, "t1", "fact: locker code=4711", "fact: city=Lisbon, by the river")
    secret = await fact(memory, "locker code=4711")
    calls = 0
    for left in range(1, 40):
        calls = 0

        def crash(real: object, left: int = left) -> object:
            async def write(*given: object, **named: object) -> object:
                nonlocal calls
                calls += 1
                if calls > left:
                    raise ConnectionError("killed")
                return await real(*given, **named)  # type: ignore[operator]

            return write

        with monkeypatch.context() as patched:
            for name in ("batch", "replace", "delete"):
                patched.setattr(store, name, crash(getattr(store, name)))
            try:
                await alice.forget(secret.id)
                break
            except ConnectionError:
                continue
            except NotFound:
                break
    assert left > 5
    await alice.forget(query="a topic that nobody ever named")
    assert await scan(memory, "4711", secret.id, "forgetting_") == []
    assert await memory.drain(timeout=300) == 0
    summary = await alice.thread("t1").summary()
    assert summary is not None
    assert summary.key_points == ["fact: city=Lisbon, by the river"]
    assert (await alice.stats()).unprocessed_turns == 0


async def test_a_summary_that_cannot_be_made_waits_and_the_secret_is_gone(memory: AsyncMemory, chat: ScriptedChat):
    alice = memory.user("alice")
    await tell(memory, "t1", "fact: locker code=4711", "fact: city=Lisbon, by the river")
    chat.fault = lambda task, _: ModelError("not now", retryable=False) if task == "profile" else None
    receipt = await alice.forget(query="locker code")
    assert len(receipt.pending) == 1
    assert await scan(memory, "4711") == []
    chat.fault = None
    assert await memory.drain(timeout=300) == 0
    profile = await alice.profile()
    assert profile is not None
    assert profile.personal == ["city=Lisbon, by the river"]


async def test_dead_letters_of_what_was_forgotten_go(
    memory: AsyncMemory, chat: ScriptedChat, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(over_turns, "ONE_BY_ONE", 2)
    alice = memory.user("alice")

    def refuse(task: str, _: int) -> ModelError | None:
        return (
            ModelError("unusable: 4711?" if "4711" in str(chat.seen[-1]) else "unusable") if task == "extract" else None
        )

    chat.fault = refuse
    told = ["fact: pet=a cat", "fact: car=none", "fact: locker code=4711", "fact: city=Lisbon, by the river"]
    await tell(memory, "t1", *told)  # two turns are refused one after another, then the others together
    chat.fault = None
    assert len(await memory.dead_letters()) == 3
    assert await scan(memory, "4711?"), "a service quotes the words that it refuses"
    await alice.forget("t1-0-2")
    letters = await list_dead_letters(memory.runtime.store, "alice")
    assert [letter.turn_ids for letter in letters] == [["t1-0-0"], ["t1-0-1"], ["t1-0-3"]]
    assert await scan(memory, "4711", "t1-0-2") == []
    for letter in letters:
        await memory.replay(letter.id)
    assert await contents(memory) == ["car=none", "city=Lisbon, by the river", "pet=a cat"]
    chat.fault = lambda task, _: ModelError("unusable") if task == "extract" else None
    await tell(memory, "t2", "fact: pet=a Parrot called Polly")
    await alice.forget(thread_id="t2")
    assert await memory.dead_letters() == []


@pytest.mark.req("S3-38")
async def test_what_is_remembered_by_hand_can_be_forgotten(memory: AsyncMemory):
    alice = memory.user("alice")
    kept = await alice.remember("Allergic to peanuts")
    newer = await alice.update(kept.id, content="Allergic to peanuts and cashews")
    await alice.forget(newer.id)
    assert await alice.memories(include_superseded=True) == []
    assert await scan(memory, "peanuts") == []
    await alice.remember("Allergic to peanuts")
    assert await contents(memory) == ["Allergic to peanuts"]


async def test_requests_that_make_no_sense_are_refused(memory: AsyncMemory):
    alice = memory.user("alice")
    await tell(memory, "t1", "fact: locker code=4711")
    refused: list[dict[str, object]] = [
        {},
        {"id": "a", "query": "b"},
        {"query": " "},
        {"query": "tea " * 25_001},
        {"thread_id": "a/b"},
        {"since": "yesterday"},
        {"since": SPRING, "until": SPRING - DAY},
        {"thread_id": "t1", "include_sources": False},
    ]
    for arguments in refused:
        with pytest.raises(InvalidInput):
            await alice.forget(**arguments)  # type: ignore[arg-type]
    with pytest.raises(NotFound):
        await alice.forget("nothing")
    with pytest.raises(NotFound):
        await memory.user("bob").forget("t1-0-0")
    assert (await memory.user("bob").forget(query="locker code")).total == 0
    assert isinstance(await alice.forget(thread_id="none"), ForgetReceipt)
    assert await contents(memory) == ["locker code=4711"]
    assert await memory.runtime.store.query(MEMORIES, 'SELECT * FROM c WHERE c.type = "forgetting"') == []


async def test_a_request_with_an_id_may_be_repeated_and_counts_for_its_scope_only(memory: AsyncMemory):
    alice, bob = memory.user("alice"), memory.user("bob")
    [turn_id, _] = (await alice.thread("t1").add_many([said(1), said(2)])).ids
    await bob.thread("t1").add("user", "Hello")
    first = await alice.forget(turn_id)
    assert first.deleted == {"turn": [turn_id]}
    again = await alice.forget(turn_id)
    assert (again.deleted, again.dry_run, again.at >= first.at) == (first.deleted, False, True)
    assert len(await alice.thread("t1").turns()) == 1
    for nothing in (bob.forget(turn_id), alice.forget(turn_id, thread_id="t2"), alice.forget(turn_id, dry_run=True)):
        with pytest.raises(NotFound):
            await nothing


def said(number: int) -> dict[str, object]:
    """A turn with an id."""
    return {"id": f"turn-{number}", "role": "user", "content": ["", "I bought a lamp", "Rome is far"][number]}


async def test_a_cleared_view_stays_cleared_and_names_no_forgotten_turn(memory: AsyncMemory):
    chat = memory.user("alice").thread("t1")
    await tell(memory, "t1", "fact: old=from before the clearing", "fact: locker code=4711")
    await chat.clear()
    await tell(memory, "t1", "fact: city=Lisbon, by the river", "fact: bike=red and fast", day=1)
    await chat.retire("t1-1-0")
    await memory.user("alice").forget(query="locker code")
    await memory.user("alice").forget("t1-1-0")
    assert await memory.drain(timeout=300) == 0
    assert await scan(memory, "4711", "lisbon", "t1-0-1", "t1-1-0") == []
    assert [turn.id for turn in (await chat.view()).turns] == ["t1-1-1"]
    summary = await chat.summary()
    assert summary is not None
    assert summary.key_points == ["fact: bike=red and fast"]


async def test_what_a_model_said_of_a_pass_in_vain_goes_too(chat: ScriptedChat, memory: AsyncMemory):
    alice = memory.user("alice")
    await tell(memory, "t1", "fact: locker code=4711")
    await alice.thread("t1").add("user", "fact: city=Lisbon, by the river")
    await alice.thread("t1").process("extract")
    chat.fault = lambda task, call: ModelError("it says 4711 and no JSON") if task == "reconcile" else None
    with pytest.raises(ModelError):
        await alice.process("reconcile")
    assert len(await memory.dead_letters()) == 1
    chat.fault = None
    await alice.forget((await fact(memory, "locker code=4711")).id)
    assert await memory.dead_letters() == []
    assert await scan(memory, "4711") == []


async def test_forgetting_goes_on_while_indexed_talk_has_still_to_be_compared(memory: AsyncMemory):
    alice = memory.user("alice")
    await tell(memory, "t1", "fact: locker code=4711", "fact: city=Lisbon, by the river")
    store, partition = memory.runtime.store, ("alice", "t1")
    cursor = await store.read(MEMORIES, "cursor_index", partition)
    assert cursor is not None
    killed = {"intents": {"new_chunks": [chunk_id("alice", "t1", "t1-0-0"), chunk_id("alice", "t1", "t1-0-1")]}}
    await store.upsert(MEMORIES, cursor | {"extra": killed})
    await alice.forget((await fact(memory, "locker code=4711")).id)
    assert await scan(memory, "4711", "t1-0-0") == []
    await alice.thread("t1").add("user", "fact: pet=a dog called Rex")
    await alice.thread("t1").process("index")
    left = await store.read(MEMORIES, "cursor_index", partition)
    assert left is not None
    assert "intents" not in left["extra"]


async def test_a_correction_made_meanwhile_is_forgotten_too(memory: AsyncMemory, monkeypatch: pytest.MonkeyPatch):
    from agent_memory.scopes import forgetting

    alice = memory.user("alice")
    await tell(memory, "t1", "fact: locker code=4711")
    wrong = await fact(memory, "locker code=4711")
    real = forgetting.carry_out

    async def late(*given: object) -> list[str]:
        await alice.update(wrong.id, content="The code of the locker is 4711")
        return await real(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(forgetting, "carry_out", late)
    await alice.forget(wrong.id, include_sources=False)
    assert await alice.memories(include_superseded=True) == []


async def test_a_memory_of_another_conversation_stays_though_it_replaced_a_forgotten_one(memory: AsyncMemory):
    await tell(memory, "t1", "fact: pet=a parrot called Polly")
    await tell(memory, "t2", "fact: pet=a parrot, called Polly!", day=1)
    later = await fact(memory, "pet=a parrot, called Polly!")
    assert later.supersedes_ids == [(await fact(memory, "pet=a parrot called Polly")).id]
    await memory.user("alice").forget(thread_id="t1")
    assert await contents(memory) == ["pet=a parrot, called Polly!"]


async def test_a_turn_of_another_thread_with_the_same_id_keeps_its_memories(memory: AsyncMemory):
    for thread, line in (("t1", "fact: city=Lisbon, since May"), ("t2", "fact: dog=Rex, a collie")):
        await memory.user("alice").thread(thread).add_many([{"role": "user", "content": line, "id": "m1"}])
    await memory.drain(timeout=30)
    assert await contents(memory) == ["city=Lisbon, since May", "dog=Rex, a collie"]
    await memory.user("alice").forget(thread_id="t1")
    (rex,) = await memory.user("alice").memories()
    assert (rex.content, rex.source_turn_ids) == ("dog=Rex, a collie", ["m1"])


@pytest.mark.parametrize("reason", ["contradict", "update"])
async def test_what_a_forgotten_memory_had_replaced_holds_again(memory: AsyncMemory, reason: str):
    await tell(memory, "t1", "fact: city=Lisbon, by the river")
    await tell(memory, "t2", "fact: city=Oslo, by the fjord", day=1)
    lisbon = await fact(memory, "city=Lisbon, by the river")
    assert lisbon.valid_to is not None
    place, why = ("alice", lisbon.thread_id), {"supersede_reason": reason}
    await memory.runtime.store.patch(MEMORIES, lisbon.id, place, why, "FROM c WHERE true")
    await memory.user("alice").forget(thread_id="t2")
    (held,) = await memory.user("alice").memories()
    assert (held.id, held.valid_to) == (lisbon.id, None)


async def test_what_was_made_of_several_goes_as_such_and_not_as_a_version_of_one(memory: AsyncMemory):
    alice, store = memory.user("alice"), memory.runtime.store
    part, whole = await alice.remember("Tom is a cat"), await alice.remember("Several pets live in this house")
    for one, changes in (
        (part, {"superseded_by": whole.id, "supersede_reason": "duplicate"}),
        (whole, {"source_ids": [part.id]}),
    ):
        await store.patch(MEMORIES, one.id, ("alice", one.thread_id), changes, "FROM c WHERE true")
    receipt = await alice.forget(part.id, dry_run=True)
    assert {item.id: item.why for item in receipt.items}[whole.id] == "made from it"


async def test_the_same_in_other_words_stays_where_nothing_is_to_be_forgotten(memory: AsyncMemory):
    await tell(memory, "t1", "The parrot is called Polly.")
    await tell(memory, "t2", "The parrot is called Polly!", day=1)
    receipt = await memory.user("alice").forget(query="parrot", thread_id="t1")
    assert receipt.deleted["turn"] == ["t1-0-0"]


async def test_a_summary_that_was_reset_is_made_by_a_run_of_its_own(memory: AsyncMemory):
    """Workflows are named by their runs: one that has ended never starts again."""

    async def runs() -> int:
        return (await read_cursor(memory.runtime.store, SUMMARIES, ("alice", "t1"), "summarize")).cursor.runs

    await tell(memory, "t1", "The parrot is called Polly.", "The cat is called Tom.")
    before = await runs()
    await memory.user("alice").forget("t1-0-0")
    assert await runs() == before + 2, "it was reset, and made again"


@pytest.mark.parametrize("words", [5, 6_000])
async def test_a_topic_may_have_any_number_of_words(memory: AsyncMemory, words: int):
    pasted = " ".join(f"stone{number}" for number in range(words))
    await tell(memory, "t1", f"Our list: {pasted}.", "The parrot is called Polly.")
    receipt = await memory.user("alice").forget(query=pasted)
    assert receipt.deleted["turn"] == ["t1-0-0"]


async def test_many_figures_are_looked_for_in_parts(memory: AsyncMemory, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("agent_memory.forgetting.corpus.WORDS_AT_ONCE", 3)
    await tell(memory, "t1", "The invoice has the number 481516 and the account 991723.")
    await tell(
        memory, "t2", "We paid 481,516 today.", "Nobody answered at 991,723.", "The parrot is called Polly.", day=1
    )
    receipt = await memory.user("alice").forget(query="invoice")
    assert sorted(receipt.deleted["turn"]) == ["t1-0-0", "t2-1-0", "t2-1-1"]


async def test_the_work_for_a_topic_grows_with_what_repeats_it(memory: AsyncMemory, monkeypatch: pytest.MonkeyPatch):
    from agent_memory.forgetting.corpus import Corpus

    for name, value in {"selection.SEARCHED": 5, "selection.EMBEDDED": 2, "corpus.WORDS_AT_ONCE": 50}.items():
        monkeypatch.setattr(f"agent_memory.forgetting.{name}", value)
    monkeypatch.setattr("agent_memory.forgetting.deletion.NAMED_AT_ONCE", 3)
    looked_for: list[str] = []
    nearest, says = Corpus.nearest, Corpus._content_says

    async def counted(self: Corpus, vector: list[float]) -> list[tuple[Memory, float]]:
        looked_for.append("meaning")
        return await nearest(self, vector)

    async def said(self: Corpus, words: Sequence[str], *, every: bool) -> list[Turn]:
        looked_for.append("words")
        return await says(self, words, every=every)

    monkeypatch.setattr(Corpus, "nearest", counted)
    monkeypatch.setattr(Corpus, "_content_says", said)
    things = "lamp book train river bottle ladder saddle violin carpet window kettle hammer".split()
    lines = [f"I found a {thing} in my locker today, it has the number {481516 + n}." for n, thing in enumerate(things)]
    await tell(memory, "t1", *lines, "My locker is in the cellar behind the stairs.")
    await tell(memory, "t2", "It is in the cellar behind the stairs.", "The parrot is called Polly.", day=1)
    await tell(memory, "t3", *(f"Somebody wrote {481516 + number} on the wall." for number in range(3)), day=1)
    receipt = await memory.user("alice").forget(query="locker")
    assert sorted(receipt.deleted["turn"]) == sorted(
        [*(f"t1-0-{number}" for number in range(13)), "t2-1-0", *(f"t3-1-{number}" for number in range(3))]
    )
    assert looked_for.count("meaning") <= 5  # the topic, and the claims that other turns repeat; not all thirteen
    assert looked_for.count("words") <= 2  # not once for each few figures
    gone = [chunk_id("alice", "t1", f"t1-0-{number}") for number in range(13)]
    assert await scan(memory, "locker", "cellar", "481516", *gone) == []
