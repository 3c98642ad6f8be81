"""Relevance: how likely a memory answers a question, by its words, by its vector and by the talk around it.

Words are scored by BM25 over the candidates of one search (Robertson and Zaragoza, "The Probabilistic Relevance
Framework", 2009): Azure ranks by full text but gives no score.

An answer is often next to the words that find it, and good hits share a conversation. A chunk has its thread, its
position and its speaker; a memory derived from a turn has the place of that turn. The turn after a question answers it,
and a turn that only asks states nothing. Evidence on LoCoMo (five conversations, 760 questions): among the first five
turns 72.5 in 100 without these two rules, 74.4 with both; among the first twenty 86.6 and 87.0; nDCG at ten 64.7 and
67.0.

The score of a search orders the hits of one search and cannot be compared with another's: its best hit is near 1 for
any question. So a hit's relevance is a logistic regression over comparable features: its similarity to the question,
calibrated for the embedding model; its share of the question's words; how far it is below the best; and the type of
text. `calibration.RELEVANCE` has the weights and what they were fitted to.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from typing import NamedTuple

from agent_memory.calibration import (
    ASKING_SHARE,
    BM25_B,
    BM25_K1,
    COVERED,
    LONG,
    NEAR,
    OFF_TOPIC,
    ONLY_ASKING_SHARE,
    ONLY_ASKING_WORDS,
    RELEVANCE,
    THREAD_TOP,
    Calibration,
)
from agent_memory.models import Hit, Memory
from agent_memory.recall.gate import is_personal
from agent_memory.store.chunks import words_of
from agent_memory.text.patterns import WORD
from agent_memory.text.sentences import QUESTION_MARKS, sentences
from agent_memory.text.stems import stem
from agent_memory.text.terms import CJK, is_cjk, pairs, query_terms

_FEWEST = 20
"""Minimum number of texts that show how rare a word is. Of two texts, a word in both would count a tenth of an unknown
word. A choice."""
# No open repeat: it reads a bounded number of characters at each place.
_JOINT = re.compile(r"(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]{2})|_")
"""Where names in programs join their words: "OOMKilled", "user_id"."""
# Each alternative is one repeat of one class with nothing after it: it never goes back, and reads every character once.
_WORD_OR_CJK = re.compile(rf"[{CJK}]+|[^\W{CJK}]+")
_SIGN = re.compile(f"[{CJK}]")


@lru_cache(maxsize=8192)
def words(text: str) -> Mapping[str, int]:
    """How often the stem of each word is in a text, without case and accents.

    For scripts without spaces, it counts characters and their pairs. The results are cached, because searches of one
    user meet the same texts again and again.
    """
    folded = _folded(text)
    if not folded.isascii() and _SIGN.search(folded):
        return Counter(part for word in _WORD_OR_CJK.findall(folded) for part in _parts(word))
    found = WORD.findall(folded)
    if _JOINT.search(text):
        joined = (word for word in WORD.findall(text) if _JOINT.search(word))
        found += [part.lower() for word in joined for part in _JOINT.split(word) if part]
    return Counter(map(stem, found))


def _folded(text: str) -> str:
    if text.isascii():
        return text.lower()
    bare = (sign for sign in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(sign))
    return unicodedata.normalize("NFC", "".join(bare))


def _parts(word: str) -> list[str]:
    if is_cjk(word):
        return [*word, *pairs(word)] if len(word) > 1 else [word]
    return [stem(word)]


class Bm25:
    """Texts made ready to be scored."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._counts = {key: words(text) for key, text in texts.items()}
        lengths = {key: sum(count.values()) for key, count in self._counts.items()}
        average = max(1.0, sum(lengths.values()) / max(1, len(texts)))
        self._norms = {key: BM25_K1 * (1 - BM25_B + BM25_B * length / average) for key, length in lengths.items()}

    def scores(self, terms: Sequence[str]) -> dict[str, float]:
        """How well each text matches the terms; 0 for those that share no word with them."""
        scores = dict.fromkeys(self._counts, 0.0)
        for term, weight in self.weights(terms).items():
            for key, count in self._counts.items():
                if times := count.get(term, 0):
                    scores[key] += weight * times * (BM25_K1 + 1) / (times + self._norms[key])
        return scores

    def coverage(self, terms: Sequence[str]) -> dict[str, float]:
        """What share of the terms each text has, from 0 to 1; a rare term counts more than one that many texts have."""
        weights = self.weights(terms)
        total = sum(weights.values()) or 1.0
        return {
            key: sum(weight for term, weight in weights.items() if term in count) / total
            for key, count in self._counts.items()
        }

    def weights(self, terms: Sequence[str]) -> dict[str, float]:
        """How rare each word of the terms (its stem) is. Few texts count as more, because they do not show it."""
        texts = max(len(self._counts), _FEWEST)
        weights = {}
        for term in dict.fromkeys(part for asked in terms for part in words(asked)):
            having = sum(term in count for count in self._counts.values())
            weights[term] = math.log(1 + (texts - having + 0.5) / (having + 0.5))
        return weights


