"""Finds whom or what a clause is about."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from agent_memory.language.offline import lexicon, vocabulary
from agent_memory.language.offline.text import canon
from agent_memory.language.offline.verbs import BE, is_gerund, is_past

_PRONOUNS = frozenset("it this that these those they he she there".split())
_POINTERS = frozenset("this that these those".split())
_DETERMINERS = frozenset("the a an this that these those each every some any no".split())
_SHORT_FOR_IS = frozenset("my our a the more not".split())
_NO_NAMES = frozenset("it's that's here's".split())
_PLURAL_VERBS = frozenset("are have were do can make".split())
_KIN_ADJECTIVES = frozenset(
    """
    older younger elder little big best eldest youngest new old twin step late future ex two three four five other
    oldest close good high-school childhood dear direct
""".split()
)
_WHICH = {
    "older": "older-", "elder": "older-", "big": "older-", "eldest": "older-", "oldest": "older-",
    "younger": "younger-",
    "little": "younger-", "youngest": "younger-", "twin": "twin-", "ex": "ex-", "late": "late-", "step": "step-",
    "best": "best-",
}  # fmt: skip
"""Adjectives that tell one of several such people from another."""

_PARENTS = frozenset("mum mom mummy mommy dad daddy grandma grandpa granny nana gran".split())
"""Who is spoken of without "my"."""
_STATES = frozenset(
    """
    allergic vegetarian vegan pescatarian based single married divorced retired born intolerant lactose diabetic celiac
    left-handed currently originally
""".split()
)
_NOUNS_TOO = frozenset(
    """
    move end start run use work cost visit study play drive drinks lives changes moves deploy deploys releases
""".split()
)


@dataclass(frozen=True, slots=True)
class Subject:
    """A subject, and the words of the clause after it.

    Attributes:
        owner: "self", "self.sister", "self.sister.anna", a lower-case name, or "it" for a pronoun.
        thing: Its own words if it is no person.
        definite: Whether it is a particular one (my, our, the), not any (a, some).
    """

    owner: str
    rest: list[str]
    thing: tuple[str, ...] = ()
    definite: bool = True


def find_subject(words: list[str]) -> Subject:
    """The subject of a clause given as words."""
    first, second = words[0].lower(), words[1].lower() if len(words) > 1 else ""
    if first in {"i", "we", "user"} and second:
        return Subject("self", words[1:])
    if (first, second) in {("the", "user"), ("let", "us")}:
        return Subject("self", words[2:])
    together = next((at for at in range(1, min(4, len(words) - 1)) if _is_and_i(words[at : at + 2])), 0)
    if together:
        return Subject("self", words[together + 2 :])
    if first in {"my", "our", "mine", "user's"}:
        return _possessed("self", words[1:])
    if (first, second) == ("the", "user's"):
        return _possessed("self", words[2:])
    if first.endswith("'s") and words[0][0].isupper() and first not in _NO_NAMES:
        return _named_owner(words)
    if first in _PRONOUNS:
        pointing = first in _POINTERS and second and second not in lexicon.FINITE
        return _noun_phrase(words[1:], definite=True) if pointing else Subject("it", words[1:])
    if first in _DETERMINERS:
        return _noun_phrase(words[1:], definite=first == "the")
    return _bare_subject(words)


def _is_and_i(words: list[str]) -> bool:
    """Whether the speaker joins another in the subject ("my wife and I …")."""
    return [word.lower() for word in words] == ["and", "i"]


def _bare_subject(words: list[str]) -> Subject:
    """A subject without an article: a name, a left-out "I", or a thing in general."""
    first = words[0].lower()
    if first in _PARENTS and len(words) > 1:
        return _possessed("self", words)
    size = _name_size(words)
    if size:
        return Subject(first, words[size:])
    if first in _STATES:
        return Subject("self", ["am", *words])
    if first == "been":
        return Subject("self", ["have", *words])
    if is_gerund(first) and any(word.lower() in lexicon.AUXILIARIES for word in words[1:]):
        return _noun_phrase(words, definite=False)
    if is_past(first) or is_gerund(first) or first == "not":
        return Subject("self", words)
    return _noun_phrase(words, definite=False)


def _named_owner(words: list[str]) -> Subject:
    """What follows "Leo's": a thing or a person of his, or what he is ("Leo's my partner")."""
    name = words[0].lower().removesuffix("'s")
    if len(words) > 1 and words[1].lower() in _SHORT_FOR_IS:
        return Subject(name, ["is", *words[1:]])
    return _noun_phrase(words, definite=True) if is_thing(name) else _possessed(name, words[1:])


def _possessed(owner: str, words: list[str]) -> Subject:
    """What follows a possessive: one of the owner's people, or a thing of the owner's."""
    at = 0
    while at < len(words) - 1 and words[at].lower() in _KIN_ADJECTIVES:
        at += 1
    head = words[at].lower() if words else ""
    bare = head.removesuffix("'s")
    rest = words[at + 1 :]
    if bare not in vocabulary.KIN or (head == bare and rest and _continues_noun(rest[0].lower())):
        return _noun_phrase(words, definite=True, owner=owner)
    which = next((_WHICH[word.lower()] for word in words[:at] if word.lower() in _WHICH), "")
    person = f"{owner}.{which}{canon(bare)}"
    if head != bare:
        return _noun_phrase(rest, definite=True, owner=person)
    name = rest[0] if rest and rest[0][0].isupper() and rest[0].lower() not in lexicon.FINITE else ""
    if name:
        person = f"{person}.{name.lower()}".removesuffix("'s")
        rest = rest[1:]
    if name.endswith("'s"):
        return _noun_phrase(rest, definite=True, owner=person)
    if rest and rest[0] == ",":
        rest = rest[rest.index(",", 1) + 1 :] if "," in rest[1:] else rest[1:]
    # "My manager is Tom" gives an attribute its value; "my manager lives in Oslo" tells of a person.
    thing = (words[at],) if rest and rest[0].lower() in BE and bare in all_attributes() else ()
    return Subject(person, rest, thing)


def _continues_noun(word: str) -> bool:
    """Whether a word after a noun makes it part of a longer noun phrase ("team budget", "dog food")."""
    return word.isalpha() and (word in all_attributes() or word in vocabulary.TOPIC_HEADS)


@cache
def all_attributes() -> frozenset[str]:
    """The names of all attributes that things and people have."""
    return frozenset().union(*vocabulary.ATTRIBUTES.values())


def _noun_phrase(words: list[str], *, definite: bool, owner: str = "self") -> Subject:
    """The words up to the first that may be the clause's verb; a colon stands for one."""
    for at, word in enumerate(words):
        following = words[at + 1] if at + 1 < len(words) else ""
        if at and (word in {":", "="} or (word == "," and following[:1].isdigit())):
            return Subject(owner, ["is", *words[at + 1 :]], tuple(words[:at]))
        if at and word.lower() in lexicon.FINITE and not _is_noun_here(word.lower(), following.lower()):
            return Subject(owner, words[at:], tuple(words[:at]), definite)
    return Subject(owner, [], tuple(words), definite)


