"""What users say of themselves in German, Spanish, French, Italian, Portuguese and Dutch, if they say it plainly.

Each form stands at the start of a sentence and in the present: who people are, where they live and work, what their
health and diet demand, what they like, who their family is, and standing instructions. All else is left to the raw
talk, because the rules do not parse these languages.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from agent_memory.language.offline.text import straighten
from agent_memory.models import FactKind
from agent_memory.text.instructions import standing_instruction
from agent_memory.text.languages import is_foreign
from agent_memory.text.patterns import Linear, bounded, either, linear
from agent_memory.text.wishes import wish

_LONGEST = 200
"""In characters. A choice."""
_IMPORTANCE = {"vital": 0.75, "requirement": 0.65, "fact": 0.5, "preference": 0.5}
"""As in English (`kinds.importance_of`)."""


class _Forms(NamedTuple):
    """How sentences in one language begin. `KIN` and `HEALTH` stand for the words of these tables."""

    opening: str
    """What may stand before."""
    kin: str
    health: str
    vital: str
    name: str
    home: str
    fact: str
    preference: str
    unsure: str
    """Words of a guess, a condition or a joke."""


_LANGUAGES = (
    _Forms(
        opening="übrigens also ja nein und aber hallo",
        kin="frau mann sohn tochter mutter vater bruder schwester freundin freund partnerin partner chefin chef oma opa"
        " hund katze kind",
        health="allergisch vegetarierin? vegetarisch veganerin? vegan laktoseintolerant schwanger diabetikerin?"
        " asthmatikerin? taub blind",
        vital="ich bin (?:auch )?HEALTH|meine? KIN(?: \\w+)? ist HEALTH"
        "|ich habe (?:eine )?(?:\\w*allergie|\\w*unverträglichkeit|diabetes|asthma|zöliakie|migräne|epilepsie)",
        name="ich hei(?:ß|ss)e|mein name ist",
        home="(?:ich (?:wohne|lebe)|wir (?:wohnen|leben))NOW (?:in|bei|auf)"
        "|(?:jetzt|nun|seit [\\w.]+) (?:wohne|lebe) ich (?:in|bei|auf)"
        "|(?:ich bin|wir sind) (?:[\\w.]+ ){0,3}nach [\\w-]+ (?:um)?gezogen",
        fact="ich komme aus|(?:ich wohne|ich lebe|wir wohnen)NOW mit|ich arbeiteNOW (?:als|bei|in|im|für)"
        "|ich bin (?:\\d+ jahre alt|verheiratet|geschieden|verwitwet|linkshänderin?)"
        "|(?:meine?|unsere?) KIN (?:hei(?:ß|ss)t|wohnt|lebt|arbeitet)",
        preference="ich (?:mag|liebe|hasse|bevorzuge|verabscheue)|ich (?:esse|trinke) (?:keine?n?|nur|kaum)"
        "|meine? lieblings\\w+ (?:ist|sind|hei(?:ß|ss)t)",
        unsure="vielleicht wahrscheinlich eventuell würde hätte wäre wenn",
    ),
    _Forms(
        opening="por_cierto sí no pues y pero hola bueno oye ahora",
        kin="mujer marido hij[oa] madre padre herman[oa] novi[oa] pareja jef[ea] abuel[oa] perr[oa] gat[oa] espos[oa]"
        " suegr[oa]",
        health="alérgic[oa] vegetarian[oa] vegan[oa] cel[ií]ac[oa] diabétic[oa] asmátic[oa] intolerante sord[oa]"
        " cieg[oa]",
        vital="(?:yo )?(?:soy|me he hecho|me hice) HEALTH|mi KIN(?: \\w+)? es HEALTH"
        "|tengo (?:alergia|diabetes|asma|epilepsia|migrañas|intolerancia)",
        name="(?:yo )?me llamo|mi nombre es",
        home="(?:yo )?(?:(?:vivo|vivimos)NOW en|me (?:mudé|he mudado) a|nos (?:mudamos|hemos mudado) a)"
        "|ya no (?:vivo|vivimos) en [\\p{L} ]+, (?:ahora (?:vivo|vivimos) en|me mudé a|nos mudamos a)",
        fact="(?:yo )?(?:soy de|trabajoNOW (?:en|de|como|para)|tengo \\d+ años"
        "|soy (?:zurd[oa]|solter[oa]|viud[oa])|estoy (?:casad[oa]|divorciad[oa]))"
        "|(?:mi|nuestr[oa]) KIN (?:se llama|vive en|trabaja)",
        preference="(?:a mí )?(?:no )?me (?:gustan?|encantan?)"
        "|(?:yo )?(?:odio|detesto|prefiero|adoro|no (?:como|bebo|tomo|soporto))",
        unsure="quiz[aá]s? tal_vez sería si jaja\\w*",
    ),
    _Forms(
        opening="au_fait oui non et mais bonjour maintenant",
        kin="femme mari fils fille mère père frère sœur soeur copine copain compagne? chef chienn?e? chatt?e?"
        " grand-mère grand-père belle-mère beau-père",
        health="allergique végétarienn?e? végane? végétalien(?:ne)? intolérante? diabétique asthmatique enceinte"
        " sourde? aveugle cœliaque",
        vital="je suis(?: devenue?)? HEALTH|(?:mon|ma) KIN(?: \\w+)? est HEALTH"
        "|j'ai (?:une allergie|une intolérance|du diabète|de l'asthme|de l'épilepsie)",
        name="je m'appelle|mon nom est",
        home="j'habite|nous habitons|on habite|(?:je vis|nous vivons)NOW (?:à|en|au|aux|dans)"
        "|j'ai déménagé (?:à|en|au|aux)|je me suis installée? (?:à|en|au)",
        fact="je viens d\\w+|j'ai \\d+ ans"
        "|je travaille (?:à|en|au|aux|chez|comme|pour|dans)|je suis (?:mariée?|divorcée?|gauch(?:er|ère))"
        "|(?:mon|ma|notre) KIN (?:s'appelle|habite|vit|travaille)",
        preference="j'(?:aime|adore)|je (?:n'aime pas|déteste|préfère|ne (?:mange|bois|supporte))",
        unsure="peut-être serait si mdr",
    ),
    _Forms(
        opening="comunque sì no e ma ciao ora adesso",
        kin="moglie marito figli[oa] madre padre fratello sorella fidanzat[oa] compagn[oa] capo nonn[oa] cane gatt[oa]"
        " mamma papà suocer[oa]",
        health="allergic[oa] vegetarian[oa] vegan[oa] celiac[oa] diabetic[oa] asmatic[oa] intollerante incinta"
        " sord[oa]",
        vital="(?:io )?sono(?: diventat[oa])? HEALTH|(?:il |la )?mi[oa] KIN(?: \\w+)? è HEALTH"
        "|ho (?:un'allergia|il diabete|l'asma|l'epilessia|un'intolleranza)",
        name="(?:io )?(?:mi chiamo|il mio nome è)",
        home="(?:io )?(?:(?:abito|vivo|abitiamo|viviamo)NOW (?:a|in)|(?:mi sono|ci siamo) trasferit[oai] (?:a|in))",
        fact="(?:io )?(?:vengo da|ho \\d+ anni"
        "|lavoroNOW (?:come|in|a|al|alla|per|presso)|sono (?:sposat[oa]|divorziat[oa]|mancin[oa]))"
        "|(?:il |la )?(?:mi[oa]|nostr[oa]) KIN (?:si chiama|abita|vive|lavora)",
        preference="(?:a me )?(?:non )?mi (?:piace|piacciono)"
        "|(?:io )?(?:odio|detesto|preferisco|adoro|non (?:mangio|bevo|sopporto))",
        unsure="forse sarebbe se boh",
    ),
    _Forms(
        opening="aliás sim não e mas olá agora",
        kin="mulher marido filh[oa] mãe pai irmão irmã namorad[oa] parceir[oa] chefe avó avô cão gat[oa] espos[oa]"
        " sogr[oa] cachorro",
        health="alérgic[oa] vegetarian[oa] vegan[oa] celíac[oa] diabétic[oa] asmátic[oa] intolerante surd[oa] ceg[oa]",
        vital="(?:eu )?sou HEALTH|(?:o |a )?(?:meu|minha) KIN(?: \\w+)? é HEALTH"
        "|(?:eu )?tenho (?:alergia|diabetes|asma|epilepsia|intolerância)",
        name="(?:eu )?(?:chamo-me|me chamo|(?:o )?meu nome é)",
        home="(?:eu )?(?:(?:moro|vivo|moramos|vivemos)NOW (?:em|no|na)|(?:me )?mudei(?:-me)? para|mudámo-nos para)",
        fact="(?:eu )?(?:sou d[eoa]"
        "|trabalhoNOW (?:em|como|no|na|para)|tenho \\d+ anos|sou (?:casad[oa]|solteir[oa]|canhot[oa]))"
        "|(?:o |a )?(?:meu|minha|nosso|nossa) KIN (?:chama-se|se chama|mora|vive|trabalha)",
        preference="(?:eu )?(?:não )?gosto d\\w+|(?:eu )?(?:adoro|odeio|detesto|prefiro|não (?:como|bebo|suporto))",
        unsure="talvez seria se kkk\\w*",
    ),
    _Forms(
        opening="trouwens ja nee en maar hoi",
        kin="vrouw man zoon dochter moeder vader broer zus vriendin? partner baas oma opa hond kat kind",
        health="allergisch vegetari[ëe]r vegetarisch veganist vegan lactose-?intolerant zwanger diabeet doof blind",
        vital="ik ben HEALTH|mijn KIN(?: \\w+)? is HEALTH"
        "|ik heb (?:een )?(?:\\w*allergie|diabetes|astma|epilepsie|migraine)",
        name="ik heet|mijn naam is",
        home="(?:ik (?:woon|leef)|(?:we|wij) wonen)NOW in"
        "|(?:nu|sinds \\w+) woon ik in|(?:ik ben|we zijn) verhuisd naar",
        fact="ik kom uit|ik werkNOW (?:als|bij|in|voor)"
        "|ik ben (?:\\d+ jaar|getrouwd|gescheiden|linkshandig)|(?:mijn|onze|ons) KIN (?:heet|woont|werkt)",
        preference="ik (?:houd? (?:niet )?van|haat|verkies|(?:eet|drink) (?:geen|alleen|nooit))",
        unsure="misschien zou als",
    ),
)


class _Patterns(NamedTuple):
    vital: Linear
    name: Linear
    home: Linear
    fact: Linear
    preference: Linear
    unsure: Linear


_NOW = "(?: (?:jetzt|nun|inzwischen|mittlerweile|auch|ahora|ya|maintenant|ora|adesso|agora|nu|ook))?"


def _patterns(forms: _Forms) -> _Patterns:
    words = {"KIN": either(forms.kin), "HEALTH": either(forms.health), "NOW": _NOW}
    starts = rf"^(?:{either(forms.opening)}[, ]+){{0,3}}"

    def start(form: str) -> Linear:
        for name, pattern in words.items():
            form = form.replace(name, pattern)
        return linear(rf"{starts}(?:{form})(?:\W|$)", re.I)

    unsure = linear(rf"[?¿\"“„«]|(?:^|\W)(?:{either(forms.unsure)}|haha\w*|lol)(?:\W|$)", re.I)
    return _Patterns(
        vital=start(forms.vital),
        name=start(forms.name),
        home=start(forms.home),
        fact=start(forms.fact),
        preference=start(forms.preference),
        unsure=unsure,
    )


_PATTERNS = [_patterns(forms) for forms in _LANGUAGES]
_AND = bounded(
    r",? (?:und|y|et|e|en) (?=(?P<verb>wohne|lebe|arbeite|bin|woon|werk|ben)\b"
    r"|(?:ich|ik|j'|je|vivo|trabajo|soy|abito|lavoro|sono|moro|trabalho|sou)\b)",
    re.I,
)
"""Where a second statement of the same speaker begins. A German or Dutch verb lacks its subject there."""
_POINTING = either("""
    es das ihn sie dich euch dies\\w* mein_leben eso esto este esta que ça cela ce cette questo questa che disso disto
    isso isto dit dat deze je jou lo
