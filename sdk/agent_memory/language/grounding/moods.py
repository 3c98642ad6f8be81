"""Moods: finds claims that state as a fact what was only asked, planned, wished, supposed, or quoted.

A clause of the talk is the home of a claim if no other clause shares more content words with it. If every home is a
question, a plan, a wish, a guess or somebody's direct speech, the claim has to say so. The words come from grammars of
English, German, French, Spanish, Italian and Portuguese.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from agent_memory.language.grounding.clauses import (
    PRONOUNS,
    SELF,
    Clause,
    clauses_of,
    content_words,
    homes_of,
    is_about_user,
)
from agent_memory.language.grounding.polarity import HEDGES, without_may, words_of
from agent_memory.language.offline.text import stem as lemma
from agent_memory.language.offline.verbs import is_past
from agent_memory.text.languages import is_foreign
from agent_memory.text.patterns import linear
from agent_memory.text.people import AS_I, MY, OWN, WE
from agent_memory.text.sentences import sentences

_HAS_TO = linear(r"\b(?:has|have|needs?|is|are)\s+to\b")
_MARKS = HEDGES | frozenset(
    """will would going gonna upcoming soon tomorrow next scheduled schedule intend intends intention aim aiming expects
    expecting expected must due supposed prepares preparing ready about ask asks asked asking question questions wonder
    whether inquired inquires seeks seeking seek curious requested requests says said heard according reportedly
    apparently supposedly allegedly rumor rumour rumored gossip thinks told claims assumes assumed guess presumably
    leaning luck chances chance memory estimate estimates estimated tentative unconfirmed unverified possible
    possibility ought must likes enjoys loves
    prefers future eventually someday inspired motivated encouraged determined committed promised promises
    agreed offered
    decided chose recommends recommended advises advised requires require required requirement rule policy
    expresses expressed wanting feeling hesitates hesitating torn remembers recalls certain
    try tries trying attempts attempting effort efforts
    hésite zögert schwankt duda esita
    will wollen möchte möchten plant planen soll sollte muss müssen fragt fragte glaubt denkt vermutet hofft würde hätte
    könnte angeblich anscheinend vielleicht wahrscheinlich vermutlich wird werden überlegt wünscht beabsichtigt
    vor ob erwägt unsicher
    quiere planea va podría pregunta preguntó debe debería cree piensa supone desea espera quizá quizás parece
    gustaría quisiera querría si posible supuestamente tal hay que
    veut prévoit pourrait demande doit devrait croit pense suppose souhaite espère voudrait aimerait envisage peut
    paraît semblerait probablement ira compte faut
    vuole vorrebbe pensa crede deve dovrebbe forse chiede potrebbe spera intende sembra
    desidera desiderano deseja wil wenst zou según dice dicen dicho selon secondo segundo laut zufolge volgens
    quer gostaria acha pensa deve talvez pergunta pretende espera parece
    pensando pensent songe twijfelt overweegt denkt sicher zeker seguro segura incerto""".split()
)
"""Words with which a claim says that it is a plan, a wish or a guess."""
_SETTLED = frozenset(
    "decided chose determined committed agreed promised must due ready likes enjoys loves prefers".split()
)
"""Those of these words with which a claim may answer a question."""
_SAME = frozenset("quit put cut set let hit shut spread bet split hurt cost read".split())
"""Verbs whose past is like their present."""
_STATES = frozenset("has owns lives works drives hat besitzt wohnt lebt tiene vive possède habite ha vit".split())
_DONE = ("é", "ée", "és", "ées", "ado", "ada", "ido", "ida", "ato", "ata", "ito", "uto")
"""How participles of Romance languages end."""
_SPEECH = linear(r"[\"“„«]([^\"“”„«»\n]{8,400})[\"”“»]|(?:^|[\s(,:])['‘]([^\n‘]{8,400}?)['’](?:[\s.,;:!?)]|$)")
_REPORTED = linear(
    r"\b(?:reads|states|steht|lautet|pone|staat)\b[^:.!?\n]{0,40}:\s+([^.!?\n]{8,400})|"
    r"\b(?:translate|summari[sz]e|proofread|paraphrase|übersetze?|traduce|traduzca|"
    r"traduis|traduisez|traduci|traduz|traduza|vertaal)\b[^:.!?\n]{0,40}:\s+([^\n]{8,400})",
    re.IGNORECASE,
)
"""Words quoted without quotation marks: "the letter reads: …", "translate: …". (Not those of "proofread my CV: …".)"""
_FOREIGN_FIRST = linear(r"^\W*\p{L}+o\b|\b(?:me|mi|soy|tengo|estoy|odio|sono|ho|sou|tenho)\b", re.IGNORECASE)
_SAID_BY_SELF = frozenset(
    """said told wrote replied answered asked shouted promised thought texted sagte schrieb dije escribí dit écrit
    motto mantra rule answer reply""".split()
)


def changed_mood(content: str, cited: Sequence[str], speaker: str) -> str | None:
    """How something was said that a claim states as a fact, such as "it was asked, not stated"; None if as a fact.

    Args:
        content: the claim.
        cited: the texts of the users' turns that it cites.
        speaker: the last speaker's name in small letters, or "user".
    """
    words = words_of(_HAS_TO.sub("must", without_may(content)))
    if not _ITALIAN.isdisjoint(words):  # "si è iscritto": elsewhere "si" is "if"
        words = [word for word in words if word != "si"]
    told = content_words(words) - content_words([speaker])
    if not told or not cited:
        return None
    clauses = [clause for text in cited for clause in clauses_of(text)]
    most, homes = homes_of(told, clauses)
    if not homes:
        return _translated(words, clauses)
    parts = sentences(cited[0])
    # Then the claim can have no other source, or none that states anything.
    alone = len(cited) == 1 and (len(parts) == 1 or all(part.rstrip().endswith("?") for part in parts))
    if most >= (1 if alone else min(2, len(told))):
        if (
            len(cited) == 1
            and all(clause.asked and _restates(told, clause, 1 if alone else 2) for clause in homes)
            # A word that the question has does not say that it is one: "does the Pro plan include it?"
            and all(_reported(clause).isdisjoint(_beside(words, clause)) for clause in homes)
        ):
            return "it was asked, not stated"
        if all(_changed(words, told, clause) and _marks(clause).isdisjoint(words) for clause in homes):
            return f"it was {homes[0].mood}, not stated"
        for part in content.split(" and ")[:_MOST_PARTS] if " and " in content else ():
            own = content_words(words_of(part)) - content_words([speaker])
            most, homes = homes_of(own, clauses)
            if most >= (1 if alone else 2) and all(
                clause.mood in ("supposed", "possible", "imagined")
                and _changed(words, own, clause)
                and _marks(clause).isdisjoint(words)
                for clause in homes
            ):
                return f"it was {homes[0].mood}, not stated"
    is_over = _is_over_too_soon(words, cited) or (most >= _SURE and _is_still_to_come(words, homes, cited))
    return "it was not said to be over" if is_over else None


_SURE = 2
"""A clause that shares this many words with a claim counts as its source. A choice."""


def _is_still_to_come(words: Sequence[str], homes: Sequence[Clause], cited: Sequence[str]) -> bool:
    """Whether the verb of a claim about the past was said of now or later, beside something else that is over."""
    start = [word for word in words[1:_FAR] if word not in _ADVERBS]
    at = next((at for at, word in enumerate(start) if is_past(word) and word not in _EMPTY_PASTS), None)
    if at is None or any(map(is_foreign, cited)) or not (_NOT_DONE | _AM).isdisjoint(start[:at]):
        return False
    verb = lemma(start[at])
    said = [pair for text in cited for pair in pairwise(["", *words_of(text)])]
    forms = [word for ahead, word in said if lemma(word) == verb and (word.endswith("s") or ahead in _WITH_VERBS)]
    plain = all(_PAST_SIGNS.isdisjoint(home.words) and not any(map(is_past, home.words)) for home in homes)
    return (
        bool(forms)
        and plain
        and verb not in _SAME
        and not any(is_past(one) or one in _SAME or one.endswith("ing") for one in forms)
    )


_AM = frozenset("was were is are gets got".split())
_WITH_VERBS = SELF | PRONOUNS | frozenset("to will can could should would must might may let's lets you they".split())


_ITALIAN = frozenset(["utente", "l'utente"])


def _reported(clause: Clause) -> frozenset[str]:
    """The words with which a claim may report a question. "Plans" is none if the question does not name the speaker."""
    return _MARKS - _SETTLED - _FUTURE - (_PLANS if SELF.isdisjoint(clause.words) else frozenset())


_PLANS = frozenset("plan plans planned planning plant planen planea prévoit pianifica planeja".split())
_MOST_PARTS = 4
"""Parts of a claim, joined by "and", that are compared on their own. A choice."""


def _is_over_too_soon(words: Sequence[str], cited: Sequence[str]) -> bool:
    """Whether a claim says in English that something was done, although the turns have no verb in the past."""
    known = [word for text in cited for word in words_of(text)]
    said = [word for one, word in pairwise(["", *known]) if one not in _TO_BE_DONE]
    if any(map(is_foreign, cited)) or not _SAME.isdisjoint(said):  # "cut" may be past
        return False
    if not _PAST_SIGNS.isdisjoint(said) or any(is_past(word) or word.endswith(_DONE) for word in said):
        return False
    start = words[1:_FAR]
    verb = next((word for word in start[:2] if word not in _ADVERBS), "") if words[:1] == ["user"] else ""
    if verb in _CHOSEN | {"picked", "selected"} and "let's" in known:
        return False
    told = [] if not _NOT_DONE.isdisjoint(start) else [word for word in start if is_past(word)]
    told = [word for word in told if word not in _EMPTY_PASTS]
    return verb in told or not set(map(lemma, told)).isdisjoint(map(lemma, known))


_NOT_DONE = frozenset("be been is are to wants should feels".split())
"""Words of a claim before a participle of something that nobody has done yet."""
_FAR = 6
"""How many words at the beginning of a claim are searched for its verb. A choice."""
_ADVERBS = frozenset("just already recently also finally once".split())
_TO_BE_DONE = frozenset("get gets getting be".split())
"""Words before a participle of something that is still to come: "gets delivered on Monday"."""
_EMPTY_PASTS = frozenset("had was were did been asked said told mentioned wondered suggested reported".split())
_PAST_SIGNS = frozenset(
    """was were had did have has 've i've we've hasn't haven't ago last yesterday since already before after done been
    back hatte war habe haben hat ist sind bin gestern seit schon he ha hemos hace fue era ayer j'ai ai a avons est ho
    sono ieri""".split()
)
"""Words with which the talk says that something is over."""


def _marks(clause: Clause) -> frozenset[str]:
    """The words with which a claim may report a clause of this mood: "will" reports a plan, not a rumour."""
    if clause.mood == "ironic":
        return _JOKING
    if clause.mood == "allowed":
        return _MARKS | _PERMITTED
    if clause.mood == "conditional":
        return (_MARKS | _CONDITIONS) - _FUTURE
    if clause.mood in ("supposed", "possible", "imagined"):
        return (_MARKS | _CONDITIONS) - _FUTURE - _DUE - _CHOSEN
    return _MARKS


_PERMITTED = frozenset("allowed permitted entitled eligible can cannot able permission licence license right".split())
_CONDITIONS = frozenset(
    """if unless case depending provided pretends pretend novel story play film movie dream
    when once otherwise condition conditional except cuando quand quando wenn falls sofern si s'il only nur solo sólo
    seulement soltanto""".split()
)
"""Words with which a claim may report what was only supposed, or made up."""
_CHOSEN = frozenset("decided chose determined committed agreed promised".split())
"""Those of `_MARKS` that say that somebody has made up their mind."""


_JOKING = frozenset(
    "ironic ironically sarcastic sarcastically jokes joked joking jokingly kidding complains complained annoyed".split()
)
_DUE = frozenset("must due policy rule require requires required requirement".split())


def _beside(words: Sequence[str], clause: Clause) -> list[str]:
    """The words of a claim whose stems a clause does not have."""
    return [word for word in words if clause.telling.isdisjoint(content_words([word]))]


_FUTURE = frozenset("will going gonna upcoming soon tomorrow next scheduled about ready wird werden va ira".split())


def _translated(words: Sequence[str], clauses: Sequence[Clause]) -> str | None:
    """How something was said that a claim, in another language than its only source, states as a fact."""
    if not clauses or any(not _marks(clause).isdisjoint(words) for clause in clauses):
        return None
    if all(clause.asked for clause in clauses):
        return "it was asked, not stated"
    mood = next((one.mood for one in clauses if one.mood in ("wished", "possible", "supposed", "imagined")), None)
    return f"it was {mood}, not stated" if mood and all(one.mood or len(one.telling) < 2 for one in clauses) else None


def _restates(told: frozenset[str], clause: Clause, fewest: int) -> bool:
    """Whether a claim adds hardly anything to a question. "My new dog" in a question counts as stated."""
    shared = told & clause.telling
    owned = [at for at, word in enumerate(clause.words) if word in OWN]
    if any(shared <= content_words(clause.words[at + 1 : at + 4]) for at in owned):
        return False
    return len(shared) >= fewest and len(shared) >= 0.6 * len(told)


def _changed(words: Sequence[str], told: frozenset[str], clause: Clause) -> bool:
    shared = told & clause.telling
    if clause.mood is None or len(shared & clause.governed) < max(1, (len(shared) + 1) // 2):
        return False
    if clause.mood not in ("planned", "ahead"):
        return True
    done = any(
        ((is_past(word) or word in _SAME) and lemma(word) == clause.verb)
        or (word.endswith(_DONE) and word[:4] == clause.verb[:4])
        or (word.removeprefix("ge")[:4] == clause.verb.removeprefix("ge")[:4] and not {"hat", "ist"}.isdisjoint(words))
        for word in words
    )
    return done or (not _STATES.isdisjoint(words) and _STATES.isdisjoint(clause.words))


def of_direct_speech(content: str, cited: Sequence[str], speaker: str) -> str | None:
    """Finds a claim about the speaker that rests on somebody else's words within quotation marks."""
    words = words_of(content)
    if speaker not in words[:3] and not is_about_user(words):
        return None
    told = content_words(words) - content_words([speaker])
    inside: set[str] = set()
    outside: set[str] = set()
    for text in cited:
        behind = 0
        reported = [found for found in _REPORTED.finditer(text) if OWN.isdisjoint(words_of(found[0].partition(":")[0]))]
        for found in _SPEECH.finditer(text) if _SPEECH.search(text) else reported:
            speech = found[1] or found[2] or ""
            frame = text[behind : text.index(speech, found.start())].rstrip("\"“„«'‘ ")
            outside |= content_words(words_of(frame))
            behind = found.end()
            own = words_of(speech)
            framed = words_of(frame)[-6:]
            mine = "i" in framed and not _SAID_BY_SELF.isdisjoint(framed)
            personal = not (AS_I | MY | WE | {"me"}).isdisjoint(own) or _FOREIGN_FIRST.search(speech)
            pasted = frame.rstrip().endswith(":")  # "Translate: …"
            (inside if framed and (personal or pasted) and not mine else outside).update(content_words(own))
        outside |= content_words(words_of(text[behind:]))
    shared = told & (inside | outside)
    return "it quotes somebody else" if shared and shared <= inside - outside else None
