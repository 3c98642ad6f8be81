"""The decorator of scope methods that are recorded in the audit."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Coroutine
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from agent_memory import telemetry
from agent_memory.errors import StoreUnavailable
from agent_memory.models import Context, ForgetReceipt, Hit, Memory, Provenance, Receipt, Reflection, Turn
from agent_memory.runtime import Runtime

P = ParamSpec("P")
R = TypeVar("R")


class _Scope(Protocol):
    user_id: str

    @property
    def thread_id(self) -> str | None: ...

    @property
    def _runtime(self) -> Runtime: ...


S = TypeVar("S", bound=_Scope)
Method = Callable[Concatenate[S, P], Coroutine[Any, Any, R]]


def audited(
    *, changes: bool, operation: str | None = None, patient: bool = False
) -> Callable[[Method[S, P, R]], Method[S, P, R]]:
    """Records each successful call of a method: who made it, and the ids of what it returned or changed.

    With an `operation`, one of the GenAI conventions, the call is a span of that name. A read ends with
    `StoreUnavailable` after `RecallSettings.read_timeout`, unless it is `patient`: a busy store may ask for long waits.
    """

    def traced(method: Method[S, P, R], name: str) -> Method[S, P, R]:
        @functools.wraps(method)
        async def call(scope: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
            store = scope._runtime.store
            with telemetry.operation(name, store.name, in_process=store.in_process, thread_id=scope.thread_id) as span:
                result = await method(scope, *args, **kwargs)
                telemetry.note_records(span, ids_of(result))
                return result

        return call

    def bounded(method: Method[S, P, R]) -> Method[S, P, R]:
        @functools.wraps(method)
        async def call(scope: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
            limit = scope._runtime.searcher.settings.read_timeout
            try:
                async with asyncio.timeout(limit or None) as waiting:
                    return await method(scope, *args, **kwargs)
            except TimeoutError as error:
                if not waiting.expired():
                    raise
                message = f"the store did not answer within {limit:g} s (AGENT_MEMORY_RECALL_READ_TIMEOUT)"
                raise StoreUnavailable(message) from error

        return call

    def mark(given: Method[S, P, R]) -> Method[S, P, R]:
        untraced = given if changes or patient else bounded(given)
        method = untraced if operation is None else traced(untraced, operation)

        @functools.wraps(method)
        async def noted(scope: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
            auditor = scope._runtime.auditor
            if kwargs.get("everything") and not kwargs.get("dry_run"):
                # Nothing may be written about a user who is being erased.
                await auditor.drop(scope.user_id)
                return await method(scope, *args, **kwargs)
            result = await method(scope, *args, **kwargs)
            real = changes and not (isinstance(result, ForgetReceipt) and result.dry_run)
            auditor.note(scope.user_id, method.__name__, changes=real, thread_id=scope.thread_id, ids=ids_of(result))
            return result

        return noted

    return mark


def ids_of(result: object) -> list[str]:
    """The ids of the memories and turns in a method's result."""
    if isinstance(result, Memory | Turn):
        return [result.id]
    if isinstance(result, Hit | Provenance):
        return [result.memory.id]
    if isinstance(result, Receipt):
        return result.ids
    if isinstance(result, Context):
        return [used["id"] for used in result.used if "id" in used]
    if isinstance(result, Reflection):
        return list(dict.fromkeys(one.memory_id for sentence in result.sentences for one in sentence.evidence))
    if isinstance(result, ForgetReceipt):
        return [one for ids in result.deleted.values() for one in ids]
    if isinstance(result, list):
        return [one for item in result for one in ids_of(item)]
    return []
