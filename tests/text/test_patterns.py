"""Patterns for linear time read their classes of characters as Python's own engine does."""

import re

import pytest
from hypothesis import given, strategies as st

from agent_memory.text.patterns import either_of, linear

SAME_IN_BOTH = [
    r"\w+",
    r"[\w'-]+",
    r"\W+",
    r"\d+(?:[.,]\d+)*",
    r"\s+",
    r"\S+",
    r"[^\s,]+",
    r"[]x]",
    r"[^]x]+",
    r"\[\w+\]",
    r"\\w",
]


# Python's \w leaves out combining marks and so cuts a word there; ours keeps it whole, which the next test shows.
TEXTS = st.text(
    st.one_of(st.sampled_from("aé猫_ü1٣²Ⅷ \t\n\x1c\u3000,.-'[]x\\w"), st.characters(exclude_categories=["M", "Cs"]))
)


@pytest.mark.parametrize("pattern", SAME_IN_BOTH)
@given(text=TEXTS)
def test_classes_hold_what_pythons_hold(pattern: str, text: str) -> None:
    assert linear(pattern).findall(text) == re.compile(pattern).findall(text)


def test_a_combining_mark_belongs_to_its_word() -> None:
    assert linear(r"\w+").findall("cafe\u0301 noir") == ["cafe\u0301", "noir"]


@pytest.mark.parametrize("pattern", [r"(a)|b([0-9])?", r"(?P<head>[ab]+)-(?P<tail>x)?", "x*", "-"])
@given(text=st.one_of(st.text("ab1-x"), st.text("ab1-x\xe9\u732b")))
def test_matches_are_those_of_pythons_engine(pattern: str, text: str) -> None:
    """In ASCII, where RE2 reads bytes, and elsewhere."""

    def told(match: re.Match[str] | None) -> object:
        if match is None:
            return None
        places = [(match.start(n), match.end(n), match.span(n)) for n in range(compiled.groups + 1)]
        texts = [match[n] for n in range(compiled.groups + 1)]
        named = [match[name] for name in compiled.groupindex]
        return places, texts, named, match.group(), match.group(0, 0), match.groups(), match.groups("none")

    ours, compiled = linear(pattern), re.compile(pattern)
    for one in ("search", "match", "fullmatch"):
        assert told(getattr(ours, one)(text)) == told(getattr(compiled, one)(text))
    if pattern != "x*":  # empty matches behind others are Python's alone
        assert list(map(told, ours.finditer(text))) == list(map(told, compiled.finditer(text)))
        assert ours.findall(text) == compiled.findall(text)


# Patterns with what the texts that are read as bytes have and lack.
MIXED = [
    r"[\p{Lu}\p{Lo}][\p{L}'’-]*",
    r"(\w+)’?s (\P{L}|ü?)",
    r"[^\s“”„\x{2019}é]+",
    r"\b(?:für|fur|œuvre|ŠKODA|µg|猫)\b|[ -～]é",
    r"\[[^]\p{Z}]*\]|[][]x|[^]a[]",
    r"\x41|\x85|\xe9|\pN{2}|\p{^L}\\p",
    r"[\p{M}\p{Han}]|[\p{Latin}]{2}|\p{M}?z",
    r"(?i:s(?-i:\p{Lu})[\p{Ll}ü]+)",
    "ſ+|[^ſ\u212a]k|\\x{212a}",
    r"[À-ÿ]+|[^\x{80}-\x{9f}]€|a-é|\x{2019}-é|[\x{2010}-\x{203a}]{2}",
    r"[\x80-\xff]|[\x41-\x{2019}]",
]


@pytest.mark.parametrize("flags", [0, re.I])
@pytest.mark.parametrize("pattern", MIXED)
@given(text=st.text("aAfuorsSk19x ~-'s[]^\\pz\t\x1c{}’“€…×²\xa0\x85éÉß猫"))
def test_a_text_that_is_read_as_bytes_is_read_as_any_other(pattern: str, flags: int, text: str) -> None:
    made = linear(pattern, flags)
    letters = list(made._compiled.finditer(text))
    assert [(found.span(), found.group(), found.groups()) for found in made.finditer(text)] == [
        (found.span(), found.group(), found.groups()) for found in letters
    ]


def test_curly_quotes_and_dashes_leave_a_text_one_of_bytes() -> None:
    made = linear(r"\w+")
    assert made.findall("“Don’t”, he said – for 5 €…") == ["Don", "t", "he", "said", "for", "5"]
    assert "_compiled" not in vars(made)
    assert made.findall("Zoë") == ["Zoë"]
    assert "_compiled" in vars(made)


def test_flags_are_those_of_re() -> None:
    assert linear("^b", re.M).search("a\nb")
    assert linear("B", re.I).search("b")
    assert linear("a.b", re.S).search("a\nb")
    assert not linear("^b").search("a\nb")
    assert not linear("a.b").search("a\nb")


def test_what_would_need_backtracking_is_refused() -> None:
    for pattern in ("(?=a)", "(?<!a)b", r"(a)\1"):
        with pytest.raises(Exception, match="invalid"):
            linear(pattern).search("")
    with pytest.raises(ValueError, match="MULTILINE"):
        linear("a", re.VERBOSE)
    with pytest.raises(ValueError, match=r"\\W inside"):
        linear(r"[\W]")


def test_half_a_surrogate_pair_is_read_as_the_replacement_character() -> None:
    """UTF-8, which RE2 reads, cannot hold it; a query that came as JSON can."""
    assert [match.span() for match in linear("[bc]").finditer("\ud800b\udc00c")] == [(1, 2), (3, 4)]
    assert linear("b").sub("x", "\ud800b") == "\ufffdx"
    assert linear("a").split("\ud800ab") == ["\ufffd", "b"]


def test_texts_are_found_letter_by_letter() -> None:
    assert either_of(["a.c", "?"], re.I).sub("-", "abc A.C ?") == "abc - -"
