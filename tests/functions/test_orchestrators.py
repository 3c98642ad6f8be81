"""The orchestrators under replay: what they ask for, how they end, and that they always ask for the same."""

import json
import random
from collections.abc import Iterator
from functools import partial
from itertools import count
from typing import Any

import pytest
from durable_replay import Played, play

from agent_memory.processing.workflows import workflow_names
from azure_functions.orchestrators import CHECKPOINTS, FINISH, RETRY, orchestrate
from functions_host.replay import NonDeterministic, Task, Unsupported

THREAD = {"user_id": "alice", "thread_id": "t1"}
ATTEMPTS = RETRY.max_number_of_attempts


def committed(more: bool = False, raced: bool = False, step: str = "x") -> dict[str, Any]:
    return {"value": {"result": {"step": step}, "more": more, "raced": raced}}


class Script:
    """Gives each activity its outcomes in turn; when there are no more, thinking finds nothing to do."""

    def __init__(self, **outcomes: list[Any]) -> None:
        self._outcomes = {name: iter(values) for name, values in outcomes.items()}

    def __call__(self, task: Task) -> Any:
        nothing = {"threads": []} if task.name.endswith("_plan") else None
        default: Any = 0 if task.name == FINISH else [] if task.kind == "orchestration" else {"value": nothing}
        outcome = next(self._outcomes.get(task.name, iter(())), default)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


def run(workflow: str, request: dict[str, Any], script: Script, **given: Any) -> Played:
    return play(partial(_named, workflow), {"request": request, **given}, script)


def _named(workflow: str, context: Any) -> Iterator[Any]:
    return orchestrate(context, workflow)


@pytest.mark.req("S1-26", "S1-60")
def test_a_workflow_thinks_and_commits_until_there_is_no_more():
    script = Script(
        index=[committed(step="index")],
        extract_think=[{"value": {"draft": 2}}, {"value": {"draft": 3}}, {"value": {"draft": 4}}],
        commit=[
            committed(raced=True),
            committed(more=True, step="one"),
            committed(step="two"),
        ],
    )
    played = run("extract", THREAD, script)
    assert played.names == [
        "index",
        *("extract_think", "commit", "extract_think", "commit", "extract_think", "commit"),
    ]
    assert played.output == [{"step": "index"}, {"step": "one"}, {"step": "two"}]
    assert json.loads(played.tasks[0].input or "") == THREAD
    assert json.loads(played.tasks[2].input or "") == {"draft": 2}


@pytest.mark.parametrize("workflow", [name for name in workflow_names() if name not in ("settle", "replay")])
def test_every_workflow_replays_alike_whatever_fails_on_the_way(workflow: str):
    rng = random.Random(7)
    requests = {"settle_user": {"threads": ["t1", "t2"], "thread_steps": ["extract"], "user_steps": ["profile"]}}

    def perform(task: Task) -> Any:
        if rng.random() < 0.3:
            raise RuntimeError("throttled")
        if task.name in ("commit", "index"):
            return committed(more=rng.random() < 0.3, raced=rng.random() < 0.2)
        if task.kind == "orchestration":
            return [{"created": 1, "superseded": 0}]
        if task.name == "erase_piece":
            return {"value": {"more": rng.random() < 0.3}}
        if task.name == "reembed_piece":
            return {"value": {"done": rng.random() < 0.3}}
        if task.name in ("reprocess_plan", "summarize_plan"):
            return {"value": {"threads": [f"t{n}" for n in range(rng.randrange(12))]}}
        if task.name == "extract_and_summarize_think":
            drafts = {step: {"draft": task.id} for step in ("extract", "summarize") if rng.random() < 0.8}
            return {"value": {"drafts": drafts} if drafts else None}
        return {"value": {"draft": task.id} if rng.random() < 0.8 else None}

    for _ in range(5):
        played = play(partial(_named, workflow), {"request": THREAD | requests.get(workflow, {})}, perform)
        assert played.error is None or "throttled" in played.error


def test_a_temporary_fault_is_retried_and_a_permanent_one_reported_at_once():
    passing = run("profile", {"user_id": "alice"}, Script(profile_think=[RuntimeError("429")] * (ATTEMPTS - 1)))
    assert (passing.names, passing.output) == (["profile_think"] * ATTEMPTS, [])
    assert sum(task.kind == "timer" for task in passing.tasks) == ATTEMPTS - 1

    lasting = run("profile", {"user_id": "alice"}, Script(profile_think=[RuntimeError("429")] * ATTEMPTS))
    assert lasting.names == ["profile_think"] * ATTEMPTS
    assert "429" in (lasting.error or "")

    final = {"error": {"code": "invalid_input", "message": "no such thing"}}
    refused = run("profile", {"user_id": "alice"}, Script(profile_think=[final]))
    assert (refused.names, refused.error) == (["profile_think"], "invalid_input: no such thing")


