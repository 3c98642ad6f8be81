"""Endpoints: what this process knows about a model's service, and the one gate for all calls to it.

After a failure, calls to a service pause: as long as the service asked for, or for a time that grows with each failure.
Then one call tries it, and the others follow when that has succeeded. Until then every call fails immediately, so a
search continues without vectors instead of waiting, and background work comes back later instead of trying again.

Waiting work resumes step by step: one call at a time, and each success allows one more concurrent call.

A service may answer, but with nothing that can be used. After several such inputs in a row it is asked a control
question. If its answer to that cannot be used either, the service is in doubt and pauses like one that fails. After
each pause one piece of work tries it: the control question first, then, if that fails, the work itself, because some
models fail only the question. Only a usable answer ends the doubt; an answer alone does not shorten the pauses.

All adapters of one deployment in this process share the gate: those of several roles, of several memories, and of
synchronous clients, whose event loop is another one (`shared_endpoint`).
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from typing import Protocol, TypeVar
from weakref import WeakValueDictionary

from agent_memory.errors import ConfigurationError, ModelError
from agent_memory.language.retries import RetryPolicy
from agent_memory.models import EndpointHealth, now
from agent_memory.telemetry import model_pauses, models_paused

T = TypeVar("T")
logger = logging.getLogger(__name__)

LONGEST_REQUESTED = timedelta(hours=1).total_seconds()
"""Maximum wait, in seconds, that a service may ask for; then one call tries it. A choice: a gateway with a wrong clock
asks for years."""
QUESTION = "I moved to Lisbon in May, and I work as a gardener."
"""A plain statement, of which every model that works can make something, and that no filter refuses."""
UNUSABLE = "unusable"
"""The fault of a service whose answer to the control question cannot be used."""
MOST_REFUSED = 2
"""Inputs in a row without a usable answer after which a service is asked the control question. A choice: a turn that a
model refuses is searched for in halves, and costs one such question then."""
MOST_REFUSED_UNASKED = 16
"""The same for a service that answered its work right after it had failed the question. A choice: the search for one
turn in halves costs six."""
_TOLERANCE = 0.01
"""Seconds by which a timer may be early."""
FULL_SPEED = 16
"""Concurrent calls at which a recovered service has no limit any more. A choice: four times as many as the worker
makes."""
_NO_NEWS = frozenset({"throttled"})
"""Faults that are common on a busy service: health reports one only if all retries fail."""


class ModelPaused(ModelError):
    """A call that was not made, because the service is being left alone."""


class ModelRefused(ConfigurationError):
    """The service refuses every request, because the key, the name or a setting is wrong.

    This says nothing about the input, so no turn is given up for it. `fault` is one of `EndpointHealth.fault`.
    """

    def __init__(self, message: str, *, fault: str) -> None:
        super().__init__(message)
        self.fault = fault


class Gate(Protocol):
    """Makes a call: at once, or in turn."""

    async def __call__(self, call: Callable[[], Awaitable[T]]) -> T:
        """Returns the answer."""
        ...


async def at_once(call: Callable[[], Awaitable[T]]) -> T:
    """Makes a call at once."""
    return await call()


class Endpoint:
    """The gate to one service. Adapters in several event loops may share it."""

    def __init__(self, retries: RetryPolicy) -> None:
        self._retries = retries
        self._answered = False
        self._since: datetime | None = None
        self._fault: str | None = None
        self._message = ""
        self._pauses = 0
        """Pauses in a row; 0 while it is open to everybody."""
        self._resume = 0.0
        """When it is called again, on the loop's clock."""
        self._probing = False
        self._allowed: int | None = None
        """Maximum concurrent calls while it recovers; None: any number."""
        self._refused_inputs = 0
        """How many inputs in a row got no usable answer."""
        self._doubted = False
        """Whether its answers cannot be used, as far as known: it failed the control question, and all work since."""
        self._fails_question = False
        """Whether it answered its work right after it had failed the control question, which then says little."""
        self._under_way = 0
        """Calls that have not ended, of those that began in turn."""
        self._waiting: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []
        self._lock = threading.RLock()

    def health(self) -> EndpointHealth:
        """What is known of the service now."""
        failing = self._fault is not None and (self._pauses > 0 or self._fault not in _NO_NEWS)
        if not failing:
            return EndpointHealth(answers=True if self._answered else None, recovering=self._allowed is not None)
        return EndpointHealth(
            answers=False,
            failing_since=self._since,
            fault=self._fault,
            next_attempt_at=self._next_attempt() if self._pauses else None,
            pauses=self._pauses,
        )

    async def ask(self, call: Callable[[], Awaitable[T]]) -> T:
        """Makes a call, with retries while the service is not known to fail.

        Raises:
            ModelError: what the call raised at last; retryable, and with the time that is left in `retry_after`, if the
                service is being left alone.
            ModelRefused: the service refuses every call.
        """
        if self._pauses:
            return await self._probe(call)
        try:
            return await self._retries.run(lambda: self._in_turn(call))
        except (ModelError, ModelRefused) as error:
            if _is_fault(error) and not self._pauses:  # the first of several concurrent calls to fail starts the pause
                self._pause(error)
            raise

    async def judge(self, work: Callable[[Gate], Awaitable[T]], control: Callable[[], Awaitable[object]]) -> T:
        """Does a piece of work, and judges the service by whether its answers can be used.

        Args:
            work: makes its calls through the gate that it gets, which is `ask` unless the service is in doubt; raises a
                ModelError that is not retryable if no answer can be used.
            control: asks the control question; raises a ModelError with the fault `UNUSABLE` if its answer cannot be
                used.

        Raises:
            ModelError: as `work`; retryable, if the service is at fault or left alone.
            ModelRefused: the service refuses every call.
        """
        if self._doubted:
            with self._trial():
                try:
                    await control()
                    self._fails_question = False
                except ModelError as fault:
                    if fault.fault != UNUSABLE:
                        raise
                    done = await _or_raise(fault, work)
                    self._fails_question = True
                    self._accepted()
                    return done
                self._accepted()
        try:
            done = await work(self.ask)
        except ModelError as error:
            if not error.retryable:
                await self._refused(error, control)
            raise
        self._accepted()
        return done

    def _accepted(self) -> None:
        """Notes that an input got a usable answer."""
        self._refused_inputs = 0
        if self._doubted:
            self._doubted = False
            self._recover()

    async def _refused(self, error: ModelError, control: Callable[[], Awaitable[object]]) -> None:
        """Notes that an input got no usable answer. After several in a row, asks whether that is the service's fault.

        Raises:
            ModelError: what the control question raised; the service pauses then.
        """
        self._refused_inputs += 1
        if self._refused_inputs <= (MOST_REFUSED_UNASKED if self._fails_question else MOST_REFUSED):
            return
        try:
            await self.ask(control)
        except ModelError as fault:
            self._doubted |= fault.fault == UNUSABLE
            fault.cost = error.cost
            raise
        self._fails_question = False
        self._accepted()

    async def _probe(self, call: Callable[[], Awaitable[T]]) -> T:
        with self._trial():
            return await self._noted(call)

    @contextmanager
    def _trial(self) -> Iterator[None]:
        """Around the one call, or piece of work, that tries the service after a pause.

        Raises:
            ModelError: if the pause is not over, or another one tries it.
        """
        with self._lock:
            if self._probing or self._left() > 0:
                raise self._paused()
            self._probing = True
        try:
            yield
        except (ModelError, ModelRefused) as error:
            if _is_fault(error):
                self._note(error)
                self._pause(error)
            raise
        except asyncio.CancelledError:  # the caller did not wait long enough to learn anything
            self._resume = _clock() + self._retries.pause(self._pauses)
            raise
        finally:
            self._probing = False

    async def _in_turn(self, call: Callable[[], Awaitable[T]]) -> T:
        """Waits for a turn while the service recovers."""
        while (turn := self._begun()) is not None:
            await turn.wait()
        try:
            answer = await self._once(call)
            with self._lock:
                if self._allowed is not None:
                    self._allowed = self._allowed + 1 if self._allowed < FULL_SPEED else None
            return answer
        finally:
            self._ended()

    def _begun(self) -> asyncio.Event | None:
        """Counts a call that begins. If the call must wait, returns what to wait for instead."""
        with self._lock:
            if self._allowed is None or self._under_way < self._allowed:
                self._under_way += 1
                return None
            turn = asyncio.Event()
            self._waiting.append((asyncio.get_running_loop(), turn))
            return turn

    def _ended(self) -> None:
        """Counts a call that ended, and wakes those that wait, each in its own loop."""
        with self._lock:
            self._under_way -= 1
            waiting, self._waiting = self._waiting, []
        here = asyncio.get_running_loop()
        for loop, turn in waiting:
            if loop is here:
                turn.set()
                continue
            with suppress(RuntimeError):  # its loop has been closed
                loop.call_soon_threadsafe(turn.set)

    async def _once(self, call: Callable[[], Awaitable[T]]) -> T:
        if self._left() > _TOLERANCE:  # another call has to wait
            raise self._paused()
        return await self._noted(call)

    async def _noted(self, call: Callable[[], Awaitable[T]]) -> T:
        try:
            answer = await call()
        except (ModelError, ModelRefused) as error:
            if _is_fault(error):
                self._note(error)
            else:
                self._answers()
            raise
        self._answers()
        return answer

    def _answers(self) -> None:
        """Notes that it answered. That ends no doubt, because the answer may be unusable."""
        if not self._doubted:
            self._recover()

    def _note(self, error: ModelError | ModelRefused) -> None:
        self._since = self._since or now()
        self._fault = error.fault or "unknown"
        self._message = str(error)
        if asked := _asked(error):
            self._resume = max(self._resume, _clock() + asked)

    def _recover(self) -> None:
        with self._lock:
            if self._pauses:
                self._allowed = 1
                models_paused.add(-1)
            self._answered = True
            self._since = self._fault = None
            self._pauses, self._resume = 0, 0.0

    def _pause(self, error: ModelError | ModelRefused) -> None:
        with self._lock:
            length = max(self._retries.pause(self._pauses), _asked(error))
            self._resume = max(self._resume, _clock() + length)
            if not self._pauses:
                models_paused.add(1)
            self._pauses += 1
            model_pauses.add(1, {"error.type": error.fault or "unknown"})
            self._allowed = None  # callers in the queue learn it immediately
            logger.warning("%s It is called again in %.0f s.", error, self._left())

    def _left(self) -> float:
        return self._resume - _clock()

    def _next_attempt(self) -> datetime | None:
        try:
            return now() + timedelta(seconds=max(self._left(), 0.0))
        except RuntimeError:  # no caller inside a loop
            return None

    def _paused(self) -> ModelPaused:
        left = max(self._left(), self._retries.first_pause if self._probing else 0.0)
        message = f"{self._message} It is called again in {left:.0f} s."
        return ModelPaused(message, retryable=True, retry_after=left, fault=self._fault)


