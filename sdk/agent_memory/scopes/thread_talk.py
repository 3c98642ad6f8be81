"""The turns of one conversation: writes them, reads them, and returns those in view."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from agent_memory.forgetting.pop import take_back
from agent_memory.forgetting.tombstones import sent_again
from agent_memory.models import LiveView, Part, Receipt, Turn, TurnInput, Usage
from agent_memory.rules.switches import Asked, known_rules
from agent_memory.runtime import Home
from agent_memory.scopes.audited import audited
from agent_memory.scopes.scope import Scope
from agent_memory.scopes.shared import turn_inputs
from agent_memory.steps import live_view
from agent_memory.steps.table import ThreadStep, check_step
from agent_memory.store.calls import metered
from agent_memory.store.ids import check_id, check_owner
from agent_memory.store.turns import last_turns, live_turns, make_turns, read_window, write_turns


class ThreadTalk(Scope):
    """Writes, reads, removes and clears the turns of one conversation."""

    thread_id: str

    def __init__(
        self,
        home: Home,
        user_id: str,
        thread_id: str,
        *,
        agent_id: str | None = None,
        project_id: str | None = None,
        asked: Asked | None = None,
        member: str | None = None,
    ) -> None:
        self._home = home
        self._asked = asked or Asked()
        self.member = member
        self.user_id = check_owner(user_id)
        self.thread_id = check_id(thread_id, "thread_id")
        self.agent_id = None if agent_id is None else check_id(agent_id, "agent_id")
        self.project_id = None if project_id is None else check_id(project_id, "project_id")

    async def add(
        self,
        role: str,
        content: str = "",
        *,
        parts: Sequence[Part | Mapping[str, Any]] | None = None,
        id: str | None = None,
        name: str | None = None,
        created_at: datetime | None = None,
        metadata: Mapping[str, Any] | None = None,
        run_id: str | None = None,
    ) -> Receipt:
        """Stores one turn. Processing follows in the background.

        Args:
            role: user, assistant (or agent), tool or system.
            content: What was said; by default, the text of the parts.
            parts: Text, image and file references, tool calls and results, kept as they are (see `Part`). Nothing opens
                their URLs. The content has a mark, such as the name, for each part that is not text.
            id: Makes the write repeatable: the same id with the same content is stored once.
            name: The speaker's name, if the transcript has one.
            created_at: When it was said; now by default.
            metadata: Anything that belongs to the turn (tool_name, tool_call_id, …); must be JSON.
            run_id: The agent run that the turn belongs to.

        Raises:
            InvalidInput: if a value is invalid.
            Conflict: if a turn with this id has other content.
            StoreUnavailable: if the store did not answer; the call may be repeated if it gave an id.
        """
        turn = {
            "role": role,
            "content": content,
            "parts": None if parts is None else list(parts),
            "id": id,
            "name": name,
            "created_at": created_at,
            "metadata": {} if metadata is None else metadata,
            "run_id": run_id,
        }
        return await self.add_many([turn])

    @audited(changes=True, operation="upsert_memory")
    async def add_many(self, turns: Sequence[TurnInput | Mapping[str, Any]]) -> Receipt:
        """Stores any number of turns in their order. Repeating the call with the same ids adds nothing.

        Raises:
            InvalidInput: if a value is invalid; nothing was written.
            Conflict: if a turn with the same id has other content; the turns before it may be written.
            StoreUnavailable: if the store did not answer; the call may be repeated if the turns had ids.
        """
        inputs = turn_inputs(turns, self.agent_id, self.project_id)
        store, policy = self._runtime.store, self._runtime.tools.policy
        rules = await known_rules(store, policy, self.user_id, self.thread_id, self._asked)
        kept = make_turns(inputs, self.user_id, self.thread_id, off_record=not rules.derive, contributor_id=self.member)
        if not rules.keep_turns:
            return Receipt(ids=[], created=0, skipped_reason="the settings say not to keep the turns")
        timed = {turn.id for turn, given in zip(kept, inputs, strict=True) if given.created_at is not None}
        known = {turn.id for turn, given in zip(kept, inputs, strict=True) if given.id is not None} | timed
        with metered() as charges:
            # A turn with its own id or time may be older than a deletion. Any other is said now.
            forgotten = await sent_again(store, [turn for turn in kept if turn.id in known])
            written = [turn for turn in kept if turn.id not in forgotten]
            created = await write_turns(store, written, timed)
        self._runtime.written()
        usage = Usage(request_units=sum(charges))
        return Receipt(ids=[turn.id for turn in kept], created=created, forgotten=sorted(forgotten), usage=usage)

    @audited(changes=False)
    async def turns(self, last: int | None = None, *, before: datetime | None = None) -> list[Turn]:
        """The turns of the thread (or the `last` ones), oldest first, whether or not they are in the live view.

        Args:
            last: How many. Turns with the same time come together, so there may be a few more.
            before: Only turns before this time. To page backwards, give the time of the first turn of a page.

        Raises:
            InvalidInput: if `last` is below 1.
        """
        return await last_turns(self._runtime.store, self.user_id, self.thread_id, last, before)

    @audited(changes=True)
    async def pop(self) -> Turn | None:
        """Removes the newest turn, as if it had not been said, if nothing was derived from it.

        The turn leaves the conversation and the index. No memory is derived from it, even if a step reads it at this
        moment. Its id cannot be used again: a repeated `add` with it is ignored and listed in the receipt's
        `forgotten`.

        Returns:
            The turn, or None if the live view of the conversation is empty.

        Raises:
            Conflict: if a summary or a memory uses the turn; forget it instead.
            StoreUnavailable: if the store did not answer, or others keep writing. The turn may already be removed:
                check `turns(last=1)` before you repeat the call.
        """
        return await take_back(self._runtime.store, self._runtime.counters, self.user_id, self.thread_id)

    @audited(changes=False)
    async def view(self) -> LiveView:
        """The live view of the conversation: the turns that were not cleared or retired."""
        store = self._runtime.store
        window = await read_window(store, self.user_id, self.thread_id)
        live = await live_turns(store, self.user_id, self.thread_id, window)
        return LiveView(turns=[one.turn for one in live], retired=window.retired)

    @audited(changes=True)
    async def clear(self) -> int:
        """Empties the live view of the conversation; returns how many turns were in it.

        The turns and everything learned from them stay. The thread's summary and state are deleted.
        """
        return await live_view.clear(self._runtime.store, self.user_id, self.thread_id)

    @audited(changes=True)
    async def retire(self, through: str, *, covered_by: Sequence[ThreadStep] = ()) -> int:
        """Removes the oldest turns from the live view, up to and including `through`; returns how many left.

        The turns stay on record. System turns stay in the view. With `covered_by`, a turn leaves only once all these
        steps have covered it or given up on it. So no turn leaves before its replacement is stored.

        Args:
            through: The id of a turn in the live view; another id changes nothing.
            covered_by: Steps of this thread (see `process`).

        Raises:
            InvalidInput: for an unknown step.
            StoreUnavailable: if others keep changing the view; the call may be repeated.
        """
        check_id(through, "a turn's id")
        for step in covered_by:
            check_step("thread", step)
        return await live_view.retire(self._runtime.store, self.user_id, self.thread_id, through, covered_by)
