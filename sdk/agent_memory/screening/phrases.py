"""Phrases: how instructions to a model are worded, by language, as data.

They are matched without regard to case, on one line and without accents (`folding.seen`). "~" stands for a few words of
the same sentence. A text without one of the `_NEEDS` holds no phrase of that kind, so most texts cost one search. The
languages are the ten with most speakers (Ethnologue 2024), German, Japanese, Italian and Dutch.
"""

from __future__ import annotations

from dataclasses import dataclass

WITHIN = r"[^.!?。।۔]{0,40}?"
"""Up to forty characters of the same sentence."""


@dataclass(frozen=True, slots=True)
class Dismissal:
    """How a language dismisses instructions: the verbs, which instructions, and the nouns for them."""

    verbs: str
    which: str
    called: str
    verb_last: bool = False

    @property
    def pattern(self) -> str:
        """The three parts in the orders that the language allows."""
        which_called = rf"(?:(?:{self.which})~(?:{self.called})|(?:{self.called})~(?:{self.which}))"
        first = rf"(?:{self.verbs})~{which_called}"
        return rf"(?:{first}|{which_called}~(?:{self.verbs}))" if self.verb_last else first


_DISMISSALS: dict[str, Dismissal] = {
    "en": Dismissal(
        r"\b(?:ignore|disregard|forget|override|bypass|drop|discard|abandon|set aside|do not follow|don['’]t follow"
        r"|stop following|(?:pay|take) no (?:attention to|notice of|heed (?:to|of)))\b",
        r"\b(?:previous|prior|above|earlier|preceding|all|any|your|the system|safety)\b",
        r"\b(?:instructions?|prompts?|rules|guidelines|directives|guardrails|programming|restrictions)\b",
    ),
    "zh": Dismissal(
        r"忽略|无视|無視|忘记|忘記|忘掉|不要遵守|不要理会|不要遵循|绕过|繞過|不存在|作废|失效",
        r"之前|以前|先前|前面|上面|以上|所有|全部|一切|你的|系统|系統",
        r"指令|指示|提示|规则|規則|规定|規定|命令|限制|约束|設定|设定",
        verb_last=True,
    ),
    "hi": Dismissal(
        r"अनदेखा|अनदेखी|नज़रअंदाज़|नजरअंदाज|भूल जाओ|भूल जाइए|भूल जाएं|भूल जाएँ|उपेक्षा|इग्नोर|मत मानो|न मानें",
        r"पिछले|पिछली|पूर्व|पहले|सभी|सारे|सारी|ऊपर|अपने|अपनी|सिस्टम",
        r"निर्देश|आदेश|नियम|प्रॉम्प्ट|हिदायत",
        verb_last=True,
    ),
    "es": Dismissal(
        r"\b(?:ignor[ae]|ignorad|olvid[ae]|olvídate de|descart[ae]|desobedece|omite|pasa por alto"
        r"|no (?:sigas|siga|hagas caso)|ha(?:z|ga) caso omiso de)\b",
        r"\b(?:tod[ao]s|anterior(?:es)?|previ[ao]s|tus|sus|de arriba|del sistema|precedentes)\b",
        r"\b(?:instrucci[oó]n(?:es)?|reglas|órdenes|indicaciones|directrices|prompts?|restricciones|normas)\b",
    ),
    "fr": Dismissal(
        r"(?:^|[\s\"«:(,;-])(?:ignor(?:e|ez|er)|oubli(?:e|ez|er)|néglig(?:e|ez|er)|contourn(?:e|ez|er)"
        r"|ne (?:tiens|tenez|suis|suivez) (?:pas|plus|aucun))\b",
        r"\b(?:toutes (?:les|tes|vos)|tous (?:les|tes|vos)|tes"
        r"|vos|précédent\w*|antérieur\w*|ci-dessus|du système)\b",
        r"\b(?:instructions?|consignes?|règles?|directives?|prompts?|ordres?|restrictions?)\b",
    ),
    "ar": Dismissal(
        r"تجاهل|تجاهلي|انس |انسى|أهمل|تخط|لا تتبع|تجاوز",
        r"السابقة|السابق|جميع|كل |كافة|أعلاه|سبقت|النظام|الخاصة بك",
        r"تعليمات|أوامر|الأوامر|قواعد|القواعد|إرشادات|الإرشادات|توجيهات|التوجيهات|المطالبات",
    ),
    "bn": Dismissal(
        r"উপেক্ষা|অগ্রাহ্য|ভুলে যাও|ভুলে যান|অমান্য|ইগনোর",
        r"আগের|পূর্বের|পূর্ববর্তী|সমস্ত|সকল|সব|উপরের|তোমার|আপনার|সিস্টেম",
        r"নির্দেশ|নিয়ম|আদেশ|প্রম্পট",
        verb_last=True,
    ),
    "pt": Dismissal(
        r"\b(?:ignor(?:e|a|em|ar)|esqueç[ae]|esquece|desconsider[ae]|desobedeça|não (?:sig[ao]|respeit[ea]s?"
        r"|cumpr[ae]s?))\b",
        r"\b(?:tod[ao]s|anterior(?:es)?|prévi[ao]s|suas|seus|acima|do sistema)\b",
        r"\b(?:instruç(?:ão|ões)|regras|ordens|diretrizes|prompts?|restrições|comandos)\b",
    ),
    "ru": Dismissal(
        r"игнорируй|забудь|не следуй|отбрось|не обращай(?:те)? внимания на|не выполняй|обойди",
        r"все |всю |всех |предыдущ|прежн|прошл|выше|свои |твои |ваши |системн",
        r"инструкци|указани|правил|команд|ограничени|промпт|директив",
    ),
    "ur": Dismissal(
        r"نظر ?انداز|بھول جاؤ|بھول جائیں|بھول جائیے|نہ مانو|نہ مانیں",
        r"پچھلی|پچھلے|سابقہ|پہلی|پہلے|تمام|ساری|سارے|سب|اوپر|اپنی|اپنے|سسٹم",
        r"ہدایات|ہدایت|احکامات|احکام|قواعد|اصول|پرامپٹ",
        verb_last=True,
    ),
    "de": Dismissal(
        r"\b(?:ignorier(?:e|t|en)?|missachte[nt]?|vergiss|vergesst|übergeh(?:e|t)?|umgeh(?:e|t)?|verwirf"
        r"|setzt? (?:dich|euch)(?: \w+)? über|beachte(?:t)? nicht)\b",
        r"\b(?:vorherige|vorige|bisherige|frühere|obige|vorangegangene|alle|deine|ihre|sämtliche|system)\w*",
        r"\b(?:system-?)?(?:anweisung|instruktion|vorgabe|regel|richtlinie|befehl|prompt|einschränkung)\w*",
    ),
    "ja": Dismissal(
        r"無視|忘れて|忘れろ|忘れなさい|従わない|従うな|破棄",
        r"以前の|前の|これまでの|今までの|上記|すべて|全て|全部|あなたの|システム",
        r"指示|命令|ルール|規則|プロンプト|制限|ガイドライン",
        verb_last=True,
    ),
    "it": Dismissal(
        r"\b(?:ignora(?:re|te)?|dimentica(?:re|te)?|trascura(?:re|te)?|scarta(?:re|te)?|aggira(?:re|te)?"
        r"|non (?:seguire|rispettare|considerare)|lascia(?:te)? (?:perdere|stare)|non tenere conto)\b",
        r"\b(?:tutt[ei]|precedent[ei]|di prima|tue|tuoi|sue|suoi|sopra|del sistema|ricevut[ei])\b",
        r"\b(?:istruzion[ei]|regol[ae]|ordini|direttive|prompt|restrizioni|indicazioni)\b",
    ),
    "nl": Dismissal(
        r"\b(?:negeer|negeren|vergeet|omzeil|volg niet|trek je niets aan van)\b",
        r"\b(?:alle|eerdere|vorige|voorgaande|bovenstaande|jouw|je|uw|systeem)\b",
        r"\b(?:systeem)?(?:instructies?|aanwijzing(?:en)?|regels|opdrachten|prompts?|richtlijnen|beperkingen)\b",
    ),
    "pl": Dismissal(
        r"\b(?:z?ignoruj(?:cie)?|pomiń|zapomnij o|zlekceważ|nie przestrzegaj|odrzuć)\b",
        r"\b(?:wszystki\w*|poprzedni\w*|wcześniejsz\w*|dotychczasow\w*|swo\w*|twoj\w*|powyższ\w*|systemow\w*)\b",
        r"\b(?:instrukcj|polece|zasad|reguł|wytyczn|ogranicze|prompt)\w*",
    ),
    "tr": Dismissal(
        r"\b(?:yok say|görmezden gel|dikkate alma|unut|boş ?ver|uyma)\w*",
        r"\b(?:önceki|tüm|bütün|yukar[ıi]daki|sistem)\b",
        r"\b(?:talimat|kural|yönerge|emir|komut|k[ıi]s[ıi]tlama|istem)\w*",
        verb_last=True,
    ),
    "ko": Dismissal(
        r"무시|잊어|따르지 마",
        r"이전|앞의|앞선|위의|지금까지|모든|시스템",
        r"지시|명령|규칙|지침|프롬프트|제한",
        verb_last=True,
    ),
}
_TOLD = (
    r"(?:you(?:['’]ve| have| were| had)?(?: been)? (?:told|given|instructed|asked|taught)|your (?:system )?prompt says"
    r"|was (?:man|dir) \w+ (?:gesagt|befohlen|aufgetragen)|oben steht|bisher galt"
    r"|te (?:han|hayan|dijeron|ordenaron)|se te (?:dijo|ordenó|ha)|(?:pré|pre)c[eè]d\w*|on t['’]a (?:dit|demandé)"
    r"|detto (?:finora|prima|sopra)|ti (?:è stato|hanno) (?:detto|chiesto)|te disseram|foi dito (?:antes|acima)"
    r"|hierboven staat|je (?:is |hebben ze )?(?:verteld|opgedragen))\b"
)
_DISMISS = (
    r"\b(?:ignore|disregard|forget|drop|discard|abandon|set aside|ignorier\w*|vergiss|missachte\w*|ignora|olvida"
    r"|ignore[rz]?|oublie[rz]?|dimentica|esquece|esqueça|vergeet|negeer)\b"
)
DISMISSING = [
    *(dismissal.pattern for dismissal in _DISMISSALS.values()),
    # Whatever a model was told before, as nobody says of what they told it themselves.
    rf"{_DISMISS} (?:\w+ ){{0,4}}?{_TOLD}",
    r"\byour (?:old|previous|earlier|prior|former|original|current) (?:rules|instructions|guidelines|restrictions"
    r"|limits"
    r"|prompts?)\b~\b(?:void|invalid|obsolete|no longer (?:apply|valid|in force)|do(?: not|n['’]t) apply|lifted"
    r"|suspended|replaced|cancell?ed)\b",
    r"\b(?:ignore|disregard|forget) (?:everything|anything|all(?: of the text)?) (?:written )?above\b",
    r"\balle (?:bisherigen|vorherigen|vorigen) \w+ (?:sind )?(?:zu )?(?:ignorieren|missachten)\b",
]

