"""Polarity: checks that a claim neither drops nor adds a "not" or a doubt.

The words come from grammars of the languages. After a negator, the next two content words within the clause count as
denied.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter

from agent_memory.text.languages import is_foreign
from agent_memory.text.patterns import linear
from agent_memory.text.sentences import sentences
from agent_memory.text.stems import stem
from agent_memory.text.stop_words import FUNCTION_WORDS, SMALL_WORDS

CLAUSE = linear(
    r"[;!?()\n–—]+|[,.:](?:\s|$)|\b(?:but|and|so|because|though|although|while|whereas|aber|und|weil|sondern|mais|et|"
    r"pero|y|porque|perché|maar|mas)\b",
    re.IGNORECASE,
)
NEGATORS = frozenset(
    """not no never none nobody nothing neither nor cannot without longer isn't wasn't aren't weren't don't doesn't
    didn't won't wouldn't can't couldn't shouldn't haven't hasn't hadn't mustn't ain't dont doesnt didnt wont
    cant isnt wasnt nicht kein keine keinen keinem keiner nie niemals ohne weder nichts nunca jamás sin ni
    tampoco pas jamais sans aucun aucune non senza niet geen nooit zonder não nem sem nada rien niente nulla
    inte aldrig ingen inget inga
    ningún ninguno ninguna nessun nessuno nessuna nenhum nenhuma nadie niemand ninguém
    utan ikke aldri intet nigdy bez не нет никогда без değil yok hiç""".split()
)
"""Words of several languages that deny what follows."""
AGAINST = frozenset(
    """avoid avoids avoided dislike dislikes disliked hate hates hated refuse refuses refused stop stops stopped quit
    quits except excluding allergic allergy intolerant intolerance lack lacks lacked lacking free former formerly
    unable instead against exclude excludes declined declines rejected rejects cancel cancels cancelled canceled left
    ended
    fails failed missing misses missed forbids forbidden prohibits banned difficulty difficult struggles
    struggled struggling barely hardly rarely seldom unsure uncertain uncomfortable unhappy unaware unavailable
    vermeidet ungern evita odia évite détesta drops dropped skips skipped leaves until yet alone failing loss
    lost unless setback broke letdown disappointed misplaced forgot vegan vegetarian sober
    aufgehört arrêté arrêtée arrêter dejado dejé dejó dejar smesso parei parou gestopt minus""".split()
)
"""Other words with which people say "not"."""
_AGAINST_STEMS = frozenset(map(stem, AGAINST))
_CHOSEN_OVER = frozenset(["over", "rather"])
"""Words after which a claim names what is not chosen: "prefers tabs over spaces", "walks rather than drives"."""
_DENYING = frozenset(
    """forbids forbid forbidden prohibits prohibited bans banned refuses refused stopped quit rejected rejects cancelled
    canceled declined dislikes hates unable lacks opposes opposed verbietet lehnt interdit refuse
    prohíbe rechaza odia""".split()
)
"""Verbs with which a claim denies without a "not"."""
_PAST = frozenset("used was were formerly previously past ex once früher war était era antes before".split())
_ENDED = linear(
    r"\b(?:stopped|quit|gave up|given up|sworn off|swore off|refuses? to|refused to|avoid|avoids|cut out|we used to|"
    r"i used to|no longer|arrêté (?:le|la|les)|"
    r"dejé (?:el|la|los|las)|aufgehört,? zu|weigere mich,? zu|dej[eé] de|dejado de|dejamos de|arrêté (?:de|d['’])|"
    r"cessé (?:de|d['’])|smesso di|parei de)\b\s*(?:(?:the|my|our|on|all)\s+)*(\p{L}*)",
    re.IGNORECASE,
)
"""Ways to say that somebody no longer does something, with what it is."""
_USED_TO = linear(r"\b(?:i|we|he|she|they|it|you) used to\b")
HEDGES = frozenset(
    """might doubts doubt maybe perhaps could possibly probably considering considers consider considered thinking
    thinks thought think if would wonder wondering wonders unsure undecided hoping hopes hope hoped may plans
    planning plan planned wants want wanted wishes wish guess guesses likely unlikely potentially potential
    tentatively interested interest interests contemplating suspects suspect seems seem apparently believes
    believe feels suggest suggests suggested should looking dream dreams dreaming aspires aspire imagine
    imagines would'd not sure vielleicht möglicherweise eventuell könnte würde überlegt überlege quizás quizá
    tal podría peut-être pourrait forse potrebbe misschien talvez needs need open exploring explores goal aims
    ideas idea option options either proposes proposed proposing intends excited eager keen willing curious
    around roughly approximately circa etwa rund environ""".split()
)
"""Words with which a claim may express a doubt."""
_STILL = frozenset("più plus mehr más mais meer more anymore longer".split())
"""Words that, beside a negator, mean "no longer"."""
_NO_MORE = linear(r"\b(?:ne\s+|n['’])(\p{L}+)\s+plus\b", re.IGNORECASE)
_DENIED_CJK = linear(
    r"ません|なかった|ない(?:です|と|$|[。、！？])|没有|沒有|从不|從不|不(?:吃|喝|喜|想|会|會|能|要|是|在|去|住|用|爱|愛)|않|없|못\s"
)
_CJK = linear(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}]{2}")


def words_of(text: str) -> list[str]:
    """The words and figures of a text in order, in small letters; "don't" is one."""
    return [word.casefold().replace("’", "'") for word in _APOSTROPHE.findall(text)]


_APOSTROPHE = linear(r"\p{L}[\w\p{M}]*(?:['’]\p{L}+)?|\d+")


def without_may(text: str) -> str:
    """A text without the month of May, because "may" in lower case is a doubt."""
    return _MAY.sub(r"\1", text)


_MAY = linear(r"([^.!?\s]\s+)May\b")


def telling(words: Iterable[str]) -> set[str]:
    """The stems of the content words among these."""
    return {stem(word) for word in words if word not in EMPTY and word not in NEGATORS and len(word) > 2}


_DUTCH = frozenset("aan bij de een en haar hebben heeft het hij met mijn naar ook van voor wij zij zijn".split())
EMPTY = SMALL_WORDS | FUNCTION_WORDS | _DUTCH
"""Words without meaning by themselves, in seven languages."""


def added_not(content: str, said: str) -> str | None:
    """A "not" of a claim, or a word such as "forbids", that nobody said."""
    content, said = map(_with_negators, (content, said))
    plain, denied = _denied(said, NEGATORS | AGAINST)
    if _only_in_english(content, said):
        return 'nobody said "not"'
    content = _SUBORDINATE.sub(", ", content)
    told, cut_short = telling(words_of(content)), _cut_short(said)
    if cut_short and told & cut_short:
        return None
    if _is_moved(content, said):
        return 'the "not" was said of something else'
    lacking = _after_negators(content, _LACKING, most=4) if _denied(said, NEGATORS)[1] - told else []
    for after in _after_negators(content, NEGATORS, most=4):
        if after[:1] in ([], ["sure"]) and denied:
            continue  # "not sure whether"
        if after in lacking and after and after[0] not in plain | denied:
            continue  # "no lift" may be "without an elevator"
        known = [word for word in after if word in plain or word in denied]
        if known and (known[0] in _AGAINST_STEMS & plain or denied.isdisjoint(known)):
            return 'nobody said "not"'
    return None


def _only_in_english(content: str, said: str) -> bool:
    """Whether an English claim about talk in another language denies something, and the talk denies nothing."""
    if is_foreign(content) or not is_foreign(said) or NEGATORS.isdisjoint(words_of(content)):
        return False
    words = words_of(said)
    return not any(word in NEGATORS | AGAINST or word.startswith(_AS_NOT) for word in words)


_SUBORDINATE = linear(r"\s(?:since|if|when|as|until)\s", re.IGNORECASE)
"""Conjunctions at which the reach of a "not" ends."""
_AS_NOT = tuple(
    """kein nicht allerg alérg verb verw prohib interd vieta proib un in im des dés mal miss vege végé vega véga abge
    fehl falt manq manc ontbreek kaum apenas peine amper schlecht""".split()
)
"""The beginnings of words that say "not" in other languages."""
_LACKING = frozenset(["without"])


def _cut_short(said: str) -> set[str]:
    """The content words of clauses that end with their "not": "the right one doesn't"."""
    clauses = [words_of(clause) for clause in CLAUSE.split(said)]
    return {one for words in clauses if words and words[-1] in NEGATORS for one in telling(words[:-1])}


def _is_moved(content: str, said: str) -> bool:
    """Whether a claim denies only what was stated, because the turns deny something next to it."""
    told = telling(words_of(content)) if not NEGATORS.isdisjoint(words_of(content)) else set()
    refused = {one for after in _after_negators(content, NEGATORS, most=1) for one in after}
    parts = [words_of(clause) for clause in CLAUSE.split(said)] if told else []
    denied = {one for words in parts if not NEGATORS.isdisjoint(words) for one in telling(words)}
    stated = {one for words in parts if NEGATORS.isdisjoint(words) for one in telling(words)}
    if not denied or not refused & stated - denied:
        return False
    behind = {one for after in _after_negators(said, NEGATORS, most=1) for one in after}
    return (len(told & stated) >= 2 and told.isdisjoint(denied)) or (bool(behind) and told.isdisjoint(behind))


def _with_negators(text: str) -> str:
    """A text with a plain negator for phrases that say "not" in several words."""
    plain = _PHRASES.sub("not", _NO_MORE.sub(r"ne \1 pas", _NO_DENIAL.sub(" ", text)))
    plain = _ALMOST.sub(r"not \1", plain)
    return _NOT_DONE.sub(lambda one: f"not {one[1]}" if one[1].casefold() not in _NO_DENIALS else one[0], plain)


_ALMOST = linear(
    r"\b(?:(?:almost|nearly) (\p{L}{2,}ed|bought|sold|went|left|lost|won|made|took|got|fell|broke|hit|ran|said|told|"
    r"came|quit|gave|forgot|missed|paid|sent|met|had|did|found|chose|hired|drowned)|"
    r"(?:fast|beinahe|bijna) (ge\p{L}+(?:t|en))|casi (\p{L}+(?:mos|aron|ieron))|failli (\p{L}+)|"
    r"quasi (\p{L}+(?:ato|uto|ito))|quase (\p{L}+(?:mos|aram|eram|iram)))\b",
    re.IGNORECASE,
)
"""What almost happened, and so did not."""
_PHRASES = linear(
    r"\b(?:every(?:one|body|thing) but|rul(?:e|ed|es|ing) out|vot(?:e|ed|ing) (?:it |them |that )?down|"
    r"turn(?:ed|s|ing)? down|call(?:ed|s|ing)? off|(?:opted|backed) out of|said no to|"
    r"passed (?:on|up)|kein(?:e|en)? mehr|nowhere near|anything but)\b",
    re.IGNORECASE,
)
_NO_DENIAL = linear(
    r"\b(?:after|at) all\b|\bin the end\b|\bnothing (?:like|but)\b|\bnicht (?:nur|wahr)\b|\bniet (?:alleen|waar)\b",
    re.IGNORECASE,
)
_NOT_DONE = linear(
    r"\b(?:(?:fail(?:s|ed)?|forgot(?:ten)?|neglect(?:s|ed)?|unable|yet) to|far from(?: being)?) (\p{L}+)", re.IGNORECASE
)
"""Ways to say that somebody did not do something, or that something is not so, with what it is."""
_NO_DENIALS = SMALL_WORDS | frozenset("mention say ask add home".split())
"""Words after which these phrases deny nothing: "far from the sea", "I forgot to mention"."""


def changed_polarity(content: str, quoted: str, said: str) -> str | None:
    """A "not" or a doubt that was left out or put in."""
    if added := added_not(content, said):
        return added
    content, quoted = map(_with_negators, (content, quoted))
    words, quoted_words = words_of(without_may(content)), set(words_of(quoted))
    if not (_DENYING.isdisjoint(words) or _ENDED.search(quoted)) and (NEGATORS | AGAINST).isdisjoint(quoted_words):
        denying = next(word for word in words if word in _DENYING)
        if stem(denying) not in map(stem, words_of(said)):
            return f"nobody said {denying}"
    if (NEGATORS | AGAINST | _PAST).isdisjoint(words) and _ENDED.search(content) is None:
        told = {stem(word) for word in words if len(word) > 2}
        parts = _told_parts(quoted)
        told_of = [(content, _ENDED.search(" ".join(part)) is not None) for part, content in parts.items()]
        closest = _closest(parts, words, fewest=2) if "had" not in words else []
        if closest and all(_USED_TO.search(" ".join(clause)) for clause in closest):
            return 'it leaves out a "not"'
        for ended in map(stem, filter(None, _ENDED.findall(quoted))):
            shared = [(len(telling(words) & part), is_over) for part, is_over in told_of if ended in part]
            if shared and not max(shared)[1]:
                continue  # "I used to work at Siemens and now I work at Bosch"
            if any(one == ended or (len(one) > 3 and ended.startswith(one)) for one in told):
                return 'it leaves out a "not"'
    if NEGATORS.isdisjoint(words) and (AGAINST | {"only"}).isdisjoint(
        set(words) - quoted_words | {"only"} & set(words)
    ):
        plain, _ = _denied(quoted, NEGATORS)
        chosen = words[: next((at for at, word in enumerate(words) if word in _CHOSEN_OVER), len(words))]
        told = telling(chosen) | {word for word in chosen if len(word) == 2 and "nie" in quoted_words}
        for after in _after_negators(quoted, NEGATORS, most=2):
            if not after or after[0] in plain or not all(any(_alike(one, word) for word in told) for one in after):
                continue
            return 'it leaves out a "not"'
        if _only_denied(quoted, words) or _leaves_out_cjk(content, quoted):
            return 'it leaves out a "not"'
    if HEDGES.isdisjoint(words):
        clauses = [part for clause in CLAUSE.split(content) if (part := words_of(clause))]
        parts = _told_parts(quoted)
        for part in [words, *(clauses if len(clauses) > 1 else [])]:
            quotes = _closest(parts, part, fewest=1 if part is words else 2)
            if quotes and all(map(_is_doubted, quotes)):
                return "it leaves out a doubt"
    return None


def _only_denied(quoted: str, words: Sequence[str]) -> bool:
    """Whether every possible source of a claim is denied: the clauses that share most with it, or the only sentence."""
    if not (AGAINST | _PAST | _SOFTENED).isdisjoint(words):
        return False
    negators = _denying_in(quoted, NEGATORS)
    homes: Sequence[Sequence[str]] = _closest(_told_parts(quoted), words, fewest=1)
    if not homes and len(sentences(quoted)) == 1:
        homes = [part for clause in CLAUSE.split(quoted) if (part := words_of(clause))]
    told = telling(words)
    return bool(homes) and all(_IDIOMS.isdisjoint(home) and _denies(home, told, negators) for home in homes)


def _denies(clause: Sequence[str], told: set[str], negators: frozenset[str]) -> bool:
    """Whether a negator is close before the claim's words in a clause, or before anything if it has none of them."""
    at = next((place for place, word in enumerate(clause) if word in negators or word == "against"), None)
    if at is None:
        return False
    shared = told & telling(clause)
    behind = [one for word in clause[at + 1 :] for one in telling([word])]
    # "Nach Hamburg ziehen wir doch nicht", "… nicht rausgekommen"
    last = clause[at] in ("nicht", "niet") and len(behind) <= 1
    return not shared or last or not shared.isdisjoint(behind[:3])


