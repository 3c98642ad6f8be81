"""Ids of other systems: any text becomes an id, and comes back."""

import pytest
from hypothesis import given, strategies as st

from agent_memory.errors import InvalidInput
from agent_memory.integrations.bridge import decode_id, encode_id, encode_label
from agent_memory.store.ids import check_id

TEXTS = st.text(st.characters(), min_size=1, max_size=20) | st.text("%2Fa_/\ud800.", min_size=1, max_size=12)


@given(TEXTS)
def test_an_id_is_valid_and_comes_back(text: str):
    for encode in (encode_id, encode_label):
        assert decode_id(check_id(encode(text), "id")) == text
    assert "." not in encode_label(text)


@given(TEXTS, TEXTS)
def test_two_texts_have_two_ids(one: str, other: str):
    assert (encode_id(one) == encode_id(other)) == (one == other)


@pytest.mark.parametrize("plain", ["alice", "alice@example.com", "50%", "a b", "_x", "Åsa", "00-af:1"])
def test_an_id_that_is_valid_stays_as_it_is(plain: str):
    assert encode_id(plain) == plain


@pytest.mark.parametrize(
    ("text", "encoded"), [("a/b", "a%2Fb"), ("__x", "%5F_x"), ("%2F", "%252F"), ("a\n", "a%0A"), ("a ", "a%20")]
)
def test_other_ids_are_written_as_in_a_url(text: str, encoded: str):
    assert encode_id(text) == encoded


@pytest.mark.parametrize("wrong", ["", None, 7, "x" * 256, "/" * 100])
def test_what_cannot_be_an_id_is_refused(wrong: object):
    with pytest.raises(InvalidInput, match="the user id"):
        encode_id(wrong, "the user id")  # type: ignore[arg-type]
