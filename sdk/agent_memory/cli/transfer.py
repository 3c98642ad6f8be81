"""`agent-memory export` and `import`: everything of a user out of a store, and into one."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agent_memory.cli.failures import taking, unfinished, with_hint
from agent_memory.cli.options import (
    DEFAULT_STORE,
    DEFAULT_USER,
    JsonOption,
    StoreOption,
    UserOption,
    any_store,
    examples,
    existing_store,
    invocation,
    is_url,
    one_user,
)
from agent_memory.cli.terminal import counted, emit, progress, shown_json, stderr, stdout
from agent_memory.cli.views import table
from agent_memory.errors import InvalidInput

if TYPE_CHECKING:
    from agent_memory.models import ImportReceipt

EXPORT_EXAMPLES = examples("export maya.jsonl --user maya", "export - --user maya | gzip > maya.jsonl.gz")
IMPORT_EXAMPLES = examples(
    "import maya.jsonl --user maya --store new.db",
    "import mem0-export.json --user maya",
    "import langgraph-items.json --only maya --user maya",
    "import https://NAME.documents.azure.com --from azure-cosmos-agent-memory --store new.db",
)


def export(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Where to; - is stdout.")],
    store: StoreOption = DEFAULT_STORE,
    user: UserOption = None,
) -> None:
    """Write all that a user owns, a line each.

    Turns, memories with their history, summaries and settings.
    """
    with existing_store(store) as memory:
        scope = one_user(memory, user)
        if file == "-":
            scope.export(lambda line: sys.stdout.write(shown_json(line)))
            return
        # A file of this name is replaced only when the new one is whole.
        part = Path(f"{file}.part")
        try:
            with part.open("w", encoding="utf-8") as out:
                lines = scope.export(out.write)
            part.replace(file)
        except KeyboardInterrupt:
            part.unlink(missing_ok=True)
            stderr().print(f"Nothing is written to {file}.", soft_wrap=True)
            raise
        except OSError as error:
            raise InvalidInput(f"cannot write {file}: {error.strerror}") from error
    stderr().print(f"{counted(lines, 'line')} written to {file}")


def _take_over(source: str, url: str, database: str, store: str, *, as_json: bool) -> None:
    if source != "azure-cosmos-agent-memory" or not is_url(url) or is_url(store):
        raise InvalidInput(
            "--from azure-cosmos-agent-memory takes the URL of an account of Azure Cosmos DB, and a store file"
        )
    receipts = asyncio.run(_migrated(url, database, store))
    if as_json:
        emit(receipts)
        return
    made = table("user", "new", "there already", "left out", right=["new", "there already", "left out"])
    for user_id, receipt in receipts.items():
        left = [receipt.forgotten, receipt.refused, receipt.unwanted, receipt.screened]
        counts = [receipt.created, receipt.existing, *left]
        new, there, *others = (sum(part.values()) for part in counts)
        made.add_row(user_id, str(new), str(there), str(sum(others)))
    stdout().print(made)


async def _migrated(url: str, database: str, store: str) -> dict[str, ImportReceipt]:
    from azure.cosmos.aio import CosmosClient

    from agent_memory import AsyncMemory
    from agent_memory.compat.azure_cosmos import migrate
    from agent_memory.language.defaults import models_named_by
    from agent_memory.settings import Environment
    from agent_memory.store.client import default_credential

    environment = Environment()
    chat, embeddings = models_named_by(environment)
    key = environment.cosmos_key
    credential: Any = default_credential() if key is None else key.get_secret_value()
    async with (
        CosmosClient(url, credential, connection_verify=environment.cosmos_connection_verify) as client,
        AsyncMemory.local(store, chat_model=chat, embedding_model=embeddings) as memory,
    ):
        return await migrate(memory, client, database, lambda user_id, found: stderr().print(f"{user_id}: {found}"))


def import_(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="An export of this toolkit, mem0, Zep, Letta or LangGraph's store, or AgentMemoryToolkit documents.",
        ),
    ],
    store: StoreOption = DEFAULT_STORE,
    user: Annotated[str, typer.Option("--user", metavar="ID", help="Whose memory it becomes.")] = DEFAULT_USER,
    only: Annotated[
        str | None,
        typer.Option("--only", metavar="NAME", help="Whose memories, if the file of another system holds several's."),
    ] = None,
    source: Annotated[
        str | None,
        typer.Option("--from", metavar="SYSTEM", help="azure-cosmos-agent-memory: FILE is the URL of its account."),
    ] = None,
    database: Annotated[str, typer.Option("--database", help="With --from: the database.")] = "ai_memory",
    as_json: JsonOption = False,
) -> None:
    """Take an export in. Repeating it is harmless, and goes on where it was cut short.

    What was forgotten here since it was said stays forgotten. ChatGPT's exports are conversations: see `ingest`. With
    --from, every user of a database is taken over; COSMOS_DB_KEY is its key, else who you are to Azure.
    """
    from agent_memory.transfer.formats import as_export

    if source is not None:
        _take_over(source, file, database, store, as_json=as_json)
        return
    try:
        text = sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise InvalidInput(f"cannot read {file}: {reason}") from error
    try:
        lines = list(as_export(text, only))
    except InvalidInput as error:
        raise with_hint(error, f"conversations are taken in with: {invocation('ingest', 'FILE')}") from error
    with any_store(store) as memory, progress("importing") as report:
        scope = memory.user(user)
        taken = 0

        def tell(done: int) -> None:
            nonlocal taken
            taken = done
            report(done, len(lines))

        with taking(), unfinished(lambda: f"At least {taken} of {counted(len(lines), 'line')} are taken in, and stay."):
            receipt = scope.import_lines(lines, tell)
    if as_json:
        emit(receipt)
        return
    counts = {
        "new": receipt.created,
        "there already": receipt.existing,
        "forgotten": receipt.forgotten,
        "no room": receipt.refused,
        "not wanted by the settings": receipt.unwanted,
        "screened": receipt.screened,
    }
    made = table("what", *counts, right=list(counts))
    for kind in sorted({kind for part in counts.values() for kind in part}):
        made.add_row(kind, *(str(part.get(kind, 0)) for part in counts.values()))
    stdout().print(made)
