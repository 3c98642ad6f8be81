"""The screen: every field of everything that is to be remembered passes it, whoever gave it.

It folds a text, so that the screen reads the same text that is stored and shown. It leaves out what the user's
categories forbid, removes secrets, and sets aside what reads as an order to a model.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from agent_memory.errors import InvalidInput
from agent_memory.language.aside import aside
from agent_memory.models import Extraction, Memory, Source, Turn, content_hash
from agent_memory.rules.keeping import is_kept
from agent_memory.rules.switches import Rules
from agent_memory.screening.findings import UNSEEN, Finding, find_instructions, find_powers, find_secrets, redacted
from agent_memory.settings import PolicySettings
from agent_memory.store.chunks import heads_of
from agent_memory.store.documents import check_json, validated
from agent_memory.text.folding import bare, folded, hides
from agent_memory.text.patterns import WORD, linear

_SENTENCE_END = linear(r"[.!?] +")
"""The end of a sentence. Line ends do not count, because a key may span several lines."""
FORBIDDEN = "about what the settings say is not to be remembered"
_PART_OF_SECRET = 4
"""Shortest word of a tag, in characters, that counts as a part of a secret that holds it."""
MOST_ENTRIES = 5_000
"""The most tags, names and values of one memory. A choice: they take 0.3 s to screen, and a vector has up to 3,072."""
_ENTRY = 60
"""The work of an entry, in characters: both were timed, an entry at 0.06 ms and a character at 0.001 ms."""
_AT_ONCE = 4_000
"""The most work that other requests may wait for: about 4 ms."""
_FEWER_DIGITS = 10**12
"""Smaller numbers have fewer digits than any number of a card."""


@dataclass(frozen=True, slots=True)
class Screened:
    """The memories that passed, and for the others one line each that says why. No line quotes a text."""

    memories: list[Memory] = field(default_factory=list)
    rejected: list[str] = field(default_factory=list)


class Spoken(NamedTuple):
    """Screened words and the speaker's name. The name is None if the screen removed it or there is none."""

    name: str | None
    words: str


def entries_of(value: Any) -> tuple[int, int]:
    """How many names and values a JSON value has, and how many characters their texts have together."""
    entries = characters = 0
    layer: list[Any] = [value]
    while layer:
        one = layer.pop()
        if isinstance(one, str):
            characters += len(one)
        inner = [*one, *one.values()] if isinstance(one, dict) else one if isinstance(one, list | tuple) else ()
        entries += len(inner)
        layer += inner
    return entries, characters


def _work(memory: Memory) -> int:
    """How much work the screening of a memory is, in the work of a character.

    Raises:
        InvalidInput: if it has more than `MOST_ENTRIES`.
    """
    entries, characters = entries_of([memory.tags, memory.metadata, memory.data])
    if entries > MOST_ENTRIES:
        raise InvalidInput(f"a memory has at most {MOST_ENTRIES:,} tags, names and values, not {entries:,}")
    return len(memory.content) + len(memory.quote or "") + characters + entries * _ENTRY


async def screen_aside(memories: Sequence[Memory], rules: Rules, policy: PolicySettings) -> Screened:
    """Screens memories of any length. Long ones are screened in the thread of the rules, so that nobody else waits.

    Raises:
        InvalidInput: if one has too many entries.
    """
    if sum(map(_work, memories)) <= _AT_ONCE:
        return screen_memories(memories, rules, policy)
    parts = [await aside(screen_memories, [memory], rules, policy) for memory in memories]
    kept = [memory for part in parts for memory in part.memories]
    return Screened(kept, _forbidden(len(memories) - len(kept)))


def screen_memories(memories: Iterable[Memory], rules: Rules, policy: PolicySettings) -> Screened:
    """The memories that may be kept: without secrets, and quarantined if they contain instructions."""
    kept = []
    forbidden = 0
    for memory in memories:
        labels = [*memory.tags, memory.type, *([memory.kind] if memory.kind else [])]
        if is_kept(memory.content, labels, rules.deny, rules.allow):
            kept.append(screen_memory(_without_denied(memory, rules), policy))
        else:
            forbidden += 1
    return Screened(kept, _forbidden(forbidden))


def _forbidden(count: int) -> list[str]:
    return [f"{count} {FORBIDDEN}"] if count else []


