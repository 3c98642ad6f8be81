"""ShortTermMemory: keeps live conversations of a user inside a model's window without losing what matters."""

from __future__ import annotations

import logging
from asyncio import Lock
from collections.abc import Sequence
from typing import Any

from agent_memory.errors import AgentMemoryError, InvalidInput, StaticMemoryError
from agent_memory.models import Hit, Turn
from agent_memory.scopes import AsyncThreadScope, AsyncUserScope, ThreadStep
from agent_memory.text.patterns import linear
from agent_memory.text.tokens import TiktokenCounter, TokenCounter
from agent_memory.working.blocks import AsyncLongTermBlock, CoveredByStep, Message
from agent_memory.working.content import (
    SUMMARY_PREFIX,
    MemoryContent,
    Updated,
    bounded,
    fit_recalled,
    render_recalled,
)
from agent_memory.working.messages import ChatMessage, count_tokens, from_turn, read_message, to_turn, without_orphans
from agent_memory.working.overflow import MAX_TOKENS, Flush, Overflow, Summarize, Trim, fitting, leaving, limit_of

logger = logging.getLogger("agent_memory")

DEFAULT = Summarize()
"""The default strategy."""
RECALLED_SHARE = 0.25
"""Share of a view's tokens that blocks may take from the conversation. They get more if it leaves room."""
HEAD_SHARE = 0.5
"""Most of a view's tokens that the system message and the summary may take together, as a share."""
_NAME = linear(r"[A-Za-z_][A-Za-z0-9_-]*")


