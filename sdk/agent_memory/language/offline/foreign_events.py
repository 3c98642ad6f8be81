"""Dated events of users in German, Spanish, French, Italian, Portuguese and Dutch: appointments, and what they did.

A sentence tells one if it has a day, a week or a date, and somebody of the user's as its subject. Wishes, requests and
conditions tell none, and neither does what happens today, which is gone tomorrow.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import NamedTuple

from agent_memory.language.offline.text import straighten
from agent_memory.text import dates
from agent_memory.text.calendar_words import with_english_calendar, with_english_near_times
from agent_memory.text.dates import Moment
from agent_memory.text.languages import is_foreign
from agent_memory.text.patterns import WORD, Linear, either, linear

_LEAST = 3
"""Words besides the time, below which a sentence tells too little to be understood alone. A choice."""
_EXACT = frozenset({"day", "week", "weekend"})
_LONGEST = 200
"""In characters. A choice."""


class _Language(NamedTuple):
    """How one language says who did or does something, and what asks, wishes or supposes instead."""

    words: frozenset[str]
    """Frequent words, by which the language of a sentence is told."""
    mine: Linear
    past: Linear
    other: Linear


def _language(words: str, mine: str, past: str, other: str) -> _Language:
    forms = (rf"(?:^|[^\p{{L}}'-])(?:{form})(?:[^\p{{L}}]|$)" for form in (mine, past, other))
    return _Language(frozenset(words.split()), *(linear(form, re.I) for form in forms))


_LANGUAGES = (
    _language(
        "der die das den dem ich wir ist und am im zum zur nach mit habe haben hat bei ein eine mein meine",
        mine="ich|wir|^(?:meine?|unsere?)",
        past=r"(?:habe|haben|hatten?|bin|sind|wurden?) (?:\S+ ){0,12}"
        r"(?:\p{L}{0,6}ge\p{L}+(?:t|en)|(?:be|ver|er|ent|zer)\p{L}+(?:t|en)|\p{L}+iert)|war(?:en)?",
        other=either(
            "du dir dich ihr euch brauchen? möchten? wollen? will würden? hätten? wäre wenn falls ob suche vielleicht"
            " eventuell wahrscheinlich nichts? nie kein\\p{L}*"
        ),
    ),
    _language(
        "el la los las y con una un del al es en por que de mi me he tengo voy",
        mine=r"yo|he|hemos|tengo|tenemos|voy|vamos|empiezo|empezamos|viajo|viajamos|vuelo|salgo|llego|fui|fuimos"
        r"|^(?:mis?|nuestr[oa])|me (?:caso|mudo|operan|\p{L}+(?:aron|ieron))|nos (?:casamos|mudamos)"
        r"|\p{L}{3,}(?:[éí]|imos)",
        past=r"(?:he|hemos|ha|han) \p{L}+(?:ado|ido|to|cho)|\p{L}{2,}[éíó]|fui|fuimos|fue|\p{L}+(?:aron|ieron|imos)",
        other=either(
            "tú te ti usted puedes podrías quiero queremos quisiera querría necesito necesitamos busco buscamos si"
            " quiz[aá]s? tal_vez sería no nada nunca \\p{L}+ría jaja\\p{L}*"
        ),
    ),
    _language(
        "le la les des et est une un du au aux en de à chez je j'ai nous on mon ma",
        mine="j'\\p{L}+|je|nous|^(?:mon|ma|mes|notre|nos)",
        past=r"(?:j'ai|on a|nous avons|je (?:me )?suis|nous sommes|a|ont) (?:\p{L}+ )?\p{L}+(?:é|i|u|is|it|ert)e?s?",
        other=either(
            "tu te toi vous veux voulons voudrais voudrions cherche cherchons besoin si peut-être serait"
            " ne n'\\p{L}+ pas rien"
        ),
    ),
    _language(
        "il la lo gli e è una un del al alla ho di per che con da mi mia mio abbiamo siamo sono",
        mine=r"io|ho|abbiamo|sono|siamo|vado|andiamo|parto|partiamo|inizio|comincio|mi \p{L}+o"
        r"|^(?:(?:il|la) )?(?:mi[oa]|nostr[oa])",
        past=r"(?:ho|abbiamo|sono|siamo|ha|hanno|è) \p{L}+(?:at|it|ut|tt|st|rt|nt|s)[oaie]",
        other=either(
            "tu ti te lei voglio vogliamo vorrei vorremmo cerco bisogno se forse sarebbe non niente puoi potresti"
        ),
    ),
    _language(
        "o a os as e é uma um do da no na em com ao à tenho de eu meu minha fui fomos para",
        mine=r"eu|nós|tenho|temos|vou|vamos|começo|viajo|viajamos|parto|fui|fomos|\p{L}{3,}ei|vendi|perdi|parti|recebi"
        r"|^(?:[oa] )?(?:meu|minha|nosso|nossa)",
        past=r"\p{L}{3,}(?:ei|ou|eu|iu)|vendi|perdi|parti|recebi|fui|fomos|foi|\p{L}+aram",
        other=either(
            "tu te você lhe quero queremos queria gostaria preciso precisamos procuro se talvez seria não nada podes"
            " podia kkk\\p{L}*"
        ),
    ),
    _language(
        "de het een en ik we je is op met naar van heb ben mijn voor kan kunt",
        mine="ik|we|wij|^(?:mijn|onze|ons)",
        past=r"(?:heb|hebben|had|ben|zijn|werd|is) (?:\S+ ){0,12}(?:ge\p{L}+|(?:be|ver|ont|her|er)\p{L}+(?:d|t|en))"
        r"|was|waren",
        other=either("jij je jou u wil willen zou zouden zoek zoeken nodig als misschien niets? geen"),
    ),
)
_FRENCH = _LANGUAGES[2]
_LIMITS = either("""
    bis seit ab von vor nach zwischen jede[nrs]? alle hasta desde del antes después entre cada todos todas los
    jusqu'\\w+ depuis dès avant après chaque tous les fino dal prima dopo ogni tra fra até do depois tot sinds vanaf
    van voor na tussen elke iedere
