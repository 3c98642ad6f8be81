"""Dialects: how to call deployments, as data, and what this process has learned about each of them.

The first call uses everything: a schema for the answer, a temperature, a length limit. If the deployment refuses
something, it is left out or sent in another form, one thing at a time, and the form that works is kept for the process.
Known model names start with the form in their makers' documentation.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from agent_memory.text.patterns import linear

_log = logging.getLogger(__name__)

ProtocolName = Literal["chat", "responses", "messages", "generate"]
"""OpenAI's Chat Completions and Responses, Anthropic's Messages, Google's generateContent."""
Structure = Literal["schema", "object", "tool", "text"]
"""How JSON is requested: an enforced schema, any object, the arguments of a tool, or plain text to parse."""


@dataclass(frozen=True, slots=True)
class Protocol:
    """The options of a protocol, the best first. None among the lengths: no limit is sent."""

    structures: tuple[Structure, ...]
    lengths: tuple[str | None, ...]


PROTOCOLS: dict[ProtocolName, Protocol] = {
    "chat": Protocol(("schema", "object", "tool", "text"), ("max_tokens", "max_completion_tokens", None)),
    "responses": Protocol(("schema", "object", "tool", "text"), ("max_output_tokens", None)),
    "messages": Protocol(("schema", "tool", "text"), ("max_tokens",)),
    "generate": Protocol(("schema", "object", "text"), ("max_output_tokens", None)),
}


@dataclass(frozen=True, slots=True)
class Dialect:
    """How to call one deployment.

    `length` names the parameter that limits the answer, `effort` sets how much a model should reason. `spelled`: the
    schema is in the prompt too, because the service does not enforce it. `room`: the factor on the length limit, if
    reasoning counts towards it. `most`: the maximum tokens that it returns.
    """

    protocol: ProtocolName = "chat"
    structure: Structure = "schema"
    length: str | None = "max_tokens"
    temperature: bool = True
    effort: str | None = None
    spelled: bool = False
    room: int = 1
    most: int | None = None

    @property
    def shows_schema(self) -> bool:
        """Whether the prompt must describe the form of the answer."""
        return self.spelled or self.structure in ("object", "text")

    def without(self, refusal: str, tried: Collection[Dialect] = ()) -> Dialect | None:
        """The nearest dialect without what a refusal names, and not tried yet; None if there is none."""
        if _OF_THE_INPUT.search(refusal):
            return None
        if (most := _most_tokens(refusal)) is not None:
            return replace(self, most=most) if self.most is None or most < self.most else None
        if _TOO_LONG.search(refusal):
            return replace(self, room=1) if self.room > 1 else None
        for lesson in LESSONS:
            if lesson.said.search(refusal):
                for simpler in _ways_out(self, lesson.about):
                    if simpler != self and simpler not in tried:
                        return simpler
        return None

    def __str__(self) -> str:
        """The form of the calls, in one line."""
        parts = [f"{self.protocol}: JSON by {self.structure}"]
        parts += ["schema in the prompt"] if self.spelled else []
        parts.append(self.length or "no limit of length")
        parts.append("temperature" if self.temperature else "no temperature")
        parts += [f"effort {self.effort}"] if self.effort else []
        parts += [f"{self.room} times the length"] if self.room > 1 else []
        parts += [f"at most {self.most} tokens"] if self.most else []
        return ", ".join(parts)


@dataclass(frozen=True, slots=True)
class Lesson:
    """What a refusal may be about: a field of `Dialect`, and the words by which services name it."""

    about: Literal["protocol", "length", "temperature", "effort", "structure"]
    said: Any


LESSONS = (
    Lesson("protocol", linear(r"(?i)v1/responses|responses api|operation does not work with the specified model")),
    Lesson("length", linear(r"max_completion_tokens|max_tokens|max_output_tokens|maxOutputTokens")),
    Lesson("temperature", linear(r"(?i)temperature")),
    Lesson("effort", linear(r"(?i)reasoning|effort|thinking")),
    Lesson(
        "structure",
        linear(r"(?i)response_format|schema|structured|json_object|output_config|output.format|grammar|mime|tool"),
    ),
)
"""In the order in which a refusal is checked: a message about one thing may mention another after it."""

_OF_THE_INPUT = linear(r"(?i)content_filter|content management policy|ContentPolicyViolation")
"""Words of a refusal of the content: another form of the call would not help."""
_TOO_LONG = linear(r"(?i)context.(?:length|size|window)|too (?:large|long)|prompt_too_long")
_MOST_TOKENS = (
    linear(r"at most (\d+) (?:completion|output) tokens"),
    linear(r"max_tokens: \d+ > (\d+)"),
    linear(r"from 1 \(inclusive\) to (\d+)"),
)
"""How OpenAI, Anthropic and Google state the maximum length of an answer."""


