"""Trust: finds what should not be remembered as it stands, secrets and text that gives orders to a model.

Keys and tokens are found by the patterns of detect-secrets, if it is installed (extra `secrets`), passwords in prose
and card numbers by our own. The kinds of instruction-like text are those that the literature on prompt injection
names: overriding earlier instructions, forged roles, hiding something from the user, asking for the system prompt,
leaking through an image or a message, unseen characters (OWASP LLM01:2025; Greshake et al. 2023, "Not what you've
signed up for"; Rehberger 2024 on memories planted in an assistant). A list never finds all of it: what an agent or a
tool said does not become a procedure without approval either way, and recalled text is shown as quoted notes.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from agent_memory.models import Source

Kind = Literal["secret", "instruction"]


@dataclass(frozen=True, slots=True)
class Finding:
    """A place in a text, and what was found there."""

    kind: Kind
    what: str
    start: int
    end: int


# The detectors of detect-secrets that tell a key by its own form; those that judge by entropy, or by the name of a
# variable in code, find too much in prose.
_DETECTORS = {
    "artifactory": "ArtifactoryDetector",
    "aws": "AWSKeyDetector",
    "azure_storage_key": "AzureStorageKeyDetector",
    "basic_auth": "BasicAuthDetector",
    "discord": "DiscordBotTokenDetector",
    "github_token": "GitHubTokenDetector",
    "gitlab_token": "GitLabTokenDetector",
    "jwt": "JwtTokenDetector",
    "mailchimp": "MailchimpDetector",
    "npm": "NpmDetector",
    "openai": "OpenAIDetector",
    "pypi_token": "PypiTokenDetector",
    "sendgrid": "SendGridDetector",
    "slack": "SlackDetector",
    "square_oauth": "SquareOAuthDetector",
    "stripe": "StripeDetector",
    "telegram_token": "TelegramBotTokenDetector",
    "twilio": "TwilioKeyDetector",
}

_PRIVATE_KEY = re.compile(r"-----BEGIN (?:[A-Z ]+ )?PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.S)
_BEARER = re.compile(r"\bBearer\s+(?P<value>[A-Za-z0-9._~+/=-]{16,})")
_PASSWORD = re.compile(
    r"\b(?:pass(?:word|phrase|code)|pwd|pin(?: code| number)?|api[ _-]?key|secret key|access token|passwort|kennwort"
    r"|mot de passe|contraseña)\b"
    r"(?:\s+(?:for|to|of|on)\s+(?:[\w'’-]+\s+){1,4}?)?\s*(?:is|are|was|ist|est|es|=|:)\s*(?:now\s+)?"
    r"(?P<quote>[\"'“`]?)(?P<value>(?!\[)[^\s\"'”`]{3,})",
    re.I,
)
_CARD = re.compile(r"(?<![\d.,-])[3-6]\d(?:[ -]?\d){11,17}(?![\d-])")


def find_secrets(text: str) -> list[Finding]:
    """The keys, tokens, passwords and card numbers in a text, in order, none inside another."""
    return _apart(
        [
            *_of(_PRIVATE_KEY, "private key", text),
            *_of(_BEARER, "bearer token", text),
            *_passwords(text),
            *(Finding("secret", "card number", m.start(), m.end()) for m in _CARD.finditer(text) if is_card(m[0])),
            *_detected(text),
        ]
    )


def is_card(text: str) -> bool:
    """Whether digits (spaces and hyphens aside) have the length and the check digit of a card number.

    The check digit is Luhn's (ISO/IEC 7812-1).
    """
    digits = [int(character) for character in text if character.isdigit()]
    if not 13 <= len(digits) <= 19 or len(set(digits)) == 1:
        return False
    doubled = [digit * 2 - 9 * (digit > 4) for digit in digits[-2::-2]]
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def _of(pattern: re.Pattern[str], what: str, text: str) -> Iterator[Finding]:
    group = "value" if "value" in pattern.groupindex else 0
    for found in pattern.finditer(text):
        yield Finding("secret", what, found.start(group), found.end(group))


def _passwords(text: str) -> Iterator[Finding]:
    """What is said to be a password, if it can be one: "is too short" says nothing of it."""
    for found in _PASSWORD.finditer(text):
        value = found["value"].rstrip(".,;!?)")
        if found["quote"] or not value.isalpha() or (value != value.lower() and value[1:] != value[1:].lower()):
            yield Finding("secret", "password", found.start("value"), found.start("value") + len(value))


def _detected(text: str) -> Iterator[Finding]:
    for what, detector in _detectors():
        for value in set(detector.analyze_string(text)):
            start = text.find(value) if isinstance(value, str) and value else -1
            while start >= 0:
                yield Finding("secret", what, start, start + len(value))
                start = text.find(value, start + len(value))


@cache
def _detectors() -> list[tuple[str, Any]]:
    try:
        modules = {name: importlib.import_module(f"detect_secrets.plugins.{name}") for name in _DETECTORS}
    except ImportError:
        return []
    return [(name.replace("_", " "), getattr(modules[name], kind)()) for name, kind in _DETECTORS.items()]


def knows_tokens() -> bool:
    """Whether the detectors of keys and tokens are installed."""
    return bool(_detectors())


_INSTRUCTIONS: dict[str, str] = {
    "overrides instructions": (
        r"\b(?:ignore|disregard|forget|override|bypass|do not follow|don't follow)\b[^.!?\n]{0,40}?"
        r"\b(?:previous|prior|above|earlier|preceding|all|any|your|the system|safety)\b[^.!?\n]{0,30}?"
        r"\b(?:instructions?|prompts?|rules|guidelines|directives|guardrails|programming|restrictions)\b"
    ),
    "changes who the model is": (
        r"\byou are now (?:in )?(?:dan\b|an? (?:unrestricted|unfiltered|jailbroken)|developer mode|root|jailbroken)"
        r"|\benter developer mode\b|\bjailbreak mode\b|\bpretend (?:that )?you have no (?:rules|restrictions|limits)"
    ),
    "forges a role": (
        r"<\|[a-z_]+\|>|\[/?INST\]|<</?SYS>>|</?(?:system|assistant|developer|instructions?|memory|memories)>"
        r"|^\s*(?:#+ *)?(?:system|developer)(?: message| prompt)?\s*:\s*\S"
    ),
    "hides something from the user": (
        r"\b(?:do not|don't|never|without)\b[^.!?\n]{0,15}?\b(?:tell|telling|mention|reveal|inform|notify|alert|warn)"
        r"(?:ing)?\b[^.!?\n]{0,25}?\bthe (?:user|human|customer|operator)\b"
    ),
    "asks for the system prompt": (
        r"\b(?:reveal|print|repeat|show|output|leak|disclose)\b[^.!?\n]{0,20}?\b(?:your|the)\b[^.!?\n]{0,12}?"
        r"\b(?:system|hidden|initial|secret) (?:prompt|instructions?|message)\b"
    ),
    "sends data away": (
        r"!\[[^\]]*\]\(\s*https?://[^)]*[?&][^)]*\)"
        r"|\b(?:send|forward|post|upload|exfiltrate|e-?mail)\b[^.!?\n]{0,40}?\b(?:conversation|chat|history|memor(?:y|ies)"
        r"|passwords?|credentials|user(?:'s|s')? data)\b[^.!?\n]{0,40}?(?:https?://\S+|\S+@\S+\.\w+)"
    ),
    "holds unseen characters": r"[\u202d\u202e]|(?<![\U0001f3f4\U000e0020-\U000e007e])[\U000e0020-\U000e007e]{2,}",
}
_OF_OTHERS: dict[str, str] = {
    "orders an answer": (
        r"\b(?:when(?:ever)?|if|each time|every time)\b[^.!?\n]{0,30}?"
        r"\b(?:the user|users|anyone|somebody|someone|asked)\b[^.!?\n]{0,60}?"
        r"\b(?:always |you must |must )?(?:say|recommend|answer|respond|reply|claim|suggest|tell them)\b"
    ),
}
"""What a user may well wish for, and nobody else may order."""

_OWN = {what: re.compile(pattern, re.I | re.M) for what, pattern in _INSTRUCTIONS.items()}
_OTHER = {what: re.compile(pattern, re.I | re.M) for what, pattern in _OF_OTHERS.items()}


def find_instructions(text: str, source: Source = "user") -> list[Finding]:
    """What in a text reads as an order to a model, in order; stricter if somebody other than the user said it."""
    patterns = _OWN if source == "user" else _OWN | _OTHER
    return _apart(
        [
            Finding("instruction", what, found.start(), found.end())
            for what, pattern in patterns.items()
            for found in pattern.finditer(text)
        ]
    )


def redacted(text: str, findings: list[Finding]) -> str:
    """A text with what was found taken out; the place says what it was."""
    for finding in sorted(findings, key=lambda one: -one.start):
        text = f"{text[: finding.start]}[{finding.what} removed]{text[finding.end :]}"
    return text


def _apart(findings: list[Finding]) -> list[Finding]:
    """Findings in order; of those that overlap, the one that begins first, and of these the longest."""
    kept: list[Finding] = []
    for finding in sorted(findings, key=lambda one: (one.start, -one.end)):
        if not kept or finding.start >= kept[-1].end:
            kept.append(finding)
    return kept
