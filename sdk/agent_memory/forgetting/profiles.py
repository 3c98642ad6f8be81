"""Profiles as they may be told: without the sentences that rested on memories which are gone, or not to be told.

A profile is made again now and then only. In between, retention deletes memories that it rests on, and its user
switches conversations off. Then a sentence stays only while a memory that is there holds it up by its words and
figures; what a model told in quite other words is lost until the next profile.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from agent_memory.language.tasks import ProfileView
from agent_memory.models import UserProfile, now
from agent_memory.store import queries
from agent_memory.store.client import Store
from agent_memory.store.containers import MEMORIES, SUMMARIES
from agent_memory.store.documents import Document, from_document
from agent_memory.store.ids import USER_SUMMARY_THREAD, user_summary_id
from agent_memory.text.figures import telling_figures
from agent_memory.text.likeness import roots

SOURCES_UNTIL = "sources_until"
"""In the document of a profile: the second from which on a memory that it rests on may be deleted by retention."""
_NOTHING = "Nothing is known yet."


async def told_profile(store: Store, user_id: str, threads_off: Collection[str] = ()) -> UserProfile | None:
    """The profile of a user without what rests on memories that are gone, or of threads that are off.

    One point read; a query too once a memory may have gone, or where a thread is off.
    """
    document = await read_profile_document(store, user_id)
    return None if document is None else await held_up(store, document, threads_off)


async def read_profile_document(store: Store, user_id: str) -> Document | None:
    """The profile of a user as it is stored."""
    return await store.read(SUMMARIES, user_summary_id(user_id), (user_id, USER_SUMMARY_THREAD))


async def held_up(store: Store, document: Document, threads_off: Collection[str] = ()) -> UserProfile:
    """A stored profile with the sentences that memories which are there, and may be told, hold up."""
    profile = from_document(UserProfile, document)
    until = document.get(SOURCES_UNTIL)
    if not threads_off and (until is None or now().timestamp() < until):
        return profile
    rows = await store.query(MEMORIES, queries.CONTENTS, (profile.user_id,), ids=profile.source_ids)
    there = {row["id"]: row["content"] for row in rows if row["thread_id"] not in threads_off}
    return profile if set(profile.source_ids) <= there.keys() else _held_up(profile, there)


def sources_until(rows: Iterable[Document], before: Document | None) -> Document:
    """What a profile's document says of when the first of its memories may go: of new ones, and as it said before."""
    ends = [row["_ts"] + row["ttl"] for row in rows if (row.get("ttl") or -1) > 0]
    known = (before or {}).get(SOURCES_UNTIL)
    ends += [] if known is None else [known]
    return {SOURCES_UNTIL: min(ends)} if ends else {}


def render_profile(view: ProfileView) -> str:
    """A profile as text for a reader and for the index."""
    parts = [
        ("Personal", view.personal),
        ("Preferences", view.preferences),
        ("Current work", view.current_work),
        ("Environment", view.environment),
        ("Constraints", view.constraints),
    ]
    text = "\n".join(f"{title}: " + "; ".join(line.rstrip(".") for line in lines) for title, lines in parts if lines)
    return text or _NOTHING


def _held_up(profile: UserProfile, memories: Mapping[str, str]) -> UserProfile:
    view = {
        part: [line for line in lines if any(_holds_up(memory, line) for memory in memories.values())]
        for part, lines in ProfileView.model_validate(profile.model_dump()).model_dump().items()
    }
    changes = {"content": render_profile(ProfileView.model_validate(view)), "source_ids": sorted(memories)}
    return profile.model_copy(update=view | changes)


def _holds_up(memory: str, line: str) -> bool:
    """Whether a memory has the figures of a line, and two thirds of its words."""
    words = roots(line)
    return telling_figures(line) <= telling_figures(memory) and 3 * len(words & roots(memory)) >= 2 * len(words)
