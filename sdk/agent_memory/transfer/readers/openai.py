"""OpenAI: the items of conversations, the messages of assistants' threads, and stored chat completions, as listed.

The API answers with pages: `{"object": "list", "data": […]}`. A file holds one page, several (a list, or a line each),
or their items alone. A page can also lie under `items` of its `conversation` object, which gives the thread its id.

- https://developers.openai.com/api/reference/resources/conversations: `ConversationItemList` and `Message` of the
  package `openai`
- https://developers.openai.com/api/docs/assistants/migration: `thread.message`

What people and assistants said becomes turns. Reasoning, and calls and results of tools, are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from agent_memory.transfer.readers.utterances import FilePlace, NothingSaid, Utterance, known_role, utterance

_Message = tuple[FilePlace, Mapping[str, Any]]
_PARTS = ("input_text", "output_text", "summary_text", "refusal")
"""The kinds of parts that only messages of conversations have, not messages of chats."""
_ITEMS = ("reasoning", "function_call", "function_call_output")
"""The kinds of items other than messages with which a list often begins."""
_SILENT = ("critic", "discriminator", "unknown")
"""Roles that OpenAI lists but shows to nobody: the model's own."""
_THOUGHTS = ("reasoning_text", "thinking")


def is_openai(first: object) -> bool:
    """Whether this looks like a page, a conversation with its items, or an item."""
    if not isinstance(first, dict):
        return False
    kind, content = first.get("object"), first.get("content")
    if kind == "thread.message" or first.get("type") in _ITEMS:
        return True
    if kind in ("list", "conversation"):
        return _listed(first) is not None
    parts = content if first.get("type") == "message" and isinstance(content, list) else []
    return any(isinstance(part, dict) and part.get("type") in _PARTS for part in parts)


def read_openai(rows: Iterable[tuple[FilePlace, Any]], thread_id: str) -> Iterator[Utterance]:
    """Reads what was said. Messages that name no thread belong to `thread_id`.

    The API lists the newest first unless it is asked for `order=asc`. A thread is reversed if its times show it. Items
    of conversations have no times: they are reversed if an assistant begins and a person ends.

    Raises:
        InvalidInput: if a message is wrong, or nothing was said.
    """
    threads: dict[str, list[_Message]] = {}
    last = FilePlace("the file")
    for place, row in rows:
        last = place
        _collect(place, row, thread_id, None, threads)
    if not threads:
        raise NothingSaid(f"{last.file}: no message of a person or an assistant in this list of OpenAI")
    for thread, messages in threads.items():
        for position, (place, message) in enumerate(_oldest_first(messages)):
            yield _turn(place, message, thread, position)


def _collect(place: FilePlace, row: object, thread: str, began: object, threads: dict[str, list[_Message]]) -> None:
    if not isinstance(row, dict):
        raise place.error("expected an object")
    listed = _listed(row)
    if listed is not None:
        named = str(row["id"]) if row.get("object") == "conversation" and row.get("id") else thread
        for number, item in enumerate(listed, start=1):
            _collect(place.within(f"item {number}"), item, named, row.get("created_at"), threads)
        return
    is_message = row.get("object") == "thread.message" or row.get("type", "message") == "message"
    if not is_message or row.get("role") in _SILENT or not _said(place, row):
        return
    at = row.get("created_at", began)
    threads.setdefault(str(row.get("thread_id") or thread), []).append((place, {**row, "created_at": at}))


def _listed(row: Mapping[str, Any]) -> list[Any] | None:
    """The items of a page; of a conversation, those under `items` or `data`."""
    for name in ("data", "items"):
        value = row.get(name)
        value = value.get("data") if isinstance(value, dict) else value
        if isinstance(value, list):
            return value
    return None


def _oldest_first(messages: list[_Message]) -> list[_Message]:
    times = [message["created_at"] for _, message in messages]
    if all(isinstance(time, int | float) for time in times) and times[0] != times[-1]:
        return messages[::-1] if times[0] > times[-1] else messages
    roles = [message.get("role") for _, message in messages]
    return messages[::-1] if roles[0] == "assistant" and roles[-1] != "assistant" else messages


def _turn(place: FilePlace, message: Mapping[str, Any], thread: str, position: int) -> Utterance:
    fields: dict[str, Any] = {"role": message.get("role"), "content": _said(place, message), "id": message.get("id")}
    if (seconds := message["created_at"]) is not None:
        try:
            # Items of one conversation share its time; the milliseconds keep their order.
            fields["created_at"] = datetime.fromtimestamp(seconds, UTC) + timedelta(milliseconds=position)
        except (TypeError, ValueError, OverflowError, OSError):
            raise place.error(f"created_at is not a time: {seconds!r:.40}") from None
    if known_role(str(message.get("role"))) is None:
        raise place.error(f"role {message.get('role')!r:.40} is not known")
    return utterance(place, fields, thread_id=thread, position=position)


def _said(place: FilePlace, message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, str) or content is None:
        return (content or "").strip()
    if not isinstance(content, list):
        raise place.error("content must be a text or a list of parts")
    return "\n".join(part for part in map(_part, content) if part).strip()


def _part(part: object) -> str:
    """A part of a message: its words, or a marker for a picture or a file."""
    if not isinstance(part, dict) or part.get("type") in _THOUGHTS:
        return part if isinstance(part, str) else ""
    text = part.get("text", part.get("refusal"))
    text = text.get("value") if isinstance(text, dict) else text
    if isinstance(text, str):
        return text
    if part.get("filename"):
        return f"[file: {part['filename']}]"
    kind = str(part.get("type", "attachment"))
    return f"[{kind.removeprefix('input_').removesuffix('_url').removesuffix('_file')}]"
