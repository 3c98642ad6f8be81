"""`agent-memory extraction`: custom extraction by a model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agent_memory.cli.options import DEFAULT_STORE, JsonOption, StoreOption, any_store, examples, existing_store
from agent_memory.cli.terminal import clean, emit, stdout
from agent_memory.errors import InvalidInput

if TYPE_CHECKING:
    from agent_memory.models import Extraction

EXAMPLES = examples("extraction", "extraction invoices.json", "extraction --group team --clear")


def extraction(
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="JSON with instructions, kinds and categories.")
    ] = None,
    clear: Annotated[bool, typer.Option("--clear", help="Remove the custom extraction.")] = False,
    group: Annotated[
        str | None, typer.Option("--group", metavar="ID", help="Only for the memory of this group.")
    ] = None,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Show or set the custom extraction.

    It tells the model what to extract in addition: your instructions, custom kinds and categories. `reprocess` derives
    older memories again. The rules that work without a model ignore it.

    FILE is JSON: {"instructions": "…", "kinds": [{"name": "invoice", "description": "…"}], "categories": {"tag": "…"}}.
    """
    if file is not None and clear:
        raise InvalidInput("give a file or --clear, not both")
    given = None if file is None else _read(file)
    with (any_store if given is not None else existing_store)(store) as memory:
        if file is not None or clear:
            memory.set_extraction(given, group_id=group)
        now = memory.extraction(group_id=group)
    if as_json:
        emit({"extraction": now})
    else:
        _show(now)


def _read(file: Path) -> dict[str, Any]:
    try:
        given = json.loads(file.read_bytes())
    except OSError as error:
        raise InvalidInput(f"{file} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{file} is not JSON: {error}") from error
    if not isinstance(given, dict):
        raise InvalidInput(f"{file} must contain a JSON object with instructions, kinds or categories")
    return given


def _show(now: Extraction | None) -> None:
    if now is None:
        stdout().print("Nothing beyond the usual is extracted.")
        return
    lines = [f"version {now.version}", *([f"instructions: {now.instructions}"] if now.instructions else [])]
    for kind in now.kinds:
        fields = ", ".join((kind.data_schema or {}).get("properties", {}))
        lines.append(f"kind {kind.name}: {kind.description}" + (f" (data: {fields})" if fields else ""))
    lines += [f"category {name}: {meaning}" for name, meaning in now.categories.items()]
    stdout().print(clean("\n".join(lines)), soft_wrap=True)
