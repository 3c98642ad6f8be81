"""`agent-memory quickstart`: from conversations to memories to context, in one command."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agent_memory.cli.failures import with_hint
from agent_memory.cli.ingest import read_all, summary, write
from agent_memory.cli.options import AsOfOption, JsonOption, any_store, examples
from agent_memory.cli.show import UserView, user_view
from agent_memory.cli.terminal import emit, stdout
from agent_memory.cli.tour import FEW, Answer, Question, Tour, by_importance, show_tour
from agent_memory.errors import InvalidInput

if TYPE_CHECKING:
    from agent_memory import Memory

EXAMPLES = examples(
    "quickstart",
    "quickstart --as-of 2026-04-01",
    'quickstart chat.jsonl --user ann --ask "Where do I live?"',
)
STORE = ".quickstart/memory.db"
_SAMPLES = Path(__file__).parents[3] / "samples" / "conversations"
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


def quickstart(
    files: Annotated[
        list[Path] | None, typer.Argument(metavar="FILE", help="Your own transcripts, in place of the samples.")
    ] = None,
    store: Annotated[str, typer.Option("--store", metavar="PATH", help="The store file.")] = STORE,
    user: Annotated[str | None, typer.Option("--user", metavar="ID", help="Whose memory your transcripts are.")] = None,
    ask: Annotated[
        list[str] | None, typer.Option("--ask", metavar="QUESTION", help="Ask this; may be given several times.")
    ] = None,
    as_of: AsOfOption = None,
    full: Annotated[
        bool, typer.Option("--full", help="Show all: memories, summaries, profiles and the whole contexts.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """From conversations to memories to answers, in one run.

    Ingests the sample conversations (or yours), shows what is remembered and asks from a new session. Needs no
    key and no network. A second run finds the store and goes on from there.
    """
    resumed = Path(store).exists()
    utterances = read_all(files or samples())
    Path(store).parent.mkdir(parents=True, exist_ok=True)
    if resumed and not as_json:
        stdout().print(f"Found {store} from an earlier run; going on with it.", soft_wrap=True)
    with any_store(store) as memory:
        ingested = write(memory, utterances, user)
        if not as_json:
            stdout().print(summary(ingested))
        views = [user_view(memory.user(name)) for name in ingested.users]
        questions = _questions(views, ask, as_of, own=bool(files or user))
        tour = Tour(store, resumed, ingested, views, [_answer(memory, question) for question in questions])
    if as_json:
        emit(tour)
    else:
        show_tour(stdout(), tour, full=full)


def samples() -> list[Path]:
    """The sample conversations of the repository.

    Raises:
        InvalidInput: if the package was installed without the repository.
    """
    found = sorted(_SAMPLES.glob("*.jsonl"))
    if not found:
        missing = InvalidInput("the sample conversations come with the repository, not with the package")
        raise with_hint(missing, "give a transcript of your own: agent-memory quickstart FILE")
    return found


def _questions(views: Sequence[UserView], ask: list[str] | None, as_of: datetime | None, own: bool) -> list[Question]:
    """What to ask: the caller's questions, those of the samples, or some about what was found to be important."""
    if ask:
        return [Question(view.user_id, text, as_of) for view in views for text in ask]
    asked = [question for view in views for question in _about(view)] if own else list(SAMPLE_QUESTIONS)
    if as_of is None:
        return asked
    return list(dict.fromkeys(Question(question.user_id, question.text, as_of) for question in asked))


def _about(view: UserView) -> list[Question]:
    """Questions that the most important memories of a user would answer, each on another subject."""
    subjects: dict[str, None] = {}
    for memory in by_importance(view.memories):
        if memory.tags:
            subjects.setdefault(" and ".join(memory.tags[:2]))
    return [
        Question(view.user_id, f"What do you know about {subject}?") for subject in list(subjects)[:QUESTIONS_OF_OWN]
    ]


def _answer(memory: Memory, question: Question) -> Answer:
    user = memory.user(question.user_id)
    context = user.thread(_NEW_SESSION).context(question.text, as_of=question.as_of)
    derived = [used for used in context.used if used["type"] in ("fact", "procedural")]
    best = sorted(derived, key=lambda used: -used.get("score", 0.0))[:FEW]
    return Answer(question, context, [user.get(used["id"]) for used in best])
