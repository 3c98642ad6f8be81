"""What azd runs before packaging and after provisioning."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[3]
HOOKS = ROOT / "infra" / "hooks"
VALUES = """AZURE_LOCATION="swedencentral"
COSMOS_DB_ENDPOINT="https://new.documents.azure.com:443/"
COSMOS_DB_DATABASE="ai_memory"
AZURE_OPENAI_ENDPOINT="https://new.cognitiveservices.azure.com/"
AGENT_MEMORY_EMBEDDING_DIMENSIONS="1536"
AZURE_PRINCIPAL_ID="somebody"
"""


@pytest.fixture
def workplace(tmp_path: Path) -> Path:
    """A folder with an azd that knows some values."""
    azd = tmp_path / "bin" / "azd"
    azd.parent.mkdir()
    azd.write_text(f"#!/bin/sh\n[ \"$*\" = 'env get-values' ] || exit 1\ncat <<'END'\n{VALUES}END\n")
    azd.chmod(0o755)
    return tmp_path


def run_write_env(folder: Path) -> str:
    path = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
    subprocess.run(
        [HOOKS / "write_env.sh"], cwd=folder, env={**os.environ, "PATH": path}, check=True, capture_output=True
    )
    return (folder / ".env").read_text()


def test_what_the_library_reads_is_written_to_env(workplace: Path):
    written = run_write_env(workplace)
    assert written.splitlines() == [
        'COSMOS_DB_ENDPOINT="https://new.documents.azure.com:443/"',
        'COSMOS_DB_DATABASE="ai_memory"',
        'AZURE_OPENAI_ENDPOINT="https://new.cognitiveservices.azure.com/"',
        'AGENT_MEMORY_EMBEDDING_DIMENSIONS="1536"',
    ]
    sourced = subprocess.run(
        ["sh", "-c", "set -a; . ./.env; set +a; env"], cwd=workplace, capture_output=True, text=True, check=True
    )
    assert "AGENT_MEMORY_EMBEDDING_DIMENSIONS=1536\n" in sourced.stdout


def test_lines_of_ones_own_stay_in_env(workplace: Path):
    (workplace / ".env").write_text("MINE=1\nCOSMOS_DB_ENDPOINT=https://old/\n")
    written = run_write_env(workplace)
    assert written.startswith("MINE=1\n")
    assert "old" not in written
    assert run_write_env(workplace) == written


def test_both_shells_write_the_same_variables():
    chosen = [re.search(r"'(\^\([^']+)'", (HOOKS / f"write_env.{suffix}").read_text()) for suffix in ("sh", "ps1")]
    assert all(chosen)
    assert len({match[1] for match in chosen if match}) == 1


@pytest.mark.parametrize("wanted", ["true", "false", None])
def test_host_json_is_made_for_the_backend(tmp_path: Path, wanted: str | None):
    (tmp_path / "infra" / "hooks").mkdir(parents=True)
    script = shutil.copy(HOOKS / "durable_backend.py", tmp_path / "infra" / "hooks")
    committed = (ROOT / "host.json").read_text()
    host = tmp_path / "host.json"
    host.write_text(committed)

    def run(value: str | None) -> None:
        environment = {name: v for name, v in os.environ.items() if name != "DURABLE_TASK_SCHEDULER"}
        environment |= {} if value is None else {"DURABLE_TASK_SCHEDULER": value}
        subprocess.run([sys.executable, script], env=environment, check=True, capture_output=True)

    run(wanted)
    provider = json.loads(host.read_text())["extensions"]["durableTask"].get("storageProvider", {})
    assert (provider.get("type") == "azureManaged") == (wanted == "true")
    run("false")
    assert host.read_text() == committed


def test_the_compose_file_pins_every_image_by_its_digest():
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    assert services
    assert [
        name for name, one in services.items() if not re.search(r":[\w.-]+@sha256:[0-9a-f]{64}$", one["image"])
    ] == []


def test_the_compose_file_publishes_on_loopback_only():
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    ports = [port for service in services.values() for port in service["ports"]]
    assert ports
    assert all(port.startswith("127.0.0.1:") for port in ports)