def test_what_was_started_by_a_count_says_when_it_is_done():
    counts = {"t1": 12}
    done = run("summarize", THREAD, Script(), counts=counts)
    assert done.names == ["summarize_think", FINISH]
    assert json.loads(done.tasks[1].input or "") == {"workflow": "summarize", "request": THREAD, "counts": counts}
    assert run("summarize", THREAD, Script(), counts={}).names == ["summarize_think"]


@pytest.mark.parametrize(
    ("outcome", "finishes"),
    [
        ({"error": {"code": "model", "message": "nonsense"}}, True),
        ({"error": {"code": "configuration", "message": "no store"}}, False),
        (RuntimeError("the store is down"), False),
    ],
)
def test_only_a_model_that_gave_nonsense_is_left_alone_afterwards(outcome: Any, finishes: bool):
    script = Script(reconcile_think=[outcome] * ATTEMPTS)
    played = run("reconcile", {"user_id": "alice"}, script, counts={"": 3})
    assert played.error is not None
    assert (FINISH in played.names) is finishes


def test_a_backlog_is_processed_in_generations_with_small_histories():
    pieces = 2 * CHECKPOINTS + 3
    numbers = count()

    def perform(task: Task) -> Any:
        if task.name == "commit":
            number = next(numbers)
            return committed(more=number < pieces - 1, step=str(number))
        return {"value": {"vectors": "x" * 10_000}} if task.name == "summarize_think" else 0

    played = play(partial(_named, "summarize"), {"request": THREAD, "counts": {"t1": 400}}, perform)
    assert played.output == [{"step": str(n)} for n in range(pieces)]
    assert played.generations == 3
    assert played.largest_history < 4 * CHECKPOINTS * 10_000
    assert played.names.count(FINISH) == 1


def test_corrections_of_many_threads_are_generations_too_and_go_past_those_that_are_switched_off():
    left = [f"t{n}" for n in range(2 * CHECKPOINTS + 3)]
    everyone = list(left)

    def perform(task: Task) -> Any:
        asked = json.loads(task.input or "")
        if task.name == "summarize_plan":
            return {"value": {"threads": [*(f"off{n}" for n in range(CHECKPOINTS + 1)), *left]}}
        if task.name == "commit":
            left.remove(asked["thread"])
            return committed(step=asked["thread"])
        off = asked["thread_id"].startswith("off")
        return {"value": None if off else {"thread": asked["thread_id"]}}

    played = play(partial(_named, "correct"), {"request": {"user_id": "alice"}}, perform)
    assert [result["step"] for result in played.output] == everyone
    assert played.generations == 3


def test_the_end_of_a_conversation_is_one_orchestration_for_each_step():
    def perform(task: Task) -> Any:
        assert json.loads(task.input or "") == {"request": THREAD}
        return [{"step": task.name}]

    played = run("settle", THREAD, perform)  # type: ignore[arg-type]
    assert [(task.kind, task.name) for task in played.tasks] == [
        ("orchestration", name) for name in ("extract", "summarize", "archive", "reconcile", "profile")
    ]
    assert [result["step"] for result in played.output] == played.names


def test_threads_that_went_quiet_come_ahead_of_their_user():
    request = {
        "user_id": "alice",
        "threads": ["t1", "t2"],
        "thread_steps": ["summarize"],
        "user_steps": ["reconcile", "profile"],
    }
    played = run("settle_user", request, Script(), counts={"t1": 1, "t2": 2, "": 3})
    user_steps = ["reconcile_think", "correct", "profile_think"]
    assert played.names == ["summarize_think", "summarize_think", *user_steps, FINISH]
    assert [json.loads(task.input or "")["thread_id"] for task in played.tasks[:2]] == ["t1", "t2"]


def test_an_import_of_many_threads_has_small_histories_and_asks_finished_threads_nothing():
    threads = [f"t{n:02}" for n in range(5 * CHECKPOINTS)]
    left = dict.fromkeys(threads, 3)

    def perform(task: Task) -> Any:
        asked = json.loads(task.input or "")
        if task.name == "commit":
            left[asked["thread"]] -= 1
            return committed(more=left[asked["thread"]] > 0, step=asked["thread"])
        waiting = left.get(asked.get("thread_id", ""), 0)
        return {"value": {"thread": asked["thread_id"], "vectors": "x" * 10_000} if waiting else None}

    request = {"user_id": "alice", "threads": threads, "thread_steps": ["summarize"], "user_steps": ["profile"]}
    given = {"request": request, "counts": dict.fromkeys(threads, 30), "version": 2}
    played = play(partial(_named, "settle_user"), given, perform)
    assert [result["step"] for result in played.output] == [thread for thread in threads for _ in range(3)]
    assert played.names.count("commit") == 3 * len(threads)
    thinking = played.names.count("summarize_think")
    assert thinking <= 3 * len(threads) + played.generations, "a restart asks at most the thread that it was in"
    assert played.largest_history < 4 * CHECKPOINTS * 10_000
    assert played.names[-2:] == ["profile_think", FINISH]
    assert json.loads(played.tasks[-1].input or "")["counts"] == given["counts"]


