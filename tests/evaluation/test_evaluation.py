"""The harness: figures by hand, a small data set end to end, and other systems in the place of ours."""

import json
import sys
from functools import partial
from pathlib import Path
from typing import Any

import command
import pytest

from agent_memory.evaluation import Conversation, Question, Told, ToldLine, baselines, evaluate
from agent_memory.evaluation.adapters import AgentMemory
from agent_memory.evaluation.dataset import read_dataset
from agent_memory.evaluation.harness import Index, distinct, hit, measures, ndcg, recall, smoothed
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.models import TurnInput
from agent_memory.recall.relevance import Bm25

TALK = {
    "session_1_date_time": "1:56 pm on 8 May, 2023",
    "session_1": [
        {"speaker": "Ann", "dia_id": "D1:1", "text": "Hi Ben, how have you been?"},
        {"speaker": "Ben", "dia_id": "D1:2", "text": "Well! I bought a red canoe on Saturday."},
        {"speaker": "Ann", "dia_id": "D1:3", "text": "Lovely. My sister Clara moved to Oslo."},
    ],
    "session_2_date_time": "9:00 am on 3 June, 2023",
    "session_2": [
        {"speaker": "Ann", "dia_id": "D2:1", "text": "The weather was awful all week."},
        {"speaker": "Ben", "dia_id": "D2:2", "text": "I started a pottery class with Dana."},
    ],
}
QUESTIONS = [
    {"question": "What colour is Ben's canoe?", "evidence": ["D1:2"], "category": 4, "answer": "red"},
    {"question": "Which hobbies does Ben have?", "evidence": ["D1:2; D:2:2"], "category": 1, "answer": "…"},
    {"question": "Who sold Ben a horse?", "evidence": ["D1:2"], "category": 5},
    {"question": "Why?", "evidence": [], "category": 4},
    {"question": "Where?", "evidence": ["D9:9"], "category": 4},
]
SAMPLE = {
    "sample_id": "talk-1",
    "conversation": TALK,
    "qa": QUESTIONS,
    "observation": {"session_1_observation": {"Ben": [["Ben stole a submarine", "D1:2"]]}},
    "session_summary": {"session_1_summary": "Ben stole a submarine."},
}


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    file = tmp_path / "talks.json"
    file.write_text(json.dumps([SAMPLE]))
    return file


run = partial(command.run, "eval")


def test_figures_by_hand():
    ranking = distinct([["c", "a"], ["a"], ["b"]])
    assert ranking == ["c", "a", "b"]
    evidence = frozenset({"a", "b"})
    assert [recall(ranking, evidence, depth) for depth in (1, 2, 3)] == [0, 0.5, 1]
    assert [hit(ranking, evidence, depth) for depth in (1, 2)] == [0, 1]
    # Gains at places 2 and 3, by the best there could be, at places 1 and 2.
    assert ndcg(ranking, evidence, 10) == pytest.approx((1 / 1.58496 + 1 / 2) / (1 + 1 / 1.58496), abs=1e-4)
    assert ndcg(["a", "b"], evidence, 10) == 1
    assert measures(ranking, evidence)["recall@5"] == 1


