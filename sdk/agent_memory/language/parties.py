"""Parties: finds claims that give to one party what was said of another, or that turn a relation round.

"My sister has a licence" says nothing about the speaker, "he sold me his camera" says who sold it, and "from Heroku to
Render" has a direction.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from agent_memory.language.moods import content_words, is_about_user
from agent_memory.language.offline.text import stem as lemma
from agent_memory.language.offline.verbs import is_past
from agent_memory.language.polarity import words_of
from agent_memory.text.patterns import WORD, linear
from agent_memory.text.sentences import sentences
from agent_memory.text.stop_words import FUNCTION_WORDS, SMALL_WORDS

KIN = frozenset(
    """sister brother mother father mom mum mam dad wife husband son daughter kid kids child children baby partner
    fiancé
    fiancée fiance boyfriend girlfriend ex aunt uncle cousin niece nephew grandmother grandfather grandma grandpa granny
    nan gran twin parents boss manager lead colleague coworker co-worker intern neighbour neighbor neighbours neighbors
    landlord landlady tenant roommate flatmate housemate friend friends buddy mate teacher doctor client customer
    mother-in-law father-in-law sibling siblings assistant coach trainer therapist
    schwester bruder mutter vater mama papa oma opa frau mann sohn tochter kind kinder freund freundin chef chefin
    kollege kollegin nachbar nachbarin tante onkel cousine vermieter mitbewohner mitbewohnerin
    hermana hermano madre padre abuela abuelo esposa marido mujer hijo hija hijos novio novia jefe jefa vecino vecina
    amigo amiga tía tío primo prima compañero compañera suegra suegro
    sœur soeur frère mère père maman grand-mère grand-père femme mari fils fille enfants copain copine patron chef
    voisin voisine ami amie tante oncle cousine collègue coloc
    sorella fratello nonna nonno moglie marito figlio figlia fidanzato fidanzata capo vicino vicina amico amica zia zio
    irmã irmão mãe pai avó avô filha filho namorado namorada chefe vizinho vizinha""".split()
)
_MINE = frozenset(
    """my our his her their mein meine unser unsere sein seine ihr ihre mi mis nuestro nuestra su sus mon ma mes notre
    nos son sa ses leur mio mia il la meu minha o a""".split()
)
_PRONOUNS = frozenset("he she er sie il elle él ella lui lei ele ela".split())
_SELF = frozenset(
    """i i'm i've i'd i'll me my mine myself we we're we've we'd we'll us our ours both together ich mir mich mein meine
    meinen wir uns unser yo me mi mis conmigo nos nosotros nuestro je j'ai me m'a moi mon ma mes nous notre io
    mi mio mia
    noi eu mim comigo nós""".split()
)
_ME = frozenset("me us mir mich uns moi".split())
_ME_AHEAD = frozenset("me nos m'a m'ont mi ci".split())
_LEADING = frozenset(
    """and but so well also because oh actually btw yes yeah no then when while since though although und aber also weil
    y pero porque et mais parce e ma ok plus apparently hey""".split()
)
_BACKGROUND = frozenset(
    "just also really still already has have had recently now then once even ha hat a gerade auch schon".split()
)
_ROMANCE = frozenset("usuario usuaria utilisateur l'utilisateur utente l'utente usuário".split())
_PASSIVE = frozenset("is was were are been being got gets be by wurde wird est fue ha".split())
_PARTS = linear(
    r"[;!?()\n–—]+|,\s+|[.:]\s|\b(?:and|und|y|et|e|but|because|while|whereas|aber|weil|mais|parce|pero|porque)\b"
)
_OPPOSITE = (
    (frozenset("from".split()), frozenset("to into onto".split())),
    (frozenset(["before"]), frozenset(["after"])),
    (frozenset(["vor"]), frozenset(["nach"])),
    (frozenset(["for"]), frozenset(["against"])),
    (frozenset(["für"]), frozenset(["gegen"])),
    (frozenset(["pour"]), frozenset(["contre"])),
    (frozenset(["avant"]), frozenset(["après"])),
    (frozenset(["antes"]), frozenset(["después"])),
    (frozenset(["above"]), frozenset(["below"])),
)
_CONTRAST = frozenset("over than instead rather als statt que plutôt".split())
_ARTICLES = frozenset(
    "the a an my our his her their of to der die das den dem le la les l du el los las de del il lo".split()
)


@dataclass(frozen=True, slots=True)
class _Clause:
    """One clause: its words, its content words, and the party other than the speaker that it is about, if any."""

    words: tuple[str, ...]
    telling: frozenset[str]
    party: str | None
    owner: str | None


@lru_cache(maxsize=256)  # several memories cite one turn
def _clauses(text: str) -> tuple[_Clause, ...]:
    return tuple(_parsed(text))


def _parsed(text: str) -> Iterator[_Clause]:
    for sentence in sentences(text):
        party = owner = None
        for part in _PARTS.split(sentence):
            words = words_of(part)
            while words and words[0] in _LEADING:
                words = words[1:]
            if not words:
                continue
            if (found := _party(words, part)) is not None:
                party, owner = found
            elif words[0] in _SELF or not words[0].endswith(("s", "ed")):
                party = owner = None
            yield _Clause(tuple(words), content_words(words), party, owner)


_IS_BEHIND = frozenset(
    "a an the on in at not no been got getting going from very so too always never really also back still just".split()
)
"""Words behind which "'s" is "is" or "has": "my flatmate's on holiday"."""


def _party(words: Sequence[str], part: str) -> tuple[str, str | None] | None:
    """Of whom a clause speaks, and whose relative that is; None if it does not begin with anybody but the speaker."""
    if words[0] in _PRONOUNS and len(words) > 1 and not words[1].endswith(("ado", "ido")):  # "he dejado" is "I have"
        return words[0], None
    for at, word in enumerate(words[:5]):
        base = word.removesuffix("'s")
        owns = word.endswith("'s") and words[at + 1 : at + 2] and words[at + 1] not in _IS_BEHIND
        if base not in KIN or owns:
            continue
        ahead = words[:at]
        possessors = [one.removesuffix("'s") for one in ahead if one.endswith("'s")]
        if possessors and at <= 3:
            return word, possessors[-1]
        if ahead and ahead[0] in _MINE and at <= 3:
            return word, None
    first, second = [*words, "", ""][:2]
    is_name = first[:1].upper() + first[1:] in WORD.findall(part)[:1] and len(first) > 2
    is_verb = is_past(first) or first.endswith("ing")  # "Got promoted last week"
    if (
        is_name
        and not is_verb
        and first not in SMALL_WORDS | FUNCTION_WORDS
        and (is_past(second) or second in _OF_PEOPLE or (second.endswith("s") and len(second) > 4))
    ):
        return first, first
    if first in _DETERMINERS or (first in _SOME and second == "of"):
        person = next((word for word in words[1:5] if _is_person(word.removesuffix("s"))), None)
        return (person, None) if person else None
    return None


def _is_person(word: str) -> bool:
    return word in _PEOPLE or (len(word) > 4 and word not in SMALL_WORDS and word.endswith(_OF_WORKERS))


_SOME = frozenset("one two three both some most many all each none half einer eine uno una un une".split())
_PEOPLE = frozenset(
    """people guy girl boy lady man woman person folks couple crew family student nurse chef pilot priest leute mensch
    gente señor señora gens monsieur dame signora persone pessoa pessoal""".split()
)
_OF_WORKERS = ("er", "or", "ist", "mate", "ian", "man", "woman", "eur", "euse", "ore", "ora")
"""How words for people end that say what they do: carer, supervisor, dentist, flatmate."""


_DETERMINERS = frozenset(
    """my our the a an some these those this that mein meine unser unsere der die das ein eine mi mis nuestro nuestra el
    la los las un una mon ma mes notre nos le les une il lo gli mio mia meu minha o os""".split()
)


_OF_PEOPLE = frozenset(
    """is has was will can lives works likes loves hates plays wants needs owns hat ist lebt wohnt arbeitet tiene vive
    trabaja est habite travaille lavora abita tem mora""".split()
)


def of_bystander(content: str, cited: Sequence[str], speaker: str) -> str | None:
    """Finds a claim about the speaker, or about a named person, that was said of somebody close to them.

    Args:
        content: the claim.
        cited: the texts of the users' turns that it cites.
        speaker: the last speaker's name in small letters, or "user".
    """
    words = words_of(content)
    subject = words[0] if words else ""
    about_speaker = is_about_user(words) or subject == speaker
    if not words or subject.endswith("'s") or not KIN.isdisjoint(_bases(words)):
        return None
    told = content_words(words) - content_words([speaker, subject])
    clauses = [clause for text in cited for clause in _clauses(text)]
    most = max((len(clause.telling & told) for clause in clauses), default=0)
    # Of a single sentence the claim can have no other source, in whatever language it is.
    enough = most >= max(1, min(2, len(told)))
    alone = len(cited) == 1 and len(sentences(cited[0])) == 1
    if not clauses or not (enough or alone) or _PRONOUNS & set(words):
        return None
    named = {word[:4] for word in words}
    for home in (clause for clause in clauses if len(clause.telling & told) == most):
        if home.party in _PRONOUNS and not enough:
            return None
        if home.party is None or home.party[:4] in named:
            return None
        behind = home.words[home.words.index(home.party) + 1 :] if home.party in home.words else home.words
        if not _SELF.isdisjoint(behind):
            return None
        if not about_speaker and subject != home.owner:
            return None
        if home.party == home.owner and (home.party == speaker or not about_speaker):
            return None
        found = home.party
    return f"it was said of {found}"


def _bases(words: Sequence[str]) -> set[str]:
    return {base for word in words for base in (word, word.removesuffix("'s"), word.removesuffix("s"))}


def turned_round(content: str, quoted: str, speaker: str) -> str | None:
    """Finds a relation whose two sides changed places: who did it to whom, from where to where, before or after."""
    words, said = words_of(content), words_of(quoted)
    return (
        _other_possessor(words, said)
        or _turned_direction(words, said)
        or _turned_contrast(words, said)
        or _turned_link(words, said)
        or _turned_passive(words, said)
        or (_turned_order(words, said) if "," not in content + quoted else None)
        or _done_to_speaker(words, said, speaker)
    )


def _other_possessor(words: Sequence[str], said: Sequence[str]) -> str | None:
    """Finds "Nadia's flight" where only Raj's flight was spoken of."""
    owned = [(one, thing) for one, thing in pairwise(words[:5]) if one.endswith("'s")]
    for one, thing in owned[:1]:
        owners = {said[at - 1] for at, word in enumerate(said) if word == thing and at}
        if owners and one not in owners and all(owner.endswith("'s") and owner not in words for owner in owners):
            return f"it was said of {min(owners)} {thing}"
    return None


