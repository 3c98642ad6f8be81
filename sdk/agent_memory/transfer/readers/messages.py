"""Turns and chat messages: one object a line, a list of them, or whole conversations under "messages"."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from agent_memory.models import TurnInput
from agent_memory.transfer.parts import read_parts
from agent_memory.transfer.readers.utterances import FilePlace, Utterance, next_time, utterance

_TURN_FIELDS = set(TurnInput.model_fields)
_TALKS = ("messages", "conversations", "items")
"""The fields that hold a conversation's messages, in chat APIs, in ShareGPT files and in pages of Zep 4."""
_SAME = {
    "timestamp": "created_at",
    "ts": "created_at",
    "time": "created_at",
    "date": "created_at",
    "text": "content",
    "value": "content",
    "speaker": "name",
    "author": "name",
    "sender": "role",
    "from": "role",
    "message_id": "id",
    "uuid": "id",
}
"""Names of turn fields in other systems. Our own names have priority."""
_THREADS = ("thread_id", "thread_uuid", "conversation_id", "session_id", "chat_id")
"""Names of the thread id in other systems."""


def read_messages(rows: Iterable[tuple[FilePlace, Any]], thread_id: str) -> Iterator[Utterance]:
    """Reads turns (`{"role", "content", …}`) and conversations (`{"messages": […]}`), also mixed.

    Turns without a thread belong to `thread_id`. Conversations without an id get it with a number.

    Raises:
        InvalidInput: at the first row that is neither, or that is invalid.
    """
    positions: defaultdict[object, int] = defaultdict(int)
    last: dict[str, datetime | None] = {}
    conversations = 0
    for place, row in rows:
        if not isinstance(row, dict):
            raise place.error(f"expected an object, found {_kind(row)}")
        if talk := next((name for name in _TALKS if name in row), None):
            conversations += 1
            yield from _conversation(place, row, talk, f"{thread_id}-{conversations}")
        else:
            thread = thread_id if (named := _thread(row)) is None else named
            for turn in _turn(place, row, thread, row.get("user_id"), positions[str(thread)], last.get(str(thread))):
                last[str(thread)] = turn.turn.created_at
                yield turn
            positions[str(thread)] += 1


def _conversation(place: FilePlace, row: Mapping[str, Any], talk: str, unnamed: str) -> Iterator[Utterance]:
    messages = row[talk]
    if not isinstance(messages, list):
        raise place.error(f'"{talk}" must be a list, not {_kind(messages)}')
    named = _thread(row) or row.get("id") or row.get("uuid")
    last: datetime | None = None
    for position, message in enumerate(messages):
        here = place.within(f"message {position + 1}")
        if not isinstance(message, dict):
            raise here.error(f"expected an object, found {_kind(message)}")
        thread = named or _thread(message) or unnamed
        for turn in _turn(here, message, thread, row.get("user_id"), position, last):
            last = turn.turn.created_at
            yield turn


def _thread(row: Mapping[str, Any]) -> Any:
    """The thread that a row names, if it names one. An empty name is kept, so that it is refused later."""
    return next((row[name] for name in _THREADS if row.get(name) is not None), None)


def _turn(
    place: FilePlace, row: Mapping[str, Any], thread: object, user: object, position: int, last: datetime | None
) -> Iterator[Utterance]:
    """The turn of a message; none if it says nothing, as an answer of a model can. `last` is when the last one was.

    A message without a time gets one that keeps its place, if the one before it has a time.
    """
    row = _with_our_names(row)
    fields = {name: value for name, value in row.items() if name in _TURN_FIELDS and value not in (None, "")}
    fields["content"] = _content(place, row)
    if at := fields.get("created_at") or next_time(last):
        fields["created_at"] = at
    if not fields["content"].strip() and not row.get("parts"):
        return
    if "parts" not in row and (parts := read_parts(row.get("content"), row.get("tool_calls") or ())):
        fields["parts"] = parts
    others = {name: value for name, value in row.items() if name not in {*_TURN_FIELDS, *_THREADS, "user_id"}}
    if others:
        given = row.get("metadata") or {}
        if not isinstance(given, dict):
            raise place.error(f"metadata must be an object, not {_kind(given)}")
        fields["metadata"] = {**others, **given}
    yield utterance(place, fields, thread_id=thread, user_id=user, position=position)


def _with_our_names(row: Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(row.get("role_type"), str):  # Zep has the speaker's name in `role`
        row = {"name": row.get("role"), **row, "role": row["role_type"]}
    if row.get("reference_time"):  # Zep's `created_at` is when it received the message
        row = {**row, "created_at": row["reference_time"]}
    if row.get("function_call") and not row.get("tool_calls"):  # as OpenAI wrote it until 2023
        row = {**row, "tool_calls": [{"function": row["function_call"]}]}
    named: dict[str, Any] = {}
    for name, value in row.items():
        ours = _SAME.get(name, name)
        # An object under such a name means something else and stays.
        named[name if ours in row or ours in named or not isinstance(value, str | int | float) else ours] = value
    return named


def _content(place: FilePlace, row: Mapping[str, Any]) -> str:
    """The text of a message: its content, the text of its parts, or its tool calls in words; empty if it has none."""
    if "content" not in row and not row.get("tool_calls"):
        raise place.error("content is missing")
    content = row.get("content")
    if isinstance(content, list):
        content = "\n".join(_part(place, part) for part in content)
    elif not isinstance(content, str | None):
        raise place.error(f"content must be a text or a list of parts, not {_kind(content)}")
    if content and content.strip():
        return content
    return "\n".join(_call(place, call) for call in row.get("tool_calls") or ()) or str(row.get("refusal") or "")


def _part(place: FilePlace, part: object) -> str:
    if isinstance(part, str):
        return part
    if isinstance(part, dict):
        for name in ("text", "refusal"):
            if isinstance(part.get(name), str):
                return str(part[name])
        if isinstance(part.get("type"), str):
            return f"[{part['type'].removesuffix('_url').removeprefix('input_')}]"
    raise place.error(f"a part of content has neither a text nor a type: {json.dumps(part):.60}")


def _call(place: FilePlace, call: object) -> str:
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict) or not isinstance(function.get("name"), str):
        raise place.error("a tool call names no function")
    return f"[calls {function['name']}({function.get('arguments', '')})]"


def _kind(value: object) -> str:
    """The JSON type of a value."""
    match value:
        case None | bool():
            return json.dumps(value)
        case dict():
            return "an object"
        case list():
            return "a list"
        case str():
            return "a text"
        case _:
            return "a number"
