"""A memory with a policy of the test's own."""

from scripted_model import ScriptedChat

from agent_memory import AsyncMemory, Cadence
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.settings import PolicySettings

QUIET = Cadence(extract=1_000_000, summarize=1_000_000, profile=1_000_000, reconcile=1_000_000, idle_seconds=0)
"""Nothing is due by itself."""


def opened(chat: ScriptedChat, cadence: Cadence = QUIET, **policy: object) -> AsyncMemory:
    settings = PolicySettings(**policy)  # type: ignore[arg-type]
    return AsyncMemory.local(chat_model=chat, embedding_model=HashingEmbeddings(), cadence=cadence, policy=settings)