def _behind(words: Sequence[str], at: int) -> str | None:
    return next((word for word in words[at + 1 : at + 4] if word not in _ARTICLES), None)


def _turned_direction(words: Sequence[str], said: Sequence[str]) -> str | None:
    for pair in _OPPOSITE:
        for one, other in (pair, pair[::-1]):
            here = {_behind(words, at) for at, word in enumerate(words) if word in one}
            same = {_behind(said, at) for at, word in enumerate(said) if word in one}
            turned = {_behind(said, at) for at, word in enumerate(said) if word in other}
            if found := sorted(str(place) for place in (here & turned) - same if place):
                return f"{found[0]} was said with the opposite direction"
    return None


def _turned_contrast(words: Sequence[str], said: Sequence[str]) -> str | None:
    """Finds "X over Y" told as "Y over X"."""
    for at, word in enumerate(said):
        if word in _CONTRAST and at and word in words:
            here = words.index(word)
            second, told = _behind(said, at), _behind(words, here)
            if second and told and second != told and second in words[:here] and told in said[:at]:
                return f"{second} and {told} changed places"
    return None


_LINKS = frozenset(
    "for to from with than of via into onto against behind under above before after für zu von mit als pour à de por "
    "para con per da".split()
)


def _turned_link(words: Sequence[str], said: Sequence[str]) -> str | None:
    """Finds "Stripe for Google" where "Google for Stripe" was said."""
    linked = list(_linked(said))
    for link, first, second in _linked(words):
        if any(other == link and first & before and second & behind for other, before, behind in linked):
            continue  # it was said in this order too
        for other, before, behind in linked:
            went, came = (first & behind) - before, (second & before) - behind
            if other == link and went and came:
                return f"{min(went)} and {min(came)} changed places"
    return None


