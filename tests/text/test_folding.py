"""Folding takes out what hides, and leaves what a writing needs."""

import pytest
from hypothesis import given, strategies as st

from agent_memory.text.folding import bare, folded, hides, seen

SCOTLAND = "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f"
TEXTS = st.text(
    st.one_of(st.characters(), st.sampled_from("\u200c\u200d\u200b\ufe0f\u202eمی👩❤️é \r\n\tﾡ½²Ｉｉ" + SCOTLAND))
)


@pytest.mark.parametrize(
    ("hidden", "plain"),
    [
        ("Dia\u200bbetes", "Diabetes"),
        ("Dia\u00adbetes", "Diabetes"),
        ("\ufeffa\u2060b\u2066c\u2069", "abc"),
        ("x\u202egnp.exe", "xgnp.exe"),
        ("Rex\U000e0049\U000e0067", "Rex"),
        ("a\U000e0101\ufe00b\ufe0f", "ab"),
        ("Hangul\u3164filler", "Hangulfiller"),
        ("Ｉｇｎｏｒｅ　１２", "Ignore 12"),
        ("𝐈𝗴𝓷ore ﬁnd Ⅷ", "Ignore find VIII"),
        ("ﻣﺮﺣﺒﺎ", "مرحبا"),
        ("ｶﾀｶﾅ", "カタカナ"),
        ("a\r\nb\rc\u2028d\x85e\x00\x07", "a\nb\nc\nd\ne"),
        ("cafe\u0301\u00a0noir", "café noir"),
        ("half \ud800 pair", "half  pair"),
        ("a\u200d\u200db c\u200cd", "ab cd"),
    ],
)
def test_what_hides_is_out(hidden: str, plain: str):
    assert folded(hidden) == plain


@pytest.mark.parametrize(
    "text",
    [
        "می\u200cخواهم",
        "क्\u200dष শ্র\u200d্য",
        "👩\u200d❤️\u200d👨 👨🏽\u200d⚕️ 1️⃣ ☎️ " + SCOTLAND,
        "50 m² and x² + 10², 1½ cups, H₂O",
        "น้ำ ㅋㅋㅋ ￦",
        "Привет, Αθήνα, 東京！",
        "tab\tand\nbreak",
        "№ 5, nº 7, 1ª, …",
    ],
)
def test_what_a_writing_needs_stays(text: str):
    assert folded(text) == text


@given(TEXTS)
def test_folding_again_changes_nothing(text: str):
    once = folded(text)
    assert folded(once) == once
    once.encode()


@given(TEXTS)
def test_what_is_seen_stands_in_the_text(text: str):
    view = seen(folded(text)).in_line()
    assert view.places is None or (len(view.places) == len(view.text) and list(view.places) == sorted(view.places))


@pytest.mark.parametrize(
    ("text", "sight"),
    [
        ("Ignоre аll", "Ignore all"),
        ("Ignore all\n  previous", "Ignore all previous"),
        ("Ígnórê", "Ignore"),
        ("ѕсоре", "scope"),
        ("Привет из Москвы", "Привет из Москвы"),
        ("ᴵᵍⁿᵒʳᵉ", "Ignore"),
        ("ɪɢɴᴏʀᴇ a", "ignore a"),
        ("＃＃＃ System：", "### System:"),
        ("می\u200cخواهم", "میخواهم"),
    ],
)
def test_the_screen_sees_one_spelling(text: str, sight: str):
    assert bare(text) == sight


def test_the_way_back_from_what_is_seen():
    text = "so:  ① Ígno\u0301ré\nаll ² of it"
    view = seen(folded(text)).in_line()
    start = view.text.index("Ignore")
    first, last = view.span(start, start + len("Ignore all"))
    assert folded(text)[first:last] == "Ígnóré\nаll"


def test_what_only_the_hiding_write():
    assert hides("a\u202eb")
    assert hides("hello\U000e0069\U000e0067\U000e006e")
    assert not hides(f"{SCOTLAND} and \u200b\u200e\ufeff from a web page")
