"""Moods: finds claims that state as a fact what was only asked, planned, wished, supposed, or quoted.

A clause of the talk is the home of a claim if no other clause shares more content words with it. If every home is a
question, a plan, a wish, a guess or somebody's direct speech, the claim has to say so. The words come from grammars of
English, German, French, Spanish, Italian and Portuguese.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from agent_memory.language.offline.text import stem as lemma
from agent_memory.language.offline.verbs import is_past
from agent_memory.language.polarity import CLAUSE, HEDGES, NEGATORS, without_may, words_of
from agent_memory.text.patterns import linear
from agent_memory.text.sentences import sentences
from agent_memory.text.stop_words import FUNCTION_WORDS, SMALL_WORDS

_MOODS = {
    "planned": r"will|['’]ll|(?:am|is|are|['’]m|['’]re|['’]s)\s+(?:going|about|set|due)\s+to|gonna|plan(?:ning|s)?\s+"
    r"(?:to|on)|intend(?:s|ing)?\s+to|scheduled\s+to|aim(?:s|ing)?\s+to|(?:ich|wir|er|sie)\s+(?:will|wollen|werde|"
    r"werden|wird)|(?:ai|ont|avons|avez|va|vais|vont|allons)\s+l['’]intention|(?:je\s+)?vais|(?:nous\s+)?allons|"
    r"(?:on\s+)va|voy\s+a|vamos\s+a|va\s+a|van\s+a|pienso|planeo|vou|sto\s+per|ho\s+intenzione",
    "wished": r"wants?|wish(?:es)?|(?:would|['’]d)\s+(?:like|love|prefer)|dream(?:s|ing)?\s+of|would\s+be|"
    r"could\s+see\s+(?:myself|ourselves)|wouldn['’]t\s+mind|möchten?|würden?|hätten?|wünsche|quiero|queremos|quisiera|"
    r"querría|(?:me|nos)\s+(?:gustaría|encantaría)|ojalá|veux|voudrais|voulons|aimerais|aimerions|souhaite|vorrei|"
    r"vorremmo|mi\s+piacerebbe|gostaria|quero|queria",
    "due": r"should|ought\s+to|(?:have|has|need|needs)\s+to|(?:['’]ve|have|has)\s+got\s+to|gotta|"
    r"must|supposed\s+to|sollte[nst]*|muss|müssen|"
    r"müsste|soll|debería|deberíamos|debo|(?:tengo|tenemos|hay)\s+que|il\s+faut|faudrait|(?:je\s+)?(?:dois|devrais)|"
    r"devo|dovrei|devrebbe|preciso|tenho\s+(?:que|de)",
    "possible": r"might|leaning\s+towards?|(?:i|we)\s+(?:seem|vaguely)|podría\s+ser|may|"
    r"\p{L}+\s+could|considering|(?:thinking|thought)\s+(?:of|about)|tempted|toying|könnten?|"
    r"pourrai[st]|podrí?an?|potrebbe|poderia",
    "supposed": r"suspects?|reckons?|rumou?r\s+has\s+it|"
    r"with\s+(?:any|a\s+bit\s+of|some)?\s*luck|chances\s+are|il\s+se\s+peut|puede\s+que|kann\s+sein|"
    r"può\s+darsi|maybe|perhaps|possibly|probably|presumably|apparently|supposedly|allegedly|rumou?r(?:s|ed)?|gossip|"
    r"reportedly|(?:i|we)\s+(?:think|believe|guess|suppose|reckon|assume|suspect|imagine)|(?:i|we)\s+heard\s+(?:that|"
    r"he|she|they|it)|(?:i['’]m|am|not)\s+(?:(?:not|quite|entirely|totally|100%)\s+)*sure|unsure|undecided|"
    r"no\s+idea|(?:some\s+)?talk\s+of|word\s+is|on\s+the\s+fence|in\s+two\s+minds|depends|"
    r"vielleicht|womöglich|möglicherweise|vermutlich|wahrscheinlich|wohl|angeblich|anscheinend|"
    r"(?:ich|wir)\s+(?:glaube|denke|vermute|schätze|überlege|meine|glauben|denken|überlegen)|(?:glaube|denke)\s+ich|"
    r"je\s+(?:crois|pense|suppose)|j['’]imagine|il\s+paraît|peut-être|probablement|sans\s+doute|"
    r"(?:yo\s+)?(?:creo|supongo|pienso)\s+que|al\s+parecer|por\s+lo\s+visto|dicen\s+que|se\s+dice|quizás?|tal\s+vez|"
    r"a\s+lo\s+mejor|probablemente|parece|credo|penso\s+che|forse|pare|acho|talvez|misschien|"
    r"ik\s+denk",
}
_TRIGGERS = {
    mood: linear(rf"(?:^|\b|\s)(?:{_MOODS[mood]})(?:\b|\s|$)", re.IGNORECASE)
    for mood in ("supposed", "possible", "planned", "wished", "due")  # "I think I'll go" is supposed
}
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
    expresses expressed wanting feeling
    will wollen möchte möchten plant planen soll sollte muss müssen fragt fragte glaubt denkt vermutet hofft würde hätte
    könnte angeblich anscheinend vielleicht wahrscheinlich vermutlich wird werden überlegt wünscht beabsichtigt hat_vor
    vor ob erwägt unsicher
    quiere planea va podría pregunta preguntó debe debería tiene_que cree piensa supone desea espera quizá quizás parece
    gustaría quisiera querría si posible supuestamente tal hay que
    veut prévoit pourrait demande doit devrait croit pense suppose souhaite espère voudrait aimerait envisage peut
    paraît semblerait probablement ira compte faut
    vuole vorrebbe pensa crede deve dovrebbe forse chiede potrebbe spera intende sembra
    quer gostaria acha pensa deve talvez pergunta pretende espera parece""".split()
)
"""Words by which a claim says that it is no plain fact."""
_SETTLED = frozenset(
    "decided chose determined committed agreed promised must due ready likes enjoys loves prefers".split()
)
"""The marks among them with which a claim answers a question."""
_SAME = frozenset("quit put cut set let hit shut spread bet split hurt cost read".split())
"""Verbs whose past is like their present."""
_STATES = frozenset("has owns lives works drives hat besitzt wohnt lebt tiene vive possède habite ha vit".split())
_DONE = ("é", "ée", "és", "ées", "ado", "ada", "ido", "ida", "ato", "ata", "ito", "uto")
"""How participles of Romance languages end."""
_ASKING = linear(
    r"^(?:so|and|but|hey|hi|well|ok|okay|btw|oh|und|aber|y|et|,|\s)*(?:is|are|was|were|do|does|did|should|shall|can|"
    r"could|will|would|has|have|had|may|might|isn['’]t|aren['’]t|don['’]t|doesn['’]t|didn['’]t|what\s+if|how\s+about|"
    r"any\s+chance|wanna|think|ist|sind|hat|haben|soll|sollen|sollte|sollten|kann|können|könnte|wird|werden|gibt|lohnt|"
    r"est-ce|est|sont|a-t|dois|devrais|faut|peut|¿|è|sono|devo|dovrei|será|devo|é|\p{L}+-(?:je|tu|il|elle|on|nous|vous)"
    r"|\p{L}+\s+(?:ich|wir|man)\b|or\b)",
    re.IGNORECASE,
)
_WONDERING = linear(
    r"^\W*(?:what|who|how|where|when|which|why|was|wer|wie|wo|wann|welche\w*|warum|qué|quién|cómo|cuándo|cuánto|dónde|"
    r"quand|comment|où|quel\w*|combien|cosa|chi|come|quando|dove|quanto|o\s+que|quem|onde)\b",
    re.IGNORECASE,
)
"""Questions that tell nothing of who asks, unless they name what is theirs."""
_REQUESTED = linear(
    r"\byou\s+(?:please\s+)?(?:remind|note|remember|add|put|save|book|schedule|tell|write|keep)\b", re.IGNORECASE
)
"""What somebody wants to be noted is stated, though it is asked for."""
_OWN = frozenset(
    "my our mein meine meinen unser unsere mi mis nuestro nuestra mon ma mes notre nos mio mia meu minha".split()
)
_SPEECH = linear(r"[\"“„«]([^\"“”„«»\n]{8,400})[\"”“»]|(?:^|[\s(,:])['‘]([^\n‘]{8,400}?)['’](?:[\s.,;:!?)]|$)")
_FIRST_PERSON = frozenset(
    "i i'm i've i'd i'll my me we ich mein meine wir yo mi je j'ai j'aime mon ma nous io ho eu".split()
)
_FOREIGN_FIRST = linear(r"^\W*\p{L}+o\b|\b(?:me|mi|soy|tengo|estoy|odio|sono|ho|sou|tenho)\b", re.IGNORECASE)
_SAID_BY_SELF = frozenset(
    """said told wrote replied answered asked shouted promised thought texted sagte schrieb dije escribí dit écrit
    motto mantra rule answer reply""".split()
)


