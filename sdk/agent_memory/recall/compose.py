"""Composing: which lines a context shows of what was found, and in which order.

A line is shown because it helps to answer. So each lane is cut by relevance, the rest of the budget stays unused, and
if no memory is relevant to the question, one line says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo
from typing import Any

from agent_memory.calibration import Calibration, calibration_of
from agent_memory.models import (
    Context,
    ContextFormat,
    Hit,
    Memory,
    ProfileLine,
    ThreadState,
    ThreadSummary,
    Turn,
    UserProfile,
    now,
)
from agent_memory.recall.archive import Conversation, archive_line
from agent_memory.recall.changes import newer_versions, newest_first, with_added
from agent_memory.recall.excerpts import shortened
from agent_memory.recall.hints import unshown
from agent_memory.recall.oneself import NEAREST, asks_for_all, asks_of_self
from agent_memory.recall.questions import Question
from agent_memory.recall.relevance import Bm25, nearness, relevance_of_all, repeats_question, words, worth_showing
from agent_memory.recall.render import (
    HELP,
    HINTS,
    NOTHING,
    STANDING,
    STATE,
    SUMMARY,
    TURNS,
    Fit,
    Line,
    fit,
    memory_line,
    profile_line,
    quoted,
)
from agent_memory.settings import RecallSettings
from agent_memory.store.chunks import spoken, told_by
from agent_memory.text.folding import folded
from agent_memory.text.terms import query_terms, says_something
from agent_memory.text.tokens import TokenCounter

LAST_TURNS = 5
"""Turns that a context shows."""
PROFILE_LINES = 4
"""Maximum lines of the profile in a context."""
_PROFILE_WORDS = 0.5
"""A profile line is shown if it has this share of the question's words (rare words count more), or if it comes from a
memory that is as similar as an answer usually is. A choice."""
_TALK_SHARE = 0.37
"""Characters of one of the best turns that a context shows for each token of its budget: 240 for 650 tokens. Of 100
contexts, with whole turns, 400, 290, 240 and 180 characters, those of BEAM tell some evidence in 73, 76, 76, 79 and 82,
of REALTALK in 79, 78, 79, 80 and 79."""
_BEST = 6
"""Number of memories after which turns are shown more briefly."""
_BRIEF = 0.42
"""Characters of a later turn, as a share of those of the best: 100 of 240. Of 100 contexts of LoCoMo,
REALTALK and BEAM, 92.2, 81.6 and 86.1 then tell some evidence instead of 91.4, 79.4 and 81.9, and of 100 words of the
right answers they have 81.6, 61.4 and 63.6 instead of 81.8, 60.2 and 64.0."""
_TALK = 120
"""Minimum characters of a turn that are shown, about two sentences. A choice."""
_WORTH_CUTTING = 1.3
"""A turn is cut if it is longer than its shown part by this factor. A choice."""
_SAME_WORDS = 2 / 3
"""Minimum share of a fact's words in its source turn for the turn to say the fact."""
_REPEATED = 0.4
"""Minimum share of a turn's words in its facts for these to stand for the turn.

Of 100 words of the right answers, contexts of LoCoMo and REALTALK have 79.3 and 64.5; with 2/3 79.3 and 64.3, with 1/4
78.8 and 64.9. If any fact stands for its turn, they have 78.8 and 63.6."""
_QUESTION_SHOWN = 100
"""Characters of a question that a context repeats."""


@dataclass(slots=True)
class Parts:
    """The results of a context's reads, and how they were found."""

    hits: Sequence[Hit] = ()
    standing: Sequence[Hit] = ()
    conditions: Sequence[Hit] = ()
    hints: Sequence[Hit] = ()
    static: Sequence[Memory] = ()
    archive: Sequence[Conversation] = ()
    profile: UserProfile | None = None
    summary: ThreadSummary | None = None
    state: ThreadState | None = None
    turns: Sequence[Turn] = ()
    question: Question | None = None
    decisions: dict[str, str] = field(default_factory=dict)
    degraded: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a context is composed for."""

    query: str
    budget: int
    limit: int
    as_of: datetime | None
    format: ContextFormat
    settings: RecallSettings
    embedding_model: str
    zone: tzinfo = UTC
    """The user's time zone, in which days are shown."""


