"""Runs something in a forked child, with a bound on its time."""

import os
import select
import signal
import traceback
import warnings
from collections.abc import Callable

SECONDS = 15.0


def in_child(work: Callable[[], str]) -> str:
    """What `work` returns in a fork of this process; AssertionError with its traceback, or if it hangs."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forks of processes with threads: that is the test
        child = os.fork()
    if child == 0:
        try:
            said = "ok:" + work()
        except BaseException:
            said = traceback.format_exc()
        os.write(writing, said.encode())
        os._exit(0)
    os.close(writing)
    try:
        ready, _, _ = select.select([reading], [], [], SECONDS)
        assert ready, "the child hangs"
        chunks = []
        while chunk := os.read(reading, 65536):
            chunks.append(chunk)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(reading)
    said = b"".join(chunks).decode()
    assert said.startswith("ok:"), said
    return said.removeprefix("ok:")
