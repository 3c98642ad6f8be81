"""Assents: finds claims about the user that only the agent said, and to which the user did not agree.

An agent asks, suggests and supposes. What it says counts as the user's if the user repeats it or says yes to it. "Not
sure", "let me think" and a question in return are not a yes, and a bare yes answers only the last question.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from agent_memory.language.grounding.clauses import content_words
from agent_memory.language.grounding.polarity import AGAINST, NEGATORS, words_of
from agent_memory.language.grounding.said_dates import Spoken
from agent_memory.text.languages import is_foreign
from agent_memory.text.patterns import linear
from agent_memory.text.sentences import sentences

_REPLY = frozenset(
    """yes yeah yep yup right exactly correct sure true indeed absolutely definitely ok okay fine done agreed perfect
    that's thats ja genau stimmt oui exact sí si claro vale sim certo no nope nah""".split()
)


def not_agreed(content: str, cited: Sequence[Spoken], before: Sequence[Spoken]) -> str | None:
    """Why a claim may not rest on the agent's words: the user did not agree to them. None if it may.

    Args:
        content: the claim.
        cited: the turns that it cites.
        before: the turns just before them.
    """
    by_user = [turn.text for turn in cited if turn.is_user]
    by_agent = [turn.text for turn in (*cited, *before) if not turn.is_user]
    if not by_user or not by_agent:
        return None
    return (
        _deferred(content, by_user, by_agent, [turn.text for turn in before if turn.is_user])
        or _denied_value(content, by_user, by_agent)
        or _refused(content, cited, before)
        or _other_choice(content, cited, before)
        or _not_the_question(content, cited, before)
    )


_DEFERS = linear(
    r"\b(?:not sure|no idea|let me (?:think|check|ask|talk|see|sleep)|let['’]s (?:park|wait|see)|think about it|"
    r"i['’]ll (?:read|look|think|consider|check|ask|see)|"
    r"vou (?:pensar|ver)|(?:ich|mal) (?:überlege|schaue?n?|sehen)|réfléchi\p{L}*|on verra|je vais voir|"
    r"lo pensaré|lo miraré|ya veré|me lo pienso|ci penso|vedremo|vediamo|(?:ik )?denk er|"
    r"still (?:looking|deciding|thinking|comparing|choosing|weighing)|(?:have|has)n['’]t decided|maybe|perhaps|"
    r"later)\b|"
    r"\?\s*$",
    re.IGNORECASE,
)
"""Ways to reply without a yes, a question in return among them."""
_HEARS = linear(r"\b(?:(?:good|nice) to know|interesting)\b", re.IGNORECASE)
"""Other such replies, which mean a yes if one stands beside them: "Interesting, yes"."""
_OPENS = frozenset(
    "user user's chose chosen decided decides goes wants follows prefers named uses has the buys bought buy".split()
)
"""Words with which a claim says that a suggestion was accepted."""
_PARTS = linear(r",\s|\sand\s|;\s")
_SPOKEN_FULLY = 5
"""The fewest words of a reply that says more than yes. A choice."""


def _deferred(content: str, by_user: Sequence[str], by_agent: Sequence[str], earlier: Sequence[str]) -> str | None:
    """Finds a part of a claim whose words are the agent's, if the user put it off or spoke of something else."""
    own = content_words(words_of(" ".join([*by_user, *earlier])))
    theirs = content_words(words_of(" ".join(by_agent)))
    reply = words_of(by_user[-1])
    replied = content_words(reply)
    hears = _HEARS.search(by_user[-1]) is not None and _YES.isdisjoint(reply)
    defers = hears or _DEFERS.search(by_user[-1]) is not None
    elsewhere = (
        _REPLY.isdisjoint(reply[:1])
        and len(reply) >= _SPOKEN_FULLY
        and not any(text.rstrip().endswith("?") for text in by_agent)
    )
    passes = (
        len(replied) >= 2 and len(reply) >= _SPOKEN_FULLY and _TAKING_UP.isdisjoint(reply) and _YES.isdisjoint(reply)
    )
    for part in _PARTS.split(content):
        told = content_words([word for word in words_of(part) if word not in _OPENS])
        only = told & theirs - own
        if defers and 2 * len(only) > len(told) and told.isdisjoint(replied):
            return "the user did not agree to it"
        if elsewhere and len(told) >= 2 and told <= theirs and told.isdisjoint(own):
            return "only the agent said it"
        supposed = [
            one for text in by_agent for one in sentences(text) if _OF_YOU.search(one) and not one.endswith("?")
        ]
        if passes and told and any(told <= content_words(words_of(one)) for one in supposed) and told.isdisjoint(own):
            return "only the agent said it"
    return None


_OF_YOU = linear(
    r"\b(?:you['’]re|you are|you have|you['’]ve|you (?:like|love|hate|prefer|live|work|own)|your|du bist|du hast|"
    r"sie sind|sie haben|tu es|tu as|vous êtes|vous avez|eres|tienes|sei|hai|você é|você tem|je bent|je hebt)\b",
    re.IGNORECASE,
)
"""What an agent says of the user."""
_YES = frozenset(
    """yes yeah yep yup right exactly correct true indeed absolutely definitely agreed that's ja genau stimmt richtig
    oui exact sí si claro exacto certo esatto sim""".split()
)


