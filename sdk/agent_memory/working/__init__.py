"""Short-term memory: keeps a live conversation inside its window, and adds long-term blocks to it."""

from agent_memory.working.blocks import AsyncExtractiveMemory, AsyncLongTermBlock, AsyncStaticMemory, AsyncVectorMemory
from agent_memory.working.content import MemoryContent, Updated, selected_by
from agent_memory.working.messages import ChatMessage
from agent_memory.working.overflow import Delete, Flush, Overflow, Summarize, Trim
from agent_memory.working.short_term import AsyncShortTermMemory
from agent_memory.working.sync import ExtractiveMemory, LongTermBlock, ShortTermMemory, StaticMemory, VectorMemory

__all__ = [
    "AsyncExtractiveMemory",
    "AsyncLongTermBlock",
    "AsyncShortTermMemory",
    "AsyncStaticMemory",
    "AsyncVectorMemory",
    "ChatMessage",
    "Delete",
    "ExtractiveMemory",
    "Flush",
    "LongTermBlock",
    "MemoryContent",
    "Overflow",
    "ShortTermMemory",
    "StaticMemory",
    "Summarize",
    "Trim",
    "Updated",
    "VectorMemory",
    "selected_by",
]
