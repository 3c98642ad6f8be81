"""Trust: finds what should not be remembered as it stands, secrets and text that gives orders to a model."""

from __future__ import annotations

from agent_memory.screening.findings import Finding, redacted
from agent_memory.screening.numbers import is_card
from agent_memory.screening.orders import find_instructions
from agent_memory.screening.secrets import find_secrets, knows_tokens

__all__ = ["Finding", "find_instructions", "find_secrets", "is_card", "knows_tokens", "redacted"]