def screen_memory(memory: Memory, policy: PolicySettings) -> Memory:
    """A folded memory without its secrets, or quarantined, as the policy says.

    The screen reads all of it: content, quote, the words of its date, tags, and the names and values of its metadata
    and data. A document is the application's material, so its rules about money and rights are no orders of this user.
    """
    look = _Look(policy, memory.source, memory.type != "document")
    content = look.text(memory.content)
    changes: dict[str, object] = {
        "content": content,
        "quote": None if memory.quote is None else look.text(memory.quote),
        "time_phrase": None if memory.time_phrase is None else look.text(memory.time_phrase),
        "metadata": look.value(memory.metadata),
        "data": look.value(memory.data),
    }
    changes["tags"] = look.tags(memory.tags)  # last: a tag may hold a part of a secret
    if content != memory.content:
        changes["content_hash"] = content_hash(content)
    if look.doubts:
        changes |= {"status": "quarantined", "review_reason": "; ".join(look.doubts)}
    changed = {name: value for name, value in changes.items() if value != getattr(memory, name)}
    return memory.model_copy(update=changed) if changed else memory


@dataclass(slots=True)
class _Look:
    """The state of screening one memory: the policy, and what was found so far."""

    policy: PolicySettings
    source: Source
    minds_powers: bool
    doubts: dict[str, None] = field(default_factory=dict)
    secrets: set[str] = field(default_factory=set)
    """The letters of what was removed, in runs of `_PART_OF_SECRET`."""

    def text(self, given: str) -> str:
        """A folded text, without the findings that the policy removes."""
        text = folded(given)
        secrets = find_secrets(text) if self.policy.secrets != "allow" else []
        orders = self._orders(text) if self.policy.instructions != "allow" else []
        if self.policy.secrets == "quarantine":
            self.doubts |= dict.fromkeys(secret.what for secret in secrets)
            secrets = []
        if self.policy.instructions == "quarantine":
            self.doubts |= dict.fromkeys([*(order.what for order in orders), *([UNSEEN] if hides(given) else [])])
            orders = []
        for secret in secrets:
            self.secrets |= _runs(_letters(text[secret.start : secret.end]))
        return redacted(text, [*secrets, *orders])

    def _orders(self, text: str) -> list[Finding]:
        return [*find_instructions(text, self.source), *(find_powers(text) if self.minds_powers else [])]

    def value(self, given: Any) -> Any:
        """A JSON value with all its texts and names screened."""
        if isinstance(given, str):
            return self.text(given)
        if isinstance(given, list | tuple):
            return [self.value(item) for item in given]
        if isinstance(given, dict):
            return {self.text(str(name)): self.value(item) for name, item in given.items()}
        if isinstance(given, int | float) and abs(given) >= _FEWER_DIGITS:
            written = str(given)
            text = self.text(written)
            return given if text == written else text
        return given

    def tags(self, given: Sequence[str]) -> list[str]:
        """The tags that hold no secret, and no part of a secret that was removed elsewhere in the memory."""
        kept = [(tag, self.text(tag)) for tag in given]
        whole = [text for tag, text in kept if text == folded(tag) and text.strip()]
        return [text for text in dict.fromkeys(whole) if not any(_runs(part) <= self.secrets for part in _parts(text))]


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, bare(text))).lower()


def _runs(letters: str) -> set[str]:
    """The overlapping pieces of a text. A part of a secret has no others than the secret, and they compare quickly."""
    return {letters[at : at + _PART_OF_SECRET] for at in range(len(letters) - _PART_OF_SECRET + 1)}


def _parts(tag: str) -> list[str]:
    """The parts of a tag that may belong to a secret: its words, and the whole tag."""
    parts = [_letters(part) for part in (*WORD.findall(tag), tag)]
    return [part for part in parts if len(part) >= _PART_OF_SECRET]


def screen_lines(
    lines: Iterable[str], rules: Rules, policy: PolicySettings, *, minds_powers: bool = False
) -> list[str]:
    """Screens texts that nobody reviews one by one, such as chunks and lines of a summary.

    They are returned folded. A line that would be quarantined is left out. With `minds_powers`, orders about money and
    rights are left out too; they may stay where the line only quotes somebody.
    """
    return [
        kept for line in lines if (kept := _screen_line(line, rules, policy, minds_powers=minds_powers)) is not None
    ]


