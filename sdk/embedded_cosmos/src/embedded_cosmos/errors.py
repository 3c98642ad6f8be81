"""The one error of the engine: a Cosmos DB status, substatus, code and message.

Every layer raises `CosmosError`; the REST layer turns it into a response. Nothing else reaches a caller.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

CROSS_PARTITION_NOT_SERVABLE = 1004


class CosmosError(Exception):
    """A 4xx or 5xx response, as Cosmos DB would send it."""

    details: Mapping[str, str] = MappingProxyType({})
    """Fields of the response body besides code and message."""

    def __init__(self, status: int, code: str, message: str, substatus: int | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.substatus = substatus
        self.code = code
        self.message = message

    def __str__(self) -> str:
        substatus = "" if self.substatus is None else f"/{self.substatus}"
        return f"{self.status}{substatus} {self.code}: {self.message}"


class PlanNeeded(CosmosError):
    """A query spans partitions whose answers the client must merge. The body tells the client how."""

    def __init__(self, plan: str) -> None:
        super().__init__(
            400,
            "BadRequest",
            "The query spans several partition key ranges, whose results have to be merged: the client must ask for"
            " its query plan, and send what that says to each range.",
            CROSS_PARTITION_NOT_SERVABLE,
        )
        self.details = {"additionalErrorInfo": plan}


class TakesLong(Exception):
    """A request could not be answered immediately, because it may take long. Nothing was changed."""


class EngineFileError(CosmosError):
    """The store file cannot be opened: foreign, corrupt, of another version, or in use."""

    def __init__(self, message: str) -> None:
        super().__init__(503, "ServiceUnavailable", message)


class Holder(NamedTuple):
    """The process that has a store file open, and since when (seconds since 1970)."""

    process: int
    program: str
    since: float


class EngineFileInUse(EngineFileError):
    """Another engine, here or in another process, has the store file open.

    Attributes:
        holder: That process; None if it cannot be known, as on Windows.
    """

    def __init__(self, message: str, holder: Holder | None = None) -> None:
        super().__init__(message)
        self.holder = holder


class EngineForked(EngineFileError):
    """The engine is used in a fork of the process that opened it. Only that process may use it."""

    def __init__(self, owner: int) -> None:
        super().__init__(
            f"The engine was opened by process {owner}; this process is its fork. Open the store after the fork."
        )


def damaged(item_id: str) -> CosmosError:
    """500: the stored bytes of an item are not a JSON object."""
    return CosmosError(
        500,
        "InternalServerError",
        f"The document '{item_id}' is damaged in the store file and cannot be read."
        " Restore the file from a backup, or delete the document.",
    )


def bad_request(message: str, substatus: int | None = None) -> CosmosError:
    """400: the request is malformed, or the engine does not support it."""
    return CosmosError(400, "BadRequest", message, substatus)


def unauthorized(message: str) -> CosmosError:
    """401: the request is not signed with the account's key."""
    return CosmosError(401, "Unauthorized", message)


def forbidden(message: str) -> CosmosError:
    """403: the request is signed, but not allowed."""
    return CosmosError(403, "Forbidden", message)


def not_found(message: str, substatus: int | None = None) -> CosmosError:
    """404: no such resource."""
    return CosmosError(404, "NotFound", message, substatus)


def not_allowed(message: str) -> CosmosError:
    """405: the verb does not apply to this path."""
    return CosmosError(405, "MethodNotAllowed", message)


def conflict(message: str) -> CosmosError:
    """409: a resource with this id exists."""
    return CosmosError(409, "Conflict", message)


def gone(message: str, substatus: int | None = None) -> CosmosError:
    """410: the continuation or partition key range no longer belongs to this container."""
    return CosmosError(410, "Gone", message, substatus)


def precondition_failed(message: str) -> CosmosError:
    """412: an ETag or a patch condition did not hold."""
    return CosmosError(412, "PreconditionFailed", message)


def too_large(message: str) -> CosmosError:
    """413: an item or a batch is over its size limit."""
    return CosmosError(413, "RequestEntityTooLarge", message)


def unavailable(message: str) -> CosmosError:
    """503: the engine is closed."""
    return CosmosError(503, "ServiceUnavailable", message)
