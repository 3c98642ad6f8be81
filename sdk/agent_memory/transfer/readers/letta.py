"""Letta: the messages of an agent file (`.af`), and those that its API lists.

What people and agents said becomes turns. System prompts, thoughts, heartbeats, and calls and results of tools are left
out. Agent files number their messages again at each export, so a turn's id is made from its text and time.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from agent_memory.store.ids import derived_id
from agent_memory.transfer.readers.utterances import FilePlace, NothingSaid, Utterance, id_of, utterance

_SPEAKERS = {"user": "user", "assistant": "agent", "user_message": "user", "assistant_message": "agent"}
_THINKS_IN_CONTENT = "letta_v1_agent"
"""Agents of other types speak by calling `send_message`; next to a call, their content is a thought."""
_NOTHING = "import its memory blocks with: agent-memory import FILE --user ID"


def is_letta(first: object) -> bool:
    """Whether this looks like an agent file, or like a message that the API lists."""
    if not isinstance(first, dict):
        return False
    is_file = isinstance(first.get("agents"), list) and isinstance(first.get("blocks"), list)
    is_old_file = isinstance(first.get("core_memory"), list) and isinstance(first.get("messages"), list)
    return is_file or is_old_file or "message_type" in first


def read_letta(rows: Iterable[tuple[FilePlace, Any]], thread_id: str) -> Iterator[Utterance]:
    """Reads what was said. A thread is an agent by its name; listed messages belong to `thread_id`.

    Raises:
        InvalidInput: if a message is invalid, or nothing was said.
    """
    rows = list(rows)
    positions: Counter[tuple[str, ...]] = Counter()
    for place, message, thread, speaks_in_content in _messages(rows, thread_id):
        speaker = _SPEAKERS.get(str(message.get("message_type") or message.get("role")))
        said = _said(message, speaks_in_content) if speaker else ""
        if not speaker or not said:
            continue
        at = message.get("created_at") or message.get("date")
        key = (thread, str(at), speaker, said)
        fields = {"role": speaker, "content": said, "id": derived_id("turn", *key, str(positions[key]))}
        if at:
            fields["created_at"] = at
        yield utterance(place, fields, thread_id=thread, position=positions[key])
        positions[key] += 1
    if not positions:
        nothing = NothingSaid(f"{rows[0][0].file}: no message of a user or an agent in this file of Letta")
        nothing.add_note(_NOTHING)
        raise nothing


def _messages(
    rows: list[tuple[FilePlace, Any]], thread_id: str
) -> Iterator[tuple[FilePlace, Mapping[str, Any], str, bool]]:
    """The messages, each with its place, its thread, and whether its agent speaks in the content beside calls."""
    for place, row in rows:
        if not isinstance(row, dict):
            raise place.error("expected an object")
        if "message_type" in row:
            yield place, row, thread_id, True
            continue
        for agent in row.get("agents") or [row]:
            if not isinstance(agent, dict):
                raise place.error("an agent is not an object")
            name = id_of(str(agent.get("name") or "")) or thread_id
            for number, message in enumerate(agent.get("messages") or [], start=1):
                here = place.within(f"{name}, message {number}")
                if not isinstance(message, dict):
                    raise here.error("expected an object")
                yield here, message, name, agent.get("agent_type") == _THINKS_IN_CONTENT


def _said(message: Mapping[str, Any], speaks_in_content: bool) -> str:
    calls = message.get("tool_calls")
    calls = [call for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []
    sent = [words for call in calls if (words := _sent(call.get("function")))]
    if sent:
        return "\n".join(sent)
    if calls and not speaks_in_content:
        return ""
    content = message.get("content") or message.get("text") or ""
    if isinstance(content, list):
        texts = (part.get("text") for part in content if isinstance(part, dict) and part.get("type") == "text")
        content = "\n".join(text for text in texts if isinstance(text, str))
    return _unpacked(str(content)).strip()


def _sent(function: object) -> str | None:
    """The words of a call of `send_message`."""
    if not isinstance(function, dict) or function.get("name") != "send_message":
        return None
    message = _object(str(function.get("arguments"))).get("message")
    return message.strip() if isinstance(message, str) else None


def _unpacked(content: str) -> str:
    """What a user said. Older servers pack it into JSON with its time, and send events such as heartbeats like that."""
    packed = _object(content)
    if not {"type", "time"} <= packed.keys():
        return content
    return str(packed.get("message", "")) if packed["type"] == "user_message" else ""


def _object(text: str) -> dict[str, Any]:
    if not text.lstrip().startswith("{"):
        return {}
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