DISMISSING_NEEDS = "|".join(
    ["above", "ignorieren", "missachten", _DISMISS, *(one.called for one in _DISMISSALS.values())]
)

UNBOUND = [
    r"\byou are now (?:in )?(?:dan\b|an? (?:unrestricted|unfiltered|jailbroken)|developer mode|root|jailbroken)"
    r"|\benter developer mode\b|\bjailbreak mode\b"
    r"|(?:^|[.!?:;,(\"']\s*|\b(?:please|kindly|just|could|can|would|must|should|will|and|now|to|you)\s+)"
    r"(?:pretend|act|behave|answer|respond) (?:that |as if |as though |like )?(?:you|there)(?: have| had| are| were"
    r"|['’]re)"
    r" (?:no|not bound by any) (?:rules|restrictions|limits|filters|guidelines|policies)"
    r"|\b(?:lifted|removed|suspended|disabled) (?:all (?:of )?)?your (?:limits|restrictions|rules|filters"
    r"|guardrails)\b",
    r"你现在(?:是|进入|处于)[^。]{0,10}(?:DAN|开发者模式|不受限制|没有限制|无限制|越狱)",
    r"(?:अब (?:तुम|आप)|(?:तुम|आप) अब)~(?:DAN|डेवलपर मोड|बिना (?:किसी )?(?:प्रतिबंध|रोक))",
    r"\b(?:ahora eres|eres ahora|estás ahora en)~(?:\bdan\b"
    r"|sin (?:restricciones|límites|filtros|censura)|modo desarrollador)",
    r"\btu es (?:maintenant|désormais)~(?:\bdan\b|sans (?:restriction|limite|filtre|censure)|mode développeur)",
    r"أنت الآن~(?:DAN|وضع المطور|بدون قيود|بلا قيود|غير مقيد)",
    r"(?:তুমি|আপনি) এখন~(?:DAN|ডেভেলপার মোড|সীমাবদ্ধতা ছাড়া|সীমাহীন)",
    r"\b(?:agora você é|você é agora|você agora é|você está agora em)"
    r"~(?:\bdan\b|sem (?:restrições|limites|filtros|censura)|modo (?:de )?desenvolvedor)",
    r"ты (?:теперь|отныне)~(?:DAN|дэн|без (?:ограничений|цензуры|правил)|режиме разработчика)",
    r"(?:اب (?:تم|آپ)|(?:تم|آپ) اب)~(?:DAN|ڈویلپر موڈ|بغیر کسی پابندی|بلا پابندی)",
    r"\bdu bist (?:jetzt|nun|ab sofort)~(?:\bdan\b|uneingeschränkt"
    r"|unzensiert|ohne (?:regeln|grenzen|filter)|entwicklermodus)",
    r"(?:あなたは今|今からあなたは|これからあなたは)[^。]{0,12}(?:DAN|制限のない|無制限|開発者モード)",
    r"\b(?:ora sei|sei ora|adesso sei|d['’]ora in poi sei)\b~(?:\bdan\b"
    r"|senza (?:restrizioni|limiti|filtri|censura)|modalità sviluppatore)",
    r"\b(?:je|jij|u) (?:bent|ben) (?:nu|vanaf nu|voortaan)\b~(?:\bdan\b(?:\W|$)"
    r"|zonder (?:regels|beperkingen|filters?|censuur)|ontwikkelaarsmodus)",
]