def asks(text: str) -> bool:
    """Whether this text expects an answer."""
    return _questions(text)[0] >= ASKING_SHARE


def only_asks(text: str) -> bool:
    """Whether a text is questions and hardly more. One with "I" or "my" does not count: it tells of the speaker."""
    return is_question_alone(text) and not is_personal(text)


def is_question_alone(text: str) -> bool:
    """Whether it is questions and hardly more."""
    share, other_words = _questions(text)
    return share >= ONLY_ASKING_SHARE and other_words <= ONLY_ASKING_WORDS


JUST_NOW = timedelta(seconds=60)
"""How long ago a message may be to count as the question itself: applications write it before they ask. A choice."""


def repeats_question(memory: Memory, text: str, at: datetime) -> bool:
    """Whether a memory is only this question, put by the user: just before `at`, or earlier with a question mark.

    Applications write a message and ask with it. An earlier message in the same words that is not a question counts
    as information.
    """
    if memory.kind != "chunk" or memory.source != "user":
        return False
    asked = text.strip()
    is_same = words_of(memory).strip().casefold() == asked.casefold()
    return is_same and (asked.endswith(QUESTION_MARKS) or at - memory.recorded_at <= JUST_NOW)


@lru_cache(maxsize=8192)
def _questions(text: str) -> tuple[float, int]:
    """What share of a text is questions, and how many words the rest has."""
    if not any(mark in text for mark in QUESTION_MARKS):
        return 0.0, len(text.split())
    found = sentences(text)
    asked = sum(len(sentence) for sentence in found if sentence.endswith(QUESTION_MARKS))
    other_words = sum(len(sentence.split()) for sentence in found if not sentence.endswith(QUESTION_MARKS))
    return asked / len(text), other_words


class Spot(NamedTuple):
    """Where something was said."""

    thread_id: str
    position: int


def spot_of(chunk: Memory) -> Spot | None:
    """Where a chunk was said; None for any other memory."""
    if chunk.kind != "chunk" or "position" not in chunk.metadata:
        return None
    return Spot(chunk.thread_id, int(chunk.metadata["position"]))


