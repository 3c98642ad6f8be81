"""Whether the words of a memory follow from the talk that it cites: its figures, dates, names, negations and doubts.

A quote shows only that somebody said something. "Marta's budget is €80,000" may quote "I have €18,000 for it" letter
by letter. So every word that a reader would act on has to be found in the quote, in the turns that the memory cites,
or in the turns just before them; a date may also follow by our own arithmetic (`text.dates`). All checks would rather
miss a wrong memory than refuse a right one: `benchmarks/support.py` counts both.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, pairwise

from agent_memory.language.grounding.anchors import out_of_place
from agent_memory.language.grounding.assents import is_no, not_agreed
from agent_memory.language.grounding.bearers import of_other_bearer, of_other_owner
from agent_memory.language.grounding.bounds import wrong_bound
from agent_memory.language.grounding.clauses import USER
from agent_memory.language.grounding.contrasts import contrasts, of_other_kin, of_relative
from agent_memory.language.grounding.corrections import corrected
from agent_memory.language.grounding.elsewhere import of_other_turn, refers_back
from agent_memory.language.grounding.measures import unsaid_figures, with_digits, wrong_unit
from agent_memory.language.grounding.moods import changed_mood, of_direct_speech
from agent_memory.language.grounding.parties import of_another, of_bystander, of_speaker, turned_round
from agent_memory.language.grounding.polarity import added_not, changed_polarity, words_of
from agent_memory.language.grounding.reasons import other_reason
from agent_memory.language.grounding.reversals import is_turned_comparison, reversed_sides
from agent_memory.language.grounding.said_dates import Spoken, without_dates, years_since
from agent_memory.language.grounding.said_names import NO_NAMES, unsaid_name, with_acronyms
from agent_memory.language.grounding.tenses import other_time
from agent_memory.language.offline.verbs import is_past
from agent_memory.text.folding import folded
from agent_memory.text.names import names
from agent_memory.text.patterns import WORD, linear
from agent_memory.text.people import AS_I, KIN, MY, WE
from agent_memory.text.sentences import sentences
from agent_memory.text.stems import stem
from agent_memory.text.stop_words import SMALL_WORDS

NOT_STATED = frozenset(
    {
        "it was asked, not stated",
        "it quotes somebody else",
        "only the agent said it",
        "it was said in another turn",
    }
)
"""The reasons of `why_unsupported` with which the quoted words make no memory either."""


def why_unsupported(
    content: str, quote: str, cited: Sequence[Spoken], before: Sequence[Spoken] = (), time_phrase: str | None = None
) -> str | None:
    """The first reason why the talk does not support a memory, such as "nobody said Oslo"; None if it supports all.

    Args:
        content: the memory's sentence.
        quote: the words that it quotes, as they stand in one of the cited turns.
        cited: the turns that it cites.
        before: the turns just before them, which say what "it" or "there" means.
        time_phrase: the words of a time that the memory resolves, found in a cited turn.
    """
    content, quote = _THE_USER.sub(_capital, _plain(content)), _plain(quote)
    if len(content) > LONGEST_READ:
        return _TOO_LONG
    cited = [replace(turn, text=corrected(_around(_plain(turn.text), quote))) for turn in cited]
    by_user = [(_speaker(turn), turn.text) for turn in cited if turn.is_user]
    users = [text for _, text in by_user]
    quote = corrected(quote)
    before = [replace(turn, text=_plain(turn.text)[-LONGEST_READ:]) for turn in before]
    said = _spoken_in([*cited, *before])
    quoted = _quoted([turn.text for turn in cited], quote)
    speaker = _speaker(cited[-1]) if cited else "user"
    heard = [*cited, *before] if refers_back(cited, before) else cited
    undated, invented = without_dates(content, heard, _spoken_in(heard), time_phrase, [*before, *cited])
    is_converse = is_turned_comparison(content, quoted, same=False)  # "A has more than B", which has less than A
    near = " ".join([_spoken_in(heard), *(turn.name or "" for turn in before), *years_since(heard)])
    people = _people(heard, before)
    return (
        invented
        or unsaid_figures(undated, quoted, near)
        or wrong_unit(undated, said)
        or _two_scripts(content, said)
        or unsaid_name(undated, near)
        or of_other_turn(content, cited, before)
        or _owner(content, cited if any(turn.name for turn in heard) else heard)
        or (None if is_converse else _swapped(content, quoted, speaker))
        or changed_polarity(content, quoted, _spoken_in(_without_denied([*before, *cited])))
        or out_of_place(with_acronyms(content, quoted), quoted)
        or other_reason(content, quoted, _spoken_in(cited), _spoken_in(before))
        or wrong_bound(undated, quoted)
        or contrasts(content, quoted, said)
        or reversed_sides(content, quoted)
        or of_other_kin(content, " ".join(users), _spoken_in(before))
        or of_relative(content, quoted, speaker)
        or of_another(content, by_user if len(cited) > 1 else [(name, quoted) for name, _ in by_user])
        or of_bystander(content, users, speaker)
        or of_other_bearer(content, by_user, speaker, people)
        or of_other_owner(content, by_user, speaker)
        or of_speaker(content, users, speaker, people)
        or (None if is_converse else turned_round(content, quoted, speaker))
        or of_direct_speech(content, users, speaker)
        or changed_mood(content, users, speaker)
        or not_agreed(content, cited, before)
        or other_time(content, quoted)
    )


def _plain(text: str) -> str:
    return with_digits(_GROUPED.sub(r"\1\2", _TITLE.sub(r"\1", folded(text))))


_GROUPED = linear(r"\b(\d{1,3})[ \x{202f}](\d{3}\s?(?:€|eur\b|euros?\b|chf\b|dollars?\b))", re.IGNORECASE)
"""The space between thousands: "2 400 euros"."""
_THE_USER = linear(rf"^(?:the|der|die|el|la|de|il|lo|le|o|a) ({'|'.join(sorted(USER))})\b", re.IGNORECASE)
"""How most models begin a claim about the user; the checks read it without the article."""


def _capital(found: re.Match[str]) -> str:
    return found[1].capitalize()


def _spoken_in(turns: Sequence[Spoken]) -> str:
    return " \n".join(f"{turn.name or ''}: {turn.text}" for turn in turns)


def _speaker(turn: Spoken) -> str:
    """The first name of a turn's speaker in small letters, or "user"."""
    return next(iter(words_of(turn.name or "")), "user")


