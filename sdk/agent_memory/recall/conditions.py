"""Conditions: what an answer must respect, and what the user likes, although the question does not ask for it.

"Give me a recipe" has nothing in common with "I'm allergic to peanuts", neither words nor vectors. So if a question
resembles the example requests of one of the `SUBJECTS`, another query reads the facts nearest to the example conditions
of that subject. The answer must respect those facts.

"Suggest a hotel in Las Vegas" has little in common with "I avoid casinos". So a request for advice or help is also
compared with the user's preferences and requirements alone.

"Always list sources when I ask about papers" has little in common with such a question. So another query reads the
requirements nearest to it. Of those that are instructions, the context shows the ones that shape all answers, or whose
condition or subject the question meets.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agent_memory.calibration import Calibration
from agent_memory.language.tasks import EmbeddingModel, Vector
from agent_memory.models import Hit, Memory
from agent_memory.recall.relevance import nearness, words
from agent_memory.text.instructions import standing_instruction
from agent_memory.text.likeness import cosine, middle
from agent_memory.text.patterns import either, linear
from agent_memory.text.sentences import sentences
from agent_memory.text.terms import query_terms
from agent_memory.text.wishes import wish

CONDITIONS_READ = 10
"""Memories that are read for a subject. A choice."""
CONDITIONS_SHOWN = 3
"""Maximum conditions in a context. A choice."""
ASKED = 1.0
"""Minimum nearness of a question to a request of a subject. Chosen with the next on the seen half of
`tests/data/labelled/conditions.json`. On the other half, 13 of 16 requests are found, and none of 14 other questions is
taken for one (all-MiniLM-L6-v2)."""
BINDS = 0.75
"""Minimum nearness of a fact to the conditions of a subject, chosen like `ASKED`. On the other half, 15 of 20
conditions of users and 13 of 20 of others are found, and 2 of 33 other facts are taken for one. It is lower than
`ASKED`, because a condition that is missed does harm."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What people ask for, and what they say of themselves and others that binds the answer; examples in any words."""

    requests: tuple[str, ...]
    conditions: tuple[str, ...]


SUBJECTS = (
    Subject(
        ("What should I eat?", "Suggest a restaurant for dinner.", "Give me a recipe to cook.", "Order some snacks."),
        (
            "I am allergic to nuts.",
            "My son is allergic to eggs.",
            "I don't eat meat.",
            "Tom is vegetarian.",
            "I follow a diet.",
            "She can't have dairy.",
        ),
    ),
    Subject(
        ("Suggest a workout.", "Which sport should I do?", "Plan a hike for us."),
        ("I have a bad knee.", "Tom has a bad back.", "I injured my back.", "She has asthma.", "I'm pregnant."),
    ),
)
"""Food and bodily activity: what forgetting does harm in. Examples are in English; a multilingual embedding model finds
the same in other languages."""


class SubjectVectors:
    """The vectors of the `SUBJECTS`, which a process embeds once."""

    def __init__(self) -> None:
        self._known: dict[str, list[tuple[list[Vector], Vector]]] = {}

    async def of(self, model: EmbeddingModel) -> list[tuple[list[Vector], Vector]]:
        """For each subject, the vectors of its requests, and one for its conditions.

        Raises:
            AgentMemoryError: if the model fails.
        """
        if model.model_id not in self._known:
            texts = [text for subject in SUBJECTS for text in (*subject.requests, *subject.conditions)]
            vectors = iter((await model.embed(texts)).vectors)
            self._known[model.model_id] = [
                ([next(vectors) for _ in subject.requests], middle([next(vectors) for _ in subject.conditions]))
                for subject in SUBJECTS
            ]
        return self._known[model.model_id]


def conditions_asked_for(
    vector: Vector, subjects: Sequence[tuple[list[Vector], Vector]], calibration: Calibration
) -> list[Vector]:
    """The vectors of conditions that an answer to a question must respect; mostly none.

    Args:
        vector: That of the question.
        subjects: Those of the subjects.
        calibration: The calibration of the embedding model.
    """
    return [
        conditions
        for requests, conditions in subjects
        if max(nearness(cosine(vector, request), calibration) for request in requests) >= ASKED
    ]


def binding(found: Sequence[tuple[Memory, float]], calibration: Calibration) -> list[Hit]:
    """The memories that are near enough to the conditions by which they were found, the nearest first."""
    near = sorted((one for one in found if nearness(one[1], calibration) >= BINDS), key=lambda one: -one[1])
    best: dict[str, Hit] = {}  # two subjects may find one memory
    for memory, similarity in near:
        best.setdefault(memory.id, Hit(memory=memory, score=similarity))
    return [*best.values()][:CONDITIONS_SHOWN]


PREFERENCES_READ = 3
"""Preferences of a request in a context, the nearest. Of 400 requests to somebody with 20 preferences (PrefEval), the
one that matters is the nearest for 74 in 100, among the nearest two for 90 and among the nearest three for 93."""
PREFERS = 0.4
"""Minimum nearness of a preference to a request. Of 100 preferences that matter, 91 pass it, and so do 84 of 100 others
among the nearest three."""

