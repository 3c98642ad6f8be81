"""One process at a time: an advisory lock on a file beside the store, which the system drops when the holder dies."""

from __future__ import annotations

import sys
from pathlib import Path

from embedded_cosmos.errors import EngineFileError, EngineFileInUse

if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


class FileLock:
    """Holds the lock of a store file from construction to `release`.

    The lock lies on a file of its own: SQLite's locks on the store would be lost as soon as anything else in this
    process opened and closed the store.
    """

    def __init__(self, store: Path) -> None:
        path = store.with_name(store.name + "-lock")
        try:
            self._file = path.open("ab")
        except OSError as error:
            raise EngineFileError(f"{store} cannot be opened: {error.strerror}.") from error
        try:
            _lock(self._file.fileno())
        except OSError:
            self._file.close()
            raise EngineFileInUse(
                f"{store} is open in another process, or in another engine of this one. Only one may use it at a time."
            ) from None

    def release(self) -> None:
        """Let others open the store."""
        self._file.close()
