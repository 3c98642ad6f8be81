"""Calendar words: months, weekdays and near times in six further languages, read as the English ones."""

from __future__ import annotations

import re

from agent_memory.text.dates import DAY_NAMES, MONTH_NAMES
from agent_memory.text.patterns import linear

_MONTHS = (
    "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
    "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "januari februari maart april mei juni juli augustus september oktober november december",
)
_DAYS = (
    "Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonntag",
    "lunes martes miércoles jueves viernes sábado domingo",
    "lundi mardi mercredi jeudi vendredi samedi dimanche",
    "segunda-feira terça-feira quarta-feira quinta-feira sexta-feira sábado domingo",
    "lunedì martedì mercoledì giovedì venerdì sabato domenica",
    "maandag dinsdag woensdag donderdag vrijdag zaterdag zondag",
)
"""Both from CLDR's wide names."""
_NEAR = {
    "last year": "letztes_jahr letzten_jahres año_pasado l'année_dernière l'an_dernier ano_passado l'anno_scorso "
    "vorig_jaar",
    "last month": "letzten_monat mes_pasado mois_dernier mês_passado mese_scorso vorige_maand",
    "last night": "gestern_abend anoche hier_soir ieri_sera ontem_à_noite gisteravond",
    "this year": "dieses_jahr este_año cette_année quest'anno este_ano dit_jaar",
    "last week": "letzte_woche semana_pasada semaine_dernière semana_passada settimana_scorsa vorige_week",
    "next year": "nächstes_jahr próximo_año año_que_viene l'année_prochaine l'an_prochain próximo_ano ano_que_vem "
    "l'anno_prossimo volgend_jaar",
    "next month": "nächsten_monat próximo_mes mes_que_viene mois_prochain próximo_mês prossimo_mese volgende_maand",
    "next week": "nächste_woche próxima_semana semana_que_viene semaine_prochaine semana_que_vem settimana_prossima "
    "volgende_week",
    "new year's eve": "silvester nochevieja saint-sylvestre capodanno oudejaarsavond",
    "spring": "frühling frühjahr primavera printemps voorjaar",
    "summer": "sommer verano l'été d'été cet_été en_été l'estate d'estate quest'estate in_estate verão zomer",
    "autumn": "herbst otoño automne l'automne autunno l'autunno outono herfst",
    "winter": "invierno hiver l'hiver inverno",
    "christmas": "weihnachten navidad noël natale natal kerst",
    "ten years": "a_decade one_decade",
    "two weeks": "a_fortnight",
    "yesterday": "gestern ayer ontem ieri gisteren",  # French "hier" is "here" in German and Dutch
    "today": "heute hoy aujourd'hui hoje oggi vandaag",
    "tomorrow": "morgen mañana demain amanhã domani",
}
_NEARLY = {foreign.replace("_", " "): english for english, words in _NEAR.items() for foreign in words.split()}
_ENGLISH = {
    word.casefold(): english
    for languages, names in ((_MONTHS, MONTH_NAMES), (_DAYS, DAY_NAMES))
    for language in languages
    for word, english in zip(language.split(), names, strict=True)
    if word.casefold() not in {name.casefold() for name in names}
}
_ENGLISH |= {
    plural: f"{english}s"
    for language in _DAYS
    for word, english in zip(language.split(), DAY_NAMES, strict=True)
    if (plural := f"{word.casefold()}s") not in _ENGLISH
}
"""Their plurals too, which recur: "domingos", "montags"."""
FOREIGN_TIMES = (
    frozenset(word.casefold() for language in _DAYS for word in language.split())
    | frozenset(word for day in ("yesterday", "today", "tomorrow") for word in _NEAR[day].split())
    | frozenset("woche monat jahr jahres semana año semaine mois année settimana mese mês maand jaar".split())
)
"""Words for days and longer times in these languages. None is an English word, or a name ("Noël" is)."""
_ORDINAL = linear(rf"\b(\d{{1,2}})(?:\.|º|er)? (?:de )?({'|'.join(MONTH_NAMES)})(?: de (\d{{4}}))?\b")
_WORD = linear(r"\p{L}+(?:-feira)?")
_NEAR_TIME = linear(
    rf"(^|[^\p{{L}}'])({'|'.join(sorted(_NEARLY, key=len, reverse=True))})([^\p{{L}}]|$)", re.IGNORECASE
)
_MONTH = "|".join(MONTH_NAMES)
_RANGES = (
    (linear(rf"\b({_MONTH}) (\d{{1,2}}) ?[-–] ?(\d{{1,2}})\b"), r"\1 \2 and \1 \3"),
    (linear(rf"\b(\d{{1,2}})\.? ?(?:[-–]|bis|to|until|al|au) ?(\d{{1,2}})\.? (?:de )?({_MONTH})"), r"\1 \3 and \2 \3"),
)
_WHOLE = {
    short: next(name for name in (*MONTH_NAMES, *DAY_NAMES) if name.startswith(short[:3]))
    for short in "Feb Apr Jun Jul Aug Sep Sept Oct Nov Dec Tue Tues Wed Thu Thur Thurs Fri".split()
}
_SHORT = linear(rf"\b({'|'.join(_WHOLE)})\b\.?")
"""Months and days by their beginnings; "Jan", "Mar", "Sat", "Sun" and "Mon" are other words or names too."""
_STARTING = linear(rf"\b(?:starting|starts|beginning) (may|march|{_MONTH})\b")


def with_english_calendar(text: str) -> str:
    """A text with English names for months and weekdays; of a range of days, both have their month."""
    text = _SHORT.sub(lambda found: _WHOLE[found[1]], text)
    text = _STARTING.sub(lambda found: f"from {found[1].title()}", text)
    text = _WORD.sub(lambda found: _ENGLISH.get(found[0].casefold(), found[0]), text)
    for pattern, both in _RANGES:
        text = pattern.sub(both, text)
    return _ORDINAL.sub(lambda found: " ".join(part for part in found.groups() if part), text)


def with_english_near_times(text: str) -> str:
    """A text with English words for yesterday, next week and the like.

    Some of the words mean something else, too ("morgen", "mañana"), so this is for what may be meant, not for what is.
    """
    return _NEAR_TIME.sub(lambda found: f"{found[1]}{_NEARLY[found[2].casefold()]}{found[3]}", text.replace("’", "'"))
