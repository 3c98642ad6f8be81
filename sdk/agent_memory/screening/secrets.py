"""Secrets: keys and tokens of services, passwords in prose, private keys, numbers of cards and accounts.

The patterns of detect-secrets (extra `secrets`) find keys and tokens. Patterns of our own find those of further
services. Passwords are found by how people mention them, in sixteen languages, and as code
assigns them. RE2 runs the patterns of detect-secrets, because it searches in linear time. Three plugins are left out:
they judge the entropy of a word, the name of a variable in code, or the address of a machine, and so raise false alarms
in plain talk. `numbers` finds those of cards, accounts and people.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from agent_memory.screening.numbers import numbers
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
    r"|pscale_tkn_|ATATT3|hvs\.|dp\.(?:pt|ct|scim|st\.[a-z0-9_-]+)\."
    r"|rubygems_|NRAK-|SK-|pcsk_|lsv2_(?:pt|sk)_|HRKU-)[A-Za-z0-9_=-]{24,}"
    r"|discord(?:app)?\.com/api/webhooks/[0-9]+/([A-Za-z0-9_-]{24,})|\bkey-[0-9a-f]{32}\b",
    "age key": r"\bAGE-SECRET-KEY-1[0-9A-Z]{50,}",
    "bearer token": r"\b(?:[Bb]earer|BEARER)\s+([A-Za-z0-9._~+/=-]{16,})",
    "basic auth": r"(?i)\bauthorization[\"']?:\s*[\"']?basic\s+([A-Za-z0-9+/]{8,}=*)"
    r"|\bcurl\b[^\n]{0,200}?\s(?:-u|--user)[ =][\"']?[^\s:\"']+:([^\s\"']{3,})|://:([^\s:/@\"']{3,})@",
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
    "de": (r"\b(?:passwort|kennwort|geheimzahl|zugangscode|pin)\b", r"\b(?:ist|lautet|heißt|war)(?: jetzt)?\b"),
    "fr": (r"\b(?:mot de passe|code secret|code pin)\b", r"\b(?:est|c['’]est)\b"),
    "es": (r"\b(?:contraseña|clave secreta|mi clave|clave de acceso)\b", r"\b(?:es|ahora es)\b"),
    "it": (r"\b(?:(?:la )?(?:mia|nostra|sua) password|la password|parola d['’]ordine|pin)\b", r"\bè(?: ora)?\b"),
    "nl": (r"\b(?:wachtwoord|toegangscode|pincode)\b", r"\b(?:is|was|luidt)(?: nu)?\b"),
    "pl": (r"\bhasło\b", r"\b(?:to|jest)\b"),
    "ko": (r"(?:비밀번호|비번|암호)", r"는|은|이|가|\s"),
    "pt": (r"\b(?:minha senha|senha|palavra-passe)\b", r"\b(?:é|agora é)\b"),
    "ru": (r"(?:парол[ья]|пин-?код|кодовое слово)", r"это|является|теперь|\s"),
    "zh": (r"(?:密码|密碼|口令)", r"是|为|為|\s"),
    "ja": (r"(?:パスワード|暗証番号|合言葉)", r"は|が|\s"),
    "hi": (r"(?:पासवर्ड|कूटशब्द|पिन)", r"है|\s"),
    "bn": (r"(?:পাসওয়ার্ড|পিন)", r"হলো|হল|হচ্ছে|\s"),
    "ar": (r"(?:كلمة (?:المرور|السر|سر|مرور)ي?|الرقم السري)(?: الخاصة? بي)?", r"هي|هو|\s"),
    "ur": (r"(?:پاس ?ورڈ|پن کوڈ)", r"ہے|\s"),
}
_FOR = (
    r"(?:\s+(?:for|to|of|on|für|zum|von|pour|de|du|para|do|da|от|для|di|del|della|van|voor)\s+(?:[\w'’-]+\s+){1,4}?)?"
)
_VALUE = r"([\"'“`«「]?)([!-~]{3,})"
_ASSIGNED = linear(
    r"(?:^|[^0-9A-Za-z])[\w-]{0,40}?(?:password|passwd|pwd|api[_-]?key|secret|token)[\"']?\s{0,3}(?:=>|:=|=|:)\s{0,3}"
    r"[\"']?([^\s\"'&,;<>]+)",
    re.IGNORECASE,
)
"""A password or key as code, settings and links assign it."""
_SHORTEST_ASSIGNED = 8
_PASSWORDS = [
    linear(unaccented(rf"{noun}{_FOR}\s*(?:{_IS}|(?:{verb})\s*:?)\s*{_VALUE}"), re.IGNORECASE)
    for noun, verb in _TOLD.values()
]
_PASSWORD_NAMED = linear(unaccented("|".join(noun for noun, _ in _TOLD.values())), re.IGNORECASE)
_CODE = linear(r"[\[<{$`(]|[\p{L}_.]+[(\[]|[\p{L}_$]+(?:\.[\p{L}_]+)+$|[\p{L}_]*_[\p{L}_]*$")
"""Words in place of a password that are not one: markup, a call, an attribute, a name with underscores, a marker."""
_NO_VALUE = linear(r"^[^0-9]*(?:password|passwort|api.?key)[^0-9]*$", re.IGNORECASE)
_CALL = linear(r"[\w.]+[(\[]")
_DIGIT = linear(r"[0-9]")
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
    for found in _ASSIGNED.finditer(text):
        value = found[1].rstrip(_BEHIND_VALUE)
        is_code = _CODE.match(value) or _CALL.match(value) or value.isdecimal()
        if len(value) >= _SHORTEST_ASSIGNED and _DIGIT.search(value) and not is_code:
            yield "password", found.start(1), found.start(1) + len(value)
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
