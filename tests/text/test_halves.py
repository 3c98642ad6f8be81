import json

import pytest

from agent_memory.text.halves import without_halves


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("plain", "plain"),
        ("a\ud83d", "a"),
        ("\udc00\ud83db", "b"),
        ("🥗 \ud83d", "🥗 "),
        (r"a path \ud83d in words", r"a path \ud83d in words"),
        ("\\\ud83d", "\\"),
    ],
)
def test_json_loses_halves_of_characters_and_nothing_else(text: str, whole: str):
    assert json.loads(without_halves(json.dumps(text))) == whole


def test_a_half_that_is_not_escaped_becomes_a_sign():
    assert json.loads(without_halves(json.dumps("ä\ud83d", ensure_ascii=False))) == "ä\ufffd"
