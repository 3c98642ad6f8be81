"""`agent-memory search` and `agent-memory context`: what a person, and what an agent, gets back."""

from __future__ import annotations

from typing import Annotated

import typer

from agent_memory.cli.options import (
    DEFAULT_STORE,
    AsOfOption,
    JsonOption,
    StoreOption,
    UserOption,
    examples,
    existing_store,
    one_user,
)
from agent_memory.cli.terminal import emit, stdout
from agent_memory.cli.views import context_view, hit_table

SEARCH_EXAMPLES = examples(
    'search "what may I eat" --user maya',
    'search "Hawaii budget" --user maya --as-of 2026-04-01',
    'search "deploy" --user dev --type procedural --limit 3 --json',
)
CONTEXT_EXAMPLES = examples(
    'context "How do I deploy payment-service?" --user dev',
    'context "What is my budget?" --user maya --budget 300 --json',
)


def search(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What to look for, in plain words.")],
    store: StoreOption = DEFAULT_STORE,
    user: UserOption = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="How many results at most.")] = 5,
    types: Annotated[
        list[str] | None, typer.Option("--type", metavar="TYPE", help="Only this type; may be given several times.")
    ] = None,
    as_of: AsOfOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find memories of a user, best first."""
    with existing_store(store) as memory:
        hits = one_user(memory, user).search(query, limit=limit, types=types, as_of=as_of)
    if as_json:
        emit(hits)
    elif hits:
        stdout().print(hit_table(hits))
    else:
        stdout().print("Nothing found.")


def context(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What the agent has been asked.")],
    store: StoreOption = DEFAULT_STORE,
    user: UserOption = None,
    thread: Annotated[
        str | None, typer.Option("--thread", metavar="ID", help="The conversation that the question belongs to.")
    ] = None,
    budget: Annotated[int, typer.Option("--budget", min=1, help="Tokens at most.")] = 650,
    as_of: AsOfOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print what an agent would be told before it answers."""
    with existing_store(store) as memory:
        scope = one_user(memory, user)
        asked = scope if thread is None else scope.thread(thread)
        found = asked.context(query, budget=budget, as_of=as_of)
    if as_json:
        emit(found)
    else:
        stdout().print(context_view(found))
