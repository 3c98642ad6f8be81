"""The function app has a trigger for the webhook only if one is set."""

import pytest

pytest.importorskip("azure.durable_functions", reason="the function app needs the extra `functions`")

from azure_functions import app


def triggers() -> set[str]:
    return {str(function.get_function_name()) for function in app.build_app().get_functions()}


def test_the_trigger_is_there_if_an_address_is_set(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv(app.WEBHOOK_VARIABLE, raising=False)
    assert "on_memory_written" not in triggers()
    monkeypatch.setenv(app.WEBHOOK_VARIABLE, "https://example.com/hook")
    assert {"on_memory_written", "on_memory_change"} <= triggers()
