"""The content of a short-term memory: the messages of the view, long-term blocks, and what a model selects."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from typing import Any

from pydantic import Field
from pydantic_core import to_json

from agent_memory.errors import AgentMemoryError
from agent_memory.language.callable_chat import Provider, as_chat_model
from agent_memory.language.tasks import SELECT, NoteView, SelectInput
from agent_memory.models import Hit, Memory, Model
from agent_memory.recall.render import escaped, quoted
from agent_memory.screening.injected import NOTICE, XML_END, XML_HEADER
from agent_memory.text.tokens import TokenCounter
from agent_memory.working.messages import MESSAGE_TOKENS, ChatMessage

SUMMARY_PREFIX = "CONVERSATION SUMMARY: "
"""The beginning of the message that summarises the turns that have left the view."""


class MemoryContent(Model):
    """The view of one conversation, and what long-term memory adds to it."""

    chat_messages: list[ChatMessage] = Field(default_factory=list)
    recalled: dict[str, list[Any]] = Field(default_factory=dict, description="What each block returned, by its name.")
    memory_in_system_prompt: bool = False
    tokens: int = 0
    left_out: int = Field(default=0, description="How many messages of the view had no room.")
    degraded: list[str] = Field(default_factory=list, description="Which parts are missing, and why.")

    @property
    def static_facts(self) -> list[Memory]:
        """What static blocks returned."""
        return [item for item in self._items() if isinstance(item, Memory) and item.type == "static"]

    @property
    def extracted_facts(self) -> list[Memory]:
        """What extractive blocks returned."""
        return [item for item in self._items() if isinstance(item, Memory) and item.type != "static"]

    @property
    def vector_matches(self) -> list[Hit]:
        """What vector blocks returned."""
        return [item for item in self._items() if isinstance(item, Hit)]

    @property
    def messages(self) -> list[dict[str, Any]]:
        """Everything as messages for a chat API. What blocks remember comes after the system messages.

        With `memory_in_system_prompt`, it is appended to the last system message instead.
        """
        messages = [message.to_dict() for message in self.chat_messages]
        text = render_recalled(self.recalled)
        if not text:
            return messages
        ahead = sum(message.role == "system" for message in self.chat_messages)
        if self.memory_in_system_prompt and ahead:
            messages[ahead - 1]["content"] += f"\n\n{text}"
        else:
            messages.insert(ahead, {"role": "system", "content": text})
        return messages

    def _items(self) -> list[Any]:
        return [item for items in self.recalled.values() for item in items]


class Updated(Model):
    """The result of storing a message."""

    turn_id: str | None = Field(default=None, description="None: a switch forbids storing the conversation.")
    created: bool = Field(
        default=False, description="Whether it is new. Storing a message again under its id changes nothing."
    )
    tokens: int = Field(default=0, description="Tokens of the view with the message, before anything left.")
    retired: int = Field(default=0, description="How many messages left the view.")
    degraded: list[str] = Field(default_factory=list, description="What overflow could not do, and why.")


def render_recalled(recalled: Mapping[str, Sequence[Any]]) -> str:
    """What blocks remember, as quoted data: one element for each block that has something.

    Each item is escaped and put on one line, so that its words cannot close an element or begin a line.
    """
    return _framed(_element(name, items) for name, items in recalled.items() if items) if any(recalled.values()) else ""


def _framed(elements: Iterable[str]) -> str:
    return "\n".join([XML_HEADER, *elements, f"    {NOTICE}", XML_END])


def _element(name: str, items: Iterable[Any]) -> str:
    return "\n".join([f"    <{name}>", *(f"      - {line_of(item)}" for item in items), f"    </{name}>"])


def line_of(item: Any) -> str:
    """An item of a block (a text, a memory, a hit, or data as JSON) as one quoted line."""
    match item:
        case str(text):
            pass
        case Memory(content=text):
            pass
        case Hit(memory=Memory(content=text)):
            pass
        case _:
            text = to_json(item).decode()
    return escaped(quoted(text))


def fit_recalled(recalled: Mapping[str, Sequence[Any]], room: int, tokens: TokenCounter) -> dict[str, list[Any]]:
    """The items of all blocks that fit into `room` tokens together. Earlier blocks have priority."""
    fitted: dict[str, list[Any]] = {}
    room -= tokens.count(_framed(()))
    for name, items in recalled.items():
        kept = within(items, room - tokens.count(_element(name, ())), tokens)
        if kept:
            fitted[name] = kept
            room -= tokens.count(_element(name, kept))
    return fitted


def bounded(head: Sequence[ChatMessage], room: int, tokens: TokenCounter) -> tuple[list[ChatMessage], list[str]]:
    """Cuts the messages before the conversation to `room` tokens, earlier ones last. Also returns what was cut."""
    kept: list[ChatMessage] = []
    cut: list[str] = []
    for message in head:
        content = tokens.truncate(message.content, max(room - MESSAGE_TOKENS, 0))
        if content != message.content:
            cut.append(f"a {message.role} message at the beginning was cut: it would take more than half of the view")
        if content:
            kept.append(message.model_copy(update={"content": content}))
            room -= MESSAGE_TOKENS + tokens.count(content)
    return kept, cut


def within(items: Sequence[Any], max_tokens: int, tokens: TokenCounter) -> list[Any]:
    """The items that fit into `max_tokens` as lines, in order. Items that do not fit are skipped."""
    kept = []
    for item in items:
        cost = tokens.count(f"      - {line_of(item)}\n")
        if cost <= max_tokens:
            kept.append(item)
            max_tokens -= cost
    return kept


logger = logging.getLogger("agent_memory")

RETRIEVAL_PROMPT = "Choose the facts that matter for what the user says now."
"""The default instruction for choosing facts."""
SELECTION_SECONDS = 10.0

AsyncSelection = Callable[[str, Sequence[Memory]], Coroutine[Any, Any, list[Memory]]]


def selected_by(
    provider: Provider, prompt: str = RETRIEVAL_PROMPT, timeout: float = SELECTION_SECONDS
) -> AsyncSelection:
    """Returns a selection by a model, for the `select` of `AsyncExtractiveMemory`.

    If the model fails or times out, all facts of the search are kept, with a warning in the log.

    Args:
        provider: A chat model, or a function of messages.
        prompt: What the model should choose.
        timeout: How long it may take, in seconds.

    Raises:
        InvalidInput: if the provider is neither.
    """
    model = as_chat_model(provider)

    async def select(query: str, facts: Sequence[Memory]) -> list[Memory]:
        by_ref = {f"n{place}": fact for place, fact in enumerate(facts, 1)}
        notes = [NoteView(ref=ref, said=fact.last_said_at, text=fact.content) for ref, fact in by_ref.items()]
        try:
            async with asyncio.timeout(timeout):
                asked = SelectInput(wanted=prompt, message=query, notes=notes)
                refs = (await model.run(SELECT, asked)).output.refs
        except (AgentMemoryError, TimeoutError) as error:
            logger.warning("No facts were selected, showing those of the search: %s", str(error) or "not in time")
            return list(facts)
        return [by_ref[ref] for ref in dict.fromkeys(refs) if ref in by_ref]

    return select
