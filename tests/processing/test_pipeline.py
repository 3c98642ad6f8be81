"""From turns to memories, on the embedded engine through the real SDK."""

from datetime import UTC, datetime, timedelta

import pytest
from memories import opened
from scripted_model import ScriptedChat

from agent_memory import AsyncMemory, Cadence
from agent_memory.errors import ModelError
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.language.tasks import Embedded, ExtractedMemory, ExtractOutput
from agent_memory.models import content_hash, iso
from agent_memory.remembering.replacing import supersede
from agent_memory.settings import Limits
from agent_memory.store.containers import MEMORIES

MARCH = datetime(2026, 3, 1, 9, tzinfo=UTC)


def talk(*lines: str, start: datetime = MARCH) -> list[dict[str, object]]:
    return [
        {"role": "user", "content": line, "created_at": start + timedelta(minutes=n)} for n, line in enumerate(lines)
    ]


@pytest.mark.req("S1-12", "S1-13", "S1-21", "S1-25", "S0-001")
async def test_facts_carry_what_they_rest_on(memory: AsyncMemory):
    thread = memory.user("alice").thread("t1")
    receipt = await thread.add_many(talk("Hello there, how are you?", "fact: city=Lisbon"))
    result = await thread.process("extract")
    assert (result.turns, result.created) == (2, 1)
    (fact,) = await memory.user("alice").memories()
    assert fact.content == "city=Lisbon"
    assert fact.quote == "fact: city=Lisbon"
    assert fact.source_turn_ids == [receipt.ids[1]]
    assert (fact.type, fact.role, fact.source, fact.status) == ("fact", "system", "user", "active")
    assert fact.created_at == fact.valid_from == MARCH + timedelta(minutes=1)
    assert fact.recorded_at > fact.created_at
    assert fact.content_hash == content_hash("city=Lisbon")
    assert (fact.model, fact.prompt_version, fact.embedding_model) == ("scripted", "script-1", "hashing-384")


async def test_a_plan_is_known_from_when_it_was_said(memory: AsyncMemory, chat: ScriptedChat):
    said, june = "Our wedding is on the 5th of June", MARCH + timedelta(days=90)
    found = ExtractedMemory(type="fact", content=said, quote=said, turns=["t1"], valid_from=june)
    chat.outputs["extract"] = lambda _: ExtractOutput(memories=[found])
    thread = memory.user("alice").thread("t1")
    await thread.add_many(talk(said))
    await thread.process("extract")
    (fact,) = await memory.user("alice").memories(as_of=MARCH + timedelta(days=1))
    assert (fact.valid_from, fact.metadata["date"]) == (fact.created_at, iso(june))


async def test_a_step_covers_each_turn_once(memory: AsyncMemory, chat: ScriptedChat):
    thread = memory.user("alice").thread("t1")
    await thread.add_many(talk("fact: city=Lisbon", "fact: pet=a dog called Rex"))
    assert (await thread.process("extract")).turns == 2
    again = await thread.process("extract")
    assert (again.turns, again.created, chat.calls["extract"]) == (0, 0, 1)
    await thread.add("user", "fact: food=no peanuts at all")
    assert (await thread.process("extract")).turns == 1
    assert len(await memory.user("alice").memories()) == 3


async def test_backfilled_turns_are_processed(memory: AsyncMemory):
    thread = memory.user("alice").thread("t1")
    await thread.add_many(talk("fact: home city=Lisbon", start=MARCH))
    await thread.process("extract")
    await thread.add_many(talk("fact: city=Oslo, long ago", start=MARCH - timedelta(days=900)))
    assert (await thread.process("extract")).turns == 1
    assert (await thread.turns())[0].content == "fact: city=Oslo, long ago"


@pytest.mark.req("S1-36", "S1-37")
async def test_what_is_said_again_word_for_word_is_skipped(memory: AsyncMemory):
    alice = memory.user("alice")
    await alice.thread("t1").add_many(talk("fact: my city=Lisbon, Portugal", "fact: My CITY=lisbon,  portugal "))
    first = await alice.thread("t1").process("extract")
    assert (first.created, first.exact_dedup_skipped) == (1, 1)
    await alice.thread("t2").add_many(talk("fact: my city=Lisbon, Portugal"))
    second = await alice.thread("t2").process("extract")
    assert (second.created, second.exact_dedup_skipped) == (0, 1)
    assert len(await alice.memories()) == 1


