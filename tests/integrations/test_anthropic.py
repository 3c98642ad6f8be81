"""Anthropic's memory tool: memories and notes as files."""

from __future__ import annotations

from typing import Any

import pytest
from agent_server import agent_server

pytest.importorskip("anthropic.lib.tools", reason="not installed: make integrations ARGS=anthropic")

from anthropic import Anthropic
from anthropic.lib.tools import ToolError

from agent_memory import AsyncMemory, Memory
from agent_memory.errors import ConfigurationError
from agent_memory.integrations.anthropic import MemoryTool, MemoryToolNow
from agent_memory.language.hashing import HashingEmbeddings

NOTE = "/memories/plans/trip.md"


def command(name: str, path: str | None = None, **given: Any) -> dict[str, Any]:
    return {"command": name} | ({"path": path} if path else {}) | given


async def test_a_note_is_created_viewed_edited_renamed_and_deleted(memory: AsyncMemory):
    tool = MemoryTool(memory, "alice")
    text = "Day 1: Kona\nDay 2: Hilo  \n\u200bDay 3: rest"
    await tool.call(command("create", NOTE, file_text=text))
    shown = str(await tool.call(command("view", NOTE)))
    assert [line.split("\t")[1] for line in shown.split("\n")[1:]] == text.split("\n")
    assert "Day 2" not in str(await tool.call(command("view", NOTE, view_range=[3, -1])))
    await tool.call(command("str_replace", NOTE, old_str="Kona", new_str="Waimea"))
    await tool.call(command("insert", NOTE, insert_line=1, insert_text="Lunch\n"))
    assert "     2\tLunch\n     3\tDay 2" in str(await tool.call(command("view", NOTE)))
    await tool.call(command("rename", old_path=NOTE, new_path="/memories/done.md"))
    assert "/memories/done.md" in str(await tool.call(command("view", "/memories")))
    assert NOTE not in str(await tool.call(command("view", "/memories")))
    assert await memory.user("alice").memories() == []
    await tool.call(command("delete", "/memories/done.md"))
    assert "done" not in str(await tool.call(command("view", "/memories")))


async def test_a_memory_is_a_file(memory: AsyncMemory):
    alice, tool = memory.user("alice"), MemoryTool(memory, "alice")
    kept = await alice.remember("Likes green tea.")
    path = f"/memories/facts/{kept.id}.md"
    assert "Likes green tea." in str(await tool.call(command("view", "/memories")))
    assert "Likes green tea." in str(await tool.call(command("view", path)))
    told = str(await tool.call(command("str_replace", path, old_str="green", new_str="black")))
    [changed] = await alice.memories()
    assert changed.content == "Likes black tea."
    assert f"{changed.id}.md" in told
    assert [one.content for one in await alice.history(changed.id)] == ["Likes green tea.", "Likes black tea."]
    await tool.call(command("create", "/memories/facts/new.md", file_text="Lives in Kona."))
    assert {one.content for one in await alice.memories()} == {"Likes black tea.", "Lives in Kona."}
    await tool.call(command("delete", f"/memories/facts/{changed.id}.md"))
    assert [one.content for one in await alice.memories()] == ["Lives in Kona."]
    assert "Lives" not in str(await MemoryTool(memory, "bob").call(command("view", "/memories")))


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (command("view", "/etc/passwd"), "begin with /memories"),
        (command("view", "/memories/../etc"), "begin with /memories"),
        (command("view", "/memoriesx"), "begin with /memories"),
        (command("view", "/memories/none"), "no /memories/none"),
        (command("view", "/memories/facts/none.md"), "no /memories/facts/none.md"),
        (command("create", NOTE, file_text="again"), "exists already"),
        (command("create", "/memories/profile.md", file_text="x"), "made of memories"),
        (command("str_replace", NOTE, old_str="a", new_str="b"), "3 times"),
        (command("str_replace", NOTE, old_str="x", new_str="b"), "0 times"),
        (command("str_replace", "/memories/none", old_str="x", new_str="b"), "no file"),
        (command("insert", NOTE, insert_line=9, insert_text="x"), "no line 9"),
        (command("delete", "/memories"), "made of memories"),
        (command("delete", "/memories/facts/none.md"), "not_found"),
        (command("rename", old_path=NOTE, new_path="/memories/facts/x.md"), "made of memories"),
    ],
)
async def test_the_model_learns_why_a_command_failed(memory: AsyncMemory, given: Any, why: str):
    tool = MemoryTool(memory, "alice")
    await tool.call(command("create", NOTE, file_text="a a a"))
    with pytest.raises(ToolError, match=why):
        await tool.call(given)
    assert "a a a" in str(await tool.call(command("view", NOTE)))


async def test_an_asynchronous_memory_is_not_for_the_synchronous_tool(memory: AsyncMemory):
    with pytest.raises(ConfigurationError, match="open a Memory"):
        MemoryToolNow(memory, "alice")


def test_the_synchronous_tool_in_a_run():
    with Memory.local(embedding_model=HashingEmbeddings()) as memory, agent_server() as server:
        memory.user("alice").remember("Likes green tea.")
        client = Anthropic(api_key="k", base_url=server.url)
        runner = client.beta.messages.tool_runner(
            model="scripted",
            max_tokens=100,
            messages=[{"role": "user", "content": 'call memory {"command": "view", "path": "/memories"}'}],
            tools=[MemoryToolNow(memory, "alice")],
            thread=False,
        )
        runner.until_done()
        assert "Likes green tea." in server.told
