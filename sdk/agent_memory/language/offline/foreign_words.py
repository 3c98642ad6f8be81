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
    """Words of a guess, a condition, a joke, a tale, or of what others say."""
    mine: str
    past: str
    other: str
    """Words of a request or a wish."""
    denied: str


LANGUAGES = (
    Language(
        words="der die das den dem ich wir ist und am im zum zur nach mit habe haben hat bei ein eine mein meine",
        unsure="vielleicht wahrscheinlich eventuell würden? hätten? wäre wenn falls ob meinung ansicht angenommen "
        "angeblich sagte? meinte? behauptet gesagt erwähnt im_(?:film|buch|roman|traum)",
        mine="ich|wir|^(?:meine?|unsere?)",
        past=r"(?:hab|habe|hat|haben|hatten?|bin|ist|sind|wurden?) (?:\S+ ){0,12}(?:\p{L}{0,6}ge\p{L}+(?:t|en)|(?:be|"
        r"ver|er|ent|zer)\p{L}+(?:t|en)|\p{L}+iert)|war(?:en)?",
        other=r"du dir dich dein\p{L}* ihr euch brauchen? möchten? wollen? will muss müssen soll suche",
        denied=r"nichts? nie kein\p{L}*",
    ),
    Language(
        words="el la los las y con una un del al es en por que de mi me he tengo voy no ya soy somos siempre lo nos se",
        unsure=r"quiz[aá]s? tal_vez a_lo_mejor si (?:me|te|le|nos|no)_\p{L}+ría "
        r"(?:ser|estar|har|podr|tendr|habr|ir|viv|deb)\p{L}*ía imagina dicen? dicho dije jura cuenta_que "
        r"en_(?:la_película|la_serie|el_libro)",
        mine=r"yo|he|hemos|tengo|tenemos|voy|vamos|empiezo|empezamos|viajo|viajamos|vuelo|salgo|llego|fui|fuimos|"
        r"^(?:mis?|nuestr[oa])|me (?:caso|mudo|operan|\p{L}+(?:aron|ieron))|nos (?:casamos|mudamos)|"
        r"\p{L}{3,}(?:[éí]|imos)|abrimos|tomo|uso|pago|cobro|vendo|llevo|usamos|pagamos|vendemos|compramos|"
        r"^(?:ya no|ahora) \p{L}{3,}(?:o|mos)",
        past=r"(?:he|hemos|ha|han) \p{L}+(?:ado|ido|to|cho)|\p{L}{2,}[éíó]|fui|fuimos|fue|\p{L}+(?:aron|ieron|"
        r"imos)",
        other="tú tus? te ti contigo usted puedes podrías quiero queremos quisiera querría necesito necesitamos busco "
        "buscamos tengo_que",
        denied="no nada nunca",
    ),
    Language(
        words="le la les des et est une un du au aux en de à chez je j'ai nous on mon ma ne pas que notre il c'est",
        unsure=r"peut-être \p{L}+rai[st] si imagin\p{L}+ dit raconte jure prétend dans_(?:le|un)_(?:film|livre|rêve)",
        mine=r"j'\p{L}+|je|nous|on|^(?:mon|ma|mes|notre|nos)",
        past=r"(?:j'ai|on a|nous avons|je (?:me )?suis|nous sommes|a|est|s'est|ont|sont) (?:\p{L}+ )?\p{L}+(?:é|i|u|is|"
        r"it|ert)e?s?",
        other="tu ton ta tes te toi vous veux voulons voudrais voudrions dois devons faut cherche cherchons besoin",
        denied=r"ne n'\p{L}+ pas rien",
    ),
    Language(
        words="il la lo gli e è una un del al alla ho di per che con da mi mia mio abbiamo siamo sono non ci sempre",
        unsure=r"forse magari sarebbe se boh \p{L}+rei metti_che dice detto racconta giura n?el_(?:film|libro|sogno)",
        mine=r"io|ho|abbiamo|sono|siamo|vado|andiamo|parto|partiamo|inizio|comincio|mi \p{L}+o|^(?:(?:il|la) "
        r")?(?:mi[oa]|nostr[oa])",
        past=r"(?:ho|abbiamo|sono|siamo|ha|hanno|è) \p{L}+(?:at|it|ut|tt|st|rt|nt|s)[oaie]",
        other="tu tu[oa] ti te lei voglio vogliamo devo dobbiamo cerco bisogno puoi potresti",
        denied="non niente",
    ),
    Language(
        words="o a os as e é uma um do da no na em com ao à tenho de eu meu minha fui fomos para não por que já sou "
        "às me",
        unsure=r"talvez se (?:ser|estar|far|poder|ter|haver|ir|viver|dever|gostar)ia\p{L}* sup\p{L}+_que "
        r"diz dizem disse dito jura conta_que no_(?:livro|filme|sonho)",
        mine=r"eu|nós|tenho|temos|vou|vamos|começo|viajo|viajamos|parto|fui|fomos|\p{L}{3,}ei|vendi|perdi|parti|"
        r"recebi|^(?:[oa] )?(?:meu|minha|nosso|nossa)",
        past=r"\p{L}{3,}(?:ei|ou|eu|iu)|vendi|perdi|parti|recebi|fui|fomos|foi|disse|\p{L}+aram",
        other="tu te teu tua você lhe quero queremos preciso precisamos procuro podes podia",
        denied="não nada",
    ),
    Language(
        words="de het een en ik we je is op met naar van heb ben mijn voor kan kunt niet onze bij geen",
        unsure="misschien zouden? zou als stel_dat zegt zei gezegd beweert vertelt in_(?:de_film|het_boek|dat_boek)",
        mine="ik|we|wij|^(?:mijn|onze|ons)",
        past=r"(?:heb|heeft|hebben|had|ben|zijn|werd|is) (?:\S+ ){0,12}(?:(?:ge|be|ver|ont|her|er)\p{L}{2,}"
        r"(?:d|t|en))|was|waren",
        other="jij je jouw? u wil willen moet moeten zoek zoeken nodig",
        denied="niets? geen",
    ),
)
GERMAN, FRENCH = 0, 2
_OPENING = either("""
    übrigens also ja nein und aber hallo por_cierto sí no pues y pero hola bueno oye au_fait oui non et mais bonjour
    comunque sì e ma ciao aliás sim não mas olá oi olha trouwens nee en maar hoi salut moi bon bref allora
    (?:jetzt|nun|ahora|maintenant|ora|adesso|agora|nu)
""")
STARTS = rf"^(?:{_OPENING}[, ]+){{0,3}}"
_TURNS = either("""
    (?:gestiegen|gestegen|gedaald|subió|bajó|ha_(?:subido|bajado)|passée?s?_à|subiu|desceu|è_(?:salit|sces)[oa])_.*\\d{3}
    \\d{3}_.*(?:gestiegen|gesunken|gestegen|gedaald) abgesagt gestrichen fällt_aus cancelad[oa] suspendid[oa] annulée?
    annullat[oa] afgelast gaat_niet_door
""")
TURNED = linear(rf"(?:^|\W){_TURNS}(?:\W|$)", re.I)
"""What is dearer or cheaper now, or cancelled."""
NOW = "(?: (?:jetzt|nun|inzwischen|mittlerweile|auch|ahora|ya|maintenant|ora|adesso|agora|nu|ook))?"
AT_ONCE = linear(r"(?:^|\W)(?:jetzt|gerade|ahora|maintenant|adesso|ora|agora|nu)(?:\W|$)", re.I)
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
    vegetari[ëe]r vegetarisch veganist lactose-?intolerant zwanger diabeet doof linkshänderin? zurd[oa] gaucher gauchère
    mancin[oa] canhot[oa] linkshandig