UNBOUND_NEEDS = (
    r"\bdan\b|дэн|developer mode|jailb|unrestricted|unfiltered|root|pretend|no (?:rules|rest|limits|filt|guid|pol)"
    r"|bound by|your (?:lim|rest|rul|filt|guard)"
    r"|开发者|不受限制|没有限制|无限制|越狱|डेवलपर|बिना|"
    r"\bsin\b|desarrollador|\bsans\b|développeur|المطور|قيود|غير مقيد"
    r"|ডেভেলপার|সীমা|\bsem\b|desenvolvedor|\bбез\b|без |разработчика|"
    r"ڈویلپر|پابندی|\bsenza\b|sviluppatore|\bzonder\b|ontwikkelaar|uneingeschränkt|unzensiert|\bohne\b"
    r"|entwicklermodus|制限のない|無制限|開発者"
)

HIDING = [
    r"\b(?:do not|don['’]t|never|without)\b[^.!?]{0,15}?\b(?:tell"
    r"|telling|mention|reveal|inform|notify|alert|warn)"
    r"(?:ing)?\b[^.!?]{0,25}?\bthe (?:user|human|customer|operator)\b",
    r"(?:不要|别|別|切勿|禁止|不得)(?:告诉|告訴|告知|通知|提醒|透露给?|让)[^。]{0,10}(?:用户|用戶|使用者|客户)",
    r"(?:उपयोगकर्ता|यूज़र|ग्राहक) को~(?:मत|न|नहीं) (?:बता|कह|दिखा)",
    r"\b(?:no|nunca|jamás) (?:le )?(?:digas|diga|reveles|menciones"
    r"|informes|avises|cuentes)\b~(?:al|el|a la|la) (?:usuari[oa]|cliente)"
    r"|\bsin (?:decir|informar|avisar)\w*~(?:usuari[oa]|cliente)",
    r"\bne (?:le )?(?:dis|dites|révèle|révélez|mentionne"
    r"|informe|préviens|prévenez)\b~(?:utilisateur|usager|client)"
    r"|\bsans (?:le dire|informer|prévenir)~(?:utilisateur|usager|client)",
    r"لا (?:تخبر|تقل|تذكر|تكشف|تبلغ)~(?:المستخدم|للمستخدم|العميل)",
    r"(?:ব্যবহারকারী|ইউজার)~(?:বলো না|বলবে না|বলবেন না|জানাবে না|জানাবেন না|জানিও না)",
    r"\b(?:não|nunca|jamais) (?:diga|revele|mencione|informe|avise|conte)\b~(?:usuári[oa]|utilizador|cliente)"
    r"|\bsem (?:dizer|informar|avisar)~(?:usuári[oa]|utilizador|cliente)",
    r"не (?:говори|сообщай|рассказывай|раскрывай|упоминай|показывай)(?:те)?~(?:пользовател|клиент)",
    r"(?:صارف|یوزر) (?:کو|سے)~(?:مت|نہ|نہیں) (?:بتا|کہ|دکھا)",
    r"\b(?:sag|sagen|erzähl|erzähle|verrat|verrate|informiere|melde)\b"
    r"~(?:nutzer|benutzer|anwender|kunden)\b~\b(?:nicht|nichts|nie|niemals)\b"
    r"|\bohne~(?:nutzer|benutzer|anwender|kunden)~(?:informieren|zu sagen|bescheid)"
    r"|\b(?:verschweig|verheimlich)(?:e|st|t|en)?\b~\b(?:nutzer|benutzer|anwender|kunden)\b",
    r"\bnie (?:mów|mówcie|informuj|wspominaj|zdradzaj|ujawniaj)~(?:użytkownik|klient)",
    r"\b(?:kullan[ıi]c[ıi]|müşteri)\w*~(?:söyleme|bahsetme|bildirme|gösterme)\w*",
    r"(?:사용자|고객)(?:에게|한테)[^.]{0,15}(?:말하지|알리지|보여주지) ?(?:마|말)",
    r"(?:ユーザー|利用者|使用者)に(?:は)?[^。]{0,12}(?:言わない|伝えない|教えない|知らせない|言うな|明かさない)",
    r"\b(?:non|mai) (?:dire|dirlo|rivelare|menzionare|informare|avvisare|raccontare)\b~(?:utente|cliente)"
    r"|\bsenza (?:dirlo|informare|avvisare)~(?:utente|cliente)",
    r"\b(?:vertel|zeg|meld|onthul|noem|informeer)\b~(?:gebruiker|klant)\b~\b(?:niet|niets|nooit)\b"
    r"|\bzonder~(?:gebruiker|klant)~(?:te vertellen|te informeren|in te lichten)",
]

