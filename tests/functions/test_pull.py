"""The status of a run on demand: nothing is asked of the Durable host for a run of another user, or of nobody."""

from typing import Any

import pytest

from agent_memory import AsyncMemory
from agent_memory.processing.due import instance_id
from azure_functions.pull import DurableProcessing, durable_client


class Host:
    """A Durable client that knows no runs, and keeps what it is asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def get_status(self, run_id: str, **_: Any) -> None:
        self.asked.append(run_id)


@pytest.mark.parametrize("thread", ["t1", "café/1", ""])
@pytest.mark.parametrize(("alice", "bob"), [("alice", "bob"), ("alïce", "böb"), ("a" * 200, "b" * 200)])
async def test_a_forged_id_of_a_run_is_not_even_looked_up(memory: AsyncMemory, alice: str, bob: str, thread: str):
    host, processing = Host(), DurableProcessing(memory.runtime)
    token = durable_client.set(host)  # type: ignore[arg-type]
    try:
        hers, his = (instance_id("extract", user, thread, "pull-3") for user in (alice, bob))
        for forged in (hers, hers.replace("extract", "summarize"), "nothing", "a:b", f"{hers}:{bob}", f"x:{alice}"):
            assert await processing.status(bob, forged) is None
        assert host.asked == []
        assert await processing.status(bob, his) is None
        assert host.asked == [his]
    finally:
        durable_client.reset(token)
