"""Tenses of German, Spanish, French, Italian, Portuguese and Dutch.

The claim may be in the same language, or in English. Only an imperfect, or what is said to have been before, is over: a
perfect may lead to a lasting state ("ich habe mir ein Auto gekauft"). The words come from grammars.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from agent_memory.language.grounding.clauses import content_words
from agent_memory.language.grounding.polarity import CLAUSE, words_of
from agent_memory.language.offline.foreign import is_over
from agent_memory.text.languages import is_foreign
from agent_memory.text.patterns import WORD, linear

_WAS = frozenset(
    """war waren hatte hatten hiess hiessen wohnte wohnten lebte lebten arbeitete arbeiteten spielte spielten studierte
    studierten besass fuhr fuhren ging gingen trug trank tranken ass assen rauchte rauchten mochte mochten konnte
    konnten durfte durften musste mussten gab machte machten lernte lernten era eras éramos eran estuve estuvo estuvimos
    tenía tenías teníamos tenían vivía vivíamos vivían había hacía hacían podía sabía iba íbamos iban comía bebía dormía
    conducía escribía leía salía solía ero eri eravamo erano eram tinha tinham tínhamos vivia viviam fazia ia iam podia
    sabia comia bebia dormia dormiva estive was waren had hadden woonde woonden werkte werkten leefde leefden speelde
    speelden studeerde reed reden ging gingen dronk aten rookte hield kon konden moest moesten mocht mochten zat
    zaten stond lag heette""".split()
)
_ENDINGS = (
    *("aba", "aban", "ábamos", "ava", "avo", "avano", "avam", "avamo", "ávamos", "evo", "eva", "evano", "evamo"),
    *("ivano", "ivamo"),
)
"""Of imperfects in Spanish, Italian and Portuguese."""
_PRESENT = frozenset(
    """acaba acaban graba graban alaba guayaba bravo ottavo scavo lavo lava grava escrava oitava devo ricevo bevo levo
    rilevo sollevo leva allevo arrivano derivano aggrava""".split()
)
"""Other words with these endings."""
_FRENCH = linear(
    r"\b(?:j['’]|je |tu |on |il |elle |ils |elles |qui |c['’]|l['’]\p{L}+ |(?:mon|ma|mes|notre|nos) [\p{L}-]+ )"
    r"(\p{L}{2,}ai(?:[ts]|ent))\b",
    re.IGNORECASE,
)
"""French imperfects, after their subject."""
_NO_FRENCH = frozenset("fait sait plait plaît connait connaît parait paraît fais sais vais connais plais".split())
_FUI = linear(r"\b(?:fui|fuimos|fomos) (\p{L}+)", re.IGNORECASE)
_WENT = frozenset("a al para pra ao à aos às con com de por até hasta en em yo eu".split())
"""Words after "fui" with which it means "went" or the like."""
_POLITE = frozenset("wollte wollten hoffte gehofft dachte quería queria voulais volevo wilde wilden".split())
"""Verbs that people put into the past to be polite."""
_EARLIER = linear(
    r"(?:^|[^\p{L}])(?:früher|damals|als (?:kind|student(?:in)?|schüler(?:in)?)|jahrelang|"
    r"(?:jahre|monate|jaar|maanden) lang|antes|de (?:pequeñ[oa]|niñ[oa]|joven)|"
    r"durante (?:\p{L}+|\d+) (?:años|meses|anos|mesi|anni)|avant|autrefois|"
    r"pendant|prima|da (?:bambin[oa]|piccol[oa]|ragazz[oa])|(?:\p{L}+|\d+) anos (?:em|n\p{L}+)|per (?:\p{L}+|\d+) anni|"
    r"vroeger|destijds|jarenlang)(?:[^\p{L}]|$)",
    re.IGNORECASE,
)
"""Ways to say that something was so before, or for some time."""
_STILL = frozenset(
    """jetzt nun heute noch immer seit seitdem inzwischen mittlerweile ahora hoy todavía aún sigo sigue desde llevo
    maintenant aujourd'hui encore toujours depuis désormais adesso ora oggi ancora tuttora agora hoje ainda nu nog
    sinds""".split()
)
"""Words with which something is so now."""
_ONE = frozenset("uno una einen eine eins un une".split())
"""What may stand for a thing that the clause before names."""
_ONCE = linear(
    r"\b(?:gestern|vorgestern|neulich|ayer|anoche|hier soir|l['’]autre jour|l['’]altro giorno|vorige week|"
    r"ieri|ontem|gisteren|stamattina|vanochtend)\b",
    re.IGNORECASE,
)
_EVERY = frozenset(
    """always every usually regularly often daily frequently typically constantly generally immer jeden jede jedes
    täglich normalerweise meistens regelmäßig oft gewöhnlich stets siempre cada todos todas suele suelo normalmente
    regularmente menudo toujours chaque tous toutes d'habitude régulièrement souvent sempre ogni tutti tutte solito
    regolarmente spesso costuma costumo geralmente altijd elke elk iedere meestal vaak regelmatig dagelijks""".split()
)
"""Words for how often, also of English."""
_DAYS = linear(
    r"\b(?:(?:mon|diens|donners|frei|sams|sonn)tags|mittwochs|(?:los|às|aos|tous les|todos los) \p{L}+s|"
    r"le (?:lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|matin|soir)|"
    r"(?:il|la) (?:lunedì|martedì|mercoledì|giovedì|venerdì|sabato|domenica|mattina|sera)|op \p{L}+dag)\b",
    re.IGNORECASE,
)
"""Days that recur."""


def other_foreign_time(content: str, quoted: str, is_then: bool) -> str | None:
    """Why a claim may not say "is" or "always": it was said of the past, or of one time. None if it may.

    Args:
        content: the claim, in the language of its quote or in English.
        quoted: the sentences that it quotes, not in English.
        is_then: whether the claim, if it is in English, says that something was.
    """
    words, said = words_of(content), words_of(quoted)
    over = is_over(quoted) or _ONCE.search(quoted) is not None
    if over and _EVERY.isdisjoint(said) and not _DAYS.search(quoted):
        for word in words:
            if word in _EVERY:
                return f"nobody said {word}"
    if is_then or not _says_now(content):
        return None
    clauses = [clause for clause in CLAUSE.split(quoted) if len(words_of(clause)) > 1]
    if any(not _STILL.isdisjoint(one) and not _ONE.isdisjoint(one) for one in map(words_of, clauses)):
        return None  # "tenía dos gatos, ahora tengo uno"
    parts = _nearest(clauses, content_words(words))
    past = all(
        _STILL.isdisjoint(words_of(clause)) and (_is_imperfect(clause) or (over and _EARLIER.search(clause)))
        for clause in parts
    )
    return "it was said of the past" if parts and past else None


def _nearest(clauses: Sequence[str], told: frozenset[str]) -> Sequence[str]:
    """The clauses that share most words with a claim; all of them if none shares any."""
    shared = [len(told & content_words(words_of(clause))) for clause in clauses]
    most = max(shared, default=0)
    return [clause for clause, number in zip(clauses, shared, strict=True) if number == most]


_NO_PASTS = frozenset("utente habite elefante gente restaurante".split())
"""Common words that end like a German or Dutch past."""


def _says_now(content: str) -> bool:
    """Whether a claim has no sign of the past of one of these languages."""
    small = [word for word in WORD.findall(content) if word.islower() and len(word) > 4] if is_foreign(content) else []
    ends = any(word.endswith(("te", "ten", "lde", "nde", "rde")) for word in small if word not in _NO_PASTS)
    return not (ends or is_over(content) or _is_imperfect(content) or _EARLIER.search(content))


def _is_imperfect(text: str) -> bool:
    words = words_of(text)
    french = [word.casefold() for word in _FRENCH.findall(text)]
    return _POLITE.isdisjoint(words) and (
        not _WAS.isdisjoint(words)
        or any(word.endswith(_ENDINGS) and len(word) > 4 and word not in _PRESENT for word in words)
        or any(word not in _NO_FRENCH and not word.endswith(("rait", "rais", "raient")) for word in french)
        or any(word.casefold() not in _WENT for word in _FUI.findall(text))
    )
