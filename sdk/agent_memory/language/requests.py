"""A task as a request, and the response to it, in the form that all services share."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from agent_memory.language.custom import answer_schema, guidance
from agent_memory.language.dialects import Dialect
from agent_memory.language.prompts import ModelParameters, Prompt
from agent_memory.language.tasks import Data, In, Out, Task
from agent_memory.models import Usage


@dataclass(frozen=True, slots=True)
class Request:
    """One task for one model, in no dialect yet. `size` is how many times the usual length an answer may have."""

    model: str
    task: str
    prompt: Prompt
    schema: dict[str, Any]
    document: str
    temperature: float
    max_tokens: int
    timeout: float
    size: int = 1
    guidance: str = ""

    @classmethod
    def make(
        cls, task: Task[In, Out], data: In, prompt: Prompt, model: str, parameters: ModelParameters | None = None
    ) -> Request:
        """Joins a task, its input and its prompt. `parameters` count first, then the prompt's, then the task's."""
        ahead = {} if parameters is None else parameters.model_dump(exclude_none=True)
        wanted = prompt.parameters.model_copy(update=ahead)
        return cls(
            model=model,
            task=task.name,
            prompt=prompt,
            schema=answer_schema(task, data),
            document=as_document(data),
            guidance=guidance(data),
            temperature=task.temperature if wanted.temperature is None else wanted.temperature,
            max_tokens=wanted.max_tokens or task.max_tokens,
            timeout=wanted.timeout or task.timeout,
        )

    def system(self, dialect: Dialect) -> str:
        """The system message. A schema that the service does not enforce is put into it."""
        return self.prompt.render(schema=json.dumps(self.schema) if dialect.shows_schema else "") + self.guidance

    def tokens(self, dialect: Dialect) -> int:
        """How many tokens the service may return, including reasoning."""
        wanted = self.max_tokens * max(dialect.room, self.size)
        return wanted if dialect.most is None else min(wanted, dialect.most)

    def limits(self, dialect: Dialect) -> dict[str, Any]:
        """Length and temperature under the names of the dialect."""
        length = {} if dialect.length is None else {dialect.length: self.tokens(dialect)}
        return length | ({"temperature": self.temperature} if dialect.temperature else {})


@dataclass(frozen=True, slots=True)
class Completion:
    """A service's response.

    `trouble` says why there is no answer, if there is none. `thought` are the tokens of reasoning among those of the
    answer. `quota` has the limits from the headers.
    """

    text: str
    usage: Usage
    whole: bool = True
    trouble: str | None = None
    thought: int = 0
    quota: Mapping[str, str] = field(default_factory=dict)


# Servers that join all messages into one string may read these as the marks between messages.
# The only repeat is between brackets and matches no bracket, so the pattern reads each character once.
_CONTROL_MARK = re.compile(r"<(?=[|｜/\w<])|\[(?=/?[A-Z][A-Z_]*\])|[\u0085\u2028\u2029]")


def as_document(data: Data) -> str:
    """A task's input as one line of JSON in which nothing looks like the beginning of another message."""
    text = json.dumps(data.model_dump(mode="json", exclude_none=True), ensure_ascii=False)
    return _CONTROL_MARK.sub(lambda mark: f"\\u{ord(mark[0]):04x}", text)


_QUOTA_NAMES = ("ratelimit", "retry-after")


def quota_of(headers: Mapping[str, str]) -> dict[str, str]:
    """The limits in the response headers, and what is left of them, under the service's own names."""
    return {name.lower(): value for name, value in headers.items() if any(one in name.lower() for one in _QUOTA_NAMES)}
