"""Prompt files: one per language task, editable without touching code.

A file `<task>.prompt.md` is YAML front matter (what the prompt is, and its model parameters) and a Jinja
body, the system message. The body may use one variable, `schema`: the JSON schema of the answer when the
server does not enforce it, else empty. Files are read at every use, so an edit takes effect with the next call.

The folder is the first of: the one given, AGENT_MEMORY_PROMPTS_DIR, PROMPTS_DIR, the packaged prompts, the
repository's. A folder that is set explicitly must contain every prompt: falling back would hide a misspelt file.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from jinja2 import StrictUndefined, Template, TemplateError, meta
from jinja2.sandbox import ImmutableSandboxedEnvironment
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agent_memory.errors import ConfigurationError

SUFFIX = ".prompt.md"
FOLDER_VARIABLES = ("AGENT_MEMORY_PROMPTS_DIR", "PROMPTS_DIR")
BODY_VARIABLES = frozenset({"schema"})

_PACKAGE = Path(__file__).resolve().parents[1]


class ModelParameters(BaseModel):
    """A prompt's parameters for the model. The task's defaults fill in missing ones."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    temperature: float | None = Field(default=None, ge=0, le=2)
    max_tokens: int | None = Field(default=None, gt=0)
    timeout: float | None = Field(default=None, gt=0, description="Seconds for one call.")


class _FrontMatter(BaseModel):
    model_config = ConfigDict(extra="forbid")

    id: str
    version: int | float | str
    description: str = Field(min_length=1)
    model: ModelParameters = ModelParameters()


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt that is ready to be rendered. `version` changes with every edit of its file."""

    name: str
    version: str
    description: str
    parameters: ModelParameters
    body: Template
    path: Path

    def render(self, *, schema: str = "") -> str:
        """The system message.

        Raises:
            ConfigurationError: the body cannot be rendered.
        """
        try:
            return self.body.render(schema=schema).strip()
        except TemplateError as error:
            raise ConfigurationError(f"The prompt {self.path} cannot be rendered: {error}.") from error


class PromptFolder:
    """The folder of the prompts."""

    def __init__(self, folder: str | Path | None = None) -> None:
        """Finds the folder.

        Raises:
            ConfigurationError: there is no such folder.
        """
        self.path = _find_folder(folder)

    def load(self, name: str) -> Prompt:
        """Reads the prompt of a task.

        Raises:
            ConfigurationError: its file is missing or broken; the message says where and why.
        """
        path = self.path / f"{name}{SUFFIX}"
        try:
            text = path.read_text(encoding="utf-8-sig")
        except FileNotFoundError as error:
            raise ConfigurationError(f"There is no prompt for the task {name!r}: {path} does not exist.") from error
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigurationError(f"The prompt {path} cannot be read: {error}.") from error
        return parse_prompt(name, text, path)


def parse_prompt(name: str, text: str, path: Path) -> Prompt:
    """Takes a prompt file apart and checks both halves.

    Raises:
        ConfigurationError: the front matter or the body is wrong.
    """
    try:
        head, body = _split(text)
        matter = _FrontMatter.model_validate(head)
        if matter.id != name:
            raise ValueError(f"its id is {matter.id!r}, not {name!r}")
        template = _compile(body)
    except ValidationError as error:
        problems = "; ".join(f"{'.'.join(map(str, e['loc'])) or 'front matter'}: {e['msg']}" for e in error.errors())
        raise ConfigurationError(f"The prompt {path} is broken: {problems}.") from error
    except (ValueError, yaml.YAMLError, TemplateError) as error:
        raise ConfigurationError(f"The prompt {path} is broken: {error}.") from error
    digest = hashlib.sha256(text.encode()).hexdigest()[:8]
    return Prompt(name, f"{matter.version}+{digest}", matter.description, matter.model, template, path)


def _split(text: str) -> tuple[Any, str]:
    """Front matter, read, and body."""
    opening, _, rest = text.partition("---\n")
    head, fence, body = rest.partition("\n---\n")
    if opening.strip() or not fence:
        raise ValueError("it does not begin with front matter between two lines of ---")
    if not body.strip():
        raise ValueError("it has no body")
    return yaml.safe_load(head), body


def _compile(body: str) -> Template:
    environment = _environment()
    unknown = meta.find_undeclared_variables(environment.parse(body)) - BODY_VARIABLES
    if unknown:
        raise ValueError(f"its body uses unknown variables: {', '.join(sorted(unknown))}")
    return environment.from_string(body)


@cache
def _environment() -> ImmutableSandboxedEnvironment:
    return ImmutableSandboxedEnvironment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)


def _find_folder(explicit: str | Path | None) -> Path:
    named = [("prompts folder given", explicit), *((name, os.environ.get(name)) for name in FOLDER_VARIABLES)]
    for source, folder in named:
        if folder:
            if not Path(folder).is_dir():
                raise ConfigurationError(f"The {source} does not exist: {folder}.")
            return Path(folder)
    own = [_PACKAGE / "_prompts", _PACKAGE.parents[1] / "prompts"]
    for place in own:
        if place.is_dir():
            return place
    raise ConfigurationError(f"No prompts are installed: neither {own[0]} nor {own[1]} exists.")
