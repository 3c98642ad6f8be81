"""The engine's server as a process of its own, for tests that stop or kill it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass
class ServerProcess:
    process: subprocess.Popen[str]
    url: str

    def stop(self, signal_number: int) -> tuple[int, str]:
        """Send the signal; the exit status, and what was written to stderr."""
        self.process.send_signal(signal_number)
        _, errors = self.process.communicate(timeout=60)
        return self.process.returncode, errors


def command(*options: object) -> list[str]:
    return [sys.executable, "-m", "embedded_cosmos", *map(str, options)]


@contextmanager
def server_process(*options: object) -> Iterator[ServerProcess]:
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command("--port", 0, *options), text=True, **pipes) as process:  # type: ignore[call-overload]
        try:
            ready, _, url = process.stdout.readline().strip().partition(" ")
            assert ready == "ready", process.stderr.read()
            yield ServerProcess(process, url)
        finally:
            process.kill()