LONGEST_STEM = 8
"""Letters of a stem that are compared, so that forms of long words in languages without a stemmer count as one."""


@dataclass(frozen=True, slots=True)
class _Clause:
    """One clause: its words in order, the content words, its mood, the words that the mood governs, and their verb."""

    words: tuple[str, ...]
    telling: frozenset[str]
    mood: str | None
    governed: frozenset[str]
    verb: str
    asked: bool


def content_words(words: Sequence[str]) -> frozenset[str]:
    """The stems of the content words among these; irregular pasts count as their verb."""
    return frozenset(
        lemma(word.removesuffix("'s"))[:LONGEST_STEM]
        for word in words
        if word not in _EMPTY and word not in NEGATORS and len(word) > 1
    )


_EMPTY = (
    SMALL_WORDS
    | FUNCTION_WORDS
    | frozenset("user users user's nutzer nutzers usuario utilisateur l'utilisateur".split())
)


@lru_cache(maxsize=256)  # several memories cite one turn
def _clauses(text: str) -> tuple[_Clause, ...]:
    return tuple(_parsed(text))


def _parsed(text: str) -> Iterator[_Clause]:
    for sentence in sentences(text):
        asks = sentence.rstrip(" \"'”)").endswith("?")
        for part in CLAUSE.split(without_may(sentence)):
            words = words_of(part)
            if not words:
                continue
            mood, governed, verb = None, frozenset[str](), ""
            for name, trigger in _TRIGGERS.items():
                if found := trigger.search(part):
                    behind = part if name == "supposed" else part[found.end() :]
                    mood, governed = name, content_words(words_of(behind))
                    verb = next((lemma(word) for word in words_of(part[found.end() :]) if word not in _EMPTY), "")
                    break
            at = sentence if part in sentence[: len(part) + 3] else part
            asked = (
                asks
                and _REQUESTED.search(at) is None
                and (_ASKING.search(at) or (_WONDERING.search(at) and _OWN.isdisjoint(words))) is not None
            )
            yield _Clause(tuple(words), content_words(words), mood, governed, verb, asked)


