"""How commands fail: what is wrong, what to do about it, and an exit status. Never a traceback for a mistake."""

from __future__ import annotations

import contextlib
import json
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

import typer
from typer.core import TyperGroup

from agent_memory.cli.terminal import clean, shown_json
from agent_memory.errors import AgentMemoryError, InvalidInput

FAILED = 1
USAGE = 2
"""What was typed cannot be used; nothing was done."""
INTERRUPTED, TERMINATED = 130, 143
"""As shells have it: 128 and the number of the signal."""
_ENDED = {INTERRUPTED: "interrupted", TERMINATED: "terminated"}

_UsageError = cast(type[Exception], typer.BadParameter.__base__)


class StoppedHalfway(AgentMemoryError):
    """What was given cannot be used, and a part of it may have been taken already."""

    code = InvalidInput.code


class Terminated(KeyboardInterrupt):
    """SIGTERM, which ends a command as Ctrl-C does: what it has open is closed, and it says how far it came."""


def end_on_sigterm() -> None:
    """Lets SIGTERM raise `Terminated`. A second one ends the process at once."""

    def end(*_: object) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        raise Terminated

    signal.signal(signal.SIGTERM, end)


@contextlib.contextmanager
def unfinished(state: Callable[[], str]) -> Iterator[None]:
    """Around long work: says how far it came when a signal ends it, and that the same command goes on from there."""
    try:
        yield
    except KeyboardInterrupt:
        typer.echo(clean(f"{state()} The same command goes on from there."), err=True)
        raise


@contextlib.contextmanager
def taking() -> Iterator[None]:
    """Around what takes in a file part by part, so that what cannot be used of it does not pass for nothing done."""
    try:
        yield
    except InvalidInput as error:
        hint = "what stands ahead of it may be written, and stays; the same command goes on from there"
        raise with_hint(StoppedHalfway(str(error)), hint) from error


class Commands(TyperGroup):
    """Commands whose expected failures are `error: …` and `hint: …` on stderr, or with --json an object there."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Runs a command line; exits with its status."""
        given = list(sys.argv[1:] if args is None else args)
        try:
            # Not standalone: errors come out, instead of being printed by the framework in a style of its own.
            status = super().main(given, prog_name, complete_var, False, windows_expand_args, **extra) or 0
        except AgentMemoryError as error:
            status = USAGE if isinstance(error, InvalidInput) else FAILED
            _tell(error.code, str(error), getattr(error, "__notes__", []), "--json" in given)
        except _UsageError as error:
            status = USAGE
            command = getattr(getattr(error, "ctx", None), "command_path", prog_name)
            reason = cast(Any, error).format_message().rstrip(".")
            _tell("usage", reason[:1].lower() + reason[1:], [f"see {command} --help"], "--json" in given)
        except typer.Abort:
            status = FAILED
            typer.echo(err=True)  # ends the line of the question
            _tell("aborted", "there was no answer", ["--yes answers in advance, where a command has it"], False)
        if status in _ENDED:
            typer.echo(_ENDED[status], err=True)
        sys.exit(status)

    def invoke(self, ctx: Any) -> Any:
        """Runs the command that was typed; the framework knows no signal but Ctrl-C's."""
        try:
            return super().invoke(ctx)
        except Terminated as ended:
            raise typer.Exit(TERMINATED) from ended


def with_hint(error: AgentMemoryError, hint: str) -> AgentMemoryError:
    """Adds to an error what the reader may do about it."""
    error.add_note(hint)
    return error


def _tell(code: str, message: str, hints: Sequence[str], as_json: bool) -> None:
    if as_json:
        problem = {"code": code, "message": message} | ({"hint": "; ".join(hints)} if hints else {})
        typer.echo(shown_json(json.dumps({"error": problem}, ensure_ascii=False)), err=True)
        return
    typer.echo(clean("\n".join([f"error: {message}", *(f"hint: {hint}" for hint in hints)])), err=True)