def compose(parts: Parts, wanted: Wanted, tokens: TokenCounter) -> Context:
    """The context, made from what was found."""
    query, settings = wanted.query, wanted.settings
    calibration = calibration_of(wanted.embedding_model)
    recent = _recent(parts.turns, query)
    new = (hit for hit in parts.hits if not _is_recent(hit.memory, recent))
    hits = [hit for hit in new if not repeats_question(hit.memory, query, now())]
    standing = {hit.memory.id for hit in parts.standing}
    found = [hit for hit in hits if hit.memory.id not in standing]
    past = wanted.as_of is not None
    best = worth_showing(found, query, settings.context_least, wanted.limit, calibration, _longest(wanted), past=past)
    is_guess = not best and asks_of_self(query)
    if is_guess:
        best = worth_showing(found, query, 0.0, wanted.limit, calibration, _longest(wanted), past=past)[:NEAREST]
    best = [*parts.standing, *_with_conditions(parts.conditions, best, found)]
    once = _without_repeats(best, query_terms(query))
    near = [hit for hit in once if hit.memory.id not in standing][: wanted.limit]
    newer = {} if past else _newer(found, near)
    shown = with_added(near, found, newer)[: wanted.limit]
    told = {hit.memory.id for hit in shown} | ({hit.memory.id for hit in best} - {hit.memory.id for hit in once})
    profile = _profile_lines(parts.profile, query, found, told, calibration) if shown else []
    known = bool(hits or parts.profile)
    is_answered = shown and (not is_guess or asks_for_all(query))
    is_nothing = parts.question is not None and not is_answered and known and not parts.degraded
    before = [query, *(turn.content for turn in recent)]
    hints = unshown(parts.hints, shown, before, settings) if parts.hints else []
    lines: dict[str, list[Line]] = {
        "nothing": [nothing_line(query, anything=bool(shown))] if is_nothing and says_something(query) else [],
        "standing": [standing_line(hit.memory, wanted.zone) for hit in parts.standing],
        "memories": [],
        TURNS: turn_lines(parts.turns, query),
        HINTS: [hint_line(hit, wanted.zone) for hit in hints],
        "state": state_lines(parts.state.state) if parts.state else [],
        "summary": summary_lines(parts.summary),
        "profile": profile,
        "archive": [archive_line(account, wanted.zone) for account in parts.archive],
        "static": static_lines(parts.static, query),
    }
    kept = _kept(lines, shown, newer, wanted, tokens)
    messages = [{"role": line.used["role"], "content": line.text} for line in reversed(kept.kept[TURNS])]
    used = [line.used for name, part in kept.kept.items() if name not in (TURNS, "nothing") for line in part]
    ids = {item.get("id") for item in used}
    if parts.conditions:
        parts.decisions["conditions"] = f"told: {len(ids & {hit.memory.id for hit in parts.conditions})}"
    context = Context(
        text=kept.text,
        messages=([{"role": "system", "content": kept.text}] if kept.text else []) + messages,
        used=used + [line.used for line in reversed(kept.kept[TURNS])],
        left_out=[line.used for line in kept.left_out],
        tokens=kept.tokens,
        query=parts.question.text if parts.question else None,
        decisions=parts.decisions,
    )
    if parts.question is not None:
        context.relevance = round(relevance_of_all(hit for hit in shown if hit.memory.id in ids), 4)
    context.skipped_reason = _why_empty(context, parts)
    return context


def _kept(
    lines: dict[str, list[Line]],
    shown: Sequence[Hit],
    newer: Mapping[str, str],
    wanted: Wanted,
    tokens: TokenCounter,
) -> Fit:
    """The lines that fit, including those of memories. A line is marked as older only if the newer one fits too."""
    while True:
        lines["memories"] = _memory_lines(shown, newer, wanted, tokens)
        kept = fit(lines, tokens, wanted.budget, wanted.format)
        ids = {line.used["id"] for line in kept.kept["memories"]}
        marked = {memory_id: newer_id for memory_id, newer_id in newer.items() if newer_id in ids}
        if len(marked) == len(newer):
            kept.kept["memories"].sort(key=lambda line: line.place)
            return kept
        newer = marked


