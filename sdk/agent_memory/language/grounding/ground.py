"""Checks that the input of a model supports its answer.

Every adapter passes its output through `ground`. It drops each unsupported item with a one-line reason, so an invented
quote, ref or figure never reaches the store.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TypeVar

from agent_memory.language.custom import ground_custom
from agent_memory.language.grounding.conclusions import Ungrounded, ground_conclusions, ground_insights
from agent_memory.language.grounding.moods import of_direct_speech
from agent_memory.language.grounding.own_words import Reworded, in_own_words, stands_alone
from agent_memory.language.grounding.polarity import changed_polarity, words_of
from agent_memory.language.grounding.quotes import NO_QUOTE, NONE_FOUND, find_quote, find_tidied
from agent_memory.language.grounding.said_dates import Spoken
from agent_memory.language.grounding.support import NOT_STATED, why_unsaid, why_unsupported
from agent_memory.language.tasks import (
    CitedText,
    ConsolidateInput,
    ConsolidateOutput,
    Contradiction,
    Data,
    Duplicates,
    ExtractedMemory,
    ExtractInput,
    ExtractOutput,
    FactView,
    ProfileInput,
    ProfileOutput,
    Quotation,
    RatedNote,
    ReconcileInput,
    ReconcileOutput,
    ReflectInput,
    ReflectOnInput,
    ReflectOnOutput,
    ReflectOutput,
    SummarizeInput,
    SummarizeOutput,
    SynthesizeInput,
    SynthesizeOutput,
    TurnView,
)
from agent_memory.models import content_hash
from agent_memory.text.figures import figures
from agent_memory.text.folding import folded
from agent_memory.text.names import names

Out = TypeVar("Out", bound=Data)


def ground(output: Out, data: Data) -> tuple[Out, list[str]]:
    """The part of an output that its input supports, and why the rest was dropped. Other tasks pass unchanged."""
    rejected: list[str] = []
    if isinstance(output, ExtractOutput) and isinstance(data, ExtractInput):
        return output.model_copy(update={"memories": _ground_memories(output, data, rejected)}), rejected
    if isinstance(output, ReconcileOutput) and isinstance(data, ReconcileInput):
        return output.model_copy(update=_ground_findings(output, data, rejected)), rejected
    if isinstance(output, ConsolidateOutput) and isinstance(data, ConsolidateInput):
        merged = ground_conclusions(output.merged, data.groups, rejected, keep_all=not data.named)
        return output.model_copy(update={"merged": merged}), rejected
    if isinstance(output, SynthesizeOutput) and isinstance(data, SynthesizeInput):
        return output.model_copy(
            update={"procedures": ground_conclusions(output.procedures, data.groups, rejected)}
        ), rejected
    if isinstance(output, ReflectOutput) and isinstance(data, ReflectInput):
        return output.model_copy(update={"insights": ground_insights(output, data, rejected)}), rejected
    if isinstance(output, ReflectOnOutput) and isinstance(data, ReflectOnInput):
        return output.model_copy(update={"sentences": _ground_sentences(output, data, rejected)}), rejected
    if isinstance(output, SummarizeOutput) and isinstance(data, SummarizeInput):
        return _without_unsaid(output, _heard_by_summary(data), rejected), rejected
    if isinstance(output, ProfileOutput) and isinstance(data, ProfileInput):
        return _without_unsaid(output, _heard_by_profile(data), rejected), rejected
    return output, rejected


# --- summary and profile ------------------------------------------------------------------------------------


def _heard_by_summary(data: SummarizeInput) -> list[Spoken]:
    heard = _spoken(data.turns)
    heard += [Spoken(f"{one.was} {one.now}", one.said_at) for one in data.corrections]
    since = min((one.said_at for one in heard), default=None)
    known = [*_texts(data.earlier.model_dump() if data.earlier else {}), *_texts(data.earlier_state)]
    return [*heard, Spoken("\n".join(known), since)] if since else []


def _heard_by_profile(data: ProfileInput) -> list[Spoken]:
    heard = [Spoken(f"{fact.content} {fact.quote or ''}", fact.said_at) for fact in (*data.facts, *data.gone)]
    since = min((one.said_at for one in heard), default=None)
    known = _texts(data.earlier.model_dump() if data.earlier else {})
    return [*heard, Spoken("\n".join(known), since)] if since else []


def _without_unsaid(output: Out, heard: Sequence[Spoken], rejected: list[str]) -> Out:
    """A summary or profile without the lines, and without the values of its state, that no source supports."""
    if not heard:
        return output
    changes: dict[str, object] = {}
    for name, value in output:
        whole = (
            value.items() if isinstance(value, dict) else [(None, line) for line in value if isinstance(value, list)]
        )
        reasons = {key or line: why for key, line in whole if (why := why_unsaid(" ".join(_texts(line)), heard))}
        rejected += [f"{name}: {why}" for why in reasons.values()]
        if reasons and isinstance(value, dict):
            changes[name] = {key: line for key, line in value.items() if key not in reasons}
        elif reasons:
            changes[name] = [line for line in value if line not in reasons]
    return output.model_copy(update=changes)


def _texts(value: object) -> list[str]:
    """The texts and numbers in a value of JSON."""
    if isinstance(value, dict):
        return [text for one in value.values() for text in _texts(one)]
    if isinstance(value, list):
        return [text for one in value for text in _texts(one)]
    return [str(value)] if isinstance(value, str | int | float) and not isinstance(value, bool) else []


# --- extraction ---------------------------------------------------------------------------------------------


NO_SOURCE = "it cites no turn that may be a source"
NOT_QUOTED = "its quote is not in the turns that it cites"
_INVENTED = (NO_SOURCE, NOT_QUOTED, NONE_FOUND, NO_QUOTE)


def without_evidence(rejected: Sequence[str]) -> int:
    """How many of these reasons dropped a memory because its turns or its quoted words do not exist."""
    return sum(reason.endswith(_INVENTED) for reason in rejected)


def _ground_memories(output: ExtractOutput, data: ExtractInput, rejected: list[str]) -> list[ExtractedMemory]:
    if not output.worth_extracting:
        if output.memories:
            rejected.append(f"{len(output.memories)} memories: the answer says that nothing is worth extracting")
        return []
    kept: dict[str, ExtractedMemory] = {}
    for number, memory in enumerate(output.memories, 1):
        try:
            found = ground_memory(memory, data.turns, data.before)
            grounded = found.memory if isinstance(found, Reworded) else found
            cited = [turn for turn in data.turns if turn.ref in grounded.turns]
            heard = _spoken([*_turns_before(cited, data.turns, data.before), *cited])
            grounded = ground_custom(grounded, data.custom, heard)
            if content_hash(grounded.content) in kept:
                raise Ungrounded("the answer has it already")
            kept[content_hash(grounded.content)] = grounded
            if isinstance(found, Reworded):
                rejected.append(f"memory {number}: kept in the user's own words, because {found.why}")
        except Ungrounded as reason:
            rejected.append(f"memory {number}: {reason}")
    return list(kept.values())


def ground_memory(
    memory: ExtractedMemory, turns: Sequence[TurnView], before: Sequence[TurnView] = ()
) -> ExtractedMemory | Reworded:
    """A memory with its refs in order, its quote as in the transcript, and no time phrase that nobody used.

    If no turn that it cites has the quote, the one user turn that has it counts as cited (`_turn_of_quote`).

    A fact must quote a user; what an agent or a tool said can only prompt it. Procedures and episodes may come from any
    turn except a system turn. One that only an agent or a tool said is as trustworthy as that turn, even if a user
    spoke after it.

    If its content does not follow from its turns, the memory gets the user's own words (`own_words`), provided that
    they make sense by themselves.

    Raises:
        Ungrounded: its refs or its quote cannot be found, or its content does not follow from them and the quoted words
            make no memory.
    """
    if not words_of(folded(memory.content)):
        raise Ungrounded("it has no words")
    cited = [turn for turn in turns if turn.ref in memory.turns and turn.role != "system"]
    said = {turn.ref: quote for turn in cited if (quote := find_quote(memory.quote, turn.content))}
    if not said:
        by_users = [turn for turn in cited if turn.role == "user"]
        said = {turn.ref: quote for turn in by_users if (quote := find_tidied(memory.quote, turn.content))}
    if not said and (found := _turn_of_quote(memory.quote, turns)):
        turn, quote = found
        cited, said = [turn], {turn.ref: quote}
    if not cited:
        raise Ungrounded(NO_SOURCE)
    if not said:
        raise Ungrounded(NOT_QUOTED)
    by_user = {turn.ref: said[turn.ref] for turn in cited if turn.ref in said and turn.role == "user"}
    if memory.type == "fact" and not by_user:
        raise Ungrounded("it is a fact that no user stated")
    said = by_user or said
    # The last cited turn decides how far the memory is trusted: a user's if a user said the quote, else the one with
    # the quote.
    while cited[-1].role != "user" if by_user else cited[-1].ref not in said:
        cited.pop()
    changes: dict[str, object] = {"turns": [turn.ref for turn in cited], "quote": list(said.values())[-1]}
    if memory.time_phrase and not any(find_quote(memory.time_phrase, turn.content) for turn in cited):
        changes["time_phrase"] = None
    if memory.valid_from and memory.valid_to and memory.valid_to < memory.valid_from:
        changes |= {"valid_from": None, "valid_to": None}
    grounded = memory.model_copy(update=changes)
    earlier = _spoken(_turns_before(cited, turns, before))
    why = why_unsupported(grounded.content, grounded.quote, _spoken(cited), earlier, grounded.time_phrase)
    if why is None:
        return grounded
    quoted = next((turn for turn in reversed(cited) if turn.ref in by_user), None)
    if quoted is None or why in NOT_STATED:
        raise Ungrounded(why)
    quoting = grounded.model_copy(update={"quote": by_user[quoted.ref]})
    own = in_own_words(quoting, quoted, _turns_before([quoted], turns, before))
    # The quoted words may be somebody else's: "Summarise this review: 'I love it.'"
    if own is None or of_direct_speech(f"User {quoting.quote}", [folded(quoted.content)], "user"):
        raise Ungrounded(why)
    return Reworded(own, why)


def _turn_of_quote(quote: str, turns: Sequence[TurnView]) -> tuple[TurnView, str] | None:
    """The user turn that has a quote word for word, and the quote as it stands there.

    Models confuse or invent refs of turns whose words they quote correctly. A quote shows which turn is meant only if
    it stands alone: "yes, please" may be said to anything. If several turns have it, the newest counts, provided that
    all of them are the same words of the same user.
    """
    found = [
        (turn, said) for turn in turns if turn.role == "user" and (said := find_quote(quote, turn.content)) is not None
    ]
    if not stands_alone(quote) or len({(turn.name, turn.content) for turn, _ in found}) != 1:
        return None
    return found[-1]


def _turns_before(cited: Sequence[TurnView], turns: Sequence[TurnView], before: Sequence[TurnView]) -> list[TurnView]:
    """The turns just before those that a memory cites: as many as a model always sees before a batch."""
    first = next(place for place, turn in enumerate(turns) if turn.ref == cited[0].ref)
    return [*before, *turns[:first]][-_MOST_BEFORE:]


_MOST_BEFORE = 5
"""As `Limits.turns_before`."""


def _spoken(turns: Sequence[TurnView]) -> list[Spoken]:
    return [Spoken(turn.content, turn.created_at, turn.name, turn.role == "user") for turn in turns]


# --- answers ------------------------------------------------------------------------------------------------


def _ground_sentences(output: ReflectOnOutput, data: ReflectOnInput, rejected: list[str]) -> list[CitedText]:
    notes = {note.ref: note for note in data.notes}
    kept: dict[str, CitedText] = {}
    for number, sentence in enumerate(output.sentences, 1):
        try:
            grounded = _ground_sentence(sentence, notes)
        except Ungrounded as reason:
            rejected.append(f"sentence {number}: {reason}")
        else:
            kept.setdefault(grounded.text, grounded)
    return list(kept.values())


def _ground_sentence(sentence: CitedText, notes: Mapping[str, RatedNote]) -> CitedText:
    """A sentence with its quotes as the notes have them. It may count its notes."""
    text = " ".join(folded(sentence.text).split())
    found = {
        one.ref: Quotation(ref=one.ref, quote=quote)
        for one in sentence.evidence
        if one.ref in notes and (quote := find_quote(one.quote, notes[one.ref].text))
    }
    if not text or not found:
        raise Ungrounded("its quotes are in none of the notes that it names")
    cited = [notes[ref] for ref in found]
    heard = [Spoken(note.text, note.said) for note in cited]
    quoted = ". ".join(one.quote for one in found.values())
    why = why_unsaid(text, [*heard, Spoken(str(len(cited)), cited[0].said)], subject=True)
    if why or (why := changed_polarity(text, quoted, "\n".join(note.text for note in cited))):
        raise Ungrounded(why)
    return CitedText(text=text, evidence=list(found.values()))


# --- reconciliation -----------------------------------------------------------------------------------------


def _ground_findings(output: ReconcileOutput, data: ReconcileInput, rejected: list[str]) -> dict[str, object]:
    facts = {fact.ref: fact for fact in data.facts}
    grouped: set[str] = set()
    groups: list[Duplicates] = []
    for number, group in enumerate(output.duplicates, 1):
        try:
            groups.append(_ground_group(group, facts, grouped))
            grouped.update(groups[-1].refs)
        except Ungrounded as reason:
            rejected.append(f"duplicates {number}: {reason}")
    pairs: dict[frozenset[str], Contradiction] = {}
    for number, pair in enumerate(output.contradictions, 1):
        try:
            _check_pair(pair, facts, known=pairs.keys())
            pairs[frozenset(pair.refs)] = pair
        except Ungrounded as reason:
            rejected.append(f"contradiction {number}: {reason}")
    for refs in list(pairs):  # facts called both duplicates and contradictions: neither is reliable, so both stay
        torn = [group for group in groups if refs <= set(group.refs)]
        if torn:
            del pairs[refs]
            groups = [group for group in groups if group not in torn]
            rejected.append(f"{' and '.join(sorted(refs))}: called duplicates and a contradiction at once")
    return {"duplicates": groups, "contradictions": list(pairs.values())}


def _ground_group(group: Duplicates, facts: dict[str, FactView], grouped: set[str]) -> Duplicates:
    refs = [ref for ref in dict.fromkeys(group.refs) if ref in facts]
    if len(refs) < 2:
        raise Ungrounded("it names fewer than two facts that exist")
    taken = [ref for ref in refs if ref in grouped]
    if taken:
        raise Ungrounded(f"{', '.join(taken)} is in an earlier group")
    known = figures(" ".join(f"{facts[ref].content} {facts[ref].quote or ''}" for ref in refs))
    if not figures(group.content) <= known:
        raise Ungrounded("its sentence has a figure that none of its facts has")
    said = " ".join(facts[ref].content for ref in refs)
    lost = (figures(said) - figures(group.content)) | {name for name in names(said) if name not in group.content}
    if changed := changed_polarity(group.content, said, said):
        raise Ungrounded(changed)
    if lost:  # "in Lisbon" and "in Porto" are two statements, whatever a model calls them
        raise Ungrounded(f"its sentence loses {', '.join(sorted(lost))}")
    return group.model_copy(update={"refs": refs})


def _check_pair(pair: Contradiction, facts: dict[str, FactView], *, known: Collection[frozenset[str]]) -> None:
    if not all(ref in facts for ref in pair.refs):
        raise Ungrounded("it names a fact that does not exist")
    if len(set(pair.refs)) < 2:
        raise Ungrounded("both sides are the same fact")
    if pair.reason == "duplicate":
        raise Ungrounded("a duplicate is not a contradiction")
    if frozenset(pair.refs) in known:
        raise Ungrounded("the answer has it already")
