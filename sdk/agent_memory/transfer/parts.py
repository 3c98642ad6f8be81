"""Converts parts of messages from the formats of chat APIs and frameworks.

The shapes are those of OpenAI (chat and responses), Anthropic, and LangChain's content blocks. An image or a file whose
URL cannot be kept, such as a very large inline image, stays without it; another part that cannot be kept becomes a mark
in the text. So no message is lost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from pydantic import TypeAdapter, ValidationError

from agent_memory.errors import InvalidInput
from agent_memory.models import Part, TextPart
from agent_memory.models.parts import MOST_PARTS
from agent_memory.store.documents import check_json

MOST_INLINE = 600_000
"""Maximum characters of all `data:` URLs of a message, so that it fits into one turn. Later ones are left out."""
_PART: TypeAdapter[Any] = TypeAdapter(Part)
_TEXTS = ("text", "refusal", "thinking")
_ARGUMENTS = ("args", "input", "arguments")


def read_parts(content: object, calls: Sequence[Any] = ()) -> list[dict[str, Any]] | None:
    """The parts of a message's content and of its tool calls; None if they are only text, or none."""
    blocks = [content] if isinstance(content, str | Mapping) else content if isinstance(content, Sequence) else []
    parts = [made for block in [*blocks, *calls] if (made := _part(block)) is not None][:MOST_PARTS]
    room = MOST_INLINE
    for place, part in enumerate(parts):
        url = getattr(part, "url", None) or ""
        if url.startswith("data:"):
            room -= len(url)
            parts[place] = part if room >= 0 else part.model_copy(update={"url": None})
    if all(isinstance(part, TextPart) for part in parts):
        return None
    return [part.model_dump(exclude_none=True) for part in parts]


def _part(block: object) -> Any:
    if isinstance(block, str):
        return TextPart(text=block) if block.strip() else None
    if not isinstance(block, Mapping):
        return None
    kind = str(block.get("type", "")).removeprefix("input_").removeprefix("output_").removesuffix("_url")
    fields = _fields(kind, block)
    if fields is None:
        text = next((block[name] for name in _TEXTS if isinstance(block.get(name), str)), None)
        return TextPart(text=text) if text else TextPart(text=f"[{kind}]") if kind else None
    given = {name: value for name, value in fields.items() if value is not None}
    for tried in (given, given | {"url": None}) if "url" in given else (given,):
        with suppress(InvalidInput, ValidationError):
            check_json(tried, "a part")
            return _PART.validate_python(tried)
    return TextPart(text=f"[{kind}]")


def _fields(kind: str, block: Mapping[str, Any]) -> dict[str, Any] | None:
    """The fields of our part; None for text and for unknown types."""
    match kind:
        case "image" | "file" | "document":
            return _reference("image" if kind == "image" else "file", block)
        case "tool_call" | "tool_use" | "function_call" | "function":
            named = _mapping(block.get("function")) or block
            args: Any = next((named[name] for name in _ARGUMENTS if named.get(name) is not None), {})
            id = block.get("call_id") or block.get("id")
            return {"type": "tool_call", "name": named.get("name"), "id": id, "args": args}
        case "tool_result" | "function_call_output":
            given = block.get("output", block.get("content"))
            return {
                "type": "tool_result",
                "content": _texts(given),
                "tool_call_id": block.get("tool_use_id") or block.get("tool_call_id") or block.get("call_id"),
                "name": block.get("name"),
                "is_error": block.get("is_error"),
            }
        case "" if "name" in block and "args" in block:  # LangChain's tool calls
            return {"type": "tool_call", "name": block["name"], "id": block.get("id"), "args": block["args"]}
    return None


def _reference(kind: str, block: Mapping[str, Any]) -> dict[str, Any]:
    inner = _mapping(block.get("image_url")) or _mapping(block.get("file")) or _mapping(block.get("source")) or {}
    given = {**inner, **{name: value for name, value in block.items() if value is not None}}
    mime = given.get("mime_type") or given.get("media_type")
    inline = given.get("base64") or given.get("data")
    url = next((given[name] for name in ("url", "image_url", "file_url") if isinstance(given.get(name), str)), None)
    if url is None and isinstance(given.get("file_data"), str):
        url = given["file_data"]
    if url is None and isinstance(inline, str):
        url = f"data:{mime or 'application/octet-stream'};base64,{inline}"
    name = given.get("filename") or given.get("name") or given.get("title")
    return {"type": kind, "url": url, "file_id": given.get("file_id"), "mime_type": mime, "name": name}


def _mapping(value: object) -> Mapping[str, Any] | None:
    return value if isinstance(value, Mapping) else None


def _texts(value: object) -> str:
    if isinstance(value, str):
        return value
    parts = value if isinstance(value, Sequence) else [value]
    found = (part if isinstance(part, str) else part.get("text") for part in parts if isinstance(part, str | Mapping))
    return "\n".join(text for text in found if isinstance(text, str))
