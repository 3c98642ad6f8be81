"""`agent-memory export` and `import`: copy everything of a user out of a store, and into one."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agent_memory.cli.failures import taking, unfinished, with_hint
from agent_memory.cli.ingest import DryRunOption, end_if_given_up, show_counts, summary, write
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
from agent_memory.transfer.origins import Origin

if TYPE_CHECKING:
    from agent_memory.models import ImportReceipt
    from agent_memory.sync import UserScope
    from agent_memory.transfer.moving import Contents

EXPORT_EXAMPLES = examples("export maya.jsonl --user maya", "export - --user maya | gzip > maya.jsonl.gz")
_SQLITE = b"SQLite format 3\0"
_SIBLINGS = ("", "-wal", "-shm", "-journal", "-lock", "-host")
_NAME = 100
"""How many characters of a name the unfinished file has: names are limited."""
IMPORT_EXAMPLES = examples(
    "import maya.jsonl --user maya --store new.db",
    "import mem0-export.json --from mem0 --user maya",
    "import langgraph-items.json --only maya --user maya --dry-run",
    "import claude-export.zip --user maya",
    "import https://NAME.documents.azure.com --from azure-cosmos-agent-memory --store new.db",
)


def export(
    file: Annotated[str, typer.Argument(metavar="FILE", help="The file to write; - is stdout.")],
    store: StoreOption = DEFAULT_STORE,
    user: UserOption = None,
    force: Annotated[bool, typer.Option("--force", help="Replace FILE if it exists; never a store.")] = False,
) -> None:
    """Write everything that a user owns, one item per line.

    Turns, memories with their history, summaries and settings. Only you can read the new file.
    """
    target = Path(file)
    if file != "-":
        _check_target(target, store, force=force)
    with existing_store(store, needs_model=False) as memory:
        scope = one_user(memory, user)
        if file == "-":
            scope.export(lambda line: sys.stdout.write(shown_json(line)))
            return
        try:
            lines = _written(scope, target)
        except KeyboardInterrupt:
            stderr().print(f"Nothing is written to {file}.", soft_wrap=True)
            raise
        except OSError as error:
            raise InvalidInput(f"cannot write {file}: {error.strerror}") from error
    stderr().print(f"{counted(lines, 'line')} written to {file}")


def _check_target(target: Path, store: str, *, force: bool) -> None:
    beside = [target.with_name(target.name.removesuffix(suffix)) for suffix in _SIBLINGS if target.name != suffix]
    for path in (target, *beside):
        is_read = not is_url(store) and path.resolve() == Path(store).resolve()
        if is_read or _is_store(path):
            name = f"{path} is a store" if path == target else f"{target} belongs to the store {path}"
            command = invocation("export", "FILE", "--store", store)
            hint = f"FILE is the export to write; --store names what to read: {command}"
            raise with_hint(InvalidInput(f"{name}: nothing is written over it"), hint)
    if target.exists() and not target.is_file():
        raise InvalidInput(f"cannot write {target}: it is not a file")
    if target.exists() and not force:
        raise with_hint(InvalidInput(f"{target} already exists"), "choose another FILE, or replace it with --force")


def _is_store(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(_SQLITE)) == _SQLITE
    except OSError:  # whoever cannot read it cannot say; the store that is read is known by its path
        return False


def _written(scope: UserScope, target: Path) -> int:
    """Exports into a new file beside the target, which takes its place when it is complete."""
    handle, name = tempfile.mkstemp(prefix=f"{target.name[:_NAME]}-", suffix=".part", dir=target.parent)
    part = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as out:
            lines = scope.export(out.write)
        part.replace(target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    return lines


def _take_over(url: str, database: str, store: str, *, as_json: bool) -> None:
    if not is_url(url) or is_url(store):
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
    from agent_memory.opening import default_credential
    from agent_memory.settings import Environment

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
        typer.Argument(metavar="FILE", help="A file or zip; - reads memories from stdin."),
    ],
    store: StoreOption = DEFAULT_STORE,
    user: Annotated[str, typer.Option("--user", metavar="ID", help="The user to import into.")] = DEFAULT_USER,
    only: Annotated[
        str | None,
        typer.Option("--only", metavar="NAME", help="Whose memories to import, if a file has several owners."),
    ] = None,
    source: Annotated[
        Origin | None,
        typer.Option(
            "--from",
            metavar="SYSTEM",
            help=f"The system of the file; by default detected: {', '.join(Origin)}."
            " For the last one, FILE is the URL of an account.",
        ),
    ] = None,
    database: Annotated[
        str, typer.Option("--database", metavar="NAME", help="With --from azure-cosmos-agent-memory: the database.")
    ] = "ai_memory",
    process: Annotated[
        bool, typer.Option("--process/--no-process", help="Whether to derive memories from conversations now.")
    ] = True,
    dry_run: DryRunOption = False,
    as_json: JsonOption = False,
) -> None:
    """Import an export of this toolkit or of another system. You can repeat it; it continues after an interruption.

    Reads memories of mem0, Zep, Letta, LangGraph's stores, Hindsight and Claude, documents of the AgentMemoryToolkit,
    and all conversations that `ingest` reads. What was forgotten in this store stays forgotten. From an Azure Cosmos DB
    account it imports every user, with the key in COSMOS_DB_KEY or your Azure identity.
    """
    if source == Origin.AZURE_COSMOS:
        _take_over(file, database, store, as_json=as_json)
        return
    contents = _read(file, source, only)
    if dry_run:
        show_counts(contents.counts(), as_json=as_json)
        return
    with any_store(store) as memory:
        receipt = _taken(memory.user(user), contents.lines)
        said = write(memory, contents.utterances, user, process=process) if contents.utterances else None
    if as_json:
        talk = {"conversations": asdict(said)} if said else {}
        emit(receipt.model_dump(mode="json") | talk)
    elif contents.lines:
        _show(receipt)
    if said:
        if not as_json:
            stdout().print(summary(said))
        end_if_given_up(said.given_up_turns, store, as_json=as_json)


def _read(file: str, source: Origin | None, only: str | None) -> Contents:
    from agent_memory.transfer.formats import as_export
    from agent_memory.transfer.imported import NoMemories
    from agent_memory.transfer.moving import Contents, contents_of

    try:
        if file == "-":
            return Contents(list(as_export(sys.stdin.read(), only, source)))
        return contents_of(Path(file), source, only)
    except UnicodeDecodeError as error:
        raise InvalidInput("stdin is not UTF-8 text") from error
    except NoMemories as error:
        if source is not None:
            raise
        hint = f"conversations can be read with a named format: {invocation('ingest', 'FILE', '--format', 'FORMAT')}"
        raise with_hint(error, hint) from error


def _taken(scope: UserScope, lines: list[str]) -> ImportReceipt:
    """Imports lines, with a bar."""
    taken = 0
    with progress("importing") as report:

        def tell(done: int) -> None:
            nonlocal taken
            taken = done
            report(done, len(lines))

        with taking(), unfinished(lambda: f"At least {taken} of {counted(len(lines), 'line')} are imported and kept."):
            return scope.import_lines(lines, tell)


def _show(receipt: ImportReceipt) -> None:
    counts = {
        "new": receipt.created,
        "there already": receipt.existing,
        "forgotten": receipt.forgotten,
        "no room": receipt.refused,
        "expired or unwanted": receipt.unwanted,
        "screened": receipt.screened,
    }
    made = table("what", *counts, right=list(counts))
    for kind in sorted({kind for part in counts.values() for kind in part}):
        made.add_row(kind, *(str(part.get(kind, 0)) for part in counts.values()))
    stdout().print(made)
