"""What users say of themselves in German, Spanish, French, Italian, Portuguese and Dutch, if they say it plainly.

Each form stands at the start of a sentence and in the present: who people are, where they live and work, what their
health and diet demand, what they like, who their family is, and standing instructions. All else is left to the raw
talk, because the rules do not parse these languages.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from agent_memory.language.offline.speech import is_foreign
from agent_memory.language.offline.text import straighten
from agent_memory.models import FactKind
from agent_memory.text.instructions import standing_instruction
from agent_memory.text.patterns import Linear, bounded, either, linear

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
        fact="ich hei(?:ß|ss)e|mein name ist|ich (?:wohne|lebe) (?:in|bei|auf)|ich komme aus"
        "|ich arbeite (?:als|bei|in|im|für)|ich bin (?:\\d+ jahre alt|verheiratet|geschieden|verwitwet|linkshänderin?)"
        "|(?:meine?|unsere?) KIN (?:hei(?:ß|ss)t|wohnt|lebt|arbeitet)",
        preference="ich (?:mag|liebe|hasse|bevorzuge|verabscheue)|ich (?:esse|trinke) (?:keine?n?|nur|kaum)"
        "|meine? lieblings\\w+ (?:ist|sind|hei(?:ß|ss)t)",
        unsure="vielleicht wahrscheinlich eventuell würde hätte wäre wenn",
    ),
    _Forms(
        opening="por_cierto sí no pues y pero hola bueno oye",
        kin="mujer marido hij[oa] madre padre herman[oa] novi[oa] pareja jef[ea] abuel[oa] perr[oa] gat[oa] espos[oa]"
        " suegr[oa]",
        health="alérgic[oa] vegetarian[oa] vegan[oa] cel[ií]ac[oa] diabétic[oa] asmátic[oa] intolerante sord[oa]"
        " cieg[oa]",
        vital="(?:yo )?soy HEALTH|mi KIN(?: \\w+)? es HEALTH"
        "|tengo (?:alergia|diabetes|asma|epilepsia|migrañas|intolerancia)",
        fact="(?:yo )?(?:me llamo|mi nombre es|soy de|vivo en|trabajo (?:en|de|como|para)|tengo \\d+ años"
        "|soy (?:zurd[oa]|solter[oa]|viud[oa])|estoy (?:casad[oa]|divorciad[oa]))"
        "|(?:mi|nuestr[oa]) KIN (?:se llama|vive en|trabaja)",
        preference="(?:a mí )?(?:no )?me (?:gustan?|encantan?)"
        "|(?:yo )?(?:odio|detesto|prefiero|adoro|no (?:como|bebo|tomo|soporto))",
        unsure="quiz[aá]s? tal_vez sería si jaja\\w*",
    ),
    _Forms(
        opening="au_fait oui non et mais bonjour",
        kin="femme mari fils fille mère père frère sœur soeur copine copain compagne? chef chienn?e? chatt?e?"
        " grand-mère grand-père belle-mère beau-père",
        health="allergique végétarienn?e? végane? végétalien(?:ne)? intolérante? diabétique asthmatique enceinte"
        " sourde? aveugle cœliaque",
        vital="je suis HEALTH|(?:mon|ma) KIN(?: \\w+)? est HEALTH"
        "|j'ai (?:une allergie|une intolérance|du diabète|de l'asthme|de l'épilepsie)",
        fact="je m'appelle|mon nom est|j'habite|je vis (?:à|en|au|aux|dans)|je viens d\\w+|j'ai \\d+ ans"
        "|je travaille (?:à|en|au|aux|chez|comme|pour|dans)|je suis (?:mariée?|divorcée?|gauch(?:er|ère))"
        "|(?:mon|ma|notre) KIN (?:s'appelle|habite|vit|travaille)",
        preference="j'(?:aime|adore)|je (?:n'aime pas|déteste|préfère|ne (?:mange|bois|supporte))",
        unsure="peut-être serait si mdr",
    ),
    _Forms(
        opening="comunque sì no e ma ciao",
        kin="moglie marito figli[oa] madre padre fratello sorella fidanzat[oa] compagn[oa] capo nonn[oa] cane gatt[oa]"
        " mamma papà suocer[oa]",
        health="allergic[oa] vegetarian[oa] vegan[oa] celiac[oa] diabetic[oa] asmatic[oa] intollerante incinta"
        " sord[oa]",
        vital="(?:io )?sono HEALTH|(?:il |la )?mi[oa] KIN(?: \\w+)? è HEALTH"
        "|ho (?:un'allergia|il diabete|l'asma|l'epilessia|un'intolleranza)",
        fact="(?:io )?(?:mi chiamo|il mio nome è|abito (?:a|in)|vivo (?:a|in)|vengo da|ho \\d+ anni"
        "|lavoro (?:come|in|a|al|alla|per|presso)|sono (?:sposat[oa]|divorziat[oa]|mancin[oa]))"
        "|(?:il |la )?(?:mi[oa]|nostr[oa]) KIN (?:si chiama|abita|vive|lavora)",
        preference="(?:a me )?(?:non )?mi (?:piace|piacciono)"
        "|(?:io )?(?:odio|detesto|preferisco|adoro|non (?:mangio|bevo|sopporto))",
        unsure="forse sarebbe se boh",
    ),
    _Forms(
        opening="aliás sim não e mas olá",
        kin="mulher marido filh[oa] mãe pai irmão irmã namorad[oa] parceir[oa] chefe avó avô cão gat[oa] espos[oa]"
        " sogr[oa] cachorro",
        health="alérgic[oa] vegetarian[oa] vegan[oa] celíac[oa] diabétic[oa] asmátic[oa] intolerante surd[oa] ceg[oa]",
        vital="(?:eu )?sou HEALTH|(?:o |a )?(?:meu|minha) KIN(?: \\w+)? é HEALTH"
        "|(?:eu )?tenho (?:alergia|diabetes|asma|epilepsia|intolerância)",
        fact="(?:eu )?(?:chamo-me|me chamo|(?:o )?meu nome é|moro (?:em|no|na)|vivo (?:em|no|na)|sou d[eoa]"
        "|trabalho (?:em|como|no|na|para)|tenho \\d+ anos|sou (?:casad[oa]|solteir[oa]|canhot[oa]))"
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
        fact="ik heet|mijn naam is|ik (?:woon|leef) in|ik kom uit|ik werk (?:als|bij|in|voor)"
        "|ik ben (?:\\d+ jaar|getrouwd|gescheiden|linkshandig)|(?:mijn|onze|ons) KIN (?:heet|woont|werkt)",
        preference="ik (?:houd? (?:niet )?van|haat|verkies|(?:eet|drink) (?:geen|alleen|nooit))",
        unsure="misschien zou als",
    ),
)


class _Patterns(NamedTuple):
    vital: Linear
    fact: Linear
    preference: Linear
    unsure: Linear
    kin: Linear


def _patterns(forms: _Forms) -> _Patterns:
    words = {"KIN": either(forms.kin), "HEALTH": either(forms.health)}
    starts = rf"^(?:{either(forms.opening)}[, ]+){{0,3}}"

    def start(form: str) -> Linear:
        filled = form.replace("KIN", words["KIN"]).replace("HEALTH", words["HEALTH"])
        return linear(rf"{starts}(?P<what>{filled})(?:\W|$)", re.I)

    unsure = linear(rf"[?¿\"“„«]|(?:^|\W)(?:{either(forms.unsure)}|haha\w*|lol)(?:\W|$)", re.I)
    return _Patterns(start(forms.vital), start(forms.fact), start(forms.preference), unsure, linear(words["KIN"], re.I))


_PATTERNS = [_patterns(forms) for forms in _LANGUAGES]
_POINTING = either("""
    es das ihn sie dich euch dies\\w* mein_leben eso esto este esta que ça cela ce cette questo questa che disso disto
    isso isto dit dat deze je jou lo
