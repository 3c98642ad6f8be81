"""The systems that a file can be from."""

from enum import StrEnum


class Origin(StrEnum):
    """The systems that `import` accepts as the origin of a file."""

    MEM0 = "mem0"
    ZEP = "zep"
    LETTA = "letta"
    LANGGRAPH = "langgraph"
    HINDSIGHT = "hindsight"
    CLAUDE = "claude"
    CHATGPT = "chatgpt"
    OPENAI = "openai"
    AZURE_COSMOS = "azure-cosmos-agent-memory"
