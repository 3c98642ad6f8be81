"""The language tasks by rules, with no model, no key and no network."""

from agent_memory.language.offline.chat import OfflineChat

__all__ = ["OfflineChat"]
