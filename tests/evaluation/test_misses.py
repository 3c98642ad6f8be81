"""The failure report of an evaluation: each miss has a class, a rank, and what stands before it."""

import json
from pathlib import Path

import command

from agent_memory.evaluation import Told, misses
from agent_memory.evaluation.dataset import Conversation, read_dataset
from agent_memory.evaluation.misses import CLASSES

CHATTER = [
    {"speaker": "Ann", "dia_id": f"D3:{number}", "text": f"The canoe club met for the {number}th time; canoe, canoe!"}
    for number in range(1, 31)
]
TALK = {
    "session_1_date_time": "1:56 pm on 8 May, 2023",
    "session_1": [
        {"speaker": "Ben", "dia_id": "D1:2", "text": "I bought a red canoe on Saturday."},
        {"speaker": "Ann", "dia_id": "D1:3", "text": "Lovely. My sister Clara moved to Oslo."},
    ],
    "session_2_date_time": "9:00 am on 3 June, 2023",
    "session_2": [{"speaker": "Ben", "dia_id": "D2:2", "text": "I started a pottery class with Dana."}],
    "session_3_date_time": "9:00 am on 5 June, 2023",
    "session_3": [*CHATTER, {"speaker": "Ben", "dia_id": "D3:99", "text": "Zanzibar was warm."}],
}


class Fixed:
    """A system whose ranking is known: turns in the order of `found`."""

    name = "fixed"

    def __init__(self, *found: str) -> None:
        self.found = found

    def ingest(self, conversation: Conversation) -> None: ...

    def search(self, conversation: Conversation, question: str, limit: int) -> list[list[str]]:
        return [[f"talk-1:{turn}"] for turn in self.found[:limit]]

    def context(self, conversation: Conversation, question: str, budget: int) -> Told | None:
        return None


def read(tmp_path: Path, *questions: dict[str, object]) -> list[Conversation]:
    file = tmp_path / "talks.json"
    file.write_text(json.dumps([{"sample_id": "talk-1", "conversation": TALK, "qa": questions}]))
    return read_dataset(file)[0]


def run(*arguments: str | Path) -> str:
    return command.run("eval", *arguments).stdout


def asked(text: str, *evidence: str, category: int = 4) -> dict[str, object]:
    return {"question": text, "evidence": list(evidence), "category": category}


def test_the_classes(tmp_path: Path):
    many = [f"D3:{number}" for number in range(1, 31)]
    cases = [
        (asked("Which canoe?", "D3:30"), many, "found below k", 30, ["canoe"]),
        (asked("Which canoe and which sister?", "D3:1", "D1:3"), many, "several hops", None, ["sister"]),
        (asked("How old is the plumber?", "D3:99"), many, "no shared word", None, []),
        (asked("Who took a pottery class?", "D2:2"), many, "not a candidate", None, ["pottery", "class"]),
    ]
    for question, found, kind, rank, shared in cases:
        [miss] = misses(Fixed(*found), read(tmp_path, question))
        assert (miss.kind, miss.rank, miss.shared_words) == (kind, rank, sorted(shared))
        assert len(miss.outranked_by) == 3
        assert "canoe club" in miss.outranked_by[0].text
        assert miss.missing == [f"talk-1:{question['evidence'][-1]!s}"]  # type: ignore[index]
    assert {case[2] for case in cases} == set(CLASSES)
    assert misses(Fixed("D2:2"), read(tmp_path, asked("Pottery?", "D2:2"))) == []
    assert misses(Fixed(), read(tmp_path, asked("Who sold a horse?", "D1:2", category=5))) == []


def test_the_command_prints_them(tmp_path: Path):
    read(tmp_path, asked("Which canoe?", "D3:30"), asked("How old is the plumber?", "D3:99"))
    file = tmp_path / "talks.json"
    report = json.loads(run(file, "--misses", "--no-baselines", "--json"))
    found = report["misses"]
    assert found["count"] == len(found["questions"]) >= 1
    assert sum(found["classes"].values()) == found["count"]
    missed = next(one for one in found["questions"] if one["question"] == "How old is the plumber?")
    assert missed["class"] in ("no shared word", "found below k")
    assert all(result["why"] for result in missed["outranked_by"])
    shown = run(file, "--misses", "--no-baselines")
    assert "How old is the plumber?" in shown
    assert "before it:" in shown
    assert "misses" not in json.loads(run(file, "--no-baselines", "--json"))