class Talk:
    """Where the memories of one search were said, and by whom."""

    def __init__(self, memories: Iterable[Memory]) -> None:
        known = list(memories)
        spots = {memory.id: spot for memory in known if (spot := spot_of(memory)) is not None}
        # Applications number the turns of each thread in the same way, so both ids identify a turn.
        chunks = {(memory.thread_id, memory.source_turn_ids[0]): memory for memory in known if memory.id in spots}
        self._chunks = {
            memory.id: memory if memory.id in spots else chunks[memory.thread_id, memory.source_turn_ids[-1]]
            for memory in known
            if memory.source_turn_ids and (memory.thread_id, memory.source_turn_ids[-1]) in chunks
        }
        self._spots = {key: spots[chunk.id] for key, chunk in self._chunks.items()}
        self._speakers = {str(chunk.metadata["speaker"]) for chunk in chunks.values() if "speaker" in chunk.metadata}

    def spot(self, memory_id: str) -> Spot | None:
        """Where a memory was said, if the chunks show it."""
        return self._spots.get(memory_id)

    def said_by(self, memory_id: str, speaker: str) -> bool:
        """Whether this speaker said it."""
        chunk = self._chunks.get(memory_id)
        return chunk is not None and chunk.metadata.get("speaker") == speaker

    def speaker_named(self, query: str) -> str | None:
        """The one speaker named in a question; None if it names none, or several.

        Case tells a name from a word (Will, May), unless the question has no capitals at all.
        """
        lower = query.islower()
        words = {word.lower() for word in WORD.findall(query) if lower or not word.islower()}
        named = [name for name in self._speakers if words.intersection(WORD.findall(name.lower()))]
        return named[0] if len(named) == 1 else None

    def lifts(
        self, scores: Mapping[str, float], lift: float, answer: float, reach: int, answered_by: str = "user"
    ) -> dict[str, float]:
        """What each memory gains from the turns around it.

        At each distance up to `reach` the better of both neighbours counts, starting from `lift` and halved with every
        step. `answer` is a further share if the turn before is a question and this source answers it.
        """
        best: dict[tuple[str, int], float] = {}
        asking: dict[tuple[str, int], float] = {}
        for memory_id, score in scores.items():
            spot = self._spots.get(memory_id)
            if spot is not None:
                best[spot] = max(best.get(spot, 0.0), score)
                if asks(words_of(self._chunks[memory_id]).strip()):
                    asking[spot] = max(asking.get(spot, 0.0), score)

        def gain(memory_id: str, thread_id: str, position: int) -> float:
            total = 0.0
            for step in range(1, reach + 1):
                share = lift * 0.5 ** (step - 1)
                before, after = (thread_id, position - step), (thread_id, position + step)
                answers = step == 1 and self._chunks[memory_id].source == answered_by
                answered = asking.get(before, 0.0) if answers else 0.0
                total += max(share * best.get(before, 0.0) + answer * answered, share * best.get(after, 0.0))
            return total

        return {key: gain(key, *spot) for key in scores if (spot := self._spots.get(key)) is not None}

    def threads(self, scores: Mapping[str, float], share: float) -> dict[str, float]:
        """What each memory gains from the best hits of its conversation: a share of their mean."""
        by_thread: dict[str, list[float]] = defaultdict(list)
        for memory_id, score in scores.items():
            spot = self.spot(memory_id)
            if spot is not None:
                by_thread[spot.thread_id].append(score)
        gains = {
            thread_id: share * sum(sorted(found)[-THREAD_TOP:]) / THREAD_TOP for thread_id, found in by_thread.items()
        }
        return {memory_id: gains[spot.thread_id] for memory_id in scores if (spot := self.spot(memory_id)) is not None}


_UNKNOWN_NEARNESS = 0.5
"""The nearness of a memory whose cosine is not known: between memories that answer and those that do not."""
_FRAME = 80
"""Characters that are added to each length, for the day, the speaker and the line itself."""
_USUAL = 170
"""Characters, with `_FRAME`, of a memory that keeps its relevance: 90 of its own."""
_HEAD = 25
"""About how many characters the day and the speaker of a turn take."""
_ROOM = 0.75
"""The exponent of the penalty for length. A longer memory takes the room of others. Questions for which 650
tokens hold all evidence, with and without it: 78 and 78 in 100 of LoCoMo, 49 and 48 of REALTALK, 46 and 40 of BEAM."""
COMPARED = 60
"""Number of hits that a context compares with each other, so that the newest of contradicting ones is shown."""
_FEW = (8, 0.3)
"""The first eight memories need only this share of the minimum relevance. The evidence may rank high and still have a
low relevance: if little is known, or if it shares no word with the question. In the project's own conversations 86
instead of 81 in 100 contexts then hold evidence; elsewhere nothing changes."""
_FEW_OF_FEW = (12, 0.1)
"""The same if the search found fewer than `COMPARED`, as in short conversations. In the two halves of the project's
own, 89.9 and 92.1 instead of 89.2 and 88.5 of 100 contexts then hold evidence, with 249 and 286 instead of 200 and 227
tokens; LoCoMo, REALTALK and BEAM change by 0.2, 0 and 0.7, and by at most 6 tokens. Of 176 questions on 26
conversations that were written to judge the contexts, 132 instead of 124 are answered in full."""

_FAR_BEHIND = 0.05
"""After these, a memory needs at least this share of the highest relevance. Of 100 contexts, with and without it,
those of LoCoMo show some evidence in 90.9 and 91.2 with 520 and 567 tokens, of REALTALK in 86.5 and 86.5 with 566 and
592, of BEAM in 86.1 and 86.1 with 592 and 595. With 0.08: 90.1, 87.2 and 86.1 with 475, 543 and 582, but in REALTALK
all evidence in 55.3 instead of 57.4."""


