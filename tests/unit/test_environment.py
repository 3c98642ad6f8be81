"""What the environment sets, and where it arrives."""

from dataclasses import fields
from pathlib import Path

import pytest

from agent_memory import AsyncMemory, Cadence, ConfigurationError
from agent_memory.compat.agent_profile import AgentProfile
from agent_memory.settings import RECALL_PREFIX, Environment, RecallSettings
from agent_memory.settings.recall import _recall_environment

OPERATIONS = Path(__file__).parents[2] / "docs" / "operations.md"


@pytest.mark.req("S3-16", "S4-54", "S0-038", "S0-102", "S4-55", "S2-09")
@pytest.mark.parametrize(
    ("field", "text", "value"),
    [
        ("cache_seconds", "60", 60.0),
        ("rerank", "20", 20),
        ("count_uses", "true", True),
        ("default_threshold", "0.3", 0.3),
        ("thresholds", '{"text-embedding-3-large": 0.4}', {"text-embedding-3-large": 0.4}),
        ("archive_triggers", '["remind me", "we talked about"]', ("remind me", "we talked about")),
        ("query_strategy", "rewrite", "rewrite"),
    ],
)
async def test_every_setting_of_recall_has_a_variable_that_reaches_the_memory(
    monkeypatch: pytest.MonkeyPatch, field: str, text: str, value: object
):
    assert getattr(Environment().recall, field) != value
    monkeypatch.setenv(f"{RECALL_PREFIX}{field.upper()}", text)
    async with AsyncMemory.from_env() as memory:
        assert getattr(memory.runtime.searcher.settings, field) == value


def test_each_field_can_be_set_and_those_that_are_not_keep_their_defaults(monkeypatch: pytest.MonkeyPatch):
    assert Environment().recall == RecallSettings()
    for field in fields(RecallSettings):
        default = getattr(RecallSettings(), field.name)
        if isinstance(default, (int, float)):
            with monkeypatch.context() as patch:
                patch.setenv(f"{RECALL_PREFIX}{field.name.upper()}", "1")
                assert getattr(Environment().recall, field.name) == 1


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("RERANK", "many", "AGENT_MEMORY_RECALL_RERANK: Input should be a valid integer"),
        ("TEXT_WEIGHT", "nan", "AGENT_MEMORY_RECALL_TEXT_WEIGHT: Input should be a finite number"),
        ("THRESHOLDS", "[0.5", 'field "thresholds"'),
        ("QUERY_STRATEGY", "dream", "AGENT_MEMORY_RECALL_QUERY_STRATEGY"),
    ],
)
def test_a_value_that_cannot_be_read_names_its_variable(
    monkeypatch: pytest.MonkeyPatch, name: str, text: str, complaint: str
):
    monkeypatch.setenv(f"{RECALL_PREFIX}{name}", text)
    with pytest.raises(ConfigurationError, match=complaint):
        AsyncMemory.from_env()


def test_the_older_name_of_the_strategy_still_counts(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("QUERY_STRATEGY", "hyde")
    assert Environment().recall.query_strategy == "hyde"


@pytest.mark.req("S1-57")
def test_autoscale_reaches_the_memory(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COSMOS_DB_ENDPOINT", "https://localhost:8081")
    monkeypatch.setenv("COSMOS_DB_KEY", "a2V5")
    monkeypatch.setenv("COSMOS_DB_AUTOSCALE_MAX_RU", "4000")
    assert AsyncMemory.from_env()._backend._autoscale_max_ru == 4000


def test_the_operators_page_names_every_variable_of_the_environment():
    page = OPERATIONS.read_text()
    for field in Environment.model_fields.values():
        alias = field.validation_alias
        names = [alias] if isinstance(alias, str) else getattr(alias, "choices", [])
        assert names
        for name in names:
            assert f"`{name}`" in page


NO_VARIABLE = {
    "classifier": "it is code",
}
"""Settings without a variable, and why."""
NO_LINE = {
    **dict.fromkeys(
        ("agent_id", "resources", "provider", "model", "allowed_regular_tools", "resource_config"),
        "of one agent, in the document that docs/systems/agent-service.md shows",
    ),
}
"""Fields of an agent's profile that are no setting of the operator, and where they are told."""


def _cadence_and_its_variables() -> dict[str, str]:
    """The variable of each field of a cadence, found by setting it."""
    found: dict[str, str] = {}
    for field in Environment.model_fields.values():
        name = field.validation_alias
        if not isinstance(name, str) or field.annotation not in (int, float, bool):
            continue
        before, value = Environment(), "true" if field.annotation is bool else "2"
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv(name, value)
            after = Environment()
        for one in fields(Cadence):
            if getattr(before.cadence, one.name) != getattr(after.cadence, one.name):
                found[one.name] = name
    return found


def test_every_field_that_can_be_set_has_a_variable_and_a_line_for_operators():
    page = OPERATIONS.read_text()
    variables = _cadence_and_its_variables()
    assert variables.keys() == {one.name for one in fields(Cadence)}
    recall = {one.name: f"{RECALL_PREFIX}{one.name.upper()}" for one in fields(RecallSettings)}
    known = {f"{RECALL_PREFIX}{name.upper()}" for name in _recall_environment().model_fields}
    for name, variable in recall.items():
        assert (variable in known) is (name not in NO_VARIABLE), name
    told = {*variables.values(), *(variable for name, variable in recall.items() if name not in NO_VARIABLE)}
    assert {variable for variable in told if f"| `{variable}` |" not in page} == set()
    assert AgentProfile.model_fields.keys() == NO_LINE.keys()
