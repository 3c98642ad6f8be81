"""Forks: an open memory cannot be used in a fork of its process.

A fork has no copy of the threads, so waiting for one would never end, and its locks stay as they were.
"""

from __future__ import annotations

import os

from agent_memory.errors import ConfigurationError


class Owner:
    """The process that opened a memory."""

    def __init__(self) -> None:
        self._process = os.getpid()

    def check(self) -> None:
        """Checks that the current process is this one.

        Raises:
            ConfigurationError: if it is another process, that is, a fork.
        """
        if os.getpid() != self._process:
            raise ConfigurationError(
                f"this memory was opened by process {self._process}, and this one is a fork of it: open a memory after"
                " the fork (gunicorn: in `post_fork` or the app's lifespan, without `preload_app`)"
            )
