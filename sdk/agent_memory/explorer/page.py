"""The files of the explorer, and a page of it with its data in one file.

The modules in `static` are ES modules with one form of `import` and `export`, so that a few lines of code can join them
into one script. In the served page, the browser loads the modules directly. A snapshot has the API responses that the
explorer would need for some users.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from importlib.resources import files
from typing import Any
from urllib.parse import quote, urlencode

from agent_memory.errors import NotFound
from agent_memory.models import Context, Memory, Model, now
from agent_memory.models.base import iso
from agent_memory.sync import UserScope
from agent_memory.text.patterns import linear

ENTRY = "app.js"
TYPES = {"html": "text/html; charset=utf-8", "css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8"}
DATA_ID = "explorer-data"
DATA_MARK = "EXPLORER-DATA"
"""Stands where the data belongs: the page that exports itself puts its own there."""
_IMPORT = linear(r'(?m)^import (\{[^}]*\}) from "\./([\w./-]+)";$')
_EXPORT = linear(r"(?m)^export ((?:async )?(?:function|const|let|class) (\w+))")
_EXPORT_LIST = linear(r"export\{([^}]*)\};?\s*$")
_AS = linear(r"(\w+) as (\w+)")


@lru_cache(maxsize=1)
def static_files() -> Mapping[str, bytes]:
    """The files by their names below `/ui/`."""
    root = files("agent_memory.explorer") / "static"
    found = {file.name: file.read_bytes() for file in root.iterdir() if file.is_file()}
    vendored = root / "vendor"
    found |= {f"vendor/{file.name}": file.read_bytes() for file in vendored.iterdir() if file.is_file()}
    return {name: content for name, content in found.items() if name.rpartition(".")[2] in TYPES}


@lru_cache(maxsize=1)
def template() -> str:
    """The page as one file, with `DATA_MARK` in place of its data. It runs its own script and nothing else."""
    script, style = bundle(), static_files()["app.css"].decode()
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src data:;"
        " base-uri 'none'; form-action 'none'"
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>Agent Memory</title>
<style>{style}</style>
</head>
<body>
<div id="app"></div>
<script type="application/json" id="{DATA_ID}">{DATA_MARK}</script>
<script>{script}</script>
</body>
</html>
"""


def one_file(data: Mapping[str, Any]) -> str:
    """The page with its data, to be opened without a server.

    Args:
        data: `title`, `at` (when it was made), `route` (the state that it opens with) and `answers`, by request.
    """
    # JSON within HTML: no `<` may start a tag. Non-ASCII is escaped, so that no line separator is left.
    text = json.dumps(data).replace("<", "\\u003c")
    return template().replace(f">{DATA_MARK}<", f">{text}<", 1)


@lru_cache(maxsize=1)
def bundle() -> str:
    """The modules as one script, each before those that import it."""
    done: dict[str, str] = {}

    def add(name: str) -> None:
        if name in done:
            return
        done[name] = ""  # a ring of imports ends here, and fails when the script runs
        source = static_files()[name].decode()
        for _, needed in _IMPORT.findall(source):
            add(needed)
        body, exported = _as_function(source)
        del done[name]  # so that it comes after what it imports
        done[name] = f"modules[{json.dumps(name)}] = (() => {{\n{body}\nreturn {{ {exported} }};\n}})();\n"

    add(ENTRY)
    return '"use strict";\n(() => {\nconst modules = {};\n' + "".join(done.values()) + "})();\n"


def _as_function(source: str) -> tuple[str, str]:
    """A module as the body of a function, and the names that it exports."""
    body = _IMPORT.sub(lambda found: f"const {_renamed(found[1])} = modules[{json.dumps(found[2])}];", source)
    names = [name for _, name in _EXPORT.findall(body)]
    body = _EXPORT.sub(r"\1", body)
    listed = _EXPORT_LIST.search(body)
    if listed is None:
        return body, ", ".join(names)
    pairs = [one.split(" as ") for one in listed[1].split(",")]
    return body[: listed.start()], ", ".join(f"{pair[-1]}: {pair[0]}" for pair in pairs)


def _renamed(names: str) -> str:
    """The names of an import as a pattern of an assignment."""
    return _AS.sub(r"\1: \2", names)


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


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