class AsyncShortTermMemory:
    """The live conversations of one user, each kept inside a window of tokens.

    Messages are turns of the conversation's thread, so they outlive the process. When a conversation outgrows its
    window, `overflow` says which turns leave the view. They leave only when their replacement is durable, and they stay
    on record.

    Example:
        ```python
        chats = AsyncShortTermMemory(memory.user("sarah"))
        await chats.update("s1", {"role": "user", "content": "Hi, I'm Sarah from Marketing."})
        messages = (await chats.get("s1")).messages
        ```
    """

    def __init__(
        self,
        user: AsyncUserScope,
        overflow: Overflow | None = DEFAULT,
        *,
        blocks: Sequence[AsyncLongTermBlock] = (),
        max_tokens: int = MAX_TOKENS,
        memory_in_system_prompt: bool = False,
        agent_id: str | None = None,
        resources: Sequence[str] | None = None,
        ttl: int | None = None,
        tokens: TokenCounter | None = None,
    ) -> None:
        """Reads and writes nothing yet.

        Args:
            user: Whose conversations.
            overflow: What to do when a conversation outgrows its window; None: nothing leaves the view.
            blocks: Long-term memory that `get` reads and `Flush` fills.
            max_tokens: Most tokens of a view.
            memory_in_system_prompt: Whether what blocks remember is appended to the system message, or is a message of
                its own.
            agent_id: The agent whose messages these are.
            resources: The resources in the agent's profile. Without "memory" among them, nothing is summarized.
            ttl: Seconds after which messages are deleted; None: the store's setting.
            tokens: Counts tokens; by default as OpenAI's current models do.

        Raises:
            InvalidInput: if a block's name is not one word, or two blocks have the same name.
        """
        names = [block.name for block in blocks]
        if len(set(names)) < len(names) or not all(_NAME.fullmatch(name) for name in names):
            raise InvalidInput(f"blocks need names, one word each and all different, not {names}")
        self._user = user
        self._strategy = overflow
        self._blocks = list(blocks)
        self._max_tokens = max_tokens
        self._in_system_prompt = memory_in_system_prompt
        self._agent_id = agent_id
        self._resources = resources
        self._ttl = ttl
        self._tokens = tokens or TiktokenCounter()
        self._one_at_a_time = Lock()

    async def get(self, session_id: str, message: Message | None = None) -> MemoryContent:
        """The view of a conversation, with what the blocks remember for a message, within `max_tokens`.

        The newest system message comes first, then the summary of the turns that have left the view, then the newest
        messages. The first two are cut if they would take more than half of the view. A block that fails is left out.
        `degraded` says so in both cases.

        Args:
            session_id: The conversation.
            message: The message to answer; by default the user's last one.

        Raises:
            StoreUnavailable: if the conversation cannot be read.
        """
        thread = self._thread(session_id)
        view = await thread.view()
        head, talk = _split(view.turns)
        degraded: list[str] = []
        if view.retired and isinstance(self._strategy, Summarize):
            head += await self._summary(thread, self._strategy, degraded)
        head, cut = bounded(head, int(self._max_tokens * HEAD_SHARE), self._tokens)
        degraded += cut
        asked = message or next((one for one in reversed(talk) if one.role == "user"), None)
        live = {one.id for one in talk}
        recalled = {} if asked is None else await self._recall(session_id, asked, live, degraded)
        room = self._max_tokens - count_tokens([*head, *talk], self._tokens)
        recalled = fit_recalled(recalled, max(room, int(self._max_tokens * RECALLED_SHARE)), self._tokens)
        ahead = count_tokens(head, self._tokens) + self._tokens.count(render_recalled(recalled))
        gone = fitting(talk, self._max_tokens - ahead, self._tokens)
        shown = without_orphans(talk[gone:])
        return MemoryContent(
            chat_messages=[*head, *shown],
            recalled=recalled,
            memory_in_system_prompt=self._in_system_prompt,
            tokens=ahead + count_tokens(shown, self._tokens),
            left_out=len(talk) - len(shown),
            degraded=degraded,
        )

    async def update(self, session_id: str, message: Message) -> Updated:
        """Stores a message, and makes room if the view has outgrown its window.

        If that fails because a model is unavailable, nothing leaves the view, and `degraded` says why. The next message
        tries again.

        Raises:
            InvalidInput: if it is not a message.
            Conflict: if another message has its id.
            StoreUnavailable: if the store did not answer. You can repeat the call if the message has an id.
        """
        thread = self._thread(session_id)
        receipt = await thread.add_many([to_turn(read_message(message)) | {"ttl": self._ttl}])
        if receipt.skipped_reason is not None:
            return Updated(degraded=[receipt.skipped_reason])
        updated = Updated(turn_id=receipt.ids[0], created=receipt.created > 0)
        try:
            async with self._one_at_a_time:
                await self._make_room(session_id, thread, updated)
        except AgentMemoryError as error:
            logger.warning("A conversation outgrew its window and nothing could leave it: %s", error)
            updated.degraded.append(f"overflow: {error}")
        return updated

    async def delete(self, session_id: str) -> None:
        """Deletes a conversation: all its messages, and what every block keeps of it.

        Raises:
            AgentMemoryError: if it could not be done; the call may be repeated.
        """
        for block in self._blocks:
            if self._step_of(block) is not None:  # its data goes with the thread's
                continue
            try:
                await block.delete(session_id)
            except StaticMemoryError:
                continue
        await self._thread(session_id).delete(include_memories=True)

    async def clear(self, session_id: str) -> int:
        """Empties the view of a conversation. Returns how many messages were in it; they stay on record."""
        return await self._thread(session_id).clear()

    async def tokens(self, session_id: str) -> int:
        """How many tokens the messages in the view have; overflow acts when they exceed `limit`."""
        head, talk = self._live((await self._thread(session_id).view()).turns)
        return count_tokens([*head, *talk], self._tokens)

    @property
    def limit(self) -> int:
        """The tokens above which overflow acts."""
        return self._max_tokens if self._strategy is None else limit_of(self._strategy, self._max_tokens)

    def _thread(self, session_id: str) -> AsyncThreadScope:
        return self._user.thread(session_id, agent_id=self._agent_id, resources=self._resources)

    def _step_of(self, block: AsyncLongTermBlock) -> ThreadStep | None:
        """The step of this conversation that fills a block; None if the block gets the messages themselves."""
        return block.step_for(self._user) if isinstance(block, CoveredByStep) else None

    def _live(self, turns: Sequence[Turn]) -> tuple[list[ChatMessage], list[ChatMessage]]:
        """The system message, cut to its share of the view, and the conversation."""
        head, talk = _split(turns)
        return bounded(head, int(self._max_tokens * HEAD_SHARE), self._tokens)[0], talk

    async def _summary(self, thread: AsyncThreadScope, strategy: Summarize, degraded: list[str]) -> list[ChatMessage]:
        try:
            summary = await thread.summary()
        except AgentMemoryError as error:
            degraded.append(f"summary: {error}")
            return []
        if summary is None:
            return []
        text = summary.content
        if strategy.max_summary_tokens is not None:
            text = self._tokens.truncate(text, strategy.max_summary_tokens)
        return [ChatMessage(role=strategy.summary_role, content=SUMMARY_PREFIX + text)]

    async def _recall(
        self, session_id: str, message: Message, live: set[str | None], degraded: list[str]
    ) -> dict[str, list[Any]]:
        recalled = {}
        for block in self._blocks:
            try:
                found = await block.get(session_id, message)
            except Exception as error:  # A block may raise anything. An answer without the block is better than none.
                logger.warning("The memory block %s failed", block.name, exc_info=True)
                degraded.append(f"{block.name}: {error}")
                continue
            recalled[block.name] = [item for item in found if not _is_live(item, live)]
        return recalled

    async def _make_room(self, session_id: str, thread: AsyncThreadScope, updated: Updated) -> None:
        head, talk = self._live((await thread.view()).turns)
        ahead = count_tokens(head, self._tokens)
        updated.tokens = ahead + count_tokens(talk, self._tokens)
        strategy = self._strategy
        if strategy is None:
            return
        going = talk[: leaving(strategy, talk, self._max_tokens, self._tokens, ahead=ahead)]
        if not going:
            return
        covered_by: list[ThreadStep] = []
        match strategy:
            case Summarize():
                covered_by.append("summarize")
                # If the background has summarized them already, no model call is needed.
                updated.retired = await thread.retire(_last(going), covered_by=covered_by)
                if updated.retired < len(going):
                    await thread.process("summarize")
            case Flush():
                filled = await self._fill_blocks(session_id, going)
                covered_by += [step for block in filled if (step := self._step_of(block)) is not None]
                if not filled:
                    going = talk[: leaving(Trim(), talk, self.limit, self._tokens, ahead=ahead)]
        if updated.retired < len(going):
            updated.retired += await thread.retire(_last(going), covered_by=covered_by)
        if updated.retired < len(going):
            updated.degraded.append(f"{len(going) - updated.retired} messages stay: what replaces them is not made yet")

    async def _fill_blocks(self, session_id: str, going: Sequence[ChatMessage]) -> list[AsyncLongTermBlock]:
        """Gives messages to every block that takes any in. Returns these blocks.

        A block that a step fills reads them from the thread, where they have their lifetime and their agent.
        """
        filled = []
        for block in self._blocks:
            try:
                await block.update(session_id, going if self._step_of(block) is None else [])
            except StaticMemoryError:
                continue
            filled.append(block)
        return filled


def _split(turns: Sequence[Turn]) -> tuple[list[ChatMessage], list[ChatMessage]]:
    """The newest system message, if there is one, and the conversation.

    Some applications write their instructions again at each turn, for example with the time. The last ones count.
    """
    messages = [from_turn(turn) for turn in turns]
    system = [message for message in messages if message.role == "system"]
    return system[-1:], [message for message in messages if message.role != "system"]


def _last(messages: Sequence[ChatMessage]) -> str:
    return str(messages[-1].id)


def _is_live(item: Any, live: set[str | None]) -> bool:
    """Whether a hit only repeats turns of the view."""
    return isinstance(item, Hit) and bool(item.memory.source_turn_ids) and live.issuperset(item.memory.source_turn_ids)