HIDING_NEEDS = (
    r"user|human|customer|operator|用户|用戶|使用者|客户|उपयोगकर्ता|यूज़र|ग्राहक"
    r"|usuari|client|utilisateur|usager|المستخدم|للمستخدم|العميل|"
    r"ব্যবহারকারী|ইউজার|utilizador|пользовател|клиент|صارف|یوزر|nutzer|anwender|kunden|ユーザー|利用者"
    r"|utente|cliente|gebruiker|klant|użytkownik|klient|kullan[ıi]c[ıi]|müşteri|사용자|고객"
)

PROMPT = [
    r"\b(?:reveal|print|repeat|show|output|leak|disclose)\b[^.!?]{0,20}?\b(?:your|the)\b[^.!?]{0,12}?"
    r"\b(?:system|hidden|initial|secret) (?:prompt|instructions?|message)\b",
    r"\bwhat (?:were|was|are) you(?:r)? (?:told|instructed|prompted|given)\b~\b(?:before|above|initially|at first"
    r"|prior to)\b",
    r"\b(?:repeat|print|output|copy|quote)\b~\b(?:everything|all (?:of )?the (?:text|words))\b~"
    r"\b(?:above|before this)\b",
    r"\b(?:reveal|print|output|leak|disclose|dump|list|repeat)\b~\b(?:your (?:whole |entire |full )?(?:memory|context"
    r" window)|(?:every|any)thing you (?:know|remember|have stored) (?:about|of) (?:the|this|that|other|any|every)"
    r" (?:user|customer|person|client|other)s?|(?:all )?(?:stored|saved|hidden) (?:memories|notes|conversations))\b",
    r"(?:显示|告诉|透露|输出|重复|打印)~(?:系统提示|隐藏指令|初始指令)",
    r"(?:सिस्टम प्रॉम्प्ट|छिपे निर्देश)~(?:दिखा|बता|दोहरा)",
    r"\b(?:muestra|muéstrame|revela|repite|imprime|dime)~(?:prompt (?:del"
    r"|de) sistema|instrucciones (?:ocultas|del sistema|iniciales))",
    r"\b(?:affiche|montre|révèle|répète|donne)\w*~(?:prompt (?:du )?système"
    r"|invite (?:du )?système|instructions (?:cachées|système|initiales))",
    r"(?:اعرض|اكشف|كرر|اطبع|أظهر)~(?:موجه النظام|تعليمات النظام|التعليمات المخفية)",
    r"(?:সিস্টেম প্রম্পট|লুকানো নির্দেশ)~(?:দেখাও|দেখান|বলো|বলুন)",
    r"\b(?:mostre|revele|repita|imprima|exiba)~(?:prompt (?:do"
    r"|de) sistema|instruções (?:ocultas|do sistema|iniciais))",
    r"(?:покажи|раскрой|повтори|выведи|напечатай)"
    r"~(?:системн\w+ промпт|скрыт\w+ инструкци|системн\w+ инструкци)",
    r"(?:سسٹم پرامپٹ|خفیہ ہدایات)~(?:دکھا|بتا|دہرا)",
    r"\b(?:zeig|zeige|gib|nenne?|wiederhole?|verrate?|drucke?)\b"
    r"~(?:system-?prompt|systemanweisung|versteckten? anweisung)",
    r"(?:システムプロンプト|隠された指示)~(?:見せ|表示|教え|出力|繰り返)",
    r"\b(?:mostra(?:mi)?|rivela(?:mi)?|ripeti|stampa|dimmi)\b~(?:prompt (?:di|del) sistema"
    r"|istruzioni (?:nascoste|di sistema|iniziali))",
    r"\b(?:toon|laat|geef|herhaal|onthul|druk)\b~(?:systeemprompt|systeeminstructies?|verborgen (?:instructies?"
    r"|aanwijzingen))",
]

