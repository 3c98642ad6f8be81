"""`agent-memory search`, `context` and `reflect`: what a person, and what an agent, gets back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from agent_memory.cli.options import (
    DEFAULT_STORE,
    REPEAT,
    AgentOption,
    AsOfOption,
    FilterOption,
    JsonOption,
    ProjectOption,
    SinceOption,
    StoreOption,
    TypesOption,
    UntilOption,
    UserOption,
    examples,
    existing_store,
    one_user,
)
from agent_memory.cli.terminal import clean, emit, emit_line, one_line, stdout
from agent_memory.cli.views import context_view, day, hit_table, in_zone, section_view

if TYPE_CHECKING:
    from agent_memory.models import Reflection
    from agent_memory.recall.early import ContextOptions

SEARCH_EXAMPLES = examples(
    'search "what may I eat" --user maya',
    'search "Hawaii budget" --user maya --as-of 2026-04-01',
    'search "hotel" --user maya --kind decision --since 2026-05-01 --until 2026-07-31',
    'search "hotel" --user maya --filter \'{"metadata": {"city": "Lisbon"}, "confidence": {"gte": 0.8}}\'',
    'search "deploy" --user dev --type procedural --limit 3 --json',
)
CONTEXT_EXAMPLES = examples(
    'context "How do I deploy payment-service?" --user dev',
    'context "What is my budget?" --user maya --budget 300 --json',
    'context "What is my budget?" --user maya --thread trip --stream',
)


GroupsOption = Annotated[
    list[str] | None,
    typer.Option("--group", metavar="ID", help=f"Also read the memory of this group of the user{REPEAT}."),
]


def search(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What to look for, in plain words.")],
    store: StoreOption = DEFAULT_STORE,
    user: UserOption = None,
    limit: Annotated[int, typer.Option("--limit", "-n", metavar="N", min=1, help="Maximum number of results.")] = 5,
    types: TypesOption = None,
    kinds: Annotated[
        list[str] | None,
        typer.Option(
            "--kind", metavar="KIND", help=f"Only this kind: preference, decision, chunk (what was said), …{REPEAT}."
        ),
    ] = None,
    tags: Annotated[list[str] | None, typer.Option("--tag", metavar="TAG", help=f"With this tag{REPEAT}.")] = None,
    since: SinceOption = None,
    until: UntilOption = None,
    as_of: AsOfOption = None,
    confidence: Annotated[
        float | None, typer.Option("--min-confidence", metavar="0-1", min=0, max=1, help="Minimum confidence.")
    ] = None,
    importance: Annotated[
        float | None, typer.Option("--min-importance", metavar="0-1", min=0, max=1, help="Minimum importance.")
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            "--threshold",
            metavar="COSINE",
            min=-1,
            max=1,
            help="Only memories whose cosine to the query is higher than this.",
        ),
    ] = None,
    thread: Annotated[str | None, typer.Option("--thread", metavar="ID", help="Only from this conversation.")] = None,
    agent: AgentOption = None,
    project: ProjectOption = None,
    filters: FilterOption = None,
    groups: GroupsOption = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show below each result what its score is made of.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Find memories of a user, best first."""
    with existing_store(store) as memory:
        scope = one_user(memory, user)
        asked = scope if thread is None else scope.thread(thread)
        hits = asked.search(
            query,
            limit=limit,
            groups=groups or (),
            types=types,
            kinds=kinds,
            tags=tags,
            created_after=in_zone(since),
            created_before=in_zone(until),
            as_of=in_zone(as_of),
            min_confidence=confidence,
            min_importance=importance,
            threshold=threshold,
            agent_id=agent,
            project_id=project,
            filters=filters,
        )
        why = None if hits or as_json else asked.context(query).skipped_reason
    if as_json:
        emit(hits)
    elif hits:
        stdout().print(hit_table(hits, explain=explain))
    else:
        stdout().print(f"Nothing found: {clean(why)}." if why else "Nothing found.")


def context(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="The question that the agent was asked.")],
    store: StoreOption = DEFAULT_STORE,
    user: UserOption = None,
    thread: Annotated[
        str | None, typer.Option("--thread", metavar="ID", help="The conversation that the question belongs to.")
    ] = None,
    budget: Annotated[int, typer.Option("--budget", metavar="TOKENS", min=1, help="Maximum size in tokens.")] = 650,
    agent: AgentOption = None,
    as_of: AsOfOption = None,
    filters: FilterOption = None,
    groups: GroupsOption = None,
    streams: Annotated[
        bool, typer.Option("--stream", help="Print sections as soon as they are known; the whole context is the last.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Print the context that an agent gets before it answers.

    With --stream and --json, it prints one section a line.
    """
    found = None
    with existing_store(store) as memory:
        scope = one_user(memory, user)
        asked = scope if thread is None else scope.thread(thread)
        memory.warm()  # loading the model is not part of what a context costs
        options: ContextOptions = {
            "budget": budget,
            "as_of": in_zone(as_of),
            "filters": filters,
            "groups": groups or (),
            "agent_id": agent,
        }
        if streams:
            for section in asked.context_stream(query, **options):
                if as_json:
                    emit_line(section)
                elif section.context is None:
                    stdout().print(section_view(section))
                found = section.context
        else:
            found = asked.context(query, **options)
    if as_json and not streams:
        emit(found)
    elif not as_json and found is not None:
        stdout().print(context_view(found))


REFLECT_EXAMPLES = examples(
    'reflect "What does she care about when she travels?" --user maya',
    'reflect "How did my plans for Hawaii change?" --user maya --json',
)


def reflect(
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="A question about the user.")],
    store: StoreOption = DEFAULT_STORE,
    user: UserOption = None,
    limit: Annotated[
        int, typer.Option("--limit", "-n", metavar="N", min=1, help="Maximum number of memories that are read.")
    ] = 20,
    agent: AgentOption = None,
    project: ProjectOption = None,
    as_of: AsOfOption = None,
    filters: FilterOption = None,
    groups: GroupsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Answer a question about a user, with the evidence.

    Asks the chat model that the environment names; without one, shows the memories relevant to the question.
    """
    with existing_store(store) as memory:
        found = one_user(memory, user).reflect(
            question,
            limit=limit,
            groups=groups or (),
            agent_id=agent,
            project_id=project,
            as_of=in_zone(as_of),
            filters=filters,
        )
    if as_json:
        emit(found)
    else:
        stdout().print(_reflection_view(found))


def _reflection_view(found: Reflection) -> Text:
    shown = Text()
    for sentence in found.sentences:
        shown.append(f"{one_line(sentence.text, 1000)}\n")
        for one in sentence.evidence:
            group = f", group {one_line(one.group, 40)}" if one.group else ""
            place = f"{day(one.said_at)}{group}, {one.memory_id}"
            shown.append(f"  “{one_line(one.quote, 160)}” ({place})\n", style="dim")
    if not found.sentences:
        shown.append(clean(found.skipped_reason or "What is remembered does not answer this."))
        shown.append("\n")
    for reason in found.rejected:
        shown.append(f"left out: {one_line(reason, 200)}\n", style="dim")
    shown.rstrip()
    return shown
