"""What several commands share: their options, the open store, and the user."""

from __future__ import annotations

import asyncio
import getpass
import json
import os
import shlex
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agent_memory.cli.failures import with_hint
from agent_memory.cli.terminal import stderr
from agent_memory.cli.views import show_utc, show_zone_of
from agent_memory.errors import AgentMemoryError, ConfigurationError, InvalidInput, ModelError, NotFound

if TYPE_CHECKING:
    from agent_memory import Memory
    from agent_memory.language.tasks import ChatModel, EmbeddingModel
    from agent_memory.settings import PolicySettings
    from agent_memory.sync import UserScope

if TYPE_CHECKING:
    from agent_memory import Memory
    from agent_memory.language.tasks import Embedded
    from agent_memory.settings import PolicySettings

DEFAULT_STORE = "memory.db"
DEFAULT_USER = "me"
"""The user of a transcript if neither the file nor the caller names one."""

REPEAT = "; may be given several times"
TYPES = "fact, episodic, procedural, reflection, document"
"""The types of memories that a user has; the models that name them take long to import."""

PATIENCE_SECONDS = 600.0
"""The time limit of a context here: at a terminal a late answer is better than none."""


def parse_date(text: str | datetime) -> datetime:
    """Reads a date, meaning its end, or a date and time. Without a zone it is a time where the user is (`in_zone`).

    Raises:
        typer.BadParameter: if it is neither.
    """
    if isinstance(text, datetime):
        return text
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a date like 2026-04-01 or 2026-04-01T12:00:00Z") from None
    if len(text.strip()) <= len("2026-04-01"):
        moment = datetime.combine(moment.date(), time.max)
    return moment


def parse_since(text: str | datetime) -> datetime:
    """Reads a date, meaning its beginning, or a date and time, as `parse_date`.

    Raises:
        typer.BadParameter: if it is neither.
    """
    moment = parse_date(text)
    is_day = isinstance(text, str) and len(text.strip()) <= len("2026-04-01")
    return datetime.combine(moment.date(), time.min) if is_day else moment


def parse_filter(text: str | dict[str, Any]) -> dict[str, Any]:
    """Reads a filter.

    Raises:
        typer.BadParameter: if it is not a JSON object. The memory checks its content.
    """
    if isinstance(text, dict):
        return text
    try:
        read = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise typer.BadParameter(f"not JSON: {error}") from None
    if not isinstance(read, dict):
        raise typer.BadParameter('a filter is a JSON object, like {"kind": "preference"}')
    return read


