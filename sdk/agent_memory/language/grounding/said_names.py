"""Said names: finds names in a claim that nobody said, in any of seven languages."""

from __future__ import annotations

import re
import unicodedata

from agent_memory.language.grounding.measures import is_unit
from agent_memory.text import dates
from agent_memory.text.names import names
from agent_memory.text.patterns import WORD, linear
from agent_memory.text.stems import stem

NO_NAMES = (
    frozenset(
        """user users assistant agent ai january utc nutzer nutzers nutzerin benutzer benutzers benutzerin anwender
        anwenders assistent assistenten person personen team teams firma familie freund freundin frage wunsch termin
        uhr mr mrs ms dr herr herrn frau""".split()
    )
    | dates.CALENDAR
)
_COMMON_ENDINGS = ("ung", "ungen", "heit", "keit", "keiten", "schaft", "schaften", "tät", "täten")
"""Endings of German nouns that are not names, although they begin with a capital."""


def unsaid_name(content: str, said: str) -> str | None:
    """A name that nobody said."""
    content, said = _without_accents(content), _without_accents(said)
    known = {word.casefold() for word in (*WORD.findall(said), *map(_joined_up, _HYPHENED.findall(said)))}
    known |= {name for one in (*_LANGUAGES, *_NAMES_IN_LANGUAGES) if not known.isdisjoint(one) for name in one}
    stems = {stem(word) for word in known}
    initials = _initials(said)
    known |= _written_out(content, initials) if initials else set()
    content = _HYPHENED.sub(lambda word: _joined_up(word[0]) if _joined_up(word[0]) in known else word[0], content)
    nouns = _german_nouns(content)
    for name in names(content):
        plain = name.casefold()
        if plain in nouns:
            continue
        if (
            plain in known
            or plain in NO_NAMES
            or plain.removesuffix("s") in dates.CALENDAR
            or is_unit(plain)
            or stem(plain) in stems
            or plain in initials
        ):
            continue
        if plain.endswith(_COMMON_ENDINGS) or f"{plain[0]}{len(plain) - 2}{plain[-1]}" in known:  # k8s is Kubernetes
            continue
        if any(
            len(other) >= 3 and (plain.startswith(other[:5]) or other.startswith(plain[:5]))
            for other in known
            if min(len(other), len(plain)) >= 4
        ):
            continue
        return f"nobody said {name}"
    return None


def _german_nouns(text: str) -> set[str]:
    """The words of a German text that are nouns, not names, as the words before them show: "die ältere Tochter"."""
    if not _GERMAN.search(text):
        return set()
    return {word.casefold() for word in _NOUNS.findall(text)}


_GERMAN = linear(
    r"\b(?:der|die|das|den|dem|und|ist|hat|nicht|ein|eine|einen|wird|für|um|mit|auf|zu|nutzer|nutzerin)\b",
    re.IGNORECASE,
)
_NOUNS = linear(
    r"\b(?:[Dd](?:er|ie|as|en|em|es)|(?:[Kk]?[Ee]in|[Mm]ein|[Ss]ein|[Ii]hr|[Uu]nser)(?:e[rmns]?)?|[Bb]eide[nr]?|viele|zwei|drei|vier|zum|zur|"
    r"beim|als)(?:\s\p{Ll}+e[rnms]?)?\s(\p{Lu}\p{Ll}+)"
)
"""A noun with an article or the like, perhaps with an adjective between them: in writing, names have no article."""


_LANGUAGES = [
    frozenset(names.split())
    for names in (
        "german deutsch aleman allemand tedesco alemao duits",
        "english englisch ingles anglais inglese engels",
        "spanish spanisch espanol espagnol spagnolo espanhol spaans",
        "french franzosisch frances francais francese frans",
        "italian italienisch italiano italien italiaans",
        "portuguese portugiesisch portugues portugais portoghese portugees",
        "dutch niederlandisch neerlandes neerlandais olandese holandes nederlands",
    )
]
"""Names of languages in each other, without accents."""