_SOFTENED = frozenset(
    """only little few rather other different independent doubts doubt doubtful unlikely intolerant intolerance
    incompatible unavailable disagrees disagreed unfinished unpaid overdue pending open still""".split()
)
"""Words with which a claim may say "not" without a negator."""


def _leaves_out_cjk(content: str, quoted: str) -> bool:
    """Whether a claim drops the negation of a sentence in a language without spaces."""
    if _DENIED_CJK.search(quoted) is None or _DENIED_CJK.search(content) is not None or len(sentences(quoted)) > 1:
        return False
    return any(pair in content for pair in _CJK.findall(quoted))


def _denied(text: str, negators: frozenset[str]) -> tuple[set[str], set[str]]:
    """The content words that a text states, and those that it denies: the first two after a negator."""
    denied = {word for after in _after_negators(text, negators, most=2) for word in after}
    plain: set[str] = set()
    for clause in CLAUSE.split(text):
        words = words_of(clause)
        at = next((place for place, word in enumerate(words) if word in negators), len(words))
        if words[at : at + 1] in (["nicht"], ["niet"]):  # it comes after what it denies
            denied |= telling(words[:at])
        plain |= telling(words[: at + 1] if _IDIOMS.isdisjoint(words) else words)
    return plain, denied


def _after_negators(text: str, negators: frozenset[str], most: int) -> list[list[str]]:
    """The first content words after each negator of a text, within its clause."""
    found = [[stem(word)] for word in _RULED_OUT.findall(text.casefold())]
    negators = _denying_in(text, negators)
    for clause in CLAUSE.split(text):
        words = [word for word in words_of(clause) if word not in _STILL or word in negators]
        places = [at for at, word in enumerate(words) if word in negators] if _IDIOMS.isdisjoint(words) else []
        later = [(at, one) for at, word in enumerate(words) for one in telling([word])] if places else []
        for at in places:
            first = bisect_right(later, at, key=itemgetter(0))
            found.append([one for _, one in later[first : first + most]])
    return found


