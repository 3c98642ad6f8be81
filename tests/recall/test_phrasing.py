"""Questions in words that are nearer to those of their answers."""

import pytest

from agent_memory import AsyncMemory
from agent_memory.calibration import FIRST_PERSON
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.language.tasks import Embedded
from agent_memory.recall.phrasing import Said, between, in_first_person, speakers, subject_of

SPEAKERS = {"caroline", "elise"}


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("What did Caroline paint?", "What did I paint?"),
        ("When does Elise fly?", "When do I fly?"),
        ("What is Caroline's plan for Elise?", "What is my plan for me?"),
        ("Where is Elise’s house, and why?", "Where is my house, and why?"),
        ("What Caroline paints", "What I paints"),
        ("what did caroline paint", "what did I paint"),
        ("Caroline's hobbies", "my hobbies"),
        ("caroline favourite painter", "I favourite painter"),
        ("Tell me where Elise works.", "Tell me where I works."),
        (
            "Caroline told Melanie: 'Let's get back to my usual colour.'",
            "I told Melanie: 'Let's get back to my usual colour.'",
        ),
    ],
)
def test_a_named_speaker_asks(question: str, said: str):
    assert in_first_person(question, SPEAKERS) == said


@pytest.mark.parametrize(
    "question",
    [
        "What did Melanie paint?",
        "Was hat Caroline gemalt?",
        "¿Qué pintó Caroline?",
        "Gdzie mieszka Caroline?",
        "Lieblingsfarbe von Caroline",
        "il lavoro di Caroline",
        "",
    ],
)
def test_other_questions_stay(question: str):
    assert in_first_person(question, SPEAKERS) == question


def test_only_sure_names_are_speakers():
    said = [Said("t", name, "Yes.") for name in ("Zoë Moore", "Will", "May", "assistant", "?", None)]
    assert speakers(said) == {("t", "zoë")}


@pytest.mark.parametrize(
    ("question", "subject"),
    [
        (
            "Can you list the order in which I brought up different aspects of my budget app throughout our"
            " conversations, in order? Mention ONLY and ONLY three items.",
            "my budget app?",
        ),
        ("What was the order in which I've mentioned my trips?", "my trips?"),
        ("Walk me through the sequence in which I discussed topics related to Rome.", "Rome?"),
        ("What was the order in which I mentioned things?", None),
        ("In which order did the parcels come?", None),
        ("What is the order of the court?", None),
        ("Which hotels did we see in our chats?", None),
        ("What is on my list? Express the answer as a JSON list.", "What is on my list?"),
        ("Where does Ines live?\nAnswer with a single word.\nBe specific.", "Where does Ines live?"),
        ("I moved to Graz. Give me the address of Ines.", None),
    ],
)
def test_a_question_is_searched_by_its_subject(question: str, subject: str | None):
    assert subject_of(question) == (subject or question)


def test_the_vector_lies_between_both():
    assert between([2.0, 0.0], [0.0, 0.1]) == pytest.approx(
        [value / ((1 - FIRST_PERSON) ** 2 + FIRST_PERSON**2) ** 0.5 for value in (1 - FIRST_PERSON, FIRST_PERSON)]
    )


class Recording(HashingEmbeddings):
    """Keeps what it was asked to embed."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[list[str]] = []

    async def embed(self, texts: list[str]) -> Embedded:
        self.asked.append(texts)
        return await super().embed(texts)


async def test_a_search_embeds_the_question_of_a_speaker_in_both_forms():
    model = Recording()
    async with AsyncMemory.local(embedding_model=model) as memory:
        user = memory.user("u")
        await user.thread("t").add("user", "Painting calms me down.", name="Caroline Moore")
        await memory.drain()
        assert await user.search("What calms Caroline down?")
        assert await user.search("What calms the painter down?")
        assert await user.thread("u").search("What calms Caroline down?") == []
    assert model.asked[-3:] == [
        ["What calms Caroline down?", "What calms I down?"],
        ["What calms the painter down?"],
        ["What calms Caroline down?"],  # in a thread where she says nothing
    ]
