"""Reading a model's answer: turns text into a task's output, keeps what is valid and reports what was not.

Lenient with items, strict with documents. An answer made of items (memories, duplicates) loses the items that are
wrong; an answer that is one document (a summary, a profile) must be whole, because it replaces an earlier one.
"""

from __future__ import annotations

import math
import types
from dataclasses import replace
from typing import Any, Union, cast, get_args, get_origin

from pydantic import BaseModel, ValidationError

from agent_memory.language.answer_text import Json, ParsedJson, UnusableAnswer, parse_json, read_sections
from agent_memory.language.custom import custom_kind
from agent_memory.language.grounding.conclusions import Ungrounded
from agent_memory.language.grounding.ground import ground
from agent_memory.language.grounding.quotes import find_evidence
from agent_memory.language.schemas import free_form_fields, restore
from agent_memory.language.tasks import (
    EXTRACT,
    SUMMARIZE,
    ArchiveOutput,
    Data,
    ExtractAndSummarizeInput,
    ExtractAndSummarizeOutput,
    ExtractedMemory,
    ExtractInput,
    In,
    Out,
    ProfileInput,
    SummarizeInput,
    Task,
)
from agent_memory.models import TYPE_ALIASES, FactKind, MemoryType
from agent_memory.text.patterns import linear


def read_answer(task: Task[In, Out], text: str, data: In, *, salvage: bool = True) -> tuple[Out, list[str]]:
    """Reads an answer and drops what the task's input does not support.

    Args:
        task: the task.
        text: the answer: a JSON object, perhaps fenced or in prose, or the bare array of an answer with one list.
        data: what the task was run on.
        salvage: whether to read as much as possible of broken or cut-off JSON. A cut-off document is never read.

    Returns:
        The output, and one line for each thing that was dropped or repaired.

    Raises:
        UnusableAnswer: it has no JSON, or JSON of the wrong shape.
    """
    parsed = _parsed(task, text, salvage)
    if isinstance(data, ExtractAndSummarizeInput):
        both, rejected = _read_both(parsed, data)
        return cast(Out, both), rejected
    return _read(task, parsed, data)


def _read(task: Task[In, Out], parsed: ParsedJson, data: In) -> tuple[Out, list[str]]:
    """The output of one task in a JSON value."""
    rejected = [f"the answer was {parsed.flaw}"] if parsed.flaw else []
    items = _item_fields(task.output)
    value = _named(parsed.value) if isinstance(data, ExtractInput) else parsed.value
    answer = restore(task.output, _as_object(value, items))
    if items:
        answer = {name: value for name, value in answer.items() if value is not None}
        if not answer.keys() & task.output.model_fields.keys():
            raise UnusableAnswer(f"it has none of the fields {', '.join(task.output.model_fields)}")
        for name in items.keys() & answer.keys():
            answer[name] = _read_items(name, items[name], answer[name], data, parsed, rejected)
        nothing = not any(answer.get(name) for name in items) and answer.get("worth_extracting") is not False
        if nothing and parsed.flaw and parsed.flaw.startswith("cut off"):
            raise UnusableAnswer("it was cut off, and nothing before that can be used")
    else:
        _require_whole(task.output, answer, parsed)
        answer = {name: _strings_only(name, value, rejected) for name, value in answer.items()}
    try:
        output = task.output.model_validate(answer)
    except ValidationError as error:
        raise UnusableAnswer(f"it is not of the right shape: {_reasons(error)}") from error
    output, ungrounded = ground(output, data)
    _refuse_wipe(output, data)
    return output, rejected + ungrounded


def _read_both(parsed: ParsedJson, data: ExtractAndSummarizeInput) -> tuple[ExtractAndSummarizeOutput, list[str]]:
    """Two answers in one, each read on its own. A line about one of them begins with its name."""
    both, rejected = ExtractAndSummarizeOutput(), []
    halves = {"extraction": (EXTRACT, data.of_extraction), "summary": (SUMMARIZE, data.of_summary)}
    for name, (task, given) in halves.items():
        try:
            part = parsed.value.get(name) if isinstance(parsed.value, dict) else None
            if not isinstance(part, dict):
                raise UnusableAnswer("it is missing")
            output, lines = _read(cast(Task[Data, Data], task), replace(parsed, value=part), given)
        except UnusableAnswer as error:
            rejected.append(f"{name}: {error}")
        else:
            both = both.model_copy(update={name: output})
            rejected += [f"{name}: {line}" for line in lines]
    if both.extraction is None and both.summary is None:
        raise UnusableAnswer("; ".join(rejected))
    return both, rejected


