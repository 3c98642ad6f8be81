"""A document whose bytes in the store file are damaged: named in an error, and in nobody else's way."""

import sqlite3
from pathlib import Path

import pytest

from agent_memory import AsyncMemory
from agent_memory.errors import StoreUnavailable
from agent_memory.language.hashing import HashingEmbeddings


async def test_a_damaged_memory_is_named_and_all_others_stay_readable(tmp_path: Path):
    path = tmp_path / "m.db"
    async with AsyncMemory.local(path, embedding_model=HashingEmbeddings()) as memory:
        user = memory.user("alice")
        hurt, sound = await user.remember("Allergic to peanuts"), await user.remember("Lives in Lisbon")
        for turn_id in ("hurt", "sound"):
            await user.thread("t").add("user", "I work in Porto", id=turn_id)
    with sqlite3.connect(path) as connection:
        for item_id in (hurt.id, "hurt"):
            connection.execute("UPDATE items SET body = substr(body, 1, 40) WHERE id = ?", (item_id,))
    connection.close()
    async with AsyncMemory.local(path, embedding_model=HashingEmbeddings()) as memory:
        user = memory.user("alice")
        with pytest.raises(StoreUnavailable, match=f"'{hurt.id}' is damaged in the store file"):
            await user.get(hurt.id)
        assert (await user.get(sound.id)).content == "Lives in Lisbon"
        assert [turn.id for turn in await user.thread("t").turns()] == ["sound"]
        assert await memory.drain(timeout=300) == 0
        assert (await user.search("Where does she live?"))[0].memory.content == "Lives in Lisbon"
        await user.thread("t").add("user", "I moved to Faro")
        assert await memory.drain(timeout=300) == 0
