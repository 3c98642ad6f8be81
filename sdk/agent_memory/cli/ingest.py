"""`agent-memory ingest`: transcripts into a store."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, sleep
from typing import TYPE_CHECKING, Annotated

import typer

from agent_memory.cli.failures import FAILED, unfinished, with_hint
from agent_memory.cli.options import (
    DEFAULT_STORE,
    DEFAULT_USER,
    JsonOption,
    StoreOption,
    any_store,
    examples,
    invocation,
    is_url,
)
from agent_memory.cli.terminal import counted, emit, progress, stdout
from agent_memory.cli.views import table
from agent_memory.errors import ConfigurationError, Conflict, ModelError
from agent_memory.transfer.readers import Format

if TYPE_CHECKING:
    from agent_memory import Memory
    from agent_memory.models import Health, TurnInput
    from agent_memory.sync import ThreadScope
    from agent_memory.transfer.readers.utterances import Utterance

EXAMPLES = examples(
    "ingest chat.jsonl --user ann",
    "ingest conversations.json --format chatgpt --user ann --store ann.db",
    "ingest samples/conversations/*.jsonl --no-process",
)
DryRunOption = Annotated[
    bool, typer.Option("--dry-run", help="Only read everything and count what it contains. Nothing is written.")
]
TimeoutOption = Annotated[
    float | None,
    typer.Option(
        "--timeout",
        metavar="SECONDS",
        min=1,
        help="Stop processing after this time; what is left can be processed later.",
    ),
]
BATCH = 200
"""Turns per call, so that the progress bar moves."""
BACKFILL_PACE = 200
"""Turns per second of an import into a server: a third of what one lease of the change feed can count
(docs/scale.md)."""
SHOWN_USERS = 5


@dataclass(frozen=True, slots=True)
class Ingested:
    """What an ingest did. `turns_per_second` counts new turns; None if there were none.

    `changed` counts turns whose id another turn with another text has, in the store or in the file. `given_up_turns`
    counts those that became dead letters.
    """

    turns: int
    created: int
    already_there: int
    users: list[str]
    threads: int
    writing_seconds: float
    processing_seconds: float
    turns_per_second: float | None
    unprocessed_turns: int
    changed: int = 0
    given_up_turns: int = 0


def ingest(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE", help="Transcripts: JSON, JSON lines, CSV or a zip; - is stdin.")
    ],
    store: StoreOption = DEFAULT_STORE,
    user: Annotated[
        str | None,
        typer.Option(
            "--user", metavar="ID", help=f"Whose memory; default: the user in the file, else '{DEFAULT_USER}'."
        ),
    ] = None,
    format: Annotated[
        Format | None,
        typer.Option(
            "--format", help="The format of the files; guessed by default. Turns, CSV, Zep and ShareGPT are `messages`."
        ),
    ] = None,
    process: Annotated[bool, typer.Option("--process/--no-process", help="Whether to derive memories now.")] = True,
    pace: Annotated[
        float | None,
        typer.Option(
            "--pace",
            metavar="TURNS",
            min=0.1,
            help="Maximum turns written per second, to leave room for live traffic;"
            f" default: {BACKFILL_PACE} with --no-process and a URL, otherwise unlimited.",
        ),
    ] = None,
    timeout: TimeoutOption = None,
    dry_run: DryRunOption = False,
    as_json: JsonOption = False,
) -> None:
    """Read conversations and turn them into memories.

    Understands turns and chat messages (JSON, JSON lines or CSV), the exports of ChatGPT and Claude (zip or
    conversations.json), lists of OpenAI's API, agent files of Letta, threads of Zep, ShareGPT and LoCoMo. Reading the
    same file again adds nothing; if a line cannot be read, the command stops before it writes anything. The exit status
    is 1 if turns were given up, because a model gave no usable answer for them, or if a model fails.
    """
    utterances = read_all(files, format)
    if dry_run:
        threads = {(utterance.user_id, utterance.thread_id) for utterance in utterances}
        show_counts({"turn": len(utterances), "thread": len(threads)}, as_json=as_json)
        return
    if pace is None and not process and is_url(store):
        pace = BACKFILL_PACE
    with any_store(store) as memory:
        result = write(memory, utterances, user, process=process, pace=pace, timeout=timeout)
    if as_json:
        emit(result)
    else:
        console = stdout()
        console.print(summary(result))
        if result.unprocessed_turns:
            waiting = counted(result.unprocessed_turns, "waiting turn")
            console.print(f"{waiting}: {invocation('process', '--store', store)}")
    end_if_given_up(result.given_up_turns, store, as_json=as_json)


def end_if_given_up(turns: int, store: str, *, as_json: bool) -> None:
    """If turns became dead letters, says so, unless JSON has said it, and ends the command with the exit status 1."""
    if not turns:
        return
    if not as_json:
        where = invocation("dead-letters", "--store", store)
        stdout().print(f"{counted(turns, 'turn')} could not be processed: {where}", soft_wrap=True)
    raise typer.Exit(FAILED)


def show_counts(counts: Mapping[str, int], *, as_json: bool) -> None:
    """Prints what files hold, of each kind."""
    if as_json:
        emit(counts)
        return
    made = table("what", "in the file", right=["in the file"])
    for kind, number in counts.items():
        made.add_row(kind, str(number))
    stdout().print(made)


def read_all(files: Iterable[Path], format: Format | None = None) -> list[Utterance]:
    """Reads all files before anything is written. Raises InvalidInput: at the first part that cannot be read."""
    from agent_memory.transfer.readers.transcripts import read_transcript

    found: list[Utterance] = []
    for file in files:
        if str(file) != "-":
            found += read_transcript(file, format)
            continue
        with TemporaryDirectory() as folder:  # readers look at a file more than once
            copy = Path(folder) / "stdin"
            copy.write_bytes(sys.stdin.buffer.read())
            found += read_transcript(copy, format)
    return found


def write(
    memory: Memory,
    utterances: list[Utterance],
    user: str | None,
    *,
    process: bool = True,
    pace: float | None = None,
    timeout: float | None = None,
) -> Ingested:
    """Writes utterances into their threads and, if asked, waits until they are processed; with progress bars.

    Otherwise it marks the turns as imported: a function app processes live conversations first. `pace` is the maximum
    number of turns per second, `timeout` how long to wait for processing, in seconds.
    """
    batch = BATCH if pace is None else max(1, min(BATCH, int(pace)))

    def scope(utterance: Utterance) -> tuple[str, str]:
        return user or utterance.user_id or DEFAULT_USER, utterance.thread_id

    began, created, changed, done = perf_counter(), 0, 0, 0
    ordered = sorted(utterances, key=scope)  # stable: a thread keeps its order
    threads = {scope(utterance) for utterance in utterances}
    with (
        unfinished(lambda: f"At least {done} of {counted(len(ordered), 'turn')} are written and kept."),
        progress("Writing turns") as show,
    ):
        for (user_id, thread_id), group in groupby(ordered, key=scope):
            turns = [utterance.turn for utterance in group]
            if not process:
                turns = [turn.model_copy(update={"backfill": True}) for turn in turns]
            thread = memory.user(user_id).thread(thread_id)
            for start in range(0, len(turns), batch):
                if pace is not None:
                    sleep(max(0.0, began + done / pace - perf_counter()))
                part = turns[start : start + batch]
                new, others = _added(thread, part)
                created, changed = created + new, changed + others
                show(done := done + len(part), len(ordered))
    written = perf_counter()
    users = sorted({user_id for user_id, _ in threads})
    if process:
        try:
            left, given_up = process_all(memory, timeout)
        except ConfigurationError as refused:  # a server does this for its operator alone
            with_hint(
                refused, "all turns are written, and the server processes them; --no-process does not wait for that"
            )
            raise
    else:
        left, given_up = sum(memory.user(name).stats().unprocessed_turns for name in users), 0
    finished = perf_counter()
    return Ingested(
        turns=len(ordered),
        created=created,
        already_there=len(ordered) - created,
        users=users,
        threads=len(threads),
        writing_seconds=round(written - began, 3),
        processing_seconds=round(finished - written, 3),
        turns_per_second=round(created / (finished - began), 1) if created else None,
        unprocessed_turns=left,
        changed=changed,
        given_up_turns=given_up,
    )


def _added(thread: ThreadScope, turns: list[TurnInput]) -> tuple[int, int]:
    """Writes turns; how many are new, and how many have the id of a turn with another text.

    Turns never change, so such a one is kept beside the other, under an id made from its words. A chat service can
    export an answer before it is finished, and again under the same id when it is.
    """
    from agent_memory.store.ids import derived_id

    try:
        return thread.add_many(turns).created, 0
    except Conflict:
        created = changed = 0
        for turn in turns:
            try:
                created += thread.add_many([turn]).created
            except Conflict:
                changed += 1
                kept = turn.model_copy(update={"id": derived_id("turn", str(turn.id), turn.role, turn.content)})
                created += thread.add_many([kept]).created
        return created, changed


def process_all(memory: Memory, timeout: float | None = None) -> tuple[int, int]:
    """Waits until everything written is processed, for `timeout` seconds at most, with a bar.

    Returns how many turns are left, and how many were given up.

    Raises:
        ModelError: if turns are left because a model fails.
    """
    most = now = 0
    known = {letter.id for letter in memory.dead_letters()}
    with (
        unfinished(lambda: f"All turns are written; {now or 'some'} are waiting to be processed."),
        progress("Remembering") as show,
    ):

        def tell(left: int) -> None:
            nonlocal most, now
            most, now = max(most, left), left
            show(most - left, most)

        left = memory.drain(timeout, progress=tell)
    if left:
        _require_models(memory.health(), left)
    fresh = [letter for letter in memory.dead_letters() if letter.id not in known]
    return left, len({(letter.user_id, letter.thread_id, turn) for letter in fresh for turn in letter.turn_ids})


def _require_models(health: Health, left: int) -> None:
    failing = {name: model.fault for name, model in health.models.items() if model.answers is False}
    refused = [name for name, fault in failing.items() if fault == "credentials"]
    if refused:
        stopped = ModelError(f"the model for {' and '.join(refused)} refuses the key; all turns are stored")
        raise with_hint(stopped, f"set a valid key, then: {invocation('process')}; `doctor` asks each model")
    if failing:
        models = " and ".join(f"{name} fails ({fault})" for name, fault in failing.items())
        stopped = ModelError(f"the model for {models}; all turns are stored, {counted(left, 'turn')} not processed")
        raise with_hint(stopped, f"`doctor` asks each model; when all answer: {invocation('process')}")


def summary(result: Ingested) -> str:
    """What an ingest did, in two lines; one if there was nothing to do."""
    users = ", ".join(result.users) if len(result.users) <= SHOWN_USERS else counted(len(result.users), "user")
    done = (
        f"{counted(result.turns, 'turn')} in {counted(result.threads, 'thread')} of {users}: "
        f"{result.created} new, {result.already_there} already there"
    )
    if result.changed:
        done += f"\n{counted(result.changed, 'turn')} have an id that another text has: both are kept"
    if not result.created:
        return done
    taken = f"written in {result.writing_seconds:.1f} s, processed in {result.processing_seconds:.1f} s"
    if result.unprocessed_turns or not result.processing_seconds:
        taken = f"written in {result.writing_seconds:.1f} s"
    return f"{done}\n{taken}"