def _memory_lines(shown: Sequence[Hit], newer: Mapping[str, str], wanted: Wanted, tokens: TokenCounter) -> list[Line]:
    """The lines of the memories to show, each placed below a newer one about the same thing.

    A long turn is cut to the stretch that bears on the query. The best turns are cut only if all lines need more than
    the budget, later ones always.
    """
    places = {hit.memory.id: f"{place:03}" for place, hit in enumerate(newest_first(shown, newer))}
    newest = set(newer.values())

    def line_of(hit: Hit) -> Line:
        memory_id = hit.memory.id
        newer_id, is_newer = newer.get(memory_id), memory_id in newest
        line = memory_line(hit.memory, hit.score, newer_id=newer_id, is_newer=is_newer, zone=wanted.zone)
        return replace(line, place=places[memory_id])

    lines = [line_of(hit) for hit in shown]
    weights = Bm25({hit.memory.id: hit.memory.content for hit in shown}).weights(query_terms(wanted.query))
    longest = _longest(wanted)

    def cut(first: int, last: int, characters: int) -> None:
        for place in range(first, min(last, len(shown))):
            memory = shown[place].memory
            if len(told_by(memory)) > _WORTH_CUTTING * characters:
                lines[place] = shortened(lines[place], memory, weights, characters)

    cut(_BEST, len(shown), int(longest * _BRIEF))
    if sum(tokens.count(line.dated) for line in lines) > wanted.budget:
        cut(0, _BEST, longest)
    return lines


def _longest(wanted: Wanted) -> int:
    """Maximum characters of a turn that are shown, if there is no room for more."""
    return max(_TALK, int(wanted.budget * _TALK_SHARE))


def _why_empty(context: Context, parts: Parts) -> str | None:
    if context.used:
        return None
    return "memory did not answer" if parts.degraded else "nothing is known that would help"


def _without_repeats(best_first: Sequence[Hit], terms: Sequence[str]) -> list[Hit]:
    """The hits without each fact that a turn above it says, and without each turn that facts above it say.

    A turn that has more of the words asked for, `terms`, than its facts have is shown below them.
    """
    asked = set(words(" ".join(terms)))
    chunks: dict[tuple[str, str, str], set[str]] = {}
    facts: dict[tuple[str, str, str], set[str]] = {}
    kept: list[Hit] = []
    for hit in best_first:
        memory = hit.memory
        turns = {(memory.user_id, memory.thread_id, turn) for turn in memory.source_turn_ids}
        own = set(words(spoken(memory) if memory.kind == "chunk" else memory.content))
        if memory.kind == "chunk":
            repeated = set().union(*(facts.get(turn, ()) for turn in turns))
            if repeated and len(own & repeated) >= _REPEATED * len(own) and own & asked <= repeated:
                continue
            for turn in turns:
                chunks.setdefault(turn, set()).update(own)
        else:
            said = set().union(*(chunks[turn] for turn in turns if turn in chunks))
            if len(own & said) >= _SAME_WORDS * len(own):
                continue
            for turn in turns:
                facts.setdefault(turn, set()).update(own)
        kept.append(hit)
    return kept


def _with_conditions(conditions: Sequence[Hit], best: Sequence[Hit], found: Sequence[Hit]) -> list[Hit]:
    """What an answer must respect, before the best hits. If the search found it too, with the score that it gave."""
    scored = {hit.memory.id: hit for hit in found}
    binding = {hit.memory.id: scored.get(hit.memory.id, hit) for hit in conditions}
    return [*binding.values(), *(hit for hit in best if hit.memory.id not in binding)]


def _is_recent(memory: Memory, recent: Sequence[Turn]) -> bool:
    """Whether a memory is one of the last turns, which the agent sees anyway."""
    here = {(turn.user_id, turn.thread_id, turn.id) for turn in recent}
    return memory.kind == "chunk" and (memory.user_id, memory.thread_id, memory.source_turn_ids[0]) in here


def _newer(found: Sequence[Hit], shown: Sequence[Hit]) -> dict[str, str]:
    """The newer versions among memories of the same user or group: statements of others replace nothing."""
    owners = dict.fromkeys(hit.group for hit in found)
    parts = ([hit for hit in found if hit.group == owner] for owner in owners)
    return {memory_id: newer_id for part in parts for memory_id, newer_id in newer_versions(part, shown).items()}