def _parsed(task: Task[In, Out], text: str, salvage: bool) -> ParsedJson:
    try:
        return parse_json(text, salvage=salvage)
    except UnusableAnswer:
        # Smaller models answer with text under headings instead of JSON.
        sections = read_sections(text) if issubclass(task.output, ArchiveOutput) else None
        if sections is None:
            raise
        return ParsedJson(sections)


# --- JSON to the shape of an output -------------------------------------------------------------------------


def _item_fields(output: type[BaseModel]) -> dict[str, type[BaseModel]]:
    """The fields of an output that are lists of models, with the model."""
    found: dict[str, type[BaseModel]] = {}
    for name, field in output.model_fields.items():
        arguments = get_args(field.annotation)
        if (
            get_origin(field.annotation) is list
            and isinstance(arguments[0], type)
            and issubclass(arguments[0], BaseModel)
        ):
            found[name] = arguments[0]
    return found


_LISTS = ("memories", "facts", "extracted_facts", "extractedFacts")
_CONTENTS = ("content", "fact", "text", "memory", "statement")
"""Field names for a memory's sentence, ours first."""


def _named(value: Any) -> Any:
    """An extraction with our field names, from any of the shapes that the prompts of other systems ask for.

    A list under another name, a single memory without a list, and bare sentences instead of memories.
    """
    if isinstance(value, dict) and "memories" not in value:
        name = next((name for name in _LISTS if isinstance(value.get(name), list)), None)
        if name is not None:
            value = {**value, "memories": value[name]}
        elif "worth_extracting" not in value and any(isinstance(value.get(name), str) for name in _CONTENTS):
            value = [value]
    if isinstance(value, list):
        value = {"memories": value}
    if isinstance(value, dict) and isinstance(value.get("memories"), list):
        value = {**value, "memories": [{"content": one} if isinstance(one, str) else one for one in value["memories"]]}
    return value


def _as_object(value: Any, items: dict[str, type[BaseModel]]) -> Json:
    if isinstance(value, list) and len(items) == 1:
        return {next(iter(items)): value}
    if not isinstance(value, dict):
        raise UnusableAnswer("it is an array, where an object is wanted")
    return value


def _require_whole(output: type[BaseModel], answer: Json, parsed: ParsedJson) -> None:
    if parsed.flaw and parsed.flaw.startswith("cut off"):
        raise UnusableAnswer("it was cut off")
    missing = [
        name for name in output.model_fields if answer.get(name) is None and name not in free_form_fields(output)
    ]
    if missing:
        raise UnusableAnswer(f"it lacks {', '.join(missing)}")


def _strings_only(name: str, value: Any, rejected: list[str]) -> Any:
    """The texts of a list: summaries and profiles are lists of sentences."""
    if not isinstance(value, list):
        return value
    sentences = [item.strip() for item in value if isinstance(item, str) and item.strip()]
    if len(sentences) < len(value):
        rejected.append(f"{name}: {len(value) - len(sentences)} entries that are not text")
    return sentences


def _refuse_wipe(output: Data, data: Data) -> None:
    """An empty document must not replace a full one, unless something has ceased to be true."""
    if not isinstance(data, SummarizeInput | ProfileInput) or data.earlier is None:
        return
    had = any(data.earlier.model_dump().values())
    has = any(output.model_dump(include=set(type(data.earlier).model_fields)).values())
    if had and not has and not (isinstance(data, ProfileInput) and data.gone):
        raise UnusableAnswer("it is empty, and what it replaces is not")


# --- items --------------------------------------------------------------------------------------------------


def _read_items(
    name: str, model: type[BaseModel], raw: Any, data: Data, parsed: ParsedJson, rejected: list[str]
) -> list[BaseModel]:
    if not isinstance(raw, list):
        raise UnusableAnswer(f"{name} is not a list")
    kept: list[BaseModel] = []
    for number, item in enumerate(raw, 1):
        try:
            if not isinstance(item, dict):
                raise Ungrounded("it is not an object")
            if issubclass(model, ExtractedMemory) and isinstance(data, ExtractInput):
                # An incomplete item to which evidence is added would look complete.
                item = shape_memory(restore(model, item), data, complete=parsed.flaw is None)
            kept.append(_validated(model, item, f"{name} {number}", rejected))
        except ValidationError as error:
            rejected.append(f"{name} {number}: {_reasons(error)}")
        except Ungrounded as reason:
            rejected.append(f"{name} {number}: {reason}")
    return kept