def _most_tokens(refusal: str) -> int | None:
    found = next((match for pattern in _MOST_TOKENS if (match := pattern.search(refusal))), None)
    return int(found[1]) if found and 0 < len(found[1]) < 10 else None


def _ways_out(dialect: Dialect, about: str) -> Iterator[Dialect]:
    """The alternatives, the closest first."""
    protocol = PROTOCOLS[dialect.protocol]
    if about == "protocol" and dialect.protocol == "chat":
        yield replace(dialect, protocol="responses", length=PROTOCOLS["responses"].lengths[0])
    elif about == "length":
        yield from (replace(dialect, length=other) for other in protocol.lengths)
    elif about == "temperature":
        yield replace(dialect, temperature=False)
    elif about == "effort":
        yield replace(dialect, effort=None)
    elif about == "structure":
        below = protocol.structures[protocol.structures.index(dialect.structure) + 1 :]
        yield from (replace(dialect, structure=one) for one in below)


REASONING_ROOM = 4
"""How many times the length of an answer a model gets that is known to reason. A choice."""
_REASONS = {"temperature": False, "effort": "low", "room": REASONING_ROOM}
KNOWN: tuple[tuple[Any, dict[str, Any]], ...] = (
    # https://learn.microsoft.com/azure/ai-services/openai/how-to/reasoning: models of the Responses API only
    (
        linear(r"(?i)(?:^|/)(?:o\d|gpt-[5-9])[\w.]*-(?:pro|codex|deep-research)|(?:^|/)codex-mini"),
        _REASONS | {"protocol": "responses", "length": "max_output_tokens"},
    ),
    (linear(r"(?i)(?:^|/)gpt-[5-9][\w.]*-chat"), {"length": "max_completion_tokens"}),
    # The same page: no temperature, max_completion_tokens, which counts reasoning.
    (linear(r"(?i)(?:^|/)(?:o\d|gpt-[5-9])"), _REASONS | {"length": "max_completion_tokens"}),
    # https://ai.google.dev/gemini-api/docs/thinking: thoughts count towards maxOutputTokens, levels since Gemini 3
    (linear(r"(?i)(?:^|/)gemini-[3-9]"), {"effort": "low", "room": REASONING_ROOM}),
    (linear(r"(?i)(?:^|/)gemini-2\.5"), {"room": REASONING_ROOM}),
    # Open models that think before they answer, on whatever server.
    (linear(r"(?i)magistral|deepseek-r|gpt-oss|qwq|thinking"), {"room": REASONING_ROOM}),
)
"""Known models by name; the first match counts. Azure's deployments have their own names: their form is learned from
refusals."""


def first_dialect(protocol: ProtocolName, model: str) -> Dialect:
    """The form of a model's first call."""
    known: dict[str, Any] = next((facts for name, facts in KNOWN if name.search(model)), {})
    plain = Dialect(protocol, length=PROTOCOLS[protocol].lengths[0])
    if protocol != "chat":  # parameters have other names there
        known = {name: value for name, value in known.items() if name not in ("protocol", "length")}
    return replace(plain, **known)


LARGEST_SIZE = 16
"""Maximum factor on the length of an answer. 2,000 tokens become 32,000, more than the 25,000 that
OpenAI's guide on reasoning advises to reserve."""


@dataclass(slots=True)
class Deployment:
    """What this process has learned of one deployment. `sizes`: by task, how many times the usual length it needed."""

    name: str
    dialect: Dialect
    sizes: dict[str, int] = field(default_factory=dict)

    def learn(self, dialect: Dialect) -> None:
        """Keeps the dialect in which it answered."""
        if dialect != self.dialect:
            self.dialect = dialect
            _log.info("%s does not accept all options; from now on it is called with: %s", self.name, dialect)

    def needed(self, task: str, size: int) -> None:
        """Keeps the size of an answer that came whole after smaller ones had been cut off."""
        if size > self.sizes.get(task, 1):
            self.sizes[task] = size
            _log.info("%s needs %d times the usual length for %r, and gets it from now on.", self.name, size, task)


_DEPLOYMENTS: dict[tuple[str, str], Deployment] = {}


def deployment(protocol: ProtocolName, address: str, model: str) -> Deployment:
    """The deployment of a model at an address: one for all callers in the process."""
    return _DEPLOYMENTS.setdefault((address, model), Deployment(model, first_dialect(protocol, model)))
