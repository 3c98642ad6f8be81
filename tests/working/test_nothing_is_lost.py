"""Whatever happens in whatever order, each message is in view, in the summary, or was cleared by somebody.

`STM_SEEDS=200` runs more histories than the default. A seed settles what is done; what two agents do at once may still
fall in another order the next time.
"""

import asyncio
import contextlib
import os
import random
from datetime import UTC, datetime, timedelta

import pytest
from memories import opened
from scripted_model import ScriptedChat

from agent_memory import AsyncMemory
from agent_memory.errors import Conflict, ModelError, NotFound
from agent_memory.text.tokens import ApproximateTokens
from agent_memory.working import AsyncShortTermMemory, Summarize

SEEDS = int(os.environ.get("STM_SEEDS", "3"))
STEPS = 25
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


class History:
    """One random history of a conversation with two agents that work on it at once."""

    def __init__(self, memory: AsyncMemory, chat: ScriptedChat, seed: int) -> None:
        self.random = random.Random(seed)
        self.memory = memory
        self.thread = memory.user("alice").thread("t1")
        self.agents = [
            AsyncShortTermMemory(memory.user("alice"), Summarize(60, keep=3), tokens=ApproximateTokens())
            for _ in range(2)
        ]
        chat.fault = self._fault
        self.written = 0
        self.cleared: set[str] = set()
        self.just_cleared = False

    def _fault(self, task: str, call: int) -> ModelError | None:
        chance = self.random.random()
        if chance < 0.1:
            return ModelError("no answer that can be used")
        return ModelError("throttled", retryable=True) if chance < 0.2 else None

    async def say(self, agent: AsyncShortTermMemory) -> None:
        self.written += 1
        await agent.update("t1", {"role": self.random.choice(["user", "assistant"]), "content": f"m{self.written:023}"})

    async def import_old(self, agent: AsyncShortTermMemory) -> None:
        self.written += 1
        at = LONG_AGO + timedelta(minutes=self.random.randrange(10_000))
        await self.thread.add("user", f"m{self.written:023}", created_at=at)

    async def clear(self, agent: AsyncShortTermMemory) -> None:
        with contextlib.suppress(Conflict):
            if await agent.clear("t1") > 0:
                self.just_cleared = True

    async def summarize(self, agent: AsyncShortTermMemory) -> None:
        with contextlib.suppress(ModelError):
            await self.thread.process("summarize")

    async def replay(self, agent: AsyncShortTermMemory) -> None:
        for letter in await self.memory.dead_letters():
            with contextlib.suppress(ModelError, NotFound):  # somebody may clear meanwhile
                await self.memory.replay(letter.id)

    async def check(self) -> None:
        view = await self.thread.view()
        summary = await self.thread.summary()
        summarized = set(summary.key_points) if summary else set()
        record = {turn.content for turn in await self.thread.turns()}
        gone = record - {turn.content for turn in view.turns}
        assert len(record) == self.written
        if self.just_cleared:
            self.cleared, self.just_cleared = gone, False
        retired = gone - self.cleared
        assert retired <= summarized
        assert not self.cleared & {turn.content for turn in view.turns}
        assert view.retired >= len(retired)


@pytest.mark.req("S2-25", "S2-28", "S4-46", "S4-03")
@pytest.mark.parametrize("seed", range(SEEDS))
async def test_each_message_is_in_view_in_the_summary_or_was_cleared(seed: int):
    chat = ScriptedChat()
    async with opened(chat) as memory:
        history = History(memory, chat, seed)
        acts = [history.say] * 6 + [history.import_old, history.summarize, history.replay, history.clear]
        for _ in range(STEPS):
            one, other = (history.random.choice(acts) for _ in range(2))
            await asyncio.gather(one(history.agents[0]), other(history.agents[1]))
            await history.check()
