"""Chat messages: how turns look to a model, and which of them must stay together."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import Field

from agent_memory.errors import InvalidInput
from agent_memory.models import Model, Turn
from agent_memory.store.documents import validated
from agent_memory.text.tokens import TokenCounter

ChatRole = Literal["user", "assistant", "tool", "system"]

_ROLES: dict[str, ChatRole] = {
    "agent": "assistant",
    "ai": "assistant",
    "human": "user",
    "function": "tool",
    "developer": "system",
}
MESSAGE_TOKENS = 4
"""Tokens that a message costs in addition to its words, roughly, in the chat formats of current models."""


class ChatMessage(Model):
    """One message in the format of chat APIs. `id` is the id of its turn once it is stored."""

    role: ChatRole
    content: str = ""
    name: str | None = None
    tool_calls: list[dict[str, Any]] = Field(default_factory=list)
    tool_call_id: str | None = None
    id: str | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """The message for a chat API, without empty fields and without id and metadata."""
        fields: dict[str, Any] = {"role": self.role, "content": self.content}
        optional = {"name": self.name, "tool_calls": self.tool_calls, "tool_call_id": self.tool_call_id}
        return fields | {name: value for name, value in optional.items() if value}


def read_message(given: ChatMessage | Mapping[str, Any]) -> ChatMessage:
    """Reads a message of a chat API. Unknown fields go to its metadata.

    Raises:
        InvalidInput: if it is not a message.
    """
    if isinstance(given, ChatMessage):
        return given
    if not isinstance(given, Mapping):
        raise InvalidInput(f"a message is a mapping with role and content, not {type(given).__name__}")
    fields = {name: value for name, value in given.items() if name in ChatMessage.model_fields}
    fields["role"] = _ROLES.get(str(given.get("role")), given.get("role"))
    fields["content"] = _text(given.get("content"))
    fields["tool_calls"] = given.get("tool_calls") or []
    others = {name: value for name, value in given.items() if name not in ChatMessage.model_fields}
    metadata = fields.get("metadata") or {}
    if not isinstance(metadata, Mapping):
        raise InvalidInput("a message's metadata must be a mapping")
    return validated(ChatMessage, fields | {"metadata": {**others, **metadata}}, "no chat message: ")


def to_turn(message: ChatMessage) -> dict[str, Any]:
    """The turn for a message. A message of tool calls alone gets a text that names the calls."""
    tools = {"tool_calls": message.tool_calls, "tool_call_id": message.tool_call_id}
    return {
        "role": message.role,
        "content": message.content or _calls_in_words(message.tool_calls),
        "id": message.id,
        "name": message.name,
        "metadata": message.metadata | {name: value for name, value in tools.items() if value},
    }


def from_turn(turn: Turn) -> ChatMessage:
    """The message for a turn, with the tool calls in its metadata."""
    metadata = dict(turn.metadata)
    calls = metadata.pop("tool_calls", None) or []
    call_id = metadata.pop("tool_call_id", None)
    return ChatMessage(
        role=_ROLES.get(turn.role, turn.role),  # type: ignore[arg-type]  # what is left of a Role is a ChatRole
        content="" if calls and turn.content == _calls_in_words(calls) else turn.content,
        name=turn.name,
        tool_calls=calls,
        tool_call_id=call_id,
        id=turn.id,
        metadata=metadata,
    )


def count_tokens(messages: Sequence[ChatMessage], tokens: TokenCounter) -> int:
    """Roughly how many tokens messages cost: their words, their tool calls, and a frame for each."""
    return sum(
        MESSAGE_TOKENS
        + tokens.count(message.content)
        + (tokens.count(json.dumps(message.tool_calls)) if message.tool_calls else 0)
        for message in messages
    )


def units(messages: Sequence[ChatMessage]) -> list[list[ChatMessage]]:
    """Groups of messages that must stay together: tool results with the call that they answer."""
    groups: list[list[ChatMessage]] = []
    for message in messages:
        if message.role != "tool" or not groups:
            groups.append([message])
            continue
        caller = next(
            (
                position
                for position in reversed(range(len(groups)))
                if any(_calls(one, message.tool_call_id) for one in groups[position])
            ),
            len(groups) - 1,
        )
        groups[caller:] = [[one for group in groups[caller:] for one in group] + [message]]
    return groups


def without_orphans(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """The messages without tool results whose call is missing. Chat APIs refuse such results."""
    called = {call.get("id") for message in messages for call in message.tool_calls}
    return [message for message in messages if message.role != "tool" or message.tool_call_id in called]


def last_exchange(messages: Sequence[ChatMessage]) -> int:
    """The position where the last exchange begins: the last user message, with everything after it."""
    asked = [position for position, message in enumerate(messages) if message.role == "user"]
    if asked:
        return asked[-1]
    return len(messages) - len(units(messages)[-1]) if messages else 0


def _calls(message: ChatMessage, call_id: str | None) -> bool:
    return call_id is not None and any(call.get("id") == call_id for call in message.tool_calls)


def _calls_in_words(calls: Sequence[Mapping[str, Any]]) -> str:
    functions = [call.get("function") or {} for call in calls]
    return "\n".join(f"[calls {function.get('name')}({function.get('arguments', '')})]" for function in functions)


def _text(content: object) -> object:
    """The text of a content, which may be missing or a list of parts. Other parts become their type in brackets."""
    if content is None:
        return ""
    if not isinstance(content, list):
        return content
    parts = [part if isinstance(part, Mapping) else {"text": part} for part in content]
    return "\n".join(str(part.get("text") or part.get("refusal") or f"[{part.get('type')}]") for part in parts)