""")
_BEGINS = {
    "cannot": r"(?:ich (?:darf|vertrage|kann)|seit \S+ \S+ darf ich)(?: leider)? keine?n? \p{L}+(?: mehr)?"
    r"(?: essen| trinken|[.,]|$)|no (?:puedo|debo) (?:comer|beber|tomar) \p{L}{4,}|no (?:tolero|soporto)|"
    r"je ne (?:peux|dois) (?:pas|plus) (?:manger|boire)|je ne (?:supporte|digère|tolère) (?:pas|plus) l[ea']|"
    r"non (?:posso|devo) (?:mangiare|bere)|non (?:tollero|digerisco)|não (?:posso|devo) (?:comer|beber|tomar)|"
    r"não tolero|ik (?:mag|verdraag) geen \p{L}+"
    r"(?: meer)?(?: (?:eten|drinken|hebben|vanwege|door)|[.,]|$)",
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
    r"(?:em|como|n[oa]s?|numa?|para)|ik werkNOW (?:als|bij|in|voor)",
    "fact": r"(?:ich bin|soy|sou|je suis|moi,? c'est|sono|ik ben) (?:(?:die|der|el|la|[oa]) )?(?-i:\p{Lu}\p{Ll}{2,})"
    r"(?:[.,!]|$| (?:und|y|e|et|en) )"
    r"|ich komme aus|(?:ich wohne|ich lebe|wir wohnen)NOW mit|(?:ich|wir) (?:be)?nutzen?|(?:ich|wir) verwenden?|"
    r"ich (?:studiere|lerne) \p{L}+|ich bin (?:\d+ jahre alt|verheiratet|geschieden|verwitwet)|"
    r"(?:ich bin|bin) (?:\p{L}+e[rns]? )?(?-i:\p{Lu}\p{Ll}{3,}(?:e[rn]|erin|in|mann|frau|wart|wirt|ist|eur|or|"
    r"ent|ant|\p{Ll}arzt))|(?:yo )?(?:soy de|tengo \d+ años|soy (?:solter[oa]|viud[oa]|\p{L}+(?:ista|"
    r"[dt]ora?|fesora?|er[oa]|[ol]og[oa]|ogad[oa]|euta|tric[oa]))|"
    r"estudio \p{L}+|estoy (?:casad[oa]|divorciad[oa]))|je viens "
    r"d\w+|j'ai \d+ ans|j'étudie|(?:j'|nous |on )(?:utilise|utilisons)|je suis (?:mariée?|divorcée?|"
    r"\p{L}+(?:teur|seur|trice|mière|lière|iste|ienne?|ogue|avocate?|femme|euse|tante?))|"
    r"(?:io )?(?:vengo da|ho \d+ anni|"
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
    """und y et e en o a sagt meint findet glaubt denkt will möchte mag dice piensa cree quiere dit pense croit veut
    trouve pensa crede vuole diz acha quer zegt vindt denkt wil""".split()
)
"""What tells of nobody that matters, or goes on with a list."""
THING = linear(rf"{STARTS}(?:(?:{POSSESSIVE}|{ARTICLE}) |l')\p{{L}}{{3,}}", re.I)
OWN = linear(rf"{STARTS}{POSSESSIVE} \p{{L}}{{3,}}", re.I)
_DUE = f"(?:{IS}|endet|beginnt|acaba|termina|vence|empieza|finit|expire|commence|scade|finisce|inizia|começa|eindigt)"
DATED = linear(rf"{STARTS}(?:{POSSESSIVE}|{ARTICLE}) (?:\S+ ){{1,4}}?{_DUE} (?:am|el|le|il|o|no dia|a|op) \d", re.I)
FIGURE = linear(
    rf"{IS} (?:\S+ )?\d{{3}}|[€$£] ?\d|\d[\d.,]* ?(?:[€$£]|kg|mg|µg)(?:\W|$)"
    r"|\d[\d.,]* (?:euros?|eur|pesos|reais|franken|francs?|dollars?|mitglied\p{L}+)(?:\W|$)",
    re.I,
)
PRICED = linear(r"(?:^|\W)(?:kostet|cuestan?|coût(?:e|ent)|costano?|custam?|kost)(?:\W|$)", re.I)
"""What something costs, which is a price on a list if it is nobody's own and paid once."""
_DECISIONS = either("""
    ha(?:be|ben)_(?:uns|mich)_(?:\\S+_){1,6}entschieden wir_haben_beschlossen (?:he|hemos)_decidido
    (?:nos_quedamos|me_quedo|me_he_quedado)_con (?:on_a|j'ai|nous_avons)_(?:\\p{L}+ment_)?(?:décidé|choisi)
    (?:on_a|j'ai|nous_avons)_finalement_pris (?:ho|abbiamo)_(?:\\p{L}+_)?(?:deciso|scelto) decidi(?:mos)? escolhemos
    (?:heb|hebben)_(?:besloten|gekozen)
""")
DECIDED = linear(rf"(?:^|\W){_DECISIONS}\W", re.I)
MONTHLY = linear(r"(?:im|pro|al|par|por|per) (?:monat|mes|mois|mese|mês|maand|jahr|año|an|anno|ano|jaar)(?:\W|$)", re.I)
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
    gewechselt verschoben verschiebt_sich (?:um)?gezogen mudé_a mudamos_a gekündigt abgesetzt aufgehört umgestellt
    cambi(?:ado|é|ó|amos)_(?:de|a) h[ae]_mudado hemos_mudado han?_subido han?_bajado (?:dejado|dejé|dejamos)_de
    changé_de déménagé quitté arrêté_de smesso_di cambiato trasferit[oai] mud(?:ei|ou|ámos)_(?:de|para) deixei_de
    troc(?:ámos|amos|ei|ou)_(?:de|para) se_(?:aplaza|pospone) veranderd_van is_veranderd verhuisd overgestapt
    gestopt_met
