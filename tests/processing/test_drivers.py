"""How a workflow is run in a process: which failures are tried again, and when a race is given up."""

from typing import Any

import pytest

from agent_memory.errors import ModelError
from agent_memory.processing.activities import ATTEMPTS, run_workflow
from agent_memory.processing.workflows import MAX_RACES

DONE = {"raced": False, "more": False, "result": {"step": "summarize"}}


@pytest.mark.parametrize(
    ("error", "tries"),
    [
        (ModelError("busy", retryable=True), ATTEMPTS),
        (ModelError("busy", retryable=True, retry_after=5), 1),  # the model's adapter has waited already
        (ModelError("nonsense"), 1),
    ],
    ids=["temporary", "asks for a wait", "final"],
)
async def test_a_failure_is_tried_again_if_it_may_pass_soon(
    monkeypatch: pytest.MonkeyPatch, error: ModelError, tries: int
):
    monkeypatch.setattr("tenacity.asyncio._portable_async_sleep", no_wait)
    asked = 0

    async def failing(_: dict[str, Any]) -> None:
        nonlocal asked
        asked += 1
        raise error

    with pytest.raises(ModelError):
        await run_workflow("erase", {"user_id": "alice"}, {"erase_piece": failing})
    assert asked == tries


async def no_wait(_: float) -> None:
    pass


async def test_only_races_lost_in_a_row_count():
    lost = [{"raced": True}] * (MAX_RACES - 1)
    commits = iter([*lost, DONE | {"more": True}, *lost, DONE])

    async def think(_: dict[str, Any]) -> dict[str, Any]:
        return {"draft": 1}

    async def commit(_: dict[str, Any]) -> dict[str, Any]:
        return next(commits)

    thread = {"user_id": "alice", "thread_id": "t"}
    results = await run_workflow("summarize", thread, {"summarize.think": think, "commit": commit})
    assert len(results) == 2
    assert next(commits, None) is None
