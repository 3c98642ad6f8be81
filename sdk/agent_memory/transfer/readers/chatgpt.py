"""The exports of ChatGPT and Claude (`conversations.json`): what was said, and what ChatGPT was asked to remember.

A conversation is a tree of edits, and one branch is current. Neither publishes a schema; the fields are those that
several public readers of the exports agree on, such as https://github.com/mohamed-chs/convoviz. Claude's messages are
listed in order; where they name their parents, they are such a tree.

Calls and results of tools, thoughts and hidden messages are left out of what was said. A conversation that its owner
kept out of ChatGPT's memory (`is_do_not_remember`) is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from agent_memory.models import iso
from agent_memory.models.parts import MOST_PARTS
from agent_memory.transfer.imported import Record, imported, pieces
from agent_memory.transfer.readers.utterances import FilePlace, Utterance, next_time, utterance

_SPOKEN = {"text", "multimodal_text", "code"}
"""The content types of what people and ChatGPT say. Thoughts, browsing and the like are left out."""
_INSTRUCTIONS = {"about_user_message": "user_profile", "about_model_message": "user_instructions"}
"""The custom instructions: what the user says of themselves, and how ChatGPT should answer. The names are those in the
metadata and in the content."""
_FORGETS = "forget"
"""How ChatGPT begins a note that takes an earlier one back."""


def is_chatgpt(conversation: object) -> bool:
    """Whether this looks like a conversation of an export."""
    return isinstance(conversation, dict) and isinstance(conversation.get("mapping"), dict)


def read_chatgpt(conversations: Iterable[tuple[FilePlace, Any]]) -> Iterator[Utterance]:
    """Reads the current branch of each conversation, without hidden, system and empty messages.

    A message without a time was said when the one before it was, or when the conversation began.

    Raises:
        InvalidInput: if a conversation has no tree or no id, or a time or a role is wrong.
    """
    for place, conversation in conversations:
        thread = _thread(place, conversation)
        last = _time(place, conversation.get("create_time"))
        spoken = (message for message in _branch(conversation) if _is_spoken(message))
        for position, message in enumerate(spoken):
            here = place.within(f"message {message.get('id')}")
            last = _time(here, message.get("create_time")) or next_time(last)
            fields = {"role": _role(message), "content": _text(message["content"]), "id": message.get("id")}
            timed = {"created_at": last} if last else {}
            yield utterance(here, fields | timed, thread_id=thread, position=position)


def remembered(conversations: Iterable[tuple[FilePlace, Any]], as_of: str) -> Iterator[Record]:
    """The notes that ChatGPT took about the user, and the newest custom instructions, as lines of an export.

    Raises:
        InvalidInput: as `read_chatgpt`.
    """
    newest: tuple[str, Mapping[str, Any]] = ("", {})
    for place, conversation in conversations:
        thread = _thread(place, conversation)
        began = _time(place, conversation.get("create_time"))
        for message in _branch(conversation):
            said = _time(place, message.get("create_time")) or began
            at = iso(said) if said else as_of
            text = _text(_object(message, "content")).strip()
            if message.get("recipient") == "bio" and _role(message) == "assistant" and text:
                if not text.casefold().startswith(_FORGETS):
                    yield imported("chatgpt", [str(message.get("id") or text)], text, at, metadata={"thread": thread})
            elif (found := _instructions(message)) and at >= newest[0]:
                newest = (at, found)
    at, instructions = newest
    for name, text in instructions.items():
        kind = "fact" if name == "about_user_message" else "preference"
        for piece in pieces(text):
            yield imported("chatgpt", [name, piece], piece, at, kind=kind, tags=["custom instructions"])


def _thread(place: FilePlace, conversation: object) -> Any:
    if not isinstance(conversation, dict) or not is_chatgpt(conversation):
        raise place.error('not a conversation of a ChatGPT export: it has no "mapping"')
    if not (thread := conversation.get("conversation_id") or conversation.get("id")):
        raise place.error('the conversation has no "conversation_id"')
    return thread


def _branch(conversation: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The messages from the root to the current one, or from where the tree breaks off.

    If the current message is not known, the newest one is taken.
    """
    if conversation.get("is_do_not_remember"):
        return []
    nodes: Mapping[str, Any] = conversation["mapping"]
    current = conversation.get("current_node")
    if str(current) not in nodes:
        current = max(nodes, key=lambda name: _newness(nodes[name]), default=None)
    messages: list[Mapping[str, Any]] = []
    visited: set[str] = set()
    while isinstance(node := nodes.get(str(current)), dict) and str(current) not in visited:
        visited.add(str(current))
        if isinstance(node.get("message"), dict):
            messages.append(node["message"])
        current = node.get("parent")
    return messages[::-1]


def _newness(node: object) -> tuple[bool, float]:
    """When a message was made; a node that has others below it, or no message, comes before all that are last."""
    if not isinstance(node, dict) or not isinstance(node.get("message"), dict):
        return False, 0.0
    time = node["message"].get("create_time")
    return not node.get("children"), float(time) if isinstance(time, int | float) else 0.0


def _is_spoken(message: Mapping[str, Any]) -> bool:
    metadata, content = _object(message, "metadata"), _object(message, "content")
    hidden = metadata.get("is_visually_hidden_from_conversation") or _role(message) in ("system", "tool")
    is_call = message.get("recipient") not in ("all", None)
    return not hidden and not is_call and str(content.get("content_type")) in _SPOKEN and bool(_text(content).strip())


def _instructions(message: Mapping[str, Any]) -> dict[str, str]:
    """The custom instructions in a message, by their names in the metadata."""
    given, content = _object(_object(message, "metadata"), "user_context_message_data"), _object(message, "content")
    found = {name: given.get(name) or _fenced(content.get(ours)) for name, ours in _INSTRUCTIONS.items()}
    return {name: text for name, text in found.items() if isinstance(text, str) and text.strip()}


def _fenced(text: object) -> str:
    """What stands between the fences of a text: around it is what ChatGPT tells its model."""
    parts = text.split("```") if isinstance(text, str) else []
    return parts[1] if len(parts) > 2 else ""


def _role(message: Mapping[str, Any]) -> Any:
    return _object(message, "author").get("role")


def _object(message: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = message.get(name)
    return value if isinstance(value, dict) else {}


def _time(place: FilePlace, seconds: Any) -> datetime | None:
    if seconds is None:
        return None
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (TypeError, ValueError, OverflowError, OSError):
        raise place.error(f"create_time is not a time: {seconds!r:.40}") from None


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
