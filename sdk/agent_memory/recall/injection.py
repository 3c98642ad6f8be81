"""Injection: puts a context into the messages of a request, and replaces an earlier one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from agent_memory.models import Context
from agent_memory.screening.injected import without_blocks

Placement = Literal["system_message", "system_prompt", "before_recent"]
Message = dict[str, Any]

RECENT_MESSAGES = 5
"""Number of messages that `before_recent` leaves after the context."""


def inject(
    messages: Sequence[Mapping[str, Any]], context: Context, placement: Placement = "system_message"
) -> list[Message]:
    """The messages with the context's text among them, and without the one of an earlier call.

    Args:
        messages: Of a chat request; they are not changed.
        context: The result of `context()`; an empty one only removes the earlier one.
        placement: A separate system message after the leading ones; the end of the first of those; or a system message
            before the last five messages, which keeps a long conversation in a model's prompt cache.
    """
    cleaned = [message for given in messages if (message := _without_block(given)) is not None]
    if not context.text:
        return cleaned
    leading = next((n for n, message in enumerate(cleaned) if not _is_system(message)), len(cleaned))
    if placement == "system_prompt" and leading and isinstance(cleaned[0].get("content"), str):
        prompt = cleaned[0] | {"content": f"{cleaned[0]['content']}\n\n{context.text}"}
        return [prompt, *cleaned[1:]]
    place = leading
    if placement == "before_recent":
        place = max(leading, len(cleaned) - RECENT_MESSAGES)
        # A tool's answer must follow the message that called it.
        while place > leading and cleaned[place].get("role") == "tool":
            place -= 1
    return [*cleaned[:place], {"role": "system", "content": context.text}, *cleaned[place:]]


def _without_block(given: Mapping[str, Any]) -> Message | None:
    """A message without an earlier context; None if it was nothing else."""
    message = dict(given)
    content = message.get("content")
    if not _is_system(message) or not isinstance(content, str):
        return message
    rest = without_blocks(content)
    if rest == content:
        return message
    return message | {"content": rest} if rest.strip() else None


def _is_system(message: Mapping[str, Any]) -> bool:
    return message.get("role") in ("system", "developer")
