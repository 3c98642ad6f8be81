"""Anthropic's memory tool: Claude reads and writes the memory as files under /memories.

    tool = MemoryTool(memory, "alice")                       # MemoryToolNow(…) with the synchronous client
    client.beta.messages.tool_runner(…, tools=[tool], thread=False)

| path | what it is |
|---|---|
| `/memories/profile.md` | the user's profile; it can only be read |
| `/memories/facts/<id>.md` | a memory: viewed, corrected, deleted; a new file there is remembered |
| anything else | notes of the model, kept word for word and found only by their paths |
"""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

from agent_memory.errors import AgentMemoryError, ConfigurationError, NotFound
from agent_memory.extras import require
from agent_memory.integrations import items
from agent_memory.integrations.bridge import AnyMemory, Bridge, complete, owner
from agent_memory.integrations.items import ItemStore

require("anthropic", "anthropic")

from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError  # noqa: E402

__all__ = ["MemoryTool", "MemoryToolNow"]

ROOT = "/memories"
PROFILE = f"{ROOT}/profile.md"
FACTS = f"{ROOT}/facts/"
MOST_FACTS = 100
"""The most memories that a listing shows, newest first. A choice: more would fill a window."""
_NOTES = ("anthropic_memory_tool",)


class _Files:
    """The files of one user."""

    def __init__(self, bridge: Bridge, user_id: str) -> None:
        self._bridge = bridge
        self._scope: Any = bridge.user(user_id)
        self._notes = ItemStore(bridge, user_id)

    async def view(self, command: Any) -> str:
        path = _checked(command.path)
        text = await self._read(path)
        if text is None:
            return await self._listing(path)
        lines = list(enumerate(text.split("\n"), 1))
        if command.view_range:
            first, last = command.view_range
            lines = [line for line in lines if first <= line[0] and (last == -1 or line[0] <= last)]
        return f"The content of {path}:\n" + "\n".join(f"{number:6}\t{line}" for number, line in lines)

    async def create(self, command: Any) -> str:
        path = _checked(command.path)
        if path.startswith(FACTS):
            memory = await self._bridge.ask(self._scope.remember, command.file_text)
            return f"File created successfully at: {FACTS}{memory.id}.md"
        _require_note(path)
        if await self._notes.get(_NOTES, path) is not None:
            raise ToolError(f"The file {path} exists already.")
        await self._notes.put(_NOTES, path, {"text": command.file_text}, index=False)
        return f"File created successfully at: {path}"

    async def str_replace(self, command: Any) -> str:
        path = _checked(command.path)
        text = await self._existing(path)
        found = text.count(command.old_str) if command.old_str else 0
        if found != 1:
            raise ToolError(f"The text to replace is {found} times in {path}; it must be there once. Nothing changed.")
        return await self._change(path, text.replace(command.old_str, command.new_str))

    async def insert(self, command: Any) -> str:
        path = _checked(command.path)
        lines = (await self._existing(path)).split("\n")
        if not 0 <= command.insert_line <= len(lines):
            raise ToolError(f"{path} has no line {command.insert_line}: it has {len(lines)}.")
        lines.insert(command.insert_line, command.insert_text.removesuffix("\n"))
        return await self._change(path, "\n".join(lines))

    async def delete(self, command: Any) -> str:
        path = _checked(command.path)
        if path.startswith(FACTS):
            await self._bridge.ask(self._scope.forget, _memory_id(path), include_sources=False)
        else:
            _require_note(path)
            gone = [key for key in await self._paths() if key == path or key.startswith(f"{path}/")]
            if not gone:
                raise ToolError(f"There is no {path}.")
            for key in gone:
                await self._notes.delete(_NOTES, key)
        return f"Successfully deleted {path}"

    async def rename(self, command: Any) -> str:
        old, new = _checked(command.old_path), _checked(command.new_path)
        _require_note(old)
        _require_note(new)
        text = await self._existing(old)
        if await self._notes.get(_NOTES, new) is not None:
            raise ToolError(f"The file {new} exists already.")
        await self._notes.put(_NOTES, new, {"text": text}, index=False)
        await self._notes.delete(_NOTES, old)
        return f"Successfully renamed {old} to {new}"

    async def clear(self) -> str:
        """Deletes the notes. Memories stay: forget them by their scope."""
        for path in await self._paths():
            await self._notes.delete(_NOTES, path)
        return "All notes are deleted."

    async def _read(self, path: str) -> str | None:
        """The text of a file; None if there is none."""
        if path == PROFILE:
            profile = await self._bridge.ask(self._scope.profile)
            return "(empty)" if profile is None else str(profile.content)
        if path.startswith(FACTS):
            try:
                return str((await self._bridge.ask(self._scope.get, _memory_id(path))).content)
            except NotFound:
                return None
        note = await self._notes.get(_NOTES, path)
        return None if note is None else str(items.value_of(note)["text"])

    async def _existing(self, path: str) -> str:
        text = await self._read(path)
        if text is None:
            raise ToolError(f"There is no file {path}.")
        return text

    async def _change(self, path: str, text: str) -> str:
        if path.startswith(FACTS):
            memory = await self._bridge.ask(self._scope.update, _memory_id(path), content=text)
            return f"The memory has been edited. It is now at {FACTS}{memory.id}.md"
        _require_note(path)
        await self._notes.put(_NOTES, path, {"text": text}, index=False)
        return f"The file {path} has been edited."

    async def _paths(self) -> list[str]:
        return sorted(str(items.key_of(one)) for one in await self._notes.within(_NOTES))

    async def _listing(self, path: str) -> str:
        memories = await self._bridge.ask(self._scope.memories, limit=MOST_FACTS)
        facts = [f"{FACTS}{one.id}.md\t{one.content}" for one in memories[:MOST_FACTS]]
        every = [PROFILE, *facts, *await self._paths()]
        shown = every if path == ROOT else [one for one in every if one.startswith(f"{path}/")]
        if not shown and path + "/" != FACTS:
            raise ToolError(f"There is no {path}.")
        return f"Files in {path} (of memories, with their text):\n" + "\n".join(shown)


