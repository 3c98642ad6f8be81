"""Rate limits for each caller. Each process counts separately."""

from __future__ import annotations

import math
import time

from limits import RateLimitItem, parse_many
from limits.storage import MemoryStorage
from limits.strategies import SlidingWindowCounterRateLimiter
from starlette.exceptions import HTTPException

from agent_memory.errors import ConfigurationError


class Rates:
    """Limits such as `20/second;600/minute`, for each caller and the user that it acts for. Without text: no limit."""

    def __init__(self, text: str | None = None) -> None:
        try:
            self._limits: list[RateLimitItem] = parse_many(text) if text else []
        except ValueError as error:
            raise ConfigurationError(f"{text!r} is not a rate limit such as 600/minute") from error
        self._window = SlidingWindowCounterRateLimiter(MemoryStorage())

    def take(self, caller: str, user_id: str) -> None:
        """Counts a request.

        Raises:
            HTTPException: 429, if it is one too many.
        """
        for limit in self._limits:
            if not self._window.hit(limit, caller, user_id):
                resets = self._window.get_window_stats(limit, caller, user_id).reset_time
                wait = max(1, math.ceil(resets - time.time()))
                raise HTTPException(429, f"at most {limit}", headers={"Retry-After": str(wait)})
