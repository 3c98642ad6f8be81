"""The export of Claude (`conversations.json`): a list of conversations, each with its messages in order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from agent_memory.transfer.readers.utterances import FilePlace, Utterance, utterance


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
