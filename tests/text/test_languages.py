"""Whether a text is English."""

import pytest

from agent_memory.text.languages import is_foreign


@pytest.mark.parametrize(
    "text",
    [
        "Young people's resilience is amazing.",
        "Won't let anything hold me back!",
        "Let’s help those in need.",
        "Oh, also... something massive happened since we last spoke.",
        "Since we last chat, some stuff's happened.",
    ],
)
def test_endings_of_english_words_are_no_french_words(text: str):
    assert not is_foreign(text)


@pytest.mark.parametrize(
    "text", ["C'est à Lyon.", "Il m'a dit lundi.", "J'habite à Nice", "L'estate in Puglia è lunga"]
)
def test_elisions_are_foreign(text: str):
    assert is_foreign(text)
