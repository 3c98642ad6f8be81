"""`agent-memory export` and `import`: everything of a user out of a store, and into one."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

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
    one_user,
)
from agent_memory.cli.terminal import counted, emit, progress, shown_json, stderr, stdout
from agent_memory.cli.views import table
from agent_memory.errors import InvalidInput

EXPORT_EXAMPLES = examples("export maya.jsonl --user maya", "export - --user maya | gzip > maya.jsonl.gz")
IMPORT_EXAMPLES = examples("import maya.jsonl --user maya --store new.db", "import mem0-export.json --user maya")


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


def import_(
    file: Annotated[
        str,
        typer.Argument(metavar="FILE", help="An export of this toolkit or of mem0, or AgentMemoryToolkit documents."),
    ],
    store: StoreOption = DEFAULT_STORE,
    user: Annotated[str, typer.Option("--user", metavar="ID", help="Whose memory it becomes.")] = DEFAULT_USER,
    as_json: JsonOption = False,
) -> None:
    """Take an export in. Repeating it is harmless, and goes on where it was cut short.

    What was forgotten here since it was said stays forgotten. ChatGPT's exports are conversations: see `ingest`.
    """
    from agent_memory.transfer.formats import as_export

    try:
        text = sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise InvalidInput(f"cannot read {file}: {reason}") from error
    try:
        lines = list(as_export(text))
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
