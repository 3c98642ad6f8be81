"""Utterances: one checked line of a transcript. All readers produce them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, get_args

from pydantic import ValidationError

from agent_memory.errors import InvalidInput
from agent_memory.models import ROLE_ALIASES, Role, TurnInput
from agent_memory.store.ids import check_id, derived_id
from agent_memory.store.turns import fitted
from agent_memory.text.patterns import linear

_FORBIDDEN = linear(r"[/\\?#\x00-\x1f\x7f]")
_ROLES = {
    **dict.fromkeys(get_args(Role)),
    **ROLE_ALIASES,
    "developer": "system",
    "gpt": "agent",
    "chatgpt": "agent",
    "bot": "agent",
    "model": "agent",
    "function_call": "agent",
    "observation": "tool",
    "norole": "user",
}
"""The roles of chat APIs and data sets, with ours."""
_ROLES_TO_NAME = "user, assistant (or agent), tool, system"


def known_role(text: str) -> str | None:
    """Our name for a role; None if the role is unknown."""
    name = text.strip().lower()
    return (_ROLES[name] or name) if name in _ROLES else None


def id_of(name: str) -> str:
    """A name as an id, without characters that ids must not have. It may be empty."""
    return _FORBIDDEN.sub("-", name).lstrip("_")[:200]


class NothingSaid(InvalidInput):
    """A file of a known system holds no conversations."""

    code = InvalidInput.code


@dataclass(frozen=True, slots=True)
class Utterance:
    """A turn with its thread, and its user if the file names one."""

    thread_id: str
    user_id: str | None
    turn: TurnInput


@dataclass(frozen=True, slots=True)
class FilePlace:
    """A place in a file, for error messages."""

    file: str
    line: int | None = None
    item: str | None = None

    def within(self, item: str) -> FilePlace:
        """A place inside this one, such as "message 3"."""
        return replace(self, item=f"{self.item}, {item}" if self.item else item)

    def error(self, reason: str, hint: str | None = None) -> InvalidInput:
        """An error with this place, the reason, and perhaps a hint."""
        line = f"line {self.line}" if self.line is not None else None
        error = InvalidInput(f"{', '.join(part for part in (self.file, line, self.item) if part)}: {reason}")
        if hint is not None:
            error.add_note(hint)
        return error


def utterance(
    place: FilePlace, fields: Mapping[str, Any], *, thread_id: object, user_id: object = None, position: int
) -> Utterance:
    """Checks the fields of a turn and makes it an utterance.

    A turn without an id gets one from its position and its text, so that reading the same file again
    makes the same turns. What is too large for a turn is cut and says so; half a character becomes U+FFFD.

    Raises:
        InvalidInput: naming the place, if an id cannot be used, a field is wrong or nothing is said.
    """
    if isinstance(role := fields.get("role"), str):
        fields = {**fields, "role": known_role(role)}
        if fields["role"] is None:
            raise place.error(f"role {role!r:.40} is not known", f"roles are {_ROLES_TO_NAME}")
    try:
        thread = check_id(_text(thread_id), "thread_id")
        user = None if user_id is None else check_id(_text(user_id), "user_id")
        if fields.get("id") is not None:
            fields = {**fields, "id": check_id(_text(fields["id"]), "id")}
        turn = TurnInput.model_validate(fitted(_whole(fields)))
    except InvalidInput as error:
        raise place.error(str(error)) from None
    except ValidationError as error:
        raise place.error(_reason(error)) from None
    if not turn.content.strip():
        raise place.error("content is empty")
    if turn.id is None:
        turn.id = derived_id("turn", thread, str(position), turn.role, turn.content)
    return Utterance(thread, user, turn)


def _text(identifier: object) -> object:
    """Accepts a number as an id, because many systems number their messages."""
    is_number = isinstance(identifier, int) and not isinstance(identifier, bool)
    return str(identifier) if is_number else identifier


def next_time(last: datetime | None) -> datetime | None:
    """The time of a message that names none: just after the one before it, so that the order stays."""
    return None if last is None else last + timedelta(milliseconds=1)


def _whole(value: Any) -> Any:
    """A value without halves of characters. JSON can hold lone surrogates, which UTF-8 and the store cannot."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace") if _is_cut(value) else value
    if isinstance(value, Mapping):
        return {_whole(name): _whole(part) for name, part in value.items()}
    return [_whole(part) for part in value] if isinstance(value, list) else value


def _is_cut(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def _reason(error: ValidationError) -> str:
    """The first error of a turn, in one line."""
    first = error.errors()[0]
    name = ".".join(str(part) for part in first["loc"])
    if first["type"] == "missing":
        return f"{name} is missing"
    if name == "created_at":
        return f"{name}: {first['input']!r:.40} is not a time; write it like 2026-03-15T10:00:00Z"
    return f"{name}: {first['msg'][0].lower()}{first['msg'][1:]}"
