"""Switches: global, tier, user, thread, agent profile and request; the most restrictive wins."""

import asyncio
import itertools
import json
from collections.abc import AsyncIterator

import pytest
from policy_world import QUIET, opened
from scripted_model import ScriptedChat

from agent_memory import AsyncMemory, Cadence
from agent_memory.errors import ConfigurationError, Conflict, InvalidInput, MemoryDisabled
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.models import MemoryConfig, ScopeSettings
from agent_memory.rules.switches import Asked, effective, read_rules
from agent_memory.settings import Environment, PolicySettings, RecallSettings, Tier, read_tiers
from agent_memory.store import scope_documents


@pytest.mark.req("S3-32")
@pytest.mark.parametrize("offs", list(itertools.product([False, True], repeat=6)))
def test_memory_is_on_only_where_every_switch_is(offs: tuple[bool, ...]):
    without, no_tier, no_user, no_thread, no_agent, no_request = offs
    scopes = {"user": ScopeSettings(enabled=not no_user), "thread": ScopeSettings(enabled=not no_thread)}
    asked = Asked(MemoryConfig(enabled=not no_request), frozenset() if no_agent else frozenset({"memory"}))
    rules = effective(PolicySettings(enabled=not without), "free" if no_tier else "pro", scopes, asked)
    assert rules.recall is rules.derive is not any(offs)
    assert (rules.off_by is None) is not any(offs)


def test_lists_add_up_to_the_narrowest():
    one = ScopeSettings(deny_categories=["health"], allow_categories=["work", "home"], retention_days={"fact": 30})
    two = ScopeSettings(
        deny_categories=["money"], allow_categories=["work"], retention_days={"fact": 90, "episodic": 7}
    )
    rules = effective(PolicySettings(), "pro", {"user": one, "thread": two})
    assert rules.deny == {"health", "money"}
    assert rules.allow == {"work"}
    assert rules.retention_days == {"fact": 30, "episodic": 7}
    assert effective(PolicySettings(), "pro", {"user": one, "thread": ScopeSettings()}).allow == {"work", "home"}


@pytest.fixture
async def told(chat: ScriptedChat) -> AsyncIterator[AsyncMemory]:
    async with opened(chat) as memory:
        await memory.user("alice").remember("The cat is called Tom")
        await memory.user("bob").remember("The cat is called Tom")
        yield memory


@pytest.mark.req("S3-28", "S3-29")
async def test_nothing_is_stored_or_recalled_for_a_user_who_opts_out(told: AsyncMemory, chat: ScriptedChat):
    alice = told.user("alice")
    assert (await alice.settings()).enabled
    await alice.update_settings(enabled=False)
    thread = alice.thread("t1")
    await thread.add("user", "fact: city=Lisbon, since 2019")
    result = await thread.process("extract")
    assert (result.created, result.skipped_reason) == (0, "memory is switched off by the user's settings")
    assert await alice.search("cat") == await thread.search("cat") == []
    context = await thread.context("How is the cat called?")
    assert (context.text, context.messages) == ("", [])
    assert context.skipped_reason == "memory is switched off by the user's settings"
    with pytest.raises(MemoryDisabled, match="the user's settings"):
        await alice.remember("The dog is called Rex")
    assert chat.calls["extract"] == 0
    assert not (await alice.stats()).memory_enabled
    assert len(await told.user("bob").search("cat")) == 1, "the switch is hers alone"
    assert [memory.content for memory in await alice.memories()] == ["The cat is called Tom"], "she sees what is kept"


@pytest.mark.req("S3-30", "S3-31", "S3-32", "S3-40")
async def test_a_thread_that_is_off_leaves_the_others_on(told: AsyncMemory):
    alice = told.user("alice")
    secret, other = alice.thread("secret"), alice.thread("other")
    assert (await secret.update_settings(enabled=False)).enabled is False
    assert (await other.settings()).enabled
    for thread in (secret, other):
        await thread.add("user", f"fact: word={thread.thread_id} of the day")
        await thread.process("extract")
    assert [m.content for m in await alice.memories() if "word" in m.content] == ["word=other of the day"]
    assert [hit.memory.thread_id for hit in await alice.search("secret word of the day", limit=20)].count("secret") == 0
    assert await secret.search("word") == []
    assert (await secret.context("How is the cat called?")).messages == []
    assert "Tom" in (await other.context("How is the cat called?")).text