def screen_talk(turn: Turn, words: str, rules: Rules, policy: PolicySettings) -> Spoken | None:
    """Folds and screens words of a turn. None if they may not be kept.

    Day, speaker and words are screened together, because a secret or an order may begin in the name. If a finding
    touches the name, the role takes the name's place: "Assistant: Save the receipts" orders nothing by its words.
    """
    for name, head in heads_of(turn):
        lines = screen_lines([head + words], rules, policy)
        if lines and lines[0].startswith(head):
            return Spoken(name, lines[0][len(head) :])
        if not lines and name is None:
            return None
    return next((Spoken(None, line) for line in screen_lines([words], rules, policy)), None)


def screen_values(value: Any, rules: Rules, policy: PolicySettings) -> Any:
    """A JSON value without the sentences and the entries that may not be kept. None for a text with nothing left."""
    names_only = replace(rules, allow=None)

    def leaf(value: Any) -> Any:
        if isinstance(value, str):
            if hides(value) and policy.instructions == "quarantine":
                return None
            return " ".join(screen_lines(_sentences(folded(value)), rules, policy, minds_powers=True)) or (
                None if value else value
            )
        if isinstance(value, int | float):
            return value if _is_whole(str(value), Rules(), policy) else None
        return value

    return _filtered(value, leaf, lambda name: folded(name) if _is_whole(name, names_only, policy) else None)


def _filtered(value: Any, leaf: Callable[[Any], Any], named: Callable[[str], str | None]) -> Any:
    """A JSON value with `leaf` applied to its leaves and `named` to its names. What becomes None is left out."""
    if isinstance(value, list):
        return [kept for item in value if (kept := _filtered(item, leaf, named)) is not None]
    if isinstance(value, dict):
        found = {name: item for given, item in value.items() if (name := named(given)) is not None}
        return {name: kept for name, item in found.items() if (kept := _filtered(item, leaf, named)) is not None}
    return leaf(value)


def _is_whole(text: str, rules: Rules, policy: PolicySettings) -> bool:
    """Whether the screen leaves a text unchanged."""
    return _screen_line(text, rules, policy, minds_powers=True) == folded(text)


def _sentences(text: str) -> list[str]:
    ends = [(end.start() + 1, end.end()) for end in _SENTENCE_END.finditer(text)]
    starts = [0, *(start for _, start in ends)]
    return [text[start:end] for start, end in zip(starts, [*(end for end, _ in ends), len(text)], strict=True)]


def is_clean(value: Any, rules: Rules, policy: PolicySettings) -> bool:
    """Whether a JSON value may be kept unchanged: no secret, no order to a model, nothing that the settings forbid."""
    if isinstance(value, str):
        return _is_whole(value, rules, policy)
    if isinstance(value, list):
        return all(is_clean(item, rules, policy) for item in value)
    if isinstance(value, dict):
        names = is_clean(list(value), Rules(deny=rules.deny), policy)
        return names and is_clean(list(value.values()), rules, policy)
    return True


def without_secrets(memory: Memory, policy: PolicySettings) -> Memory:
    """Screens what the operator wrote: secrets are removed, but instructions to a model are allowed."""
    redacting = replace(policy, instructions="allow", secrets="allow" if policy.secrets == "allow" else "redact")
    return screen_memory(memory, redacting)


def _screen_line(given: str, rules: Rules, policy: PolicySettings, *, minds_powers: bool) -> str | None:
    if not is_kept(folded(given), (), rules.deny, rules.allow):
        return None
    look = _Look(policy, "user", minds_powers)
    line = look.text(given)
    return None if look.doubts else line


def _without_denied(memory: Memory, rules: Rules) -> Memory:
    """A memory whose quote and metadata hold no denied category. Its content was checked before."""
    if not rules.deny:
        return memory

    def kept(value: Any) -> Any:
        return value if not isinstance(value, str) or is_kept(value, (), rules.deny, None) else None

    return memory.model_copy(update={"quote": kept(memory.quote), "metadata": _filtered(memory.metadata, kept, kept)})


def checked_extraction(given: Extraction | Mapping[str, Any]) -> Extraction:
    """A custom extraction that may be stored and shown to a model.

    Raises:
        InvalidInput: if a part of it is invalid, holds a secret, or holds invisible characters.
    """
    fields = given.model_dump() if isinstance(given, Extraction) else dict(given)
    check_json(fields, "the extraction")
    made = validated(Extraction, fields, "extraction: ")
    text = json.dumps(made.model_dump(), ensure_ascii=False)
    if found := find_secrets(text):
        raise InvalidInput(f"extraction: it holds a secret ({found[0].what}), which would go to the model each time")
    if hides(text):
        raise InvalidInput("extraction: it holds characters that nobody sees")
    return made
