"""Tokens: counts what a text costs, exactly (`TiktokenCounter`) or roughly (`ApproximateTokens`), without network."""

from __future__ import annotations

import base64
import gzip
import hashlib
import threading
import zlib
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

from agent_memory.errors import ConfigurationError

if TYPE_CHECKING:
    import tiktoken

EncodingName = Literal["o200k_base", "cl100k_base"]
"""o200k_base is the encoding of current chat models, cl100k_base that of OpenAI's embedding models."""

_LINE = 500
"""Characters of a text whose tokens are counted once: the contexts of one user have many lines in common. A choice."""


@runtime_checkable
class TokenCounter(Protocol):
    """Counts tokens, and cuts a text to a number of them."""

    def count(self, text: str) -> int:
        """How many tokens the text has."""
        ...

    def truncate(self, text: str, limit: int) -> str:
        """The longest beginning found that has at most `limit` tokens. Never splits a character."""
        ...


class ApproximateTokens:
    """Counts one token for four UTF-8 bytes, rounded up. This is near enough for budgets and needs no package."""

    def count(self, text: str) -> int:
        """How many tokens the text has, roughly."""
        return -(-len(text.encode(errors="surrogatepass")) // 4)

    def truncate(self, text: str, limit: int) -> str:
        """The longest beginning that has at most `limit` tokens by this count."""
        return _prefix_of_bytes(text, max(limit, 0) * 4)


class TiktokenCounter:
    """Counts as a model's own tokenizer does. Each process loads the ranks (84 MB in memory) once, on first use."""

    def __init__(self, encoding: EncodingName = "o200k_base") -> None:
        self._name = encoding

    def count(self, text: str) -> int:
        """How many tokens the text has. Names of special tokens count as plain text."""
        return _counted(self._name, text) if len(text) <= _LINE else len(_encoding(self._name).encode_ordinary(text))

    def truncate(self, text: str, limit: int) -> str:
        """The longest beginning found that has at most `limit` tokens. Never splits a character."""
        if len(text.encode(errors="surrogatepass")) <= limit:  # no token is shorter than a byte
            return text
        encoding = _encoding(self._name)
        kept = encoding.encode_ordinary(text)[: max(limit, 0)]
        # A cut may fall inside a character, or change how the last words split. Then try one token less.
        while kept:
            beginning = _prefix_of_bytes(text, len(encoding.decode_bytes(kept)))
            if len(encoding.encode_ordinary(beginning)) <= limit:
                return beginning
            kept.pop()
        return ""


def place_of_word(word: str) -> int | None:
    """The place of a lower-case word among the tokens of o200k_base, or None if it is no single one; common ones first.

    Its vocabulary was made from many languages and from code, so it also knows names and terms.
    """
    encoding = _encoding("o200k_base")
    places = []
    for form in (f" {word}", f" {word.capitalize()}"):
        try:
            places.append(encoding.encode_single_token(form))
        except KeyError:
            continue
    return min(places, default=None)


@lru_cache(maxsize=4096)
def _counted(name: EncodingName, text: str) -> int:
    return len(_encoding(name).encode_ordinary(text))


def _prefix_of_bytes(text: str, length: int) -> str:
    """The longest beginning of a text that takes at most `length` UTF-8 bytes."""
    data = text.encode(errors="surrogatepass")
    if len(data) <= length:
        return text
    while length and data[length] & 0b1100_0000 == 0b1000_0000:  # inside a character
        length -= 1
    return data[:length].decode(errors="surrogatepass")


@dataclass(frozen=True, slots=True)
class _Ranks:
    """What defines an encoding: the hash of its uncompressed rank file, and the pattern that splits words."""

    sha256: str
    pattern: str


_RANKS: dict[EncodingName, _Ranks] = {
    "o200k_base": _Ranks(
        sha256="446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
        pattern="|".join(
            [
                r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
                r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
                r"\p{N}{1,3}",
                r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
                r"\s*[\r\n]+",
                r"\s+(?!\S)",
                r"\s+",
            ]
        ),
    ),
    "cl100k_base": _Ranks(
        sha256="223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
        pattern="|".join(
            [
                r"'(?i:[sdmt]|ll|ve|re)",
                r"[^\r\n\p{L}\p{N}]?+\p{L}++",
                r"\p{N}{1,3}+",
                r" ?[^\s\p{L}\p{N}]++[\r\n]*+",
                r"\s++$",
                r"\s*[\r\n]",
                r"\s+(?!\S)",
                r"\s",
            ]
        ),
    ),
}

_loading = threading.Lock()


def _encoding(name: EncodingName) -> tiktoken.Encoding:
    with _loading:  # `cache` alone would let two threads load at once
        return _load(name)


@cache
def _load(name: EncodingName) -> tiktoken.Encoding:
    """Builds an encoding from the rank file in this package. tiktoken's own loader would download it."""
    import tiktoken

    packed = (files("agent_memory.language") / "data" / f"{name}.tiktoken.gz").read_bytes()
    return tiktoken.Encoding(
        name=name,
        pat_str=_RANKS[name].pattern,
        mergeable_ranks=read_ranks(packed, _RANKS[name].sha256),
        special_tokens={},
    )


def read_ranks(packed: bytes, sha256: str) -> dict[bytes, int]:
    """Reads a gzipped rank file (lines of base64 token and rank) whose content must have the given hash.

    Raises:
        ConfigurationError: if the file is damaged, or another one.
    """
    try:
        content = gzip.decompress(packed)
    except (OSError, EOFError, zlib.error) as error:
        raise ConfigurationError(f"The token ranks cannot be unpacked: {error}.") from error
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise ConfigurationError(f"The token ranks have the hash {found}, not {sha256}: the file was changed.")
    pairs = (line.split() for line in content.splitlines())
    return {base64.b64decode(token): int(rank) for token, rank in pairs}