def _denying_in(text: str, negators: frozenset[str]) -> frozenset[str]:
    """The negators without those that deny nothing in the language of a text."""
    in_portuguese = {"no"} if _PORTUGUESE.search(text) else set()  # "in the"
    in_french = {"dont"} if _FRENCH.search(text) else set()  # "of which"
    return negators - in_portuguese - in_french


_RULED_OUT = linear(r"(\p{L}+) (?:is|are|was|were) (?:out|off|impossible|no good|off the table)\b")
"""Words that rule out what comes before them: "Wednesdays are out"."""
_FRENCH = linear(r"\b(?:nous|je|les|des|est|au|une|dans|avec)\b")
_PORTUGUESE = linear(
    r"\b(?:numa|uma|meu|minha|[Nn]ão|[Mm]oro|[Tt]rabalho|[Tt]enho|[Ee]stou|você|pela|"
    r"[Oo]ntem|[Hh]oje|[Ee]u|são|foi|[Uu]tilizadora?|[Uu]suári[oa]|ao|\p{L}+(?:ção|ões|nho|nha))\b"
)
"""Words that only Portuguese has; "uma" is left out, because Uma is a name."""


def _alike(one: str, two: str) -> bool:
    """Whether two words look like forms of one, by their beginnings: trabajo and trabaja."""
    if one.isdigit() or two.isdigit():
        return one == two
    if len(one) <= 3 and len(two) <= 3:
        return one == two or one[:-1] == two or one == two[:-1]
    return one == two or (min(len(one), len(two)) >= 4 and one[:-1] == two[:-1])


