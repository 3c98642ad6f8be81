"""Topics: which texts are about all of a topic of several words, and which only about a part of it.

"Hawaii budget" is not all about Hawaii. A text that lacks a word of the topic may still say it in other words ("We can
spend ten grand in Hawaii"). This shows when the word is taken away: what is about the budget is nearer to "Hawaii
budget" than to "Hawaii", what is about the hotel is nearer to "Hawaii".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agent_memory.language.tasks import EmbeddingModel
from agent_memory.text.likeness import Likeness, content_words, cosine, is_english, stems
from agent_memory.text.sentences import sentences

MOST_WORDS = 6
"""Words of a topic up to which each must be said. In a longer one, a single word hardly changes the vector."""
_SENTENCES = 40
"""Sentences of a text that are compared. A choice."""


async def partly_about(embeddings: EmbeddingModel, topic: str, texts: Sequence[str]) -> Mapping[str, str]:
    """Of texts near a topic, those about a part of it only: each with the word of the topic that it does not say.

    A text counts as about all of it if any of its sentences does, and if nothing can be told: in other languages than
    English, and with a model whose cosines know no meaning.
    """
    margin, words = Likeness.of(embeddings.model_id).limits.part, content_words(topic)
    unsure = [text for text in dict.fromkeys(texts) if is_english(f"{topic} {text}")]
    if margin is None or not unsure or not 1 < len(words) <= MOST_WORDS:
        return {}
    without = {word: " ".join(other for other in words if other != word) for word in words}
    units = {text: list(dict.fromkeys([text, *sentences(text)[:_SENTENCES]])) for text in unsure}
    wanted = list(dict.fromkeys([topic, *without.values(), *(unit for parts in units.values() for unit in parts)]))
    vectors = dict(zip(wanted, (await embeddings.embed(wanted)).vectors, strict=True))

    def gain(unit: str, word: str) -> float:
        """How much nearer a text is to the topic than to the topic without a word."""
        return cosine(vectors[unit], vectors[topic]) - cosine(vectors[unit], vectors[without[word]])

    partly = {}
    for text, parts in units.items():
        missing = [word for word in words if stems(word).isdisjoint(stems(text))]
        if missing and not any(all(gain(unit, word) >= -margin for word in missing) for unit in parts):
            partly[text] = min(missing, key=lambda word: gain(text, word))
    return partly