""")
CHANGED = linear(rf"(?:^|[^\p{{L}}'-]){_CHANGES}(?:[^\p{{L}}]|$)", re.I)
_STEADY = either("""
    wohn leb arbeite studier heiß heiss nutz verwend rauch spiel zahl unterricht lern leit führ sammel
    vivo vivimos vive trabaj teletrabaj estudi us[oa] pag[oa] fum llam abrimos cierr enseñ dirij jueg practic
    aprend colecci habit travaill étudi utilis ferm ouvr fume appell pai[eo] enseign appren collectionn dirig jou chant
    tiens tenons abit lavor studi chiam chiud apr insegn impar collezion gestisc gioc suon
    mor[oa] trabalh estud chama fecha ensin aprend coleci jog toc
    woon werk studeer gebruik rook heet betaal leer geef_les verzamel speel
""")
_LASTING = either("""
    STEADY nehm nimm buche trink esse isst fahr lauf schwimm tom[oa] compr[oa] com[oe] beb conduc llev[oa] corr
    pren mang boi écri condui achet cour prend bev guid corr neem eet drink rijd loop
""").replace("STEADY", _STEADY)
STEADY = linear(rf"(?:^|[^\p{{L}}])(?:j')?{_STEADY}", re.I)
LASTING = linear(rf"(?:^|[^\p{{L}}])(?:j')?{_LASTING}", re.I)
"""How verbs begin that tell what lasts."""
_DAYS = either("""
    (?:(?:mon|diens|donners|frei|sams|sonn)tag|mittwoch)s los_(?:lunes|martes|miércoles|jueves|viernes|sábados|domingos)
    les?_(?:(?:lun|mar|mercre|jeu|vendre|same)di|dimanche)s? (?:il|di)_(?:(?:lune|marte|mercole|giove|vener)dì|sabato)
    la_domenica (?:às|nas|aos|nos)_(?:segundas|terças|quartas|quintas|sextas|sábados|domingos)
    (?:maan|dins|woens|donder|vrij|zater|zon)dagen
