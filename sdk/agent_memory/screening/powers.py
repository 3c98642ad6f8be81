"""Powers: how orders give away money, approvals, access or data, or decide what others are told, by language, as data.

"~" stands for a few words of the same sentence. The languages are those of `text.instructions`.
"""

from __future__ import annotations

from agent_memory.text.instructions import ALWAYS, FROM_NOW_ON, POLITE

MARKED = (
    rf"\b{FROM_NOW_ON}\b|\b{ALWAYS}\b|\b(?:all|every|each|any|anyone|whoever|everything|anything|whenever|automatically"
    r"|without (?:asking|checking|approval|confirmation|review)|alle[nrs]?|jede[mnrs]?|ohne (?:zu fragen|rückfrage"
    r"|nachfrage|freigabe)|automatisch|tod[oa]s|cada|sin (?:preguntar|confirmar)|tou(?:s|te?s?)|chaque"
    r"|sans (?:demander|confirmation)|sem (?:perguntar|confirmar)|tutt[ie]|ogni|senza (?:chiedere|conferma)"
    r"|elke?|zonder (?:te vragen|overleg|controle))\b"
    r"|\byou (?:can|may|are (?:allowed|authori[sz]ed|permitted) to)\b|\bno (?:checks?|questions?|approvals?)\b"
    r"|\b(?:assistants?|agents?|models?|bots?)\b[^.!?]{0,30}? (?:must|should|may|can|are to)\b"
)
"""Words that make an order a standing one."""
_MODAL = (
    r"(?:can|may|must|should|shall|will|(?:have|need|are|is)(?: allowed| authori[sz]ed| permitted)? to|always|never)"
)
YOU = rf"(?:you|(?:the )?(?:assistants?|agents?|models?|bots?|ais?)(?: \w+){{0,3}}) {_MODAL}"
SUBJECT = (
    r"^(?:i|we|he|she|they|it|people|my|our|his|her|their|the|der|die|das|mein\w*|wir|ich|mi|el|la|ma|mon|le|o|a) "
)
"""How statements begin."""
OPENING = (
    rf"{POLITE}(?:{FROM_NOW_ON},? )?{POLITE}"
    rf"(?:(?:{YOU}|(?:the )?user (?:wants|asks|requires|expects|prefers|told)(?: you| the assistant)?(?: to"
    rf"| that you)?"
    r"|(?:make|be) sure (?:to|that you)|remember to|i (?:want|need|expect) you to|feel free to|hey|hi"
    r"|(?:can|could|would|will) (?:you|we)(?: please| kindly| be able to)?|(?:is|would) it (?:be )?possible to|let['’]s"
    r"|i(?: would|['’]d) like (?:you )?to|kannst du|k[oö]nntest du|k[oö]nnten sie|(?:me )?puedes|podr[ií]as|peux-tu"
    r"|pourrais-tu|pourriez-vous|puoi|potresti|podes|poderias?|kun je|kan je)"
    r"(?: now| also)* )?"
    rf"(?:(?:{ALWAYS}|automatically|auto|just|simply),? )*"
)
"""What may come before the verb of an order."""
AT_START = rf"(?:^[\s>*\"'“-]*|\b(?:that|und|y|et|e|en) ){OPENING}"
AFTER_COMMA = rf"(?:[,:;] |- |\b(?:and|then|so) ){OPENING}"

