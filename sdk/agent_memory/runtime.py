"""Runtime: the parts of an open memory, which the scopes use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from agent_memory.audit import Auditor
from agent_memory.errors import InvalidInput
from agent_memory.language.roles import is_off
from agent_memory.language.tasks import RERANK
from agent_memory.models import ProcessResult, Usage
from agent_memory.processing.activities import Activity, activities, run_workflow, why_off
from agent_memory.processing.due import enabled_steps, possible
from agent_memory.processing.worker import Progress, Worker
from agent_memory.processing.workflows import Json
from agent_memory.recall.context import Recaller
from agent_memory.recall.searcher import HitCache, MissMeter, Searcher
from agent_memory.settings import Cadence, RecallSettings, Webhook
from agent_memory.steps.dead_letters import INTAKE, find_dead_letter
from agent_memory.steps.gather import Tools
from agent_memory.steps.table import steps
from agent_memory.store.client import Store
from agent_memory.store.counters import Counters
from agent_memory.store.static import StaticFacts
from agent_memory.store.uses import UseCounter
from agent_memory.text.tokens import TokenCounter

if TYPE_CHECKING:
    from agent_memory.processing.webhook import Notifier


class Home(Protocol):
    """The origin of a handle: an open store with its parts, or a connection to a server."""

    @property
    def runtime(self) -> Runtime:
        """The parts.

        Raises:
            ConfigurationError: if the parts are on a server.
        """


@dataclass(frozen=True, slots=True)
class Runtime:
    """The parts of an open memory. Without a `worker`, the function app does the processing.

    The `cadence` is without the steps whose role is switched off.
    """

    store: Store
    tools: Tools
    cadence: Cadence
    searcher: Searcher
    tokens: TokenCounter
    counters: Counters
    static: StaticFacts
    activities: Mapping[str, Activity]
    auditor: Auditor
    uses: UseCounter
    worker: Worker | None
    notifier: Notifier | None = None

    @classmethod
    def of(
        cls,
        tools: Tools,
        recall: RecallSettings,
        tokens: TokenCounter,
        cadence: Cadence,
        webhook: Webhook | None = None,
        *,
        inline: bool,
    ) -> Runtime:
        """Builds the parts of a memory whose turns this process (`inline`) or the function app processes.

        The same one sends the changes of memories to the `webhook`.
        """
        store = tools.store
        cadence = possible(cadence, tools.chat)
        ranks = None if is_off(tools.chat, RERANK) else tools.chat
        tools = replace(tools, one_call=cadence.one_call)
        cache = HitCache(recall.cache_seconds) if recall.caches else None
        notifier = None
        if inline and webhook is not None:
            from agent_memory.processing.webhook import Notifier  # an HTTP client comes with it

            notifier = Notifier(store, webhook)
        return cls(
            store=store,
            tools=tools,
            cadence=cadence,
            searcher=Searcher(
                store,
                tools.embeddings,
                recall,
                cache,
                ranks,
                tools.policy,
                misses=MissMeter(store, recall.missed_sample) if recall.missed_sample else None,
            ),
            tokens=tokens,
            counters=Counters(store, enabled_steps(cadence)),
            static=StaticFacts(store),
            activities=activities(tools),
            auditor=Auditor(store, tools.policy.audit_days),
            uses=UseCounter(store, enabled=recall.count_uses),
            worker=Worker(tools, cadence) if inline else None,
            notifier=notifier,
        )

    async def close(self) -> None:
        """Stops background processing and disconnects."""
        if self.worker is not None:
            await self.worker.stop()
        if self.notifier is not None:
            await self.notifier.stop()
        if self.searcher.misses is not None:
            await self.searcher.misses.close()
        await self.auditor.close()
        await self.uses.close()
        await self.store.close()
        await self.tools.chat.close()
        await self.tools.embeddings.close()

    @property
    def settling(self) -> dict[str, bool]:
        """The input of the workflow `settle`, besides its thread."""
        return {"one_call": True} if self.tools.one_call else {}

    @property
    def runtime(self) -> Runtime:
        """Itself, because it is the home of local handles."""
        return self

    @property
    def recaller(self) -> Recaller:
        """The parts that build contexts."""
        return Recaller(self.searcher, self.tools.chat, self.tokens, self.static)

    def written(self) -> None:
        """Wakes the background worker, if there is one, because turns were written."""
        if self.worker is not None:
            self.worker.wake()

    def corrected(self, user_id: str) -> None:
        """Tells the background worker, if there is one, that a memory was corrected by hand."""
        if self.worker is not None:
            self.worker.corrected(user_id)

    async def run(
        self, workflow: str, progress: Progress | None = None, /, **request: str | int | Sequence[str] | None
    ) -> ProcessResult:
        """Runs a workflow now and adds up what its steps did. `progress` gets the number of turns so far.

        Raises:
            AgentMemoryError: if a step failed at its last attempt. Earlier commits stay.
        """
        payload = {name: value for name, value in request.items() if value is not None}

        def told(so_far: list[Json]) -> None:
            if progress is not None:
                progress(sum(result["turns"] for result in so_far))

        results = [
            ProcessResult.model_validate(result)
            for result in await run_workflow(workflow, payload, self.activities, told)
        ]
        return self.outcome(workflow, results, payload)

    def outcome(self, workflow: str, results: Sequence[ProcessResult], request: Mapping[str, object]) -> ProcessResult:
        """Adds up the results of a workflow's steps. If the role of its step is off, `skipped_reason` says so."""
        step = str(request["step"]) if workflow == "replay" else workflow
        return total(workflow, results).model_copy(update={"skipped_reason": why_off(self.tools.chat, step)})

    async def replay(self, dead_letter_id: str) -> ProcessResult:
        """Processes the range of a dead letter again. If the step's role is off, it stays: `skipped_reason` says so.

        Raises:
            NotFound: if there is no such dead letter.
            InvalidInput: if it is for a turn that could not be counted.
            ModelError: if the model still returns no usable answer. The dead letter stays.
        """
        letter = await find_dead_letter(self.store, dead_letter_id)
        if letter.step == INTAKE:
            raise InvalidInput("write the turn again in a valid form, and it is counted; then delete the letter")
        return await self.run(
            "replay",
            step=letter.step,
            user_id=letter.user_id,
            thread_id=letter.thread_id,
            dead_letter_id=letter.id,
        )


def _files_talk(name: str) -> bool:
    """Whether a step indexes the turns themselves, and creates no memories."""
    return name in steps() and steps()[name].files_talk


def total(step: str, results: Sequence[ProcessResult]) -> ProcessResult:
    """Adds up the results of several steps."""
    counts = [result.counts for result in results if result.counts]
    return ProcessResult(
        step=step,
        # Indexing and extraction read the same turns, so these are not added.
        turns=max((sum(r.turns for r in results if r.step == name) for name in {r.step for r in results}), default=0),
        created=sum(result.created for result in results if not _files_talk(result.step)),
        superseded=sum(result.superseded for result in results),
        exact_dedup_skipped=sum(result.exact_dedup_skipped for result in results),
        rejected=[reason for result in results for reason in result.rejected],
        counts={name: sum(count.get(name, 0) for count in counts) for name in sorted({n for c in counts for n in c})},
        dead_letters=sum(result.dead_letters for result in results),
        usage=sum((result.usage for result in results), Usage()),
    )