def _linked(words: Sequence[str]) -> Iterator[tuple[str, frozenset[str], frozenset[str]]]:
    """The first few prepositions, each with the content words of the three words before and behind it."""
    places = [at for at, word in enumerate(words) if word in _LINKS]
    for at in places[:_MOST_LINKS]:
        yield words[at], content_words(words[max(0, at - 3) : at]), content_words(words[at + 1 : at + 4])


_MOST_LINKS = 12
"""Prepositions that are compared: a sentence has fewer. A choice."""


def _turned_order(words: Sequence[str], said: Sequence[str]) -> str | None:
    """Finds "the dog bit Max" where Max bit the dog: what stood before a word stands behind it, and the other way."""
    if not {"by", "and", "or"}.isdisjoint(words):
        return None
    verbs = [lemma(word) for word in said]
    for at, word in enumerate(words[:_LONGEST_CLAUSE]):
        places = [place for place, one in enumerate(verbs) if one == lemma(word)]
        if len(places) != 1 or not content_words([word]):
            continue
        ahead, behind = content_words(words[:at]), content_words(words[at + 1 :])
        was_ahead, was_behind = content_words(said[: places[0]]), content_words(said[places[0] + 1 :])
        if ahead & was_behind and behind & was_ahead and not (ahead & was_ahead or behind & was_behind):
            return f"{min(ahead & was_behind)} and {min(behind & was_ahead)} changed places"
    return None