""")
HABIT = linear(
    rf"(?:^|[^\p{{L}}'-])(?:{_DAYS}|(?:jede[nrs]?|cada|chaque|ogni|elke|iedere|tous les|toutes les|tod[oa]s l?[oa]s)"
    r" \p{L}+|veces (?:a|por)|fois par|volte (?:a|al)|vezes por|mal (?:pro|die|im)|keer per)(?:\W|$)",
    re.I,
)
"""What says that something comes again."""
_COUNTS = either("""
    zwei drei vier fünf sechs dos tres cuatro cinco seis deux trois quatre cinq six due tre quattro cinque sei dois duas
    três quatro cinco twee drie vijf zes (?:dritt|viert|fünft|sechst|drieën|vieren|vijven|zessen)
""")
EVER = linear(rf"(?:^|\W)(?:{ALWAYS}|{NEVER})(?:\W|$)", re.I)
PARTICULAR = linear(rf"\d|(?:^|\W)(?i:{_COUNTS}|{_MONTHS})(?:\W|$)|[^.!?:…] (?:[ldLD]')?\p{{Lu}}\p{{Ll}}")
GERMAN_PARTICULAR = linear(rf"\d|(?:^|\W)(?:(?i:{_COUNTS}|{_MONTHS})|(?:in|bei|nach|aus) \p{{Lu}}[\p{{L}}-]+)(?:\W|$)")
"""A figure or a name. German writes every noun with a capital, so that a name shows by its preposition only."""
_RELATIVES = either("""
    kinder[n]? geschwister brüder schwestern söhne töchter enkel hunde katzen hijos hermanos nietos perros gatos enfants
    frères petits-enfants chiens chats figli figlie fratelli nipoti cani gatti filhos irmãos netos cães kinderen broers
    zussen kleinkinderen honden katten