@pytest.mark.req("S1-36")
def test_content_hash_vectors():
    assert content_hash("User likes tea") == "c32aa60cbe3faa7871fee6ce9384dd24"
    assert content_hash("  USER \n likes\ttea ") == content_hash("User likes tea")
    assert content_hash("User likes teas") != content_hash("User likes tea")


@pytest.mark.req("S1-29", "S1-31", "S1-33", "S1-34", "S1-35")
async def test_a_contradiction_is_settled_and_the_past_can_be_read(memory: AsyncMemory):
    alice = memory.user("alice")
    may = MARCH + timedelta(days=70)
    await alice.thread("t1").add_many(talk("fact: budget=$10,000 for Hawaii"))
    await alice.thread("t1").process("extract")
    await alice.thread("t2").add_many(talk("fact: budget=$15,000 for Hawaii", start=may))
    await alice.thread("t2").process("extract")
    result = await alice.process("reconcile")
    assert result.counts == {"kept": 1, "merged": 0, "contradicted": 1}
    assert result.superseded == 1

    (now,) = await alice.memories()
    assert now.content == "budget=$15,000 for Hawaii"
    both = {memory.content: memory for memory in await alice.memories(include_superseded=True)}
    old = both["budget=$10,000 for Hawaii"]
    assert (old.superseded_by, old.supersede_reason) == (now.id, "contradict")
    assert old.superseded_at is not None
    assert old.valid_to == now.valid_from == may
    (then,) = await alice.memories(as_of=may - timedelta(days=1))
    assert then.id == old.id
    assert [hit.memory.id for hit in await alice.search("budget for Hawaii", types=["fact"])] == [now.id]
    past = await alice.search("budget for Hawaii", types=["fact"], as_of=may - timedelta(days=1))
    assert [hit.memory.id for hit in past] == [old.id]
    assert [version.id for version in await alice.history(now.id)] == [old.id, now.id]
    assert [version.id for version in await alice.history(old.id)] == [old.id, now.id]


async def test_raw_talk_does_not_show_the_old_value_beside_the_new_one(memory: AsyncMemory):
    alice = memory.user("alice")
    for number, amount in enumerate(["$10,000", "$15,000"]):
        thread = alice.thread(f"t{number}")
        await thread.add_many(talk(f"fact: Hawaii budget={amount}", start=MARCH + timedelta(days=number)))
        await thread.process("extract")
    before = await alice.context("What is the Hawaii budget?")
    assert "$10,000" in before.text
    await alice.process("reconcile")
    after = await alice.context("What is the Hawaii budget?")
    assert "$15,000" in after.text
    assert "$10,000" not in after.text
    past = await alice.context("What is the Hawaii budget?", as_of=MARCH + timedelta(hours=1))
    assert "$10,000" in past.text
    assert "$15,000" not in past.text


@pytest.mark.req("S1-30", "S1-32", "S1-33")
async def test_duplicates_of_different_threads_become_one(memory: AsyncMemory, chat: ScriptedChat):
    alice = memory.user("alice")
    for number, line in enumerate(["fact: seat=aisle please", "fact: seat=aislePlease", "fact: food=vegan only"]):
        await alice.thread(f"t{number}").add_many(talk(line, start=MARCH + timedelta(days=number)))
        await alice.thread(f"t{number}").process("extract")
    result = await alice.process("reconcile")
    assert chat.calls["reconcile"] == 1
    assert result.counts == {"kept": 1, "merged": 2, "contradicted": 0}
    merged, other = sorted(await alice.memories(), key=lambda memory: memory.content, reverse=True)
    assert (merged.content, other.content) == ("seat=AISLEPLEASE", "food=vegan only")
    originals = [m for m in await alice.memories(include_superseded=True) if m.superseded_by]
    assert {m.superseded_by for m in originals} == {merged.id}
    assert {m.supersede_reason for m in originals} == {"duplicate"}
    assert sorted(m.id for m in originals) == merged.supersedes_ids
    assert merged.valid_from == MARCH
    assert [m.content for m in await alice.memories(as_of=MARCH)] == ["seat=AISLEPLEASE"]
    assert len(await alice.history(merged.id)) == 3


