"""Standing instructions: "Always list sources when I ask about papers", "Antworte ab jetzt auf Deutsch".

A sentence is one if it tells the listener what to do from now on, whatever the verb. A clause may say when it applies
("when I ask about papers"). The rules know seven languages. They look for words such as "always" at the position that
they have in an instruction. They prefer precision to recall, because search still finds the turn of a missed
instruction.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from agent_memory.text.dates import DAYS
from agent_memory.text.patterns import WORD, linear
from agent_memory.text.stop_words import FUNCTION_WORDS, SMALL_WORDS

_LONGEST = 300
"""Longest sentence that is read, in characters. Longer ones were pasted."""
POLITE = (
    r"(?:(?:and|also|but|so|ok|okay|oh|please|pls|kindly|bitte|und|por favor|y|s'il te plaît|per favore|e|graag)[, ]+)*"
)
FROM_NOW_ON = (
    r"(?:from now on|from here on|going forward|in (?:the )?future|by default|ab jetzt|ab sofort|künftig|in zukunft"
    r"|a partir de ahora|de ahora en adelante|a partir de agora|de agora em diante|désormais|dorénavant"
    r"|à partir de maintenant|d'ora in poi|d'ora in avanti|vanaf nu|voortaan)"
)
ALWAYS = r"(?:always|only ever|immer|siempre|sempre|toujours|altijd)"
NEVER = r"(?:never|do not ever|don't ever|niemals|nie|nunca|mai|jamais|nooit)"
_REQUESTED = linear(
    rf"^{POLITE}(?:(?:can|could|would|will|shall) (?:you|we) (?:please |just |also |maybe )?(?:mind |be able to )?"
    r"|(?:is|would) it (?:be )?possible to |let's |(?:i'd|i would) like (?:you )?to )"
    r"(?P<what>.+?)(?:,? please)?[?!. ]*$",
    re.I,
)
"""A request in the form of a question, which orders something if it is to last: "Could we … from now on?"."""
_INFORMS = linear(r"^(?:tell|explain|show|say|describe|clarify|check|confirm|help)\b", re.I)
_ANSWERS = linear(
    rf"^{ALWAYS} (?:answer|reply|respond|write|speak|use|include|add|list|give|keep|call|format|cite|address|remind"
    r"|ask)\b",
    re.I,
)
_LASTING = linear(
    rf"\b{FROM_NOW_ON}\b|\bpermanently\b|\bfor all future\b"
    r"|\bas (?:my|our|the|a)(?: new)? (?:default|standard|favou?rite|go-to|usual|regular|preferred)\b",
    re.I,
)
_SUBJECT_BEHIND = linear(r"^, (?:then )?\w+ (?:ich|wir|je|nous|yo|nosotros|eu|nós|io|noi|ik|wij|we)\b", re.I)
"""A verb before its subject states something: "Wenn ich in Rom bin, lerne ich Italienisch"."""
_TOLD = linear(
    r"^ (?:(?:ever|finally|first|just|last|once|suddenly) )*(?:was|were|had|did|got|went|came|saw|said|told|took"
    r"|thought|felt|left|met|made|\w+[^e]ed)\b| (?:i|he|she|we|they)(?:'ll|'d| will| would| said| was| were) ",
    re.I,
)
"""A condition that tells what was, or in which the main clause has come already: "when I'm back I will tell him"."""
_THEN = linear(r" then (?P<order>\w+.*)$", re.I)
_SETS = linear(
    rf"^{POLITE}(?:set|make|use|keep|save|store|put|switch|change|add|turn|treat|leave|take|register|mark) ", re.I
)
_FIRST = linear(rf"^{POLITE}(?:{FROM_NOW_ON},? )?{POLITE}(?:{ALWAYS}|{NEVER}) (?P<verb>\w+)", re.I)
_AFTER = linear(rf"^{POLITE}{FROM_NOW_ON},? {POLITE}(?:do not |don't |only )?(?P<verb>\w+)", re.I)
_BEHIND_VERB = linear(rf"^{POLITE}(?P<verb>\p{{L}}+)(?:-\p{{L}}+)?(?: \p{{L}}+){{0,2}} (?:{ALWAYS}|{NEVER})\b", re.I)
"""The same after a verb that shapes answers: "Réponds toujours en français"."""
_ANYWHERE = linear(rf"^{POLITE}(?P<verb>\w+)\b.*(?:\b{FROM_NOW_ON}\b|\bbitte (?:immer|nie|nur)\b)", re.I)
_STATES = linear(
    rf"^{POLITE}(?:\w+ \w+ (?:can|could|may|must|should|will|would)\b|\w+'s )"
    rf"|^{POLITE}\w+ (?:(?:is|are|am|was|were|will|would|has|have|had|can|could|may|must|should|does|did|goes"
    r"|ist|sind|wird|werden|hat|muss|kann|beginnt|es|son|será|está|tiene|est|sont|sera|è|sono|sarà|é|são|tem"
    r"|zijn|wordt|heeft)\b|\w+s (?:the|it|him|her|us|me)\b)"
    rf"|\b{FROM_NOW_ON} (?:i|we|he|she|it|they|there)\b",
    re.I,
)
"""A verb after its subject states something: "Standup is at ten from now on", "Jules reads the drafts"."""
_ASSUMES = linear(rf"^{POLITE}(?:assume|ensure|presume|suppose)\b", re.I)
"""Orders that a whole statement follows: "Assume users will be in UTC by default"."""
_CONDITION = linear(
    r"\b(?:when(?:ever)?|if|(?:every|each|any) ?time) (?:i|we|you)\b(?P<what>[^.;!?,]*)"
    r"|\b(?:immer wenn|jedes mal,? wenn|wenn|sooft) (?:ich|wir|du)\b(?P<de>[^.;!?,]*)"
    r"|\b(?:cada vez que|siempre que|cuando) (?P<es>[^.;!?,]*)"
    r"|\b(?:chaque fois que|à chaque fois que|quand|lorsque) (?:je|nous|tu|vous)\b(?P<fr>[^.;!?,]*)"
    r"|\b(?:ogni volta che|quando) (?P<it>[^.;!?,]*)"
    r"|\b(?:sempre que|toda vez que) (?P<pt>[^.;!?,]*)"
    r"|\b(?:elke keer dat|telkens als|als) (?:ik|we|wij|je)\b(?P<nl>[^.;!?,]*)",
    re.I,
)
_ASKED = linear(
    r"^[, ]*(?:ask|asks|request|mention|inquire|talk|want to know|bring up|need (?:help )?with)(?: you)?"
    r"(?: (?:for|about|of|on|to know about|regarding))?\b",
    re.I,
)
_TALKING = linear(
    r"^(?:write|writing|talk|talking|speak|speaking|reply|replying|answer|answering|respond)(?: to| with)?"
    r"(?: me| my questions)?$",
    re.I,
)
"""A condition that every answer meets: "when you write to me"."""
_OF_ANSWERS = frozenset(
    """answer reply respond write speak talk use include add list give keep call format cite address remind ask put say
    start begin end finish explain summarize summarise show mention quote round convert translate be stay avoid assume
    check confirm warn tell make provide offer sign spell refer prefix abbreviate
    antworte antworten schreib schreibe sprich rede verwende nutze benutze gib nenne duze sieze sag fasse
    responde contesta escribe habla usa utiliza trata da di incluye réponds répondez écris parle utilise tutoie donne
    inclus cite
    rispondi scrivi parla dai dimmi includi dammi responda escreva fale trate dê inclua antwoord schrijf spreek gebruik
    noem geef""".split()
)
"""Verbs that shape answers, so that an instruction with one of them applies to all questions."""
_ACCENTS = str.maketrans("áéíóú", "aeiou")
_PAST_OR_GERUND = ("ed", "ing")
_NO_VERBS = (
    SMALL_WORDS
    | FUNCTION_WORDS
    | frozenset(
        """a an the i we you he she it they this that these those my your his her our their there here been had was were
        mind heard seen done known got went came said felt knew thought wanted loved liked hated happy sad good bad nice
        sure one two great late early tired hungry busy yes no well so too very really quite up down everybody everyone
        someone mom dad mum something anything nothing people dasselbe dieselbe gleich igual pareil hetzelfde""".split()
    )
)
"""Words after "always" that show that the sentence orders nothing."""


@dataclass(frozen=True, slots=True)
class Instruction:
    """A standing instruction.

    Attributes:
        condition: What the sentence says about when it applies ("when I ask about papers"); empty if nothing.
        is_general: Whether it shapes all answers ("Always answer in German") and is not about one subject ("Always
            take me to the same garage").
    """

    text: str
    condition: str = ""
    is_general: bool = False

    @property
    def subject(self) -> str:
        """The words that a question has in common with it; empty if it applies to all questions."""
        return self.condition or ("" if self.is_general else self.text)


def standing_instruction(sentence: str) -> Instruction | None:
    """The standing instruction in a user's sentence; None if there is none."""
    text = " ".join(sentence.replace("’", "'").split())
    if not text or len(text) > _LONGEST:
        return None
    found = _CONDITION.search(text)
    condition = "" if found is None else next((part for part in found.groups() if part), "")
    topic = _TALKING.sub("", _THEN.sub("", _ASKED.sub("", condition)).strip(" ,.?"))
    request = _REQUESTED.search(text)
    if request is not None and _ANSWERS.search(request["what"]):
        return Instruction(text, topic, is_general=True)
    if request is not None and _LASTING.search(request["what"]) and not _INFORMS.search(request["what"]):
        return Instruction(text, topic)
    if text.endswith("?"):
        return None
    verb = _ordered(text)
    if verb is not None or (found is not None and _orders_when(text, found)):
        return Instruction(text, topic, verb in _OF_ANSWERS)
    sets = _LASTING.search(text) is not None and _SETS.search(text) is not None
    return Instruction(text, topic) if sets else None


def _ordered(text: str) -> str | None:
    """The verb of an order that is to last; None if there is none."""
    match = _FIRST.search(text) or _AFTER.search(text)
    if match is None and (not _STATES.search(text) or _ASSUMES.search(text)):
        match = _ANYWHERE.search(text)
    if match is None:
        match = _BEHIND_VERB.search(text)
        if match is None or not is_of_answers(match["verb"]):
            return None
    return match["verb"].lower() if _is_order(match["verb"]) else None


def is_of_answers(verb: str) -> bool:
    """Whether an order shapes answers by its verb, to which Spanish and Italian join a pronoun ("contéstame")."""
    bare = verb.lower().translate(_ACCENTS)
    return not _OF_ANSWERS.isdisjoint({verb.lower(), bare, bare.removesuffix("me"), bare.removesuffix("mi")})


def _orders_when(text: str, condition: re.Match[str]) -> bool:
    """Whether a sentence with a condition is an order: "List sources each time I ask", "When I paste a log, …"."""
    asks = _ASKED.search(condition["what"] or "") is not None
    before, behind = text[: condition.start()].strip(" ,"), text[condition.end() :]
    if (then := _THEN.search(condition["what"] or "")) is not None:  # "Whenever I mention X then say Y"
        behind = f",{then['order']}{behind}"
    if before:
        first = WORD.search(_without_politeness(before))
        return (
            asks
            and not _ANYBODY.search(condition[0])
            and first is not None
            and _is_order(first[0])
            and len(before.split()) > 1
        )
    if not behind.startswith(","):
        return False
    ordered = _without_politeness(behind[1:].strip().removeprefix("then "))
    order = WORD.search(ordered)
    named = order is not None and order[0].istitle()  # "If you like history, Italy is the place"
    if order is None or named or not _is_order(order[0]) or _SUBJECT_BEHIND.search(behind):
        return False
    if is_of_answers(order[0]):
        return True
    if _TOLD.search(condition["what"] or ""):
        return order[0].lower() in _OF_ACTS or _FORBIDS.search(ordered) is not None
    if _ANYBODY.search(condition[0]):
        return False
    return order[0].lower() in _OF_ACTS or (_STATES.search(ordered) or _ACTS.search(ordered)) is None


_ANYBODY = linear(
    r"^(?:when(?:ever)?|if) you(?:(?:'ve| have)? (?:ever|still|also|already|just|really|don't|do not|do|not))*"
    r"(?:'d| (?:can|can't|cannot|could|would|need|have|haven't|has|want|wish|like|love|hate|prefer|know|feel|live|get"
    r"|grow|wear|go|visit|come|keep|continue|decide|expect|try|use|encounter|experience|face|receive|enjoy|eat|drink"
    r"|travel|work|it|find (?:that|it|yourself)|ask (?:them|him|her|people|someone|somebody|anyone|anybody|a|the))\b"
    r"|(?:'re| are) (?:\w+ing|a|an|in|at|on|from|already|new|young|old|older|tired|lucky|interested)\b)",
    re.I,
)
"""How advice for anybody begins: "when you live above a bakery, …". What an assistant does is no part of it."""
_FORBIDS = linear(r"^(?:don't|do not|never) ", re.I)
_OF_ACTS = frozenset(
    """hold pause resume read print sort suggest recommend send forward run execute open close move push pull save log
    book reserve schedule cancel postpone notify alert skip stop set turn mark delete remove create update fix test
    commit merge deploy play mute order buy pay track text email message post publish file store copy highlight describe
    compare correct rank group filter label tag hide play pick choose""".split()
)
"""Verbs of what an assistant does, which a plural may follow: "hold messages"."""
_ACTS = linear(
    r"^[\w-]+ [\w-]*[a-rt-z]s(?:[.!]*$| (?:['\"]|(?:the|a|an|me|my|it|us|him|her|them|to|no|too|again)\b))", re.I
)
"""A verb in the third person: "when I stumble, anna laughs"."""


def _without_politeness(text: str) -> str:
    return _OPENING.sub("", text)


_OPENING = linear(rf"^{POLITE}(?:(?:always|never|only) )?", re.I)


def _is_order(word: str) -> bool:
    verb = word.lower()
    return verb not in _NO_VERBS and verb.removesuffix("s") not in DAYS and not verb.endswith(_PAST_OR_GERUND)