""")
_ASIDE = linear(rf"(?:^|\W){_LIMITS}(?: \S+){{0,2}} $", re.I)
"""Words before a time at which an event ends, begins or recurs, so that it is not on that day."""
_MOVED = linear(
    r"verschob|verscheb|verleg|cambi|aplaz|déplac|report|repouss|spost|rinvi|mudou|mudaram|adi(?:ou|ad)|remarc"
    r"|verzet|verplaats|verschov",
    re.I,
)
"""What has another time now. Two times of it are told from the talk."""
_NO_VERBS = linear(r"\b(?:aqu|all|ah|as)í|\b(?:caf|beb)é", re.I)
"""Spanish words with the ending of a verb in the past."""
_HIER = linear(r"^hier\b", re.I)
_QUOTED = linear(r"[\"“„«?¿]|(?:^|\W)(?:haha\w*|lol)(?:\W|$)", re.I)


def event(text: str, said_at: datetime) -> Moment | None:
    """When the event is that a sentence in one of these languages tells; None if it tells none."""
    plain = straighten(text).strip()
    if len(plain) > _LONGEST or _QUOTED.search(plain) or _MOVED.search(plain) or not is_foreign(plain):
        return None
    said = plain.casefold().split()
    language = max(_LANGUAGES, key=lambda one: sum(word in one.words for word in said))
    if language.other.search(plain):
        return None
    # "Hier" is "here" in German and Dutch, so the calendar words leave it out.
    day = _HIER.sub("yesterday", plain) if language is _FRENCH else plain
    english = with_english_near_times(with_english_calendar(day))
    told = _NO_VERBS.sub(" ", plain)
    moments = dates.find(english, said_at, "past" if language.past.search(told) else "future")
    if len(moments) != 1:
        return None
    [moment] = moments
    before, behind = english[: moment.start], english[moment.start + len(moment.phrase) :]
    clause = f"{before.rpartition(', ')[2]} {behind.partition(', ')[0]}".strip()  # "So ein Sonntag, ich liebe es"
    if not language.mine.search(_NO_VERBS.sub(" ", clause)):
        return None
    # "Guten Morgen" and "por la mañana" are no days; at the start, the words are.
    sure = moment.phrase != "today" and (moment.phrase != "tomorrow" or not before) and not _ASIDE.search(before)
    tells = len(WORD.findall(f"{before} {behind}")) >= _LEAST
    return moment if sure and tells and moment.first and moment.grain in _EXACT else None