def _told_parts(text: str) -> dict[tuple[str, ...], set[str]]:
    """The clauses of a text, each as its words in order, and the content words among these."""
    parts = {tuple(words_of(clause)) for clause in CLAUSE.split(text)}
    return {part: telling(part) for part in parts if part}


def _closest(parts: Mapping[tuple[str, ...], set[str]], words: Iterable[str], fewest: int) -> list[tuple[str, ...]]:
    """The clauses that share most content words with these words, each as its words; none below `fewest`."""
    told = telling(words)
    shared = [(len(content & told), part) for part, content in parts.items()]
    most = max((number for number, _ in shared), default=0)
    return [part for number, part in shared if number == most] if most >= fewest else []


_IDIOMS = frozenset("wait believe only so picture imagine regret forget doubt forgotten".split())
"""Beside these words a "not" denies nothing: "can't wait", "not so long ago", "not only"."""


def _is_doubted(clause: Sequence[str]) -> bool:
    if "doubt" in clause:
        return NEGATORS.isdisjoint(clause)
    return not _DOUBTS.isdisjoint(clause) or ("thinking" in clause and not {"of", "about"}.isdisjoint(clause))


_DOUBTS = frozenset(
    """doubts might maybe perhaps considering possibly undecided hope hoping hopefully
    vielleicht möglicherweise eventuell quizás quizá forse
    misschien talvez""".split()
)