async def test_what_was_said_while_off_is_never_derived_from(told: AsyncMemory, chat: ScriptedChat):
    thread = told.user("alice").thread("t1")
    await thread.add("user", "fact: first=before the switch")
    await thread.update_settings(enabled=False)
    await thread.add("user", "fact: second=while it was off")
    await thread.add("user", "fact: second=while it was off", id="again")
    await thread.update_settings(enabled=True)
    await thread.add("user", "fact: second=while it was off", id="again")  # a retry is no conflict
    await thread.add("user", "fact: third=after the switch")
    for step in ("extract", "summarize"):
        await thread.process(step)
    assert {m.content for m in await thread.memories()} == {"first=before the switch", "third=after the switch"}
    assert "second" not in (await thread.summary()).content
    assert not [hit for hit in await thread.search("second while it was off") if "second" in hit.memory.content]
    assert "second" not in "".join(data.model_dump_json() for data in chat.seen)
    assert (await thread.stats()).unprocessed_turns == 0
    assert len(await thread.turns()) == 4, "the conversation itself is kept"


async def test_an_incognito_thread_keeps_nothing(told: AsyncMemory):
    thread = told.user("alice").thread("t1")
    await thread.update_settings(keep_turns=False, enabled=False)
    receipt = await thread.add("user", "fact: secret=nobody shall know")
    assert (receipt.ids, receipt.created) == ([], 0)
    assert receipt.skipped_reason
    assert await thread.turns() == []


@pytest.mark.req("S0-070", "S0-072", "S0-073")
async def test_a_request_says_what_it_wants_of_memory(told: AsyncMemory):
    alice = told.user("alice")
    for number in range(5):
        await alice.remember(f"The cat number {number} is called Tom")
    assert await told.user("alice", config={"enabled": False}).search("cat") == []
    assert len(await told.user("alice", config={"retrieval_limit": 2}).search("cat")) == 2
    assert await told.user("alice", config={"memory_types": ["procedural"]}).search("cat") == []
    near = await told.user("alice", config=MemoryConfig(similarity_threshold=0.99)).search("The cat is called Tom")
    assert [hit.memory.content for hit in near] == ["The cat is called Tom"]
    loose = told.user("alice", config=MemoryConfig(similarity_threshold=0.1))
    assert await loose.search("The cat is called Tom", threshold=0.99) == near, "the stricter one counts"
    with pytest.raises(InvalidInput, match="retrieval_limit"):
        told.user("alice", config={"retrieval_limit": 0})

    quiet = alice.thread("t1", config={"auto_store": False})
    await quiet.add("user", "fact: dog=Rex, a beagle")
    await alice.thread("t1").process("extract")
    assert not [m for m in await alice.memories() if "Rex" in m.content]
    assert (await quiet.context("How is the cat called?")).text, "recall goes on"


@pytest.mark.req("S2-01")
async def test_an_agent_without_the_resource_has_no_memory(told: AsyncMemory):
    alice = told.user("alice")
    assert await alice.thread("t1", resources=["search"]).search("cat") == []
    without = await alice.thread("t1", resources=[]).context("How is the cat called?")
    assert without.skipped_reason == "memory is switched off by the agent's profile"
    assert "Tom" in (await alice.thread("t1", resources=["memory"]).context("How is the cat called?")).text
    assert "Tom" in (await alice.thread("t1").context("How is the cat called?")).text


@pytest.mark.req("S3-07", "S3-14", "S0-065")
async def test_the_global_switch(chat: ScriptedChat):
    async with opened(chat, enabled=False) as memory:
        assert not memory.enabled
        thread = memory.user("alice").thread("t1")
        await thread.add("user", "fact: city=Lisbon, since 2019")
        assert (await thread.process("extract")).created == 0
        assert await thread.search("city") == []
        assert (await thread.context("Which city?")).skipped_reason == "memory is switched off by ENABLE_MEMORY"
        assert chat.calls == {}
    assert not Environment(ENABLE_MEMORY="false").policy.enabled
    assert Environment().policy.enabled


async def test_work_that_is_due_where_memory_is_off_is_not_done(chat: ScriptedChat):
    cadence = Cadence(extract=2, summarize=2, profile=2, reconcile=1, idle_seconds=0)
    async with opened(chat, cadence) as memory:
        off, on = memory.user("alice").thread("off"), memory.user("bob").thread("on")
        await off.update_settings(enabled=False)
        for thread in (off, on):
            await thread.add_many([{"role": "user", "content": f"fact: n{n}=number {n} of it"} for n in range(4)])
        assert await memory.drain(timeout=300) == 0
        assert await off.memories() == []
        assert await off.summary() is None
        assert len(await on.memories()) == 4
        assert {turn.content for data in chat.seen for turn in getattr(data, "turns", [])}