def test_settling_that_version_1_began_goes_on_as_it_began():
    """It continued as new in the middle of a thread only, and its history says when."""
    request = {
        "user_id": "alice",
        "threads": [f"t{n}" for n in range(2 * CHECKPOINTS)],
        "thread_steps": ["summarize"],
        "user_steps": [],
    }
    generations = [run("settle_user", request, Script(), **given).generations for given in ({}, {"version": 2})]
    assert generations == [1, 3]


@pytest.mark.parametrize("step", ["extract", "index"])
def test_replaying_a_dead_letter(step: str):
    request = THREAD | {"step": step, "dead_letter_id": "dead_1"}
    script = Script(
        extract_think=[{"value": {"draft": 1}}], commit=[committed(step=step)], index=[committed(step=step)]
    )
    played = run("replay", request, script)
    assert played.names == {"extract": ["extract_think", "commit"], "index": ["index"]}[step]
    assert json.loads(played.tasks[0].input or "") == THREAD | {"dead_letter_id": "dead_1"}
    assert played.output == [{"step": step}]


# The harness itself


def test_the_harness_finds_orchestrators_that_are_not_the_same_twice():
    calls = count()

    def whimsical(context: Any) -> Iterator[Any]:
        yield context.call_activity(random.choice(["a", "b"]) + str(next(calls)), None)

    def forgetful(context: Any) -> Iterator[Any]:
        if next(calls) % 4 < 2:
            yield context.call_activity("a", None)
        yield context.call_activity("b", None)

    for orchestrator in (whimsical, forgetful):
        with pytest.raises(NonDeterministic):
            play(orchestrator, {}, lambda task: task.name)


def test_fan_out_is_followed_and_what_the_host_does_not_do_is_refused():
    def many(context: Any) -> Iterator[Any]:
        names = yield context.task_all([context.call_activity_with_retry("a", RETRY, n) for n in range(3)])
        last = yield context.call_activity("b", names)
        return last

    failures = iter([RuntimeError("once")])

    def perform(task: Task) -> Any:
        if task.name == "a" and task.input == "1":
            for failure in failures:
                raise failure
        return json.loads(task.input or "")

    played = play(many, {}, perform)
    assert played.names == ["a", "a", "a", "a", "b"]
    assert played.output == [0, 1, 2]

    def waiting(context: Any) -> Iterator[Any]:
        yield context.wait_for_external_event("go")

    with pytest.raises(Unsupported, match="external event"):
        play(waiting, {}, perform)


def both(*steps: str) -> dict[str, Any]:
    return {"value": {"drafts": {step: {"draft": step} for step in steps}}}


def test_one_think_for_both_is_committed_step_by_step_and_goes_on_alone_where_they_part():
    script = Script(
        extract_and_summarize_think=[both("extract", "summarize"), both("extract", "summarize")],
        commit=[
            committed(more=True, step="e1"),
            committed(more=True, step="s1"),
            committed(step="e2"),
            committed(raced=True),
            committed(step="s2"),
        ],
        summarize_think=[{"value": {"draft": 3}}],
    )
    played = run("extract_and_summarize", THREAD, script)
    think = "extract_and_summarize_think"
    assert played.names == [
        "index",
        *(think, "commit", "commit"),
        *(think, "commit", "commit"),
        *("summarize_think", "commit"),
    ]
    assert [result["step"] for result in played.output] == ["e1", "s1", "e2", "s2"]


def test_a_step_that_failed_beside_the_other_is_tried_alone():
    script = Script(extract_and_summarize_think=[both("summarize")], commit=[committed(step="s")])
    played = run("extract_and_summarize", THREAD, script)
    assert played.names == ["index", "extract_and_summarize_think", "commit", "extract_think"]


def test_a_crash_between_the_two_commits_causes_no_second_model_call():
    script = Script(
        extract_and_summarize_think=[both("extract", "summarize")],
        commit=[committed(step="e"), RuntimeError("the host went down"), committed(step="s")],
    )
    played = run("extract_and_summarize", THREAD, script)
    assert played.names.count("extract_and_summarize_think") == 1
    assert [result["step"] for result in played.output] == ["e", "s"]


def test_the_end_of_a_conversation_asks_once_for_both_if_it_is_told_to():
    played = run("settle", THREAD | {"one_call": True}, Script())
    assert played.names[:2] == ["extract_and_summarize", "archive"]
    assert "one_call" not in str(played.tasks[0].input)
