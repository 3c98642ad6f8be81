import io
import json
from datetime import UTC, datetime, timedelta

import pytest
import typer
from memories import fact
from rich.console import Console

from agent_memory.cli import options, terminal, views
from agent_memory.models import Context, Hit, Memory, ThreadSummary, UserProfile

SAID = datetime(2026, 3, 8, 18, 20, tzinfo=UTC)


def memory(id: str = "m1", content: str = "Our budget is $10,000", **fields: object) -> Memory:
    return fact(content, SAID, id=id, **fields)


def printed(renderable: object, width: int = 100) -> str:
    out = Console(file=io.StringIO(), width=width, markup=False, highlight=False, emoji=False)
    out.print(renderable)
    return out.file.getvalue()


def test_what_was_said_cannot_steer_the_terminal():
    hostile = "Hi \x1b[2J\x1b]0;title\x07 [bold]there[/bold]\r\x9b31m :smile:"
    shown = printed(views.memory_table([memory(content=hostile, quote=hostile)]))
    assert not any(ord(character) < 32 and character != "\n" for character in shown)
    assert "\x9b" not in shown
    assert "[bold]there[/bold]" in shown
    assert ":smile:" in shown


def test_a_memory_in_the_very_words_of_its_quote_stands_in_quotation_marks():
    verbatim = views.statement(memory(content="I'm vegetarian", quote="I'm vegetarian."))
    assert verbatim.plain == "“I'm vegetarian”"
    reworded = views.statement(memory(content="Maya is vegetarian", quote="I'm vegetarian."))
    assert reworded.plain == "Maya is vegetarian\n“I'm vegetarian.”"
    ended = views.statement(memory(content="I live in Brighton", valid_to=SAID))
    assert ended.plain == "I live in Brighton (until 8 Mar 2026)"


def test_what_was_replaced_is_paired_with_what_replaced_it_oldest_first():
    later = SAID + timedelta(days=70)
    new = memory("m3", "Our budget is $15,000")
    old = memory("m1", superseded_at=later, superseded_by="m3", supersede_reason="update")
    lost = memory("m2", "I eat fish", superseded_at=later, superseded_by="elsewhere", supersede_reason="contradict")
    lost.created_at = SAID - timedelta(days=1)
    pairs = views.superseded_pairs([new, old, lost])
    assert [(gone.id, instead.id if instead else None) for gone, instead in pairs] == [("m2", None), ("m1", "m3")]
    shown = printed(views.superseded_table(pairs))
    assert "$10,000" in shown
    assert "$15,000" in shown
    assert "update" in shown


@pytest.mark.parametrize("width", [80, 120])
def test_tables_keep_their_short_columns_whole(width):
    long = "A sentence that goes on and on about the budget of a long journey. " * 5
    shown = printed(views.hit_table([Hit(memory=memory(content=long, quote=long), score=1, similarity=0.5)]), width)
    assert max(len(line) for line in shown.splitlines()) <= width
    assert "8 Mar 2026" in shown
    assert "0.50" in shown
    assert "journey" in shown


def test_a_context_shows_its_text_its_cost_and_what_is_missing():
    context = Context(
        text="- Budget: $15,000 [now]",
        tokens=7,
        milliseconds=12.4,
        used=[{"id": "m1"}],
        left_out=[{"id": "m2"}],
        degraded=["slow"],
    )
    shown = printed(views.context_view(context))
    assert "- Budget: $15,000 [now]" in shown
    assert "7 tokens · 12 ms · 1 line" in shown
    assert "1 left out: no room in the budget" in shown
    assert "degraded: slow" in shown
    assert "(empty: gate)" in printed(views.context_view(Context(skipped_reason="gate")))


def test_a_summary_and_a_profile_are_bounded():
    points = [f"Point {number}" for number in range(9)]
    summary = ThreadSummary(
        id="s",
        user_id="u",
        thread_id="trip",
        content="",
        topic="Hawaii",
        key_points=points,
        open_issues=["the car"],
        turn_count=12,
        created_at=SAID,
        updated_at=SAID,
    )
    shown = printed(views.summary_lines(summary, points=2))
    assert "trip  12 turns  Hawaii" in shown
    assert "Point 1" in shown
    assert "Point 2" not in shown
    assert "the car" not in shown
    whole = printed(views.summary_view(summary))
    assert "Point 8" in whole
    assert "Open\n  - the car" in whole
    profile = UserProfile(
        id="p", user_id="u", content="", current_work=points, personal=[], created_at=SAID, updated_at=SAID
    )
    shown = printed(views.profile_view(profile, points=5))
    assert "Current work" in shown
    assert "and 4 more" in shown
    assert "Personal" not in shown


def test_a_date_means_its_end_and_a_time_itself():
    assert options.parse_date("2026-04-01") == datetime(2026, 4, 1, 23, 59, 59, 999999)
    assert options.parse_date("2026-04-01T12:00:00+02:00") == datetime(2026, 4, 1, 10, tzinfo=UTC)
    with pytest.raises(typer.BadParameter, match="is not a date like 2026-04-01"):
        options.parse_date("last week")


def test_json_holds_models_times_and_every_letter(capsys):
    terminal.emit({"memories": [memory(content="Grüße, 東京")]})
    text = capsys.readouterr().out
    assert "Grüße, 東京" in text
    assert json.loads(text)["memories"][0]["created_at"].startswith("2026-03-08T18:20:00")


def test_commands_to_copy_are_quoted(monkeypatch):
    monkeypatch.setattr("sys.argv", ["/somewhere/agent_memory/cli/__main__.py"])
    assert options.invocation("ingest", "FILE", "--store", "my store.db").endswith(
        "-m agent_memory.cli ingest FILE --store 'my store.db'"
    )
    assert options.invocation("context", "What's mine?").endswith('context "What\'s mine?"')
    assert options.invocation("context", "It's $HOME").endswith(""" context 'It'"'"'s $HOME'""")
