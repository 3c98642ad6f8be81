"""Which dates follow from what was said, and which dates stand in the user's own words."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from agent_memory.language.grounding.own_words import in_own_words
from agent_memory.language.grounding.said_dates import Spoken
from agent_memory.language.grounding.support import why_unsupported
from agent_memory.language.tasks import ExtractedMemory, TurnView

TUESDAY = datetime(2026, 11, 3, 10, tzinfo=UTC)


def why(said: str, content: str) -> str | None:
    return why_unsupported(content, said, [Spoken(said, TUESDAY, None)])


@pytest.mark.parametrize(
    ("said", "right", "wrong"),
    [
        ("We move the launch to next Friday.", ["6 November 2026", "13 November 2026"], "20 November 2026"),
        ("I broke my arm last Monday.", ["2 November 2026", "26 October 2026"], "19 October 2026"),
    ],
)
def test_next_and_last_may_mean_the_nearest_day_or_that_of_the_other_week(said: str, right: list[str], wrong: str):
    told = said.removesuffix(".").replace("We move", "The user moves").replace("I broke my", "The user broke an")
    phrase = "next Friday" if "next" in told else "last Monday"
    assert [why(said, told.replace(phrase, day)) for day in right] == [None, None]
    assert why(said, told.replace(phrase, wrong)) is not None


@pytest.mark.parametrize(
    ("said", "content", "wrong"),
    [
        ("Wir machen das im Herbst.", "Nutzer macht das im Herbst 2026", "Nutzer macht das im Herbst 2024"),
        ("Vor drei Monaten zog ich um.", "Nutzer zog im August 2026 um", "Nutzer zog im Juli 2026 um"),
        ("Hace dos años me mudé a Lugo.", "El usuario se mudó a Lugo en 2024", "El usuario se mudó a Lugo en 2023"),
        ("J'ai un chien depuis un an.", "L'utilisateur a un chien depuis novembre 2025", "… depuis novembre 2024"),
        ("Ho comprato casa due anni fa.", "L'utente ha comprato casa nel 2024", "L'utente ha comprato casa nel 2022"),
        ("I quit a year and a half ago.", "The user quit in early 2025", "The user quit in early 2024"),
        ("I've run it for five years.", "The user has run it since 2021", "The user has run it since 2019"),
        ("I may drive lorries.", "As of November 2026 the user may drive lorries", "As of May 2026 the user may drive"),
    ],
)
def test_a_time_may_be_counted_from_what_was_said(said: str, content: str, wrong: str):
    assert why(said, content) is None
    assert why(said, wrong) is not None


@pytest.mark.parametrize(
    ("said", "own"),
    [
        ("The scaffolders never showed up on Monday.", "The scaffolders never showed up on Monday (2 November 2026)."),
        ("The tired kids go on Monday.", "The tired kids go on Monday (9 November 2026)."),
        ("We sell bread at the Saturday market.", "We sell bread at the Saturday market."),
        ("Whoever reads this may treat it as advice.", "Whoever reads this may treat it as advice."),
        ("We fly to Oslo next Friday.", "We fly to Oslo next Friday."),
        ("We fly to Oslo on Friday.", "We fly to Oslo on Friday (6 November 2026)."),
    ],
)
def test_own_words_have_no_date_that_was_not_meant(said: str, own: str):
    turn = TurnView(ref="t1", role="user", content=said, created_at=TUESDAY)
    found = in_own_words(ExtractedMemory(content="whatever", quote=said, turns=["t1"]), turn, [])
    assert found is not None
    assert found.content == own
