"""What all adapters share: whose memory it is, a recall that never fails, and writes that never fail a run.

A framework's ids may contain what an id here may not: a slash, a question mark, a control character, two underscores at
the beginning, a space at the end. Such characters are written as `%` and two hexadecimal digits for each of their
bytes, as in a URL. An id without them stays as it is, so `alice@example.com` is the same user in every adapter and
without one.
"""

from __future__ import annotations

import asyncio
import concurrent.futures.thread  # noqa: F401 - its end is registered first, so it comes after ours
import logging
import re
import threading
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from concurrent.futures import Future, wait
from contextvars import copy_context
from copy import copy
from typing import Any, TypeVar, cast

from agent_memory.errors import ConfigurationError, Conflict, InvalidInput, StoreUnavailable
from agent_memory.memory import AsyncMemory
from agent_memory.recall.context import DEFAULT_BUDGET
from agent_memory.screening.injected import without_blocks
from agent_memory.store.ids import check_id, derived_id
from agent_memory.store.turns import fitted
from agent_memory.sync import Memory
from agent_memory.text.patterns import linear

logger = logging.getLogger("agent_memory.integrations")

T = TypeVar("T")
AnyMemory = Memory | AsyncMemory
Turn = dict[str, Any]
"""A turn as `add_many` takes it."""


def owner(user_id: object, how: str) -> str:
    """The id of the user of a run.

    There is no default: a default user would be one whose memory everybody shares.

    Raises:
        InvalidInput: if there is none; `how` says how to set it.
    """
    if not isinstance(user_id, str) or not user_id.strip():
        raise InvalidInput(f"no user id, so nobody's memory can be used: {how}")
    return encode_id(user_id, "the user id")


def given(context: object, name: str) -> Any:
    """What the context of a run says under this name, in a mapping or an object; None if nothing."""
    return context.get(name) if isinstance(context, Mapping) else getattr(context, name, None)


def turn_id(*parts: str) -> str:
    """The id of a turn without one: the same for the same conversation, place and words."""
    return derived_id("turn", *parts)


def turn(
    role: str, content: str, id: str, parts: Sequence[Mapping[str, Any]] | None = None, **metadata: Any
) -> Turn | None:
    """A turn without the memories that were put into it; None if nothing is left to keep."""
    said = without_blocks(content)
    if not said.strip():
        return None
    made = {"role": role, "content": said, "id": id, "metadata": metadata}
    kept = [{**part, **_without_blocks(part)} for part in parts or ()]
    return made | {"parts": kept} if kept else made


def _without_blocks(part: Mapping[str, Any]) -> dict[str, str]:
    return {name: without_blocks(part[name]) for name in ("text", "content") if isinstance(part.get(name), str)}


KEEP_SECONDS = 10.0
"""How long a run waits until its messages are stored. A choice: far above a busy store's time for a write."""
ANSWER_SECONDS = 30.0
"""How long a run waits for an answer: a history, a tool call. A choice: longer than `KEEP_SECONDS`, because a run
that goes on without the answer does not get it later."""
_SLOW = "Memory is slow: storing %d turns goes on while the run continues"
_LATE = "memory did not answer within %g s; if the call changes memories, it may still do so"
_storing: set[asyncio.Future[None]] = set()
"""What is being stored. The event loop alone would not keep it from being collected."""
_apart: set[Future[Any]] = set()
"""What runs in threads of its own. The process waits for it at its end, but not for ever."""


