"""How memories look when a program prints them."""

from agent_memory import AsyncMemory


async def test_a_memory_is_shown_on_one_short_line(memory: AsyncMemory):
    ann = memory.user("ann")
    long = await ann.remember("Allergic to peanuts.\n" + "Very much so. " * 100, tags=["food"])
    for shown in (repr(long), str(long), repr([long])):
        assert len(shown) < 200
        assert "\n" not in shown
        assert long.id in shown
        assert "Allergic to peanuts. Very" in shown
    new = await ann.update(long.id, content="Allergic to cashews")
    old, _ = await ann.history(new.id)
    assert "replaced" in repr(old)


async def test_why_prints_what_a_memory_rests_on():
    async with AsyncMemory.local() as memory:
        ann = memory.user("ann")
        await ann.thread("t").add(
            "user", "My budget for the Hawaii trip is $10,000.", created_at="2026-03-08T10:00:00Z"
        )
        await memory.drain(timeout=60)
        (fact,) = await ann.memories(types=["fact"])
        corrected = await ann.update(fact.id, content="The budget for Hawaii is $12,000")
        account, of_new = await ann.why(fact.id), await ann.why(corrected.id)
        plan = await ann.forget(query="Hawaii budget", dry_run=True)
    printed = str(account)
    assert "said: 8 March 2026, user: My budget for the Hawaii trip is $10,000." in printed
    assert "derived by: offline-extractive" in printed
    assert "replaced by: The budget for Hawaii is $12,000" in printed
    assert "replaced: " in str(of_new)
    assert len(printed) < 800
    assert len(repr(account)) < 300

    first, *lines = str(plan).splitlines()
    assert first.startswith(f"{plan.total} documents would be deleted: ")
    assert any("Hawaii" in line for line in lines)
    assert len(lines) == len(plan.items)
