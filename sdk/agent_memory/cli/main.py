"""The command `agent-memory`: its commands, and how they fail."""

from __future__ import annotations

import logging
import sys
from importlib.metadata import version
from io import TextIOWrapper
from typing import Annotated

from agent_memory.extras import DISTRIBUTION, how_to_install

try:
    import typer
except ImportError as error:
    raise SystemExit(f"the command line needs its extra: {how_to_install('cli,local')}") from error

from agent_memory.cli import (
    estimate,
    evaluate,
    forget,
    ingest,
    operate,
    quickstart,
    reembed,
    remember,
    search,
    serve,
    settings,
    show,
    status,
    transfer,
)
from agent_memory.cli.failures import Commands, end_on_sigterm
from agent_memory.cli.options import examples
from agent_memory.cli.terminal import CleanFormatter

app = typer.Typer(
    name="agent-memory",
    cls=Commands,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=examples("quickstart", "ingest chat.jsonl --user ann", 'context "What is my budget?" --user ann'),
)


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"agent-memory {version(DISTRIBUTION)}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def start(
    context: typer.Context,
    show_version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """A memory for AI agents: ingest conversations, see what was remembered, ask for context."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


app.command(epilog=quickstart.EXAMPLES)(quickstart.quickstart)
app.command(epilog=ingest.EXAMPLES)(ingest.ingest)
app.command(epilog=search.SEARCH_EXAMPLES)(search.search)
app.command(epilog=search.CONTEXT_EXAMPLES)(search.context)
app.command(epilog=search.REFLECT_EXAMPLES)(search.reflect)
app.command(epilog=show.EXAMPLES)(show.show)
app.command(epilog=show.THREADS_EXAMPLES)(show.threads)
app.command(epilog=remember.REMEMBER_EXAMPLES)(remember.remember)
app.command(epilog=remember.UPDATE_EXAMPLES)(remember.update)
app.command(epilog=remember.WHY_EXAMPLES)(remember.why)
app.command(epilog=operate.PROCESS_EXAMPLES)(operate.process)
app.command(epilog=operate.REPROCESS_EXAMPLES)(operate.reprocess)
app.command(epilog=reembed.EXAMPLES)(reembed.reembed)
app.command(epilog=settings.EXAMPLES)(settings.settings)
app.command(epilog=settings.EXTRACTION_EXAMPLES)(settings.extraction)
app.command(epilog=remember.REVIEW_EXAMPLES)(remember.review)
app.command(epilog=settings.AUDIT_EXAMPLES)(settings.audit)
app.command(epilog=forget.EXAMPLES)(forget.forget)
app.command(epilog=transfer.EXPORT_EXAMPLES)(transfer.export)
app.command("import", epilog=transfer.IMPORT_EXAMPLES)(transfer.import_)
app.command(epilog=status.EXAMPLES)(status.status)
app.command(epilog=status.DOCTOR_EXAMPLES)(status.doctor)
app.command(epilog=estimate.EXAMPLES)(estimate.estimate)
app.command("dead-letters", epilog=operate.LETTERS_EXAMPLES)(operate.dead_letters)
app.command(epilog=serve.EXPLORE_EXAMPLES)(serve.explore)
app.command(epilog=serve.SERVE_EXAMPLES)(serve.serve)
app.command(epilog=serve.MCP_EXAMPLES)(serve.mcp)
app.command("api-key", epilog=serve.KEY_EXAMPLES)(serve.api_key)
app.command("eval", epilog=evaluate.EXAMPLES)(evaluate.evaluate)
app.command(epilog=evaluate.JUDGE_EXAMPLES)(evaluate.judge)


def main() -> None:
    """Runs the command line."""
    log = logging.StreamHandler()
    log.setFormatter(CleanFormatter("%(levelname)s: %(message)s"))
    logging.basicConfig(handlers=[log], level=logging.WARNING)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # a character that the terminal lacks must not end the command
    end_on_sigterm()
    app(prog_name="agent-memory")