class Bridge:
    """A memory, synchronous or not, as the adapters use it: from coroutines, and (`now`) from functions."""

    def __init__(self, memory: AnyMemory, *, budget: int = DEFAULT_BUDGET, agent_id: str | None = None) -> None:
        """Uses an open memory.

        Args:
            memory: An open memory.
            budget: The maximum tokens recalled for a question.
            agent_id: The agent that talks; stored with its turns.

        Raises:
            ConfigurationError: if this is not a memory.
        """
        if not isinstance(memory, Memory | AsyncMemory):
            raise ConfigurationError(f"an adapter needs an open Memory or AsyncMemory, not {memory!r:.60}")
        self.memory = memory
        self._direct = False
        self.budget = budget
        self.agent_id = None if agent_id is None else encode_id(agent_id, "agent_id")

    def user(self, user_id: str) -> Any:
        """The scope of a user, for `ask`."""
        return self.memory.user(user_id)

    def thread(self, user_id: str, thread_id: str) -> Any:
        """The scope of a conversation, for `ask`."""
        return self.memory.user(user_id).thread(encode_id(thread_id, "the id of the thread"), agent_id=self.agent_id)

    @property
    def now(self) -> Bridge:
        """The same for functions: its coroutines never wait, so `complete` runs them.

        Raises:
            ConfigurationError: if the memory is asynchronous, because then only coroutines can use it.
        """
        if isinstance(self.memory, AsyncMemory):
            raise ConfigurationError("this adapter is synchronous: open a Memory, not an AsyncMemory")
        direct = copy(self)
        direct._direct = True
        return direct

    async def ask(self, method: Callable[..., Any], *args: Any, **options: Any) -> Any:
        """Calls a method of a scope and waits for at most `ANSWER_SECONDS`.

        Raises:
            StoreUnavailable: if there is no answer in time.
            AgentMemoryError: as the method.
        """
        try:
            if self._direct:
                return _run_apart(lambda: method(*args, **options)).result(ANSWER_SECONDS)
            async with asyncio.timeout(ANSWER_SECONDS):
                return await self._call(method, *args, **options)
        except TimeoutError as error:
            raise StoreUnavailable(_LATE % ANSWER_SECONDS) from error

    async def _call(self, method: Callable[..., Any], *args: Any, **options: Any) -> Any:
        """Calls a method of a scope; a synchronous one in a thread, so that the event loop is not blocked."""
        if self._direct:
            return method(*args, **options)
        if isinstance(self.memory, AsyncMemory):
            return await method(*args, **options)
        return await asyncio.wrap_future(_run_apart(lambda: method(*args, **options)))

    async def told(self, user_id: str, thread_id: str, query: str) -> str:
        """What is relevant to a question: a block of quoted text, empty if nothing is. Never raises.

        The last turns of the thread are not in it: the framework adds those itself.
        """
        if not query.strip():
            return ""
        return await survive(self._context(user_id, thread_id, query), "recall", "")

    async def _context(self, user_id: str, thread_id: str, query: str) -> str:
        method = self.thread(user_id, thread_id).context
        return str((await self.ask(method, query, budget=self.budget)).text)

    async def keep(self, user_id: str, thread_id: str, turns: Sequence[Turn | None]) -> None:
        """Stores turns, cut where they are too large. What cannot be stored is logged and does not fail the run.

        A run waits for a slow store for at most `KEEP_SECONDS`. Storing goes on after that, and after a cancelled run.
        """
        kept = [fitted(one) for one in turns if one is not None]
        if not kept:
            return
        storing = survive(self._add(user_id, thread_id, kept), f"keep {len(kept)} turns", None)
        if self._direct:
            _store_apart(storing, len(kept))
            return
        task = asyncio.ensure_future(storing)
        _storing.add(task)
        task.add_done_callback(_storing.discard)
        finished, _ = await asyncio.wait([task], timeout=KEEP_SECONDS)
        if finished:
            task.result()
        else:
            logger.warning(_SLOW, len(kept))

    async def _add(self, user_id: str, thread_id: str, turns: Sequence[Turn]) -> None:
        try:
            await self._call(self.thread(user_id, thread_id).add_many, turns)
        except (InvalidInput, Conflict):
            if len(turns) == 1:
                raise
            for one in turns:  # those that can be stored are
                await survive(self._add(user_id, thread_id, [one]), "keep a turn", None)


