"""How commands fail: with an error, a hint and an exit status, never with a traceback for a user's mistake."""

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
"""The command line is invalid; nothing was done."""
INTERRUPTED, TERMINATED = 130, 143
"""As in shells: 128 plus the number of the signal."""
_ENDED = {INTERRUPTED: "interrupted", TERMINATED: "terminated"}

_UsageError = cast(type[Exception], typer.BadParameter.__base__)


class StoppedHalfway(AgentMemoryError):
    """The input is invalid, and a part of it may have been written already."""

    code = InvalidInput.code


class Terminated(KeyboardInterrupt):
    """SIGTERM. It ends a command as Ctrl-C does: the command closes what it has open and reports its progress."""


def end_on_sigterm() -> None:
    """Lets SIGTERM raise `Terminated`. A second one ends the process immediately."""

    def end(*_: object) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        raise Terminated

    signal.signal(signal.SIGTERM, end)


@contextlib.contextmanager
def unfinished(state: Callable[[], str]) -> Iterator[None]:
    """Around long work: if a signal ends it, reports the progress, and that the same command continues from there."""
    try:
        yield
    except KeyboardInterrupt:
        typer.echo(clean(f"{state()} Run the same command again to continue."), err=True)
        raise


@contextlib.contextmanager
def taking() -> Iterator[None]:
    """Around reading a file in parts: an error in a later part must not look as if nothing had been written."""
    try:
        yield
    except InvalidInput as error:
        hint = "everything before it may already be written, and stays; run the same command again to continue"
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
            # Not standalone: errors are raised, instead of being printed by the framework in its own style.
            status = super().main(given, prog_name, complete_var, False, windows_expand_args, **extra) or 0
        except AgentMemoryError as error:
            status = USAGE if isinstance(error, InvalidInput) else FAILED
            _tell(error.code, str(error), getattr(error, "__notes__", []), "--json" in given)
        except _UsageError as error:
            status = USAGE
            command = getattr(getattr(error, "ctx", None), "command_path", prog_name)
            reason = cast(Any, error).format_message().rstrip(".")
            hints = [f"see {command} --help"]
            if command == prog_name and given and given[0].startswith("-"):
                hints = [f"options stand after the command: {prog_name} COMMAND {given[0]} …", *hints]
            _tell("usage", reason[:1].lower() + reason[1:], hints, "--json" in given)
        except typer.Abort:
            status = FAILED
            typer.echo(err=True)  # ends the line of the question
            hint = "add --yes to confirm in advance, if the command has it"
            _tell("aborted", "not confirmed", [hint], "--json" in given)
        if status in _ENDED:
            typer.echo(_ENDED[status], err=True)
        sys.exit(status)

    def invoke(self, ctx: Any) -> Any:
        """Runs the command; the framework handles no signal except Ctrl-C's."""
        try:
            return super().invoke(ctx)
        except Terminated as ended:
            raise typer.Exit(TERMINATED) from ended


def with_hint(error: AgentMemoryError, hint: str) -> AgentMemoryError:
    """Adds to an error what the reader can do about it."""
    error.add_note(hint)
    return error


def _tell(code: str, message: str, hints: Sequence[str], as_json: bool) -> None:
    if as_json:
        problem = {"code": code, "message": message} | ({"hint": "; ".join(hints)} if hints else {})
        typer.echo(shown_json(json.dumps({"error": problem}, ensure_ascii=False)), err=True)
        return
    typer.echo(clean("\n".join([f"error: {message}", *(f"hint: {hint}" for hint in hints)])), err=True)
