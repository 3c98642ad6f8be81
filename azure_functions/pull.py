"""Pull: runs steps on demand, as orchestrations of the workflows that the change feed starts, too."""

from __future__ import annotations

import json
from contextvars import ContextVar
from typing import Any

import azure.durable_functions as df

from agent_memory.api.processing import mark_of, step_request
from agent_memory.contract.schemas import ProcessQuery, ProcessRun
from agent_memory.models import ProcessResult
from agent_memory.processing.due import instance_id, is_run_of
from agent_memory.processing.starts import Start
from agent_memory.runtime import Runtime
from agent_memory.store.documents import from_document
from agent_memory.text.patterns import linear
from azure_functions.orchestrators import workflow_name
from azure_functions.wiring import ACTIVE, start

_RUN_ID = linear(r"[A-Za-z][A-Za-z0-9_.:-]{0,99}")

durable_client: ContextVar[df.DurableOrchestrationClient] = ContextVar("durable_client")
"""The Durable client of the current request."""


class DurableProcessing:
    """Runs steps as orchestrations, through the Durable client of the request.

    Two equal requests with no new turn between them get the same run. The management URLs of Durable Functions are
    never sent to callers, because their key gives access to the runs of all users.
    """

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    async def start(self, user_id: str, step: str, query: ProcessQuery) -> ProcessRun:
        """Starts an orchestration, unless the same one is running."""
        client = durable_client.get()
        request = step_request(self._runtime, user_id, step, query)
        mark = await mark_of(self._runtime, request, query)
        run = Start(step, instance_id(step, user_id, query.thread_id or "", mark), request)
        await start(client, run)
        return ProcessRun(id=run.instance_id, step=step, status="running")

    async def status(self, user_id: str, run_id: str) -> ProcessRun | None:
        """The state of this user's run. Runs of other users are not looked up, because the time would reveal them."""
        client = durable_client.get()
        if not _RUN_ID.fullmatch(run_id) or not is_run_of(user_id, run_id):  # the SDK puts the id into a URL unescaped
            return None
        found = await client.get_status(run_id, show_input=True)
        if not found or _owner(found.input_) != user_id:
            return None
        status, name = found.runtime_status, workflow_name(found.name)
        run = ProcessRun(id=run_id, step=name, status="running")
        if status in ACTIVE:
            return run
        if status != df.OrchestrationRuntimeStatus.Completed:
            return run.model_copy(update={"status": status.value.lower(), "error": str(found.output)})
        results = [from_document(ProcessResult, result) for result in found.output]
        result = self._runtime.outcome(name, results, _request_of(found.input_))
        return run.model_copy(update={"status": "completed", "result": result})


def _request_of(given: Any) -> dict[str, Any]:
    """The request in an orchestration's input. Clients send JSON, or a text of JSON."""
    plain = json.loads(given) if isinstance(given, str) else given
    request: dict[str, Any] = plain["request"]
    return request


def _owner(given: Any) -> str | None:
    """The user of an orchestration, from its input."""
    try:
        return str(_request_of(given)["user_id"])
    except (KeyError, TypeError):  # an orchestration of another app
        return None
