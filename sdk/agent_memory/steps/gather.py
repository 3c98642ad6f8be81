"""Gathering: selects the turns that a run covers, and divides them into portions that a model can read.

A turn that is too long for one portion is cut, never left out.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from agent_memory.errors import NotFound
from agent_memory.language.tasks import ChatModel, EmbeddingModel, FactView, TurnView
from agent_memory.models import DeadLetter, Memory, Model, Turn, Usage, there, time_zone
from agent_memory.rules.switches import Rules
from agent_memory.screening.injected import without_injected
from agent_memory.settings import Limits, PolicySettings
from agent_memory.store.chunks import speaker_name
from agent_memory.store.client import Store
from agent_memory.store.cursors import Cursor, StoredCursor, read_ahead, read_cursor
from agent_memory.store.documents import from_document
from agent_memory.store.turns import in_order, new_turns, position_of, read_window, recent_turns, turns_by_id
from agent_memory.telemetry import note_usage
from agent_memory.text.folding import folded
from agent_memory.text.patterns import Linear, linear
from agent_memory.text.sentences import END

BYTES_PER_TOKEN = 4
"""Bytes of UTF-8 in a token, roughly."""
OVERHEAD = 8
"""Tokens of the JSON around a turn."""
_SPACE = re.compile(r"\s")  # one class: it reads every character once
_CUTS = (linear(r"\n\s*\n"), linear(r"\n"), END, _SPACE)
"""Where a text is best cut: between paragraphs, lines, sentences, words."""


def size(turn: Turn) -> int:
    """About how many tokens a turn takes."""
    return len(turn.content.encode()) // BYTES_PER_TOKEN + OVERHEAD


def portions(turns: Sequence[Turn], tokens: int) -> Iterator[list[Turn]]:
    """Divides turns into portions, in order. A turn that does not fit into a portion of its own is cut into parts."""
    together: list[Turn] = []
    room = tokens
    for turn in turns:
        if together and size(turn) > room:
            yield together
            together, room = [], tokens
        if size(turn) > tokens:
            for part in cut(turn.content, (tokens - OVERHEAD) * BYTES_PER_TOKEN):
                yield [turn.model_copy(update={"content": part})]
            continue
        together.append(turn)
        room -= size(turn)
    if together:
        yield together


def cut(text: str, most: int) -> Iterator[str]:
    """Cuts a text into parts of at most `most` bytes of UTF-8. Together they are the text."""
    data = text.encode()
    start = 0
    while len(data) - start > most:
        window = data[start : start + most].decode(errors="ignore")
        end = len(window)
        place = next((at for pattern in _CUTS if (at := _last(pattern, window)) > end // 2), end)
        yield window[:place]
        start += len(window[:place].encode())
    yield data[start:].decode()


def _last(pattern: Linear | re.Pattern[str], text: str) -> int:
    """Where the last match ends; 0 if there is none."""
    return max((match.end() for match in pattern.finditer(text)), default=0)


WATCHED, FEWEST, LOST = 40, 10, 0.25
"""Of how many of a model's latest memories health counts those without evidence, from how many on, and the share that
it reports. A choice: good models invent hardly any."""


@dataclass(slots=True)
class Tally:
    """What the background work of this process has cost since it started, and how well its model quotes."""

    usage: Usage = field(default_factory=Usage)
    quoting: str = ""
    """The model that gave the latest memories."""
    quoted: deque[bool] = field(default_factory=lambda: deque(maxlen=WATCHED))
    """Of its latest memories, which rest on turns and words that exist."""

    def add(self, step: str, usage: Usage) -> None:
        """Adds what a step cost, here and in the metrics."""
        self.usage += usage
        note_usage(step, usage)

    def note_evidence(self, model: str, kept: int, dropped: int) -> None:
        """Notes how many memories of an answer were kept, and how many rested on turns or words that do not exist."""
        if model != self.quoting:
            self.quoting = model
            self.quoted.clear()
        self.quoted.extend([False] * dropped + [True] * kept)

    @property
    def complaint(self) -> str | None:
        """What is wrong with the model's evidence, if much is."""
        lost = self.quoted.count(False)
        if len(self.quoted) < FEWEST or lost < LOST * len(self.quoted):
            return None
        return (
            f"{self.quoting} invents evidence: of its last {len(self.quoted)} memories, {lost} were dropped, because"
            " they cite turns or quote words that do not exist; try another model"
        )


@dataclass(frozen=True, slots=True)
class Tools:
    """What a step works with. `rules` are those of its scope.

    With `one_call` one model call does extraction and summary of the same turns.
    """

    store: Store
    chat: ChatModel
    embeddings: EmbeddingModel
    limits: Limits
    policy: PolicySettings = field(default_factory=PolicySettings)
    rules: Rules = field(default_factory=Rules)
    one_call: bool = False
    tally: Tally = field(default_factory=Tally)


