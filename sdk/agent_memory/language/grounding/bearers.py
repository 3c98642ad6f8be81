"""Bearers: finds claims that say of one person what was said of another, where the talk leaves its subject out.

"My colleague Bram is on it, lost 12 kilos" has no subject in its second clause, "den Wagen hat er gemietet" has it
after the verb, and "unless my partner gets the job" after a conjunction. So each clause gets the person whom it is
about, and a claim is compared with the clauses that share most with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agent_memory.language.grounding.clauses import (
    NOBODY,
    OF_PEOPLE,
    PRONOUNS,
    SELF,
    THEIRS,
    Clause,
    clauses_of,
    content_words,
    homes_of,
    is_about_user,
    party_of,
)
from agent_memory.language.grounding.polarity import words_of
from agent_memory.language.offline.verbs import is_past
from agent_memory.text.dates import DAYS
from agent_memory.text.languages import is_foreign
from agent_memory.text.names import names
from agent_memory.text.people import AS_I, KIN, MY, OUR, OWN, SAME_KIN, WE, plain_kin

_JOINING = frozenset("if unless when because that wenn falls weil dass si que quand se".split())
_SPEECH = frozenset('"“”„«»‘')
_HE = frozenset("er sie".split())
_OTHER = "somebody else"


def of_other_bearer(content: str, cited: Sequence[tuple[str, str]], speaker: str, people: frozenset[str]) -> str | None:
    """Of whom a claim was really said, in words, if every clause that shares most with it is about somebody else.

    Args:
        content: the claim, which calls the user "User".
        cited: the users' turns that it cites, each with its speaker's name in small letters.
        speaker: the last speaker's name in small letters, or "user".
        people: the names of the talk in small letters.
    """
    words = words_of(content)
    subject = _subject(words, speaker, people)
    known = [found for name, text in cited for found in _bearers(text, name)]
    if subject is None or subject not in {speaker, *KIN, *people, *(bearer for _, bearer in known)}:
        return None
    if subject in KIN and all(subject not in plain_kin(clause.words) for clause, _ in known):
        return None  # "moeder" is "mother"
    told = content_words(words) - content_words([subject, speaker])
    most, homes = homes_of(told, [clause for clause, _ in known])
    if not homes or 2 * most < len(told) or (most < _FEWEST and len(homes) > 1):
        return None
    of = {id(clause): bearer for clause, bearer in known}
    named = {name.casefold() for name in names(content)}
    found = [of[id(home)] for home in homes]
    for home, bearer in zip(homes, found, strict=True):
        place = home.words.index(bearer) if bearer in home.words else 0
        if bearer in KIN and not named.isdisjoint(home.words[max(0, place - 3) : place + 2]):
            return None  # "my mate Dean" may be "User's friend Dean"
        if bearer is None or _is_same(bearer, subject, home, speaker) or _is_named(bearer, words, speaker):
            return None
    return f"it was said of {found[0]}"


_FEWEST = 2
"""If several clauses share most words with a claim, they must share this many to count as its sources. A choice."""


def _subject(words: Sequence[str], speaker: str, people: frozenset[str]) -> str | None:
    """Whom a claim is about: the speaker, a relative, or the name at its beginning."""
    if not words:
        return None
    first, second = words[0], words[1].removesuffix("'s") if len(words) > 1 else ""
    if first.endswith("'s"):
        named = [word for word in words[2:3] if word in people]
        return SAME_KIN.get(second, second) if second in KIN else next(iter(named), None)  # "User's cat Miso"
    return speaker if is_about_user(words) else first


def _is_same(bearer: str, subject: str, home: Clause, speaker: str) -> bool:
    """Whether a clause may be about the subject of a claim as well; "they" may be anybody."""
    here = plain_kin(home.words)
    if subject == speaker:
        behind = home.words[home.words.index(bearer) + 1 :] if bearer in home.words else home.words
        return bearer == speaker or not SELF.isdisjoint(behind)
    return (
        SAME_KIN.get(bearer, bearer) == subject
        or subject in here
        or bearer == _OTHER
        or not (WE | OUR | {"they"}).isdisjoint(here)
    )


def _is_named(bearer: str, words: Sequence[str], speaker: str) -> bool:
    """Whether a claim speaks of the bearer, too."""
    told = plain_kin(words)
    return SAME_KIN.get(bearer, bearer) in told or (bearer == speaker and "user" in told)


def _bearers(text: str, speaker: str) -> Iterator[tuple[Clause, str | None]]:
    """The clauses of a text, each with the person whom it is about, if that is certain."""
    is_plain = _SPEECH.isdisjoint(text)
    foreign = is_foreign(text)
    called = {name.casefold() for name in names(text)}
    carried: str | None = None
    for at, clause in enumerate(clauses_of(text)):
        words = clause.words
        while words[1:] and words[0] in _JOINING:
            words = words[1:]
        party = clause.party or (party_of(words) if words != clause.words else None)
        behind = words[words.index(party) + 1 :][:_NEXT] if party in words else ()
        is_name = party == clause.owner and any(
            is_past(word) or word in OF_PEOPLE or word.endswith("n't") for word in behind
        )
        bearer: str | None = None
        if party and (party in KIN or is_name):
            bearer = party.removesuffix("'s")
        elif party in PRONOUNS and not foreign:
            bearer = _OTHER if clause.begins or carried in (None, speaker) else carried
        elif party or foreign:
            inside = next((word for word in words[:5] if word in _HE | AS_I | MY), None)
            bearer = None if inside is None else _OTHER if inside in _HE else speaker
        elif words[0] in AS_I | OWN | WE or (is_past(words[0]) and at == 0):  # "Finished the half marathon"
            bearer = speaker
        elif is_past(words[0]) and not clause.begins:
            bearer = carried
        is_person = bearer in (None, _OTHER, speaker) or bearer in KIN
        carried = _OTHER if not called.isdisjoint(behind) else bearer if is_person else None  # "my boss Lorraine"
        yield clause, bearer if is_plain else None


_NEXT = 2
"""How many words after a name are searched for a verb, which shows that a person is meant: "Samira already handed it
in". A choice."""

