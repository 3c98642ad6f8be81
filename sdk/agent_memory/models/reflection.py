"""An answer about a user, with what each of its sentences rests on."""

from __future__ import annotations

from pydantic import Field

from agent_memory.models.base import Model, Usage, UtcTime


class Evidence(Model):
    """A memory that a sentence rests on, and the words of it that show it."""

    memory_id: str
    quote: str = Field(description="Words of the memory, as they stand in it.")
    thread_id: str = Field(description="The conversation that it comes from; reserved if it is of none.")
    turn_ids: list[str] = Field(
        default_factory=list, description="The turns that the memory rests on, if there are any; `why` has their words."
    )
    said_at: UtcTime
    group: str | None = Field(default=None, description="The group whose memory it is; None for the user's own.")


class CitedSentence(Model):
    """A sentence of an answer."""

    text: str
    evidence: list[Evidence] = Field(description="What it rests on: at least one memory.")


class Reflection(Model):
    """An answer to a question about a user. Without sentences, what is remembered does not answer it."""

    question: str
    text: str = Field(default="", description="The sentences, one after the other.")
    sentences: list[CitedSentence] = Field(default_factory=list)
    rejected: list[str] = Field(default_factory=list, description="Why sentences of the model were left out.")
    skipped_reason: str | None = Field(default=None, description="Why nothing was looked for: a switch is off.")
    model: str | None = Field(default=None, description="What answered; None if nothing was found to answer from.")
    prompt_version: str | None = None
    usage: Usage = Field(default_factory=Usage)
