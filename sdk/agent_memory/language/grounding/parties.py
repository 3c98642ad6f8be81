"""Parties: finds claims that say of one person what was said of another, or that reverse a relation.

"My sister has a licence" says nothing about the speaker, "he sold me his camera" says who sold it, and "from Heroku to
Render" has a direction. `bearers` finds the first fault where the talk leaves its subject out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise, takewhile

from agent_memory.language.grounding.clauses import (
    ADDRESSING,
    OF_PEOPLE,
    PRONOUNS,
    REPORTING,
    SELF,
    Clause,
    clauses_of,
    content_words,
    homes_of,
    is_about_user,
)
from agent_memory.language.grounding.polarity import CLAUSE, words_of
from agent_memory.language.offline.text import stem as lemma
from agent_memory.language.offline.verbs import is_past
from agent_memory.text.names import names
from agent_memory.text.patterns import linear
from agent_memory.text.people import AS_I, KIN, ME, MY, OWN, SAME_KIN, plain_kin
from agent_memory.text.sentences import sentences
from agent_memory.text.stop_words import FUNCTION_WORDS, SMALL_WORDS

_ME_AHEAD = frozenset("me nos m'a m'ont mi ci".split())
_BACKGROUND = frozenset(
    "just also really still already has have had recently now then once even ha hat a gerade auch schon".split()
)
_ROMANCE = frozenset("usuario usuaria utilisateur l'utilisateur utente l'utente usuário utilizador".split())
_PASSIVE = frozenset("is was were are been being got gets be by wurde wird est fue ha".split())
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
_ARTICLES = frozenset(
    "the a an my our his her their of to der die das den dem le la les l du el los las de del il lo".split()
)


def of_bystander(content: str, cited: Sequence[str], speaker: str) -> str | None:
    """Finds a claim about the speaker, or about a named person, that was said of somebody near them ("my sister …").

    Args:
        content: the claim.
        cited: the texts of the users' turns that it cites.
        speaker: the last speaker's name in small letters, or "user".
    """
    words = words_of(content)
    others = [name for name in names(content) if any(name in text for text in cited)]
    if is_about_user(words) and not others and (KIN | _THEM).isdisjoint(_bases(words)):
        # "weil er krank war": the pronoun can only mean the user.
        for part in CLAUSE.split(content):
            if not PRONOUNS.isdisjoint(words_of(part)[:2]):
                rest = " ".join(word for word in words_of(part) if word not in PRONOUNS)
                if why := of_bystander(f"User {rest}", cited, speaker):
                    return why
    subject = words[0] if words else ""
    about_speaker = is_about_user(words) or subject == speaker
    start = words[:_SUBJECT]
    if is_about_user(words):
        start = list(takewhile(lambda word: word not in _VERBS, start))
    kin = KIN & _bases(words[:2])
    if not kin and (not words or subject.endswith("'s") or not KIN.isdisjoint(_bases(start))):
        return None
    told = content_words(words) - content_words([speaker, subject])
    clauses = [clause for text in cited for clause in clauses_of(text)]
    most, homes = homes_of(told, clauses)
    # A single sentence must be the claim's source, whatever its language.
    enough = most >= max(1, min(2, len(told)))
    alone = len(cited) == 1 and len(sentences(cited[0])) == 1
    if not clauses or not (enough or alone) or PRONOUNS & set(words):
        return None
    named = {word[:4] for word in words}
    for home in homes if most else clauses:
        if kin and home.owner not in kin:
            return None
        if home.party in PRONOUNS and not enough:
            return None
        if home.party is None or home.party[:4] in named:
            return None
        behind = home.words[home.words.index(home.party) + 1 :] if home.party in home.words else home.words
        if not REPORTING.isdisjoint(behind[:1]) and not SELF.isdisjoint(behind):
            return None  # "Ben says my code is clever"
        own = SELF if home.party in PRONOUNS else SELF - OWN - (ME if behind[:1] == ("who",) else frozenset())
        if not own.isdisjoint(behind):
            return None
        if not kin and not about_speaker and subject != home.owner:
            return None
        if home.party == home.owner and (home.party == speaker or not about_speaker):
            return None
        found = home.party
    return f"it was said of {found}"


_SUBJECT = 4
"""How many words at the beginning of a claim may say whom it is about: "User's older sister". A choice."""
_VERBS = frozenset("is are was were has have had will would".split())


def _bases(words: Sequence[str]) -> set[str]:
    return {base for word in words for base in (word, word.removesuffix("'s"), word.removesuffix("s"))}


def of_another(content: str, cited: Sequence[tuple[str, str]]) -> str | None:
    """Finds a claim that ascribes to one person what was said about another.

    Only clauses that begin with a person are compared: "my sister lives in Oslo and my brother is a nurse". A claim is
    refused if all clauses that have one of its words begin with somebody else than its own clause. Clauses with "she"
    or "you" may be about anybody, and somebody who says "me too" agrees with what another said.

    Args:
        content: the claim.
        cited: the turns that it cites, each with its speaker's name in small letters, and its sentences.
    """
    known = [(_bearer(clause, speaker), clause) for speaker, text in cited for clause in clauses_of(text)]
    people = {bearer for bearer, _ in known if bearer}
    if (
        len(people) < 2
        or any(_SPEECH.search(text) for _, text in cited)
        or not all(_AGREEING.isdisjoint(clause.words) for _, clause in known)
    ):
        return None
    everything = frozenset(word for _, clause in known for word in clause.telling)
    beside = content_words([*people, *ADDRESSING])
    first, *others = words_of(content) or [""]
    mentioned = plain_kin(others) | {SAME_KIN.get(first, first)}
    subject: str | None = None
    for part in CLAUSE.split(content):
        words = words_of(part)
        begins = _subject(words)
        named = begins is not None and (begins in people or part[:1].isupper())
        subject = begins if named else subject  # "and lives in Turin" goes on about the same person
        if subject not in people or (is_about_user(words) and "user" not in words[:2]):
            continue
        # "Jack works nights and Lucy the early shift" has one verb for both.
        verb = content_words(words[1:2]) if named else frozenset[str]()
        shared = [one for word in words for one in content_words([word]) - beside - verb if one in everything]
        own = [clause for bearer, clause in known if bearer == subject]
        if any(len(one.telling.intersection(shared)) >= _KNOWN_WELL or one.words[-1] in _STANDING_FOR for one in own):
            continue  # "the kids play football and I coach the under-tens", "he's a pilot and I want to be one"
        for one in shared:
            holders = [(bearer, clause) for bearer, clause in known if one in clause.telling]
            if all(bearer not in mentioned and _is_of_another(bearer, clause, subject) for bearer, clause in holders):
                return f"it was said of {holders[0][0]}, not of {subject}"
    return None


_SPEECH = linear(r"[\"“”„«]|(?:^|\s)['‘]\p{L}")
_STANDING_FOR = frozenset("one ones it them that there".split())
_KNOWN_WELL = 2
"""If a clause about the subject itself has this many words of the claim, it is the claim's source. A choice."""


