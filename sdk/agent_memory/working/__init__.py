"""Short-term memory: keeps a live conversation inside its window, and adds long-term blocks to it."""

from agent_memory.working.blocks import (
    AsyncExtractiveMemory as AsyncExtractiveMemory,
    AsyncLongTermBlock as AsyncLongTermBlock,
    AsyncStaticMemory as AsyncStaticMemory,
    AsyncVectorMemory as AsyncVectorMemory,
)
from agent_memory.working.content import (
    MemoryContent as MemoryContent,
    Updated as Updated,
    selected_by as selected_by,
)
from agent_memory.working.messages import ChatMessage as ChatMessage
from agent_memory.working.overflow import (
    Delete as Delete,
    Flush as Flush,
    Overflow as Overflow,
    Summarize as Summarize,
    Trim as Trim,
)
from agent_memory.working.short_term import AsyncShortTermMemory as AsyncShortTermMemory
from agent_memory.working.sync import (
    ExtractiveMemory as ExtractiveMemory,
    LongTermBlock as LongTermBlock,
    ShortTermMemory as ShortTermMemory,
    StaticMemory as StaticMemory,
    VectorMemory as VectorMemory,
)