def _denied_value(content: str, by_user: Sequence[str], by_agent: Sequence[str]) -> str | None:
    """Finds a figure that only the agent said, if the user's reply denies something and the claim does not."""
    reply = words_of(" ".join(by_user))
    told = [word for word in words_of(content) if word[:1].isdigit() and word not in reply]
    if _brings(content, by_user[-1]):
        return None
    known = words_of(" ".join(by_agent))
    plain = NEGATORS.isdisjoint(words_of(content))
    denies = _REPLY.isdisjoint(reply[:1]) and plain and not NEGATORS.isdisjoint(reply)
    # "No, rather the 22nd": the reply has a figure of its own.
    denies = denies or (plain and is_no(reply) and any(word[:1].isdigit() for word in reply))
    return "the user did not agree to it" if denies and any(word in known for word in told) else None


def _brings(content: str, reply: str) -> bool:
    """Whether a claim has a figure of the reply, such as the 22 of "No, the 22nd"."""
    return not set(_DIGITS.findall(content)).isdisjoint(_DIGITS.findall(reply))


_DIGITS = linear(r"\d+")
_NO = frozenset("no nope nah nein nee non não".split())


def is_no(reply: Sequence[str]) -> bool:
    """Whether a reply with these words begins with a "no"."""
    return not _NO.isdisjoint(reply[:1])


_NO_NO = frozenset("doubt problem problems worries idea".split())
"""Words after which a "no" denies nothing: "No doubt"."""
_OPEN_QUESTION = frozenset(
    """or what which who whom whose where when why how oder was welche welcher welches wer wen wem wo wann warum wie o
    qué cuál cuáles quién dónde cuándo cómo ou quel quelle quels quelles qui où quand comment pourquoi che cosa quale
    chi dove quando come qual quem onde of wat welk welke wie waar wanneer hoe""".split()
)
"""Words of questions to which "no" is no answer, or none to all of it."""
_LIMITED = frozenset("only just instead other solo sólo nur seulement soltanto só apenas alleen rather former".split())


def _questions_before(turn: Spoken, talk: Sequence[Spoken]) -> list[str]:
    """The questions of the agent's turn to which a user's turn replies."""
    last = talk[: talk.index(turn)][-1:]
    return [one for said in last if not said.is_user for one in sentences(said.text) if one.rstrip().endswith("?")]


def _refused(content: str, cited: Sequence[Spoken], before: Sequence[Spoken]) -> str | None:
    """Finds "has a truck licence" if the user said "no, for cars" to "do you have a truck licence?"."""
    users = [turn for turn in cited if turn.is_user]
    reply = words_of(users[-1].text)
    if not is_no(reply) or not _NO_NO.isdisjoint(reply[1:2]):
        return None
    asked = _questions_before(users[-1], [*before, *cited])
    question = words_of(asked[0]) if len(asked) == 1 else []
    words = words_of(content)
    if not question or not (NEGATORS | _OPEN_QUESTION).isdisjoint(question):
        return None
    if not (NEGATORS | _LIMITED | AGAINST - set(question)).isdisjoint(words) or _brings(content, users[-1].text):
        return None
    told, about = content_words([word for word in words if word not in _OPENS]), content_words(question)
    # What the reply says beside its "no" may be the claim.
    if len(told & about) < min(2, len(told)) or not told.isdisjoint(content_words(words_of(users[-1].text))):
        return None
    return "the user did not agree to it"


_EITHER = linear(r"(\p{L}{3,}) (?:or|oder|o|ou|of) (?:an? |the )?(\p{L}{3,})", re.IGNORECASE)


def _other_choice(content: str, cited: Sequence[Spoken], before: Sequence[Spoken]) -> str | None:
    """Finds "prefers a window seat" if the user said "aisle" to "window or aisle?"."""
    users = [turn for turn in cited if turn.is_user]
    told, reply = content_words(words_of(content)), content_words(words_of(users[-1].text))
    for question in _questions_before(users[-1], [*before, *cited]) if NEGATORS.isdisjoint(words_of(content)) else ():
        for pair in _EITHER.findall(question):
            one, other = (content_words([word.casefold()]) for word in pair)
            for chosen, left in ((one, other), (other, one)):
                if chosen and chosen <= reply - told and left and left <= told - reply:
                    return "the user chose the other one"
    return None


_BARE = frozenset("yes yeah yep sure ok okay please thing do that sounds good great fine of course".split())
_TAKING_UP = frozenset("it that this them these those one so ahead".split())
"""Words with which a question refers to what was said before it: "shall I book it?"."""


def _not_the_question(content: str, cited: Sequence[Spoken], before: Sequence[Spoken]) -> str | None:
    """Finds a claim that rests on a bare yes to a question about something else."""
    users = [turn for turn in cited if turn.is_user]
    if len(users) != 1 or not set(words_of(users[0].text)) <= _BARE:
        return None
    asked = _questions_before(users[0], [*before, *cited])
    question = words_of(asked[-1]) if asked else []
    about = content_words(question)
    if len(about) < 2 or is_foreign(asked[-1]) or not _TAKING_UP.isdisjoint(question):
        return None
    told = content_words([word for word in words_of(content) if word not in _OPENS])
    return "it was not the question" if told and told.isdisjoint(about) else None