_Place = tuple[str, str, str, RetryPolicy]
_SHARED: WeakValueDictionary[_Place, Endpoint] = WeakValueDictionary()


def shared_endpoint(address: str, model: str, key: str | None, retries: RetryPolicy | None) -> Endpoint:
    """The gate to a model at an address, which all adapters in the process with the same key and retries share.

    A different key means a different account, with its own quota and refusals. The gate is removed with its last
    adapter.
    """
    policy = retries or RetryPolicy()
    account = hashlib.sha256((key or "").encode()).hexdigest()
    place = (address.rstrip("/"), model, account, policy)
    return _SHARED.setdefault(place, Endpoint(policy))


def _is_fault(error: ModelError | ModelRefused) -> bool:
    """Whether an error is about the service; an answer that cannot be used, or a refusal of this input, is none."""
    return isinstance(error, ModelRefused) or error.retryable


async def _or_raise(fault: ModelError, work: Callable[[Gate], Awaitable[T]]) -> T:
    """Does a piece of work at once. If no answer can be used, raises the fault instead, with the cost of the work."""
    try:
        return await work(at_once)
    except ModelError as error:
        if error.retryable:
            raise
        fault.cost = error.cost
        raise fault from error


def _asked(error: ModelError | ModelRefused) -> float:
    wait = error.retry_after if isinstance(error, ModelError) else None
    return min(wait or 0.0, LONGEST_REQUESTED)


def _clock() -> float:
    return asyncio.get_running_loop().time()


def health_of(model: object) -> EndpointHealth:
    """What is known about a model's service; empty if the model has none."""
    tell = getattr(model, "health", None)
    told = tell() if callable(tell) else None
    return told if isinstance(told, EndpointHealth) else EndpointHealth()