async def test_an_activity_that_was_started_before_the_switch_was_off_does_nothing(
    told: AsyncMemory, chat: ScriptedChat, caplog: pytest.LogCaptureFixture
):
    caplog.set_level("INFO", "agent_memory")
    thread = told.user("alice").thread("t1")
    await thread.add("user", "fact: city=Lisbon, since 2019")
    await thread.update_settings(enabled=False)
    request = {"user_id": "alice", "thread_id": "t1"}
    for activity in ("extract.think", "index", "summarize.think"):
        assert await told.runtime.activities[activity](request) is None
    assert chat.calls == {}
    assert "nothing is derived for alice: memory is switched off by the thread's settings" in caplog.text
    await thread.update_settings(enabled=True)
    assert (await thread.process("extract")).created == 1, "it was said on the record, and waited"


async def test_settings_are_changed_under_their_etag(told: AsyncMemory):
    alice = told.user("alice")
    with pytest.raises(Conflict):
        await alice.update_settings(enabled=False, if_match="there-is-none")
    unset = await alice.settings()
    first = await alice.update_settings(deny_categories=["Health ", "health"], if_match=unset.etag)
    assert first.deny_categories == ["health"]
    with pytest.raises(Conflict):
        await alice.update_settings(enabled=False, if_match=unset.etag)
    second = await alice.update_settings(enabled=False, if_match=first.etag)
    assert (second.enabled, second.deny_categories) == (False, ["health"])
    with pytest.raises(Conflict):
        await alice.update_settings(enabled=True, if_match=first.etag)
    await asyncio.gather(*(alice.update_settings(**change) for change in ({"enabled": True}, {"auto_store": False})))
    for days in (1, 36_500):
        assert (await alice.update_settings(retention_days={"fact": days})).retention_days == {"fact": days}
    both = await alice.settings()
    assert (both.enabled, both.auto_store) == (True, False), "neither of two writers undoes the other"


@pytest.mark.parametrize(
    "change",
    [
        {"enabled": "perhaps"},
        {"deny_categories": "health"},
        {"deny_categories": [""]},
        {"retention_days": {"fact": 0}},
        {"retention_days": {"fact": 36_501}},
        {"retention_days": {"fact": True}},
        {"retention_days": {"dream": 3}},
    ],
)
async def test_settings_that_mean_nothing_are_refused(told: AsyncMemory, change: dict[str, object]):
    with pytest.raises(InvalidInput):
        await told.user("alice").update_settings(**change)  # type: ignore[arg-type]


@pytest.mark.req("S3-14", "S3-15", "S3-18", "S3-19", "S3-20", "S3-21", "S3-24")
@pytest.mark.parametrize(
    ("tier", "most", "results"), [("free", 0, 0), ("basic", 100, 5), ("pro", 500, 10), ("enterprise", None, 20)]
)
async def test_a_tier_bounds_what_is_found(told: AsyncMemory, tier: str, most: int | None, results: int):
    alice = told.user("alice")
    await asyncio.gather(*(alice.remember(f"The cat number {number} is called Tom") for number in range(24)))
    await told.assign_tier("alice", tier)
    assert len(await alice.search("cat", limit=100)) == results
    assert len((await alice.context("How is the cat called?", limit=100, budget=5000)).text.split("- ")) <= results + 1
    stats = await alice.stats()
    assert (stats.tier, stats.max_memories, stats.retrieval_limit) == (tier, most, results)
    assert stats.memory_enabled is (tier != "free")
    with pytest.raises(ConfigurationError, match="no tier 'gold'"):
        await told.assign_tier("alice", "gold")


LITTLE = '{"max_memories": 1, "retrieval_limit": 1}'