@pytest.mark.req("S0-008", "S0-094")
def test_a_data_set_end_to_end(dataset: Path, tmp_path: Path):
    out, plot, store = tmp_path / "answers.jsonl", tmp_path / "recall.png", tmp_path / "eval.db"
    report = json.loads(run(dataset, "--json", "--out", out, "--plot", plot, "--store", store).stdout)
    assert (report["conversations"], report["turns"], report["questions_without_evidence"]) == (1, 5, 2)
    assert report["overall"]["questions"] == 2
    assert report["overall"]["recall@20"] == 1
    assert report["overall"]["recall@10_off_by"] == 0
    assert {name: figures["questions"] for name, figures in report["categories"].items()} == {
        "adversarial": 1,
        "multi-hop": 1,
        "single-hop": 1,
    }
    assert report["context"]["hit"] == 1
    assert 0 < report["context"]["tokens"] <= report["context"]["budget"] == 650
    assert set(report["baselines"]) == {"dense", "bm25", "rrf", "smoothed"}
    assert all(figures["recall@20"] == 1 for figures in report["baselines"].values())
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(rows) == 3 * 5
    assert rows[0]["found"][0] == "talk-1:D1:2"
    assert rows[0]["figures"]["recall@5"] == 1
    assert plot.read_bytes().startswith(b"\x89PNG")
    again = json.loads(run(dataset, "--json", "--no-baselines", "--store", store).stdout)
    assert again["overall"]["recall@10"] == report["overall"]["recall@10"]
    assert again["baselines"] == {}
    # What the data set says beside the talk was not taken in.
    assert "submarine" not in command.run("show", "--store", store).stdout


def test_a_question_about_earlier_talk_may_get_a_summary(tmp_path: Path):
    asked = {"question": "What did we discuss last time about the canoe?", "evidence": ["D1:2"], "category": 4}
    file = tmp_path / "talks.json"
    file.write_text(json.dumps([SAMPLE | {"qa": [asked]}]))
    report = json.loads(run(file, "--json").stdout)
    assert report["context"]["hit"] == 1.0


def test_the_report_as_tables(dataset: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "100")
    shown = run(dataset).stdout
    assert "1 conversations, 5 turns, 2 questions" in shown
    for word in ("agent-memory", "dense", "bm25", "rrf", "multi-hop", "some evidence 100.0%"):
        assert word in shown


ADAPTER = """
from agent_memory.evaluation import Told

class Newest:
    name = "newest"
    def ingest(self, conversation):
        self.turns = [turn.id for turns in conversation.threads.values() for turn in turns][::-1]
    def search(self, conversation, question, limit):
        return [[turn] for turn in self.turns[:limit]]
    def context(self, conversation, question, budget):
        return Told(10, frozenset(self.turns[:1]))

class Half:
    name = "half"
"""


def test_another_system_in_the_place_of_ours(dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "adapters_of_test.py").write_text(ADAPTER)
    monkeypatch.syspath_prepend(str(tmp_path))
    report = json.loads(run(dataset, "--json", "--no-baselines", "--adapter", "adapters_of_test:Newest").stdout)
    assert report["system"] == "newest"
    assert report["categories"]["multi-hop"]["ndcg@10"] == pytest.approx(
        (1 + 1 / 2.32193) / (1 + 1 / 1.58496), abs=1e-4
    )
    assert (report["context"]["hit"], report["context"]["all_evidence"], report["context"]["tokens"]) == (0.5, 0, 10)
    assert "it needs name, ingest" in run(dataset, "--adapter", "adapters_of_test:Half", code=1).stderr
    assert "no adapter" in run(dataset, "--adapter", "adapters_of_test:Missing", code=1).stderr
    assert "no adapter" in run(dataset, "--adapter", "nonsense", code=1).stderr
    monkeypatch.delitem(sys.modules, "adapters_of_test")


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("{", "not JSON"),
        ("[]", "not a LoCoMo file"),
        ('[{"a": 1}]', "not a LoCoMo file"),
        (json.dumps([{**SAMPLE, "qa": []}]), "no question with evidence"),
        (json.dumps([{**SAMPLE, "sample_id": ""}]), 'no "sample_id"'),
    ],
)
def test_what_is_no_data_set(tmp_path: Path, content: str, complaint: str):
    file = tmp_path / "data.json"
    file.write_text(content)
    assert complaint in run(file, code=2).stderr


def test_a_missing_data_set_says_where_to_get_it(tmp_path: Path):
    assert "snap-research/locomo" in run(tmp_path / "none.json", code=2).stderr


