"""`eval --answers` and `eval --judge`: a real server answers and judges; what it said is kept and replays."""

from __future__ import annotations

import json
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import command
import pytest
from dialect_servers import Said, Service, completion
from pytest_httpserver import HTTPServer

from agent_memory.errors import InvalidInput
from agent_memory.evaluation.adapters import Told
from agent_memory.evaluation.dataset import Conversation, Question, read_dataset
from agent_memory.evaluation.recorded import NOT_KNOWN, Case, Judged, cases, interval, report

TALK = {
    "session_1_date_time": "1:56 pm on 8 May, 2023",
    "session_1": [
        {"speaker": "Ann", "dia_id": "D1:1", "text": "My sister Clara moved to Oslo."},
        {"speaker": "Ben", "dia_id": "D1:2", "text": "I bought a red canoe on Saturday."},
    ],
}
QUESTIONS = [
    {"question": "What colour is Ben's canoe?", "evidence": ["D1:2"], "category": 4, "answer": "red"},
    {"question": "Where does Ann's sister Clara live?", "evidence": ["D1:1"], "category": 1, "answer": "Oslo"},
    {"question": "Who sold Ben a horse?", "evidence": ["D1:2"], "category": 5, "adversarial_answer": "Clara"},
]
KNOWN = {"canoe": "red", "Clara": "Oslo"}
SAMPLE = {"sample_id": "talk-1", "conversation": TALK, "qa": QUESTIONS}


class Models:
    """Answers with the word that was asked for, if the context has it; judges by comparing texts."""

    def __init__(self) -> None:
        self.models: Counter[str] = Counter()
        self.refuses = ""

    def __call__(self, path: str, sent: dict[str, Any]) -> Said:
        data = json.loads(sent["messages"][-1]["content"])
        said = json.dumps(self.answer(sent["model"], data))
        if self.refuses and self.refuses in (data.get("question") or json.dumps(data)):
            return completion(None, refusal="No.")
        return completion(said)

    def answer(self, model: str, data: dict[str, Any]) -> dict[str, Any]:
        self.models[model] += 1
        if "turns" in data:
            said = data["turns"][-1]["content"]
            memories = [] if said.endswith("?") else [{"content": said, "quote": said, "turns": ["t2"]}]
            return {"memories": memories}
        if "memories" in data:
            marks = [{"number": one["number"], "why": "x", "mark": self.mark(one)} for one in data["memories"]]
            return {"marks": [*marks, {"number": 9, "why": "none", "mark": "bad"}], "found": [1, 7]}
        if "expected" not in data:
            word = next((word for about, word in KNOWN.items() if about in data["question"]), "")
            return {"answer": word if word and word in data["context"] else "Nothing is known about that."}
        known = data["answer"] != "Nothing is known about that."
        right = known == (data["expected"] != NOT_KNOWN) and (not known or data["answer"] == data["expected"])
        return {"why": "compared", "points": [], "correct": right}

    @staticmethod
    def mark(memory: dict[str, Any]) -> str:
        return "good" if "peanuts" in memory["content"] else "weak"


