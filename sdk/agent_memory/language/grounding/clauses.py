"""Clauses: reads what was said, clause by clause, for the checks of a model's memories.

A clause has its words, the person whom it is about if that is not the speaker, and its mood: whether it was asked,
planned, wished, supposed or imagined. The word lists come from grammars of English, German, French, Spanish, Italian
and Portuguese.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from agent_memory.language.grounding.conditions import on_condition
from agent_memory.language.grounding.polarity import CLAUSE, EMPTY, HEDGES, NEGATORS, without_may, words_of
from agent_memory.language.offline.text import stem as lemma
from agent_memory.language.offline.verbs import is_past
from agent_memory.text.dates import DAYS
from agent_memory.text.patterns import WORD, linear
from agent_memory.text.people import AS_I, KIN, ME, MY, OUR, OWN, SAME_KIN, WE
from agent_memory.text.sentences import sentences
from agent_memory.text.stop_words import FUNCTION_WORDS, SMALL_WORDS

LONGEST_STEM = 8
"""Letters of a stem that are compared, so that forms of long words in languages without a stemmer count as one."""


USER = frozenset(
    """user nutzer nutzerin benutzer benutzerin anwender usuario usuaria utilisateur l'utilisateur utilisatrice
    l'utilisatrice utente l'utente usuário usuária utilizador utilizadora gebruiker gebruikster""".split()
)
"""What claims call the user, in seven languages."""


def stems_of(texts: Iterable[str]) -> frozenset[str]:
    """The stems of the content words of texts."""
    return content_words(words_of(" ".join(texts)))


def content_words(words: Sequence[str]) -> frozenset[str]:
    """The stems of the content words among these; irregular pasts count as their verb."""
    return frozenset(
        lemma(word.removesuffix("'s"))[:LONGEST_STEM]
        for word in words
        if word not in _EMPTY and word not in NEGATORS and len(word) > 1
    )


_EMPTY = EMPTY | USER | {"users", "user's", "nutzers"}


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause of a talk.

    Attributes:
        words: Its words in order, without a leading "and" or "but".
        telling: The stems of its content words.
        mood: Why it is not a plain fact: it is planned, ahead (still to come), allowed, wished, due, possible,
            supposed, imagined, conditional or ironic. None if it is one.
        governed: The stems of the words to which the mood applies.
        verb: The stem of the first of these words, in the order of the clause.
        asked: Whether it is a question.
        party: The person whom it is about, if that is not the speaker.
        owner: The person whose relative the party is; the party itself if it is a name.
        begins: Whether it is the first clause of its sentence.
    """

    words: tuple[str, ...]
    telling: frozenset[str]
    mood: str | None
    governed: frozenset[str]
    verb: str
    asked: bool
    party: str | None
    owner: str | None
    begins: bool


@lru_cache(maxsize=256)  # several memories cite one turn
def clauses_of(text: str) -> tuple[Clause, ...]:
    """The clauses of a text, in order."""
    return tuple(_parsed(text))


def homes_of(told: frozenset[str], clauses: Iterable[Clause]) -> tuple[int, list[Clause]]:
    """The most stems that any clause shares with a claim, and the clauses that share that many; (0, []) if none do."""
    found = [(len(clause.telling & told), clause) for clause in clauses]
    most = max((number for number, _ in found), default=0)
    return most, [clause for number, clause in found if number == most and most]