def changed_mood(content: str, cited: Sequence[str], speaker: str) -> str | None:
    """What a claim makes a fact of that was none: half a sentence, or None.

    Args:
        content: the claim.
        cited: the texts of the users' turns that it cites.
        speaker: the last speaker's name in small letters, or "user".
    """
    words = words_of(without_may(content))
    told = content_words(words) - content_words([speaker])
    if not told or not cited:
        return None
    clauses = [clause for text in cited for clause in _clauses(text)]
    most = max((len(clause.telling & told) for clause in clauses), default=0)
    homes = [clause for clause in clauses if most and len(clause.telling & told) == most]
    if not homes:
        return _translated(words, clauses)
    alone = len(cited) == 1 and len(sentences(cited[0])) == 1  # then the claim can have no other source
    if most >= (1 if alone else min(2, len(told))):
        if (
            (_MARKS - _SETTLED).isdisjoint(words)
            and len(cited) == 1
            and all(clause.asked and _restates(told, clause, 1 if alone else 2) for clause in homes)
        ):
            return "it was asked, not stated"
        if all(_changed(words, told, clause) and _marks(clause).isdisjoint(words) for clause in homes):
            return f"it was {homes[0].mood}, not stated"
    return None


def _marks(clause: _Clause) -> frozenset[str]:
    """The words with which a claim may tell of a clause. "Will" tells of a plan, and not of a rumour."""
    return _MARKS - _FUTURE if clause.mood in ("supposed", "possible") else _MARKS


_FUTURE = frozenset("will going gonna upcoming soon tomorrow next scheduled about ready wird werden va ira".split())


def _translated(words: Sequence[str], clauses: Sequence[_Clause]) -> str | None:
    """What a claim in another language than its only source makes a fact of."""
    if len(clauses) != 1 or not _marks(clauses[0]).isdisjoint(words):
        return None
    if clauses[0].asked:
        return "it was asked, not stated"
    mood = clauses[0].mood
    return f"it was {mood}, not stated" if mood in ("wished", "possible", "supposed") else None


def _restates(told: frozenset[str], clause: _Clause, fewest: int) -> bool:
    """Whether a claim has little more than a question; "my new dog" in a question is stated, not asked."""
    shared = told & clause.telling
    owned = [at for at, word in enumerate(clause.words) if word in _OWN]
    if any(shared <= content_words(clause.words[at + 1 : at + 4]) for at in owned):
        return False
    return len(shared) >= fewest and len(shared) >= 0.6 * len(told)


def _changed(words: Sequence[str], told: frozenset[str], clause: _Clause) -> bool:
    shared = told & clause.telling
    if clause.mood is None or len(shared & clause.governed) < max(1, (len(shared) + 1) // 2):
        return False
    if clause.mood != "planned":
        return True
    done = any(
        ((is_past(word) or word in _SAME) and lemma(word) == clause.verb)
        or (word.endswith(_DONE) and word[:4] == clause.verb[:4])
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
        for found in _SPEECH.finditer(text):
            frame, speech = text[behind : found.start()], found[1] or found[2] or ""
            outside |= content_words(words_of(frame))
            behind = found.end()
            own = words_of(speech)
            framed = words_of(frame)[-6:]
            mine = "i" in framed and not _SAID_BY_SELF.isdisjoint(framed)
            personal = not _FIRST_PERSON.isdisjoint(own) or _FOREIGN_FIRST.search(speech)
            pasted = frame.rstrip().endswith(":")  # "Translate: …"
            (inside if framed and (personal or pasted) and not mine else outside).update(content_words(own))
        outside |= content_words(words_of(text[behind:]))
    shared = told & (inside | outside)
    return "it quotes somebody else" if shared and shared <= inside - outside else None


def is_about_user(words: Sequence[str]) -> bool:
    """Whether a claim begins with "the user", in one of six languages."""
    return not _USER.isdisjoint(words[:2])


_USER = frozenset(
    """user nutzer nutzerin benutzer benutzerin anwender usuario usuaria utilisateur l'utilisateur utilisatrice
    l'utilisatrice utente l'utente usuário usuária""".split()
)