@pytest.mark.req("S1-39")
async def test_the_pool_of_a_reconciliation_is_capped(memory: AsyncMemory, chat: ScriptedChat):
    alice = memory.user("alice")
    await alice.thread("t1").add_many(talk(*(f"fact: key{n}=value number {n}" for n in range(8))))
    await alice.thread("t1").process("extract")
    result = await alice.process("reconcile", n=3)
    assert [fact.content for fact in chat.seen[-1].facts] == [f"key{n}=value number {n}" for n in (7, 6, 5)]
    assert result.counts == {"kept": 3, "merged": 0, "contradicted": 0}


@pytest.mark.parametrize("threads", [("t1", "t1", "t1"), ("t1", "t2", "t3")])
async def test_the_last_word_wins_also_when_it_repeats_the_first(memory: AsyncMemory, threads: tuple[str, ...]):
    alice = memory.user("alice")
    for day, (thread, city) in enumerate(zip(threads, ["Rome", "Oslo", "Rome"], strict=True)):
        line = f"fact: my home town={city}"
        await alice.thread(thread).add_many(talk(line, start=MARCH + timedelta(days=day)))
    assert await memory.drain(timeout=300) == 0
    (now,) = await alice.memories()
    assert now.content.upper() == "MY HOME TOWN=ROME"  # two threads may find it at once; then it is merged
    assert now.last_said_at == MARCH + timedelta(days=2)


async def test_a_superseded_fact_said_again_is_active_again(memory: AsyncMemory):
    alice = memory.user("alice")
    for number, city in enumerate(["Lisbon", "Porto", "Lisbon"]):
        thread = alice.thread(f"t{number}")
        await thread.add_many(talk(f"fact: home city={city}", start=MARCH + timedelta(days=number)))
        await thread.process("extract")
        await alice.process("reconcile")
    assert [memory.content for memory in await alice.memories()] == ["home city=Lisbon"]
    assert len(await alice.memories(include_superseded=True)) == 3


@pytest.mark.req("S1-09", "S1-10", "S1-11")
async def test_a_summary_is_merged_and_never_rebuilt(memory: AsyncMemory, chat: ScriptedChat):
    thread = memory.user("alice").thread("t1")
    await thread.add_many(talk("We talk about the trip.", "It is in June."))
    await thread.process("summarize")
    first = await thread.summary()
    assert first is not None
    assert first.id == "summary_alice_t1"
    assert first.turn_count == 2
    await thread.add("user", "Actually, it is in July.")
    await thread.process("summarize")
    assert [turn.content for turn in chat.seen[-1].turns] == ["Actually, it is in July."]
    assert chat.seen[-1].earlier.key_points == ["We talk about the trip.", "It is in June."]
    second = await thread.summary()
    assert second is not None
    assert second.key_points == ["We talk about the trip.", "It is in June.", "Actually, it is in July."]
    assert (second.turn_count, second.created_at) == (3, first.created_at)
    state = await thread.state()
    assert state is not None
    assert state.state == {"last": "Actually, it is in July."}


@pytest.mark.req("S1-14", "S1-15", "S1-16")
async def test_a_profile_takes_in_only_what_changed_and_lets_go_of_what_is_gone(
    memory: AsyncMemory, chat: ScriptedChat
):
    alice = memory.user("alice")
    await alice.thread("t1").add_many(talk("fact: city=Lisbon", "fact: pet=a dog called Rex"))
    await alice.thread("t1").process("extract")
    await alice.process("profile")
    first = await alice.profile()
    assert first is not None
    assert first.id == "user_summary_alice"
    assert set(first.personal) == {"city=Lisbon", "pet=a dog called Rex"}
    await alice.thread("t2").add_many(talk("fact: city=Porto now, no more Lisbon", start=MARCH + timedelta(days=1)))
    await alice.thread("t2").process("extract")
    await alice.process("reconcile")
    await alice.process("profile")
    seen = chat.seen[-1]
    assert [fact.content for fact in seen.facts] == ["city=Porto now, no more Lisbon"]
    assert [fact.content for fact in seen.gone] == ["city=Lisbon"]
    second = await alice.profile()
    assert second is not None
    assert set(second.personal) == {"city=Porto now, no more Lisbon", "pet=a dog called Rex"}
    facts = {memory.content: memory.id for memory in await alice.memories()}
    assert set(second.source_ids) == set(facts.values())
    calls = chat.calls["profile"]
    await alice.process("profile")
    assert chat.calls["profile"] == calls  # nothing changed, nothing asked


