"""The exports of ChatGPT and Claude (`conversations.json`).

A conversation of ChatGPT is a tree of edits, and one branch is current. A conversation of Claude has its messages in
order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from agent_memory.transfer.readers.utterances import FilePlace, Utterance, utterance

_SPOKEN = {"text", "multimodal_text", "code", "execution_output"}
"""The content types that ChatGPT shows as part of the conversation. Thoughts, browsing and the like are left out."""


def is_chatgpt(conversation: object) -> bool:
    """Whether this looks like a conversation of an export."""
    return isinstance(conversation, dict) and isinstance(conversation.get("mapping"), dict)


def read_chatgpt(conversations: Iterable[tuple[FilePlace, Any]]) -> Iterator[Utterance]:
    """Reads the current branch of each conversation, without hidden, system and empty messages.

    Raises:
        InvalidInput: if a conversation has no tree, no current message or no id, or its tree is broken.
    """
    for place, conversation in conversations:
        if not is_chatgpt(conversation):
            raise place.error('not a conversation of a ChatGPT export: it has no "mapping"')
        thread = conversation.get("conversation_id") or conversation.get("id")
        if not thread:
            raise place.error('the conversation has no "conversation_id"')
        spoken = (message for message in _branch(place, conversation) if _is_spoken(message))
        for position, message in enumerate(spoken):
            here = place.within(f"message {message.get('id')}")
            yield utterance(here, _fields(here, message), thread_id=thread, position=position)


def _branch(place: FilePlace, conversation: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The messages from the root to the current one."""
    nodes: Mapping[str, Any] = conversation["mapping"]
    current = conversation.get("current_node")
    if current is None:
        raise place.error('the conversation has no "current_node"')
    messages: list[Mapping[str, Any]] = []
    visited: set[str] = set()
    while current is not None:
        node = nodes.get(str(current))
        if not isinstance(node, dict) or str(current) in visited:
            fault = "appears twice in its own branch" if str(current) in visited else "is not in the mapping"
            raise place.error(f"the tree is broken: node {current} {fault}")
        visited.add(str(current))
        if isinstance(node.get("message"), dict):
            messages.append(node["message"])
        current = node.get("parent")
    return messages[::-1]


def _is_spoken(message: Mapping[str, Any]) -> bool:
    metadata, content = _object(message, "metadata"), _object(message, "content")
    hidden = metadata.get("is_visually_hidden_from_conversation") or _role(message) == "system"
    return not hidden and str(content.get("content_type")) in _SPOKEN and bool(_text(content).strip())


def _role(message: Mapping[str, Any]) -> Any:
    return _object(message, "author").get("role")


def _object(message: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = message.get(name)
    return value if isinstance(value, dict) else {}


def _fields(place: FilePlace, message: Mapping[str, Any]) -> dict[str, Any]:
    fields = {"role": _role(message), "content": _text(message["content"]), "id": message.get("id")}
    if (seconds := message.get("create_time")) is not None:
        try:
            fields["created_at"] = datetime.fromtimestamp(seconds, UTC)
        except (TypeError, ValueError, OverflowError, OSError):
            raise place.error(f"create_time is not a time: {seconds!r:.40}") from None
    return fields


def _text(content: Mapping[str, Any]) -> str:
    if isinstance(content.get("text"), str):
        return str(content["text"])
    listed = content.get("parts")
    parts = (_part(part) for part in (listed if isinstance(listed, list) else []))
    return "\n".join(part for part in parts if part)


def _part(part: object) -> str:
    """A part of a message: its text or transcript, or a marker for a picture or a sound."""
    if isinstance(part, str):
        return part
    if not isinstance(part, dict):
        return ""
    if isinstance(part.get("text"), str):
        return str(part["text"])
    kind = str(part.get("content_type", "attachment"))
    return f"[{kind.removesuffix('_asset_pointer').replace('_', ' ')}]"


def is_claude(conversation: object) -> bool:
    """Whether this looks like a conversation of an export."""
    return isinstance(conversation, dict) and isinstance(conversation.get("chat_messages"), list)


def read_claude(conversations: Iterable[tuple[FilePlace, Any]]) -> Iterator[Utterance]:
    """Reads what people and Claude wrote, without thoughts, tool calls and empty messages.

    Raises:
        InvalidInput: if a conversation has no messages or no id, or a message is wrong.
    """
    for place, conversation in conversations:
        if not is_claude(conversation):
            raise place.error('not a conversation of a Claude export: it has no "chat_messages"')
        if not (thread := conversation.get("uuid")):
            raise place.error('the conversation has no "uuid"')
        for position, message in enumerate(conversation["chat_messages"]):
            here = place.within(f"message {position + 1}")
            if not isinstance(message, dict):
                raise here.error("expected an object")
            if content := _content(message):
                fields = {"role": message.get("sender"), "content": content, "id": message.get("uuid")}
                if message.get("created_at"):
                    fields["created_at"] = message["created_at"]
                yield utterance(here, fields, thread_id=thread, position=position)


def _content(message: Mapping[str, Any]) -> str:
    """The text of a message, with a marker for each attached file."""
    parts = [part for part in _objects(message, "content") if part.get("type") == "text"]
    said = "\n".join(str(part.get("text") or "") for part in parts).strip() or str(message.get("text") or "").strip()
    files = (file for kind in ("attachments", "files") for file in _objects(message, kind))
    sent = [f"[file: {file['file_name']}]" for file in files if file.get("file_name")]
    return "\n".join(part for part in (said, *sent) if part)


def _objects(message: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    value = message.get(name)
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
