"""Parts of a message: text, images, files, tool calls and their results, kept as they were given.

A URL is data: nothing here or elsewhere opens it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, ConfigDict, Field

from agent_memory.models.base import Model

MOST_PARTS = 100
"""Maximum parts of one turn. A choice: messages of chat APIs have a few."""
SCHEMES = ("https", "http", "s3", "gs", "abfss", "data")
"""Schemes of URLs that are kept. Others can run code, or name files on the machine that opens them (`javascript:`,
`file:`)."""
LONGEST_URL = 4_000
LONGEST_INLINE = 200_000
"""Maximum characters of a `data:` URL. Put larger files elsewhere and give their URL."""


def _url(value: str) -> str:
    try:
        scheme = urlsplit(value).scheme
    except ValueError as error:
        raise ValueError(f"this is no URL: {error}") from error
    if scheme not in SCHEMES:
        raise ValueError(f"a URL begins with one of {', '.join(SCHEMES)}")
    if not value.isprintable() or " " in value:
        raise ValueError("a URL has no spaces and no control characters")
    most = LONGEST_INLINE if scheme == "data" else LONGEST_URL
    if len(value) > most:
        raise ValueError(f"a {scheme} URL has at most {most} characters; put it elsewhere and give that URL")
    return value


Url = Annotated[str, AfterValidator(_url)]
Short = Annotated[str, Field(max_length=255)]


def _require_type(schema: dict[str, Any]) -> None:
    # In Python the class says it. JSON has to, and every answer does.
    schema["required"] = ["type", *schema.get("required", ())]


class _Part(Model):
    model_config = ConfigDict(json_schema_extra=_require_type)


class TextPart(_Part):
    """Text."""

    type: Literal["text"] = "text"
    text: str


class ImagePart(_Part):
    """A reference to an image. Search finds its description; nothing opens the image."""

    type: Literal["image"] = "image"
    url: Url | None = None
    file_id: Short | None = Field(default=None, description="Its id at a service.")
    mime_type: Short | None = None
    name: Short | None = None
    description: str | None = Field(default=None, max_length=10_000, description="What it shows, if you know it.")


class FilePart(_Part):
    """A reference to a file. Search finds its name and its text; nothing opens the file."""

    type: Literal["file"] = "file"
    url: Url | None = None
    file_id: Short | None = Field(default=None, description="Its id at a service.")
    mime_type: Short | None = None
    name: Short | None = None
    text: str | None = Field(default=None, description="The text of the file, if you have it.")


class ToolCallPart(_Part):
    """The call of a tool."""

    type: Literal["tool_call"] = "tool_call"
    name: Short
    id: Short | None = None
    args: dict[str, Any] | str = Field(default_factory=dict, description="The arguments, as an object or as JSON text.")


class ToolResultPart(_Part):
    """What a tool returned."""

    type: Literal["tool_result"] = "tool_result"
    content: str
    tool_call_id: Short | None = None
    name: Short | None = None
    is_error: bool = False


Part = Annotated[TextPart | ImagePart | FilePart | ToolCallPart | ToolResultPart, Field(discriminator="type")]
Parts = Annotated[list[Part], Field(min_length=1, max_length=MOST_PARTS)]


def text_of_parts(parts: Sequence[Part]) -> str:
    """The text of a message with these parts, for the index and for models. It contains no URLs."""
    return "\n".join(text for part in parts if (text := _text(part)).strip())


def _text(part: Part) -> str:
    match part:
        case TextPart():
            return part.text
        case ImagePart():
            return _reference("image", part.description or part.name)
        case FilePart():
            return "\n".join([_reference("file", part.name), *([part.text] if part.text else [])])
        case ToolCallPart():
            args = part.args if isinstance(part.args, str) else json.dumps(part.args, ensure_ascii=False)
            return f"[calls {part.name}({args})]"
        case ToolResultPart():
            return part.content or f"[result of {part.name or 'a tool'}]"


def _reference(kind: str, what: str | None) -> str:
    return f"[{kind}: {what}]" if what else f"[{kind}]"
