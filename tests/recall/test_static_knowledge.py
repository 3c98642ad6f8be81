"""Static knowledge: told to every user, changed by none."""

import pytest

from agent_memory import AsyncMemory, Memory
from agent_memory.errors import InvalidInput, NotFound, StaticMemoryError
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.store import static

FACTS = [
    {"id": "remote", "content": "Remote work: 3 days/week with approval."},
    {"id": "abroad", "content": "International work: max 2 weeks/year, 30-day advance approval."},
]


@pytest.mark.req("S4-11", "S4-47", "S4-50")
async def test_every_user_recalls_what_was_seeded(memory: AsyncMemory):
    receipt = await memory.static.seed(FACTS)
    assert (receipt.ids, receipt.created) == (["remote", "abroad"], 2)
    for user in ("sarah", "maya"):
        for form, frame in (("sections", "Known Facts:\n- "), ("xml", "<static_memory>\n      - ")):
            text = (await memory.user(user).context("May I work from home?", format=form)).text
            assert f"{frame}International work" in text
            assert "Remote work: 3 days/week" in text
    assert await memory.users() == []
    assert await memory.user("sarah").memories() == []
    assert await memory.user("sarah").search("Remote work") == []
    assert (await memory.user("sarah").context("hello")).text == ""


@pytest.mark.req("S4-47")
async def test_seeding_again_changes_only_what_says_something_else(memory: AsyncMemory):
    await memory.static.seed(FACTS)
    before = await memory.static.list()
    assert (await memory.static.seed(FACTS)).created == 0
    assert await memory.static.list() == before
    assert (await memory.static.seed([{"id": "remote", "content": "Remote work: 4 days/week."}])).created == 1
    assert [fact.content for fact in await memory.static.list()] == [FACTS[1]["content"], "Remote work: 4 days/week."]
    assert "4 days" in (await memory.user("sarah").context("remote work")).text
    labelled = FACTS[1] | {"metadata": {"office": "Lisbon"}}
    assert [(await memory.static.seed([labelled])).created for _ in range(2)] == [1, 0]
    assert (await memory.static.list())[0].metadata == {"office": "Lisbon"}


@pytest.mark.req("S4-48", "S4-49")
async def test_no_scope_changes_it(memory: AsyncMemory):
    await memory.static.seed(FACTS)
    with pytest.raises(StaticMemoryError, match=r"^Static memory does not support update operation$"):
        await memory.user("sarah").update("remote", content="Remote work: every day")
    with pytest.raises(StaticMemoryError, match=r"^Static memory does not support delete operation$"):
        await memory.user("sarah").forget("remote")
    with pytest.raises(NotFound):
        await memory.user("sarah").get("remote")
    with pytest.raises(InvalidInput):
        memory.user("__static__")


@pytest.mark.req("S4-50")
async def test_what_the_question_is_about_is_shown_if_there_is_no_room_for_all(memory: AsyncMemory):
    await memory.static.seed(
        [{"id": f"rule-{n:03}", "content": f"Rule {n} is about topic{n} and nothing else at all"} for n in range(200)]
    )
    context = await memory.user("sarah").context("What is the rule about topic137?", budget=300)
    assert "topic137" in context.text
    assert context.tokens <= 300
    told = [line for line in context.text.splitlines() if line.startswith("- Rule")]
    assert 1 < len(told) < 30
    assert told == sorted(told, key=lambda line: int(line.split()[2]))
    assert len(context.left_out) == 200 - len(told)


async def test_another_process_shows_a_new_seed_within_a_minute(memory: AsyncMemory, monkeypatch: pytest.MonkeyPatch):
    await memory.user("sarah").context("remote work")
    await static.write_facts(memory.runtime.store, static.make_facts(FACTS))
    assert (await memory.user("sarah").context("remote work")).text == ""
    monkeypatch.setattr(static, "FRESH_SECONDS", 0.0)
    assert "Remote work" in (await memory.user("sarah").context("remote work")).text


@pytest.mark.parametrize(
    "facts",
    [
        [{"id": "a/b", "content": "x"}],
        [{"content": "x"}],
        [{"id": "a", "content": " "}],
        [{"id": "a", "content": "x" * 10_000}],
        [{"id": "a", "content": "x"}, {"id": "a", "content": "y"}],
        [{"id": "a", "content": "x", "user_id": "bob"}],
        [object()],
    ],
)
async def test_one_invalid_fact_refuses_the_whole_seed(memory: AsyncMemory, facts):
    with pytest.raises(InvalidInput, match=r"static fact|characters"):
        await memory.static.seed([FACTS[0], *facts])
    assert await memory.static.list() == []


def test_the_synchronous_face_has_it():
    with Memory.local(embedding_model=HashingEmbeddings()) as memory:
        assert memory.static.seed(FACTS).created == 2
        assert [fact.id for fact in memory.static.list()] == ["abroad", "remote"]