_ENGLISH = either(
    r"recommend suggest advi[sc]e advising recommendations? suggestions? tips ideas? options help_(?:me|us)"
    r" should_(?:i|we) (?:can|could|may)_(?:i|we) (?:can|could|would|will)_you what_are_(?:some|the_best|good) best_way"
    r" what_do_you_think would_be_(?:good|best) (?:an?|any|some)_good how_(?:do|would)_(?:i|we)"
    r" (?:i|we)(?:['’](?:m|re|d)|_am|_are|_would)?"
    r"_(?:want|like|need|planning|thinking|hoping|trying|looking)_(?:to|of|for)"
)
_OTHERS = either(
    # German, French, Spanish, Portuguese, Italian, Dutch
    r"empfiehl empfiehlst empfehlen empfehlung(?:en)? vorschlag vorschläge vorschlagen rat tipps soll_ich sollen_wir"
    r" sollte_ich hilf_mir kannst_du könntest_du ich_suche"
    r" recommande[szr]? recommandations? conseille[szr]? conseils? suggère[szr]? suggestions idées aide-moi peux-tu"
    r" pourrais-tu pouvez-vous je_cherche devrais-je"
    r" recomi(?:enda|éndame|endas) recomendar recomendaciones sugiere[s]? sugerencias consejos? ayúdame puedes podrías"
    r" busco debería"
    r" recomenda[sr]? recomendações sugere[s]? sugestões dicas ajuda-me me_ajuda podes poderia pode procuro devo"
    r" consigli(?:a|o|ami|are|eresti)? suggerisci suggerimenti aiutami puoi potresti cerco dovrei"
    r" aanraden raad_je aanbevelen aanbeveling(?:en)? ideeën help_me kun_je kan_je ik_zoek moet_ik"
)
_ORDERS = either(
    "plan book reserve order find locate get pick choose cook make create design write draft give_(?:me|us) play set"
    " adjust start schedule prepare organi[sz]e build generate navigate take_me show_me"
)
_ASKS = linear(
    rf"(?:^|\W)(?:{_ENGLISH}|{_OTHERS})(?:\W|$)|^(?:please |hey,? |hi,? |ok,? )?{_ORDERS}\W"
    r"|推荐|推薦|建议|建議|帮我|幫我|おすすめ|お勧め|すすめて|提案|추천|제안|조언",
    re.IGNORECASE,
)
_EARLIER = either(
    "did remember remind recall said told mentioned talked discussed brought ago you_(?:suggested|recommended|advised)"
    " last_time summary summari[sz]e tell_me_about_my (?:have|had)_(?:i|we|you)"
    " our_(?:conversations?|sessions?|chats?|discussions?)"
)
_OF_BEFORE = linear(rf"(?:^|\W){_EARLIER}(?:\W|$)", re.IGNORECASE)
"""What a question about earlier talk has in it: "What did you recommend?"."""


def asks_for_advice(query: str) -> bool:
    """Whether a message asks for advice or help: "Which hotel should I book?", but not "Which hotel did I book?"."""
    return _ASKS.search(query) is not None and _OF_BEFORE.search(query) is None


def preferred(found: Sequence[tuple[Memory, float]], calibration: Calibration) -> list[Hit]:
    """The preferences near enough to a request, the nearest first."""
    near = sorted((one for one in found if nearness(one[1], calibration) >= PREFERS), key=lambda one: -one[1])
    return [Hit(memory=memory, score=similarity, similarity=similarity) for memory, similarity in near]


STANDING_READ = 20
"""Requirements that are read for a question."""
STANDING_SHOWN = 3
"""Maximum instructions in a context. A choice, as is the next."""
STANDING_NEAR = 1.0
"""Minimum nearness at which an instruction applies to a question that has no word of its subject."""


def applying(found: Sequence[tuple[Memory, float]], query: str, calibration: Calibration) -> list[Hit]:
    """The instructions that apply to a question: those whose subject it meets, nearest first, then the general ones.

    Args:
        found: Requirements, with their cosines to the question.
        query: The question.
        calibration: The calibration of the embedding model.
    """
    asked = _stems(query)
    ranks: list[tuple[bool, float, Hit]] = []
    for memory, similarity in found:
        subject = _subject(memory)
        if subject is None:
            continue
        near = nearness(similarity, calibration)
        met = not subject or not asked.isdisjoint(_stems(subject)) or near >= STANDING_NEAR
        if met:
            ranks.append((not subject, -near, Hit(memory=memory, score=similarity, similarity=similarity)))
    return [hit for *_, hit in sorted(ranks, key=lambda rank: rank[:2])][:STANDING_SHOWN]


def _stems(text: str) -> set[str]:
    return {stem for term in query_terms(text) for stem in words(term)}


def _subject(memory: Memory) -> str | None:
    """What an instruction applies to, empty if to everything; None if it is not an instruction."""
    for text in (memory.quote, memory.content):
        for sentence in sentences(text or ""):
            found = standing_instruction(sentence) or wish(sentence)
            if found is not None:
                return found.subject
    return None
