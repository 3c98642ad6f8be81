"""Answers a question about a user from the hits of a search, each sentence with its evidence.

A sentence stays if the memories that it names contain its quotes, and its names, figures, dates and negations
(`language.grounding`), if it has the same subject as they do, and if it is no order to a model and no secret.
"""

from __future__ import annotations

from collections.abc import Sequence

from agent_memory.calibration import calibration_of
from agent_memory.errors import ModelError
from agent_memory.language.offline import OfflineChat
from agent_memory.language.roles import ROLE_OF, model_of
from agent_memory.language.tasks import REFLECT_ON, CitedText, RatedNote, ReflectOnInput
from agent_memory.models import CitedSentence, Evidence, Hit, Reflection, Usage, now
from agent_memory.recall.search import LONGEST_QUERY
from agent_memory.rules.budgets import charge, require_budget
from agent_memory.screening.findings import find_instructions, find_secrets
from agent_memory.screening.injected import without_injected
from agent_memory.steps.gather import Tools
from agent_memory.store.chunks import spoken
from agent_memory.text.folding import folded
from agent_memory.text.likeness import cosine
from agent_memory.text.patterns import WORD
from agent_memory.text.stems import stem
from agent_memory.text.stop_words import CLAIM_WORDS, FUNCTION_WORDS


async def reflect_on(tools: Tools, user_id: str, question: str, hits: Sequence[Hit]) -> Reflection:
    """The answer that these hits give. Costs a call of the chat model, and embeds the answer's sentences.

    Raises:
        ModelError: if a model gave nothing usable.
        QuotaExceeded: if the user's budget of the day is spent.
    """
    chat = model_of(tools.chat, REFLECT_ON)
    if chat is None:
        reason = f"the role {ROLE_OF[REFLECT_ON.name]!r} is switched off"
        return Reflection(question=question, skipped_reason=reason)
    if not hits:
        return Reflection(question=question)
    await require_budget(tools.store, tools.policy, user_id)
    by_ref = {f"n{place}": hit for place, hit in enumerate(hits, 1)}
    asked = ReflectOnInput(
        question=folded(question[:LONGEST_QUERY]),
        today=now(),
        notes=[_note(ref, hit) for ref, hit in by_ref.items()],
    )
    usage = Usage()
    try:
        answer = await chat.run(REFLECT_ON, asked)
        usage += answer.usage
        texts = {note.ref: note.text for note in asked.notes}
        rejected = list(answer.rejected)
        kept = [one for one in answer.output.sentences if not _is_unsafe(one.text, rejected)]
        if answer.model != OfflineChat.MODEL_ID:  # its sentences are those of the notes
            kept, cost = await _on_their_evidence(tools, kept, texts, rejected)
            usage += cost
    except ModelError as error:
        usage += Usage.model_validate(error.cost)
        raise
    finally:
        tools.tally.add(REFLECT_ON.name, usage)
        await charge(tools.store, tools.policy, user_id, usage)
    sentences = [
        CitedSentence(text=one.text, evidence=[_evidence(by_ref[words.ref], words.quote) for words in one.evidence])
        for one in kept
    ]
    return Reflection(
        question=question,
        text=" ".join(one.text for one in sentences),
        sentences=sentences,
        rejected=rejected,
        model=answer.model,
        prompt_version=answer.prompt_version,
        usage=usage,
    )


def _note(ref: str, hit: Hit) -> RatedNote:
    relevance = None if hit.relevance is None else round(hit.relevance, 2)
    text = without_injected(folded(spoken(hit.memory)))
    return RatedNote(ref=ref, said=hit.memory.last_said_at, text=text, relevance=relevance)


def _evidence(hit: Hit, quote: str) -> Evidence:
    memory = hit.memory
    return Evidence(
        memory_id=memory.id,
        quote=quote,
        thread_id=memory.thread_id,
        turn_ids=memory.source_turn_ids,
        said_at=memory.last_said_at,
        group=hit.group,
    )


def _is_unsafe(text: str, rejected: list[str]) -> bool:
    """Whether a sentence reads like an order to a model, or holds a secret; the reason does not repeat it."""
    found = [*find_instructions(text, "agent"), *find_secrets(text)]
    if found:
        rejected.append(f"a sentence with a {found[0].kind}: {found[0].what}")
    return bool(found)


async def _on_their_evidence(
    tools: Tools, sentences: Sequence[CitedText], texts: dict[str, str], rejected: list[str]
) -> tuple[list[CitedText], Usage]:
    """The sentences that share a word with their evidence, or are similar to it by the embedding model."""
    said = ["\n".join(texts[words.ref] for words in one.evidence) for one in sentences]
    strange = [place for place, one in enumerate(sentences) if _stems(one.text).isdisjoint(_stems(said[place]))]
    if not strange:
        return list(sentences), Usage()
    known = calibration_of(tools.embeddings.model_id)
    near = 1.0 if known.answering is None else (known.answering + known.unrelated) / 2
    embedded = await tools.embeddings.embed([text for at in strange for text in (sentences[at].text, said[at])])
    vectors = iter(embedded.vectors)
    far = {at for at in strange if cosine(next(vectors), next(vectors)) < near}
    rejected += [f"sentence {at + 1}: it is not about what it quotes" for at in sorted(far)]
    return [one for at, one in enumerate(sentences) if at not in far], embedded.usage


def _stems(text: str) -> set[str]:
    words = (word.casefold() for word in WORD.findall(text))
    return {stem(word) for word in words if word not in CLAIM_WORDS and word not in FUNCTION_WORDS}
