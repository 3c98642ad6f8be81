"""The names of Ballerina AI's memory framework (decision D13): its classes and defaults, over the short-term memory.

Its stores and providers are those of the memory that a user's scope comes from, so that no class here takes them: the
model and the embeddings are given to the memory, and a prompt is a file (see `agent_memory.language.prompts`). System
messages need no store of their own. The conversations are those of one user.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agent_memory.errors import AgentMemoryError
from agent_memory.sync import UserScope
from agent_memory.working import ExtractiveMemory, LongTermBlock, ShortTermMemory, StaticMemory, VectorMemory
from agent_memory.working.content import MemoryContent
from agent_memory.working.overflow import MAX_TOKENS, Flush, Overflow, Summarize, Trim

__all__ = [
    "AgentMemory",
    "ExtractiveMemory",
    "FlushToLTMConfiguration",
    "Memory",
    "MemoryContent",
    "MemoryError",
    "STMSummarizeConfiguration",
    "StaticMemory",
    "TrimLastMessagesConfiguration",
    "VectorMemory",
]

Memory = LongTermBlock
"""The interface of every memory: get, update, delete."""
MemoryError = AgentMemoryError
"""What every memory raises."""


@dataclass(frozen=True, slots=True)
class STMSummarizeConfiguration:
    """A summary takes the place of the older messages; the newest `summary_message_count` stay (rows S4-34, S4-35)."""

    summary_message_count: int = 2
    max_summary_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class FlushToLTMConfiguration:
    """The long-term blocks take in the older messages above a ratio of the limit (rows S4-31 to S4-33)."""

    max_stm_token_ratio: float = 0.5
    is_persist_memory_inserted_into_the_system_prompt: bool = False
    lt_memory_blocks: Sequence[LongTermBlock] = ()


@dataclass(frozen=True, slots=True)
class TrimLastMessagesConfiguration:
    """Only the newest messages stay, within `max_memory_tokens` (row S4-36)."""

    max_memory_tokens: int = 500


FilterConfig = STMSummarizeConfiguration | FlushToLTMConfiguration | TrimLastMessagesConfiguration
DEFAULT_FLUSH_CONFIG = STMSummarizeConfiguration()


class AgentMemory(ShortTermMemory):
    """The memory of an agent's conversations with one user.

    Example:
        ```python
        sarah = memory.user("sarah")
        blocks = [StaticMemory(memory.static), ExtractiveMemory(sarah), VectorMemory(sarah)]
        agent_memory = AgentMemory(sarah, FlushToLTMConfiguration(0.8, lt_memory_blocks=blocks))
        agent_memory.update("s1", {"role": "user", "content": "Hi, I'm Sarah."})
        ```
    """

    def __init__(
        self,
        message_store: UserScope,
        filter_config: FilterConfig = DEFAULT_FLUSH_CONFIG,
        max_memory_token_count: int = MAX_TOKENS,
    ) -> None:
        """Reads and writes nothing yet.

        Args:
            message_store: The user whose conversations these are.
            filter_config: What is done when a conversation outgrows the limit.
            max_memory_token_count: The limit, in tokens.
        """
        flush = filter_config if isinstance(filter_config, FlushToLTMConfiguration) else FlushToLTMConfiguration()
        super().__init__(
            message_store,
            _strategy(filter_config),
            blocks=flush.lt_memory_blocks,
            max_tokens=max_memory_token_count,
            memory_in_system_prompt=flush.is_persist_memory_inserted_into_the_system_prompt,
        )


def _strategy(config: FilterConfig) -> Overflow:
    match config:
        case STMSummarizeConfiguration():
            return Summarize(
                threshold_tokens=None,
                keep=config.summary_message_count,
                max_summary_tokens=config.max_summary_tokens,
                summary_role="user",
            )
        case FlushToLTMConfiguration():
            return Flush(ratio=config.max_stm_token_ratio)
        case TrimLastMessagesConfiguration():
            return Trim(max_tokens=config.max_memory_tokens)
