"""`quickstart FILE` on every format that is read, small and large: each shows answers."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from agent_memory.cli.main import app
from agent_memory.cli.quickstart import subjects

SAID = [
    ("user", "My sister is called Ana and lives in Porto."),
    ("assistant", "Porto is a lovely city."),
    ("user", "I am allergic to peanuts."),
    ("assistant", "I will keep that in mind."),
]


def lines(*rows: Any) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def turns(said: list[tuple[str, str]]) -> str:
    return lines(*({"role": role, "content": text} for role, text in said))


def messages(said: list[tuple[str, str]]) -> str:
    return json.dumps([{"messages": [{"role": role, "content": text} for role, text in said]}])


def sharegpt(said: list[tuple[str, str]]) -> str:
    names = {"user": "human", "assistant": "gpt"}
    return json.dumps([{"id": "s1", "conversations": [{"from": names[role], "value": text} for role, text in said]}])


def chatgpt(said: list[tuple[str, str]]) -> str:
    nodes = {
        str(n): {
            "parent": str(n - 1) if n else None,
            "message": {
                "id": f"m{n}",
                "author": {"role": role},
                "create_time": 1772442000 + n,
                "content": {"content_type": "text", "parts": [text]},
            },
        }
        for n, (role, text) in enumerate(said)
    }
    return json.dumps([{"conversation_id": "c1", "current_node": str(len(said) - 1), "mapping": nodes}])


def locomo(said: list[tuple[str, str]]) -> str:
    people = {"user": "Ann", "assistant": "Ben"}
    session = [{"speaker": people[role], "dia_id": f"D1:{n}", "text": text} for n, (role, text) in enumerate(said, 1)]
    talk = {"speaker_a": "Ann", "speaker_b": "Ben", "session_1_date_time": "1:56 pm on 8 May, 2023"}
    return json.dumps([{"sample_id": "conv-1", "conversation": talk | {"session_1": session}, "qa": []}])


FORMATS: dict[str, Callable[[list[tuple[str, str]]], str]] = {
    "talk.jsonl": turns,
    "chat.json": messages,
    "sharegpt.json": sharegpt,
    "conversations.json": chatgpt,
    "locomo.json": locomo,
}


def shown(folder: Path, name: str, content: str, *arguments: str) -> str:
    (folder / name).write_text(content)
    command = ["quickstart", str(folder / name), "--store", str(folder / "own.db"), *arguments]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    return done.stdout


def answers(text: str) -> list[tuple[str, list[str]]]:
    """The questions that were asked, each with the lines of its answer."""
    asked: list[tuple[str, list[str]]] = []
    for line in text.partition("Asked from a new session")[2].partition("Try next")[0].splitlines():
        if line.startswith("  - ") and asked:
            asked[-1][1].append(line.strip())
        elif line.startswith("    ") and asked and asked[-1][1]:
            asked[-1][1][-1] += " " + line.strip()
        elif line and not line.startswith(" ") and line.endswith("?"):
            asked.append((line, []))
    return asked


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_shows_what_was_said(tmp_path: Path, name: str):
    found = answers(shown(tmp_path, name, FORMATS[name](SAID)))
    assert found
    for question, told in found:
        subject = question.removesuffix("?").split()[-1]
        assert any(subject in line for line in told), (question, told)
    assert any("Porto" in line for _, told in found for line in told)
    assert any("peanuts" in line for _, told in found for line in told)


def test_questions_of_ones_own_are_asked_in_place_of_made_ones(tmp_path: Path):
    own = ("--ask", "Where does my sister live?", "--ask", "What may I not eat?")
    (sister, food) = answers(shown(tmp_path, "talk.jsonl", turns(SAID), *own))
    assert "Where does my sister live?" in sister[0]
    assert any("Porto" in line for line in sister[1])
    assert any("peanuts" in line for line in food[1])


def test_a_file_of_one_turn_is_answered_from(tmp_path: Path):
    found = answers(shown(tmp_path, "one.jsonl", turns([("user", "I keep bees on the roof.")])))
    assert {"bees", "roof"} & {question.removesuffix("?").split()[-1] for question, _ in found}
    assert all(any("I keep bees on the roof." in line for line in told) for _, told in found)


def test_a_file_in_another_language_is_answered_from(tmp_path: Path):
    german = [("user", "Ich wohne seit März in Graz."), ("user", "Meine Schwester Ana verträgt keine Erdnüsse.")]
    printed = shown(tmp_path, "de.jsonl", turns(german))
    assert any("Erdnüsse" in line for _, told in answers(printed) for line in told)
    assert "No memories were extracted" in shown(
        tmp_path, "uk.jsonl", turns([("user", "Я граю на бандурі.")]), "--user", "o"
    )


@pytest.mark.acceptance
def test_a_large_file_is_answered_from(tmp_path: Path):
    said = [(("user", "assistant")[n % 2], f"We talked about shelf {n} and box {n * 7} today.") for n in range(300)]
    said[120] = ("user", "My landlord is called Mr. Okafor and he plays the trombone.")
    printed = shown(tmp_path, "long.jsonl", turns(said), "--ask", "Who plays the trombone?")
    assert "300 new" in printed
    assert any("Okafor" in line for _, told in answers(printed) for line in told)


def test_what_nobody_can_answer_is_said_so(tmp_path: Path):
    printed = shown(tmp_path, "hi.jsonl", turns([("user", "Hello!")]), "--ask", "Where is Zanzibar?")
    assert "the context is empty" in printed


def test_subjects_are_names_and_long_words():
    assert subjects([], ["I met Fatima. The weather was wonderful in Gdańsk."])[:2] == ["Fatima", "Gdańsk"]
    assert subjects([], ["и мы поехали в Казань на поезде"])[0] == "Казань"
    assert subjects([], ["", "...", "a b c 12"]) == []