def test_a_format_that_cannot_be_drawn(dataset: Path, tmp_path: Path):
    assert "error:" in run(dataset, "--no-baselines", "--plot", tmp_path / "plot.docx", code=2).stderr


def talk() -> Conversation:
    said: dict[str, Any] = {"role": "user", "created_at": "2026-03-01T10:00:00Z"}
    texts = {"t1": "A zebra was seen.", "t2": "We had bread and butter.", "t3": "The zebra ate the bread."}
    turns = [TurnInput(id=key, content=text, **said) for key, text in texts.items()]
    question = Question("Which bread did the zebra like?", "single-hop", frozenset({"t3"}))
    return Conversation("talk", {"thread": turns}, [question])


def test_a_thread_finds_the_earlier_ones_processed():
    said = [f"A {size} canoe with Ann on the lake" for size in ("green", "large", "heavy", "light", "small", "long")]
    threads = {
        f"talk-{day}": [TurnInput(role="user", content=words, id=f"turn-{day}")] for day, words in enumerate(said)
    }
    conversation = Conversation("ben", threads, [])
    with AgentMemory(embeddings=HashingEmbeddings()) as system:
        system.ingest(conversation)
        user = system.user(conversation)
        found = [user.get(hit.memory.id) for hit in user.search("a canoe on the lake with Ann", limit=20)]
    told = {memory.thread_id: memory.near_ids for memory in found}
    assert told.keys() == threads.keys()
    assert [thread for thread, near in told.items() if not near] == ["talk-0"]


def test_baselines_find_what_shares_words():
    for baseline in baselines(HashingEmbeddings()):
        baseline.ingest(talk())
        found = baseline.search(talk(), "Which bread did the zebra like?", 2)
        assert found[0] == ["t3"]
        assert len(found) == 2
        assert baseline.context(talk(), "zebra", 100) is None


def test_a_turn_beside_a_hit_gains_half_of_its_score():
    index = Index(
        vectors={"a": [1.0, 0.0], "b": [0.0, 1.0], "c": [0.0, 1.0]},
        words=Bm25({"a": "a zebra", "b": "bread", "c": "butter"}),
        beside={"a": ["b"], "b": ["a", "c"], "c": ["b"]},
    )
    assert smoothed(index, [1.0, 0.0], "Which zebra?") == pytest.approx({"a": 2.0, "b": 1.0, "c": 0.0})


def test_the_calls_to_a_system_under_evaluation():
    class Silent:
        name = "silent"
        limits: list[int]

        def ingest(self, conversation: Conversation) -> None:
            self.limits = []

        def search(self, conversation: Conversation, question: str, limit: int) -> list[list[str]]:
            self.limits.append(limit)
            return []

        def context(self, conversation: Conversation, question: str, budget: int) -> Told | None:
            return None

    system, seen = Silent(), []
    report = evaluate(system, [talk()], progress=lambda done, total: seen.append((done, total))).report()
    assert system.limits == [20]
    assert seen == [(3, 4), (4, 4)]
    assert report["overall"]["recall@20"] == 0
    assert report["context"] == {"budget": 650}


def _told_about_a_change(*lines: ToldLine) -> dict[str, Any]:
    """The report on one question whose answer changed and one that has none, when these lines are told."""

    class Telling:
        name = "telling"

        def ingest(self, conversation: Conversation) -> None: ...

        def search(self, conversation: Conversation, question: str, limit: int) -> list[list[str]]:
            return []

        def context(self, conversation: Conversation, question: str, budget: int) -> Told | None:
            if question == "And the goat?":
                return Told(7, frozenset())
            return Told(30, frozenset().union(*(line.turns for line in lines)), lines)

    changed = Question("Which bread?", "update", frozenset({"new"}), frozenset({"old"}), frozenset({"new"}))
    unanswerable = Question("And the goat?", "abstention", frozenset())
    asked = Conversation("z", {}, [changed, unanswerable])
    return evaluate(Telling(), [asked]).report()