PROMPT_NEEDS = (
    r"prompt|instruc|hidden|message|told|given|memor|everything|anything|stored|saved|above|before|系统提示|隐藏指令|初始指令"
    r"|प्रॉम्प्ट|निर्देश"
    r"|invite|موجه|التعليمات|تعليمات|প্রম্পট|নির্দেশ|промпт|инструкци|"
    r"پرامپٹ|ہدایات|anweisung|プロンプト|指示|istruzioni|aanwijzing"
)

_PRIVATE = (
    r"(?:conversation|chat|history|memor(?:y|ies)|passwords?|credentials|secrets|user(?:['’]s|s['’]?)? (?:data|e-?mail"
    r"|address|name|details|secrets)|(?:every|any)thing you know|what you (?:know|remember))"
)
LEAKING = [
    r"\b(?:send|forward|post|upload|exfiltrate|e-?mail|append|attach|submit|transmit|leak|encode|include|put"
    r"|embed)\b[^.!?=&]{0,40}?"
    rf"\b{_PRIVATE}\b[^.!?=&]{{0,40}}?(?:https?://\S+|\S+@\S+\.\w+)",
    # An address with a place for what is to be carried away.
    rf"https?://[^\s?]{{1,200}}\?[^\s]{{0,100}}?=[\[{{<$%(]{{1,3}}[^\]}}>)]{{0,30}}?{_PRIVATE}",
    r"https?://[^\s?]{1,200}\?[^\s]{0,100}?=[\[{<$%(]{1,3}(?:\w{1,20}_)?(?:memor(?:y|ies)|chat|history"
    r"|secrets?"
    r"|conversation|summary|notes)(?:_\w{1,20})?[\]}>)]",
]
LEAKING_NEEDS = r"https?://|\S@\S"