_DECIDED = r"\b(?:expenses?|invoices?|refunds?|purchases?|requests?|orders?|payments?|claims?|contracts?|transfers?"
_MONEY = (
    r"\b(?:money|funds?|cash|payments?|refunds?|deposits?|salar(?:y|ies)|wages|bonus(?:es)?|proceeds|revenue|balance"
)
_INTO = r"\b(?:to|into|onto) "
_PRIVATE = (
    r"\b(?:credentials|passwords?|api keys|customer list|(?:customer|client|employee|patient|personal|confidential"
    r"|private|medical|bank)(?:'s)? (?:data|records|files|details|information|lists?)|contacts"
    r"|all (?:of )?my (?:e?-?mails?|messages|files|documents)|copy of (?:all|every|my))\b"
)
_CHECKS = (
    r"\b(?:fraud|security|safety|compliance|polic(?:y|ies)|(?:spending|credit|budget|transfer|purchase"
    r"|expense)s? limits?"
    r"|(?:second |four-eyes )?approvals?|verification|two-factor|2fa|mfa|audits?"
    r"|(?:warnings?|complaints?|objections?|requests?|alerts?|e?-?mails?|messages?) (?:from|of|by) (?:\w+ ){0,3}?"
    r"(?:team|department|manager|boss|staff|colleagues?|customers?|users?|bank|hr|accounting|finance|legal|police)"
    r"|what \w+ (?:says|writes|tells))\b"
)
_ASKING = r"(?:ask|asks|asked|want|wants|complain|complains|want to know|wants to know|inquire|inquires|call|calls)\b"
_OTHERS = (
    r"(?:any(?:one|body)|some(?:one|body)|every(?:one|body)|people|others|customers?|a customer|clients?|guests?"
    r"|callers?"
    r"|visitors?|colleagues?|my (?:boss|manager|team|wife|husband|partner)|the (?:police|press|bank|auditors?))"
)
_TELLING = r"(?:say|tell|answer|reply|respond|claim|confirm|deny|recommend|pretend|insist|promise|assure|refuse)\b"

