"""The app as Microsoft's worker library indexes it: what the platform will be told."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("azure_functions_runtime", reason="Microsoft's worker library needs Python 3.13")

from agent_memory.processing.activities import activity_names
from agent_memory.processing.workflows import workflow_names
from azure_functions.orchestrators import orchestrator_name
from functions_host.functions import Function
from functions_host.worker import Worker

ROOT = Path(__file__).resolve().parents[2]

_loaded: dict[str, Function] = {}


@pytest.fixture
async def functions(monkeypatch: pytest.MonkeyPatch) -> dict[str, Function]:
    """The functions of the real app, which a process can load once."""
    monkeypatch.setenv("COSMOS_DB_DATABASE", "ai_memory")
    if not _loaded:
        _loaded.update({function.name: function for function in await Worker().load(ROOT)})
    return _loaded


@pytest.mark.req("S1-26", "S1-41", "S1-54")
async def test_the_change_feed_trigger_reads_turns_and_makes_no_container(functions: dict[str, Function]):
    function = functions["on_memory_change"]
    binding = function.trigger
    assert (binding["type"], binding["connection"]) == ("cosmosDBTrigger", "COSMOS")
    assert (binding["databaseName"], binding["containerName"]) == ("ai_memory", "memories_turns")
    assert (binding["leaseContainerName"], binding["leaseContainerPrefix"]) == ("leases", "on_memory_change")
    assert binding["createLeaseContainerIfNotExists"] is False
    assert binding["maxItemsPerInvocation"] == 100
    assert function.client == "client"
    assert function.retry is not None
    pauses = [function.retry.delay(n) for n in range(1, 12)]
    assert (pauses[0], pauses[8], pauses[10]) == (5.0, 300.0, None)


async def test_each_workflow_is_an_orchestrator_and_each_activity_a_function(functions: dict[str, Function]):
    kinds = {name: function.kind for name, function in functions.items()}
    orchestrators = {*map(orchestrator_name, workflow_names()), "sweep", "lane"}
    assert {name for name, kind in kinds.items() if kind == "orchestrationTrigger"} == orchestrators
    activities = {name.replace(".", "_") for name in activity_names()}
    activities |= {"finish", "sweep_slice", "sweep_end", "lane_list", "lane_start"}
    assert {name for name, kind in kinds.items() if kind == "activityTrigger"} == activities
    assert len({name.lower() for name in kinds}) == len(kinds)


async def test_http_is_one_route_behind_a_key_and_timers_are_few(functions: dict[str, Function]):
    route = functions["api"].trigger
    assert (route["route"], route["authLevel"]) == ("{*path}", "FUNCTION")
    assert "explorer" not in functions  # off until AGENT_MEMORY_EXPLORER_KEY is set
    timers = {name: one.trigger["schedule"] for name, one in functions.items() if one.kind == "timerTrigger"}
    assert timers == {
        "settle_idle_threads": "0 */5 * * * *",
        "maintain": "0 17 * * * *",
        "deepen_memories": "0 43 * * * *",
    }


def test_a_host_that_cannot_start_says_why(tmp_path: Path):
    def start(*arguments: str) -> tuple[int, str]:
        command = [sys.executable, "-m", "functions_host", "--app", str(tmp_path), *arguments]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
        return done.returncode, done.stderr

    status, reason = start("--state", str(tmp_path / "state.db"))
    assert (status, reason) == (1, f"error: {tmp_path} is not a function app: it has no host.json\n")
    (tmp_path / "settings.json").write_text("{}")
    status, reason = start("--settings", str(tmp_path / "settings.json"))
    assert status == 1
    assert "settings.json cannot be read" in reason


@pytest.mark.parametrize(("told", "recorded"), [({}, False), ({"AZURE_TRACING_ENABLED": "true"}, True)])
def test_azures_sdks_record_spans_which_name_users_only_if_the_environment_says_so(
    told: dict[str, str], recorded: bool
):
    code = """
from azure.core.settings import settings
settings.tracing_implementation = object  # as the worker does, by Azure Monitor's distribution
before = settings.tracing_enabled()
from azure_functions.app import build_app
build_app()
print(before, settings.tracing_enabled())
"""
    environment = os.environ | told
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == f"True {recorded}"
