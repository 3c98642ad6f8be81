"""`agent-memory quickstart`: from conversations to memories to context, in one command."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.text import Text

from agent_memory.cli.failures import with_hint
from agent_memory.cli.ingest import Ingested, read_all, summary, write
from agent_memory.cli.options import DEFAULT_USER, AsOfOption, JsonOption, any_store, examples, invocation
from agent_memory.cli.show import UserView, user_view
from agent_memory.cli.terminal import emit, one_line, stdout
from agent_memory.cli.views import (
    context_digest,
    context_view,
    day,
    heading,
    in_zone,
    memory_table,
    profile_view,
    summary_lines,
    superseded_table,
    table,
)
from agent_memory.errors import InvalidInput
from agent_memory.extras import how_to_install
from agent_memory.text.patterns import linear

if TYPE_CHECKING:
    from agent_memory import Memory
    from agent_memory.models import Context, Memory as Remembered
    from agent_memory.transfer.readers.utterances import Utterance

SHOWN_MEMORIES = 12
SHOWN_SUPERSEDED = 8
FEW = 2
WIDTH = 76
_SHORT = 3
"""Words of at most so many letters are ignored: they occur in any line."""
NOTHING_EXTRACTED = (
    "No memories were extracted. Without a language model, rules extract them, mostly from English; the README\n"
    "describes how to set a model. Search and context still use the turns themselves."
)


@dataclass(frozen=True, slots=True)
class Question:
    """Something a user asks, perhaps about the past."""

    user_id: str
    text: str
    as_of: datetime | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """A question, the context that an agent would get for it, and the best-matching facts in it."""

    question: Question
    context: Context
    best: list[Remembered]

    @property
    def told(self) -> list[str]:
        """What the agent would get: the best-matching facts, or else the best lines of the context."""
        if self.best:
            return [f"{one_line(memory.content)} (said {day(memory.created_at)})" for memory in self.best]
        lines = [line.removeprefix("- ") for line in self.context.text.splitlines() if line.startswith("- ")]
        asked = set(self.question.text.casefold().strip("?").split())
        return sorted(lines, key=lambda line: -sum(word in line.casefold() for word in asked if len(word) > _SHORT))


@dataclass(frozen=True, slots=True)
class Tour:
    """Everything that a quickstart shows."""

    store: str
    resumed: bool
    ingested: Ingested
    users: list[UserView]
    answers: list[Answer]
    page: str
    """The file that shows it all in a browser."""


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
    as_of = in_zone(as_of)
    resumed = Path(store).exists()
    utterances = read_all(files or samples())
    try:
        Path(store).parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        hint = f"choose another place: {invocation('quickstart', '--store', 'PATH')}"
        raise with_hint(InvalidInput(f"cannot create the folder of {store}: {error.strerror}"), hint) from error
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
    from agent_memory.explorer.page import snapshot

    def asked(user_id: str) -> list[tuple[str, datetime | None, Context]]:
        own = [answer for answer in answers if answer.question.user_id == user_id]
        return [(answer.question.text, answer.question.as_of, answer.context) for answer in own]

    page = store.with_suffix(".html")
    shown = [(memory.user(name), asked(name)) for name in users[:USERS_ASKED]]
    try:
        page.write_text(snapshot("Quickstart", shown), encoding="utf-8")
    except OSError as error:
        raise InvalidInput(f"cannot write {page}: {error.strerror}") from error
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


def by_importance(memories: Sequence[Remembered]) -> list[Remembered]:
    """Memories by importance, then confidence, then newest first."""
    return sorted(memories, key=lambda memory: (-memory.importance, -memory.confidence, -memory.created_at.timestamp()))


def show_tour(console: Console, tour: Tour, *, full: bool) -> None:
    """Prints what is remembered, what changed, and answers; in full with summaries, profiles and whole contexts."""
    if full:
        for number, user in enumerate(tour.users, start=1):
            console.print()
            console.rule(Text(f"{number}. {user.user_id}", style="bold"), align="left", style="dim")
            _show_user(console, user)
    else:
        _show_users(console, tour.users)
    console.print()
    console.rule(Text("Asked from a new session", style="bold"), align="left", style="dim")
    for answer in tour.answers:
        _show_answer(console, answer, full=full)
    _show_next(console, tour, full=full)


def _show_users(console: Console, users: Sequence[UserView]) -> None:
    remembered = table("user", "memories", "such as", right=["memories"])
    changed = table("user", "no longer", "instead", "since")
    for user in users:
        best = by_importance(user.memories)[:FEW]
        such = Text("\n").join(Text(one_line(memory.content, WIDTH)) for memory in best)
        remembered.add_row(user.user_id, str(len(user.memories)), such)
        for old, new in [pair for pair in user.superseded if pair[1] is not None][-FEW - 1 :]:
            instead = new or old
            changed.add_row(user.user_id, one_line(old.content), one_line(instead.content), day(instead.created_at))
    console.print(heading("Remembered"), remembered, sep="\n")
    if not any(user.memories for user in users):
        console.print(Text(NOTHING_EXTRACTED, style="dim"))
    if changed.row_count:
        console.print(heading("No longer true"), changed, sep="\n")


def _show_user(console: Console, user: UserView) -> None:
    chosen = sorted(by_importance(user.memories)[:SHOWN_MEMORIES], key=lambda memory: memory.created_at)
    console.print(heading("Remembered"), memory_table(chosen), sep="\n")
    if len(user.memories) > len(chosen):
        console.print(Text(f"and {len(user.memories) - len(chosen)} more", style="dim"))
    if user.superseded:
        console.print(heading("No longer true"), superseded_table(user.superseded[-SHOWN_SUPERSEDED:]), sep="\n")
    if user.summaries:
        console.print(heading("Threads"), *(summary_lines(summary, points=1) for summary in user.summaries), sep="\n")
    if user.profile:
        console.print(heading("Profile"), profile_view(user.profile, points=3), sep="\n")


def _show_answer(console: Console, answer: Answer, *, full: bool) -> None:
    past = f" (as of {day(answer.question.as_of)})" if answer.question.as_of else ""
    console.print()
    console.print(Text.assemble(f"{answer.question.user_id}: ", (one_line(answer.question.text), "bold"), past))
    console.print(context_view(answer.context) if full else context_digest(answer.context, answer.told))


def _show_next(console: Console, tour: Tour, *, full: bool) -> None:
    first = tour.answers[0].question if tour.answers else Question(tour.users[0].user_id, "What do you know about me?")
    of_user = ("--user", first.user_id, "--store", tour.store)
    explore = invocation("explore", tour.store)
    if find_spec("fastapi") is None:
        explore += f"  # first: {how_to_install('server')}"
    commands = [
        invocation("context", first.text, *of_user),
        explore,
        invocation("show", "--superseded", *of_user),
        invocation("ingest", "FILE", "--store", tour.store),
    ]
    if not full:
        commands.append(invocation("quickstart", "--full"))
    console.print(heading("Try next"))
    for command in commands:
        console.print(f"  {command}", soft_wrap=True)
    console.print(heading("See it in a browser"))
    console.print(f"  {tour.page}", soft_wrap=True)


_WORD = linear(r"\p{L}[\p{L}\p{M}'’-]*")
_SENTENCE = linear(r"[^.!?…。！？\n]+")
_SHORTEST = 4
"""Minimum letters of a word worth asking about; names may be shorter."""
_SHORTEST_NAME = 3
_LONGEST = 24
_READ_CHARACTERS = 50_000
"""How much of a transcript is read to find questions. Reading more does not give better ones."""


def subjects(memories: Iterable[Remembered], texts: Iterable[str]) -> list[str]:
    """Names and words to ask about, the best first, each once.

    Args:
        memories: What is remembered; each gives one word, the most important first.
        texts: What was said; used if nothing of it is remembered.
    """
    held = by_importance([*memories])
    remembered = " ".join(one.content.casefold() for one in held)
    words = [_best_word(one.content, {tag.casefold() for tag in one.tags}) for one in held]
    words += [word for word in _words_of_talk(texts) if word.casefold() not in remembered]
    found: dict[str, str] = {}
    for word in filter(None, words):
        found.setdefault(word.casefold(), word)
    return list(found.values())


def _best_word(text: str, tags: set[str]) -> str | None:
    """A name if the text holds one, else its longest word; words that are tags come first."""
    words = list(_words(text))
    return (
        max(words, key=lambda word: (word[0].casefold() in tags, word[1], len(word[0])), default=("", False))[0] or None
    )


def _words_of_talk(texts: Iterable[str]) -> list[str]:
    """Words that were said: names first, then more frequent words, then longer ones."""
    counts: Counter[tuple[str, bool]] = Counter()
    left = _READ_CHARACTERS
    for text in texts:
        if left <= 0:
            break
        counts.update(_words(text[:left]))
        left -= len(text)
    return [word for word, _ in sorted(counts, key=lambda word: (-word[1], -counts[word], -len(word[0])))]


def _words(text: str) -> Iterator[tuple[str, bool]]:
    """Words that are long enough, each with whether it is written as a name: with a capital, but not as the first."""
    for sentence in _SENTENCE.findall(text):
        for position, word in enumerate(_WORD.findall(sentence)):
            is_name = position > 0 and word[0].isupper() and not word.isupper()
            if (_SHORTEST_NAME if is_name else _SHORTEST) <= len(word) <= _LONGEST:
                yield word, is_name
