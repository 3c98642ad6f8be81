"""When a call to a model service is tried again: one policy, in one place, for chat and embeddings."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import TypeVar

import tenacity

from agent_memory.errors import ModelError

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Limits on the retries of one call. Times are in seconds.

    Waits grow exponentially from `first_wait` to `longest_wait`, with full jitter, on top of the wait that the
    server asked for. A wait that does not fit into `total` does not start: the call fails and reports its length.

    When all retries of a call have failed, calls to the service pause for `first_pause`. After further failures they
    pause for `next_pause`, twice as long each time, up to `longest_pause`, unless the service asks for longer
    (`language.endpoints`). So it is tried at most once a minute. A spent quota is not retried at all: no wait that fits
    into a call refills it.
    """

    attempts: int = 5
    total: float = 120.0
    first_wait: float = 0.5
    longest_wait: float = 20.0
    first_pause: float = 5.0
    next_pause: float = 60.0
    longest_pause: float = 300.0

    def pause(self, failures: int) -> float:
        """How long a service is left alone that has failed again this many times, in seconds."""
        again = self.next_pause * 2.0 ** min(failures - 1, 32) if failures else self.first_pause
        return min(again, self.longest_pause)

    async def run(self, call: Callable[[], Awaitable[T]]) -> T:
        """Runs a call until it succeeds, fails for good, or the bounds are reached.

        Raises:
            ModelError: the last failure; retryable if another attempt might have succeeded.
        """
        backoff = tenacity.wait_random_exponential(multiplier=self.first_wait, max=self.longest_wait)
        retrying = tenacity.AsyncRetrying(
            retry=tenacity.retry_if_exception(_is_retryable),
            stop=tenacity.stop_after_attempt(self.attempts) | tenacity.stop_before_delay(self.total),
            wait=lambda state: _asked_wait(state) + backoff(state),
            reraise=True,
        )

        async def attempt() -> T:  # tenacity awaits only what it recognises as a coroutine function
            return await call()

        return await retrying(attempt)


def _is_retryable(error: BaseException) -> bool:
    return isinstance(error, ModelError) and error.retryable and error.fault != "quota"


def _asked_wait(state: tenacity.RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome else None
    return (error.retry_after or 0.0) if isinstance(error, ModelError) else 0.0


def retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """The wait in seconds that a response asks for: milliseconds, seconds or a date; None if there is none.

    Args:
        headers: with names in lower case, or in a case-insensitive mapping.
        now: the time from which a date is counted.
    """
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) * unit
        except ValueError:
            continue
        if math.isfinite(seconds):
            return max(seconds, 0.0)
    try:
        date = parsedate_to_datetime(headers.get("retry-after", ""))
        return max((date - now).total_seconds(), 0.0)
    except (TypeError, ValueError):  # no date, or one without a zone
        return None