# --- possessions --------------------------------------------------------------------------------------------

_NOT_OWNERS = NOBODY | {"he's", "she's", "one's"}
_HAS_A = frozenset("has owns".split())
_SOME = frozenset("a an two three four several".split())


def of_other_owner(content: str, cited: Sequence[tuple[str, str]], speaker: str) -> str | None:
    """Finds "User has a boat" if only an uncle's boat was mentioned, and "Sam's parents" if they are the speaker's."""
    words = words_of(content)
    owning = [word.removesuffix("'s") for word in words if word.endswith("'s")]
    place = next((at for at, word in enumerate(words[:_NEAR]) if _is_owner(word)), None)
    if is_about_user(words) and not _HAS_A.isdisjoint(words[1:2]) and not _SOME.isdisjoint(words[2:3]):
        owner, things, named = speaker, words[3:5], {word.removesuffix("'s") for word in words[1:]} | {_OTHER}
    elif place is not None and owning:
        if words[place + 1 :] and words[place + 1].removesuffix("'s") in KIN and words[place + 1].endswith("'s"):
            place += 1  # "User's mother's house"
        owner, things, named = words[place].removesuffix("'s"), words[place + 1 : place + 3], set(owning)
        owner = speaker if is_about_user([owner]) else owner
    else:
        return None
    if owner != speaker and not any(owner in words_of(text) for _, text in cited):
        return None  # the talk calls them something else
    for thing in things if owner else ():
        found = {one for name, text in cited for one in _owners(words_of(text), thing, name)}
        if not found or None in found or owner in found or (_OTHER in found and owner != speaker):
            continue
        if found.isdisjoint(named - {owner}):
            return f"it was said of {min(map(str, found))}'s {thing}"
    return None


_NEAR = 4
"""How many words at the beginning of a claim are searched for an owner. A choice."""


def _owners(words: Sequence[str], thing: str, speaker: str) -> Iterator[str | None]:
    """Whose each mention of a thing is; None for a mention without an owner."""
    for at, word in enumerate(words):
        if word != thing or word.isdigit() or not content_words([word]):
            continue
        before = words[at - 1] if at else ""
        if not _is_owner(before) and content_words([before]) and at > 1:
            before = words[at - 2]  # "my uncle's carpentry shop"
        owner = _owner_in(before, speaker) if _is_owner(before) else None
        passed_on = not _GAINED.isdisjoint(words[max(0, at - _BEFORE) : at]) or words[at + 2 : at + 4] in _WITH_US
        yield None if passed_on or owner in _OURS else owner


_GAINED = frozenset("adopted bought inherited got kept own rent rented".split())
_WITH_US = (["with", "us"], ["with", "me"])
_OURS = frozenset("team company family household class band club group department".split())
"""Groups to which the speaker belongs: "my team's stand-up" is the user's, too."""
_BEFORE = 5
"""How many words before a thing are searched for a word that makes it the speaker's: "we adopted my late brother's
dog"."""


def _is_owner(word: str) -> bool:
    owns = word.endswith("'s") and word not in _NOT_OWNERS and word.removesuffix("'s") not in DAYS
    return owns or word in OWN | THEIRS


def _owner_in(word: str, speaker: str) -> str:
    return speaker if word in OWN else _OTHER if word in THEIRS else word.removesuffix("'s")