async def survive(work: Awaitable[T], what: str, instead: T, *raised: type[Exception]) -> T:
    """Awaits work on the memory. If it fails, logs this and returns `instead`: the agent continues without memory.

    Raises:
        ConfigurationError: if this is the error; and errors of the types in `raised`.
    """
    try:
        return await work
    except Exception as error:
        if isinstance(error, (ConfigurationError, *raised)):
            raise
        logger.warning("Memory could not %s, going on without: %s: %s", what, type(error).__name__, error)
        return instead


def complete(work: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine that never waits, like those of `Bridge.now`."""
    try:
        work.send(None)
    except StopIteration as done:
        return cast(T, done.value)
    work.close()
    raise RuntimeError("the coroutine waits: it is not one of Bridge.now")


def _store_apart(storing: Coroutine[Any, Any, None], count: int) -> None:
    """Stores in a thread, so that a function waits no longer than a coroutine does."""
    try:
        _run_apart(lambda: complete(storing)).result(KEEP_SECONDS)
    except TimeoutError:
        logger.warning(_SLOW, count)


def _run_apart(work: Callable[[], T]) -> Future[T]:
    """Runs work in a thread of its own: the threads of an executor would keep the process from ending."""
    done: Future[T] = Future()
    done.set_running_or_notify_cancel()

    def run() -> None:
        try:
            result = work()
        except BaseException as error:
            done.set_exception(error)
        else:
            done.set_result(result)

    _apart.add(done)
    done.add_done_callback(_apart.discard)
    threading.Thread(target=copy_context().run, args=(run,), name="agent-memory-call", daemon=True).start()
    return done


def _finish() -> None:
    """Waits at the end of the process for what is still being stored, for at most `KEEP_SECONDS`."""
    _, hung = wait(set(_apart), timeout=KEEP_SECONDS)
    if hung:
        logger.warning("Memory did not answer: the process ends while %d calls are unfinished", len(hung))


threading._register_atexit(_finish)  # type: ignore[attr-defined]  # `atexit` is too late: executors take no work then


def text_of(content: object) -> str:
    """The text of a message's content: a string, or a list of parts of which some have text."""
    if isinstance(content, str):
        return content
    if not isinstance(content, Sequence):
        return ""
    texts = (part if isinstance(part, str) else part.get("text") for part in content if isinstance(part, str | Mapping))
    return "\n".join(text for text in texts if isinstance(text, str) and text)


_FORBIDDEN = frozenset("/\\?#\x7f") | {chr(code) for code in range(0x20)}
_HEX = frozenset("0123456789abcdefABCDEF")
_CODE = linear(r"(?:%[0-9A-Fa-f]{2})+")


def encode_id(value: str, what: str = "the id") -> str:
    """An id from any text, the same for the same text. `decode_id` returns the text.

    Raises:
        InvalidInput: naming `what`, if the text is empty, or its id would be longer than 255 characters.
    """
    if not isinstance(value, str) or not value:
        raise InvalidInput(f"{what} must be a text that is not empty, not {value!r:.60}")
    return check_id("".join(_coded(value, at) for at in range(len(value))), what)


def decode_id(encoded: str) -> str:
    """The text that `encode_id` or `encode_label` made an id of."""
    return _CODE.sub(_decoded, encoded)


def encode_label(value: str, what: str = "the label") -> str:
    """An id that also works in a namespace of LangGraph, which allows no full stop.

    Raises:
        InvalidInput: as `encode_id`.
    """
    return encode_id(value, what).replace(".", "%2E")


def _coded(value: str, at: int) -> str:
    character, behind = value[at], value[at + 1 : at + 3]
    reads_as_code = character == "%" and len(behind) == 2 and _HEX.issuperset(behind)
    reserved = at == 0 and value.startswith("__")
    ends = character == " " and at == len(value) - 1
    if not (reads_as_code or reserved or ends or character in _FORBIDDEN or "\ud800" <= character <= "\udfff"):
        return character
    return "".join(f"%{byte:02X}" for byte in character.encode("utf-8", "surrogatepass"))


def _decoded(found: re.Match[str]) -> str:
    return bytes.fromhex(found[0].replace("%", "")).decode("utf-8", "surrogatepass")