def _parsed(text: str) -> Iterator[Clause]:
    for sentence in sentences(text):
        asks = sentence.rstrip(" \"'”)").endswith("?")
        party = owner = None
        surprised = asks and _SURPRISED.search(sentence) is not None
        frame = next((mood for mood, frame in _FRAMES.items() if frame.search(sentence)), None)
        mood, governed, verb = _mood("")
        begins = True
        parts = list(_parts(without_may(sentence)))
        conditional = on_condition(parts)
        for at, (gap, part) in enumerate(parts):
            joined = gap in _AND
            words = words_of(part)
            while words and words[0] in _LEADING:
                words = words[1:]
            if not words:
                continue
            if (found := _party(words, part, joined=joined)) is not None:
                party, owner = found
            elif words[0] in SELF or not words[0].endswith(("s", "ed")):
                party = owner = None
            earlier, (mood, governed, verb) = mood, _mood(part)
            governs = (joined and words[0] not in SELF | PRONOUNS) or (earlier and _depends(words))
            if frame or (mood is None and governs):
                # "We might sell the car and the boat.", "Ich überlege, den Kurs abzubrechen."
                mood, governed = frame or earlier, content_words(words)
            if at in conditional and mood not in _DOUBTED:
                mood, governed = "conditional", content_words(words)
            whole = sentence if part in sentence[: len(part) + 3] else part
            asked = surprised or (asks and _asks(whole, words))
            yield Clause(tuple(words), content_words(words), mood, governed, verb, asked, party, owner, begins)
            begins = False


def _parts(sentence: str) -> Iterator[tuple[str, str]]:
    """The clauses of a sentence, each with what joins it to the one before: a comma, or a word such as "and"."""
    at, joint = 0, ""
    for gap in CLAUSE.finditer(sentence):
        yield joint, sentence[at : gap.start()]
        at, joint = gap.end(), gap[0].casefold().strip()
    yield joint, sentence[at:]


_AND = frozenset("and und et y e".split())


def _depends(words: Sequence[str]) -> bool:
    """Whether a clause depends on the one before it: "ob …", "… zu gehen"."""
    return words[0] in _SUBORDINATING or "zu" in words[-2:] or (words[-1].endswith("en") and "zu" in words[-1][2:6])


_SUBORDINATING = frozenset("ob dass whether that of dat que si che se".split())


def _mood(part: str) -> tuple[str | None, frozenset[str], str]:
    for name, trigger in _TRIGGERS.items():
        if found := trigger.search(part):
            behind = words_of(part[found.end() :])
            verb = next((lemma(word) for word in behind if word not in _EMPTY), "")
            return name, content_words(words_of(part) if name == "supposed" else behind), verb
    return None, frozenset(), ""


def _asks(at: str, words: Sequence[str]) -> bool:
    if _REQUESTED.search(at):
        return False
    return (_ASKING.search(at) or (_WONDERING.search(at) and OWN.isdisjoint(words))) is not None


def is_about_user(words: Sequence[str]) -> bool:
    """Whether a claim begins with "the user", in one of seven languages."""
    return not USER.isdisjoint(words[:2])


# --- moods ---