ANSWERING = [
    r"\b(?:when(?:ever)?|if|each time|every time)\b[^.!?]{0,30}?"
    r"\b(?:the user|users|anyone|somebody|someone|asked)\b[^.!?]{0,60}?"
    r"\b(?:always |you must |must )?(?:say|recommend|answer|respond|reply|claim|suggest|tell them)\b"
]
"""Phrases that are fine from a user and suspicious from anybody else."""
ANSWERING_NEEDS = r"users?|anyone|somebody|someone|asked"

_ACTS = (
    r"(?:remember|store|save|record|note that|rate|rank|recommend|mention|promote|approve|forward|send|pay|prefer"
    r"|recuerda|guarda|envía|merke?|speichere?|empfiehl|retiens|enregistre|recommande|ricorda|salva|lembre|guarde)"
)
_MODELS = r"(?:ai|llm|language|gpt)(?:[ -](?:assistants?|agents?|models?|(?:chat)?bots?|readers?|systems?))?"
_SAYS = r"(?:say|answer|tell|claim|state|respond|reply|recommend|output|praise|call|describe|rate|rank|promote)"
ADDRESSING = [
    r"\b(?:ai|llm|language|gpt)[ -](?:assistants?|agents?|models?|graders?|(?:chat)?bots?|readers?|reviewers?"
    rf"|systems?)\b[^.!?]{{0,80}}?\b{_ACTS}\b",
    r"\b(?:note|message|instructions?|reminder|hint) (?:to|for) (?:the |any |all |your )?(?:ai|llm|assistants?|agents?"
    rf"|models?|(?:chat)?bots?)\b[^.!?]{{0,80}}?\b{_ACTS}\b",
    rf"[\"'“«„(\n: ](?:ai|assistant|asistente|assistent|assistante?)\s*:\s*(?:please )?{_ACTS}\b",
    rf"\b(?:important|attention|urgent|notice)\s*[:!]\s*(?:ai|assistant)\s*[,:]\s*(?:please )?{_ACTS}\b",
    # Models in general are told what to say, or whichever of them reads this.
    rf"\b{_MODELS} (?:must|should|shall|will|are to|have to)(?: always| never| only)? {_SAYS}\b",
    rf"\b{_MODELS} (?:that |who |which )?(?:read|process|see|summari[sz]e|handle|parse|index)(?:s|es|ing)? (?:this"
    rf"|it)\b",
    rf"\b(?:any|every|whichever) (?:{_MODELS}|(?:chat)?bot|assistant)\b[^.!?]{{0,40}}? (?:must|should|shall|has to"
    rf"|is to)\b",
    rf"(?:^|[/*#<(\[!-]\s*){_MODELS}\s*:\s*(?:when|if|always|never|please|do not|you|{_SAYS})\b",
    rf"\b(?:all|any|every) {_MODELS}\s*[,:]\s*(?:please |always |never |do not |you )?\p{{L}}",
    r"\b(?:note|memo|message|instructions?|reminder|hint|notice) (?:to|for) (?:the|any|all|whichever|whatever|every)"
    r" (?:ai|llm|assistants?|models?|chatbots?|language models?)\b[^.!?:]{0,40}:",
]
"""Orders to whatever model reads a text, as they stand in pasted matter."""

