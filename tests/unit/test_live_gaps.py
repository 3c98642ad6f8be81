"""`make live` leaves out what an emulator refuses, and nothing of an account elsewhere."""

import importlib.util
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from azure.cosmos.exceptions import CosmosHttpResponseError

PATH = Path(__file__).parents[1] / "live/conftest.py"
spec = importlib.util.spec_from_file_location("live_conftest", PATH)
assert spec is not None
assert spec.loader is not None
live = importlib.util.module_from_spec(spec)
sys.modules[spec.name] = live  # where its dataclass is looked up
spec.loader.exec_module(live)


def account(refuses: str, *, verify: bool = False) -> Any:
    def query_items(query: str, **_: Any) -> list[Any]:
        if refuses and refuses in query:
            raise CosmosHttpResponseError(status_code=400, message=f"{refuses} is not supported")
        return []

    container = SimpleNamespace(query_items=query_items)
    database = SimpleNamespace(get_container_client=lambda _: container)
    client = SimpleNamespace(get_database_client=lambda _: database)
    return SimpleNamespace(verify=verify, database="d", client=lambda: client)


def test_an_emulators_gaps_are_named_and_an_account_elsewhere_has_none():
    assert live.refused(account("")) == {}
    found = live.refused(account("VectorDistance"))
    assert list(found) == ["vectors"]
    assert "VectorDistance is not supported" in found["vectors"]
    assert list(live.refused(account("FullTextContains"))) == ["words"]
    assert live.refused(account("VectorDistance", verify=True)) == {}
