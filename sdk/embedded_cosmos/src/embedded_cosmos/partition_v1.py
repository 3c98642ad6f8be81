"""Effective partition keys of version 1, for containers that were created without large partition keys.

The key is its MurmurHash3-32, as a number, followed by the key itself, both in an encoding whose bytes sort like the
values. Only the first hundred characters count: keys that begin with the same hundred are one key, as in Azure.
"""

from __future__ import annotations

import struct
from functools import lru_cache

SIGNIFICANT_CHARACTERS = 100
_MAX_ENCODED_BYTES = 100

_NUMBER = 0x05
_STRING = 0x08
_SIGN = 1 << 63
_MASK_64 = (1 << 64) - 1
_MASK_32 = (1 << 32) - 1


@lru_cache(maxsize=4096)
def effective_key(hashed_form: bytes) -> str:
    """The upper-case hex for a key as version 2 hashes it: a byte for its type, and its value."""
    kind, value = hashed_form[0], hashed_form[1:]
    if kind == _STRING:
        value = value.removesuffix(b"\xff").decode()[:SIGNIFICANT_CHARACTERS].encode()
        hashed_form = b"%c%b\x00" % (kind, value)
    hashed = _encoded_hash(_murmur3_32(hashed_form))
    return (hashed + _encoded(kind, value)).hex().upper()


def boundary(fraction: float) -> str:
    """The key below which that fraction of all hashes is."""
    return _encoded_hash(int(fraction * 2**32)).hex().upper()


def _encoded_hash(value: int) -> bytes:
    return _encoded_number(struct.pack("<d", value))


def _encoded(kind: int, value: bytes) -> bytes:
    if kind == _STRING:
        # One more than each byte, so that the closing zero sorts before all of them; what is too long has no end.
        end = [0] if len(value) <= _MAX_ENCODED_BYTES else []
        return bytes([kind, *(byte + 1 for byte in value[: _MAX_ENCODED_BYTES + 1]), *end])
    return _encoded_number(value) if kind == _NUMBER else bytes([kind])


def _encoded_number(double: bytes) -> bytes:
    bits = int.from_bytes(double, "little")
    rest = bits ^ _SIGN if bits < _SIGN else -bits & _MASK_64
    encoded = [_NUMBER, rest >> 56]
    rest = rest << 8 & _MASK_64
    # Seven bits a byte; the lowest one says whether another byte follows.
    chunks = []
    while rest:
        chunks.append(rest >> 56 | 1)
        rest = rest << 7 & _MASK_64
    last = chunks.pop() & 0xFE if chunks else 0
    return bytes([*encoded, *chunks, last])


def _rotate(value: int, bits: int) -> int:
    return (value << bits | value >> (32 - bits)) & _MASK_32


def _mix(block: int) -> int:
    return _rotate(block * 0xCC9E2D51 & _MASK_32, 15) * 0x1B873593 & _MASK_32


def _murmur3_32(data: bytes) -> int:
    """MurmurHash3, 32 bits, seed 0."""
    value = 0
    tail = len(data) & ~3
    for start in range(0, tail, 4):
        value ^= _mix(int.from_bytes(data[start : start + 4], "little"))
        value = (_rotate(value, 13) * 5 + 0xE6546B64) & _MASK_32
    value ^= _mix(int.from_bytes(data[tail:], "little"))
    value ^= len(data)
    value = (value ^ value >> 16) * 0x85EBCA6B & _MASK_32
    value = (value ^ value >> 13) * 0xC2B2AE35 & _MASK_32
    return value ^ value >> 16