def _profile_lines(
    profile: UserProfile | None, query: str, found: Sequence[Hit], known: Set[str], calibration: Calibration
) -> list[Line]:
    """The lines of the profile that are relevant to the question, the most relevant first; none that is told below.

    A line that a turn tells too would say it without a day, and above what is newer.
    """
    if profile is None:
        return []
    lines = profile.lines()
    if asks_for_all(query):
        return [profile_line(line.text, line.memory_ids) for line in lines if known.isdisjoint(line.memory_ids)]
    near = {hit.memory.id: nearness(hit.similarity, calibration) for hit in found if hit.similarity is not None}
    coverage = Bm25({line.text: line.text for line in lines}).coverage(query_terms(query))
    chosen: dict[ProfileLine, float] = {}
    for line in lines:
        nearest = max((near.get(memory_id, 0.0) for memory_id in line.memory_ids), default=0.0)
        bears = nearest >= 1 or coverage[line.text] >= _PROFILE_WORDS
        if bears and known.isdisjoint(line.memory_ids):
            chosen[line] = nearest + coverage[line.text]
    best = sorted(chosen, key=lambda line: -chosen[line])[:PROFILE_LINES]
    return [profile_line(line.text, line.memory_ids) for line in best]


def static_lines(facts: Sequence[Memory], query: str) -> list[Line]:
    """Static knowledge, facts that match the question first, in case not all of them fit."""
    matches = Bm25({fact.id: fact.content for fact in facts}).scores(query_terms(query))
    return [memory_line(fact) for fact in sorted(facts, key=lambda fact: -matches[fact.id])]


def _recent(turns: Sequence[Turn], query: str) -> Sequence[Turn]:
    """The last turns, without the question if it is stored already: the caller sends the question anyway."""
    asked = bool(turns) and turns[-1].role == "user" and turns[-1].content.strip() == query.strip()
    return (turns[:-1] if asked else turns)[-LAST_TURNS:]


def summary_lines(summary: ThreadSummary | None) -> list[Line]:
    """The lines of the thread's summary."""
    return [Line(SUMMARY, line, {"type": "summary"}) for line in summary.content.splitlines()] if summary else []


def turn_lines(turns: Sequence[Turn], query: str) -> list[Line]:
    """The last turns before the question, the newest first."""
    return [_turn_line(turn) for turn in reversed(_recent(turns, query))]


def _turn_line(turn: Turn) -> Line:
    role = {"agent": "assistant"}.get(turn.role, turn.role)
    return Line(TURNS, folded(turn.content), {"id": turn.id, "type": "turn", "role": role})


def hint_line(hit: Hit, zone: tzinfo = UTC) -> Line:
    """The line of a procedure or an insight that nobody asked for."""
    line = memory_line(hit.memory, hit.score, zone=zone)
    return replace(line, section=HELP, used=line.used | {"hint": True})


def standing_line(memory: Memory, zone: tzinfo = UTC) -> Line:
    """The line of a standing request, for every answer or for questions like this one."""
    line = memory_line(memory, zone=zone)
    return replace(line, section=STANDING, used=line.used | {"standing": True})


def nothing_line(query: str, *, anything: bool = False) -> Line:
    """The line that says that nothing is remembered about a question; quotes it on one line, cut if long.

    If the nearest memories are shown nevertheless, it says that they may be about something else.
    """
    asked = quoted(query)
    shown = asked if len(asked) <= _QUESTION_SHOWN else asked[:_QUESTION_SHOWN].rstrip() + "…"
    asked = f'"{shown.replace(chr(34), chr(39))}"'
    said = f"No memory clearly answers this question: {asked} What is remembered and may help:"
    return Line(NOTHING, said if anything else f"Nothing is remembered about this question: {asked}")


def state_lines(state: dict[str, Any]) -> list[Line]:
    """A thread's state, one line a value; lists on one line."""
    return [
        Line(STATE, f"{name}: {_in_words(value)}", {"type": "state"})
        for name, value in state.items()
        if value not in (None, "", [], {})
    ]


def _in_words(value: Any) -> str:
    if isinstance(value, dict):
        return "; ".join(f"{name}: {_in_words(item)}" for name, item in value.items())
    return "; ".join(map(_in_words, value)) if isinstance(value, list) else str(value)