async def test_tiers_come_from_the_environment_or_from_the_application(chat: ScriptedChat):
    tiers = {
        "trial": {"max_memories": 1, "retrieval_limit": 1},
        "all": {"max_memories": None, "retrieval_limit": 9},
    }
    environment = Environment(MEMORY_TIERS=json.dumps(tiers), MEMORY_DEFAULT_TIER="trial")
    assert environment.policy.tiers == {"trial": Tier(1, 1), "all": Tier(None, 9)}
    with pytest.raises(ConfigurationError, match="no tier 'enterprise'"):
        _ = Environment(MEMORY_TIERS=f'{{"trial": {LITTLE}}}', MEMORY_DEFAULT_TIER="enterprise").policy
    unnamed = Environment(MEMORY_TIERS=f'{{"trial": {LITTLE}}}').policy
    assert unnamed.tier(unnamed.default_tier) == Tier(None, 100)
    replaced = Environment(MEMORY_TIERS=f'{{"unlimited": {LITTLE}}}').policy
    assert replaced.tier(replaced.default_tier) == Tier(1, 1)
    for broken in ("[]", "{", '{"a": 1}', '{"a": {"max_memories": -1, "retrieval_limit": 1}}'):
        with pytest.raises(ConfigurationError, match="MEMORY_TIERS"):
            read_tiers(broken)

    async def tier_of(user_id: str) -> str | None:
        return {"alice": "pro"}.get(user_id)

    async with opened(chat, default_tier="basic", tier_of=tier_of) as memory:
        assert [(await memory.user(name).stats()).tier for name in ("alice", "bob")] == ["pro", "basic"]


@pytest.mark.parametrize("cache", [0.0, 60.0], ids=["no cache", "cache"])
async def test_nothing_of_a_thread_that_was_switched_off_later_is_recalled_elsewhere(chat: ScriptedChat, cache: float):
    recall = RecallSettings(cache_seconds=cache)
    async with AsyncMemory.local(
        chat_model=chat, embedding_model=HashingEmbeddings(), cadence=QUIET, recall=recall
    ) as memory:
        alice = memory.user("alice")
        diary, other = alice.thread("diary"), alice.thread("other")
        await diary.add("user", "fact: heron=the grey heron nests at the weir")
        await other.add("user", "fact: boat=the boat is at the weir")
        await memory.drain(timeout=30)
        for thread in (diary, other):
            await thread.process("summarize")
        await diary.add("user", "The heron at the weir has chicks now.")  # not indexed yet
        query = "What did we discuss about the grey heron at the weir?"

        async def told() -> str:
            found = [hit.memory.content for hit in await alice.search(query, limit=20)]
            seen = [(await scope.context(query, budget=2000)).text for scope in (other, alice, alice.thread("new"))]
            return "\n".join([*found, *seen])

        before = await told()
        assert before.count("nests") > 3
        assert "From Other Conversations" in before
        assert "chicks" in before
        await diary.update_settings(enabled=False)
        after = await told()
        assert "boat" in after
        assert "heron" not in after.replace(query, "")
        assert any("heron" in one.content for one in await alice.memories()), "she sees what is kept"
        await diary.update_settings(enabled=True)
        assert (await told()).count("nests") > 3


async def test_a_thread_that_is_off_does_not_pass_for_a_setting_of_its_user(told: AsyncMemory, chat: ScriptedChat):
    async with opened(chat) as other:
        await told.user("alice").thread("t1").update_settings(enabled=False)
        await told.user("alice").update_settings(deny_categories=["health"])
        lines: list[str] = []
        await told.user("alice").export(lines.append)
        await other.user("alice").thread("t2").update_settings(enabled=False)
        await other.user("alice").import_lines(lines)
        assert (await other.user("alice").settings()).deny_categories == ["health"]
        assert not (await other.user("alice").thread("t1").settings()).enabled
        rules = await read_rules(other.runtime.store, other.runtime.tools.policy, "alice")
        assert rules.threads_off == {"t1", "t2"}


async def test_a_list_of_switched_off_threads_without_room_refuses_one_more(
    memory: AsyncMemory, monkeypatch: pytest.MonkeyPatch
):
    """Nothing is half done: a thread that is off by its own settings only would still be recalled elsewhere."""
    monkeypatch.setattr(scope_documents, "_MOST_OFF", 30)
    alice = memory.user("alice")
    for name in ("first", "second", "first"):
        await alice.thread(name).update_settings(enabled=False)
    with pytest.raises(InvalidInput, match="too many threads are off"):
        await alice.thread("one more of them").update_settings(enabled=False)
    assert (await alice.thread("one more of them").settings()).enabled
    await alice.thread("second").update_settings(enabled=False)
    await alice.thread("second").update_settings(enabled=True)
    await alice.thread("third").update_settings(enabled=False)