def _bearer(clause: Clause, speaker: str) -> str | None:
    """Whom a clause is about: a name, or a relative."""
    if clause.words[0] in AS_I:
        return speaker
    named = (clause.party or "").removesuffix("'s")
    words = [word.removesuffix("'s") for word in clause.words]
    behind = ["is"] if f"{named}'s" in clause.words else words[words.index(named) + 1 :][:1] if named in words else []
    is_name = clause.party == clause.owner and any(
        is_past(word) or word in OF_PEOPLE or word in SMALL_WORDS for word in behind
    )
    return SAME_KIN.get(named, named) if named in KIN or is_name else None


def _subject(words: Sequence[str]) -> str | None:
    """Whom a clause is about: its first word, or a relative of theirs ("Ana's sister")."""
    first, second = [*words, "", ""][:2]
    if first.endswith("'s") or first in _ARTICLES:
        first = second if second in KIN else first.removesuffix("'s")
    return SAME_KIN.get(first, first) or None


def _is_of_another(bearer: str | None, clause: Clause, subject: str) -> bool:
    words = {word.removesuffix("'s") for word in clause.words}
    return bearer not in (None, subject) and subject not in words and (_OPEN | ME).isdisjoint(words)


_OPEN = frozenset("he she they him her his them their who whom whose it its you your we us our one".split())
"""Words with which a clause may be about somebody whom it does not name."""
_AGREEING = frozenset("too also same likewise neither either together both we us our ditto yes yeah yep".split())
"""Words with which somebody may agree with what another said."""


