"""The words and forms of six languages by which the rules know what a sentence tells (see `foreign`). Plain data."""

from __future__ import annotations

import re
from typing import NamedTuple

from agent_memory.text.instructions import ALWAYS, FROM_NOW_ON, NEVER
from agent_memory.text.patterns import bounded, either, linear


class Language(NamedTuple):
    """What tells, in sentences of one language, who does something and when."""

    words: str
    """Frequent words, by which the language of a sentence is told."""
    unsure: str
    """Words of a guess, a condition or a joke."""
    mine: str
    past: str
    other: str
    """Words of a request or a wish."""
    denied: str


LANGUAGES = (
    Language(
        words="der die das den dem ich wir ist und am im zum zur nach mit habe haben hat bei ein eine mein meine",
        unsure="vielleicht wahrscheinlich eventuell würden? hätten? wäre wenn falls ob",
        mine="ich|wir|^(?:meine?|unsere?)",
        past=r"(?:hab|habe|hat|haben|hatten?|bin|ist|sind|wurden?) (?:\S+ ){0,12}(?:\p{L}{0,6}ge\p{L}+(?:t|en)|(?:be|"
        r"ver|er|ent|zer)\p{L}+(?:t|en)|\p{L}+iert)|war(?:en)?",
        other="du dir dich ihr euch brauchen? möchten? wollen? will muss müssen soll suche",
        denied=r"nichts? nie kein\p{L}*",
    ),
    Language(
        words="el la los las y con una un del al es en por que de mi me he tengo voy",
        unsure=r"quiz[aá]s? tal_vez a_lo_mejor sería si jaja\p{L}* \p{L}+ría",
        mine=r"yo|he|hemos|tengo|tenemos|voy|vamos|empiezo|empezamos|viajo|viajamos|vuelo|salgo|llego|fui|fuimos|"
        r"^(?:mis?|nuestr[oa])|me (?:caso|mudo|operan|\p{L}+(?:aron|ieron))|nos (?:casamos|mudamos)|"
        r"\p{L}{3,}(?:[éí]|imos)|abrimos|tomo|uso|pago|cobro|vendo|llevo|usamos|pagamos|vendemos|compramos|"
        r"^(?:ya no|ahora) \p{L}{3,}(?:o|mos)",
        past=r"(?:he|hemos|ha|han) \p{L}+(?:ado|ido|to|cho)|\p{L}{2,}[éíó]|fui|fuimos|fue|\p{L}+(?:aron|ieron|"
        r"imos)",
        other="tú te ti usted puedes podrías quiero queremos quisiera querría necesito necesitamos busco "
        "buscamos tengo_que",
        denied="no nada nunca",
    ),
    Language(
        words="le la les des et est une un du au aux en de à chez je j'ai nous on mon ma",
        unsure="peut-être serait si mdr",
        mine=r"j'\p{L}+|je|nous|on|^(?:mon|ma|mes|notre|nos)",
        past=r"(?:j'ai|on a|nous avons|je (?:me )?suis|nous sommes|a|est|s'est|ont|sont) (?:\p{L}+ )?\p{L}+(?:é|i|u|is|"
        r"it|ert)e?s?",
        other="tu te toi vous veux voulons voudrais voudrions dois devons faut cherche cherchons besoin",
        denied=r"ne n'\p{L}+ pas rien",
    ),
    Language(
        words="il la lo gli e è una un del al alla ho di per che con da mi mia mio abbiamo siamo sono",
        unsure=r"forse magari sarebbe se boh \p{L}+rei",
        mine=r"io|ho|abbiamo|sono|siamo|vado|andiamo|parto|partiamo|inizio|comincio|mi \p{L}+o|^(?:(?:il|la) "
        r")?(?:mi[oa]|nostr[oa])",
        past=r"(?:ho|abbiamo|sono|siamo|ha|hanno|è) \p{L}+(?:at|it|ut|tt|st|rt|nt|s)[oaie]",
        other="tu ti te lei voglio vogliamo devo dobbiamo cerco bisogno puoi potresti",
        denied="non niente",
    ),
    Language(
        words="o a os as e é uma um do da no na em com ao à tenho de eu meu minha fui fomos para",
        unsure=r"talvez seria se kkk\p{L}* \p{L}+ria",
        mine=r"eu|nós|tenho|temos|vou|vamos|começo|viajo|viajamos|parto|fui|fomos|\p{L}{3,}ei|vendi|perdi|parti|"
        r"recebi|^(?:[oa] )?(?:meu|minha|nosso|nossa)",
        past=r"\p{L}{3,}(?:ei|ou|eu|iu)|vendi|perdi|parti|recebi|fui|fomos|foi|\p{L}+aram",
        other="tu te você lhe quero queremos preciso precisamos procuro podes podia",
        denied="não nada",
    ),
    Language(
        words="de het een en ik we je is op met naar van heb ben mijn voor kan kunt",
        unsure="misschien zouden? zou als",
        mine="ik|we|wij|^(?:mijn|onze|ons)",
        past=r"(?:heb|heeft|hebben|had|ben|zijn|werd|is) (?:\S+ ){0,12}(?:ge\p{L}+|(?:be|ver|ont|her|er)\p{L}+(?:d|t|"
        r"en))|was|waren",
        other="jij je jou u wil willen moet moeten zoek zoeken nodig",
        denied="niets? geen",
    ),
)
FRENCH = 2
_OPENING = either("""
    übrigens also ja nein und aber hallo por_cierto sí no pues y pero hola bueno oye au_fait oui non et mais bonjour
    comunque sì e ma ciao aliás sim não mas olá trouwens nee en maar hoi
    (?:jetzt|nun|ahora|maintenant|ora|adesso|agora|nu)
""")
STARTS = rf"^(?:{_OPENING}[, ]+){{0,3}}"
NOW = "(?: (?:jetzt|nun|inzwischen|mittlerweile|auch|ahora|ya|maintenant|ora|adesso|agora|nu|ook))?"
POSSESSIVE = "(?:meine?|unsere?|mi|nuestr[oa]|mon|ma|notre|(?:il |la )?(?:mi[oa]|nostr[oa])"
POSSESSIVE += "|(?:[oa] )?(?:meu|minha|nosso|nossa)|mijn|onze|ons)"
ARTICLE = "(?:der|die|das|el|la|los|las|le|les|il|lo|o|a|os|as|de|het)"
KIN = either("""
    frau mann sohn tochter mutter vater bruder schwester freundin freund partnerin partner chefin chef oma opa hund
    katze kind schwieger\\p{L}+ mujer marido hij[oa] madre padre herman[oa] novi[oa] pareja jef[ea] abuel[oa] perr[oa]
    gat[oa] espos[oa] suegr[oa] prim[oa] soci[oa] femme mari fils fille mère père frère sœur soeur copine copain
    compagne? chienn?e? chatt?e? grand-mère grand-père belle-mère beau-père moglie marito figli[oa] fratello sorella
    fidanzat[oa] compagn[oa] capo nonn[oa] cane gatt[oa] mamma papà suocer[oa] mulher filh[oa] mãe pai irmão irmã
    namorad[oa] parceir[oa] avô avó cão sogr[oa] cachorro vrouw zoon dochter moeder vader broer zus vriendin? baas hond
    kat
""")
HEALTH = either("""
    allergisch vegetarierin? vegetarisch veganerin? vegan laktoseintolerant schwanger diabetikerin? asthmatikerin? taub
    blind alérgic[oa] vegetarian[oa] vegan[oa] cel[ií]ac[oa] diabétic[oa] asmátic[oa] intolerante embarazada sord[oa]
    cieg[oa] allergique végétarienn?e? végane? végétalien(?:ne)? intolérante? diabétique asthmatique enceinte sourde?
    aveugle cœliaque allergic[oa] celiac[oa] diabetic[oa] asmatic[oa] intollerante incinta surd[oa] grávida ceg[oa]
    vegetari[ëe]r vegetarisch veganist lactose-?intolerant zwanger diabeet doof
""")
_BEGINS = {
    "vital": r"ich bin (?:auch )?HEALTH|meine? KIN(?: \w+)? ist HEALTH|(?:yo )?(?:soy|me he hecho|me hice) HEALTH|mi "
    r"KIN(?: \w+)? es HEALTH|je suis(?: devenue?)? HEALTH|(?:mon|ma) KIN(?: \w+)? est HEALTH|(?:io )?sono(?: "
    r"diventat[oa])? HEALTH|(?:il |la )?mi[oa] KIN(?: \w+)? è HEALTH|(?:eu )?sou HEALTH|(?:o |a )?(?:meu|minha) "
    r"KIN(?: \w+)? é HEALTH|ik ben HEALTH|mijn KIN(?: \w+)? is HEALTH",
    "name": r"ich hei(?:ß|ss)e|mein name ist|(?:yo )?me llamo|mi nombre es|je m'appelle|mon nom est|(?:io )?(?:mi "
    r"chiamo|il mio nome è)|(?:eu )?(?:chamo-me|me chamo|(?:o )?meu nome é)|ik heet|mijn naam is",
    "home": r"(?:ich (?:wohne|lebe)|wir (?:wohnen|leben))NOW (?:in|bei|auf)|(?:jetzt|nun|seit [\w.]+) (?:wohne|lebe) "
    r"ich (?:in|bei|auf)|(?:ich bin|wir sind) (?:[\w.]+ ){0,3}nach [\w-]+ (?:um)?gezogen|(?:yo )?(?:(?:vivo|"
    r"vivimos)NOW en|me (?:mudé|he mudado) a|nos (?:mudamos|hemos mudado) a)|ya no (?:vivo|vivimos) en [\p{L} "
    r"]+, (?:ahora (?:vivo|vivimos) en|me mudé a|nos mudamos a)|j'habite|nous habitons|on habite|(?:je vis|nous "
    r"vivons)NOW (?:à|en|au|aux|dans)|(?:j'ai|on a|nous avons) déménagé (?:à|en|au|aux)|je me suis installée? "
    r"(?:à|en|au)|(?:io )?(?:(?:abito|vivo|abitiamo|viviamo)NOW (?:a|in)|(?:mi sono|ci siamo) trasferit[oai] "
    r"(?:a|in))|(?:eu )?(?:(?:moro|vivo|moramos|vivemos)NOW (?:em|no|na)|(?:me )?mudei(?:-me)? para|mudámo-nos "
    r"para)|(?:ik (?:woon|leef)|(?:we|wij) wonen)NOW in|(?:nu|sinds \w+) woon ik in|(?:ik ben|we zijn) verhuisd "
    r"naar",
    "work": r"ich arbeiteNOW (?:als|bei|in|im|für)|(?:yo )?trabajoNOW (?:en|de|como|para)|je travaille(?: à \S+)? (?:à|"
    r"en|au|aux|chez|comme|pour|dans)|(?:io )?lavoroNOW (?:come|in|a|al|alla|per|presso)|(?:eu )?trabalhoNOW "
    r"(?:em|como|no|na|para)|ik werkNOW (?:als|bij|in|voor)",
    "fact": r"ich komme aus|(?:ich wohne|ich lebe|wir wohnen)NOW mit|(?:ich|wir) (?:be)?nutzen?|(?:ich|wir) verwenden?|"
    r"ich (?:studiere|lerne) \p{L}+|ich bin (?:\d+ jahre alt|verheiratet|geschieden|verwitwet|linkshänderin?)|"
    r"(?:ich bin|bin) (?:\p{L}+e[rns]? )?(?-i:\p{Lu}\p{Ll}{3,}(?:e[rn]|erin|in|mann|frau|wart|wirt|ist|eur|or|"
    r"ent|ant|\p{Ll}arzt))|(?:yo )?(?:soy de|tengo \d+ años|soy (?:zurd[oa]|solter[oa]|viud[oa]|\p{L}+(?:ista|"
    r"[dt]ora?|fesora?|er[oa]|[ol]og[oa]|ogad[oa]))|estudio \p{L}+|estoy (?:casad[oa]|divorciad[oa]))|je viens "
    r"d\w+|j'ai \d+ ans|j'étudie|(?:j'|nous |on )(?:utilise|utilisons)|je suis (?:mariée?|divorcée?|gauch(?:er|"
    r"ère)|\p{L}+(?:teur|seur|trice|mière|lière|iste|ienne?|ogue|avocate?))|(?:io )?(?:vengo da|ho \d+ anni|"
    r"sono (?:sposat[oa]|divorziat[oa]|mancin[oa])|studio \p{L}+|(?:sono|faccio) (?:un |una |il |la |"
    r"l')?\p{L}+(?:ista|ier[ea]|tore|trice|olog[oa]|aio|aia|ario|etto))|(?:eu )?(?:sou d[eoa]|tenho \d+ anos|"
    r"estudo \p{L}+|sou (?:casad[oa]|solteir[oa]|canhot[oa]|\p{L}+(?:ista|eir[oa]|tora?|sora?|[ol]og[oa]|"
    r"advogad[oa])))|ik kom uit|ik studeer \p{L}+|(?:ik gebruik|we gebruiken) \p{L}+|ik ben (?:\d+ jaar|"
    r"getrouwd|gescheiden|linkshandig|(?:een )?\p{L}+(?:aar|eur|ist|ator|kundige|loog|arts|bouwer))",
    "preference": r"ich (?:mag|liebe|hasse|bevorzuge|verabscheue)|ich (?:esse|trinke) (?:keine?n?|nur|kaum)|meine? "
    r"lieblings\w+ (?:ist|sind|hei(?:ß|ss)t)|(?:a mí )?(?:no )?me (?:gustan?|encantan?)|(?:yo )?(?:odio|detesto|"
    r"prefiero|adoro|no (?:como|bebo|tomo|soporto))|j'(?:aime|adore)|je (?:n'aime pas|déteste|préfère|ne "
    r"(?:mange|bois|supporte))|(?:a me )?(?:non )?mi (?:piace|piacciono)|(?:io )?(?:odio|detesto|preferisco|"
    r"adoro|non (?:mangio|bevo|sopporto))|(?:eu )?(?:não )?gosto d\w+|(?:eu )?(?:adoro|odeio|detesto|prefiro|"
    r"não (?:como|bebo|suporto))|ik (?:houd? (?:niet )?van|haat|verkies|(?:eet|drink) (?:geen|alleen|nooit))",
}  # fmt: skip
BEGINS = {
    name: linear(rf"{STARTS}(?:{form.replace('KIN', KIN).replace('HEALTH', HEALTH).replace('NOW', NOW)})(?:\W|$)", re.I)
    for name, form in _BEGINS.items()
}
"""How a plain sentence begins, by what it is about."""
_ILLNESS = either("""
    \\p{L}*allergie \\p{L}*unverträglichkeit diabetes asthma zöliakie migräne epilepsie bluthochdruck rheuma alergia
    asma epilepsia migrañas? intolerancia hipertensión allergie intolérance diabète asthme épilepsie hypertension
    vertige
    migraines? allergia diabete emicrania intolleranza ipertensione intolerância enxaquecas? migraine hoge_bloeddruk
""")
IS = "(?:ist|es|est|è|é|is)"
ARTICLED = "(?:(?:eine?n?|un[ae]?|uma?|een|l'|d[eu]|de l'|il|la|le|l')[ ]?)?"
ILL = linear(
    rf"^(?:\S+ ){{0,6}}(?:habe?|hat|tengo|tiene|j'ai|a|ho|ha|tenho|tem|heb|heeft) {ARTICLED}{_ILLNESS}(?:\W|$)"
    r"|^\p{L}{4,} (?:\S+ ){0,2}\d[\d.,]* ?(?:mg|µg|mcg)(?:\W|$)"
    rf"|^{POSSESSIVE} (?:\S+ ){{1,2}}{IS} {HEALTH}(?:\W|$)|^\p{{Lu}}\p{{Ll}}+ {IS} {HEALTH}(?:\W|$)",
    re.I,
)
SOMEBODY = linear(
    r"^(?:das (?:sind|ist|hat|war)|c'est|er|sie|es|il|elle|él|ella|lui|lei|egli|ele|ela|hij|zij|ze|on"
    r"|que|qui|quien|wer|wie)\b",
    re.I,
)
"""A pronoun whose name stands elsewhere, or a question."""
NAMED = linear(
    rf"{STARTS}(?:{POSSESSIVE}|{ARTICLE}) (?:\S+ ){{1,5}}?"
    r"(?:hei(?:ß|ss)t|se llama|s'appelle|si chiama|chama-se|se chama|heet)(?: \S|$)"
    rf"|{STARTS}{POSSESSIVE} {KIN} (?:wohnt|lebt|arbeitet|vive|trabaja|habite|vit|travaille|abita|lavora|mora|trabalha"
    rf"|woont|werkt)(?:\W|$)",
    re.I,
)
OWNER = linear(
    rf"(?i:{STARTS}{POSSESSIVE} (?P<kin>{KIN})),?(?: (?P<name>\p{{Lu}}\p{{Ll}}+),?)?(?: (?P<verb>\p{{L}}+)|\W|$)"
)
SAYING = frozenset(
    """
    und y et e en o a sagt meint findet glaubt denkt will möchte mag dice piensa cree quiere dit pense croit veut trouve
    pensa crede vuole diz acha quer zegt vindt denkt wil
""".split()
)
"""What tells of nobody that matters, or goes on with a list."""
THING = linear(rf"{STARTS}(?:{POSSESSIVE}|{ARTICLE}) \p{{L}}{{3,}}", re.I)
OWN = linear(rf"{STARTS}{POSSESSIVE} \p{{L}}{{3,}}", re.I)
DATED = linear(rf"{STARTS}(?:{POSSESSIVE}|{ARTICLE}) (?:\S+ ){{1,4}}?{IS} (?:am|el|le|il|o|no dia|a|op) \d", re.I)
FIGURE = linear(
    r"[€$£] ?\d|\d[\d.,]* ?(?:[€$£]|kg|mg|µg)(?:\W|$)"
    r"|\d[\d.,]* (?:euros?|eur|pesos|reais|franken|francs?|dollars?|mitglied\p{L}+)(?:\W|$)",
    re.I,
)
PRICED = linear(r"(?:^|\W)(?:kostet|cuestan?|coût(?:e|ent)|costano?|custam?|kost)(?:\W|$)", re.I)
"""What something costs, which is a price on a list if it is nobody's own."""
_MONTHS = either("""
    januar februar märz april mai juni juli august september oktober november dezember enero febrero marzo abril mayo
    junio julio agosto septiembre octubre noviembre diciembre janvier février mars avril juin juillet août septembre
    octobre novembre décembre gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre janeiro fevereiro
    março maio junho julho setembro outubro novembro dezembro januari februari maart augustus
""")
_BEFORE_START = "(?:ab|vanaf|a partir d[eo](?:l| el)?|à partir d[eu]|dès(?: le)?)"
_BEFORE_PAST = "(?:seit|desde(?: el)?|depuis(?: le)?|dal|da|sinds)"
FROM = linear(rf"(^|[^\p{{L}}]){_BEFORE_START} ", re.I)
SINCE = linear(rf"(^|[^\p{{L}}]){_BEFORE_PAST} ", re.I)
UNTIL = linear(
    r"(^|[^\p{L}])(?:bis(?: zum)?|hasta(?: el)?|jusqu'(?:au|à|en)|fino (?:al|a)|até(?: ao?)?|tot(?: en met)?) ", re.I
)
_NOW_SO = either("""
    jetzt nun inzwischen mittlerweile neuerdings ab_sofort nicht_mehr kein\\p{L}*_(?:\\p{L}+_)?mehr ya_no ahora
    maintenant désormais n(?:e_|')\\p{L}+_plus finalement adesso ormai non_\\p{L}+_più agora já_não não_\\p{L}+_mais
    voortaan niet_meer geen_\\p{L}+_meer nu
""")
NOW_SO = linear(rf"(?:^|[^\p{{L}}'-]){_NOW_SO}(?:[^\p{{L}}]|$)", re.I)
"""What says that something is so now, or no longer."""
_CHANGES = either("""
    gewechselt verschoben (?:um)?gezogen mudé_a mudamos_a gekündigt abgesetzt aufgehört umgestellt
    cambi(?:ado|é|ó|amos)_(?:de|a) h[ae]_mudado hemos_mudado han?_subido han?_bajado (?:dejado|dejé|dejamos)_de
    changé_de déménagé quitté arrêté_de smesso_di cambiato trasferit[oai] mud(?:ei|ou|ámos)_(?:de|para) deixei_de
    troc(?:ámos|amos|ei|ou)_(?:de|para) veranderd_van verhuisd overgestapt gestopt_met
""")
CHANGED = linear(rf"(?:^|[^\p{{L}}'-]){_CHANGES}(?:[^\p{{L}}]|$)", re.I)
_LASTING = either("""
    wohn leb arbeite studier heiß heiss nehm nimm nutz verwend buche trink esse isst rauch spiel zahl fahr vivo vivimos
    vive trabaj estudi us[oa] tom[oa] compr[oa] pag[oa] com[oe] beb fum conduc llev[oa] llam abr habit travaill étudi
    utilis pren mang boi fume écri condui appell achet pai[eo] abit lavor studi prend bev guid chiam mor[oa] trabalh
    estud chama woon werk studeer gebruik neem eet drink rook rijd heet betaal
""")
LASTING = linear(rf"(?:^|[^\p{{L}}])(?:j')?{_LASTING}", re.I)
"""How verbs begin that tell what lasts."""
BY_NAME = linear(
    r"^(?:\p{L}{3,} ){1,2}(?:hat|ist|ha|han|est|è|é|tem|heeft|is|ya|ne|n'\p{L}+|se|s'est|não|non|já) ", re.I
)
"""A sentence about somebody by name, unless it begins with an adverb or an article."""
WITH_KIN = linear(rf"(?:^|\W)(?:mit|con|avec|com|met) \S+ {KIN}(?:\W|$)", re.I)
NUMBER = linear(r"\d[\d.,]*\d|\d")
UNSAID = frozenset(
    "monat jahr woche tag euro euros semana semanas mois semaine mese mesi settimana mês meses maand".split()
)
"""Words that name no subject."""
WITHDRAWN = linear(
    r"(?:^|\W)(?:(?:du|sie) (?:musst|müssen|brauchst|brauchen)|(?:brauchst|musst) du) (?:\S+ ){0,9}?mehr(?:\W|$)"
    r"|^(?:du|sie) (?:darfst|kannst|dürfen|können) (?:mir )?(?:ruhig|wieder|jetzt) "
    r"|(?:^|\W)ya no (?:hace falta|es necesario|tienes que|necesito que)(?:\W|$)|^ya puedes "
    r"|(?:^|\W)(?:plus besoin (?:de|d'|que)|n'est plus (?:nécessaire|la peine))"
    r"|^(?:tu peux|vous pouvez) .*(?:maintenant|(?:de|à) nouveau)(?:\W|$)"
    r"|(?:^|\W)non (?:serve|occorre|devi|c'è bisogno|è necessario) .*più|(?:^|\W)non (?:serve|occorre) più"
    r"|^puoi .*(?:di nuovo|adesso|ora)(?:\W|$)|^(?:podes|você pode) .*(?:de novo|outra vez|agora)(?:\W|$)"
    r"|(?:^|\W)já não (?:é preciso|é necessário|precisas?)(?:\W|$)|(?:^|\W)não precisas? mais "
    r"|^je (?:hoeft|moet) .*(?:niet|geen) .*meer|^je mag (?:weer|nu) ",
    re.I,
)
"""What says that an instruction no longer holds."""
FOR_GOOD = linear(
    rf"\b(?:{ALWAYS}|{NEVER}|{FROM_NOW_ON}|bitte|por favor|s'il (?:te|vous) plaît|per favore|graag|alsjeblieft)\b", re.I
)
"""What an instruction says besides what is wanted."""
_FORMS = either("""
    antwort schreib sprech sprich erklär duzen siezen stichpunkt list emoji kurz knapp ausführlich deutsch englisch
    contest respon escrib habl frase viñeta cort[oa]s larg[oa]s inglés español répon écri parle phrase puce court long
    détail français anglais rispon scriv brev[ei] lungh inglese italiano escrev fal[ea] curt[oa]s portugu antwoord
    schrijf uitgebreid engels nederlands
""")
FORM = linear(rf"(?:^|\W){_FORMS}", re.I)
"""How words about the form of answers begin."""
ONWARD = linear(
    rf"(?:^|[^\p{{L}}])(?:{_BEFORE_START}|{_BEFORE_PAST}) (?:\d{{1,2}}(?:\.|er)? ?(?:de )?)?{_MONTHS}(?:\W|$)", re.I
)
LEFT = linear(
    r"(?:^|[^\p{L}'])(?:gekündigt|aufgehört|ya no|he dejado|dejé|renuncié|quitté|ne \p{L}+ plus|n'\p{L}+ plus|lasciato"
    r"|smesso|non \p{L}+ più|deixei|saí|já não|não \p{L}+ mais|gestopt|niet meer|nicht mehr)(?:\W|$)",
    re.I,
)
"""What says that something is over."""
PASSING = linear(
    r"(?:^|[^\p{L}'])(?:gerade|müde|kurz|fertig|hunger|durst|lust|angst|hungrig|schlafen|ahora mismo|un rato|cansad[oa]"
    r"|hambre|sueño|tout de suite|fatiguée?|faim|stanc[oa]|fame|sonno|fome|cansad[oa]|moe|honger|heute|hoy|aujourd'hui"
    r"|oggi|hoje|vandaag|zeit|pause)(?:\W|$)"
    r"|(?:^|\W)(?:code|skript|script|datei|funktion|test|build|server|akku|código|archivo|fichier"
    r"|servidor|servidora|file)"
    r"(?:\W|$)",
    re.I,
)
AND = bounded(
    r",? (?:und|y|et|e|en) (?=(?P<verb>wohne|lebe|arbeite|bin|woon|werk|ben)\b"
    r"|(?:ich|ik|j'|je|vivo|trabajo|soy|abito|lavoro|sono|moro|trabalho|sou)\b)",
    re.I,
)
"""Where a second statement of the same speaker begins. A German or Dutch verb lacks its subject there."""
_POINTING = either("""
    es das ihn sie dich euch dies\\w* mein_leben eso esto este esta que ça cela ce cette questo questa che disso disto
    isso isto dit dat deze je jou lo
""")
DUTCH = ("woon", "werk", "ben")
CONTRAST = linear(r"[,;] (?:aber|doch|pero|mais|ma|mas|maar)\s", re.I)
DANGLING = bounded(
    rf"^(?:\S+ ){{0,2}}(?:mag|liebe|hasse|gustan?|encantan?|odio|detesto|prefiero|adoro|j'aime|j'adore|déteste|préfère"
    rf"|piace|piacciono|preferisco|gosto|odeio|prefiro|van|haat)(?: pas| mucho| molto| muito| beaucoup| sehr)?"
    rf"(?:$|[.!,]| {_POINTING}(?:$|[ .!,]))",
    re.I,
)
"""A liking of something that only another sentence names."""
_LIMITS = either("""
    bis seit ab von vor nach zwischen jede[nrs]? alle hasta desde del antes después entre cada todos todas los
    jusqu'\\w+ depuis dès avant après chaque tous les fino dal prima dopo ogni tra fra até do depois tot sinds vanaf
    van voor na tussen elke iedere
""")
ASIDE = linear(rf"(?:^|\W){_LIMITS}(?: \S+){{0,2}} $", re.I)
"""Words before a time at which an event ends, begins or recurs, so that it is not on that day."""
MOVED = linear(
    r"verschob|verscheb|verleg|cambi|aplaz|déplac|report|repouss|spost|rinvi|mudou|mudaram|adi(?:ou|ad)|remarc"
    r"|verzet|verplaats|verschov",
    re.I,
)
"""What has another time now. Two times of it are told from the talk."""
NO_VERBS = linear(r"\b(?:aqu|all|ah|as)í|\b(?:caf|beb)é", re.I)
"""Spanish words with the ending of a verb in the past."""
HIER = linear(r"^hier\b", re.I)
QUOTED = linear(r"[\"“„«?¿]|(?:^|\W)(?:haha\w*|lol)(?:\W|$)", re.I)
