"""Chat messages: how turns look to a model, and what must not be torn apart."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import Field

from agent_memory.errors import InvalidInput
from agent_memory.models import Model, Turn
from agent_memory.store.values import validated
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
"""What the frame of a message costs beside its words, in the chat formats of current models, roughly."""


class ChatMessage(Model):
    """One message of a chat, as model APIs know it. `id` is that of its turn, once it has been kept."""

    role: ChatRole
    content: str = ""
    name: str | None = None
    tool_calls: list[dict[str, Any]] = Field(default_factory=list)
    tool_call_id: str | None = None
    id: str | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """The message for a chat API: only what it has, and nothing of ours."""
        fields: dict[str, Any] = {"role": self.role, "content": self.content}
        optional = {"name": self.name, "tool_calls": self.tool_calls, "tool_call_id": self.tool_call_id}
        return fields | {name: value for name, value in optional.items() if value}


def read_message(given: ChatMessage | Mapping[str, Any]) -> ChatMessage:
    """Reads a message of a chat API; what it has beside the fields that we know goes to its metadata.

    Raises:
        InvalidInput: if it is none.
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
    """The turn that a message is kept as. A message of tool calls alone says in words what it calls."""
    tools = {"tool_calls": message.tool_calls, "tool_call_id": message.tool_call_id}
    return {
        "role": message.role,
        "content": message.content or _calls_in_words(message.tool_calls),
        "id": message.id,
        "name": message.name,
        "metadata": message.metadata | {name: value for name, value in tools.items() if value},
    }


def from_turn(turn: Turn) -> ChatMessage:
    """The message that a turn was, with its tool calls if its metadata holds any."""
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
    """What messages cost a model, roughly: their words, their tool calls and a frame each."""
    return sum(
        MESSAGE_TOKENS
        + tokens.count(message.content)
        + (tokens.count(json.dumps(message.tool_calls)) if message.tool_calls else 0)
        for message in messages
    )


def units(messages: Sequence[ChatMessage]) -> list[list[ChatMessage]]:
    """The messages in groups that stay or go together: a tool's results with the call that they answer."""
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
    """Messages without the results of tool calls that are not among them, which chat APIs refuse."""
    called = {call.get("id") for message in messages for call in message.tool_calls}
    return [message for message in messages if message.role != "tool" or message.tool_call_id in called]


def last_exchange(messages: Sequence[ChatMessage]) -> int:
    """The position from which the last exchange runs: the last user's message with all that follows it."""
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
    """The words of a content that may be missing, or a list of parts. What is no text is named in brackets."""
    if content is None:
        return ""
    if not isinstance(content, list):
        return content
    parts = [part if isinstance(part, Mapping) else {"text": part} for part in content]
    return "\n".join(str(part.get("text") or part.get("refusal") or f"[{part.get('type')}]") for part in parts)
