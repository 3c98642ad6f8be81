"""Secrets: keys and tokens of services, passwords in prose, private keys, numbers of cards and accounts.

The patterns of detect-secrets (extra `secrets`) find keys and tokens. Patterns of our own find those of further
services. Passwords are found by how people mention them, in twelve languages. RE2 runs the patterns of detect-secrets,
because it searches in linear time. Three plugins are left out: they judge the entropy of a word, the name of a variable
in code, or the address of a machine, and so raise false alarms in plain talk. Numbers of cards, bank accounts and US
social security are recognised by form and check digits.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from agent_memory.text.folding import seen, unaccented
from agent_memory.text.patterns import Linear, linear

Kind = Literal["secret", "instruction"]


@dataclass(frozen=True, slots=True)
class Finding:
    """A place in a text, and what was found there."""

    kind: Kind
    what: str
    start: int
    end: int


def redacted(text: str, findings: Iterable[Finding]) -> str:
    """Replaces each finding in a text with a marker that names it, such as `[password removed]`."""
    parts: list[str] = []
    at = 0
    for finding in apart(findings):
        parts += [text[at : finding.start], f"[{finding.what} removed]"]
        at = finding.end
    return "".join([*parts, text[at:]])


def apart(findings: Iterable[Finding]) -> list[Finding]:
    """The findings in order, without overlaps. If two overlap, the one that begins first stays, then the longer.

    If a later finding ends further on, the earlier one is extended to that end, so that no part of either stays.
    """
    kept: list[Finding] = []
    for finding in sorted(findings, key=lambda one: (one.start, -one.end)):
        if not kept or finding.start >= kept[-1].end:
            kept.append(finding)
        elif finding.end > kept[-1].end:
            kept[-1] = Finding(kept[-1].kind, kept[-1].what, kept[-1].start, finding.end)
    return kept


_DETECTORS = {
    "artifactory": "ArtifactoryDetector",
    "aws": "AWSKeyDetector",
    "azure_storage_key": "AzureStorageKeyDetector",
    "basic_auth": "BasicAuthDetector",
    "cloudant": "CloudantDetector",
    "discord": "DiscordBotTokenDetector",
    "github_token": "GitHubTokenDetector",
    "gitlab_token": "GitLabTokenDetector",
    "ibm_cloud_iam": "IbmCloudIamDetector",
    "ibm_cos_hmac": "IbmCosHmacDetector",
    "jwt": "JwtTokenDetector",
    "mailchimp": "MailchimpDetector",
    "npm": "NpmDetector",
    "openai": "OpenAIDetector",
    "private_key": "PrivateKeyDetector",
    "pypi_token": "PypiTokenDetector",
    "sendgrid": "SendGridDetector",
    "slack": "SlackDetector",
    "softlayer": "SoftlayerDetector",
    "square_oauth": "SquareOAuthDetector",
    "stripe": "StripeDetector",
    "telegram_token": "TelegramBotTokenDetector",
    "twilio": "TwilioKeyDetector",
}
_BY_PREFIX = frozenset({"github_token", "gitlab_token"})
"""Detectors whose pattern has a group for the beginning of the token only."""
_LOOKING_AROUND = {
    r"(?:(?<=\W)|(?<=^))": r"(?:\W|^)",
    r"(?!\w)": "",
    r"(?![a-zA-Z0-9_\-])": "",
    "(?![a-f0-9])": "",
    "1024}": "1000}",
}
"""Parts of detect-secrets patterns that RE2 does not know, and what replaces them. Tokens are extended to their end."""

# Forms of keys as the services publish them. A group marks the secret where the pattern matches more than that.
_KEYS: dict[str, str] = {
    "anthropic key": r"\bsk-ant-[A-Za-z0-9_-]{20,}",
    "openai key": r"\bsk-(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{20,}|\bsk-(?:or-v1-)?[A-Za-z0-9]{32,}",
    "google key": r"\bAIza[A-Za-z0-9_-]{35}|\bGOCSPX-[A-Za-z0-9_-]{20,}"
    r"|\bya29\.[A-Za-z0-9_-]{20,}|\b1//0[A-Za-z0-9_-]{30,}",
    "hugging face token": r"\b(?:hf|api_org)_[A-Za-z0-9]{30,}",
    "github token": r"\bgithub_pat_[A-Za-z0-9_]{22,}",
    "aws secret": r"(?i)\b(?:aws[_ -]?)?secret[_ -]?(?:access[_ -]?)?key\b[\"']?\s*(?:=>"
    r"|:|=|is)\s*[\"']?([A-Za-z0-9/+]{40})"
    r"|\baws[_ -]?session[_ -]?token[\"']?\s*[=:]\s*[\"']?([A-Za-z0-9/+=]{60,})",
    "azure key": r"(?i)\b(?:Account|SharedAccess)Key=([A-Za-z0-9+/]{20,}=*)|\bsig=([A-Za-z0-9%/+]{30,}=*)",
    "azure secret": r"\b[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}",
    "databricks token": r"\bdapi[0-9a-f]{32}",
    "digitalocean token": r"\bdo[opr]_v1_[0-9a-f]{64}",
    "shopify token": r"\bshp(?:at|ca|pa|ss)_[0-9A-Fa-f]{32}",
    "cloudflare token": r"(?i)cloudflare[^.!?\n]{0,30}?\b(?:token|key"
    r"|secret)\b[^.!?\n]{0,15}?\b([A-Za-z0-9_-]{37,40})\b"
    r"|\bv1\.0-[0-9a-f]{24}-[0-9a-f]{146}",
    "stripe key": r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}|\bwhsec_[A-Za-z0-9]{24,}",
    "slack token": r"\bxapp-[0-9]-[A-Z0-9]+-[0-9]+-[A-Za-z0-9]+|\bxoxe[.-][A-Za-z0-9.-]{20,}",
    "npm token": r"\bnpm_[A-Za-z0-9]{36}",
    "service token": r"\b(?:gsk_|r8_|glsa_|sntry[su]_|ntn_|lin_api_"
    r"|dckr_pat_|sbp_|figd_|nvapi-|pplx-|xai-|tvly-|PMAK-"
    r"|pscale_tkn_|ATATT3|hvs\.|dp\.pt\.|rubygems_|NRAK-|SK-)[A-Za-z0-9_=-]{24,}",
    "age key": r"\bAGE-SECRET-KEY-1[0-9A-Z]{50,}",
    "bearer token": r"\b(?:[Bb]earer|BEARER)\s+([A-Za-z0-9._~+/=-]{16,})",
    "private key": r"(?s)-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----.*?"
    r"(?:-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----|\z)"
    r"|PuTTY-User-Key-File-[0-9].*?(?:Private-MAC: *[0-9a-f]+|\z)",
}
_SHORTEST_PASSWORD = 3

# For each language: the words for a password, and the words that come before its value.
_IS = r"=|:|—|–"
_TOLD: dict[str, tuple[str, str]] = {
    "en": (
        r"\b(?:pass ?(?:word|phrase|code)|pwd|pin(?: code| number)?|api[ _-]?key|secret key|access token)\b",
        r"\b(?:is|are|was)(?: now)?\b",
    ),
    "de": (r"\b(?:passwort|kennwort|geheimzahl|zugangscode)\b", r"\b(?:ist|lautet|heißt|war)(?: jetzt)?\b"),
    "fr": (r"\b(?:mot de passe|code secret|code pin)\b", r"\b(?:est|c['’]est)\b"),
    "es": (r"\b(?:contraseña|clave secreta|mi clave|clave de acceso)\b", r"\b(?:es|ahora es)\b"),
    "pt": (r"\b(?:minha senha|senha|palavra-passe)\b", r"\b(?:é|agora é)\b"),
    "ru": (r"(?:парол[ья]|пин-?код|кодовое слово)", r"это|является|теперь|\s"),
    "zh": (r"(?:密码|密碼|口令)", r"是|为|為|\s"),
    "ja": (r"(?:パスワード|暗証番号|合言葉)", r"は|が|\s"),
    "hi": (r"(?:पासवर्ड|कूटशब्द|पिन)", r"है|\s"),
    "bn": (r"(?:পাসওয়ার্ড|পিন)", r"হলো|হল|হচ্ছে|\s"),
    "ar": (r"(?:كلمة (?:المرور|السر|سر|مرور)ي?|الرقم السري)(?: الخاصة? بي)?", r"هي|هو|\s"),
    "ur": (r"(?:پاس ?ورڈ|پن کوڈ)", r"ہے|\s"),
}
_FOR = r"(?:\s+(?:for|to|of|on|für|zum|von|pour|de|du|para|do|da|от|для)\s+(?:[\w'’-]+\s+){1,4}?)?"
_VALUE = r"([\"'“`«「]?)([!-~]{3,})"
_PASSWORDS = [
    linear(unaccented(rf"{noun}{_FOR}\s*(?:{_IS}|{verb})\s*{_VALUE}"), re.IGNORECASE) for noun, verb in _TOLD.values()
]
_PASSWORD_NAMED = linear(unaccented("|".join(noun for noun, _ in _TOLD.values())), re.IGNORECASE)
_CODE = linear(r"[\[<{$`(]|[\p{L}_.]+[(\[]|[\p{L}_$]+(?:\.[\p{L}_]+)+$|[\p{L}_]*_[\p{L}_]*$")
"""Words in place of a password that are not one: markup, a call, an attribute, a name with underscores, a marker."""
_NO_VALUE = linear(r"^[^0-9]*(?:password|passwort|api.?key)[^0-9]*$", re.IGNORECASE)
_BEHIND_VALUE = ".,;!?)\"'`"


def find_secrets(text: str) -> list[Finding]:
    """The keys, tokens, passwords and secret numbers in a text, in order, none inside another."""
    view = seen(text)
    line = view.in_line()
    return apart(
        Finding("secret", what, *within.span(start, end))
        for within, found in ((view, _tokens(view.text)), (line, _passwords(line.text)), (line, numbers(line.text)))
        for what, start, end in found
    )


def knows_tokens() -> bool:
    """Whether the detectors of keys and tokens are installed."""
    return bool(_detectors())


def _tokens(text: str) -> Iterator[tuple[str, int, int]]:
    if not _any_token().search(text):
        return
    for what, pattern in _keys():
        end = 0
        for found in pattern.finditer(text):
            group = next((number for number, value in enumerate(found.groups(), 1) if value), 0)
            if found.start(group) >= end:  # a match inside a token belongs to that token
                end = _end_of(text, found.end(group))
                yield what, found.start(group), end
    for what, plugin, pattern in _detectors():
        end = 0
        for found in pattern.finditer(text):
            group = 0 if what in _BY_PREFIX or not found.groups() else 1
            if found.start(group) < end or (what == "jwt" and not plugin.is_formally_valid(found[0])):
                continue
            start, value = found.start(group), found[group].split()[0]
            end = _end_of(text, start + len(value), ".=/+" if what == "jwt" else "")
            yield what.replace("_", " "), start, end


def _end_of(text: str, end: int, more: str = "") -> int:
    """The end of a token whose beginning was matched. A full stop after it does not belong to it."""
    while end < len(text) and ((text[end].isascii() and text[end].isalnum()) or text[end] in f"_-{more}"):
        end += 1
    return end - (text[end - 1] == ".")


def _passwords(text: str) -> Iterator[tuple[str, int, int]]:
    """The values of passwords. "My password is too short" gives none."""
    if not _PASSWORD_NAMED.search(text):
        return
    for pattern in _PASSWORDS:
        for found in pattern.finditer(text):
            value = _until_quote(found[2]).rstrip(_BEHIND_VALUE)
            if len(value) < _SHORTEST_PASSWORD or _CODE.match(value) or _NO_VALUE.search(value):
                continue
            if found[1] or not value.isalpha() or (value != value.lower() and value[1:] != value[1:].lower()):
                yield "password", found.start(2), found.start(2) + len(value)


def _until_quote(value: str) -> str:
    return value[: min((place for mark in "\"'`" if (place := value.find(mark)) > 0), default=len(value))]


@cache
def _any_token() -> Linear:
    """One pattern that matches if a text holds any token at all."""
    patterns = [pattern for _, pattern in _keys()] + [pattern for _, _, pattern in _detectors()]
    return linear("|".join(f"(?:{pattern.pattern})" for pattern in patterns))


@cache
def _keys() -> list[tuple[str, Linear]]:
    return [(what, linear(pattern)) for what, pattern in _KEYS.items()]


@cache
def _detectors() -> list[tuple[str, Any, Linear]]:
    try:
        modules = {name: importlib.import_module(f"detect_secrets.plugins.{name}") for name in _DETECTORS}
    except ImportError:
        return []
    return [
        (name, plugin, linear(_linear_form(pattern.pattern), pattern.flags & re.IGNORECASE))
        for name, kind in _DETECTORS.items()
        for plugin in [getattr(modules[name], kind)()]
        for pattern in plugin.denylist
    ]


def _linear_form(pattern: str) -> str:
    for theirs, ours in _LOOKING_AROUND.items():
        pattern = pattern.replace(theirs, ours)
    return pattern


_DIGITS = linear(r"[0-9](?:[ -]?[0-9]){12,}")
_GROUP = linear(r"[0-9]+")
_ACCOUNT = linear(r"\b[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b")
_SOCIAL = linear(r"\b([0-9]{3})-([0-9]{2})-([0-9]{4})\b")
_SOCIAL_NAMED = linear(
    r"(?:\bssn\b|\bsocial security)[^0-9.!?]{0,30}([0-9]{3})[ -]?([0-9]{2})[ -]?([0-9]{4})\b", re.IGNORECASE
)
_ISSUED = linear(
    r"^(?:4[0-9]{12}(?:[0-9]{3}|[0-9]{6})?"  # Visa
    r"|(?:5[1-5][0-9]{2}|222[1-9]|22[3-9][0-9]|2[3-6][0-9]{2}|27[01][0-9]|2720)[0-9]{12}"  # Mastercard
    r"|3[47][0-9]{13}|3[0689][0-9]{12,17}|35[0-9]{14,17}"  # American Express, Diners Club, JCB
    r"|(?:50|5[6-9]|6[0-9])[0-9]{11,17})$"  # Maestro, Discover, UnionPay
)
"""The first digits of payment cards, and how many digits such a card has (ISO/IEC 7812-1, and the networks)."""
_ARTICLE = 13
_LONGEST_PHONE = 15
"""Digits of the longest telephone number after its + (ITU-T E.164)."""
_SHORTEST_ACCOUNT, _LONGEST_ACCOUNT = 15, 34
_CARD_GROUPS = ((4, 4, 4, 4, 3), (4, 4, 4, 4), (4, 6, 5), (4, 6, 4))
"""How many digits each group has when a card number is written in groups."""
_FOUR = 4
_FEW_GROUPS = 2
"""Numbers of cards that are written in sizes of their own have no more groups; lists of numbers have."""
_ACCOUNT_COUNTRIES = frozenset(
    "AD AE AL AO AT AZ BA BE BF BG BH BI BJ BR BY CF CG CH CI CM CR CV CY CZ DE DJ DK DO DZ EE EG ES FI FK FO FR GA GB "
    "GE GI GL GQ GR GT GW HN HR HU IE IL IQ IR IS IT JO KM KW KZ LB LC LI LT LU LV LY MA MC MD ME MG MK ML MN MR MT MU "
    "MZ NE NI NL NO OM PK PL PS PT QA RO RS RU SA SC SD SE SI SK SM SN SO ST SV TD TG TL TN TR UA VA VG XK YE".split()
)
"""The countries whose accounts have such numbers (the registry of ISO 13616, and those that use the form)."""
_SHORTEST_ID = 24
"""Hexadecimal digits of the shortest usual identifier (MongoDB's ObjectId; a UUID has 32, a commit 40)."""
_HEXADECIMAL = linear(rf"[0-9A-Fa-f-]{{{_SHORTEST_ID},}}")


def numbers(text: str) -> Iterator[tuple[str, int, int]]:
    """Yields each secret number in a text: what it is, its start and its end."""
    without_ids = _HEXADECIMAL.sub(_hidden_if_id, text) if _DIGITS.search(text) else ""
    for run in _DIGITS.finditer(without_ids):
        yield from (("card number", start, end) for start, end in _cards(without_ids, run.start(), run.end()))
    for found in _ACCOUNT.finditer(text):
        end = _end_of_account(found[0])
        if end:
            yield "account number", found.start(), found.start() + end
    for pattern in (_SOCIAL, _SOCIAL_NAMED):
        for found in pattern.finditer(text):
            is_apart = not _is_joined(text, found.start(1) - 1) and not _is_joined(text, found.end(3))
            if is_apart and is_social(found[1], found[2], found[3]):
                yield "social security number", found.start(1), found.end(3)


def is_card(text: str) -> bool:
    """Whether digits (spaces and hyphens aside) have the beginning, the length and the check digit of a card number.

    The check digit is Luhn's (ISO/IEC 7812-1). A number of 13 digits that also has that of an article is one (GS1).
    """
    plain = "".join(filter(str.isdecimal, text))
    digits = [int(character) for character in plain]
    if not _ISSUED.search(plain) or len(set(digits)) == 1:
        return False
    if len(digits) == _ARTICLE and (sum(digits[::2]) + 3 * sum(digits[1::2])) % 10 == 0:
        return False
    doubled = [digit * 2 - 9 * (digit > 4) for digit in digits[-2::-2]]
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def is_account(text: str) -> bool:
    """Whether a text (spaces aside) has the form and the check digits of an international account number.

    By ISO 13616, the number with its first four characters moved to the end is 1 modulo 97.
    """
    plain = text.replace(" ", "")
    if not _SHORTEST_ACCOUNT <= len(plain) <= _LONGEST_ACCOUNT or plain[:2] not in _ACCOUNT_COUNTRIES:
        return False
    return int("".join(str(int(character, 36)) for character in plain[4:] + plain[:4])) % 97 == 1


def is_social(area: str, group: str, serial: str) -> bool:
    """Whether the Social Security Administration issues numbers with these parts."""
    return area not in ("000", "666") and area < "900" and group != "00" and serial != "0000"


def _hidden_if_id(word: re.Match[str]) -> str:
    """A word of the same length without digits if it is an identifier: one in a thousand holds digits like a card's."""
    digits = word[0].replace("-", "")
    return "x" * len(word[0]) if len(digits) >= _SHORTEST_ID and not digits.isdecimal() else word[0]


def _cards(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The card numbers in a run of digits: the whole run, or groups of it in the sizes that cards use."""
    if start and text[start - 1] in ".,-":
        return
    if start and text[start - 1] == "+" and sum(map(str.isdecimal, text[start:end])) <= _LONGEST_PHONE:
        return
    groups = [(start + group.start(), start + group.end()) for group in _GROUP.finditer(text[start:end])]
    sizes = [last - first for first, last in groups]
    if (len(groups) <= _FEW_GROUPS or max(sizes) == 1) and _is_written_card(text[start:end]):
        yield start, end
        return
    at = 0
    while at < len(groups):
        fours = next((count for count, size in enumerate(sizes[at:]) if size != _FOUR), len(sizes) - at)
        if fours > _FOUR and not _are_cards([text[first:last] for first, last in groups[at : at + fours]]):
            at += fours
            continue
        shapes = [shape for shape in _CARD_GROUPS if tuple(sizes[at : at + len(shape)]) == shape] + [sizes[at : at + 1]]
        ends = [(len(shape), groups[at + len(shape) - 1][1]) for shape in shapes]
        length, last = next(
            ((length, last) for length, last in ends if _is_written_card(text[groups[at][0] : last])), (1, 0)
        )
        if last:
            yield groups[at][0], last
        at += length
        if last and fours > length and _is_expiry(text[groups[at][0] : groups[at][1]]):
            at += 1


def _is_written_card(text: str) -> bool:
    return not (" " in text and "-" in text) and is_card(text)


def _are_cards(fours: list[str]) -> bool:
    """Whether groups of four digits are cards, each perhaps with its expiry behind it. Other lists are numbers.

    Of any four numbers of four digits, four in a hundred look like a card, and a list has many fours.
    """
    while fours:
        if not is_card("".join(fours[:4])):
            return False
        fours = fours[5 if fours[4:] and _is_expiry(fours[4]) else 4 :]
    return True


def _is_expiry(four: str) -> bool:
    """Whether four digits are a month and a year (0927), or a year (2027)."""
    return "01" <= four[:2] <= "12" or four[:2] == "20"


def _end_of_account(text: str) -> int:
    """The end of the account number at the start of a text, without the words after it; 0 if there is none."""
    while not is_account(text):
        text = text.rpartition(" ")[0]
        if len(text) < _SHORTEST_ACCOUNT:
            return 0
    return len(text)


def _is_joined(text: str, place: int) -> bool:
    return 0 <= place < len(text) and (text[place] == "-" or text[place].isalnum())