@pytest.fixture
def server(httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> Models:
    models = Models()
    monkeypatch.setenv("OPENAI_BASE_URL", Service(httpserver, models).url)
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("AGENT_MEMORY_CHAT_ANSWER", "small")
    monkeypatch.setenv("AGENT_MEMORY_CHAT_JUDGE", "large")
    return models


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    file = tmp_path / "talks.json"
    file.write_text(json.dumps([SAMPLE]))
    return file


run = partial(command.run, "eval", "--no-baselines", "--answers")


def test_a_model_answers_and_another_one_judges(server: Models, dataset: Path, tmp_path: Path):
    out = tmp_path / "rows.jsonl"
    told = run(dataset, "--yes", "--json", "--out", out)
    answers = json.loads(told.stdout)["answers"]
    assert (answers["model"], answers["judge"]) == ("small", "large")
    assert server.models == {"small": 3, "large": 3}
    assert answers["overall"] == {"questions": 2, "correct": 1.0, "low": 0.3424, "high": 1.0}
    assert answers["categories"]["adversarial"]["correct"] == 1.0
    assert answers["usage"] == {"model_calls": 6, "input_tokens": 600, "output_tokens": 120}
    assert "3 questions, 0 of them with a recorded answer: 6 calls to small (answers) and large (judge)" in told.stderr
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    (canoe,) = [row for row in rows if row.get("answered") and "canoe" in row["question"]]
    assert (canoe["answer"], canoe["expected"], canoe["correct"]) == ("red", "red", True)
    assert "red canoe" in canoe["context"]


def test_what_was_answered_is_not_asked_again_and_replays_without_a_model(
    server: Models, dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    kept = tmp_path / "answers.jsonl"
    first = json.loads(run(dataset, "--yes", "--json", "--recorded", kept).stdout)["answers"]
    again = json.loads(run(dataset, "--json", "--recorded", kept).stdout)["answers"]  # costs nothing: no --yes
    assert sum(server.models.values()) == 6
    assert {**again, "usage": first["usage"]} == first
    kept.write_text(kept.read_text()[:-30])  # as a stop in the middle of a line leaves it
    run(dataset, "--yes", "--json", "--recorded", kept)
    assert sum(server.models.values()) == 7
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "AGENT_MEMORY_CHAT_ANSWER", "AGENT_MEMORY_CHAT_JUDGE"):
        monkeypatch.delenv(name)
    replayed = json.loads(run(dataset, "--json", "--recorded", kept).stdout)["answers"]
    assert replayed["overall"] == first["overall"]
    assert replayed["model"] == "recorded"


def test_another_model_is_asked_anew(server: Models, dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    kept = tmp_path / "answers.jsonl"
    run(dataset, "--yes", "--recorded", kept)
    monkeypatch.setenv("AGENT_MEMORY_CHAT_JUDGE", "larger")
    run(dataset, "--yes", "--recorded", kept)
    assert server.models == {"small": 3, "large": 3, "larger": 3}


def test_paid_calls_need_a_confirmation(server: Models, dataset: Path):
    refused = run(dataset, code=2)
    assert "add --yes" in refused.output
    assert not server.models


def test_without_a_model_the_command_says_what_to_set(dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    store = tmp_path / "talk.db"
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "AZURE_OPENAI_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)
    assert "no model is set" in run(dataset, "--yes", "--store", store, code=1).output
    assert not store.exists(), "the answers are refused before the conversations are taken in"


def test_a_refused_question_is_in_no_share_and_the_others_stand(server: Models, dataset: Path, tmp_path: Path):
    server.refuses = "canoe"
    out = tmp_path / "rows.jsonl"
    answers = json.loads(run(dataset, "--yes", "--json", "--out", out).stdout)["answers"]
    assert (answers["failed"], answers["overall"]["questions"], answers["overall"]["correct"]) == (1, 1, 1.0)
    (canoe,) = [row for row in map(json.loads, out.read_text().splitlines()) if row.get("error")]
    assert "canoe" in canoe["question"]


def test_the_table_says_why_questions_stayed_without_an_answer(server: Models, dataset: Path):
    server.refuses = "canoe"
    shown = " ".join(run(dataset, "--yes").stdout.split())
    assert "1 without an answer" in shown
    assert "1 x: small gave no usable answer to 'answer' in 3 attempts: the model refused" in shown


def test_a_run_without_any_answer_fails(server: Models, dataset: Path):
    server.refuses = "?"
    answers = json.loads(run(dataset, "--yes", "--json", code=1).stdout)["answers"]
    assert (answers["failed"], answers["overall"]["questions"]) == (3, 0)


def test_a_system_that_hides_its_contexts_is_refused_before_anybody_is_asked():
    class Silent:
        name = "silent"

        def ingest(self, conversation: Conversation) -> None: ...

        def search(self, conversation: Conversation, question: str, limit: int) -> list[list[str]]:
            return []

        def context(self, conversation: Conversation, question: str, budget: int) -> Told:
            return Told(12, frozenset({"t"}))

    talk = Conversation("c", {}, [Question("Where?", "single-hop", frozenset({"t"}), answer="Oslo")])
    with pytest.raises(InvalidInput, match="silent returns no text of its contexts"):
        cases(Silent(), [talk], 650)


def test_the_table_has_intervals(server: Models, dataset: Path):
    printed = run(dataset, "--yes").stdout
    assert "Answers by small, judged by large" in printed
    assert "34.2% to 100.0%" in printed


def test_intervals_by_hand():
    assert interval(0, 0) == (0.0, 1.0)
    assert interval(8, 10) == (0.4902, 0.9433)  # Wilson's interval, worked out apart


def test_points_of_a_rubric_decide():
    question = Question("Which?", "summarization", frozenset({"t"}), answer="a, b", rubric=("a", "b"))
    case = Case("c", question, "", 0)
    figures = report([Judged(case, "a and b", True, 1.0), Judged(case, "a", False, 0.5)])
    assert figures["overall"]["correct"] == 0.5
    assert figures["overall"]["points"] == 0.75
    assert case.to_judge("a").rubric == ["a", "b"]


def test_longmemeval_is_read(tmp_path: Path):
    sample = {
        "question_id": "q1",
        "question_type": "knowledge-update",
        "question": "Where do I live?",
        "answer": "Porto",
        "question_date": "2023/06/01 (Thu) 10:00",
        "haystack_session_ids": ["s1", "s2"],
        "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/30 (Tue) 23:40"],
        "haystack_sessions": [
            [{"role": "user", "content": "I live in Lisbon."}, {"role": "assistant", "content": "Nice."}],
            [{"role": "user", "content": "I moved to Porto.", "has_answer": True}],
        ],
        "answer_session_ids": ["s2"],
    }
    file = tmp_path / "longmemeval.json"
    file.write_text(json.dumps([sample, sample | {"question_id": "q2_abs", "answer": "It was never said."}]))
    (first, second), skipped = read_dataset(file)
    assert skipped == 0
    (asked,) = first.questions
    assert (asked.category, asked.answer, asked.asked_on) == ("knowledge-update", "Porto", "2023/06/01 (Thu) 10:00")
    (turn,) = [turn for turns in first.threads.values() for turn in turns if turn.id in asked.evidence]
    assert (turn.content, turn.created_at.isoformat()[:16]) == ("I moved to Porto.", "2023-05-30T23:40")
    assert [turn.role for turn in next(iter(first.threads.values()))] == ["user", "agent"]
    assert (second.questions[0].category, second.questions[0].evidence) == ("abstention", frozenset())


def test_beam_is_read(tmp_path: Path):
    probing = {
        "knowledge_update": [
            {"question": "When is the launch?", "answer": "9 May", "rubric": ["9 May"], "source_chat_ids": {"new": [2]}}
        ],
        "abstention": [{"question": "What is my cat called?", "ideal_response": "It was never said.", "rubric": []}],
        "event_ordering": [{"question": "In which order?", "answer": "a, b", "rubric": ["a", "b"]}],
    }
    session = [
        {"id": 1, "role": "user", "content": "The launch is on 2 May.", "time_anchor": "March-15-2024"},
        {"id": 2, "role": "user", "content": "The launch moved to 9 May.", "time_anchor": None},
        {"id": 3, "role": "assistant", "content": "Noted.", "time_anchor": None},
    ]
    file = tmp_path / "beam.json"
    file.write_text(json.dumps({"conversation_id": "7", "chat": [session], "probing_questions": str(probing)}))
    (talk,), skipped = read_dataset(file)
    assert skipped == 1  # whose evidence is not named
    update, abstention = talk.questions
    assert (update.rubric, update.evidence) == (("9 May",), frozenset({"beam-7:1:1"}))
    assert abstention.answer == "It was never said."
    assert talk.threads["session_1"][0].created_at.isoformat()[:10] == "2024-03-15"


@pytest.mark.parametrize(
    "sample",
    [
        {"question": "?", "haystack_sessions": [[{"role": "nobody", "content": "x"}]]},
        {"chat": [[]], "probing_questions": "__import__('os').system('true')", "conversation_id": 1},
        {"chat": [[{"role": "user"}]], "probing_questions": "{}", "conversation_id": 1},
    ],
)
def test_a_broken_file_is_refused_with_its_place(tmp_path: Path, sample: dict[str, Any]):
    file = tmp_path / "broken.json"
    file.write_text(json.dumps([sample]))
    assert "1: not a " in command.run("eval", file, code=2).output


LABELLED = [
    {"text": "I am allergic to peanuts.", "keep": [{"kind": "fact", "about": "user", "words": [["peanuts"]]}]},
    {"text": "The bus was late today.", "not": [{"words": [["late"]], "why": "small talk"}]},
    {"text": "Can you book a table?"},
]


@pytest.fixture
def labelled(tmp_path: Path, server: Models, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AGENT_MEMORY_CHAT_EXTRACTION", "small")
    file = tmp_path / "messages.jsonl"
    same = {"lang": "en", "domain": "travel", "said_at": "2026-03-11T10:00:00Z"}
    file.write_text("".join(json.dumps({"id": f"m{n}", **same, **one}) + "\n" for n, one in enumerate(LABELLED)))
    return file


mark = partial(command.run, "eval", "--judge", "--extraction")


def test_a_model_extracts_and_another_one_marks(server: Models, labelled: Path, tmp_path: Path):
    kept, out = tmp_path / "marks.jsonl", tmp_path / "rows.jsonl"
    told = mark(labelled, "--yes", "--json", "--recorded", kept, "--out", out)
    figures = json.loads(told.stdout)
    assert "3 messages, 0 of them with a recorded answer: 6 calls to small (answers)" in told.stderr
    assert server.models == {"small": 3, "large": 2}  # nothing was extracted from the question
    assert (figures["model"], figures["judge"], figures["memories"], figures["unmarked"]) == ("small", "large", 2, 0)
    assert (figures["good"]["share"], figures["weak"]["share"], figures["bad"]["share"]) == (0.5, 0.5, 0.0)
    assert figures["recall"] == {"of": 1, "share": 1.0, "low": 0.2065, "high": 1.0}
    assert figures["agreement"]["share"] == 0.5  # by its label, the bus is a bad one
    assert figures["usage"]["model_calls"] == 5
    peanuts, bus, question = map(json.loads, out.read_text().splitlines())
    assert (peanuts["memories"][0]["mark"], bus["memories"][0]["mark"], question["memories"]) == ("good", "weak", [])
    shown = mark(labelled, "--recorded", kept)  # all is recorded: nobody is asked, and nothing is paid
    assert sum(server.models.values()) == 5
    assert "`bad`: the message does not say it." in shown.stdout


def test_a_message_that_a_model_refuses_is_counted_as_failed(server: Models, labelled: Path):
    server.refuses = "peanuts"
    figures = json.loads(mark(labelled, "--yes", "--json").stdout)
    assert (figures["failed"], figures["memories"], figures["recall"]["of"]) == (1, 1, 0)


def test_marks_of_no_message_are_a_failure_with_its_reason(server: Models, labelled: Path):
    server.refuses = "turns"
    shown = " ".join(mark(labelled, "--yes", code=1).stdout.split())
    assert "3 failed" in shown
    assert "2 x: small gave no usable answer to 'extract' in 3 attempts: the model refused" in shown


def test_marks_need_messages_and_a_yes(server: Models, labelled: Path):
    assert "add --yes" in mark(labelled, code=2).output
    assert "add --extraction" in command.run("eval", "--judge", code=2).output
    assert not server.models
