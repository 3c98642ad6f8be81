"""`agent-memory reembed`: moves a store to another embedding model while it is in use."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agent_memory.cli.failures import unfinished, with_hint
from agent_memory.cli.options import DEFAULT_STORE, JsonOption, examples, invocation, is_url
from agent_memory.cli.terminal import counted, emit, progress, stdout
from agent_memory.errors import ConfigurationError, InvalidInput

if TYPE_CHECKING:
    from agent_memory import AsyncMemory
    from agent_memory.language.tasks import EmbeddingModel
    from agent_memory.models import ReembedPlan, ReembedResult
    from agent_memory.settings import Environment

EXAMPLES = examples(
    "reembed --to openai:text-embedding-3-small@1536 --dry-run",
    "reembed --to local:minilm --yes",
    "reembed --to azure:my-embeddings@1024 --rate 20",
)


def reembed(
    to: Annotated[
        str,
        typer.Option(
            "--to",
            metavar="PROVIDER:MODEL",
            help="The new model, as in AGENT_MEMORY_EMBEDDINGS; @1024 chooses the length of its vectors.",
        ),
    ],
    store: Annotated[
        str,
        typer.Option(
            "--store",
            metavar="PATH",
            envvar="AGENT_MEMORY_STORE",
            help="The store file; by default the database in COSMOS_DB_ENDPOINT, if that is set.",
        ),
    ] = DEFAULT_STORE,
    rate: Annotated[
        float | None,
        typer.Option("--rate", metavar="N", min=0.1, help="Maximum memories per second; default: no limit."),
    ] = None,
    price: Annotated[
        float | None,
        typer.Option(
            "--price", metavar="DOLLARS", min=0, help="Price of a million tokens, to show the cost before it begins."
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what it would cost.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Move a store to another embedding model without losing it.

    Each memory gets a new vector next to the old one; then the store switches to the new model, and the old vectors are
    removed. You can interrupt it and run it again to continue.
    """
    with unfinished(lambda: "New vectors are kept; search uses the old ones until all memories have a new one."):
        planned, result = asyncio.run(_run(to, store, rate, price, dry_run=dry_run, yes=yes, as_json=as_json))
    if as_json:
        emit({"plan": planned, "result": result})
    elif result is not None:
        refused = f" {counted(result.failed, 'text')} refused by the model." if result.failed else ""
        stdout().print(
            f"{result.embedded} embedded, {counted(result.removed, 'old vector')} removed"
            f" ({result.usage.input_tokens} tokens).{refused} The store now uses {planned.to_model}: set"
            f" AGENT_MEMORY_EMBEDDINGS={to}",
            soft_wrap=True,
        )


async def store_model(path: str, environment: Environment) -> str | None:
    """The embedding model of the store, independent of the environment; None if there is no store yet."""
    from agent_memory.language.hashing import HashingEmbeddings
    from agent_memory.store.embedding_model import read_identity

    if is_url(path) or (environment.cosmos_endpoint is None and not _is_there(path)):
        return None
    memory = _unopened(path, environment, HashingEmbeddings())
    try:
        store = memory.runtime.store
        await store.open()
        identity = await read_identity(store) if await store.exists() else None
        return None if identity is None else str(identity["embedding_model"])
    finally:
        await memory.close()


async def _run(
    to: str, path: str, rate: float | None, price: float | None, *, dry_run: bool, yes: bool, as_json: bool
) -> tuple[ReembedPlan, ReembedResult | None]:
    from agent_memory.language.defaults import embeddings_named
    from agent_memory.processing.reembed import plan, reembed
    from agent_memory.settings import Environment

    environment = Environment()
    memory = _unopened(path, environment, embeddings_named(to, environment, "--to"))
    try:
        store, target = memory.runtime.store, memory.runtime.tools.embeddings
        await store.open()
        if not await store.exists():
            raise InvalidInput("the database holds no memory store")
        planned = await plan(store, target)
        if not as_json:
            _announce(planned, price)
        if dry_run or planned.finished:
            return planned, None
        # With --json a program calls this; it must confirm with --yes.
        if not yes and (as_json or not typer.confirm("Begin?")):
            return planned, None
        with progress("memories embedded") as told:
            return planned, await reembed(store, target, rate=rate, progress=told)
    finally:
        await memory.close()


def _unopened(path: str, environment: Environment, target: EmbeddingModel) -> AsyncMemory:
    """The memory, with only its store opened: it may have a different model from the environment's."""
    from agent_memory import AsyncMemory
    from agent_memory.language.defaults import default_chat

    if is_url(path):
        raise ConfigurationError("you cannot move a store through its server: name the store's file or database")
    if environment.cosmos_endpoint is not None and path == DEFAULT_STORE:
        return AsyncMemory.cosmos(
            environment.cosmos_endpoint,
            None if environment.cosmos_key is None else environment.cosmos_key.get_secret_value(),
            environment.cosmos_database,
            chat_model=default_chat(),
            embedding_model=target,
            connection_verify=environment.cosmos_connection_verify,
        )
    if not _is_there(path):
        raise with_hint(InvalidInput(f"there is no store at {path}"), f"name one: {invocation('reembed', '--store')}")
    return AsyncMemory.local(path, embedding_model=target)


def _is_there(path: str) -> bool:
    return Path(path).exists()


def _announce(planned: ReembedPlan, price: float | None) -> None:
    if planned.finished:
        stdout().print(f"The store already uses {planned.to_model}: nothing to do.")
        return
    cost = "" if price is None else f", about ${planned.tokens / 1e6 * price:.2f}"
    stdout().print(
        f"{'Continuing an interrupted move: ' if planned.under_way else ''}{planned.from_model} to"
        f" {planned.to_model} ({planned.dimensions} dimensions). {counted(planned.memories, 'memory', 'memories')} to"
        f" embed, about {planned.tokens} tokens{cost}; each is written twice.",
        soft_wrap=True,
    )
