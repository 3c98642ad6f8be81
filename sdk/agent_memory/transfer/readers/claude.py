"""The export of Claude (`conversations.json`): what people and Claude wrote.

Anthropic publishes no schema; the fields are those that several public readers of the export agree on. Messages are
listed in order. Where they name their parents, they are a tree of edits, and one branch is current.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from agent_memory.models.parts import MOST_PARTS
from agent_memory.transfer.readers.utterances import FilePlace, Utterance, next_time, utterance

_ROOT = "00000000-0000-4000-8000-000000000000"
"""The parent of a first message."""
_LONGEST_NAME = 255


def is_claude(conversation: object) -> bool:
    """Whether this looks like a conversation of an export."""
    return isinstance(conversation, dict) and isinstance(conversation.get("chat_messages"), list)


def read_claude(conversations: Iterable[tuple[FilePlace, Any]]) -> Iterator[Utterance]:
    """Reads the current branch, without thoughts, tool calls and empty messages.

    A message without a time was written when the one before it was, or when the conversation began.

    Raises:
        InvalidInput: if a conversation has no messages or no id, or a message is wrong.
    """
    for place, conversation in conversations:
        if not is_claude(conversation):
            raise place.error('not a conversation of a Claude export: it has no "chat_messages"')
        if not (thread := conversation.get("uuid")):
            raise place.error('the conversation has no "uuid"')
        messages = conversation["chat_messages"]
        left_out = _edited_away(messages, conversation.get("current_leaf_message_uuid"))
        last: datetime | None = None
        for position, message in enumerate(messages):
            here = place.within(f"message {position + 1}")
            if not isinstance(message, dict):
                raise here.error("expected an object")
            said, files = _said(message), list(_files(message))
            if position in left_out or not (said or files):
                continue
            fields: dict[str, Any] = {"role": message.get("sender"), "content": said, "id": message.get("uuid")}
            if files:
                words = [{"type": "text", "text": said}] if said else []
                fields |= {"content": "", "parts": [*words, *files][:MOST_PARTS]}
            if at := message.get("created_at") or next_time(last) or conversation.get("created_at"):
                fields["created_at"] = at
            made = utterance(here, fields, thread_id=thread, position=position)
            last = made.turn.created_at
            yield made


def _edited_away(messages: list[Any], leaf: object) -> set[int]:
    """The positions of messages that are not on the current branch; none if the tree is not whole."""
    parents = {str(one.get("uuid")): one.get("parent_message_uuid") for one in messages if isinstance(one, dict)}
    if not any(parents.values()) or not all(str(parent) in {*parents, _ROOT, "None"} for parent in parents.values()):
        return set()  # an older export names no parents
    named = str(leaf) if str(leaf) in parents else next(reversed(parents))
    branch: set[str] = set()
    while named in parents and named not in branch:
        branch.add(named)
        named = str(parents[named])
    return {place for place, one in enumerate(messages) if isinstance(one, dict) and str(one.get("uuid")) not in branch}


def _said(message: Mapping[str, Any]) -> str:
    texts = [str(part.get("text") or "") for part in _objects(message, "content") if part.get("type") == "text"]
    return "\n".join(texts).strip() or str(message.get("text") or "").strip()


def _files(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The files of a message. A long text that somebody pasted is an attachment without a name."""
    for file in (file for kind in ("attachments", "files") for file in _objects(message, kind)):
        name, text = str(file.get("file_name") or ""), file.get("extracted_content")
        pasted = text if isinstance(text, str) and text.strip() else None
        if name or pasted:
            yield {"type": "file", "name": name[:_LONGEST_NAME] or "pasted text", "text": pasted}


def _objects(message: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    value = message.get(name)
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