OLD, NEW, OTHER = frozenset({"old"}), frozenset({"new"}), frozenset({"other"})


@pytest.mark.parametrize(
    ("lines", "current", "stale_only", "both_unmarked"),
    [
        ([ToldLine(NEW)], 1, 0, 0),
        ([ToldLine(OLD)], 0, 1, 0),
        ([ToldLine(OLD, is_older=True)], 0, 1, 0),
        ([ToldLine(NEW), ToldLine(OLD, is_older=True)], 1, 0, 0),
        ([ToldLine(NEW), ToldLine(OLD)], 1, 0, 1),
        ([ToldLine(OTHER)], 0, 0, 0),
    ],
)
def test_for_a_change_the_evaluation_counts_which_value_is_recalled(
    lines: list[ToldLine], current: int, stale_only: int, both_unmarked: int
):
    updates = _told_about_a_change(*lines)["updates"]
    assert updates == {"questions": 1, "current": current, "stale_only": stale_only, "both_unmarked": both_unmarked}


def test_memories_shown_on_one_line_count_as_one():
    report = _told_about_a_change(ToldLine(NEW, number=1), ToldLine(OTHER, number=1), ToldLine(OTHER, number=2))
    assert report["context"]["useful_lines"] == 0.5


def test_the_curve_of_relevance_counts_contexts_with_evidence():
    class Telling:
        name = "telling"

        def ingest(self, conversation: Conversation) -> None:
            pass

        def search(self, conversation: Conversation, question: str, limit: int) -> list[list[str]]:
            return []

        def context(self, conversation: Conversation, question: str, budget: int) -> Told | None:
            return Told(5, NEW, [ToldLine(NEW)], relevance={"sure": 1.0, "half": 0.5, "wrong": 0.59}[question])

    questions = [
        Question("sure", "single-hop", NEW),
        Question("half", "single-hop", NEW),
        Question("wrong", "abstention", frozenset()),
    ]
    report = evaluate(Telling(), [Conversation("z", {}, questions)]).report()
    assert report["relevance"] == {"0.4": {"contexts": 2, "evidence": 0.5}, "0.8": {"contexts": 1, "evidence": 1.0}}


def test_a_question_without_an_answer_counts_by_its_tokens_alone():
    report = _told_about_a_change(ToldLine(NEW), ToldLine(OTHER))
    assert report["abstention"] == {"questions": 1, "tokens": 7}
    assert report["overall"]["questions"] == 1
    assert report["context"]["useful_lines"] == 0.5
    assert list(report["categories"]) == ["update"]


def test_an_assistant_is_an_agent_and_an_abstention_a_question(tmp_path: Path):
    talk = {
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {"speaker": "Ann", "dia_id": "D1:1", "text": "My budget is 300 euros."},
            {"speaker": "Assistant", "dia_id": "D1:2", "text": "Noted."},
            {"speaker": "Ann", "dia_id": "D1:3", "text": "Make that 400 euros."},
        ],
    }
    change = {"stale_evidence": ["D1:1"], "current_evidence": ["D1:3"], "evidence": ["D1:1", "D1:3"]}
    asked = [
        {"question": "What is my budget?", "category": "knowledge_update", **change},
        {"question": "What is my shoe size?", "category": "abstention", "evidence": []},
        {"question": "Why?", "category": "other", "evidence": []},
    ]
    file = tmp_path / "chat.json"
    file.write_text(json.dumps([{"sample_id": "c", "conversation": talk, "qa": asked}]))
    (conversation,), skipped = read_dataset(file)
    assert [turn.role for turn in conversation.threads["session_1"]] == ["user", "agent", "user"]
    update, abstention = conversation.questions
    assert (update.stale, update.current) == (frozenset({"c:D1:1"}), frozenset({"c:D1:3"}))
    assert (abstention.evidence, skipped) == (frozenset(), 1)
    assert "Changes: 1 questions" in run(file, "--no-baselines").output
