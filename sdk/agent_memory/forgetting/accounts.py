"""Accounts: summaries, states and profiles that still contain what is to be forgotten, though its sources have expired.

An account is rebuilt when its source turns or memories are deleted. If those have already expired, only its own text
shows what it is about. The text is searched by words and figures: it covers too many things for its vector to show one
of them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from agent_memory.forgetting.corpus import Corpus
from agent_memory.forgetting.plan import ForgetPlan
from agent_memory.forgetting.profiles import is_cut
from agent_memory.forgetting.selection import Selection
from agent_memory.forgetting.tombstones import Place
from agent_memory.models import ForgetItem, Memory, Turn, iso
from agent_memory.store import queries
from agent_memory.store.containers import MEMORIES, SUMMARIES
from agent_memory.store.cursors import read_cursor
from agent_memory.store.documents import Document
from agent_memory.store.ids import USER_SUMMARY_THREAD
from agent_memory.store.turns import covered_turns
from agent_memory.text.figures import telling_figures


async def add_accounts(corpus: Corpus, selection: Selection, plan: ForgetPlan) -> None:
    """Adds to a plan the accounts that contain what is to be forgotten and have expired sources.

    Accounts of turns or memories in the plan are rebuilt anyway. Those written after the plan's time cannot contain it.
    """
    place, user_id = selection.place, corpus.user_id
    redone = {thread_id for thread_id, _ in plan.turns} | ({USER_SUMMARY_THREAD} if plan.memories else set())
    partition = (user_id,) if place.thread_id is None else (user_id, place.thread_id)
    rows = await corpus.store.query(SUMMARIES, queries.ACCOUNTS, partition)
    whole_thread = place == Place(place.thread_id) and not selection.topic
    if whole_thread:  # the error of a dead letter may quote the turns too
        for container in (MEMORIES, SUMMARIES):
            rows += await corpus.store.query(container, queries.DEAD_LETTERS, partition)
    threads: dict[str, list[Document]] = {}
    for row in rows:
        if row["thread_id"] not in redone and row.get("updated_at", "") < iso(plan.at):
            threads.setdefault(row["thread_id"], []).append(row)
    told = selection.claims.figures
    threads_of_memories = {item.thread_id for item in plan.memories.values()}
    for thread_id, accounts in threads.items():
        text = "\n".join(map(_text, accounts))
        tells = (
            not selection.topic or corpus.likeness.about(selection.topic, text, None) or told & telling_figures(text)
        )
        if not (tells and _overlaps(place, accounts)):
            continue
        if thread_id not in threads_of_memories and not await _is_of_project(corpus, place, thread_id, accounts):
            continue
        if whole_thread or await _rests_on_expired(corpus, thread_id, accounts):
            plan.accounts[thread_id] = [_item(account) for account in accounts]


def projects_with(known: Sequence[str] | None, added: Iterable[Turn | Memory]) -> list[str] | None:
    """The projects of an account after turns or memories were added to it; None if the earlier ones are unknown."""
    if known is None:
        return None
    return sorted({*known, *(item.project_id for item in added if item.project_id is not None)})


async def _is_of_project(corpus: Corpus, place: Place, thread_id: str, accounts: Sequence[Document]) -> bool:
    """Whether accounts are about a place's project.

    An earlier version noted no projects. Its accounts count if any memory or chunk of their thread is of the project,
    or if none is left: they are then rebuilt from what remains.
    """
    if place.project_id is None:
        return True
    noted = [account.get("project_ids") for account in accounts if account["type"] != "state"]
    if any(place.project_id in projects for projects in noted if projects is not None):
        return True
    if noted and None not in noted:
        return False
    if thread_id == USER_SUMMARY_THREAD:
        return True
    projects = await corpus.store.query(MEMORIES, queries.PROJECTS, (corpus.user_id, thread_id))
    return place.project_id in projects or not projects


def _text(account: Document) -> str:
    """The text of an account."""
    state = account.get("state")
    return str(account.get("content") or account.get("error") or json.dumps(state, ensure_ascii=False))


def _item(account: Document) -> ForgetItem:
    return ForgetItem(
        id=account["id"],
        type=account["type"],
        thread_id=account["thread_id"],
        why="mentions it, and its sources have expired",
        content=_text(account),
    )


def _overlaps(place: Place, accounts: Sequence[Document]) -> bool:
    """Whether the accounts of a thread cover part of a time range."""
    if place.since is None and place.until is None:
        return True
    since, until = place.since and iso(place.since), place.until and iso(place.until)
    return any(
        (since is None or account["covers_to"] >= since) and (until is None or account["covers_from"] <= until)
        for account in accounts
        if "covers_to" in account
    )


async def _rests_on_expired(corpus: Corpus, thread_id: str, accounts: Sequence[Document]) -> bool:
    """Whether turns or memories that an account was made from have expired."""
    if thread_id == USER_SUMMARY_THREAD:
        sources = [memory_id for one in accounts for memory_id in one.get("source_ids", ())]
        return is_cut(sources) or any(memory_id not in corpus.memories for memory_id in sources)
    partition = (corpus.user_id, thread_id)
    stored = await read_cursor(corpus.store, SUMMARIES, partition, "summarize")
    if not stored.etag:  # its sources are unknown
        return True
    return await covered_turns(corpus.store, partition, stored.cursor) < stored.cursor.count