def relevance_of(
    memory: Memory, similarity: float | None, coverage: float, share: float, calibration: Calibration
) -> float:
    """How likely a memory answers a question, from 0 to 1.

    Args:
        memory: What a search found.
        similarity: The memory's cosine to the question, if it is known.
        coverage: The share of the question's words that it has.
        share: Its score as a share of the best one.
        calibration: The calibration of the embedding model.
    """
    agent = RELEVANCE.agent * (memory.source == "agent")
    alone = signs(memory, similarity, coverage, calibration)
    return 1 / (1 + math.exp(-(RELEVANCE.base + RELEVANCE.rank * share + agent + alone)))


def signs(memory: Memory, similarity: float | None, coverage: float, calibration: Calibration) -> float:
    """The evidence for a memory by itself, in log-odds: its nearness, the words in common, its type of text."""
    is_talk = memory.kind == "chunk"
    return (
        RELEVANCE.nearness * nearness(similarity, calibration)
        + RELEVANCE.coverage * coverage
        + RELEVANCE.derived * (not is_talk)
        + RELEVANCE.asks * (is_talk and only_asks(words_of(memory).strip()))
        + RELEVANCE.length * min(len(memory.content), LONG) / LONG
    )


def nearness(similarity: float | None, calibration: Calibration) -> float:
    """How near a memory is: 0 like an answer to another question, 1 like an answer to this one."""
    if similarity is None or calibration.answering is None:
        return _UNKNOWN_NEARNESS
    return (similarity - calibration.unrelated) / (calibration.answering - calibration.unrelated)


def relevance_of_all(hits: Iterable[Hit]) -> float:
    """How likely at least one of these answers, from 0 to 1.

    On LoCoMo, REALTALK and BEAM, 77 to 100 in 100 contexts with a relevance above 0.8 contain evidence, and hardly any
    below 0.2. In short conversations it is too low: 59 of 100 below 0.2 contain evidence.
    """
    return 1 - math.prod(1 - (hit.relevance or 0.0) for hit in hits)


def worth_showing(
    found: Sequence[Hit],
    query: str,
    least: float,
    limit: int,
    calibration: Calibration,
    longest: int,
    *,
    past: bool = False,
) -> list[Hit]:
    """The hits that are worth their place in a context, best first; none if the question is about something else.

    Args:
        found: What was found. Outdated turns only show what the question is about.
        query: The question.
        least: The relevance that a memory of usual length must have; with 0 nothing is cut.
        limit: How many of them a context shows. These decide whether the question is about something else.
        calibration: The calibration of the embedding model.
        longest: Maximum characters of a turn that a context shows, if there is no room for more.
        past: Whether the question is about an earlier time, so that outdated turns count like others.
    """
    hits = [hit for hit in found if past or hit.memory.kind != "chunk" or hit.memory.valid_to is None]
    worth = {hit.memory.id: worth_of(hit, longest) for hit in hits}
    best_first = sorted(hits, key=lambda hit: -worth[hit.memory.id])
    top = max((hit.relevance or 0.0 for hit in hits), default=0.0)
    number, share = _FEW if len(found) >= COMPARED else _FEW_OF_FEW
    few = [hit for hit in best_first[:number] if worth[hit.memory.id] >= least * share]
    far = _FAR_BEHIND * top if least > 0 else 0.0
    more = [hit for hit in best_first[number:] if worth[hit.memory.id] >= least and (hit.relevance or 0.0) >= far]
    chosen = [*few, *more]
    # A fresh turn has no cosine until it is indexed, and it may be the answer.
    is_known = calibration.answering is not None and all(hit.similarity is not None for hit in hits)
    is_far = is_known and all(nearness(hit.similarity, calibration) < NEAR for hit in hits)
    is_unlikely = relevance_of_all(chosen[:limit]) < OFF_TOPIC
    is_elsewhere = least > 0 and is_far and is_unlikely and _covered(found, query) < COVERED
    return [] if is_elsewhere else chosen


def _covered(hits: Sequence[Hit], query: str) -> float:
    """The largest share of a question's words that a single hit has."""
    texts = Bm25({hit.memory.id: hit.memory.content for hit in hits})
    return max(texts.coverage(query_terms(query)).values(), default=0.0)


def worth_of(hit: Hit, longest: int) -> float:
    """The relevance of a hit for its length. A turn counts as at most `longest` characters with its head."""
    memory = hit.memory
    length = len(memory.content) if memory.kind != "chunk" else min(len(memory.content), longest + _HEAD)
    return float((hit.relevance or 0.0) * (_USUAL / (length + _FRAME)) ** _ROOM)
