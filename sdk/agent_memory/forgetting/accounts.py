"""Accounts: summaries, states and the profile, which may tell what nothing else is left of.

They are made again when turns or memories go that they tell of. But these may have expired before: then only the
account itself can say that it is about what is to be forgotten. It is looked for by words and figures, since an account
tells too much at once for its vector to say what of.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from agent_memory.forgetting.plan import ForgetPlan
from agent_memory.forgetting.selection import TELLING_TURN, Corpus, Selection
from agent_memory.forgetting.tombstones import Place
from agent_memory.models import ForgetItem, Memory, Turn, iso
from agent_memory.store import queries
from agent_memory.store.commits import read_cursor
from agent_memory.store.containers import MEMORIES, SUMMARIES, TURNS
from agent_memory.store.documents import Document
from agent_memory.store.ids import USER_SUMMARY_THREAD
from agent_memory.text.figures import telling_figures


async def add_accounts(corpus: Corpus, selection: Selection, plan: ForgetPlan) -> None:
    """Adds to a plan the accounts that tell what is to be forgotten, and rest on what has expired.

    Those of the turns and memories of the plan are made again anyway, and what was made since it began tells nothing of
    it.
    """
    place, user_id = selection.place, corpus.user_id
    redone = {thread_id for thread_id, _ in plan.turns} | ({USER_SUMMARY_THREAD} if plan.memories else set())
    partition = (user_id,) if place.thread_id is None else (user_id, place.thread_id)
    rows = await corpus.store.query(SUMMARIES, queries.ACCOUNTS, partition)
    whole_thread = place == Place(place.thread_id) and not selection.topic
    if whole_thread:  # what a model said in vain may quote the talk too
        for container in (MEMORIES, SUMMARIES):
            rows += await corpus.store.query(container, queries.DEAD_LETTERS, partition)
    threads: dict[str, list[Document]] = {}
    for row in rows:
        if row["thread_id"] not in redone and row.get("updated_at", "") < iso(plan.at):
            threads.setdefault(row["thread_id"], []).append(row)
    told = {figure for claim in selection.claims if len(claim) <= TELLING_TURN for figure in telling_figures(claim)}
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
    """The projects of an account after turns or memories were added to it; None as long as not all are known."""
    if known is None:
        return None
    return sorted({*known, *(item.project_id for item in added if item.project_id is not None)})


async def _is_of_project(corpus: Corpus, place: Place, thread_id: str, accounts: Sequence[Document]) -> bool:
    """Whether accounts tell of the project of a place.

    Those made before projects were noted tell of it if any memory or indexed talk of their thread does, and in doubt,
    where none is left: they are made again from what is there.
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
    """What an account says."""
    state = account.get("state")
    return str(account.get("content") or account.get("error") or json.dumps(state, ensure_ascii=False))


def _item(account: Document) -> ForgetItem:
    return ForgetItem(
        id=account["id"],
        type=account["type"],
        thread_id=account["thread_id"],
        why="tells of it, and rests on what has expired",
        content=_text(account),
    )


def _overlaps(place: Place, accounts: Sequence[Document]) -> bool:
    """Whether what accounts of a thread cover lies in a time range, at least partly."""
    if place.since is None and place.until is None:
        return True
    since, until = place.since and iso(place.since), place.until and iso(place.until)
    return any(
        (since is None or account["covers_to"] >= since) and (until is None or account["covers_from"] <= until)
        for account in accounts
        if "covers_to" in account
    )


async def _rests_on_expired(corpus: Corpus, thread_id: str, accounts: Sequence[Document]) -> bool:
    """Whether turns or memories that went into an account are there no more."""
    if thread_id == USER_SUMMARY_THREAD:
        return any(memory_id not in corpus.memories for one in accounts for memory_id in one.get("source_ids", ()))
    partition = (corpus.user_id, thread_id)
    stored = await read_cursor(corpus.store, SUMMARIES, partition, "summarize")
    if not stored.etag:  # nobody knows what it was made of
        return True
    seen = list(stored.cursor.seen)
    [left] = await corpus.store.query(TURNS, queries.COVERED, partition, since=stored.cursor.since, seen=seen)
    return bool(left < stored.cursor.count)