_GREETING = (
    r"\b(?:dear|attention|hello|hey|hi|to (?:any|all|every)|liebe[rs]?|achtung|chère?|cher|estimad[ao]|querid[ao]"
    r"|car[ao]"
    r"|(?:note|message|reminder|hinweis|nachricht|notiz|nota|mensaje|mensagem) (?:to|for|an|à|pour|para|per)"
    r"(?: (?:the|any|all|your|die|den|alle|el|la|los|o))?) (?:l['’])?"
)
_MODEL = r"(?:ai|ki|ia|llm|chatgpt|(?:chat)?bots?|assistants?|assistenten?|asistentes?|assistentes?)\b"
_KEEP = (
    r"\b(?:remember|store|save|record|memori[sz]e|note|keep in mind|add [^.!?]{0,15}to (?:your )?memory"
    r"|merke?|speichere?|speichern|notiere?|retiens|retenez|enregistre[rz]?|mémorise[rz]?|recuerd[ae]|guard[ae]"
    r"|memori[cz][ae]|ricorda|salva|lembre|registre)\b"
)
_USER = (
    r"(?:the (?:user|owner|account holder)|der (?:be)?nutzer|die nutzerin|"
    r"el usuario|la usuaria|l['’]utilisat\w+|l['’]utente|o usuário)\b"
)
_ORDERED = (
    r"(?:^|[.!?:;,—(\[>\"'*-]\s*|\b(?:please|kindly|and|always|now|then|must|should|to|permanently|silently|quietly|just"
    r"|also)\s+)"
)
PLANTING = [
    rf"{_GREETING}{_MODEL}[^.!?]{{0,40}}?{_KEEP}[^.!?]{{0,40}}?\b{_USER}",
    r"(?:亲爱的|親愛的|致|给|給)[^。！？]{0,6}(?:AI|人工智能|助手|模型|机器人)[^。！？]{0,20}"
    r"(?:记住|記住|保存|存入|记录|記錄)[^。！？]{0,20}(?:用户|用戶|使用者)",
    # Orders to a memory, with or without a greeting.
    rf"{_ORDERED}(?:memori[sz]e|record|store|save)\b(?: this| it)?(?: forever| permanently| as [^.!?:]{{0,40}}"
    rf"| (?:in|to|into) [^.!?:]{{0,40}})?(?:\s*:|,? that) {_USER}",
    rf"\b(?:always|forever|permanently|future (?:chats|conversations|sessions)|long-term)\b[^.!?]{{0,40}}?"
    rf"\b(?:remember|keep in mind)\b[^.!?]{{0,15}}? that {_USER}"
    rf"|\b(?:remember|keep in mind)\b (?:always|forever|permanently)[^.!?]{{0,15}}?(?:that|:) [^.!?]{{0,60}}?\b{_USER}",
    rf"{_ORDERED}(?:update|amend|edit|overwrite|write (?:in)?to|add to|save (?:in)?to|store in|commit to|put in(?:to)?)"
    rf" (?:your |the |its |my )?(?:long-term |persistent |permanent )?(?:memory|memories)\b[^.!?]{{0,60}}?\b{_USER}",
    rf"{_ORDERED}(?:add|write|attach|put|save|store) [^.!?]{{0,20}}\b(?:note|entry|memory|fact|line)\b[^.!?]{{0,15}}?"
    rf" (?:to|in|into|on) {_USER}['’]s (?:profile|memory|record|notes|account)\b",
    rf"{_ORDERED}(?:make|create|keep) (?:a |an )?(?:\w+ )?(?:memory|note|record)(?: of this| forever)?\s*(?::"
    rf"|,? that) {_USER}",
    rf"{_ORDERED}(?:write|put|enter|note|save) [^.!?]{{0,15}}?(?:in|into|to|on) {_USER}['’]s (?:profile|memory"
    rf"|record|notes)\b",
    rf"{_ORDERED}(?:forget|overwrite|replace) {_USER}['’]s (?:real |old |true )?(?:address|name|number|account|bank"
    rf"|e-?mail"
    r"|preferences?|settings)\b",
    r"\b(?:to|in|into) (?:your |the )?memory\b[^.!?]{0,15}? (?:for|of) (?:all|every|any|other) users?\b",
    rf"{_ORDERED}(?:delete|erase|wipe|remove|purge) (?:all|every|any)\b[^.!?]{{0,20}}?\bmemor(?:y|ies)\b"
    r"[^.!?]{0,20}?\b(?:other|of (?:the|all|every)|the) users?\b",
]
"""Orders to keep something about "the user", as users do not call themselves."""
PLANTING_NEEDS = r"\buser|\bowner|\bholder|nutzer|usuari|utilisat|utente|用户|用戶|使用者"
ADDRESSING_NEEDS = r"\bai\b|llm|language|gpt|assistant|asistente|assistent|agents?|models?|bots?"
