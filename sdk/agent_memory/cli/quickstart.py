"""`agent-memory quickstart`: from conversations to memories to context, in one command."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agent_memory.cli.ingest import read_all, summary, write
from agent_memory.cli.options import DEFAULT_USER, AsOfOption, JsonOption, any_store, examples
from agent_memory.cli.show import UserView, user_view
from agent_memory.cli.subjects import subjects
from agent_memory.cli.terminal import emit, stdout
from agent_memory.cli.tour import FEW, Answer, Question, Tour, show_tour

if TYPE_CHECKING:
    from agent_memory import Memory
    from agent_memory.models import Context
    from agent_memory.transfer.readers.utterances import Utterance

EXAMPLES = examples(
    "quickstart",
    "quickstart --as-of 2026-04-01",
    'quickstart chat.jsonl --user ann --ask "Where do I live?"',
)
STORE = ".quickstart/memory.db"
_SAMPLES = (Path(__file__).parents[1] / "_samples", Path(__file__).parents[3] / "samples" / "conversations")
_NEW_SESSION = "a-new-session"
_BEFORE_THE_RAISE = datetime(2026, 4, 1, 23, 59, 59, tzinfo=UTC)

SAMPLE_QUESTIONS = (
    Question("maya", "What's my budget for Hawaii?"),
    Question("maya", "What's my budget for Hawaii?", as_of=_BEFORE_THE_RAISE),
    Question("maya", "What food should I avoid?"),
    Question("dev", "How do I deploy payment-service?"),
    Question("sarah", "How many days may I work from home?"),
)
QUESTIONS_OF_OWN = 3
"""Number of questions about the caller's own transcript, for each of its users."""
TRIED = 8
"""Maximum number of questions to try until enough of them have an answer."""
USERS_ASKED = 5
"""Maximum number of users to ask questions for, if a transcript has many."""


def quickstart(
    files: Annotated[
        list[Path] | None, typer.Argument(metavar="FILE", help="Your own transcripts, instead of the samples.")
    ] = None,
    store: Annotated[str, typer.Option("--store", metavar="PATH", help="The store file.")] = STORE,
    user: Annotated[
        str | None, typer.Option("--user", metavar="ID", help="The user your transcripts belong to.")
    ] = None,
    ask: Annotated[
        list[str] | None, typer.Option("--ask", metavar="QUESTION", help="Ask this; may be given several times.")
    ] = None,
    as_of: AsOfOption = None,
    full: Annotated[
        bool, typer.Option("--full", help="Show everything: memories, summaries, profiles and full contexts.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """From conversations to memories to answers, in one run.

    Ingests the sample conversations (or yours), shows what is remembered and asks questions from a new session. Needs
    no key and no network. A second run reuses the store.
    """
    resumed = Path(store).exists()
    utterances = read_all(files or samples())
    Path(store).parent.mkdir(parents=True, exist_ok=True)
    if resumed and not as_json:
        stdout().print(f"Found {store} from an earlier run; continuing with it.", soft_wrap=True)
    with any_store(store, offline=True) as memory:
        ingested = write(memory, utterances, user)
        if not as_json:
            stdout().print(summary(ingested))
        views = [user_view(memory.user(name)) for name in ingested.users]
        memory.warm()
        if ask or not (files or user):
            answers = [_answer(memory, question) for question in _questions(views, ask, as_of)]
        else:
            said = _said(utterances, user)
            few = views[:USERS_ASKED]
            answers = [answer for view in few for answer in _ask_about(memory, view, said[view.user_id], as_of)]
        page = write_page(memory, Path(store), [view.user_id for view in views], answers)
        tour = Tour(store, resumed, ingested, views, answers, str(page))
    if as_json:
        emit(tour)
    else:
        show_tour(stdout(), tour, full=full)


def write_page(memory: Memory, store: Path, users: Sequence[str], answers: Sequence[Answer]) -> Path:
    """Writes the explorer with these users' memory and answers into a file next to the store."""
    from agent_memory.explorer.snapshot import snapshot

    def asked(user_id: str) -> list[tuple[str, datetime | None, Context]]:
        own = [answer for answer in answers if answer.question.user_id == user_id]
        return [(answer.question.text, answer.question.as_of, answer.context) for answer in own]

    page = store.with_suffix(".html")
    shown = [(memory.user(name), asked(name)) for name in users[:USERS_ASKED]]
    page.write_text(snapshot("Quickstart", shown), encoding="utf-8")
    return page


def samples() -> list[Path]:
    """The sample conversations, from the package or from the repository."""
    return sorted(path for folder in _SAMPLES for path in folder.glob("*.jsonl"))


def _said(utterances: Sequence[Utterance], user: str | None) -> dict[str, list[str]]:
    """What each user said, the newest first."""
    said: defaultdict[str, list[str]] = defaultdict(list)
    for one in reversed(utterances):
        if one.turn.role == "user":
            said[user or one.user_id or DEFAULT_USER].append(one.turn.content)
    return said


def _questions(views: Sequence[UserView], ask: list[str] | None, as_of: datetime | None) -> list[Question]:
    """The caller's questions, or those of the samples."""
    if ask:
        return [Question(view.user_id, text, as_of) for view in views for text in ask]
    if as_of is None:
        return list(SAMPLE_QUESTIONS)
    return list(dict.fromkeys(Question(question.user_id, question.text, as_of) for question in SAMPLE_QUESTIONS))


def _ask_about(memory: Memory, view: UserView, texts: Sequence[str], as_of: datetime | None) -> list[Answer]:
    """Questions about a user's transcript, with answers; if none has an answer, the first one tried."""
    tried = [
        Question(view.user_id, f"What do you know about {subject}?", as_of)
        for subject in subjects(view.memories, texts)
    ]
    answers: list[Answer] = []
    for question in tried[:TRIED]:
        answers.append(_answer(memory, question))
        if sum(bool(answer.told) for answer in answers) == QUESTIONS_OF_OWN:
            break
    return [answer for answer in answers if answer.told] or answers[:1]


def _answer(memory: Memory, question: Question) -> Answer:
    user = memory.user(question.user_id)
    context = user.thread(_NEW_SESSION).context(question.text, as_of=question.as_of)
    derived = [used for used in context.used if used["type"] in ("fact", "procedural") and "id" in used]
    best = sorted(derived, key=lambda used: -used.get("score", 0.0))[:FEW]
    return Answer(question, context, [user.get(used["id"]) for used in best])
