"""The local host runs orchestrations, keeps them, and goes on with them after a crash."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("azure_functions_runtime", reason="Microsoft's worker library needs Python 3.13")

import aiohttp
import azure.durable_functions as df
import toy_function_app as toy
from azure.durable_functions.models.utils import http_utils
from toy_host import ToyHost, eventually, toy_host

from functions_host.errors import HostError
from functions_host.invoker import client_binding
from functions_host.orchestrations import AlreadyRunning, UnknownOrchestrator
from functions_host.taskhub import TaskHub

pytestmark = pytest.mark.filterwarnings("ignore:azure.functions df_loads was called without expected_type")


@pytest.fixture
async def host(tmp_path: Path) -> AsyncIterator[ToyHost]:
    async with toy_host(tmp_path / "state.db") as opened:
        yield opened


async def run(host: ToyHost, name: str, given: Any = None) -> tuple[str, Any]:
    """Runs an orchestration: how it ended, and with what."""
    instance = await host.ended(host.orchestrations.start(name, None, json.dumps(given)))
    return instance.status, json.loads(instance.output)


async def test_results_and_failures_reach_the_orchestrator(host: ToyHost):
    assert await run(host, "call", {"activity": "echo", "value": {"a": [1, None]}}) == ("Completed", {"a": [1, None]})
    toy.failures["echo"] = 1
    status, output = await run(host, "call", {"activity": "echo", "value": 1})
    assert status == "Failed"
    assert "echo fails on purpose" in output


async def test_retries_wait_and_then_give_up(host: ToyHost):
    toy.failures["echo"] = 2
    assert await run(host, "retried") == ("Completed", ["one", "two"])
    assert [given for _, given in toy.performed] == ["one", "one", "one", "two"]
    toy.failures["echo"] = 3
    status, output = await run(host, "retried")
    assert status == "Failed"
    assert "echo fails on purpose" in output
    assert len(toy.performed) == 7


async def test_sub_orchestrations_run_beside_each_other_and_answer_their_parent(host: ToyHost):
    assert await run(host, "parent") == ("Completed", [0, 1, 2])
    status, output = await run(host, "careful")
    assert status == "Completed"
    assert "'missing' doesn't exist" in output


async def test_continuing_as_new_drops_the_history_and_keeps_the_id(host: ToyHost):
    started = host.orchestrations.start("counting", "count", '"0"')  # twice in JSON, as the SDK's client sends it
    instance = await host.ended(started)
    assert (instance.id, instance.execution, instance.output) == ("count", 5, "5")
    assert [given for _, given in toy.performed] == [0, 1, 2, 3, 4, 5]
    assert len(host.hub.history(instance)) < 10


@pytest.mark.parametrize(
    ("name", "problem"), [("whimsical", "task 0 was activity echo"), ("waiting", "external event")]
)
async def test_what_cannot_be_replayed_or_is_not_supported_fails_with_the_reason(
    host: ToyHost, name: str, problem: str
):
    status, output = await run(host, name)
    assert status == "Failed"
    assert problem in output


async def test_an_id_is_started_once_while_it_runs_and_again_when_it_has_ended(host: ToyHost):
    given = json.dumps({"activity": "slow", "value": 1})
    host.orchestrations.start("call", "same", given)
    with pytest.raises(AlreadyRunning):
        host.orchestrations.start("call", "same", given)
    toy.gate.set()
    assert (await host.ended("same")).execution == 0
    host.orchestrations.start("call", "same", given)
    assert (await host.ended("same")).execution == 1
    with pytest.raises(UnknownOrchestrator):
        host.orchestrations.start("nothing", None, "null")
    for illegal in ("a/b", "a#b", "a?b", "a\\b", "@a", "x" * 101):
        with pytest.raises(HostError):
            host.orchestrations.start("call", illegal, given)


async def test_a_result_that_comes_after_the_end_is_dropped(host: ToyHost):
    host.orchestrations.start("call", "late", json.dumps({"activity": "slow", "value": 1}))
    await eventually(lambda: toy.performed)
    instance = host.hub.instance("late")
    assert instance is not None
    host.orchestrations.terminate(instance, "enough")
    host.orchestrations.start("call", "late", json.dumps({"activity": "echo", "value": 2}))
    toy.gate.set()
    ended = await host.ended("late")
    assert (ended.status, ended.output) == ("Completed", "2")


async def test_a_new_host_continues_after_one_that_died(tmp_path: Path):
    state = tmp_path / "state.db"
    async with toy_host(state, activities=2) as host:
        for n in range(4):
            host.orchestrations.start("call", f"i{n}", json.dumps({"activity": "slow", "value": n}))
        toy.failures["echo"] = 1
        host.orchestrations.start("retried", "r", "null")
        await eventually(lambda: len(toy.performed) >= 2)
        with pytest.raises(HostError, match="another host"):
            TaskHub(state)
    async with toy_host(state) as host:
        toy.gate.set()
        for n in range(4):
            ended = await host.ended(f"i{n}")
            assert (ended.status, ended.output) == ("Completed", str(n))
        assert (await host.ended("r")).output == '["one", "two"]'
        assert host.hub.open_tasks() == []
        assert host.hub.waiting() == []


async def test_the_clients_of_the_sdk_can_do_what_they_need(host: ToyHost):
    client = df.DurableOrchestrationClient(client_binding(host.url, "toys"))
    try:
        assert not await client.get_status("c1")
        assert await client.start_new("call", "c1", {"activity": "slow", "value": "é"}) == "c1"
        status = await client.get_status("c1", show_input=True)
        assert status.runtime_status in (df.OrchestrationRuntimeStatus.Pending, df.OrchestrationRuntimeStatus.Running)
        assert json.loads(status.input_) == {"activity": "slow", "value": "é"}
        with pytest.raises(Exception, match="running already"):
            await client.start_new("call", "c1", {})
        with pytest.raises(Exception, match="doesn't exist"):
            await client.start_new("nothing", "c2", {})

        await client.suspend("c1", "pause")
        toy.gate.set()
        assert (await client.get_status("c1")).runtime_status == df.OrchestrationRuntimeStatus.Suspended
        await client.resume("c1", "go")
        assert (await host.ended("c1")).status == "Completed"
        done = await client.get_status("c1", show_history=True, show_history_output=True)
        assert (done.runtime_status, done.output) == (df.OrchestrationRuntimeStatus.Completed, "é")

        await client.start_new("parent", "c3")
        assert json.loads((await host.ended("c3")).custom_status) == "asking"
        await client.start_new("waiting", "c4")
        assert (await host.ended("c4")).status == "Failed"
        found = await client.get_status_by(
            instance_id_prefix="c", runtime_status=[df.OrchestrationRuntimeStatus.Failed]
        )
        assert [one.instance_id for one in found] == ["c4"]
        assert await client.restart("c1", restart_with_new_instance_id=False)
        assert (await host.ended("c1")).execution == 1
        toy.gate.clear()
        await client.start_new("call", "c5", {"activity": "slow", "value": 0})
        await client.terminate("c5", "enough")
        assert (await client.get_status("c5")).runtime_status == df.OrchestrationRuntimeStatus.Terminated
        assert (await client.purge_instance_history("c5")).instances_deleted == 1
        assert not await client.get_status("c5")
        with pytest.raises(Exception, match="501"):
            await client.raise_event("c1", "go", {})
    finally:
        await http_utils._close_session()


async def test_the_management_urls_lead_where_they_say(host: ToyHost):
    async with aiohttp.ClientSession() as session:
        given = {"activity": "echo", "value": 1}
        hook = f"{host.url}/runtime/webhooks/durabletask"
        async with session.post(f"{hook}/orchestrators/call/m1", json=given) as answer:
            assert answer.status == 202
            urls = await answer.json()
        await host.ended("m1")
        async with session.get(urls["statusQueryGetUri"]) as answer:
            assert (answer.status, (await answer.json())["output"]) == (200, 1)
        async with session.get(f"{urls['statusQueryGetUri']}&showHistory=true") as answer:
            events = [event["EventType"] for event in (await answer.json())["historyEvents"]]
            assert events[:2] == [12, 0]
        async with session.post(urls["terminatePostUri"]) as answer:
            assert answer.status == 410
        async with session.delete(urls["purgeHistoryDeleteUri"]) as answer:
            assert await answer.json() == {"instancesDeleted": 1}
        async with session.get(urls["statusQueryGetUri"]) as answer:
            assert answer.status == 404
        async with session.post(f"{hook}/orchestrators/call", data=b"{") as answer:
            assert answer.status == 400
        for path in ("entities/a/b", "instances/m1/rewind"):
            async with session.post(f"{hook}/{path}") as answer:
                assert answer.status == 501


async def test_http_functions_get_what_was_sent_and_answer(host: ToyHost):
    async with aiohttp.ClientSession(headers={"x-colour": "red"}) as session:
        async with session.post(f"{host.url}/api/shelf/toys?size=3", data="wood") as answer:
            assert (answer.status, await answer.text()) == (201, "toys 3 red wood")
            assert answer.headers["x-made"] == "here"
        twice = [("x-colour", "red"), ("x-colour", "blue")]
        async with aiohttp.request("POST", f"{host.url}/api/shelf/toys", headers=twice) as answer:
            assert await answer.text() == "toys None red,blue "
        async with session.post(f"{host.url}/api/shelf/toys/top", data="") as answer:
            assert toy.performed[-1] == ("shelf", {"name": "toys", "place": "top"})
        toy.failures["shelf"] = 1
        async with session.post(f"{host.url}/api/shelf/toys") as answer:
            assert answer.status == 500
        async with session.get(f"{host.url}/api/shelf/toys") as answer:
            assert answer.status == 405
        async with session.post(f"{host.url}/admin/functions/nightly", json={}) as answer:
            assert answer.status == 202
        await eventually(lambda: ("nightly", False) in toy.performed)