""")
_CONTRAST = linear(r"[,;] (?:aber|doch|pero|mais|ma|mas|maar)\s", re.I)
_DANGLING = bounded(
    rf"^(?:\S+ ){{0,2}}(?:mag|liebe|hasse|gustan?|encantan?|odio|detesto|prefiero|adoro|j'aime|j'adore|déteste|préfère"
    rf"|piace|piacciono|preferisco|gosto|odeio|prefiro|van|haat)(?: pas| mucho| molto| muito| beaucoup| sehr)?"
    rf"(?:$|[.!,]| {_POINTING}(?:$|[ .!,]))",
    re.I,
)
"""A liking of something that only another sentence names."""


class Told(NamedTuple):
    """A memory of one sentence, in its own words."""

    kind: FactKind
    importance: float
    text: str
    subject: str = ""
    """The words before the value, of what has one value at a time: "ich wohne in"; empty if it is no such thing."""


@lru_cache(maxsize=1024)
def told(text: str) -> Told | None:
    """The memory of a sentence; None if it says nothing plainly, or is English."""
    if len(text) > _LONGEST or text.rstrip().endswith("?"):
        return None
    order = text.partition(",")[0]
    if is_foreign(text) and (standing_instruction(order) or standing_instruction(text)):
        return Told("requirement", _IMPORTANCE["requirement"], order if standing_instruction(order) else text)
    whole = text[: contrast.start()] if (contrast := _CONTRAST.search(text)) else text
    plain = straighten(whole).strip()
    for language in _PATTERNS:
        if language.unsure.search(plain):
            continue
        if language.vital.search(plain):
            return Told("fact", _IMPORTANCE["vital"], whole)
        if (found := language.fact.search(plain)) is not None:
            subject = "" if language.kin.search(found[0]) else found["what"].lower()
            return Told("fact", _IMPORTANCE["fact"], whole, subject)
        if language.preference.search(plain) and not _DANGLING.search(plain):
            return Told("preference", _IMPORTANCE["preference"], whole)
    return None
