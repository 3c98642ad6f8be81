"""The table of steps: their names in the order in which they run, and what each declares about itself.

To add a step, write its module with its `STEP` in this folder, and name it below. Workflows, activities, due work, dead
letters, scopes, HTTP, command line and function app read the table.

The steps are loaded on first use: the names alone load neither the Cosmos SDK nor pydantic.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Literal, get_args

from agent_memory.errors import InvalidInput

if TYPE_CHECKING:
    from agent_memory.steps.step import Runs, Scope, Step

ThreadStep = Literal["index", "extract", "summarize", "archive"]
"""The steps of a thread that `process` runs."""
UserStep = Literal["reconcile", "profile", "consolidate", "synthesize", "reflect", "prune"]
"""The steps of a user that `process` runs."""
_OTHERS = ("reprocess",)
"""Steps that are run in their own way."""


@cache
def steps() -> dict[str, Step]:
    """All steps by their names."""
    names = (*get_args(ThreadStep), *get_args(UserStep), *_OTHERS)
    return {name: import_module(f"agent_memory.steps.{name}").STEP for name in names}


def those(scope: Scope, *runs: Runs) -> list[Step]:
    """The steps of a scope that are run in one of these ways, in their order."""
    return [step for step in steps().values() if step.scope == scope and step.runs in runs]


def on_demand(scope: Scope) -> list[str]:
    """The names of the steps of a scope that `process` runs."""
    return [name for name, step in steps().items() if step.scope == scope and name not in _OTHERS]


def check_step(scope: Scope, name: str) -> None:
    """Refuses a name that is not a step of a scope. Raises InvalidInput naming the steps that exist."""
    if name not in on_demand(scope):
        raise InvalidInput(f"a {scope}'s steps are {', '.join(on_demand(scope))}, not {name!r}")


def check_option(name: str, option: str) -> None:
    """Refuses an option that a step does not know. Raises InvalidInput naming both."""
    if name not in steps() or option not in steps()[name].options:
        raise InvalidInput(f"{name} knows no {option}")
