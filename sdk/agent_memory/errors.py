"""Errors that this library raises.

    AgentMemoryError
    ├── InvalidInput          the caller's argument is wrong; nothing was written
    ├── NotFound              no such item in this scope
    ├── Conflict              another writer was first, or the id holds other content
    ├── QuotaExceeded         the user's tier allows no more
    ├── MemoryDisabled        a switch (global, tier, user, thread) is off
    ├── StaticMemoryError     static knowledge cannot be changed through a scope
    ├── ConfigurationError    settings contradict each other or the store
    ├── StoreUnavailable      the store did not answer (retryable)
    └── ModelError            a model returned no usable answer

`code` is stable and machine-readable; `retryable` says whether the same call may succeed later.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar


class AgentMemoryError(Exception):
    """The root of all errors of this library."""

    code: ClassVar[str] = "agent_memory_error"
    retryable: bool = False


class InvalidInput(AgentMemoryError):
    """An argument is wrong; nothing was written."""

    code = "invalid_input"


class NotFound(AgentMemoryError):
    """There is no such item in this scope. An item of another user gives the same error."""

    code = "not_found"


class Conflict(AgentMemoryError):
    """The id holds other content, or somebody else changed the item first."""

    code = "conflict"


class QuotaExceeded(AgentMemoryError):
    """The user's tier allows no more memories."""

    code = "quota_exceeded"


class MemoryDisabled(AgentMemoryError):
    """Memory is switched off for this scope."""

    code = "memory_disabled"


class StaticMemoryError(AgentMemoryError):
    """Static knowledge cannot be changed through a scope."""

    code = "static_memory"


class ConfigurationError(AgentMemoryError):
    """Settings contradict each other, or the store that they open."""

    code = "configuration"


class StoreUnavailable(AgentMemoryError):
    """The store did not answer in time, throttled, or is closed. The call may be repeated."""

    code = "store_unavailable"
    retryable = True


class ModelError(AgentMemoryError):
    """A model returned no usable answer.

    `retryable` is true after a timeout, a throttled call or a server fault; try again after `retry_after` seconds, if
    set. It is false for an unusable answer. `cost` has the cost of the attempts, with the field names of
    `models.Usage`. If the service itself failed, `fault` says how, with a value of `models.EndpointHealth.fault`.
    """

    code = "model"

    def __init__(
        self,
        message: str,
        *,
        retryable: bool = False,
        retry_after: float | None = None,
        cost: Mapping[str, float] | None = None,
        fault: str | None = None,
    ) -> None:
        super().__init__(message)
        self.cost = dict(cost or {})
        self.fault = fault
        self.retryable = retryable
        self.retry_after = retry_after
