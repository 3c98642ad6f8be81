"""What a model is shown of turns, memories and messages."""

from __future__ import annotations

from agent_memory.language.tasks.task import Data
from agent_memory.models import Role, UtcTime


class TurnView(Data):
    """A turn as a model sees it. `ref` (t1, t2, …) is what an answer cites; real ids stay with us."""

    ref: str
    role: Role
    name: str | None = None
    content: str
    created_at: UtcTime


class FactView(Data):
    """A remembered fact as a model sees it. `ref` (f1, f2, …) is what an answer cites."""

    ref: str
    kind: str
    content: str
    quote: str | None = None
    confidence: float = 0.8
    said_at: UtcTime


class NoteView(Data):
    """A memory that a search found, as a model sees it. `ref` (n1, n2, …) is what an answer cites."""

    ref: str
    said: UtcTime
    text: str


class MessageView(Data):
    """A message of a live conversation, as chat APIs know it."""

    role: str
    content: str
