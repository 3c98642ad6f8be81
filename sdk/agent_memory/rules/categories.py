"""Categories: what a memory is about, so that a user can say "never remember health".

Some categories have a list of words. Any other name works too: it matches in the text, as a tag, and as the kind or
type of a memory. A list misses other wordings, so a language model gets the categories too.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from agent_memory.text.folding import bare
from agent_memory.text.patterns import linear
from agent_memory.text.stems import stem

_WORDS: dict[str, str] = {
    "health": """
        health illness ill sick sickness disease diagnosis diagnosed symptom doctor physician hospital clinic surgery
        therapy therapist psychiatrist medication medicine medical pill prescription allergy allergic asthma diabetes
        diabetic cancer tumor pregnant pregnancy depression depressed anxiety adhd autism hiv infection blood pressure
        cholesterol migraine injury injured disability disabled vaccine vaccinated insulin chemotherapy dosage
    """,
    "money": """
        money salary wage income debt loan mortgage credit savings bank account tax taxes investment invest stock
        pension budget bankrupt bankruptcy inheritance paycheck earn afford finance finances financial
    """,
    "religion": """
        religion religious faith church mosque synagogue temple god christian catholic protestant muslim islam jewish
        judaism hindu buddhist atheist pray prayer baptism bible quran torah ramadan
    """,
    "politics": """
        politics political vote voted voter election party democrat republican conservative liberal socialist communist
        senator congress parliament protest activist union campaign
    """,
    "sexuality": """
        sexuality sexual sex gay lesbian bisexual transgender queer heterosexual homosexual orientation dating
        boyfriend girlfriend intimacy
    """,
    "family": """
        family mother father mom mum dad parent wife husband spouse son daughter child children kid baby brother sister
        grandmother grandfather aunt uncle cousin divorce divorced married marriage
    """,
    "location": """
        address street live lives moved postcode zip neighborhood neighbourhood hometown apartment landlord
    """,
    "legal": """
        lawyer attorney court lawsuit sued arrest arrested conviction convicted crime criminal police prison jail
        probation custody immigration visa
    """,
}
_ALIASES = {"medical": "health", "finance": "money", "finances": "money", "financial": "money", "sex": "sexuality"}
_TOKEN = linear(r"\p{L}[\w'’-]*")


def categories_of(text: str, labels: Iterable[str] = ()) -> set[str]:
    """The stems of a text and the known categories that it belongs to. `labels` are its tags, its kind and its type."""
    found = {stem(word.lower()) for word in _TOKEN.findall(bare(text))}
    found |= {stem(bare(label).lower()) for label in labels}
    return found | {name for name, words in _stems().items() if words & found}


def is_kept(text: str, labels: Iterable[str], deny: frozenset[str], allow: frozenset[str] | None) -> bool:
    """Whether a text belongs to no denied category, and to an allowed one if only some are allowed."""
    if not deny and allow is None:
        return True
    found = categories_of(text, labels)
    if any(_in(name, found) for name in deny):
        return False
    return allow is None or any(_in(name, found) for name in allow)


def _in(category: str, found: set[str]) -> bool:
    name = _ALIASES.get(category, category)
    words = [stem(word) for word in _TOKEN.findall(bare(name).lower())]
    return name in found or (bool(words) and all(word in found for word in words))


@cache
def _stems() -> dict[str, frozenset[str]]:
    return {name: frozenset(stem(word) for word in words.split()) for name, words in _WORDS.items()}