def turned_round(content: str, quoted: str, speaker: str) -> str | None:
    """Finds a relation whose two sides were swapped: who did it to whom, from where to where, before or after."""
    words, said = words_of(content), words_of(quoted)
    return (
        _turned_direction(words, [speaker if word in ME else word for word in said])
        or _turned_link(words, said)
        or _turned_passive(words, said)
        or (_turned_order(words, quoted) if "," not in content and "by" not in said else None)
        or _turned_active(words, said)
        or _done_to_speaker(words, said, speaker)
        or _done_to_name(words, said)
        or _done_to_another(words, said, speaker)
        or _done_to_kin(words, said)
    )


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


_LINKS = frozenset(
    "for to from with of via into onto against behind under above before after für zu von mit als pour à de por "
    "para con per da".split()
)


def _turned_link(words: Sequence[str], said: Sequence[str]) -> str | None:
    """Finds "Stripe for Google" if "Google for Stripe" was said."""
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
    """The first few prepositions, each with the content words of the three words before and after it."""
    places = [at for at, word in enumerate(words) if word in _LINKS]
    for at in places[:_MOST_LINKS]:
        yield words[at], content_words(words[max(0, at - 3) : at]), content_words(words[at + 1 : at + 4])


_MOST_LINKS = 12
"""How many prepositions are compared: hardly any sentence has more. A choice."""


def _turned_order(words: Sequence[str], quoted: str) -> str | None:
    """Finds "the dog bit Max" if Max bit the dog: the words before and after the verb were swapped."""
    if not {"by", "and", "or", "if", "unless", "when", "because"}.isdisjoint(words):
        return None
    clauses = [words_of(clause) for clause in CLAUSE.split(quoted)]
    verbs = [(said, place, lemma(word)) for said in clauses for place, word in enumerate(said)]
    for at, word in enumerate(words[:_LONGEST_CLAUSE]):
        places = [(said, place) for said, place, verb in verbs if verb == lemma(word)]
        if len(places) != 1 or not content_words([word]):
            continue
        said, place = places[0]
        before, after = content_words(words[:at]), content_words(words[at + 1 :])
        before, after = before - after, after - before  # "the billing service calls the orders service"
        was_before, was_after = content_words(said[:place]), content_words(said[place + 1 :])
        nearest = content_words([_behind(words, at) or ""])
        if before & was_after and after & was_before and not (before & was_before or nearest & was_after):
            return f"{min(before & was_after)} and {min(after & was_before)} changed places"
    return None


_LONGEST_CLAUSE = 40
"""How many words of a claim are compared in their order. A choice."""


def _turned_passive(words: Sequence[str], said: Sequence[str]) -> str | None:
    """Finds "she was sued by him" if she sued him."""
    at = words.index("by") if "by" in words else 0
    if at < 3 or "by" in said or _PASSIVE.isdisjoint(words[max(0, at - 4) : at - 1]):
        return None
    verb, agent = lemma(words[at - 1]), _behind(words, at)
    place = next((place for place, one in enumerate(said) if lemma(one) == verb), None)
    if place is None or agent not in said[place + 1 :] or set(words[: at - 2]).isdisjoint(said[:place]):
        return None
    return f"it was done to {agent}, not by"


def _turned_active(words: Sequence[str], said: Sequence[str]) -> str | None:
    """Finds "the cat chased the dog" if the cat was chased by the dog."""
    at = said.index("by") if "by" in said else 0
    if at < 3 or "by" in words or _PASSIVE.isdisjoint(said[max(0, at - 4) : at - 1]) or not is_past(said[at - 1]):
        return None
    agent = content_words(said[at + 1 : at + 5])
    place = next((place for place, word in enumerate(words) if lemma(word) == lemma(said[at - 1])), None)
    if place is None or not _PASSIVE.isdisjoint(words[max(0, place - 3) : place]):
        return None
    done_to = content_words(said[: at - 1]) & content_words(words[:place])
    return f"it was done by {min(agent)}" if done_to and agent & content_words(words[place + 1 :]) else None