def shape_memory(item: Json, data: ExtractInput, *, complete: bool = True) -> Json:
    """One memory in the contract's own field names, from those or from another system's shape.

    The shapes are {"type", "content"}, {"content", "memory_type", "confidence_score"}, and {"fact"} or {"text"}. With
    `complete`, missing evidence is searched for in the input.

    Raises:
        Ungrounded: there is no evidence for it.
    """
    shaped = {key: value for key, value in item.items() if value is not None}
    for name in (*_CONTENTS, "quote"):
        if isinstance(shaped.get(name), list):
            shaped[name] = " ".join(_texts(shaped[name]))
    if name_of_content := next((name for name in _CONTENTS if isinstance(shaped.get(name), str)), None):
        shaped.setdefault("content", shaped[name_of_content])
    shaped.setdefault("type", shaped.pop("memory_type", "fact"))
    if "confidence_score" in shaped:
        shaped.setdefault("confidence", shaped.pop("confidence_score"))
    name = str(shaped["type"]).strip().lower()
    shaped["type"], kind = TYPE_ALIASES.get(name, (name if name in get_args(MemoryType) else "fact", None))
    if ours := custom_kind(shaped.get("kind"), data.custom) or custom_kind(name, data.custom):
        shaped["type"], shaped["kind"] = "fact", ours
    named = str(shaped.pop("kind", "")).strip().lower()
    # Among the kinds of an operator, an unknown one is a memory that nobody asked for.
    if named in get_args(FactKind) or (named and data.custom is not None):
        shaped["kind"] = named
    elif kind and shaped["type"] == "fact":
        shaped["kind"] = kind
    # What stands beside the content is no reason to lose a memory.
    if not isinstance(shaped.get("metadata"), dict):
        shaped.pop("metadata", None)
    if "tags" in shaped:
        shaped["tags"] = _texts(shaped["tags"])
    for rated in ("confidence", "importance"):
        if (share := _share(shaped.pop(rated, None))) is not None:
            shaped[rated] = share
    shaped["turns"] = _refs(shaped.get("turns"), {turn.ref for turn in data.turns})
    if complete and not (shaped.get("quote") and shaped.get("turns")):
        content, quote = shaped.get("content"), shaped.get("quote")
        if isinstance(content, str) and isinstance(quote, str | None):
            shaped["quote"], shaped["turns"] = find_evidence(content, quote, shaped["turns"], data.turns)
    return shaped


def _texts(value: object) -> list[str]:
    """The texts in a list, or a text alone."""
    return [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, str) and one.strip()]


_PERCENT = linear(r"^\s*(-?\d{1,3}(?:\.\d{1,9})?)\s*%\s*$")
_NUMBER = linear(r"(?i)\b(?:turns?[\s_#:-]*|t)?(\d{1,9})\b")
"""The number of a turn, however a model writes its ref: "t1", "T1", "turn 1", "1", several in one text."""


def _share(value: object) -> float | None:
    """A number from 0 to 1; a larger one is 1. None if it is no number, or below 0."""
    if isinstance(value, str):
        percent = _PERCENT.match(value)
        value = float(percent[1]) / 100 if percent else value
    try:
        share = float(value) if isinstance(value, str | int | float) else math.nan
    except (ValueError, OverflowError):
        return None
    return min(share, 1.0) if share >= 0 else None


def _refs(value: object, known: set[str]) -> list[str]:
    """The refs of turns that a model names as text, as a number, as an object with one, or as a list of those."""
    if isinstance(value, list):
        return [ref for one in value for ref in _refs(one, known)]
    if isinstance(value, dict):
        return _refs([value[name] for name in ("ref", "turn", "id") if name in value], known)
    if not isinstance(value, str | int) or value in known:
        return [str(value)] if value in known else []
    found = [f"t{number}" for number in _NUMBER.findall(str(value))]
    return found or [str(value)]


def _validated(model: type[BaseModel], item: Json, label: str, rejected: list[str]) -> BaseModel:
    """Validates an item; a bad value of a field that may be null becomes null."""
    try:
        return model.model_validate(item)
    except ValidationError as error:
        bad = {str(problem["loc"][0]) for problem in error.errors()}
        if not bad <= {name for name, field in model.model_fields.items() if _is_nullable(field.annotation)}:
            raise
        good = model.model_validate({name: value for name, value in item.items() if name not in bad})
        rejected.append(f"{label}: kept without {_reasons(error)}")
        return good


def _is_nullable(annotation: Any) -> bool:
    return get_origin(annotation) in (Union, types.UnionType) and type(None) in get_args(annotation)


def _reasons(error: ValidationError) -> str:
    """What is wrong where, in one line, without the values: they may be private."""
    return "; ".join(f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}" for problem in error.errors())