""")
_HAVE = "(?:habe?n?|hat|tengo|tenemos|tiene|j'ai|on a|nous avons|a|ho|abbiamo|ha|tenho|temos|tem|heb|hebben|heeft)"
_TELLINGS = either("""
    (?:wir_sind|somos|siamo_in|on_est|nous_sommes|we_zijn_met)_(?:zu_|z'n_|à_)?(?:\\d+|COUNT)(?:[.,:!]|$)
    (?:j')?(?:lern|samm|aprend|colecci|coleci|appren|collectionn|impar|collezion|leer|verzamel)\\p{L}*
""").replace("COUNT", _COUNTS)
TELLING = linear(
    rf"(?:^|[^\p{{L}}'-])(?:{_DAYS}|{_HAVE} (?:[\p{{L}}\d]+ ){{1,2}}(?:{KIN}s?|{_RELATIVES})|{_TELLINGS})(?:\W|$)", re.I
)
"""What is kept of the speaker: days that come again, relatives and pets, how many they are, what they learn."""
I_DO = linear(
    rf"{STARTS}(?:{_DAYS},? )?(?:(?:ya|no|já|não|non|siempre|sempre|nunca|también|também|anche|me|nos|mi|ci|ahora|agora"
    rf"|adesso|ora) ){{0,3}}{_STEADY}\p{{L}}*(?:o|mos|iamo)(?:\W|$)",
    re.I,
)
"""A verb whose ending says that the speaker does something, in Spanish, Italian and Portuguese."""
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
_OVER = either("""
    gekündigt aufgehört ya_no he_dejado dejé renuncié quitté ne_\\p{L}+_plus n'\\p{L}+_plus lasciato smesso
    non_\\p{L}+_più deixei saí já_não não_\\p{L}+_mais gestopt niet_meer nicht_mehr
""")
LEFT = linear(rf"(?:^|[^\p{{L}}']){_OVER}(?:\W|$)", re.I)
"""What says that something is over."""
OFFERING = linear(r"(?:^|\W)(?:möchtest|willst|soll|quieres?|veux|voulez|vuoi|queres|quer|wil|zal)(?:\W|$)", re.I)
"""What a question offers, so that its answer is for now."""
_AT_HAND = either("""
    seite folie zeile absatz fehler fragen? vorschlag página párrafo línea preguntas? propuesta page ligne phrase
    questions? proposition slide pagina riga frase domand[ae] proposta parágrafo linha perguntas? regel alinea vragen
    voorstel versi[oó]n(?:e)? versie versão variant\\p{L}? opción option opzione opção optie error erreur errore erro
    fout dudas? dúvidas? minut\\p{L}* gedanken? idee idea idée ideia en_ce_moment en_ello eraan daran dessus
""")
AT_HAND = linear(rf"(?:^|[^\p{{L}}']){_AT_HAND}(?:\W|$)", re.I)
"""What is about the talk, the text at hand, or the next minutes."""
_PASSING = either("""
    gerade müde kurz fertig hunger durst lust angst hungrig schlafen ahora_mismo un_rato cansad[oa] hambre sueño
    tout_de_suite fatiguée? faim stanc[oa] fame sonno fome moe honger heute hoy aujourd'hui oggi hoje vandaag zeit pause
    code skript script datei funktion test build server akku accu bater[ií]a batterie código archivo fichier servidora?
    file
""")
PASSING = linear(rf"(?:^|[^\p{{L}}']){_PASSING}(?:\W|$)", re.I)
_POINTING = either("""
    es das ihn sie dich euch dies\\w* mein_leben eso esto este esta que ça cela ce cette questo questa che disso disto
    isso isto dit dat deze je jou lo
""")
CONTRAST = linear(r"[,;] (?:aber|doch|also|pero|así que|mais|donc|ma|quindi|mas|por isso|maar|dus)\s", re.I)
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
QUOTED = linear(r"[\"“„«?¿]|(?:^|\W)(?:a?haha?\w*|jaja\w*|kkk+|mdr|lol)(?:\W|$)", re.I)