def _without_denied(turns: Sequence[Spoken]) -> list[Spoken]:
    """The turns without the questions to which the next turn says no: what they ask was denied."""
    return [
        turn
        for turn, reply in pairwise([*turns, None])
        if turn and not (reply and "?" in turn.text and not turn.is_user and is_no(words_of(reply.text)))
    ]


_TITLE = linear(r"\b(Prof|Dr|Mr|Mrs|Ms|St|Sr|Sra|Mme|Fr|Hr|Jr)\.")
"""Abbreviated titles, whose full stop does not end a sentence."""


def _people(heard: Sequence[Spoken], before: Sequence[Spoken]) -> frozenset[str]:
    """The names of the speakers and of the people they mention, in small letters."""
    speakers = [word for turn in (*heard, *before) for word in words_of(turn.name or "")[:1]]
    return frozenset([*speakers, *(name.casefold() for turn in heard for name in names(turn.text))])


def _two_scripts(content: str, said: str) -> str | None:
    """A word that mixes look-alike letters of two alphabets and that nobody wrote: it hides another word."""
    for word in WORD.findall(content):
        if _LATIN.search(word) and _LOOKALIKES.search(word) and word not in said:
            return f"nobody said {word}"
    return None


_LATIN, _LOOKALIKES = linear(r"\p{Latin}"), linear(r"\p{Cyrillic}|[αοριυκνΑΒΕΖΗΙΚΜΝΟΡΤΥΧ]")


def why_unsaid(text: str, heard: Sequence[Spoken], *, subject: bool = False) -> str | None:
    """The first date, figure, unit or name that is in none of the texts a line was made of; None if there is none.

    For lines that put together what several turns or memories say, such as those of a summary or a profile. With
    `subject`, a whole sentence: who is said to do or have something must be named in the texts.
    """
    line = folded(text)
    if len(line) > LONGEST_READ:
        return _TOO_LONG
    said = " \n".join(f"{one.name or ''}: {folded(one.text)}" for one in heard)
    undated, invented = without_dates(line, heard, said, None)
    unnamed = invented or unsaid_figures(undated, "", said) or wrong_unit(undated, said) or unsaid_name(line, said)
    return unnamed or (_owner(line, heard) if subject else None) or added_not(line, said)


LONGEST_READ = 4_000
"""Characters that are read of a cited turn (those around the quote), or of a turn before it (its last ones). So the
cost of a check does not grow with the turn. A longer memory is refused, because its rest would not be checked."""
_TOO_LONG = f"it has more than {LONGEST_READ:,} characters"