""")
_DUTCH = ("woon", "werk", "ben")
_CONTRAST = linear(r"[,;] (?:aber|doch|pero|mais|ma|mas|maar)\s", re.I)
_DANGLING = bounded(
    rf"^(?:\S+ ){{0,2}}(?:mag|liebe|hasse|gustan?|encantan?|odio|detesto|prefiero|adoro|j'aime|j'adore|déteste|préfère"
    rf"|piace|piacciono|preferisco|gosto|odeio|prefiro|van|haat)(?: pas| mucho| molto| muito| beaucoup| sehr)?"
    rf"(?:$|[.!,]| {_POINTING}(?:$|[ .!,]))",
    re.I,
)
"""A liking of something that only another sentence names."""


class Told(NamedTuple):
    """A memory of one sentence.

    Attributes:
        text: The words that tell it, as they stand in the sentence.
        said: The same, with the subject if that stands before an "and".
        subject: What has one value at a time ("name", "home"); empty for all else.
    """

    kind: FactKind
    importance: float
    text: str
    said: str
    subject: str = ""


@lru_cache(maxsize=1024)
def told(text: str) -> tuple[Told, ...]:
    """The memories of a sentence; none if it says nothing plainly, or is English."""
    if len(text) > _LONGEST or text.rstrip().endswith("?"):
        return ()
    order = text.partition(",")[0]
    if is_foreign(text) and (standing_instruction(order) or standing_instruction(text) or wish(text)):
        order = order if standing_instruction(order) else text
        return (Told("requirement", _IMPORTANCE["requirement"], order, order),)
    whole = text[: contrast.start()] if (contrast := _CONTRAST.search(text)) else text
    joint = _AND.search(straighten(whole))
    if joint is not None:
        first, second = whole[: joint.start()], whole[joint.end() :]
        pronoun = "" if joint["verb"] is None else "Ik " if joint["verb"].lower() in _DUTCH else "Ich "
        both = [_one(first, first), _one(second, f"{pronoun}{second}")]
        if all(both):
            return tuple(one for one in both if one is not None)
    one = _one(whole, whole)
    return () if one is None else (one,)


def _one(text: str, said: str) -> Told | None:
    plain = straighten(said).strip()
    for language in _PATTERNS:
        if language.unsure.search(plain):
            continue
        if language.vital.search(plain):
            return Told("fact", _IMPORTANCE["vital"], text, said)
        for subject in ("name", "home", "fact"):
            if getattr(language, subject).search(plain):
                return Told("fact", _IMPORTANCE["fact"], text, said, "" if subject == "fact" else subject)
        if language.preference.search(plain) and not _DANGLING.search(plain):
            return Told("preference", _IMPORTANCE["preference"], text, said)
    return None