_LONGEST_CLAUSE = 40
"""Words of a claim without a comma in which the order of things is compared. A choice."""


def _turned_passive(words: Sequence[str], said: Sequence[str]) -> str | None:
    """Finds "she was sued by him" where she sued him."""
    at = words.index("by") if "by" in words else 0
    if at < 3 or "by" in said or _PASSIVE.isdisjoint(words[max(0, at - 4) : at - 1]):
        return None
    verb, agent = lemma(words[at - 1]), _behind(words, at)
    place = next((place for place, one in enumerate(said) if lemma(one) == verb), None)
    if place is None or agent not in said[place + 1 :] or set(words[: at - 2]).isdisjoint(said[:place]):
        return None
    return f"it was done to {agent}, not by"


def of_speaker(content: str, cited: Sequence[str], speaker: str, people: frozenset[str]) -> str | None:
    """Finds a claim about one of the `people` that the speaker said of themselves alone."""
    words = words_of(content)
    subject = words[0].removesuffix("'s") if words else ""
    if subject not in people or subject == speaker:
        return None
    told = content_words(words) - content_words([speaker, subject])
    clauses = [clause for text in cited for clause in _clauses(text)]
    most = max((len(clause.telling & told) for clause in clauses), default=0)
    homes = [clause for clause in clauses if most and len(clause.telling & told) == most]
    if homes and all(not _ALONE.isdisjoint(home.words) and _OTHERS.isdisjoint(home.words) for home in homes):
        return None if any(subject in home.words for home in homes) else f"it was said of {speaker}"
    return None


_ALONE = frozenset("i i'm i've i'd i'll my ich mein meine yo mi je j'ai mon ma io mio eu meu minha".split())
_OTHERS = frozenset(
    """you your you're you've yours he she they him her them his their we us our both together du dein sie er wir ihr
    tú tu él ella ellos tu il elle ils elles vous nous lui lei loro""".split()
)


def _done_to_speaker(words: Sequence[str], said: Sequence[str], speaker: str) -> str | None:
    """Finds "the user beat their daughter" where the daughter beat the user."""
    if not (is_about_user(words) or words[:1] == [speaker]):
        return None
    start = 2 if is_about_user(words) and len(words) > 1 and words[0] in ("the", "el", "der", "die", "la", "le") else 1
    verb = next((word for word in words[start : start + 4] if word not in _BACKGROUND), "")
    if verb in _PASSIVE or verb in SMALL_WORDS or verb in FUNCTION_WORDS or not {"by", "se"}.isdisjoint(words):
        return None
    is_romance = not _ROMANCE.isdisjoint(words[:2])
    places = [at for at, word in enumerate(said) if lemma(word) == lemma(verb)]
    to_me = [
        at
        for at in places
        if set(said[max(0, at - 1) : at] if is_romance else said[at + 1 : at + 2]) & (_ME_AHEAD if is_romance else _ME)
        and {"i", "we", "ich", "wir", "yo", "je"}.isdisjoint(said[max(0, at - 3) : at])
    ]
    return f"it was done to {speaker}, not by" if places and places == to_me else None
