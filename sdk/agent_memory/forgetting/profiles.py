"""Profiles as they may be shown: without sentences whose source memories are replaced, deleted or switched off.

A profile is rebuilt only now and then. In between, its source memories are corrected or replaced, retention deletes
them, and its user switches conversations off. Then a sentence is shown only if a remaining memory supports it by its
words and figures. A sentence that a model put in quite different words is missing until the next profile.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from agent_memory.language.tasks import ProfileView
from agent_memory.models import PROFILE_SECTIONS, UserProfile, now
from agent_memory.remembering.untold import REPEATING
from agent_memory.store import queries
from agent_memory.store.client import Store
from agent_memory.store.containers import MEMORIES, SUMMARIES
from agent_memory.store.documents import Document, from_document
from agent_memory.store.ids import USER_SUMMARY_THREAD, user_summary_id
from agent_memory.store.scope_documents import SOURCES_REPLACED, SOURCES_UNTIL
from agent_memory.text.figures import telling_figures
from agent_memory.text.likeness import roots

MOST_SOURCES = 500
"""Sources that a profile notes, the newest, besides those that its lines name. Every context reads them, at 40 bytes
each. A choice: five runs. An older memory that changes is told to the model again."""
_NOTHING = "Nothing is known yet."


async def told_profile(store: Store, user_id: str, threads_off: Collection[str] = ()) -> UserProfile | None:
    """The profile of a user without lines from replaced or deleted memories or from threads that are off.

    Costs one point read, and a query if a source may be one of these; one more if a source repeated another memory.
    """
    document = await read_profile_document(store, user_id)
    return None if document is None else await held_up(store, document, threads_off)


async def read_profile_document(store: Store, user_id: str) -> Document | None:
    """The stored profile of a user."""
    return await store.read(SUMMARIES, user_summary_id(user_id), (user_id, USER_SUMMARY_THREAD))


async def held_up(store: Store, document: Document, threads_off: Collection[str] = ()) -> UserProfile:
    """A stored profile with only the sentences that a remaining memory of a thread that is on supports."""
    profile = from_document(UserProfile, document)
    until = document.get(SOURCES_UNTIL)
    is_whole = not document.get(SOURCES_REPLACED) and (until is None or now().timestamp() < until)
    if not threads_off and is_whole:
        return profile
    there = await _standing(store, profile.user_id, profile.source_ids, threads_off)
    is_whole = set(profile.source_ids) <= there.keys() and not is_cut(profile.source_ids)
    return profile if is_whole else _held_up(profile, there)


def is_cut(source_ids: Sequence[str]) -> bool:
    """Whether a profile may have further sources, which it does not note any more."""
    return len(source_ids) >= MOST_SOURCES


def newest_sources(sources: Sequence[str], named: Collection[str]) -> list[str]:
    """The sources that a profile notes, of all of them, the oldest first; `named` are those that its lines name."""
    old = {key for key in sources[:-MOST_SOURCES] if key not in named}
    return [key for key in sources if key not in old]


async def _standing(store: Store, user_id: str, ids: list[str], threads_off: Collection[str]) -> dict[str, str]:
    """By id, what those of these memories say that are current, and those in whose place a repetition stands now."""
    there: dict[str, str] = {}
    asked = set[str]()
    while ids:
        rows = await store.query(MEMORIES, queries.STANDING, (user_id,), ids=ids)
        current = [row for row in rows if row.get("superseded_by") is None and row["thread_id"] not in threads_off]
        there |= {row["id"]: row["content"] for row in current}
        asked.update(ids)
        repeated = {row["superseded_by"] for row in rows if row.get("supersede_reason") in REPEATING}
        ids = sorted(repeated - asked - {None})
    return there


def sources_until(rows: Iterable[Document], before: Document | None) -> Document:
    """The earliest time at which one of a profile's sources, new or earlier, may expire."""
    ends = [row["_ts"] + row["ttl"] for row in rows if (row.get("ttl") or -1) > 0]
    known = (before or {}).get(SOURCES_UNTIL)
    ends += [] if known is None else [known]
    return {SOURCES_UNTIL: min(ends)} if ends else {}


def render_profile(view: ProfileView) -> str:
    """A profile as text, for readers and for the index."""
    parts = [
        ("Personal", view.personal),
        ("Preferences", view.preferences),
        ("Current work", view.current_work),
        ("Environment", view.environment),
        ("Constraints", view.constraints),
    ]
    text = "\n".join(f"{title}: " + "; ".join(line.rstrip(".") for line in lines) for title, lines in parts if lines)
    return text or _NOTHING


def sources_of_lines(
    view: ProfileView, earlier: UserProfile | None, memories: Mapping[str, str]
) -> dict[str, list[list[str]]]:
    """By section, for each line of a new profile, the ids of its source memories.

    The memories with exactly this text; else the new ones that support it by words and figures; else those of the
    earlier lines that do.

    Args:
        view: The new profile.
        earlier: The previous profile.
        memories: The contents of current memories that are new to it, by id.
    """
    before = [line for line in earlier.lines() if line.memory_ids] if earlier else []

    def ids_of(text: str) -> list[str]:
        same = [key for line in before if line.text == text for key in line.memory_ids]
        new = [key for key, content in memories.items() if content == text] or [
            key for key, content in memories.items() if _holds_up(content, text)
        ]
        ids = [*same, *new] or [key for line in before if _holds_up(line.text, text) for key in line.memory_ids]
        return list(dict.fromkeys(ids))

    return {section: [ids_of(text) for text in texts] for section, texts in view.model_dump().items() if texts}


def _held_up(profile: UserProfile, memories: Mapping[str, str]) -> UserProfile:
    kept = [line for line in profile.lines() if any(_holds_up(memory, line.text) for memory in memories.values())]
    view = {part: [line.text for line in kept if line.section == part] for part in PROFILE_SECTIONS}
    ids = {
        part: [[key for key in line.memory_ids if key in memories] for line in kept if line.section == part]
        for part in profile.memory_ids
    }
    content = render_profile(ProfileView.model_validate(view))
    noted = (source for source in profile.source_ids if source in memories)
    sources = list(dict.fromkeys([*noted, *memories]))
    return profile.model_copy(update={**view, "content": content, "source_ids": sources, "memory_ids": ids})


def _holds_up(memory: str, line: str) -> bool:
    """Whether a memory has the figures of a line, and two thirds of its words."""
    words = roots(line)
    return telling_figures(line) <= telling_figures(memory) and 3 * len(words & roots(memory)) >= 2 * len(words)