async def test_a_profile_keeps_what_one_of_two_equal_facts_still_says(memory: AsyncMemory, chat: ScriptedChat):
    alice, store = memory.user("alice"), memory.runtime.store
    await alice.thread("t1").add_many(talk("fact: seat=at the aisle"))
    await alice.thread("t1").process("extract")
    (fact,) = await store.query(MEMORIES, 'SELECT * FROM c WHERE c.type = "fact"', ("alice",))
    twin = {name: value for name, value in fact.items() if name[0] != "_"} | {"id": "fact_twin", "thread_id": "t2"}
    await store.create(MEMORIES, twin)  # as two threads leave it that found it at once
    await alice.process("profile")
    (kept,) = [one for one in await alice.memories() if one.id != twin["id"]]
    await supersede(store, "alice", twin["thread_id"], twin["id"], kept, "duplicate", None)
    await alice.process("profile")
    profile = await alice.profile()
    assert profile is not None
    assert profile.personal == ["seat=at the aisle"]
    assert chat.seen[-1].gone == []
    assert "fact_twin" not in profile.source_ids


@pytest.mark.req("S1-27", "S0-046")
async def test_a_backlog_is_worked_off_in_pieces(chat: ScriptedChat):
    async with opened(
        chat, limits=Limits(batch_turns=7), cadence=Cadence(extract=0, summarize=0, idle_seconds=0)
    ) as memory:
        thread = memory.user("alice").thread("t1")
        await thread.add_many(talk(*(f"fact: k{n}=the value {n}" for n in range(50))))
        result = await thread.process("extract")
        assert (result.turns, result.created) == (50, 50)
        sizes = [len(data.turns) for data in chat.seen if hasattr(data, "before")]
        assert max(sizes) <= 7
        before = [[turn.content for turn in data.before] for data in chat.seen if hasattr(data, "before")]
        assert before[0] == []
        assert before[1] == [f"fact: k{n}=the value {n}" for n in (2, 3, 4, 5, 6)]


@pytest.mark.req("S3-08")
async def test_too_little_talk_is_not_sent_and_the_result_says_so(memory: AsyncMemory, chat: ScriptedChat):
    thread = memory.user("alice").thread("t1")
    await thread.add("user", "  ok, thanks          ")
    result = await thread.process("extract")
    assert (result.turns, result.rejected) == (1, ["fewer than 20 characters of conversation: no model was called"])
    assert chat.calls["extract"] == 0


@pytest.mark.req("S3-08")
@pytest.mark.parametrize(
    ("said", "asked"), [("I am a vegan.", 0), ("I have asthma.", 1), ("我对花生过敏。", 1), ("好的", 0)]
)
async def test_a_sentence_is_sent_from_20_characters_on_with_who_says_it(
    memory: AsyncMemory, chat: ScriptedChat, said: str, asked: int
):
    thread = memory.user("alice").thread("t1")
    await thread.add("user", said)
    await thread.process("extract")
    assert chat.calls["extract"] == asked


async def test_an_unavailable_model_advances_nothing(chat: ScriptedChat):
    chat.fault = lambda task, call: ModelError("throttled", retryable=True) if call <= 2 else None
    async with AsyncMemory.local(chat_model=chat, embedding_model=HashingEmbeddings()) as memory:
        thread = memory.user("alice").thread("t1")
        await thread.add_many(talk("fact: city=Lisbon", "and some more talk"))
        assert (await thread.process("extract")).created == 1
        assert chat.calls["extract"] == 3