_NAMES_IN_LANGUAGES = [
    frozenset(names.split())
    for names in (
        "london londres londra",
        "paris parigi parijs",
        "munich munchen monaco monacodibaviera",
        "vienna wien vienne viena",
        "cologne koln colonia keulen",
        "rome roma rom",
        "milan milano mailand",
        "venice venezia venedig venise venecia",
        "florence firenze florenz florencia",
        "naples napoli neapel napoles",
        "turin torino",
        "genoa genova genua genes",
        "lisbon lisboa lissabon lisbonne lisbona",
        "geneva genf geneve ginebra ginevra",
        "zurich zurigo",
        "basel bale basilea",
        "brussels brussel bruxelles bruselas",
        "antwerp antwerpen anvers amberes anversa",
        "hague haag haye haya aia",
        "prague praha prag praga",
        "warsaw warszawa warschau varsovie varsovia",
        "athens athen athenes atenas atene",
        "moscow moskau moscou moscu mosca moskva",
        "copenhagen kobenhavn kopenhagen copenhague copenaghen",
        "nice nizza niza",
        "seville sevilla siviglia",
        "germany deutschland alemania allemagne germania alemanha duitsland",
        "france frankreich francia franca frankrijk",
        "spain spanien espana espagne spagna espanha spanje",
        "italy italien italia italie",
        "england inglaterra angleterre inghilterra engeland",
        "britain grossbritannien bretagne bretana",
        "switzerland schweiz suiza suisse svizzera suica zwitserland",
        "austria osterreich autriche oostenrijk",
        "netherlands niederlande holland holanda hollande olanda nederland bajos",
        "belgium belgien belgica belgique belgio belgie",
        "greece griechenland grecia grece griekenland",
        "turkey turkei turquia turquie turchia turkije",
        "poland polen polonia pologne",
        "sweden schweden suecia suede svezia zweden",
        "norway norwegen noruega norvege norvegia noorwegen",
        "denmark danemark dinamarca danimarca denemarken",
        "ireland irland irlanda irlande ierland",
        "scotland schottland escocia ecosse scozia",
        "croatia kroatien croacia croatie croazia",
        "morocco marokko marruecos maroc marocco marrocos",
        "egypt agypten egipto egypte egitto egito",
        "japan japon giappone japao",
        "brazil brasilien brasil bresil brasile",
        "christmas xmas weihnachten navidad noel natale natal kerst kerstmis",
        "mexico mexiko mexique messico",
    )
]
"""Names of places, and of Christmas, in each other's languages, without accents."""


def _without_accents(text: str) -> str:
    if text.isascii():
        return text
    return "".join(letter for letter in unicodedata.normalize("NFD", text) if not unicodedata.combining(letter))


_HYPHENED = linear(r"\p{L}+(?:-\p{L}+)+")


def _joined_up(word: str) -> str:
    """A word without its hyphens: Wi-Fi is wifi."""
    return word.replace("-", "").casefold()


def _initials(text: str) -> set[str]:
    """The acronyms in a text: words of two to five capital letters."""
    return {word.casefold() for word in WORD.findall(text) if word.isupper() and 2 <= len(word) <= 5}


def with_acronyms(text: str, said: str) -> str:
    """A text with an acronym that was said (AOV) in place of the words for which it stands ("average order value")."""
    initials = {one for one in _initials(said) if len(one) >= _SHORTEST_ACRONYM}
    words = list(WORD.finditer(text)) if initials else []
    for length in {len(one) for one in initials}:
        for run in zip(*(words[at:] for at in range(length)), strict=False):
            short = "".join(word[0][0] for word in run)
            if short.casefold() in initials:
                return f"{text[: run[0].start()]}{short.upper()}{text[run[-1].end() :]}"
    return text


_SHORTEST_ACRONYM = 3
"""Two words with these first letters often stand together by chance: IT, "in the"."""


def _written_out(text: str, initials: set[str]) -> set[str]:
    """The words of a text whose first letters make one of these acronyms."""
    words = WORD.findall(text)
    runs = (words[at : at + length] for at in range(len(words)) for length in range(2, 6))
    return {word.casefold() for run in runs if "".join(word[0] for word in run).casefold() in initials for word in run}
