"""Files of other systems without conversations: the error says what they are and what to do."""

from __future__ import annotations

from dataclasses import dataclass

from agent_memory.transfer.readers.utterances import FilePlace


@dataclass(frozen=True, slots=True)
class _Foreign:
    """A kind of file. Its first object has all of `fields` and none of `not_fields`."""

    what: str
    hint: str
    fields: frozenset[str]
    not_fields: frozenset[str] = frozenset({"role", "content", "messages", "conversations"})


_IMPORT = "import memories with: agent-memory import FILE --user ID"
_ZEP = ("edges", "facts", "fact")
_FOREIGN = (
    _Foreign("an export of this toolkit", _IMPORT, frozenset({"type", "format", "version"})),
    _Foreign("memories of mem0", _IMPORT, frozenset({"memory"})),
    _Foreign("memories of mem0", _IMPORT, frozenset({"results"})),
    *(_Foreign("facts of Zep", _IMPORT, frozenset({name})) for name in _ZEP),
    _Foreign("passages of Letta", _IMPORT, frozenset({"passages"})),
    _Foreign("passages of Letta", _IMPORT, frozenset({"text", "archive_id"})),
    _Foreign("items of a LangGraph store", _IMPORT, frozenset({"namespace", "key", "value"})),
    _Foreign("memories of Hindsight", _IMPORT, frozenset({"text", "fact_type"})),
    _Foreign("what Claude remembers", _IMPORT, frozenset({"conversations_memory"})),
)


def refuse_foreign(place: FilePlace, first: object) -> None:
    """Refuses a file of a known kind that holds no conversations.

    Raises:
        InvalidInput: with the kind, and a note that says what to do.
    """
    if isinstance(first, dict) and isinstance(first.get("items"), list):  # a page of a listing
        first = next(iter(first["items"]), None)
    if isinstance(first, dict):
        for kind in _FOREIGN:
            if kind.fields <= first.keys() and not kind.not_fields & first.keys():
                raise FilePlace(place.file).error(f"this holds {kind.what}, not conversations", kind.hint)
