"""Telemetry: spans and metrics by OpenTelemetry. They cost next to nothing until the application configures an SDK.

Operations have the names of the GenAI semantic conventions for memory (create_memory, search_memory, …), tokens and
request units those of the conventions for GenAI clients and for Azure Cosmos DB. The conventions are in development and
moved to open-telemetry/semantic-conventions-genai, so the names are listed here. Content and users are never recorded.

Other libraries' messages about each request stay out of a program's log, unless the program wants them. At INFO the
Cosmos SDK logs every request with its partition key, which begins with the user's id. A library must not change the
levels of other loggers. So our clients use a logger of our own, and a filter drops what `httpx` logs about our model
calls. Programs (the function app, the command line) set the levels of whole libraries with `quiet_libraries`.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from opentelemetry import metrics, trace

from agent_memory.models import Usage

_tracer = trace.get_tracer("agent_memory")
_meter = metrics.get_meter("agent_memory")

exact_dedup_skipped = _meter.create_counter(
    "exact_dedup_skipped", description="Extracted memories that existed already, word for word"
)
dead_letters = _meter.create_counter("dead_letters", description="Ranges of turns that a step gave up on")
change_feed_failures = _meter.create_counter(
    "change_feed_failures", description="Batches of the change feed, and users in them, whose turns or work failed"
)
change_feed_lag = _meter.create_histogram(
    "change_feed_lag", unit="s", description="How long the oldest turn of a batch had waited when it was counted"
)
write_to_recall = _meter.create_histogram(
    "write_to_recall", unit="s", description="How long the oldest turn of a run had waited when a search could find it"
)
model_pauses = _meter.create_counter(
    "model_pauses", description="Pauses of calls to a failing model, one each time it fails again"
)
models_paused = _meter.create_up_down_counter(
    "models_paused", description="Models to which this process makes no calls now, because they fail"
)
relevant_not_retrieved = _meter.create_histogram(
    "relevant_not_retrieved",
    unit="{memory}",
    description="Memories above the relevance threshold that a sampled search did not return",
)
relevant_retrieved = _meter.create_counter(
    "relevant_retrieved",
    unit="{memory}",
    description="Memories above the relevance threshold that sampled searches returned",
)
_token_usage = _meter.create_histogram(
    "gen_ai.client.token.usage", unit="{token}", description="Tokens that background work used, by step"
)
_request_charge = _meter.create_histogram(
    "azure.cosmosdb.client.operation.request_charge",
    unit="{request_unit}",
    description="Request units of each request to the store, by operation or step",
)

_doing: ContextVar[str] = ContextVar("agent_memory_operation", default="other")


@contextmanager
def doing(name: str) -> Iterator[None]:
    """Sets the step or operation to which the store requests inside belong. The innermost one counts."""
    token = _doing.set(name)
    try:
        yield
    finally:
        _doing.reset(token)


@contextmanager
def operation(name: str, store: str, *, in_process: bool, thread_id: str | None = None) -> Iterator[trace.Span]:
    """A span around one memory operation.

    Args:
        name: One of the conventions' operations.
        store: The store's name.
        in_process: Whether the store is an engine in this process.
        thread_id: The conversation, if the operation is about one.
    """
    attributes = {"gen_ai.operation.name": name, "gen_ai.memory.store.id": store}
    if thread_id is not None:
        attributes["gen_ai.conversation.id"] = thread_id
    kind = trace.SpanKind.INTERNAL if in_process else trace.SpanKind.CLIENT
    # An error's message may quote what a user said, so only its kind is recorded.
    started = _tracer.start_as_current_span(
        name, kind=kind, attributes=attributes, record_exception=False, set_status_on_exception=False
    )
    with doing(name), started as span:
        try:
            yield span
        except Exception as error:
            span.set_attribute("error.type", getattr(error, "code", type(error).__name__))
            span.set_status(trace.StatusCode.ERROR)
            raise


def note_records(span: trace.Span, ids: Sequence[str]) -> None:
    """Sets on a span how many records it was about, and the id if there is only one."""
    span.set_attribute("gen_ai.memory.record.count", len(ids))
    if len(ids) == 1:
        span.set_attribute("gen_ai.memory.record.id", ids[0])


def note_degraded(degraded: Sequence[str]) -> None:
    """Sets on the current span which parts are missing (`vector search`, `text search`, …), without the reasons."""
    if degraded:
        parts = sorted({part.partition(":")[0] for part in degraded})
        trace.get_current_span().set_attribute("agent_memory.degraded", parts)


def note_usage(step: str, usage: Usage) -> None:
    """Counts the tokens that a step used."""
    counts = (
        ("chat", "input", usage.input_tokens),
        ("chat", "output", usage.output_tokens),
        ("embeddings", "input", usage.embedded_tokens),
    )
    for name, kind, tokens in counts:
        if tokens:
            attributes = {"gen_ai.operation.name": name, "gen_ai.token.type": kind, "agent_memory.step": step}
            _token_usage.record(tokens, attributes)


def note_request(units: float) -> None:
    """Counts the request units of one request to the store, for the current operation."""
    _request_charge.record(units, {"agent_memory.operation": _doing.get()})


STORE_REQUESTS = logging.getLogger("agent_memory.requests")
"""Logs each request to Cosmos DB, with user ids. `setLevel(logging.INFO)` turns this on."""
if STORE_REQUESTS.level == logging.NOTSET:
    STORE_REQUESTS.setLevel(logging.WARNING)

LIBRARIES = ("azure", "httpx", "httpx2", "openai", "anthropic", "google_genai", "LiteLLM")
_HTTP_CLIENTS = ("httpx", "httpx2")
"""The HTTP clients of the openai package, before and since version 3."""
_in_our_call: ContextVar[bool] = ContextVar("in_our_call", default=False)


def quiet_libraries() -> None:
    """For programs: limits these libraries to warnings and errors. A level that was set before stays."""
    for name in LIBRARIES:
        logger = logging.getLogger(name)
        if logger.level == logging.NOTSET:
            logger.setLevel(logging.WARNING)


@contextmanager
def unlogged_requests() -> Iterator[None]:
    """Suppresses the INFO messages of HTTP clients about the requests inside the block.

    The program's own requests with the same library are logged as before. If the program has set the level of the
    library's logger, our requests are logged, too.
    """
    for name in _HTTP_CLIENTS:
        logging.getLogger(name).addFilter(_wanted)  # harmless if it is there already
    token = _in_our_call.set(True)
    try:
        yield
    finally:
        _in_our_call.reset(token)


def _wanted(record: logging.LogRecord) -> bool:
    asked_for = logging.getLogger(record.name).level != logging.NOTSET
    return asked_for or record.levelno >= logging.WARNING or not _in_our_call.get()