async def test_an_unusable_answer_makes_a_dead_letter_that_can_be_replayed(chat: ScriptedChat):
    cost = {"model_calls": 3, "input_tokens": 900, "output_tokens": 30}
    # The two turns together, then the first alone. The second goes on.
    chat.fault = lambda task, call: ModelError("no JSON in it", cost=cost) if task == "extract" and call <= 2 else None
    async with opened(chat, cadence=Cadence(idle_seconds=0)) as memory:
        thread = memory.user("alice").thread("t1")
        ids = (await thread.add_many(talk("fact: city=Lisbon", "and then some more talk"))).ids
        result = await thread.process("extract")
        assert (result.dead_letters, result.created, result.rejected) == (1, 0, ["no JSON in it"])
        await thread.add("user", "fact: later turns=go on as ever")
        assert (await thread.process("extract")).created == 1
        (letter,) = await memory.dead_letters()
        assert (letter.step, letter.turn_ids, letter.error) == ("extract", ids[:1], "no JSON in it")
        assert (letter.usage.model_calls, letter.usage.input_tokens) == (3, 900)
        assert (result.usage.model_calls, result.usage.input_tokens) == (7, 1810)
        assert (await memory.health()).dead_letters == 1
        assert (await memory.replay(letter.id)).created == 1
        assert await memory.dead_letters() == []
        assert len(await memory.user("alice").memories()) == 2


async def test_turns_that_cannot_be_embedded_make_a_dead_letter_too(chat: ScriptedChat):
    class Refusing(HashingEmbeddings):
        async def embed(self, texts: list[str]) -> Embedded:
            if any("poison" in text for text in texts):
                raise ModelError("this text is refused")
            return await super().embed(texts)

    async with AsyncMemory.local(
        chat_model=chat, embedding_model=Refusing(), cadence=Cadence(idle_seconds=0)
    ) as memory:
        alice = memory.user("alice")
        await alice.thread("t1").add("user", "fact: this is=poison to the model")
        await alice.thread("t2").add("user", "fact: I live in=Lisbon, since May")
        assert await memory.drain(timeout=300) == 0
        assert sorted({letter.step for letter in await memory.dead_letters()}) == ["extract", "index", "summarize"]
        assert [m.content for m in await alice.memories()] == ["I live in=Lisbon, since May"]


@pytest.mark.parametrize("step", ["profile", "reconcile"])
async def test_what_a_pass_over_memories_cost_in_vain_stays_in_sight_until_it_succeeds(chat: ScriptedChat, step: str):
    cost = {"model_calls": 3, "input_tokens": 900, "output_tokens": 30}
    async with opened(chat) as memory:
        alice = memory.user("alice")
        await alice.thread("t").add_many([{"role": "user", "content": f"fact: {n} is=value {n}"} for n in range(3)])
        await alice.thread("t").process("extract")
        chat.fault = lambda task, call: ModelError("no JSON in it", cost=cost) if task == step else None
        for _ in range(2):
            with pytest.raises(ModelError):
                await alice.process(step)
        [letter] = await memory.dead_letters()
        assert (letter.step, letter.turn_ids, letter.error) == (step, [], "no JSON in it")
        assert (letter.usage.model_calls, letter.usage.input_tokens) == (6, 1800)
        with pytest.raises(ModelError):
            await memory.replay(letter.id)
        chat.fault = None
        await memory.replay(letter.id)
        assert await memory.dead_letters() == []
        assert (await alice.profile() is not None) == (step == "profile")


async def test_a_pass_that_is_throttled_leaves_no_dead_letter(chat: ScriptedChat, memory: AsyncMemory):
    await memory.user("alice").thread("t").add("user", "fact: home town=Lisbon by the river")
    await memory.user("alice").thread("t").process("extract")
    chat.fault = lambda task, call: ModelError("busy", retryable=True) if task == "profile" else None
    with pytest.raises(ModelError):
        await memory.user("alice").process("profile")
    assert await memory.dead_letters() == []


async def test_every_result_says_what_it_cost(memory: AsyncMemory):
    thread = memory.user("alice").thread("t1")
    receipt = await thread.add_many(talk("fact: city=Lisbon", "and some more talk"))
    assert receipt.usage.request_units > 0
    usage = (await thread.process("extract")).usage
    assert (usage.model_calls, usage.input_tokens, usage.output_tokens) == (1, 10, 5)
    assert usage.embedded_texts == 3  # two turns for the index, one fact
    assert usage.request_units > receipt.usage.request_units
