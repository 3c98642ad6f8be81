"""A snapshot: the API responses that the explorer would need for some users, stored in one file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any
from urllib.parse import quote, urlencode

from agent_memory.errors import NotFound
from agent_memory.explorer.page import one_file
from agent_memory.models import Context, Memory, Model, now
from agent_memory.models.base import iso
from agent_memory.sync import UserScope

MOST_MEMORIES = 500
"""Memories of a user whose evidence is in the file; the timeline has all. A choice: a megabyte or two."""
MOST_ENTITIES = 30
HITS = 10

Asked = tuple[str, datetime | None, Context]
"""A question, its `as_of` day, and the context that answered it."""


def snapshot(title: str, users: Sequence[tuple[UserScope, Sequence[Asked]]]) -> str:
    """The explorer with the memory of some users and the answers to some questions, as one HTML file.

    Args:
        title: The title of the file.
        users: Each user, with the questions asked of their memory.
    """
    answers: dict[str, Any] = {}
    for user, asked in users:
        for request, answer in _answers(user, asked):
            answers[f"{user.user_id} {request}"] = answer
    names = [user.user_id for user, _ in users]
    route = f"#/u/{_part(names[0])}/timeline" if names else ""
    return one_file({"title": title, "at": iso(now()), "route": route, "users": names, "answers": answers})


def _answers(user: UserScope, asked: Sequence[Asked]) -> Iterator[tuple[str, Any]]:
    memories = user.memories(include_superseded=True)
    yield "GET /v1/memories", {"memories": _all(memories), "next": None}
    yield "GET /v1/stats", _of(user.stats())
    yield "GET /v1/profile", _of(user.profile())
    yield "GET /v1/review", {"memories": _all(user.review())}
    for memory in memories[:MOST_MEMORIES]:
        yield from _about(user, memory)
    entities = user.entities(limit=MOST_ENTITIES)
    yield "GET /v1/entities", {"entities": _all(entities)}
    for entity in entities:
        yield f"GET /v1/entities/by-name?{urlencode({'name': entity.name})}", _of(user.entity(entity.name))
    threads = user.threads()
    yield "GET /v1/threads", {"threads": _all(threads), "next": None}
    for thread in threads:
        path, handle = f"GET /v1/threads/{_part(thread.thread_id)}", user.thread(thread.thread_id)
        of_thread = [memory for memory in memories if memory.thread_id == thread.thread_id]
        yield f"{path}/turns", {"turns": _all(handle.turns()), "next": None}
        yield f"{path}/memories", {"memories": _all(of_thread), "next": None}
        yield f"{path}/summary", _of(handle.summary())
    for text, as_of, context in asked:
        key = json.dumps([text, as_of.date().isoformat() if as_of else ""], ensure_ascii=False, separators=(",", ":"))
        yield f"POST /v1/context {key}", _of(context)
        yield f"POST /v1/search {key}", {"hits": _all(user.search(text, limit=HITS, as_of=as_of))}


def _about(user: UserScope, memory: Memory) -> Iterator[tuple[str, Any]]:
    path = f"GET /v1/memories/{_part(memory.id)}"
    try:
        found = _of(user.why(memory.id))
    except NotFound:  # forgotten since it was listed
        return
    yield path, _of(memory)
    yield f"{path}/why", found


def _part(text: str) -> str:
    """A part of a path, written as JavaScript's encodeURIComponent does."""
    return quote(text, safe="!'()*-._~")


def _of(model: Model | None) -> Any:
    return None if model is None else model.model_dump(mode="json")


def _all(models: Sequence[Model]) -> list[Any]:
    return [_of(model) for model in models]
