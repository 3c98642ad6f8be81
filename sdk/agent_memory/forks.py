"""Forks: what was opened in one process is of no use in a fork of it.

Threads do not come along, so whoever waits for one waits for ever, and locks stay as they were at that moment.
"""

from __future__ import annotations

import os

from agent_memory.errors import ConfigurationError


class Owner:
    """The process that opened something."""

    def __init__(self) -> None:
        self._process = os.getpid()

    def check(self) -> None:
        """Makes sure that this is the process.

        Raises:
            ConfigurationError: if it is another one, which can only be a fork.
        """
        if os.getpid() != self._process:
            raise ConfigurationError(
                f"this memory was opened by process {self._process}, of which this one is a fork: open a memory after"
                " the fork (gunicorn: in `post_fork` or the app's lifespan, without `preload_app`)"
            )
