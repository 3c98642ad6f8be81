"""The note next to a store file: the address of the process that has it open, and its key.

Only the owner of the file can read it. A note can be left over from a process that was killed, and another program may
have its port by now. So a reader first requests proof that the other side knows the key.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
import stat
import urllib.request
from pathlib import Path
from typing import NamedTuple

PROOF_PATH = "/v1/host-proof"
PROOF_SECONDS = 2.0
"""How long the other process has to answer, in seconds."""
_SUFFIX = "-host"
_LONGEST = 4096
_LOOPBACK = "http://127.0.0.1:"
_DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))
"""Asks this machine, whatever proxy the environment names."""


class Note(NamedTuple):
    """Where a process answers, and the key to it."""

    url: str
    key: str


def note_path(store: Path) -> Path:
    """The note of a store file, the same for all of its names."""
    real = store.resolve()
    return real.with_name(real.name + _SUFFIX)


def write_note(store: Path, note: Note) -> None:
    """Leaves a note, in place of an older one. Raises OSError if the folder cannot be written to."""
    path = note_path(store)
    fresh = path.with_name(f"{path.name}-{secrets.token_hex(8)}")
    file = os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    try:
        with os.fdopen(file, "w") as writing:
            json.dump(note._asdict(), writing)
        fresh.replace(path)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise


def remove_note(store: Path, note: Note) -> None:
    """Takes a note back, if it is still there."""
    if read_note(store) == note:
        note_path(store).unlink(missing_ok=True)


def read_note(store: Path) -> Note | None:
    """The note, if there is one that nobody else can have read or written."""
    try:
        file = os.open(note_path(store), os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
        with os.fdopen(file) as reading:
            if os.name == "posix" and not _is_private(os.fstat(reading.fileno())):
                return None
            said = json.loads(reading.read(_LONGEST))
        note = Note(str(said["url"]), str(said["key"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return note if note.url.startswith(_LOOPBACK) else None


def find_host(store: Path) -> Note | None:
    """The process that has a store open and shares it; None if nobody does. Blocks for 2 seconds at most."""
    note = read_note(store)
    return note if note is not None and answers(note) else None


def answers(note: Note) -> bool:
    """Whether the process that left a note is still there."""
    challenge = secrets.token_urlsafe(32)
    try:
        with _DIRECT.open(f"{note.url}{PROOF_PATH}?challenge={challenge}", timeout=PROOF_SECONDS) as answer:
            said = json.loads(answer.read(_LONGEST))
        given = str(said["proof"])
    except (OSError, ValueError, KeyError, TypeError):  # OSError: refused, or not in time
        return False
    return hmac.compare_digest(given, proof(note.key, challenge))


def proof(key: str, challenge: str) -> str:
    """The proof of knowing the key."""
    return hmac.new(key.encode(), challenge.encode(), hashlib.sha256).hexdigest()


def _is_private(status: os.stat_result) -> bool:
    return status.st_uid == os.geteuid() and not status.st_mode & (stat.S_IRWXG | stat.S_IRWXO)
