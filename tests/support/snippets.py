"""The code of pages, run as a reader would type it."""

import os
import re
import subprocess
import sys
from pathlib import Path

BLOCK = re.compile(r"^```(python|bash)\n(.*?)^```", re.DOTALL | re.MULTILINE)


def run(language: str, code: str, folder: Path, **more: str) -> str:
    """Runs a snippet in a process of its own, as typed in a terminal of the activated environment."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OPENAI", "AZURE", "COSMOS"))}
    command = [sys.executable, "-c", code] if language == "python" else ["bash", "-euo", "pipefail", "-c", code]
    environment = kept | {"PATH": path} | more
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment, timeout=300)
    assert done.returncode == 0, f"{code}\n{done.stdout}\n{done.stderr}"
    return done.stdout
