"""Short-term memory: a live conversation kept inside its window, and the long-term blocks that it can be given."""

from agent_memory.working.blocks import AsyncExtractiveMemory, AsyncLongTermBlock, AsyncVectorMemory
from agent_memory.working.content import MemoryContent, Updated
from agent_memory.working.messages import ChatMessage
from agent_memory.working.overflow import Delete, Flush, Overflow, Summarize, Trim
from agent_memory.working.short_term import AsyncShortTermMemory
from agent_memory.working.sync import ExtractiveMemory, LongTermBlock, ShortTermMemory, VectorMemory

__all__ = [
    "AsyncExtractiveMemory",
    "AsyncLongTermBlock",
    "AsyncShortTermMemory",
    "AsyncVectorMemory",
    "ChatMessage",
    "Delete",
    "ExtractiveMemory",
    "Flush",
    "LongTermBlock",
    "MemoryContent",
    "Overflow",
    "ShortTermMemory",
    "Summarize",
    "Trim",
    "Updated",
    "VectorMemory",
]
