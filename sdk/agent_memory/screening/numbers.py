"""Secret numbers: cards, accounts, US social security, passports, by their form, check digits or what names them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agent_memory.text.patterns import linear

_DIGITS = linear(r"[0-9](?:[ -]?[0-9]){12,}")
_DASHES = str.maketrans("‐‑‒–—−", "------")
_GROUP = linear(r"[0-9]+")
_OTHER_MARKS = linear(
    "|".join(rf"\b[0-9]{{4}}(?:[{m}][0-9]{{4}}){{3}}\b|\b[0-9]{{4}}[{m}][0-9]{{6}}[{m}][0-9]{{4,5}}\b" for m in "./_")
)
"""A number in the groups of a card, with marks between them that cards do not have themselves."""
_ACCOUNT = linear(r"\b[A-Z]{2}[0-9]{2}(?:[ .-]?[A-Z0-9]{4}){2,7}(?:[ .-]?[A-Z0-9]{1,3})?\b", re.IGNORECASE)
_PASSPORT = linear(
    r"(?i:passport|passeport|reisepass|pass-?nummer|pasaporte|passaport[oe]|paspoort|护照|護照|パスポート|여권|паспорт|جواز)"
    r"[^0-9!?\n]{0,40}?\b([A-Z]{0,3}[0-9][A-Z0-9]{5,8})\b"
)
_FEWEST_DIGITS = 4
"""Digits of a passport's number at least (ICAO Doc 9303 allows letters; the Netherlands' have the fewest digits)."""
_DIGITS_ALONE = 9
"""How many there are where a passport's number has no letter, as in the United States and the United Kingdom."""
_CHECK_CODE = linear(r"\b(?:cvv2?|cvc2?)\b[^0-9.!?]{0,12}([0-9]{3,4})\b", re.IGNORECASE)
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
_BETWEEN = str.maketrans("", "", " .-")
_SHORTEST_ID = 24
"""Hexadecimal digits of the shortest usual identifier (MongoDB's ObjectId; a UUID has 32, a commit 40)."""
_HEXADECIMAL = linear(rf"[0-9A-Fa-f-]{{{_SHORTEST_ID},}}")


def numbers(text: str) -> Iterator[tuple[str, int, int]]:
    """Yields each secret number in a text: what it is, its start and its end."""
    text = text.translate(_DASHES)
    without_ids = _HEXADECIMAL.sub(_hidden_if_id, text) if _DIGITS.search(text) else ""
    for run in _DIGITS.finditer(without_ids):
        yield from (("card number", start, end) for start, end in _cards(without_ids, run.start(), run.end()))
    for found in _OTHER_MARKS.finditer(text):
        if is_card(found[0]):
            yield "card number", found.start(), found.end()
    for found in _PASSPORT.finditer(text):
        digits = sum(map(str.isdecimal, found[1]))
        if digits >= (_FEWEST_DIGITS if digits < len(found[1]) else _DIGITS_ALONE):
            yield "passport number", found.start(1), found.end(1)
    for found in _CHECK_CODE.finditer(text):
        yield "security code", found.start(1), found.end(1)
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
    """Whether a text has the form and check digits of an international account number (spaces and marks aside).

    By ISO 13616, the number with its first four characters moved to the end is 1 modulo 97.
    """
    plain = text.translate(_BETWEEN).upper()
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
    """Whether groups of four digits are cards, each perhaps followed by its expiry. Other lists are numbers.

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