StoreOption = Annotated[
    str,
    typer.Option(
        "--store",
        metavar="PATH|URL",
        envvar="AGENT_MEMORY_STORE",
        help="The store file, or the URL of a server (with its key in MEMORY_KEY).",
    ),
]
UserOption = Annotated[
    str | None,
    typer.Option("--user", metavar="ID", help="Whose memory; not needed if the store has only one user."),
]
NewUserOption = Annotated[
    str | None,
    typer.Option(
        "--user", metavar="ID", help=f"Whose memory; not needed if the store has one user, or none ('{DEFAULT_USER}')."
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print only JSON on stdout; errors are JSON too.")]
AsOfOption = Annotated[
    datetime | None,
    typer.Option(
        "--as-of",
        metavar="DATE",
        parser=parse_date,
        help="Show what was true at the end of this day in the user's time zone, like 2026-04-01.",
    ),
]


FilterOption = Annotated[
    dict[str, Any] | None,
    typer.Option(
        "--filter",
        metavar="JSON",
        parser=parse_filter,
        help='Only memories that match: \'{"metadata": {"city": "Lisbon"}}\'. The docs describe filters.',
    ),
]


AgentOption = Annotated[
    str | None, typer.Option("--agent", metavar="ID", help="Only from conversations with this agent.")
]
ProjectOption = Annotated[
    str | None, typer.Option("--project", metavar="ID", help="Only from conversations in this project.")
]
SinceOption = Annotated[
    datetime | None,
    typer.Option("--since", metavar="DATE", parser=parse_since, help="Said on that day or later, like 2026-04-01."),
]
UntilOption = Annotated[
    datetime | None,
    typer.Option("--until", metavar="DATE", parser=parse_date, help="Said until the end of that day."),
]
TypesOption = Annotated[
    list[str] | None, typer.Option("--type", metavar="TYPE", help=f"Only this type: {TYPES}{REPEAT}.")
]
StoreFileOption = Annotated[
    str,
    typer.Option("--store", metavar="PATH", envvar="AGENT_MEMORY_STORE", help="The store file; created if missing."),
]
BudgetOption = Annotated[int, typer.Option("--budget", metavar="TOKENS", min=1, help="Token budget of a context.")]
ConversationsOption = Annotated[
    int | None, typer.Option("--limit-conversations", metavar="N", min=1, help="Only the first N conversations.")
]


def examples(*commands: str) -> str:
    """The examples at the end of a command's help."""
    keep_lines = "\b"  # tells the help formatter not to wrap what follows
    return "\n".join([keep_lines, "Examples:", *(f"  agent-memory {command}" for command in commands)])


def is_url(store: str) -> bool:
    """Whether a store is a server's URL."""
    return store.startswith(("http://", "https://"))


def no_store(path: str) -> AgentMemoryError:
    """The error for a path where there is no store, with the command that creates one."""
    missing = InvalidInput(f"there is no store at {path}")
    return with_hint(missing, f"create one with: {invocation('ingest', 'FILE', '--store', path)}")


@contextmanager
def existing_store(path: str, *, needs_model: bool = True) -> Iterator[Memory]:
    """Opens a store that must exist: a mistyped path must not become a new, empty store.

    A command that `needs_model` not works also where the embedding model of the store is gone.
    """
    if not is_url(path) and not Path(path).exists():
        raise no_store(path)
    with any_store(path, needs_model=needs_model) as memory:
        yield memory


@contextmanager
def any_store(path: str, *, offline: bool = False, needs_model: bool = True) -> Iterator[Memory]:
    """Opens a store, or creates one if there is none at the path, with the models set in the environment.

    With `offline`, it uses models that need no service. The audit names the account that runs the command.
    """
    from agent_memory import Memory
    from agent_memory.language.defaults import models_named_by
    from agent_memory.settings import Environment

    show_utc()

    if is_url(path):
        opened = Memory.remote(path, os.environ.get("MEMORY_KEY"))
    else:
        environment = Environment()
        patient = replace(environment.recall, context_timeout=PATIENCE_SECONDS)
        try:
            chat, embeddings = (None, None) if offline else models_named_by(environment)
            if not Path(path).exists():
                _announce(chat, embeddings)
            opened = Memory.local(
                path, chat_model=chat, embedding_model=embeddings, policy=environment.policy, recall=patient
            )
        except ConfigurationError as error:
            opened = _otherwise(path, error, None if needs_model else environment.policy)
    with acting_as_operator(), opened as memory:
        yield memory


def _otherwise(path: str, error: ConfigurationError, modelless: PolicySettings | None) -> Memory:
    """The store, through the process that has it open, if that process shares it.

    With a policy for it, a store file whose embedding model does not fit is opened without one.
    """
    from agent_memory import Memory
    from agent_memory.sharing.note import find_host
    from agent_memory.sharing.shared import is_in_use

    if modelless is not None and not is_in_use(error):
        from agent_memory.cli.options import without_its_model

        return without_its_model(path, modelless, error)
    host = find_host(Path(path)) if is_in_use(error) else None
    if host is None:
        raise error
    return Memory.remote(host.url, host.key)


def _announce(chat: ChatModel | None, embeddings: EmbeddingModel | None) -> None:
    """Prints which services a new store will call: a key in the environment may be meant for something else."""
    from agent_memory.language.roles import models_of

    named = [*(models_of(chat).values() if chat is not None else ()), *([embeddings] if embeddings is not None else [])]
    services = list(dict.fromkeys(model.model_id for model in named if hasattr(model, "health")))
    if services:
        stderr().print(
            f"This store is new. It calls {' and '.join(services)}, because the environment has a service or a key for"
            " it. To stay on this machine: AGENT_MEMORY_CHAT=local:rules AGENT_MEMORY_EMBEDDINGS=local:minilm",
            soft_wrap=True,
        )


@contextmanager
def acting_as_operator() -> Iterator[None]:
    """Records the account that runs the command as the one who acts."""
    from agent_memory.audit import Actor, acting

    try:
        name = getpass.getuser()
    except (OSError, KeyError):  # some containers have no such account
        name = "unknown"
    with acting(Actor(name, "cli")):
        yield


class _Empty(InvalidInput):
    """The store has no users."""


def one_user(memory: Memory, given: str | None) -> UserScope:
    """The user: the given one, or the only one in the store.

    Raises:
        NotFound: if the store has no such user. A server tells its users to an operator alone; then it is not checked.
    """
    try:
        users = memory.users()
    except ConfigurationError as refused:
        if given is None:
            with_hint(refused, "name the user with --user")
            raise
        return _shown(memory.user(given))
    if given is not None:
        if given not in users:
            raise with_hint(NotFound(f"this store has no user {given!r}"), f"its users: {', '.join(users) or 'none'}")
        return _shown(memory.user(given))
    if not users:
        raise with_hint(_Empty("this store is empty"), f"try: {invocation('ingest', 'FILE')}")
    if len(users) > 1:
        raise with_hint(InvalidInput(f"which user? This store has {', '.join(users)}"), "name one with --user")
    return _shown(memory.user(users[0]))


def new_user(memory: Memory, given: str | None) -> UserScope:
    """The user of a command that may write the first document: the given one, the only one, or the default one."""
    if given is not None:
        return _shown(memory.user(given))
    try:
        return one_user(memory, None)
    except _Empty:
        return _shown(memory.user(DEFAULT_USER))


def _shown(scope: UserScope) -> UserScope:
    show_zone_of(scope)
    return scope


def invocation(*arguments: str) -> str:
    """A command line that works in this environment, for the reader to copy."""
    name, called = "agent-memory", Path(sys.argv[0])
    if called.name != name:
        program = f"{Path(sys.executable).name} -m agent_memory.cli"
    elif shutil.which(name) == str(called.absolute()):
        program = name
    else:
        program = str(called.relative_to(Path.cwd()) if called.is_relative_to(Path.cwd()) else called)
    return " ".join([program, *map(_quoted, arguments)])


def _quoted(argument: str) -> str:
    if argument.isupper():
        return argument  # a placeholder for the reader's own value
    if "'" in argument and not set(argument) & set('"$`\\!'):
        return f'"{argument}"'  # legible, where the safe way ('"'"') is not
    return shlex.quote(argument)


_LATER = 3600.0
"""Seconds until background work may try again: longer than a command runs."""


class AbsentEmbeddings:
    """Stands for the model that filled a store. Every call fails, and may be repeated once the model is there."""

    def __init__(self, model_id: str, dimensions: int) -> None:
        self.model_id = model_id
        self.dimensions = dimensions

    async def embed(self, texts: list[str]) -> Embedded:
        """Fails, unless there is nothing to embed. Raises ModelError always, for texts."""
        from agent_memory.language.tasks import Embedded
        from agent_memory.models import Usage

        if not texts:
            return Embedded([], Usage())
        raise ModelError(
            f"the store's embedding model, {self.model_id}, is not set", retryable=True, retry_after=_LATER
        )

    async def close(self) -> None:
        """Does nothing."""


def without_its_model(path: str, policy: PolicySettings, problem: ConfigurationError) -> Memory:
    """Opens a store file without its embedding model, and says why.

    Raises:
        ConfigurationError: the problem, if the store does not say which model filled it.
    """
    from agent_memory import AsyncMemory, Memory
    from agent_memory.language.hashing import HashingEmbeddings
    from agent_memory.store.embedding_model import read_identity

    async def identity() -> AbsentEmbeddings | None:
        memory = AsyncMemory.local(path, embedding_model=HashingEmbeddings())
        try:
            store = memory.runtime.store
            await store.open()
            found = await read_identity(store) if await store.exists() else None
        finally:
            await memory.close()
        return None if found is None else AbsentEmbeddings(found["embedding_model"], found["dimensions"])

    model = asyncio.run(identity())
    if model is None:
        raise problem
    stderr().print(
        f"Without its embedding model, the store can only be shown, exported and erased: {problem}", soft_wrap=True
    )
    return Memory.local(path, embedding_model=model, policy=policy)
