"""Errors of the local host."""

from __future__ import annotations


class HostError(Exception):
    """The host does not support what the app or a caller requests. The message says what, and what to do."""


class InvocationFailed(Exception):
    """A function raised. `details` is its traceback."""

    def __init__(self, message: str, details: str) -> None:
        super().__init__(message)
        self.details = details
