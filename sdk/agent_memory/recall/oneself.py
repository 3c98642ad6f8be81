"""Questions of users about themselves: "What do you know about me?", "What's my job?".

A search compares a question with memories. A question about everything resembles no memory, and a question about
oneself hardly resembles its answer: "Am I married?" and "My husband Paul is a carpenter" have no word in common, and a
low cosine.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from agent_memory.models import Hit, Memory
from agent_memory.recall.explain import explained
from agent_memory.recall.searcher import Searcher
from agent_memory.store import search_queries
from agent_memory.store.chunks import in_zone
from agent_memory.text.patterns import WORD, linear
from agent_memory.text.stop_words import FUNCTION_WORDS, QUESTION_WORDS
from agent_memory.text.terms import query_terms

NEAREST = 6
"""Memories that a context for a question about oneself gets in any case. Of 27 such questions about a made-up person
with 15 facts, the answer is among the nearest six for 25; for 15 its cosine is below the threshold of all-MiniLM-L6-v2.
"""
_TO_KNOW = {
    r"(?:about|of|on) (?:me|myself|my self|us)(?: so far| already| by now| yet)?": (
        "know remember learn learned learnt recall tell told say said summarize summarise have got stored"
        " fact facts info information everything"
    ),
    "(?:über|von|an) mich": "weißt weisst kennst erinnerst gemerkt gelernt erzähl erzähle erzählt sag sage",
    "(?:de|sur|à propos de) moi": "sais savez connais souviens souvenez retenu appris dis dites parle parlez",
    "(?:de|sobre|acerca de) mí": "sabes sabe recuerdas conoces cuéntame dime aprendido",
    "(?:de|sobre) mim": "sabe sabes lembra lembras conhece conheces aprendeu diz conta",
    "(?:di|su) me": "sai ricordi conosci imparato dimmi raccontami",
    "(?:over|van) (?:mij|me)": "weet herinner herinnert onthouden vertel",
}
"""How a question asks for what is known of the speaker: the words at its end, and verbs before them."""
_SENTENCES = (
    r"who (?:do you think )?(?:am i|i am)|(?:please )?describe (?:me|myself)"
    r"|what (?:have|did) (?:i|we) (?:told|tell|said|say|taught|teach)(?: to)? you(?: about me)?"
    r"(?: so far| already| before)?"
    r"|wer bin ich|beschreib(?:e|st du)? mich|qui suis[- ]je|quién soy(?: yo)?|quem (?:sou eu|eu sou)|chi sono(?: io)?"
    r"|wie ben ik|co (?:wiesz o mnie|o mnie wiesz)"
)
_WHOLE = [
    linear(rf"^\W*(?:{_SENTENCES})\W*$", re.IGNORECASE),
    linear(
        r"私(?:について|のこと).{0,12}(?:知って|覚えて|記憶)|(?:知道|了解|记得|記得).{0,6}我(?:的)?(?:什么|什麼|哪些|吗|嗎|事情|信息)?\W*$"
    ),
]
_ENDS_WITH_SELF = linear(
    "|".join(rf"(?:^|\W)(?:{'|'.join(verbs.split())})\W(?:.*\W)?{end}\W*$" for end, verbs in _TO_KNOW.items()),
    re.IGNORECASE,
)
_SELF = frozenset(
    """i me my mine myself we our ours ich mir mich mein meine meinen meinem meiner wir uns unser unsere je j moi mon ma
    mes nous notre nos yo mi mis mí conmigo nosotros nuestra nuestro eu meu meus minha minhas mim nós nosso io mio mia
    mie miei noi nostro ik mij mijn wij ons onze mnie mój moja moje""".split()
)
"""Words by which people speak of themselves."""
_WITHOUT_SUBJECT = (
    frozenset(" ".join(_TO_KNOW.values()).split())
    | frozenset(
        """anything lot things hi hello hey please far hallo hola bonjour ciao alles etwas bisher hast sais-tu
        savez-vous tout todo algo qué tudo tutto cosa qualcosa wat iets""".split()
    )
    | _SELF
    | FUNCTION_WORDS
    | QUESTION_WORDS
)
"""The words that such a question may have."""
_ADVICE = frozenset(
    """should shall could can may might would let lets soll sollte kann könnte darf dürfte dois devrais puis pourrais
    debo debería puedo podría devo deveria posso poderia dovrei potrei zal moet kan mag""".split()
)
"""Words of those who ask what to do: what an answer must respect is found otherwise (`recall.conditions`)."""
_SELF_IN_CJK = linear("[我私僕俺]|나는|내가|저는|제가")
_ASKING = """
    what who whose when where why how which wer was wann wo warum wie welche welcher welches qui quoi quand où pourquoi
    comment combien quel quelle qué quién cuándo dónde cómo cuánto quem quando onde como chi cosa dove perché
""".split()
_ASKS = linear(
    rf"[?？؟]|^(?:{'|'.join(_ASKING)})\b|^(?:please )?(?:tell|remind|show) me (?:about|of|again) .*\b(?:my|our|i|we)\b",
    re.IGNORECASE,
)


def asks_for_all(query: str) -> bool:
    """Whether a question is about all that is known of the user: "Who am I?", "What do you remember about me?".

    One with a subject of its own is not: "What did my boss say about me?", "Plan a trip with what you know about me".
    """
    text = query.strip()
    if any(pattern.search(text) for pattern in _WHOLE):
        return True
    return _ENDS_WITH_SELF.search(text) is not None and _WITHOUT_SUBJECT.issuperset(query_terms(text))


def asks_of_self(query: str) -> bool:
    """Whether users ask about themselves: "What's my job?", but not for advice: "Which laptop should I buy?"."""
    said = set(WORD.findall(query.casefold()))
    speaks_of_self = not _SELF.isdisjoint(said) or _SELF_IN_CJK.search(query) is not None
    return speaks_of_self and _ADVICE.isdisjoint(said) and _ASKS.search(query.strip()) is not None


async def all_known(
    searcher: Searcher, partition: Sequence[str], where: str, parameters: Mapping[str, Any], limit: int
) -> list[Hit]:
    """What is known of a user, the most important first, without talk and accounts of conversations. One query."""
    sql = search_queries.most_important(where)
    found = await searcher.read(sql, partition, {**parameters, "limit": limit})
    return [as_hit(in_zone(one.memory, searcher.zone)) for one in found]


def as_hit(memory: Memory) -> Hit:
    """A memory as a hit of a question for all of them: its importance counts."""
    parts = {"importance": memory.importance}
    explanation = explained(parts, (), None, ())
    return Hit(memory=memory, score=memory.importance, relevance=memory.importance, why=parts, explanation=explanation)
