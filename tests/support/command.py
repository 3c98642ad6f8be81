"""`agent-memory` commands, run in this process."""

import json
from typing import Any

from typer.testing import CliRunner, Result

from agent_memory.cli.main import app


def run(*arguments: object, code: int | None = 0, given: str | None = None, **environment: str) -> Result:
    """Runs a command; its exit status must be `code`, if one is given. `given` is typed into it."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], input=given, env=environment)
    assert code in (None, result.exit_code), result.output
    return result


def parsed(*arguments: object) -> Any:
    """What a command prints with `--json`."""
    return json.loads(run(*arguments, "--json").stdout)
