"""The time zone of the user whose memory is shown: days in a terminal are those where the user is."""

from __future__ import annotations

from contextvars import ContextVar
from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING

from agent_memory.errors import AgentMemoryError

if TYPE_CHECKING:
    from agent_memory.sync import ThreadScope, UserScope

_zone: ContextVar[tzinfo] = ContextVar("zone", default=UTC)


def show_utc() -> None:
    """From now on, days are those of UTC: nothing is known of a user yet."""
    _zone.set(UTC)


def show_zone_of(*scopes: UserScope | ThreadScope) -> None:
    """From now on, days are those of the first of these scopes whose settings name a time zone; else of UTC.

    A scope whose settings cannot be read counts as one without: no command fails for its days.
    """
    show_utc()
    for scope in scopes:
        try:
            name = scope.settings().time_zone
        except AgentMemoryError:
            continue
        if name is not None:
            from agent_memory.models import time_zone

            _zone.set(time_zone(name))
            return


def local(moment: datetime) -> datetime:
    """A time where the user is."""
    from agent_memory.models import there

    return there(moment, _zone.get())