class MemoryTool(BetaAsyncAbstractMemoryTool):
    """The memory tool of one user, for `AsyncAnthropic`."""

    def __init__(self, memory: AnyMemory, user_id: str, **options: Any) -> None:
        """Uses an open memory.

        Args:
            memory: An open memory.
            user_id: The user of the memory; the model cannot choose.
            options: Options of the SDK: cache_control.

        Raises:
            InvalidInput: if there is no user id.
        """
        super().__init__(**options)
        self._files = _Files(Bridge(memory), owner(user_id, "pass user_id to MemoryTool"))

    async def execute(self, command: Any) -> Any:
        """Carries out a command of the model. The model sees failures.

        Raises:
            ToolError: with a text for the model.
        """
        return await _told(getattr(self._files, command.command)(command))

    async def _unused(self, command: Any) -> Any:
        return await self.execute(command)

    view = create = str_replace = insert = delete = rename = _unused

    async def clear_all_memory(self) -> Any:
        """Deletes the model's notes. Memories stay."""
        return await _told(self._files.clear())


class MemoryToolNow(BetaAbstractMemoryTool):
    """The memory tool of one user, for the synchronous client and a synchronous memory."""

    def __init__(self, memory: AnyMemory, user_id: str, **options: Any) -> None:
        """As `MemoryTool`.

        Raises:
            InvalidInput: if there is no user id.
            ConfigurationError: if the memory is asynchronous.
        """
        super().__init__(**options)
        self._files = _Files(Bridge(memory).now, owner(user_id, "pass user_id to MemoryToolNow"))

    def execute(self, command: Any) -> Any:
        """As `MemoryTool.execute`."""
        return complete(_told(getattr(self._files, command.command)(command)))

    def _unused(self, command: Any) -> Any:
        return self.execute(command)

    view = create = str_replace = insert = delete = rename = _unused

    def clear_all_memory(self) -> Any:
        """Deletes the model's notes. Memories stay."""
        return complete(_told(self._files.clear()))


async def _told(work: Coroutine[Any, Any, str]) -> str:
    try:
        return await work
    except ConfigurationError:
        raise
    except AgentMemoryError as error:
        raise ToolError(f"The memory could not do this ({error.code}): {error}") from error


def _checked(path: str) -> str:
    """A path under /memories, without a slash at its end.

    Raises:
        ToolError: if it is another one.
    """
    plain = path.rstrip("/")
    parts = plain.split("/")
    if (plain != ROOT and not plain.startswith(f"{ROOT}/")) or any(part in (".", "..") for part in parts):
        raise ToolError(f"Paths begin with {ROOT}/, unlike {path!r:.200}.")
    return plain


def _require_note(path: str) -> None:
    if path in (ROOT, PROFILE) or f"{path}/".startswith(FACTS):
        raise ToolError(f"{path} is made of memories; only files elsewhere under {ROOT} can be written so.")


def _memory_id(path: str) -> str:
    return path.removeprefix(FACTS).removesuffix(".md")
