"""The in-process worker: reads the change feed, counts, and runs what is due. The cloud has triggers instead.

Its state is in the store: counters and cursors say what is left, so the next worker continues where a killed one
stopped. Several workers on one store do the work once, because only one of two commits over the same range succeeds.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import threading
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial

from agent_memory.errors import AgentMemoryError, ConfigurationError, ModelError
from agent_memory.gathering import a_few
from agent_memory.language.endpoints import ModelPaused, health_of
from agent_memory.language.offline import OfflineChat
from agent_memory.language.roles import model_of, models_of
from agent_memory.language.tasks import EXTRACT
from agent_memory.models import EndpointHealth, now
from agent_memory.processing.activities import activities, run_workflow
from agent_memory.processing.clock import claim_deepening, end_deepening, note_deepened
from agent_memory.processing.due import (
    INDEX,
    Work,
    archiving_steps,
    due_work,
    enabled_steps,
    idle,
    in_turn,
    joined,
    live,
    user_steps,
    waiting_work,
)
from agent_memory.processing.intake import count_changes, due_user_work, is_wanted, mark, user_total
from agent_memory.processing.maintenance import finish_deletions, finish_intents
from agent_memory.processing.starts import drifted_work
from agent_memory.settings import Cadence
from agent_memory.steps.gather import Tools
from agent_memory.store.counted import USER, ThreadCounter
from agent_memory.store.counters import Counters

logger = logging.getLogger("agent_memory")

PARALLEL = 4
"""How many threads are processed at once. With a remote model nearly all of that time is waiting."""
DEEPENED = 20
"""How many users the clock deepens before it notes the outcomes."""
TIDYING_SHARE = 100
"""Tidying a store file takes at most one part in this many of the time, because it blocks all requests."""
DRAIN_STALLS = 5
"""After how many passes without progress `drain` gives up, if no timeout ends it before."""
HOPELESS_STALLS = 1
"""The same while a model fails in a way that seldom ends while somebody waits. A choice."""
HOPELESS = frozenset(["credentials", "not_found"])
"""Such faults. "unreachable" is one too, until a second pass has got further: then the service may be restarting."""
LONGEST_STALL = 60.0
"""The longest that `drain` waits between two passes, in seconds, however long a wait a model asks for."""

Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Pace:
    """How long the worker waits, in seconds.

    `poll` is the wait for new turns if nobody wakes the worker. `retry` is the wait after a failure; it doubles with
    each failure in a row, up to `longest`. `clock` is the time between looks at the clock of deepening. `tidy` is the
    time between deletions of expired data in a store file; they are rarer if they take long. `shutdown` is how long
    `stop` waits for running work. `counting` is how long new turns are counted before what they make due is done.
    """

    poll: float = 1.0
    retry: float = 2.0
    longest: float = 300.0
    clock: float = 60.0
    tidy: float = 5.0
    shutdown: float = 2.0
    counting: float = 1.0


class Worker:
    """Background processing in this process."""

    def __init__(self, tools: Tools, cadence: Cadence, pace: Pace | None = None) -> None:
        self.counters = Counters(tools.store, enabled_steps(cadence))
        self._tools = tools
        self._cadence = cadence
        self._pace = pace or Pace()
        self._activities = activities(tools)
        self._awake = asyncio.Event()
        self._cycle = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None
        self._deepening: asyncio.Task[None] | None = None
        self._importing: asyncio.Task[None] | None = None
        self._stopping = False
        self._corrected: set[str] = set()
        self._parallel = PARALLEL

    def give_way(self) -> None:
        """Processes one thread at a time if rules do the work. For a process that also answers requests.

        Rules use the processor: several threads at once would finish no sooner, and requests would wait for all of
        them. With a remote model nearly all of the time is waiting.
        """
        model = model_of(self._tools.chat, EXTRACT)
        if model is None or model.model_id == OfflineChat.MODEL_ID:
            self._parallel = 1

    def start(self) -> None:
        """Starts the background work. Does nothing if it runs."""
        if self._task is not None:
            return
        self._stopping = False
        self._task = asyncio.create_task(self._work(), name="agent-memory-worker")

    async def stop(self) -> None:
        """Stops the background work. Running work gets a moment to finish; the next start does the rest."""
        ours = (self._task, self._deepening, self._importing)
        tasks = [task for task in ours if task is not None and not task.done()]  # those of a closed loop are done
        self._task = self._deepening = self._importing = None
        if not tasks:
            return
        self._stopping = True
        self._awake.set()
        await asyncio.wait(tasks, timeout=self._pace.shutdown)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def wake(self) -> None:
        """Wakes the worker, because there is work. If its event loop is closed, it goes on in this one."""
        if self._task is not None and self._task.done() and not self._stopping:
            self._awake, self._cycle = asyncio.Event(), asyncio.Lock()
            self._task = self._deepening = self._importing = None
            self.start()
        self._awake.set()

    def corrected(self, user_id: str) -> None:
        """Notes that a memory of a user was corrected by hand: summaries that have the old words follow."""
        if self._cadence.summarize > 0:
            self._corrected.add(user_id)
            self.wake()

    async def drain(self, timeout: float | None = None, progress: Progress | None = None) -> int:
        """Processes everything written so far, whatever the thresholds; returns how many turns are left.

        Turns are left if the time ran out, if a model or the store stayed unavailable, or, after one more attempt, if a
        model refuses the key, does not exist or cannot be reached.
        """
        if self._importing is not None:  # the work that it has not done is done here
            self._importing.cancel()
            await asyncio.wait([self._importing])
        began, left, stalls, hopeless = now(), -1, 0, HOPELESS | {"unreachable"}
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout):
                while not await self._drain_once(progress):
                    before, left = left, await self.counters.pending_turns()
                    stalls = stalls + 1 if left == before else 0
                    if 0 <= left < before:
                        hopeless = HOPELESS
                    failing = [one for one in self._services() if one.fault in hopeless]
                    if stalls >= (HOPELESS_STALLS if failing else DRAIN_STALLS):
                        break
                    if any(one.pauses > 1 and one.failing_since and one.failing_since >= began for one in failing):
                        break  # the worker's own pass was the second attempt
                    await asyncio.sleep(max(self._pace.retry, min(self._until_asked(), LONGEST_STALL)))
        return await self.counters.pending_turns()

    def _until_asked(self) -> float:
        """Seconds until every failing model may be called again; a pass before that would be in vain."""
        times = (one.next_attempt_at for one in self._services())
        return max(((time - now()).total_seconds() for time in times if time), default=0.0)

    def _services(self) -> list[EndpointHealth]:
        return [health_of(model) for model in (*models_of(self._tools.chat).values(), self._tools.embeddings)]

    async def _drain_once(self, progress: Progress | None) -> bool:
        """One pass over everything that is pending; True if nothing is left."""
        async with self._cycle:
            await finish_intents(self._tools.store)
            await self._count_new_turns()
            pending = await self.counters.unfinished()
            await self._settle(pending, progress)
            corrected = await self._correct()
        return corrected and not await self.counters.unfinished()

    async def _work(self) -> None:
        failures = 0
        failed = True  # The counters may hold work that an earlier process left behind.
        last_sweep = next_look = next_tidy = next_import = 0.0
        loop = asyncio.get_running_loop()
        while not self._stopping:
            self._awake.clear()
            try:
                async with self._cycle:
                    if failed:
                        await finish_intents(self._tools.store)
                        await finish_deletions(self._tools.store, self.counters, self._activities)
                    touched = await self._count_new_turns(self._pace.counting)
                    quiet = self._cadence.idle_seconds
                    sweep = failed or (quiet > 0 and loop.time() - last_sweep >= min(quiet, 30.0))
                    pending = await self.counters.pending() if sweep else touched
                    last_sweep = loop.time() if sweep else last_sweep
                    at_once = live(pending, self._cadence)
                    failed = not await self._run_due(at_once)
                    failed |= not await self._correct()
                    if sweep:
                        timestamp = now().timestamp()
                        failed |= not await self._settle(idle(at_once, self._cadence, timestamp), ended=True)
                        imported = idle([one for one in pending if one.backfill], self._cadence, timestamp)
                        if imported and loop.time() >= next_import and _is_over(self._importing):
                            next_import = loop.time() + self._pace.clock
                            self._importing = self._aside("import", partial(self._settle, imported, ended=True))
                if loop.time() >= next_tidy:
                    started = loop.time()
                    await self._tools.store.tidy()
                    took = loop.time() - started
                    next_tidy = started + max(self._pace.tidy, took * TIDYING_SHARE)
                if loop.time() >= next_look and _is_over(self._deepening):
                    next_look = loop.time() + self._pace.clock
                    self._deepening = self._aside("deepening", self._deepen)
            except AgentMemoryError as error:
                logger.warning("background processing will be tried again: %s", error)
                failed = True
            except Exception:  # if the task died, background work would stop silently
                if not threading.main_thread().is_alive():  # the program is ending, and nobody closed the memory
                    return
                logger.exception("background processing failed unexpectedly and will be tried again")
                failed = True
            failures = failures + 1 if failed else 0
            pause = min(self._pace.retry * 2 ** (failures - 1), self._pace.longest) if failed else self._pace.poll
            if failed and (left := self._until_asked()) > 0:  # a pass before that would be in vain
                pause = min(left, self._pace.longest)
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._awake.wait(), pause)

    def _aside(self, name: str, work: Callable[[], Awaitable[object]]) -> asyncio.Task[None]:
        """Starts work outside the cycle: it may take hours, and new turns must not wait for it."""

        async def carried_out() -> None:
            try:
                await work()
            except AgentMemoryError as error:
                logger.warning("the %s will be tried again: %s", name, error)
            except Exception:
                if threading.main_thread().is_alive():
                    logger.exception("the %s failed unexpectedly and will be tried again", name)

        return asyncio.create_task(carried_out(), name=f"agent-memory-{name}")

    async def _count_new_turns(self, seconds: float = math.inf) -> list[ThreadCounter]:
        """Advances the counters by the new turns of the change feed; returns the counters that changed.

        After `seconds`, the other turns are left to the next cycle, which then begins at once: turns may be written
        faster than they are counted, and the feed would never end.
        """
        touched, more = await count_changes(self._tools, self.counters, seconds)
        if more:
            self._awake.set()
        return touched

    async def _correct(self) -> bool:
        """Corrects the summaries of the users whose memories were corrected; True if all of it succeeded."""
        for user_id in sorted(self._corrected):
            self._corrected.discard(user_id)
            if not await self._try("correct", {"user_id": user_id}):
                self._corrected.add(user_id)
        return not self._corrected

    async def _run_due(self, counters: Sequence[ThreadCounter]) -> bool:
        """Runs the work that is due, threads first; True if all of it succeeded."""
        due = in_turn(due_work(counters, self._cadence))
        done = all(await a_few((partial(self._run, work) for work in due), self._parallel))
        for user_id in sorted({counter.user_id for counter in counters}):
            done &= await self._run_due_of_user(user_id)
        return done

    async def _run_due_of_user(self, user_id: str) -> bool:
        try:
            due = await due_user_work(self._tools, self.counters, self._cadence, user_id)
        except AgentMemoryError:
            raise
        except Exception:  # a document of one user that cannot be read must not stop the work for all
            logger.exception("what is due for %s met an unexpected fault and will be tried again", user_id)
            return False
        return all([await self._run(work) for work in due])

    async def _settle(
        self, counters: Sequence[ThreadCounter], progress: Progress | None = None, *, ended: bool = False
    ) -> bool:
        """Runs everything for these threads and their users, whatever the thresholds; True if all of it succeeded.

        If the conversations have `ended`, archives them too.
        """
        left = sum(counter.pending for counter in counters)

        def report(settled: int) -> None:
            nonlocal left
            left -= settled
            if progress is not None:
                progress(left)

        async def settle_thread(counter: ThreadCounter) -> bool:
            for work in joined(waiting_work(counter, self._cadence), counter, self._cadence):
                if not await self._run(work):
                    return False
            for step in archiving_steps(self._cadence) if ended else ():
                if not await self._try(step, {"user_id": counter.user_id, "thread_id": counter.thread_id}):
                    return False
            report(counter.pending)
            return True

        report(0)
        done = all(await a_few((partial(settle_thread, counter) for counter in in_turn(counters)), self._parallel))
        for user_id in sorted({counter.user_id for counter in counters}):
            done &= await self._settle_user(user_id, [c for c in counters if c.user_id == user_id])
        return done

    async def _settle_user(self, user_id: str, counters: Sequence[ThreadCounter]) -> bool:
        total = await user_total(self.counters, user_id)
        for step in user_steps(self._cadence):
            if not await self._run(Work(step, user_id, "", total, 1)):
                return False
        for counter in counters:
            await self.counters.ran(user_id, counter.thread_id, USER, counter.count)
        return True

    async def _deepen(self) -> None:
        """Deepens the users who are due by the clock, a few at a time. A user who fails waits; the others go on."""
        store, through = self._tools.store, False
        due = await claim_deepening(store, self._cadence)
        if due is None:
            return
        try:
            for start in range(0, len(due.users), DEEPENED):
                if self._stopping:
                    return
                users = due.users[start : start + DEEPENED]
                outcomes = await a_few((partial(self._deepen_user, user_id) for user_id in users), self._parallel)
                noted = await note_deepened(store, due, dict(outcomes))
                if noted is None:  # it took so long that another process has taken over
                    return
                due = noted
            through = True
        finally:
            await end_deepening(store, due, through=through)

    async def _deepen_user(self, user_id: str) -> tuple[str, Exception | None]:
        return user_id, await self._fails("deepen", {"user_id": user_id})

    async def _run(self, work: Work) -> bool:
        """Runs one workflow unless a switch is off, and notes that; False if it must be tried again."""
        try:
            if not await is_wanted(self._tools, self.counters, work):
                return True
        except ConfigurationError as error:  # a tier that no longer exists, say: the work of others goes on
            logger.warning("%s of %s will be tried again: %s", work.workflow, work.request, error)
            return False
        if not await self._try(work.workflow, work.request):
            return False
        if work.workflow == INDEX:
            counter = await self.counters.get(work.user_id, work.thread_id)
            for step in await drifted_work(self._tools, self._cadence, counter):
                if not await self._run(step):
                    return False
        await mark(self.counters, work)
        return True

    async def _try(self, workflow: str, request: dict[str, str]) -> bool:
        """Runs a workflow; False if it must be tried again."""
        return await self._fails(workflow, request) is None

    async def _fails(self, workflow: str, request: dict[str, str]) -> Exception | None:
        """Runs a workflow; returns its error if it must be tried again.

        A model that returned nothing usable is not called again until there are new turns.
        """
        try:
            await run_workflow(workflow, request, self._activities)
        except AgentMemoryError as error:
            final = isinstance(error, ModelError) and not error.retryable
            level = logging.DEBUG if isinstance(error, ModelPaused) else logging.WARNING  # the pause is in the log
            again = "" if final else ", will be tried again"
            logger.log(level, "%s of %s failed%s: %s", workflow, request, again, error)
            return None if final else error
        except Exception as error:  # a fault of an injected model must not stop the work for all users
            logger.exception("%s of %s met an unexpected fault and will be tried again", workflow, request)
            return error
        return None


def _is_over(task: asyncio.Task[None] | None) -> bool:
    return task is None or task.done()