class StepRequest(Model):
    """The request to a step. With `dead_letter_id` it covers that range again instead of the next one.

    `n` is how many facts a reconciliation compares, `prompt_version` the version whose work a reprocessing repeats.
    With `retired`, only turns that have left the live view are covered. With `recent_k`, a model reads only the
    `recent_k` newest turns (for a profile, memories); older ones are covered unread. Steps of a whole user ignore
    `thread_id`. `memory_ids` are the facts that a consolidation merges, `project_id` limits reflection to a project's
    memories.
    """

    user_id: str
    thread_id: str = ""
    dead_letter_id: str | None = None
    n: int | None = None
    prompt_version: str | None = None
    retired: bool = False
    recent_k: int | None = None
    memory_ids: list[str] | None = None
    project_id: str | None = None


@dataclass(frozen=True, slots=True)
class TurnRange:
    """The turns of one run in the order of the conversation, and the position of the cursor after them.

    Turns that are off the record are covered and left out; `covered` counts them too. Turns that `recent_k` leaves
    unread are not counted. A range `is_part` if it belongs to a dead letter, or was narrowed to find a failing turn.
    `oldest` is the `_ts` of the turn that has waited longest.
    """

    turns: list[Turn]
    before: StoredCursor
    cursor: Cursor
    more: bool
    covered: int = 0
    is_part: bool = False
    oldest: int | None = None


async def gather_turns(
    tools: Tools, request: StepRequest, container: str, step: str, behind: str | None = None
) -> TurnRange:
    """The next turns that a step has not covered, bounded by number and tokens.

    A step that runs `behind` another gets only turns that the other has covered.
    """
    partition = (request.user_id, request.thread_id)
    if request.dead_letter_id is not None:
        stored = await read_cursor(tools.store, container, partition, step)
        document = await tools.store.read(container, request.dead_letter_id, partition)
        if document is None:
            raise NotFound(f"no dead letter {request.dead_letter_id} in this thread")
        letter = from_document(DeadLetter, document)
        turns = await turns_by_id(tools.store, *partition, letter.turn_ids)
        return TurnRange(on_record(turns), stored, stored.cursor, more=False, is_part=True)
    limit = tools.limits.batch_turns
    covered = None if behind is None else (await read_cursor(tools.store, container, partition, behind)).cursor
    window = await read_window(tools.store, *partition) if request.retired else None
    full = False
    unread: list[tuple[str, int]] = []

    async def read(stored: StoredCursor) -> list[tuple[Turn, int]]:
        nonlocal full, unread
        if request.recent_k is not None:
            unread, recent = await recent_turns(tools.store, *partition, stored.cursor, request.recent_k, limit)
            full = len(recent) == limit
            return recent
        new = await new_turns(tools.store, *partition, stored.cursor, limit)
        found = [(turn, ts) for turn, ts in new if covered is None or not covered.is_new(turn.id, ts)]
        if window is not None:  # up to the first live turn, because a cursor cannot skip a turn
            found = list(takewhile(lambda one: not window.shows_at(position_of(one[0]), "user", one[1]), found))
        full = len(found) == limit
        return found

    stored, found = await read_ahead(tools.store, container, partition, step, read)
    if not found:
        return TurnRange([], stored, stored.cursor, more=False)
    taken = found[: _within_tokens([turn for turn, _ in found], tools.limits.batch_tokens)]
    cursor = stored.cursor.advanced([*unread, *((turn.id, ts) for turn, ts in taken)])
    more = full or len(taken) < len(found)
    turns = in_order(on_record([turn for turn, _ in taken]))
    return TurnRange(turns, stored, cursor, more, len(taken), oldest=min(ts for _, ts in taken))


def on_record(turns: Sequence[Turn]) -> list[Turn]:
    """These turns without those that were written while memory was off."""
    return [turn for turn in turns if not turn.off_record]


def _within_tokens(turns: Sequence[Turn], budget: int) -> int:
    """How many of these turns fit a budget; at least one, which may be too long alone."""
    total = 0
    for index, turn in enumerate(turns):
        total += size(turn)
        if total > budget and index > 0:
            return index
    return len(turns)


def view_turns(turns: Sequence[Turn], zone: str = "UTC", prefix: str = "t") -> list[TurnView]:
    """Turns as a model sees them: numbered, folded, in the time of a zone, without our ids and what we put in."""
    local = time_zone(zone)
    return [
        TurnView(
            ref=f"{prefix}{number}",
            role=turn.role,
            name=speaker_name(turn),
            content=without_injected(folded(turn.content)),
            created_at=there(turn.created_at, local),
        )
        for number, turn in enumerate(turns, 1)
    ]


def view_facts(facts: Sequence[Memory], prefix: str = "f") -> list[FactView]:
    """Memories as a model sees them: numbered, without our ids."""
    return [
        FactView(
            ref=f"{prefix}{number}",
            kind=fact.kind or fact.type,
            content=fact.content,
            quote=fact.quote,
            confidence=fact.confidence,
            said_at=fact.last_said_at,
        )
        for number, fact in enumerate(facts, 1)
    ]
