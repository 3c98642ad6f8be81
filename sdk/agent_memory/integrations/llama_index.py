"""LlamaIndex: a memory for agents and chat engines.

    await agent.run(question, memory=ThreadMemory(memory, "alice", "monday"))

It holds the conversation, message by message, and puts memories relevant to the question before it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agent_memory.extras import require
from agent_memory.integrations.bridge import AnyMemory, Bridge, Turn, complete, owner, survive
from agent_memory.integrations.parts import media, role_of, words
from agent_memory.models import Turn as KeptTurn
from agent_memory.recall.context import DEFAULT_BUDGET
from agent_memory.store.ids import new_turn_id
from agent_memory.transfer.parts import read_parts

require("llama_index.core", "llama-index")

from llama_index.core.base.llms.types import ChatMessage, MessageRole  # noqa: E402
from llama_index.core.bridge.pydantic import PrivateAttr  # noqa: E402
from llama_index.core.memory import BaseMemory  # noqa: E402

__all__ = ["ThreadMemory"]

_MESSAGE = "llama_index_message"
"""The key of a turn's metadata that has the whole message."""
_ROLES = {"user": "user", "assistant": "assistant", "chatbot": "assistant", "tool": "tool", "function": "tool"}


class ThreadMemory(BaseMemory):
    """A conversation of one user. If the store fails, a run continues with an empty history, and this is logged."""

    _bridge: Bridge = PrivateAttr()
    _user_id: str = PrivateAttr()
    _thread_id: str = PrivateAttr()
    _asked: str = PrivateAttr(default="")

    def __init__(
        self,
        memory: AnyMemory,
        user_id: str,
        thread_id: str,
        *,
        budget: int = DEFAULT_BUDGET,
        agent_id: str | None = None,
    ) -> None:
        """Uses an open memory.

        Args:
            memory: An open memory; a `Memory` for chat engines that are called synchronously.
            user_id: The user of the conversation.
            thread_id: Its id.
            budget: The maximum tokens that are recalled.
            agent_id: The agent that talks; stored with its turns.

        Raises:
            InvalidInput: if there is no user id.
        """
        super().__init__()
        self._bridge = Bridge(memory, budget=budget, agent_id=agent_id)
        self._user_id = owner(user_id, "pass user_id to ThreadMemory")
        self._thread_id = thread_id

    @classmethod
    def from_defaults(cls, **kwargs: Any) -> ThreadMemory:
        """A memory of named arguments."""
        return cls(**kwargs)

    async def aget(self, input: Any = None, **kwargs: Any) -> list[ChatMessage]:
        """Memories relevant to the user's last message, and the conversation."""
        return await self._get(self._bridge, input)

    def get(self, input: Any = None, **kwargs: Any) -> list[ChatMessage]:
        """As `aget`."""
        return complete(self._get(self._bridge.now, input))

    async def aget_all(self) -> list[ChatMessage]:
        """The conversation."""
        return await self._all(self._bridge)

    def get_all(self) -> list[ChatMessage]:
        """The conversation."""
        return complete(self._all(self._bridge.now))

    async def aput(self, message: ChatMessage) -> None:
        """Stores a message. If it is already the newest one, it comes from a failed run, and is not stored again."""
        await self._put(self._bridge, [message])

    def put(self, message: ChatMessage) -> None:
        """As `aput`."""
        complete(self._put(self._bridge.now, [message]))

    async def aput_messages(self, messages: Sequence[ChatMessage]) -> None:
        """Keeps messages."""
        await self._put(self._bridge, messages)

    def put_messages(self, messages: Sequence[ChatMessage]) -> None:
        """Keeps messages."""
        complete(self._put(self._bridge.now, messages))

    async def aset(self, messages: Sequence[ChatMessage]) -> None:
        """Empties the conversation and keeps messages instead. What was learned stays."""
        await self._set(self._bridge, messages)

    def set(self, messages: Sequence[ChatMessage]) -> None:
        """As `aset`."""
        complete(self._set(self._bridge.now, messages))

    async def areset(self) -> None:
        """Empties the conversation. What was learned stays."""
        await self._set(self._bridge, ())

    def reset(self) -> None:
        """As `areset`."""
        complete(self._set(self._bridge.now, ()))

    async def _get(self, bridge: Bridge, input: Any) -> list[ChatMessage]:
        said = await self._all(bridge)
        asked = [one.content or "" for one in said if one.role == MessageRole.USER]
        question = input if isinstance(input, str) and input else asked[-1] if asked else ""
        told = await bridge.told(self._user_id, self._thread_id, question)
        return [ChatMessage(role=MessageRole.SYSTEM, content=told), *said] if told else said

    async def _all(self, bridge: Bridge) -> list[ChatMessage]:
        view = await survive(bridge.ask(self._thread(bridge).view), "read the conversation", None)
        return [] if view is None else [_message(one) for one in view.turns]

    async def _put(self, bridge: Bridge, messages: Sequence[ChatMessage]) -> None:
        new = list(messages)
        if new and new[0].role == MessageRole.USER:
            last = await survive(bridge.ask(self._thread(bridge).turns, 1), "read the conversation", [])
            if last and _message(last[-1]) == new[0]:
                new = new[1:]
        await bridge.keep(self._user_id, self._thread_id, [_turn(one) for one in new])

    async def _set(self, bridge: Bridge, messages: Sequence[ChatMessage]) -> None:
        await bridge.ask(self._thread(bridge).clear)
        await self._put(bridge, messages)

    def _thread(self, bridge: Bridge) -> Any:
        return bridge.thread(self._user_id, self._thread_id)


def _turn(message: ChatMessage) -> Turn | None:
    role = _ROLES.get(message.role.value)
    if role is None:  # instructions, which contain recalled text
        return None
    whole, content = message.model_dump(mode="json"), message.content or ""
    parts = _parts(whole, content)
    made = {
        "role": role_of(role, content, parts),
        "content": words(content, parts).strip() or "(no text)",
        "id": new_turn_id(),
        "metadata": {_MESSAGE: whole},
    }
    return made if parts is None else made | {"parts": parts}


def _parts(whole: Mapping[str, Any], content: str) -> list[dict[str, Any]] | None:
    """The parts of a message. Inline data is in the metadata, which has the whole message."""
    more, blocks = whole["additional_kwargs"], whole["blocks"]
    if whole["role"] in ("tool", "function"):
        result = {"type": "tool_result", "content": content, "tool_call_id": more.get("tool_call_id")}
        return read_parts([result | {"name": more.get("name")}])
    calls = any(block["block_type"] == "tool_call" for block in blocks)
    return read_parts([_block(block) for block in blocks], () if calls else more.get("tool_calls") or ())


def _block(block: Mapping[str, Any]) -> dict[str, Any] | None:
    """A block of a message, in the shape of a chat API."""
    match block["block_type"]:
        case "text":
            return {"type": "text", "text": block["text"]}
        case "tool_call":
            id = block.get("tool_call_id")
            return {"type": "tool_call", "name": block["tool_name"], "id": id, "args": block["tool_kwargs"]}
        case "image" | "audio" | "video" | "document" as kind:
            mime = block.get(f"{kind}_mimetype") or (f"{kind}/*" if kind != "document" else None)
            path = block.get("path")
            return media(mime, url=block.get("url"), name=block.get("title") or (Path(path).name if path else None))
    return None


def _message(kept: KeptTurn) -> ChatMessage:
    stored = kept.metadata.get(_MESSAGE)
    if stored is not None:
        return ChatMessage.model_validate(stored)
    return ChatMessage(role="assistant" if kept.role == "agent" else kept.role, content=kept.content)