_MOODS = {
    "planned": r"(?:promis(?:e|es|ed)|offer(?:s|ed)?|agreed?|threaten(?:s|ed)?|vow(?:s|ed)?)\s+to|"
    r"will|['’]ll|(?:am|is|are|was|were|['’]m|['’]re|['’]s)\s+(?:going|about|set|due)\s+to|gonna|plan(?:ning|s)?\s+"
    r"(?:to|on)|(?:try|tries|trying|attempt|attempting)\s+to|intend(?:s|ing)?\s+to|scheduled\s+to|aim(?:s|ing)?\s+to|(?:ich|wir|er|sie)\s+(?:will|wollen|werde|"
    r"werden|wird)|(?:ai|ont|avons|avez|va|vais|vont|allons)\s+l['’]intention|(?:je\s+)?vais|(?:nous\s+)?allons|"
    r"(?:on\s+)va|(?:je|on|nous)\s+comp(?:te|tons)|next\s+(?:up|on\s+(?:my|our)\s+list)|to-?do|voy\s+a|vamos\s+a|va\s+a|van\s+a|pienso|planeo|vou|sto\s+per|ho\s+intenzione",
    "allowed": r"(?:allowed|permitted|entitled|eligible)\s+to",
    "wished": r"wants?|wish(?:es)?|(?:would|['’]d)\s+(?:like|love|prefer)|dream(?:s|ing)?\s+of|would\s+be|"
    r"could\s+see\s+(?:myself|ourselves)|wouldn['’]t\s+mind|möchten?|würden?|hätten?|wünsche|quiero|queremos|quisiera|"
    r"querría|(?:me|nos)\s+(?:gustaría|encantaría)|ojalá|veux|voudrais|voulons|aimerais|aimerions|souhaite|vorrei|"
    r"vorremmo|mi\s+piacerebbe|gostaria|quero|queria",
    "due": r"should|ought\s+to|(?:have|has|need|needs)\s+to|(?:['’]ve|have|has)\s+got\s+to|gotta|"
    r"must|supposed\s+to|sollte[nst]*|muss|müssen|"
    r"müsste|soll|debería|deberíamos|debo|(?:tengo|tenemos|hay)\s+que|il\s+faut|faudrait|(?:je\s+)?(?:dois|devrais)|"
    r"devo|dovrei|devrebbe|preciso|tenho\s+(?:que|de)",
    "imagined": r"(?:let['’]s\s+)?pretend(?:ing)?|^\s*say\s+(?:i|we)(?:\s|['’])|"
    r"(?:i|we|you|he|she|they)['’]d\s+(?:be|have|go|do|get|need|take|buy|make|live|study|use|want|move|"
    r"choose|pick|give|keep|find|never|not|still|probably)|would(?:\s+(?:not|never|have|probably|be|still))*\s+\p{L}+|if\s+(?:i|we|he|she|they|it|you)\s+"
    r"(?:had|were|won|could|knew|lived|did)|had\s+(?:i|we|he|she|they)|let['’]s\s+say|imagine|suppose|supposing|assuming|"
    r"hypothetically|what\s+if|angenommen|würden?|hätten?|wären?|bräuchten?|stell\s+dir\s+vor|supongamos|imagínate|"
    r"(?:habría|tendría|sería|haría|iría|compraría|tuviera|tuviese)|supposons|imaginons|"
    r"si\s+(?:yo\s+)?\p{L}{2,}(?:[aei]ra|[aei]ras|ramos|[aei]ran|[aei]se|semos|[aei]sen)|"
    r"s[ei]\s+(?:eu\s+|io\s+)?\p{L}{2,}(?:ssi|sse|ssimo|ssero|ssemos|ssem)|"
    r"si\s+(?:je\s+|j['’]|on\s+|nous\s+)\p{L}{2,}(?:ais|ait|ions)|"
    r"\p{L}+(?:rais|rions|raient)|serait|aurait|si\s+j['’](?:avais|étais)|mettiamo|\p{L}+(?:rebbe|rebbero|remmo)|"
    r"se\s+(?:avessi|fossi)|teria|seria|se\s+eu",
    "ahead": r"tomorrow|next\s+(?:week|month|year|spring|summer|autumn|fall|winter)|"
    r"(?:nächste[nrs]?|kommende[nrs]?)\s+\p{L}+|prochaine?|próxim[oa]|prossim[oa]|demain",
    "possible": r"(?:ob|whether|si|se)\s+(?:ich|wir|er|sie|es|i|we|he|she|they|je|on|io)|there['’]s\s+"
    r"an?\s+(?:\S+\s+)?(?:chance|possibility)|might|torn\s+between|half\s+a\s+mind|"
    r"in\s+case\s+(?:i|we|he|she|they)|i\s+wonder\s+(?:how|what|when|where|who|why|which)|hesitating|hésit(?:e|ons|es)|dudo|dudamos|schwanken?|"
    r"leaning\s+towards?|(?:i|we)\s+(?:seem|vaguely)|podría\s+ser|may|"
    r"\p{L}+\s+could|considering|(?:thinking|thought)\s+(?:of|about)|tempted|toying|könnten?|"
    r"pourrai[st]|podrí?an?|potrebbe|poderia|(?:estoy|estamos)\s+pensando|(?:sto|stiamo)\s+pensando|pens(?:o|iamo)\s+di|"
    r"(?:estou|estamos)\s+(?:a\s+pensar|pensando)|twijfel(?:en)?|overwe(?:eg|gen)|(?:ik|we)\s+den(?:k|ken)\s+erover",
    "supposed": r"it\s+(?:seems|looks|sounds|appears)\s+(?:like|as|that)|not\s+(?:a\s+hundred\s+percent|100\s?%)|"
    r"(?:have|got)\s+a\s+(?:feeling|hunch)|ich\s+habe\s+das\s+gefühl|"
    r"j['’]ai\s+l['’]impression|me\s+da\s+que|(?:pretty|fairly|almost|reasonably|half)\s+(?:sure|certain)|"
    r"if\s+(?:memory\s+serves|i\s+(?:remember|recall)|i['’]m\s+not\s+mistaken)|as\s+far\s+as\s+(?:i|we)\s+(?:know|remember|recall|can\s+tell)|iirc|afaik|soweit\s+ich|"
    r"wenn\s+ich\s+mich\s+(?:recht|richtig)|si\s+(?:je\s+me\s+souviens|no\s+recuerdo)|se\s+(?:non\s+)?ricordo|"
    r"suspects?|reckons?|rumou?r\s+has\s+it|"
    r"with\s+(?:any|a\s+bit\s+of|some)?\s*luck|chances\s+are|il\s+se\s+peut|puede\s+que|kann\s+sein|"
    r"può\s+darsi|maybe|perhaps|possibly|probably|presumably|apparently|supposedly|allegedly|rumou?r(?:s|ed)?|gossip|"
    r"reportedly|(?:i|we)\s+(?:think|believe|guess|suppose|reckon|assume|suspect|imagine)|(?:i|we)\s+heard\s+(?:that|"
    r"he|she|they|it)|(?:i['’]m|am|not)\s+(?:(?:not|quite|entirely|totally|100%)\s+)*sure|unsure|undecided|"
    r"no\s+idea|(?:some\s+)?talk\s+of|word\s+is|on\s+the\s+fence|in\s+two\s+minds|(?:it|that|this)\s+(?:all\s+)?depends|"
    r"depends\s+(?:on\s+)?(?:whether|if|how|what|when|who|where)|"
    r"vielleicht|womöglich|möglicherweise|vermutlich|wahrscheinlich|wohl|angeblich|anscheinend|"
    r"(?:ich|wir)\s+(?:glaube|denke|vermute|schätze|überlege|meine|glauben|denken|überlegen)|(?:glaube|denke)\s+ich|"
    r"je\s+(?:crois|pense|suppose)|j['’]imagine|il\s+paraît|peut-être|probablement|sans\s+doute|"
    r"(?:yo\s+)?(?:creo|supongo|pienso)\s+que|al\s+parecer|por\s+lo\s+visto|dicen\s+que|se\s+dice|quizás?|tal\s+vez|"
    r"a\s+lo\s+mejor|probablemente|parece|credo|penso\s+che|forse|pare|acho|talvez|misschien|"
    r"ik\s+denk|(?:il|me)\s+(?:me\s+)?(?:semble|parece)|mi\s+(?:sa\s+che|sembra)|volgens\s+mij|"
    r"nicht\s+(?:ganz\s+)?sicher|niet\s+zeker|no\s+(?:estoy|está)\s+segur[oa]|não\s+tenho\s+(?:a\s+)?certeza",
}
_TRIGGERS = {
    mood: linear(rf"(?:^|\b|\s)(?:{_MOODS[mood]})(?:\b|\s|$)", re.IGNORECASE)
    for mood in ("supposed", "possible", "planned", "allowed", "wished", "due", "imagined", "ahead")
    # In this order: "I think I'll go" is supposed.
}
_IRONIC = linear(
    r"\b(?:yeah\s*,?\s+(?:right|sure)|sure\s*,?\s+because|oh\s*,?\s+(?:great|joy|wonderful|lovely|fantastic|brilliant)|"
    r"(?:just|exactly)\s+what\s+(?:i|we)\s+needed|how\s+(?:lovely|nice)\s+of|na\s+(?:toll|super|prima)|qué\s+bien|"
    r"half\s+joking|(?:just|only)\s+(?:joking|kidding)|jk|j/k|halb\s+im\s+scherz|cómo\s+no|ben\s+voyons|quelle\s+joie|che\s+bello)\b|\s/s\b|🙄",
    re.IGNORECASE,
)
_FRAMES = {
    "ironic": _IRONIC,
    "supposed": linear(
        r"\bnot\s+(?:(?:a\s+hundred|100)\s*(?:percent|%)|(?:entirely|totally|completely|quite|very)?\s*(?:sure|certain))"
        r"\s+(?:on|about|of)\s+(?:this|that|it)\b",
        re.IGNORECASE,
    ),
    "imagined": linear(
        r"\b(?:character|protagonist|persona|npc|villain|heroine|narrator)\b[^.:!?]*:\s|"
        r"^\W*(?:(?:let['’]s\s+)?pretend\b|in\s+(?:the|my|our|this|a)\s+(?:novel|story|play|film|movie|script|sketch|dream)"
        r"\b)",
        re.IGNORECASE,
    ),
}
"""Beginnings that change the mood of a whole sentence."""
_DOUBTED = ("supposed", "possible", "imagined", "ironic")
_SURPRISED = linear(r"^\W*(?:wait|hold on|hang on|hmm)\b\W+(?:so|then|does that mean)\b", re.IGNORECASE)
"""Beginnings of a question that has the order of a statement: "wait, so it moved to 3 pm?"."""
_ASKING = linear(
    r"^(?:so|and|but|hey|hi|well|ok|okay|btw|oh|wait|hmm|sorry|und|aber|y|et|,|\s)*(?:am|is|are|was|were|do|does|did|should|shall|can|"
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
"""Beginnings of questions that say nothing about the person who asks, unless they name something of theirs."""
_REQUESTED = linear(
    r"\byou\s+(?:please\s+)?(?:remind|note|remember|add|put|save|book|schedule|tell|write|keep)\b", re.IGNORECASE
)
"""Requests such as "note that …": what follows is a statement, although it is part of a request."""

# --- parties ---

_MINE = frozenset(
    """my our his her their mein meine unser unsere sein seine ihr ihre mi mis nuestro nuestra su sus mon ma mes notre
    nos son sa ses leur mio mia il la meu minha o a mijn onze zijn haar""".split()
)
THEIRS = frozenset("his her their seine ihre".split())
_CONCERNING = frozenset("about on with for in at".split())
ADDRESSING = frozenset("ask tell call".split())
PRONOUNS = frozenset("he she er sie il elle él ella lui lei ele ela".split())
SELF = AS_I | MY | ME | WE | OUR | frozenset("mine myself both together me conmigo m'a mim comigo".split())
_LEADING = frozenset(
    """and but so well also because oh actually btw yes yeah no then when while since though although und aber also weil
    y pero porque et mais parce e ok plus apparently hey""".split()
)
NOBODY = frozenset("here's there's that's what's it's who's where's how's let's everything's nothing's".split())
"""Words whose "'s" makes no owner and no person."""
_OF = frozenset("of de d' von di da van".split())
_AS_NAMES = frozenset([*SAME_KIN, "oma", "opa", "maman"])
_BETWEEN = frozenset("already just also still never always really finally".split())
_IS_BEHIND = frozenset(
    "a an the on in at not no been got getting going from very so too always never really also back still just".split()
)
"""Words before which "'s" is "is" or "has": "my flatmate's on holiday"."""


def party_of(words: Sequence[str]) -> str | None:
    """Whom a clause with these words is about, if it begins with a relative or a pronoun."""
    found = _party(words, "", joined=False)
    return found[0] if found else None


def _party(words: Sequence[str], part: str, *, joined: bool) -> tuple[str, str | None] | None:
    """The party and the owner of a clause (see `Clause`); None if it begins with nobody, or with the speaker.

    `part` is its text, whose capitals show names; `joined` says that an "and" comes before it.
    """
    capitals = {word.casefold() for word in part.split() if word.istitle()}
    first = words[0].partition("'")[0]  # "he's been ill"
    if first in PRONOUNS and len(words) > 1 and not words[1].endswith(("ado", "ido")):  # "he dejado" is "I have"
        return first, None
    for at, word in enumerate(words[:5]):
        base = word.removesuffix("'s")
        base = base if base in KIN else base.removesuffix("s")
        owns = word.endswith("'s") and words[at + 2 : at + 3] and words[at + 1] not in _IS_BEHIND
        if base not in KIN or (owns and at):
            continue
        before = words[:at]
        if 1 < at <= 4 and before[-1] in OWN and before[-2] in _OF:  # "la prof de ma fille"
            return before[-3], word
        possessors = [one.removesuffix("'s") for one in before if one.endswith("'s")]
        if possessors and at <= 3:
            return word, possessors[-1]
        if (before[0] in _MINE and at <= 3) if before else base in _AS_NAMES:
            return word, None
    first, second = [*words, "", ""][:2]
    if first in THEIRS:  # "her blood pressure is all over the place"
        return first, None
    if first in ADDRESSING and second in capitals:  # "ask Karl about it"
        return second, second
    if second in _IS_BEHIND and first.endswith("'s") and first not in NOBODY:  # "Sam's the one who cooks"
        first, second = first.removesuffix("'s"), "is"
    elif second == "from":  # "Sophie from legal is away"
        second = next((word for word in words[2:6] if word in OF_PEOPLE), second)
    if joined and second in _CONCERNING and first in capitals:  # "… and Eva about that"
        return first, first
    if second in _BETWEEN:  # "Samira already handed it in"
        second = next(iter(words[2:3]), "")
    is_name = first not in DAYS and first[:1].upper() + first[1:] in WORD.findall(part)[:1] and len(first) > 2
    is_verb = is_past(first) or first.endswith("ing")  # "Got promoted last week"
    if (
        is_name
        and not is_verb
        and first not in SMALL_WORDS | FUNCTION_WORDS | HEDGES
        and (
            is_past(second)
            or second in OF_PEOPLE
            or second.endswith("n't")
            or (second.endswith("s") and len(second) > 4)
        )
    ):
        return first, first
    if first in _DETERMINERS or (first in _SOME and second == "of"):
        person = next((word for word in words[1:5] if _is_person(word) or _is_person(word.removesuffix("s"))), None)
        return (person, None) if person else None
    return None


def _is_person(word: str) -> bool:
    return word in _PEOPLE or word in KIN or (len(word) > 4 and word not in SMALL_WORDS and word.endswith(_OF_WORKERS))


_SOME = frozenset("one two three both some most many all each none half einer eine uno una un une".split())
_PEOPLE = frozenset(
    """people guy girl boy lady man woman person folks couple crew family student nurse chef pilot priest leute mensch
    gente señor señora gens monsieur dame signora persone pessoa pessoal""".split()
)
_OF_WORKERS = ("er", "or", "ist", "mate", "ian", "man", "woman", "eur", "euse", "ore", "ora")
"""Endings of words that name people by what they do: carer, supervisor, dentist, flatmate."""


_DETERMINERS = frozenset(
    """my our the a an some these those this that mein meine unser unsere der die das ein eine mi mis nuestro nuestra el
    la los las un una mon ma mes notre nos le les une il lo gli mio mia meu minha o os""".split()
)


REPORTING = frozenset("says said thinks thought reckons claims finds found told tells sagt meint dice dit".split())
"""Verbs with which somebody tells what another person said, thought or did."""
OF_PEOPLE = frozenset(
    """is has was will can says lives works likes loves hates plays wants needs owns hat ist lebt wohnt arbeitet tiene
    vive trabaja est habite travaille lavora abita tem mora""".split()
)
