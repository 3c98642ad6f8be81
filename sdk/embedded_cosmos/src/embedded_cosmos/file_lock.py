"""One process at a time: an advisory lock on a file next to the store. The system releases it when the holder dies.

The lock belongs to the file and not to a spelling of its name: symbolic links and relative paths are resolved, and a
store with several hard links is recognised by its device and inode.
"""

from __future__ import annotations

import os
import sys
import threading
import weakref
from pathlib import Path
from typing import IO

from embedded_cosmos.errors import EngineFileError, EngineFileInUse, Holder

if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

    def _is_read_elsewhere(store: Path) -> bool:
        return False
else:
    import fcntl

    # Where SQLite holds its read lock as long as a store is open: https://sqlite.org/src/file/src/os.h, SHARED_FIRST.
    _SHARED_FIRST, _SHARED_SIZE = 0x40000002, 510

    def _lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _is_read_elsewhere(store: Path) -> bool:
        """Whether another process has the file open as an SQLite database, under whatever name."""
        with store.open("r+b") as file:
            try:
                fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, _SHARED_SIZE, _SHARED_FIRST)
            except OSError:
                return True
        return False


FileId = tuple[int, int]
_LONGEST_NAME = 80

_guard = threading.Lock()
_held: set[FileId] = set()
_locks: weakref.WeakSet[FileLock] = weakref.WeakSet()


class FileLock:
    """Holds the lock of a store file from construction to `release`.

    The lock is on a separate file: SQLite's locks on the store would be lost as soon as anything else in this
    process opened and closed the store.

    Attributes:
        store: The file itself, without symbolic links.
    """

    def __init__(self, store: Path) -> None:
        self.store = store.resolve()
        if self.store.is_dir():
            raise EngineFileError(f"{store} is a folder, not a file.")
        self._id: FileId | None = None
        self._file = self._hold(store)
        try:
            self._claim(store)
            _sign(self._file)
        except BaseException:
            self._file.close()
            raise
        _locks.add(self)

    @property
    def is_in_place(self) -> bool:
        """Whether the file is still where it was opened, and no other one."""
        try:
            status = self.store.stat()
        except OSError:
            return False
        return self._id == (status.st_dev, status.st_ino)

    def release(self) -> None:
        """Let others open the store."""
        with _guard:
            if self._id is not None:
                _held.discard(self._id)
        self._file.close()

    def leave_to_parent(self) -> None:
        """For a forked child: the lock stays with the parent and ends with it, whatever the child does."""
        self._file.close()

    def _hold(self, given: Path) -> IO[bytes]:
        try:
            file = _lock_file(self.store).open("ab")
        except OSError as error:
            raise EngineFileError(f"{given} cannot be opened: {error.strerror}.") from error
        try:
            _lock(file.fileno())
        except OSError:
            file.close()
            raise _in_use(given, _holder(self.store)) from None
        return file

    def _claim(self, given: Path) -> None:
        """Create the file if it is missing, and take it. Nobody else may have it open under any of its names."""
        try:
            if not self.store.exists():
                self.store.touch(0o600)
            status = self.store.stat()
        except OSError as error:
            raise EngineFileError(f"{given} cannot be opened: {error.strerror}.") from error
        if not os.access(self.store, os.R_OK | os.W_OK):
            raise EngineFileError(f"{given} cannot be opened: this process may not read and write it.")
        identity = status.st_dev, status.st_ino
        with _guard:
            # Checked before opening: closing a second descriptor would release the locks of an engine in this process.
            if identity in _held or (status.st_nlink > 1 and _is_read_elsewhere(self.store)):
                raise _in_use(given)
            _held.add(identity)
            self._id = identity


def _lock_file(store: Path) -> Path:
    return store.with_name(store.name + "-lock")


def _sign(file: IO[bytes]) -> None:
    """Writes who holds the lock, for the error of others. On Windows nobody could read it."""
    if sys.platform == "win32":
        return
    try:
        file.truncate(0)
        file.write(f"{os.getpid()} {Path(sys.argv[0] if sys.argv else '').name}".encode(errors="replace"))
        file.flush()
    except OSError:  # a full disk: the lock holds all the same
        return


def _holder(store: Path) -> Holder | None:
    """Who has signed the lock that another process holds."""
    try:
        with _lock_file(store).open("rb") as file:
            process, _, program = file.read(_LONGEST_NAME).decode(errors="replace").partition(" ")
            return Holder(int(process), "".join(filter(str.isprintable, program)), os.fstat(file.fileno()).st_mtime)
    except (OSError, ValueError):
        return None


def _in_use(given: Path, holder: Holder | None = None) -> EngineFileInUse:
    if holder is None:
        where = "another process, or in another engine of this one"
    elif holder.process == os.getpid():
        where = "another engine of this process"
    else:
        where = f"another process: {holder.process}" + (f" ({holder.program})" if holder.program else "")
    return EngineFileInUse(f"{given} is open in {where}. Only one may use it at a time.", holder)


def _after_fork() -> None:
    # Open files stay in `_held`, because a child must not reopen a file whose connection it inherited.
    global _guard
    _guard = threading.Lock()  # a thread of the parent may have held the old one
    for lock in list(_locks):
        lock.leave_to_parent()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