def _around(text: str, quote: str) -> str:
    """The part of a long text around a quote."""
    if len(text) <= LONGEST_READ:
        return text
    start = max(0, text.find(quote) - LONGEST_READ // 2)
    return text[start : start + LONGEST_READ]


def _quoted(texts: Sequence[str], quote: str) -> str:
    """The sentences of these texts of which a quote has a part, or the whole; the quote itself if there are none."""
    wanted = _bare(folded(quote))
    parts = [part for text in texts for part in sentences(text)] if wanted else []
    return " ".join(part for part in parts if wanted in _bare(part) or _bare(part) in wanted) or quote


def _bare(text: str) -> str:
    return text.casefold().strip(" .!?,;:\"'")


# --- who and whom -------------------------------------------------------------------------------------------


def _owner(content: str, cited: Sequence[Spoken]) -> str | None:
    """Somebody whom nobody named, and to whom the claim ascribes what the speaker said of themselves."""
    found = _SUBJECT.match(content)
    if found is None:
        return None
    subject, verb = found[1].casefold(), found[2]
    if verb and not (verb in _SAYING or (len(verb) > 3 and verb.endswith(("s", "ed"))) or is_past(verb)):
        return None
    known = {stem(word.removesuffix("'s")) for turn in cited for word in words_of(f"{turn.name or ''} {turn.text}")}
    if subject in NO_NAMES or subject in SMALL_WORDS or stem(subject) in known or subject.endswith("ing"):
        return None
    if any(len(word) >= 4 and subject.startswith(word) for word in known):  # "prod" is production
        return None
    return f"nobody said {found[1]}"


_SUBJECT = linear(r"(\p{Lu}\p{Ll}[\w\p{M}]*)(?:['’]s|\s(\p{Ll}{2,}))\s")
_SAYING = frozenset("is was has had quit will would does did must can might may should".split())
"""Verbs after the name at the beginning of a claim, besides those whose form shows it."""


def _swapped(content: str, quoted: str, speaker: str) -> str | None:
    """Two people who were swapped around the same verb of one sentence."""
    parts = sentences(quoted)[:_MOST_PEOPLE]
    return next((why for part in parts if (why := _swapped_in(content, part, speaker))), None)


def _swapped_in(content: str, quoted: str, speaker: str) -> str | None:
    told = [word.removesuffix("'s") for word in words_of(content)]
    parts = [[*words_of(part), ","] for part in quoted.split(", ")]
    said = [speaker if word in AS_I | MY | WE | _TO_ME else word.removesuffix("'s") for part in parts for word in part]
    if "by" in told or "by" in said:
        return None
    known = {speaker, *_capitals(quoted), *KIN}.intersection(said)
    people = [(at, word) for at, word in enumerate(told) if word in known]
    told_verbs, said_verbs = _verbs(told), _verbs(said)
    certain = {speaker, *KIN, *(name.casefold() for name in (*names(content), *names(quoted)))}
    pairs = combinations([person for person in people if person[1] in certain][:_MOST_PEOPLE], 2)
    for (at, one), (behind, two) in (*pairwise(people), *pairs):
        place, verb = told_verbs[at + 1]
        if one == two or verb is None or verb in _KIN_STEMS or place >= behind:
            continue
        if _joined(said, said_verbs, two, one, verb) and not _joined(said, said_verbs, one, two, verb):
            return f"{one} and {two} changed places"
    return None


_KIN_STEMS = frozenset(map(stem, KIN))
_NO_VERBS = SMALL_WORDS | {","}
_TO_ME = frozenset("me mir mich".split())
_MOST_PEOPLE = 6
"""People of a claim that are compared: a claim with more of them is a list. A choice."""


def _capitals(text: str) -> set[str]:
    return {name.casefold() for name in (*names(text), *WORD.findall(text)[:1])}


def _verbs(words: Sequence[str]) -> list[tuple[int, str | None]]:
    """For each position, and for the end: the position of the next content word, and its stem."""
    found: list[tuple[int, str | None]] = [(len(words), None)]
    for at in range(len(words) - 1, -1, -1):
        word = words[at]
        found.append(found[-1] if word in _NO_VERBS or word.isdigit() else (at, stem(word)))
    return found[::-1]


def _joined(words: Sequence[str], verbs: Sequence[tuple[int, str | None]], one: str, two: str, verb: str) -> bool:
    """Whether one comes before the other in the words, and this verb is the first one between them.

    The other does not begin a clause: "I run, Ann swims".
    """
    last = max((at for at, word in enumerate(words) if word == two and words[at - 1 : at] != [","]), default=-1)
    found = (verbs[at + 1] for at, word in enumerate(words) if word == one)
    return any(first == verb and place < last for place, first in found)
