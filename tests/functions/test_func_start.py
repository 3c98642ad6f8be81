"""`func start` as docs/local-development.md says it: the sample's settings, the store that is made, the app on it.

Core Tools and Docker are not needed: the app is loaded by Microsoft's worker library, and the account is the embedded
engine's server.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

pytest.importorskip("azure_functions_runtime", reason="Microsoft's worker library needs Python 3.13")

from functions_world import ROOT, Host, Process, until

pytestmark = pytest.mark.acceptance

SAMPLE = json.loads((ROOT / "local.settings.sample.json").read_text())["Values"]
SAID = SAMPLE["COSMOS_DB_ENDPOINT"]


def compose() -> dict[str, Any]:
    return yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]


def settings_file(folder: Path, url: str, **changes: str) -> Path:
    """The sample, copied, with the address of a store of this test and as many changes as are documented."""
    values = {name: value.replace(SAID, f"{url}/") for name, value in SAMPLE.items()}
    values["COSMOS"] += changes.pop("COSMOS", "")
    path = folder / "local.settings.json"
    path.write_text(json.dumps({"IsEncrypted": False, "Values": values | changes}))
    return path


def make_store(settings: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "functions_host", "--make-store", "--settings", str(settings)]
    known = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    return subprocess.run(command, cwd=ROOT, env=known | environment, capture_output=True, text=True, timeout=120)


HTTPS = {"COSMOS": "DisableServerCertificateValidation=True;", "COSMOS_DB_CONNECTION_VERIFY": "false"}


@pytest.mark.parametrize(("options", "changes"), [((), {}), (("--tls",), HTTPS)], ids=["http", "https"])
def test_the_app_of_the_sample_settings_counts_and_extracts(
    options: tuple[str, ...], changes: dict[str, str], tmp_path: Path
):
    account = Process("embedded_cosmos", "--port", "0", *options, log=tmp_path / "account.log").ready()
    try:
        assert account.url.startswith("https://" if options else "http://")
        settings = settings_file(tmp_path, account.url, **changes)
        made = make_store(settings)
        assert made.returncode == 0, made.stderr
        host = Host.of_settings(settings, tmp_path).ready()
        try:
            every = int(SAMPLE["FACT_EXTRACTION_EVERY_N"])
            turns = [{"role": "user", "content": f"I bought {n + 2} red lamps for room {n}."} for n in range(every)]
            assert host.call("POST", "/v1/threads/trip/turns", {"turns": turns}, "alice")[0] in (200, 201)
            until(lambda: host.call("GET", "/v1/memories?types=fact", user="alice")[1].get("memories"), "extracted")
        finally:
            host.stop()
    finally:
        account.stop()


def test_without_the_store_the_step_that_makes_it_is_named(tmp_path: Path):
    settings = settings_file(tmp_path, "http://127.0.0.1:9")
    failed = make_store(settings)
    assert failed.returncode == 1
    assert failed.stderr.startswith("error: the store cannot be created: ")
    elsewhere = make_store(settings_file(tmp_path, "https://mine.documents.azure.com:443", **HTTPS))
    assert elsewhere.returncode == 1
    assert "COSMOS_DB_CONNECTION_VERIFY=false is for an emulator on this machine" in elsewhere.stderr


def test_settings_emulators_and_docs_name_the_same_addresses():
    services, docs = compose(), (ROOT / "docs" / "local-development.md").read_text()
    scheme, port = re.fullmatch(r"(https?)://127\.0\.0\.1:(\d+)/", SAID).groups()  # type: ignore[union-attr]
    command = services["cosmos"]["command"]
    assert command[command.index("--protocol") + 1] == scheme
    assert f"127.0.0.1:{port}:{port}" in services["cosmos"]["ports"]
    assert SAMPLE["COSMOS"] == f"AccountEndpoint={SAID};AccountKey={SAMPLE['COSMOS_DB_KEY']};"
    assert SAMPLE["AzureWebJobsStorage"] == "UseDevelopmentStorage=true"  # Azurite's own ports
    assert services["azurite"]["ports"] == [f"127.0.0.1:{port}:{port}" for port in (10000, 10001, 10002)]
    for said in (SAID, f"COSMOS_ENDPOINT={SAID.rstrip('/')}", "make store", HTTPS["COSMOS"]):
        assert said in docs
    for name in ("cosmos", "azurite"):
        assert re.search(r":\S+@sha256:[0-9a-f]{64}$", services[name]["image"])