def _is_noun_here(word: str, following: str) -> bool:
    """Whether a word that may be a verb is a noun here ("the move is", "the work budget was")."""
    return word in _NOUNS_TOO and (following in lexicon.FINITE or _continues_noun(following))


def is_thing(word: str) -> bool:
    """Whether a lower-case word is known for something other than a person's name."""
    return word in _known_things()


@cache
def _known_things() -> frozenset[str]:
    things = all_attributes() | vocabulary.TOPIC_HEADS | vocabulary.KIN | frozenset(vocabulary.FOODS)
    return things | lexicon.STOPWORDS | lexicon.OPENINGS


def _name_size(words: list[str]) -> int:
    """How many words a person's name at the start takes; 0 if there is none."""
    size = 0
    while size < min(2, len(words)) and words[size][0].isupper() and words[size].isalpha() and len(words[size]) > 1:
        size += 1
    first = words[0].lower()
    if not 0 < size < len(words) or is_thing(first) or is_past(first) or is_gerund(first) or first in _not_names():
        return 0
    following = words[size].lower()
    if size == 1 and first.endswith("s") and following in _PLURAL_VERBS:
        return 0
    acts = following in lexicon.FINITE or following in lexicon.ADVERBS or following.endswith(("s", "ed"))
    return size if acts else 0


@cache
def _not_names() -> frozenset[str]:
    """Words that open a sentence with a capital without being anybody's name."""
    verbs = lexicon.INFORMATIVE | lexicon.WEAK_VERBS | lexicon.CHANGING | lexicon.HABITS | frozenset(lexicon.LIKING)
    return verbs | lexicon.GENERIC_NOUNS | lexicon.EMOTIONS | lexicon.ADVERBS | frozenset(vocabulary.DIETS)