def of_speaker(content: str, cited: Sequence[str], speaker: str, people: frozenset[str]) -> str | None:
    """Finds a claim about one of the `people` where the speaker spoke only of themselves."""
    words = words_of(content)
    subject = words[0].removesuffix("'s") if words else ""
    if subject not in people or subject == speaker:
        return None
    told = content_words(words) - content_words([speaker, subject])
    _, homes = homes_of(told, [clause for text in cited for clause in clauses_of(text)])
    if homes and all(not (AS_I | MY).isdisjoint(home.words) and _OTHERS.isdisjoint(home.words) for home in homes):
        return None if any(subject in home.words for home in homes) else f"it was said of {speaker}"
    return None


_OTHERS = frozenset(
    """you your you're you've yours he she they him her them his their we us our both together du dein sie er wir ihr
    tú tu él ella ellos tu il elle ils elles vous nous lui lei loro""".split()
)


def _done_to_speaker(words: Sequence[str], said: Sequence[str], speaker: str) -> str | None:
    """Finds "the user beat their daughter" if the daughter beat the user."""
    if not (is_about_user(words) or words[:1] == [speaker]):
        return None
    start = 2 if is_about_user(words) and len(words) > 1 and words[0] in ("the", "el", "der", "die", "la", "le") else 1
    doing = "being" not in words and any(word.endswith("ing") for word in words[start : start + 3])  # "is beating"
    skipped = _BACKGROUND | (_PASSIVE if doing else frozenset())
    verb = next((word for word in words[start : start + 4] if word not in skipped), "")
    if verb in _PASSIVE or verb in SMALL_WORDS or verb in FUNCTION_WORDS or "se" in words or _has_agent(words):
        return None
    is_romance = not _ROMANCE.isdisjoint(words[:2])
    places = [at for at, word in enumerate(said) if lemma(word) == lemma(verb)]
    to_me = [
        at
        for at in places
        if set(said[max(0, at - 1) : at] if is_romance else said[at + 1 : at + 2]) & (_ME_AHEAD if is_romance else ME)
        and {"i", "we", "ich", "wir", "yo", "je"}.isdisjoint(said[max(0, at - 3) : at])
    ]
    return f"it was done to {speaker}, not by" if places and places == to_me else None


def _done_to_name(words: Sequence[str], said: Sequence[str]) -> str | None:
    """Finds "Leah promised to stop" if the speaker promised Leah to stop."""
    name, verb = [*words[:2], "", ""][:2]
    if not content_words([verb]) or is_about_user(words) or _has_agent(words):
        return None
    done = [
        said[at - 1] in AS_I and said[at + 1 : at + 2] == [name]
        for at, word in enumerate(said)
        if lemma(word) == lemma(verb)
    ]
    return f"it was done to {name}, not by" if done and all(done) else None


def _done_to_kin(words: Sequence[str], said: Sequence[str]) -> str | None:
    """Finds "Omar hired the user" if Omar hired the user's brother."""
    bare = [word for word in words if word not in _ARTICLES]
    verbs = {lemma(verb) for verb, one in pairwise(bare) if one == "user" and content_words([verb])}
    places = [at for at, word in enumerate(said) if lemma(word) in verbs]
    kin = [next(iter(KIN.intersection(said[at + 2 : at + 4])), "") for at in places if said[at + 1 : at + 2] in _MY]
    if len(kin) < len(places) or not all(kin) or not ME.isdisjoint(said):
        return None
    return f"it was done to {kin[0]}" if kin else None


_MY = (["my"], ["our"])


def _has_agent(words: Sequence[str]) -> bool:
    """Whether "by" names who did it, as it does not in "beat her by about ten seconds"."""
    return any(one == "by" and not (two[:1].isdigit() or two in _BY_HOW_MUCH) for one, two in pairwise([*words, ""]))


_BY_HOW_MUCH = frozenset("about around like roughly almost nearly over a an half one two three four five ten".split())


def _done_to_another(words: Sequence[str], said: Sequence[str], speaker: str) -> str | None:
    """Finds "the user was put on statins" if the doctor put her on them."""
    about_speaker = is_about_user(words) or words[:1] == [speaker]
    done = [lemma(verb) for one, verb in pairwise(words) if one in ("was", "were")]
    if not about_speaker or not done or not (SELF - OWN).isdisjoint(said):
        return None
    for verb, whom in pairwise(said):
        if whom in _THEM and lemma(verb) in done:
            return f"it was done to {whom}, not to {speaker}"
    return None


_THEM = frozenset("him her them".split())
