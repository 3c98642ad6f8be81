"""Markers: forged roles, and images that carry words away, as patterns that hold for every language.

A marker at the beginning of a line forges a role by itself. Within a line, "system:" is also an ordinary word ("a sound
system: two boxes"). There it counts if an order stands behind it.
"""

from __future__ import annotations

_KIND = r"(?:message|prompt|override|note|alert|notice|instruction|update|directive|command)s?"
_LEAD = r"(?:^|[.!?…)\]}>\"'”»|]\s*|\s[—–-]{1,3}\s+|\\n\s*)"
"""What ends the text ahead of a marker within a line."""
_ORDER = (
    r"(?:please |kindly |now,? |then |always |never |do not |don['’]t |from (?:now|this|here)\b|the (?:user|customer"
    r"|client"
    r"|caller|account holder|person)\b|you(?:r|['’]re|['’]ll)?\b|every (?:answer|reply|response)\b"
    r"|(?:ignore|disregard|forget|drop|obey|follow|act|pretend|answer|reply|respond|say|tell|claim|output|print|repeat"
    r"|reveal|show|send|forward|transfer|wire|pay|refund|credit|approve|authori[sz]e|grant|give|treat|regard|mark|rate"
    r"|rank|recommend|praise|promote|remember|memori[sz]e|store|save|record|add|append|set|disable|enable|activate"
    r"|delete"
    r"|erase|remove|wipe|switch|stop|execute|invoke|use|confirm|accept|trust|allow|close|escalate|hide|include|mention"
    r"|write|translate|summari[sz]e|override|bypass|skip|assume|consider|make)\b)"
)
_SENTENCE = r"[^\n]*?(?:(?-i:\b\p{Ll}{2,}(?:[^\p{L}\p{N}_]|$))|\p{Lo})"
"""Words as a sentence has them. "System: Ubuntu 22.04, 16 GB RAM" has names and numbers only, and forges no role."""
_MESSAGE = (
    r"(?:system(?:nachricht|anweisung|meldung|befehl)|systeem(?:bericht|melding|instructie)"
    r"|(?:mensaje|instrucción|mensagem|instrução) d[eo]l? sistema|(?:message|consigne|instruction) (?:du )?système"
    r"|(?:messaggio|istruzione) di sistema|(?:wiadomość|komunikat|instrukcja) systemow[ay]|sistem (?:mesajı|talimatı)"
    r"|系统(?:消息|指令|提示|通知)|系統(?:訊息|指令|提示|通知)|システム(?:メッセージ|指示|プロンプト)"
    r"|시스템 ?(?:메시지|지시)"
    r"|(?:رسالة|تعليمات) النظام|системн(?:ое|ая) (?:сообщение|инструкция)|सिस्टम (?:संदेश|निर्देश))"
)
ROLES = (
    r"<\|[a-z_]+\|>|\[/?INST\]|<</?SYS>>|</?(?:system|assistant|developer|instructions?|memory|memories)>"
    r"|^[ \t>*_]*(?:system|developer) (?:message|prompt|override|note|alert)[ *_]*:\s*\S"
    rf"|^[ \t>*_]*(?:system|developer)[ *_]*:(?:\s*{_ORDER}|\s*\n\s*\S|{_SENTENCE})"
    r"|^[ \t>*_-]*role[ *_]*:[ \t]*[\"']?(?:system|developer)\b"
    r"|^[ \t>*_]*#+[ *_]*(?:system|developer|systeme|sistema|система|系统|系統|システム|النظام|सिस्टम|সিস্টেম|سسٹم)"
    r"(?: (?:message|prompt|instructions?|override))?[ *_]*(?::|$)"
    r"|\[(?:system|developer)(?: (?:message|prompt|override|note|alert))?\]"
    r"|[\"']role[\"']\s*:\s*[\"'](?:system|developer)[\"']"
    # Other templates, and tags with attributes.
    r"|</?im_(?:start|end|sep)>|<<\s*/?(?:end )?sys(?:tem)?\s*>>|\{\{[#/\x7e]*(?:system|assistant)\x7e?\}\}"
    r"|</?(?:system|developer|instructions?)(?:[_-](?:prompt|message|instructions?|override))?(?:\s[^<>]{0,100})?/?>"
    r"|</?(?:system|developer)[_-](?:prompt|message|instructions?)>"
    r"|\brole\s*=\s*[\"']?(?:system|developer)\b"
    r"|^[ \t>]*(?:```|\x7e{3})(?:system|assistant|developer|instructions)[ \t]*$"
    r"|#{2,}\s*(?:instructions?|system|response|assistant)\s*:\s*\S"
    r"|[\"'](?:from|sender|author|speaker)[\"']\s*:\s*[\"'](?:system|developer)[\"']"
    rf"|[({{]\s*(?:system|developer) {_KIND}\s*[)}}:]"
    r"|(?-i:\b(?:BEGIN|START|END)(?: OF)?(?: THE)?(?: NEW)? SYSTEM (?:PROMPT|MESSAGE|INSTRUCTIONS?)\b)"
    r"|(?-i:\bSYSTEM (?:OVERRIDE|PROMPT|INSTRUCTIONS?|DIRECTIVE|COMMAND)\b)"
    rf"|\b{_MESSAGE}\s*[:：]|(?:系统|系統|システム|النظام|시스템)[^:：\n]{{0,4}}[:：]\s*\S"
    # A marker within a line, followed by an order.
    rf"|(?:{_LEAD}(?:system|developer)|(?-i:\b(?:SYSTEM|DEVELOPER)))(?: {_KIND})?"
    rf"(?: (?:to|for) (?:the |all )?(?:assistant|model|ai|agent|chatbot)s?)?\s*(?:[:|—–]|--|=>|->)\s*[\"'“*]*{_ORDER}"
    r"|\b(?-i:Human|HUMAN|User|USER)\s*:[^\n]{1,300}?\b(?-i:Assistant|ASSISTANT|AI)\s*:"
    r"|\b(?-i:Assistant|ASSISTANT)\s*:[^\n]{1,300}?\b(?-i:Human|HUMAN|User|USER)\s*:"
)
IMAGES = (
    r"!\[[^\]]{0,500}\]\(\s*(?:https?:)?//[^)\s]*[?&#{}$%<>][^)\s]*"
    r"|!\[[^\]]{0,500}\]\[[^\]]{0,100}\]"
    r"|!\[[^\]]{0,500}\]\(\s*(?:https?:)?//[^)\s]*/[^)\s./]*(?:\s[^)]{0,200})?\)"
    r"|!\[[^\]]{0,500}\]\(\s*(?:https?:)?//[^)\s]*/[^)\s/]{0,40}?(?-i:SUMMARY|MEMOR(?:Y|IES)|CHAT|CONVERSATION|HISTORY"
    r"|SECRETS?|DATA|PROFILE|NOTES|EMAIL|TEXT)[^)\s/]{0,40}"
    r"|<img\b[^>]{0,200}\bsrc\s*=\s*[\"']?(?:https?:)?//[^>\s]*[?&#{}$%][^>\s]*"
)
"""Images from another server whose address can carry words away.

The address has a query or a placeholder (SUMMARY), does not name an image file, or stands elsewhere in the text."""
ANY_IMAGE = r"!\[[^\]]{0,500}\]\(\s*(?:https?:)?//|<img\b[^>]{0,200}\bsrc\s*=\s*[\"']?(?:https?:)?//"
"""An image on another server. Whoever shows the text loads it, and the server learns that."""
