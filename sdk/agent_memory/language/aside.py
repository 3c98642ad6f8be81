"""A separate thread for the rules, which keep the processor and the interpreter's lock busy.

Several such threads would not be faster, and a thread that answers requests would wait for each of them before it gets
the lock.
"""

from __future__ import annotations

import asyncio
import contextvars
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


@cache
def _thread() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=1, thread_name_prefix="agent-memory-rules")


os.register_at_fork(after_in_child=_thread.cache_clear)


async def aside(function: Callable[P, T], /, *args: P.args, **options: P.kwargs) -> T:
    """Calls a function in that thread, after earlier calls. Give it small pieces of work."""
    call = partial(contextvars.copy_context().run, function, *args, **options)
    return await asyncio.get_running_loop().run_in_executor(_thread(), call)