ORDERS: dict[str, tuple[str, ...]] = {
    "en": (
        rf"(?:auto-?)?(?:approve|authori[sz]e|accept|sign|waive|merge)~{_DECIDED}|leave|withdrawals?|reimbursements?"
        r"|pull requests?|loans?|everything|anything|it|them)\b",
        r"(?:vote|confirm|sign|agree|accept|approve|buy|order|book|spend|answer|say yes)\b~\b(?:on my behalf"
        r"|in my name)\b",
        r"(?:confirm|say yes to)\b~\b(?:payments?|(?:wire )?transfers?|withdrawals?|requests?)\b",
        r"spend\b~(?:\bmoney\b|\bup to\b|[0-9])",
        r"(?:transfer|wire|pay|refund|send|remit|route|move|forward|credit)\b~\b(?:to|into|onto)\b~\b(?:account|iban"
        r"|card"
        r"|wallet|paypal)\b",
        r"(?:send|forward|b?cc|copy|e-?mail|share)\b~[^ @]@[^ @]",
        r"make\b~\b(?:owner|admin\w*|approver)\b",
        r"do (?:whatever|what|anything|everything) (?:that )?[a-z]{3,} (?:says|asks|wants|tells|writes)\b",
        r"(?:share|discuss)\b~\bwith (?:them|him|her|anyone|everyone|whoever|others|customers|partners|the (?:public"
        r"|press))\b",
        r"remove (?:him|her|them) from\b",
        rf"(?:transfer|wire|pay|refund|send|remit|route|move|forward|donate|credit)~{_MONEY}"
        rf"|reimbursements?)\b~{_INTO}",
        r"(?:pay|settle|release|clear)\b~(?:\b(?:invoices?|bills?|payments?|deposits?)\b|\b(?:it"
        r"|them) automatically\b)",
        r"(?:grant|give|hand|invite|add|assign|allow|provide|let)\b~\b(?:access (?:to|rights|without|when\w*|if)"
        r"|access(?:$| from now on| at all times| permanently)|ownership"
        r"|(?:admin\w*|root|full|write|edit\w*|read) (?:access|rights?|permissions?)|admin|root|sudo"
        r"|permissions? (?:to|for))\b",
        rf"(?:share|send|forward|give|disclose|reveal|publish|include|copy|export|upload)\b~{_PRIVATE}"
        r"~\b(?:to|with|when|on)\b",
        r"(?:include|put|show|print|write|add)\b~\b(?:credentials|passwords?|api keys?)\b",
        r"(?:treat|consider|regard|trust|obey|believe)\b~\b(?:as (?:if|an?|the)\b~\b(?:admin\w*|owner|authori[sz]ed"
        r"|approved|trusted)|(?:every|any)thing (?:that )?\w+ (?:says|writes|asks|wants)|whatever \w+ (?:says"
        r"|writes))\b",
        rf"(?:ignore|skip|bypass|disable|override|circumvent|suppress|disregard|exceed)\b~{_CHECKS}",
        r"(?:delete|remove|revoke|erase|wipe|kick|ban|block|suspend|demote|reset)\b~\b(?:approvers?|admins?"
        r"|access (?:of|to|for|from)|accounts? (?:of|for)|(?:access|audit|security|server) (?:logs?|trails?)|backups?"
        r"|permissions?|passwords? (?:of|for))\b",
        r"(?:buy|book|order|spend|delete|transfer|publish|deploy|purchase|cancel|send)\b~\bwithout (?:asking|checking"
        r"|(?:my )?(?:approval|confirmation)|review)\b",
    ),
    "de": (
        r"(?:genehmige|genehmigen sie|bewillige|akzeptiere|unterschreibe|gib)\b~(?:spesen|rechnung|ausgabe|erstattung"
        r"|zahlung|antrag|anträge|bestellung|auslage|urlaub|einkäufe|überweisung|vertrag|verträge)\w*\b",
        r"(?:überweise|überweisen sie|zahle|sende|schicke|leite|transferiere)\b~(?:zahlung|erstattung|geld|betrag"
        r"|beträge"
        r"|guthaben|gehalt|gehälter)\w*\b~\b(?:auf|an)\b",
        r"(?:gib|geben sie|gewähre|erteile|räume|erlaube)\b~(?:zugriff|zugang|adminrecht|berechtigung|vollmacht"
        r"|passw[oö]rt"
        r"|zugangsdaten)\w*\b",
        r"(?:teile|leite|schicke|sende|kopiere)\b~(?:kundenliste|kundendaten|passw[oö]rt|zugangsdaten|personaldaten"
        r"|alle meine|meine e?-?mails)\w*\b",
        r"(?:ignoriere|übergehe|umgehe|überspringe|deaktiviere)\b~(?:sicherheits|betrug|freigabe|limit|genehmigung"
        r"|richtlinie|warnung(?:en)? (?:der|des|von))\w*\b",
        r"(?:(?:alle|bitte) )?(?:rechnung|spesen|erstattung|rückzahlung|zahlung|bestellung)(?:en)?\b~\b(?:bezahlen"
        r"|genehmigen"
        r"|überweisen|akzeptieren|freigeben|auszahlen)$",
        r"(?:lösche|entferne|entziehe|sperre)\b~(?:zugriff|genehmiger|konto|konten|berechtigung|sicherungskopie)\w*\b",
    ),
    "es": (
        r"(?:aprueb[ae]|autori[cz]a|acept[ae]|firm[ae])\b~\b(?:gastos?|facturas?|reembolsos?|pagos?|compras?"
        r"|solicitud(?:es)?"
        r"|pedidos?|contratos?|todo)\b",
        r"(?:transfiere|transfiera|envía|envíe|pag[ae]|pague|mand[ae])\b~\b(?:reembolsos?|dinero|pagos?|fondos"
        r"|facturas?"
        r"|depósitos?)\b~\ba\b",
        r"(?:da|dale|dé|concede|otorga|permite)\b~\b(?:acceso|permisos?|derechos|contraseñas?|claves?)\b",
        r"(?:comparte|reenvía|reenvíe|envía|envíe|copia)\b~\b(?:mis (?:correos|mensajes|archivos)|lista de clientes"
        r"|datos (?:de|personales)|contraseñas?)\b",
        r"(?:ignora|omite|salta|desactiva)\b~\b(?:seguridad|fraude|límites?|aprobación|política|verificación)\b",
        r"(?:borra|elimina|revoca|bloquea)\b~\b(?:registros? de acceso|acceso de|permisos|cuentas?)\b",
    ),
    "fr": (
        r"(?:approuve[sz]?|autorise[sz]?|accepte[sz]?|valide[sz]?|signe[sz]?)\b~\b(?:frais|dépenses?|factures?"
        r"|remboursements?|paiements?|achats?|demandes?|commandes?|contrats?|tout)\b",
        r"(?:vire[sz]?|transfère[sz]?|transférez|envoie[sz]?|envoyez|paie[sz]?|payez|verse[sz]?)\b~\b(?:remboursements?"
        r"|argent|paiements?|fonds|salaires?)\b~\b(?:sur|à|au|vers)\b",
        r"(?:paie[sz]?|payez|règle[sz]?)\b~\bfactures?\b",
        r"(?:donne[sz]?|accorde[sz]?|ouvre[sz]?)\b~(?:\baccès|\bdroits?|\bpermissions?|\bmots? de passe|l['’]accès)\b",
        r"(?:partage[sz]?|transfère[sz]?|transférez|envoie[sz]?|copie[sz]?)\b~\b(?:mes (?:e?-?mails|courriels|messages"
        r"|fichiers)|liste des clients|données (?:des|personnelles)|mots? de passe)\b",
        r"(?:ignore[sz]?|contourne[sz]?|saute[sz]?|désactive[sz]?)\b~\b(?:sécurité|fraude|plafonds?|approbation"
        r"|politique|vérification)\b",
        r"(?:supprime[sz]?|efface[sz]?|révoque[sz]?|bloque[sz]?)\b~\b(?:journaux|accès de|comptes?|droits de)\b",
    ),
    "pt": (
        r"(?:aprov[ae]|autoriz[ae]|aceit[ae]|assin[ae])\b~\b(?:despesas?|faturas?|reembolsos?|pagamentos?|compras?"
        r"|pedidos?"
        r"|contratos?|tudo)\b",
        r"(?:transfira|transfere|envi[ae]|pague|paga|mand[ae])\b~\b(?:reembolsos?|dinheiro|pagamentos?|fundos"
        r"|salários?)\b"
        r"~\b(?:para|à|ao)\b",
        r"(?:dê|dá|conceda|concede|permita)\b~\b(?:acesso|permiss(?:ão|ões)|direitos|senhas?)\b",
        r"(?:partilh[ae]|compartilh[ae]|encaminh[ae]|envi[ae]|copi[ae])\b~\b(?:(?:os )?meus (?:e?-?mails|arquivos"
        r"|ficheiros)"
        r"|lista de clientes|dados (?:dos|pessoais)|senhas?)\b",
        r"(?:ignor[ae]|contorn[ae]|desativ[ae])\b~\b(?:segurança|fraude|limites?|aprovação|política|verificação)\b",
        r"(?:apag[ae]|remov[ae]|revogu?[ae]|bloque(?:ie|ia))\b~\b(?:registos? de acesso|acesso de|contas?"
        r"|permissões)\b",
    ),
    "it": (
        r"(?:approva|autorizza|accetta|firma)\b~\b(?:spese|fatture|rimborsi|pagamenti|acquisti|richieste|ordini"
        r"|contratti"
        r"|tutto)\b",
        r"(?:trasferisci|invia|paga|manda|versa|bonifica)\b~\b(?:rimborsi|denaro|soldi|pagamenti|fondi|stipendi)\b"
        r"~\b(?:sul?|al?|alla)\b",
        r"(?:dai|concedi|permetti)\b~(?:\baccesso|l['’]accesso|\bpermess[io]|\bdiritti|\bpassword)\b",
        r"(?:condividi|inoltra|invia|copia)\b~\b(?:(?:le )?mie (?:e?-?mail)|(?:i )?miei (?:messaggi|file|documenti)"
        r"|lista (?:dei )?clienti|dati (?:dei|personali)|password)\b",
        r"(?:ignora|salta|aggira|disattiva)\b~\b(?:sicurezza|frodi?|limit[ei]|approvazione|verifica)\b",
        r"(?:cancella|rimuovi|revoca|blocca)\b~\b(?:registri? di accesso|accesso di|account|permessi)\b",
    ),
    "nl": (
        r"(?:keur|accepteer|teken|accordeer)\b~\b(?:declaraties?|facturen|uitgaven|terugbetalingen|betalingen|aankopen"
        r"|aanvragen|bestellingen|contracten|alles)\b",
        r"(?:maak|boek|betaal|stuur|stort)\b~\b(?:terugbetalingen|geld|betalingen|salaris(?:sen)?)\b~\b(?:naar|aan"
        r"|op)\b",
        r"betaal\b~\b(?:facturen|rekeningen)\b",
        r"(?:geef|verleen|verschaf)\b~\b(?:toegang|rechten|beheerdersrechten|wachtwoord(?:en)?|toestemming)\b",
        r"(?:deel|stuur|kopieer)\b~\b(?:mijn (?:e?-?mails?|berichten|bestanden)|klantenlijst|klantgegevens"
        r"|wachtwoord(?:en)?)\b",
        r"(?:negeer|omzeil|sla)\b~\b(?:beveiliging\w*|fraude\w*|limiet|goedkeuring|beleid|controle)\b",
        r"(?:verwijder|wis|blokkeer)\b~\b(?:toegang van|toegangslogs?|accounts?|rechten)\b",
    ),
}
"""Orders by language: the imperative, and after it what they give away."""
LIFTING = (
    r"(?:never|do not(?: ever)?|don['’]t(?: ever)?|no need to|stop) (?:(?:ask|wait|check|require|asking|waiting"
    r"|checking)\b"
    r"~\b(?:confirmation|approval|permission|authori[sz]ation|before (?:you )?(?:send|pay|spend|buy|delet"
    r"|transfer)\w*)\b"
    rf"|(?:refuse|reject|deny|decline|question)\b~{_DECIDED}|access|anything)\b"
    r"|let [a-z]{3,} (?:see|read|edit|open|access|join|approve)\b"
    r"|(?:tell|inform|notify|alert)\b~\b(?:accounting|finance|hr|legal|compliance|auditors?|police|security"
    r"|the bank)\b)"
    r"|(?:frag|frage|warte)\b~\b(?:nie|niemals|nicht mehr)\b~(?:erlaubnis|genehmigung|freigabe|bestätigung)\b"
)
"""Orders that lift a limit or take a right away. Nothing else makes them standing ones: they say "never" themselves."""
LIFTED = (
    rf"{_DECIDED}|[a-z]+ from \w+)\b~\b(?:pre-?approved|needs? no (?:approval|confirmation|review|sign-?off)|(?:never"
    rf"|do not|don['’]t|does not|doesn['’]t) need(?: any| an| your)?"
    r" (?:approval|confirmation|review|sign-?off)|(?:be|are|is|get) (?:auto-?approved|(?:approved|accepted"
    r"|paid|merged|authori[sz]ed) (?:automatically|without|at once|immediately)))"
)
"""What needs no approval any more."""
PAID = (
    rf"^[\s>*\"'“-]*{POLITE}(?:{FROM_NOW_ON},? )?(?:all|every|each|any)\b~{_MONEY}|invoices?)\b~"
    r"(?:\b(?:must|should|shall|will|are to|is to|(?:have|has|need|needs) to)\b~\b(?:paid|transferred|sent|wired|routed"
    r"|credited|go)\b|\bgoe?s?\b) (?:to|into|on|onto)\b~(?:\b(?:account|iban|card|wallet|address)\b|[0-9]{4})"
)
TOPIC = (
    r"\b(?:payments?|payouts?|refunds?|reimbursements?|invoices?|expenses?|salary|bonus|wallet|funds|(?:wire|bank)"
    r" transfers?|purchases?|loans?|deposits?|contracts?|discount codes?|vouchers?|approv(?:e|ed|al|als|er|ers)"
    r"|admin\w*"
    r"|access (?:to|rights)|permissions?|credentials?|passwords?|two-factor|2fa|bank accounts?|zahlung(?:en)?"
    r"|rechnung(?:en)?|spesen|erstattung(?:en)?|überweisung(?:en)?|freigaben?|genehmigung(?:en)?|zugriff\w*|zugang"
    r"|passw[oö]rt\w*|pagos?|facturas?|gastos?|reembolsos?|aprobación|acceso|contraseñas?|paiements?|factures?|frais"
    r"|remboursements?|accord|accès|mots? de passe|pagamentos?|faturas?|despesas?|aprovação|acesso|senhas?|pagament[oi]"
    r"|fattur[ae]|spese|rimbors[oi]|approvazione|accesso|betaling(?:en)?|facturen|declaraties?|goedkeuring|toegang"
    r"|wachtwoord(?:en)?)\b"
)
"""What gives power over money and rights."""
HELPING = (
    r"\b(?:show|list|sort|group|convert|format|write|round|display|use|name|label|translate|summari[sz]e|explain|mark"
    r"|check|verify|validate|ask|remind|warn|tell me|include|put|keep|prefer|quote|cite|mention|compare|estimate"
    r"|calculate|count|track|log|note|flag|avoid|add|answer|reply|call|mock|test|wrap|encrypt|hash|store|save|file"
    r"|handle"
    r"|provide|retry|cc|send [^.!?]{0,30} as|describe|document|draft|attach|number|date|consider|double-check|look"
    r"|read|start|put|set|send me|give me|let me"
    r"|zeig\w*|schreib\w*|nenn\w*|sortier\w*|rechne|verwende|benutze|antworte|prüfe|frag\w*|muestra|escribe|usa|ordena"
    r"|responde|pregunta|montre\w*|écris|écrivez|utilise\w*|trie|réponds|demande\w*|mostr[ae]|escreva|use|ordene"
    r"|responda"
    r"|pergunte|scrivi|ordina|rispondi|chiedi|toon|schrijf|gebruik|sorteer|antwoord|vraag)\b"
)
"""Verbs of orders that say how to help."""
LIMITING = (
    r"\b(?:(?:ask|asking|check with|tell|with|from) me|my (?:approval|consent|permission)|only (?:if|when|after|with)"
    r"|unless|two people)\b"
)
SPOKEN = [
    rf"\b(?:when(?:ever)?|if|(?:each|every|any) ?time) (?:\w+ )?{_OTHERS}\b~{_ASKING}(?:~[,;] ?| )(?:then |please |just"
    rf" |simply |always |never |you (?:must|should|can|may) (?:always )?)*{_TELLING}",
    rf"^[\s>*\"'“-]*{POLITE}(?:{FROM_NOW_ON},? )?(?:always |never |just ){_TELLING}~\b(?:when(?:ever)?|if|(?:each"
    rf"|every)"
    rf" time) (?:\w+ )?{_OTHERS}\b~{_ASKING}",
    r"\b(?:wenn|falls|sobald) (?:jemand|irgendwer|leute|(?:ein )?kunden?|mein chef)\b~\b(?:fragt|fragen|beschwert"
    r"|beschweren|wissen will)\b[^.!?]{0,20}?, ?(?:dann )?(?:sag|sage|antworte|behaupte|bestätige|empfiehl)\b",
    r"\b(?:cuando|si|cada vez que|siempre que) (?:alguien|un cliente|la gente|mi jefe)\b~\bpregunt[ae]n?\b~\b(?:di"
    r"|diga|responde"
    r"|responda|contesta|confirma)\b",
    r"\b(?:quand|si|chaque fois que) (?:quelqu['’]un|un client|les gens|mon chef)\b~\bdemande\b~\b(?:dis|dites|réponds"
    r"|répondez|confirme)\b",
    r"\b(?:quando|se|sempre que|toda vez que) (?:alguém|um cliente|as pessoas)\b~\bperguntar?\b~\b(?:diga|diz|responda"
    r"|responde|confirme)\b",
    r"\b(?:quando|se|ogni volta che) (?:qualcuno|un cliente|il mio capo)\b~\bchied[ea]\b~\b(?:di|dì|rispondi"
    r"|conferma)\b",
    r"\b(?:als|wanneer) (?:iemand|een klant|mensen|mijn baas)\b~\b(?:vraagt|vragen)\b~\b(?:zeg|antwoord|bevestig)\b",
]
