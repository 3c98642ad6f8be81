"""The configuration that the document of vLLM Semantic Router's memory prints, loaded as it stands there."""

from pathlib import Path

import pytest

from agent_memory import AsyncMemory
from agent_memory.compat.router_config import read_router_config
from agent_memory.errors import InvalidInput
from agent_memory.language.openai_chat import OpenAIChat
from agent_memory.language.roles import RoleChat, roles_off
from agent_memory.settings import Environment, RoleSettings

PRINTED = """
memory:
  enabled: true
  auto_store: true # Enable automatic fact extraction

  milvus:
    address: "milvus:19530"
    collection: "agentic_memory"
    dimension: 384 # Must match embedding model output

  embedding:
    model: "all-MiniLM-L6-v2"
    dimension: 384

  default_retrieval_limit: 5
  default_similarity_threshold: 0.6

  extraction_batch_size: 10

external_models:
  - llm_provider: "vllm"
    model_role: "memory_rewrite" # Enables query rewriting
    llm_endpoint:
      address: "qwen"
      port: 8000
    llm_model_name: "qwen3"
    llm_timeout_seconds: 30
    max_tokens: 100
    temperature: 0.1
  - llm_provider: "vllm"
    model_role: "memory_extraction" # Enables fact extraction
    llm_endpoint:
      address: "qwen"
      port: 8000
    llm_model_name: "qwen3"
    llm_timeout_seconds: 30
    max_tokens: 500
    temperature: 0.1
"""


def load(monkeypatch: pytest.MonkeyPatch, text: str) -> Environment:
    for name, value in read_router_config(text).items():
        monkeypatch.setenv(name, value)
    return Environment()


@pytest.mark.req("S0-073", "S0-074", "S0-075", "S0-076")
async def test_the_printed_configuration_takes_effect(monkeypatch: pytest.MonkeyPatch):
    env = load(monkeypatch, PRINTED)
    assert (env.policy.enabled, env.policy.auto_store, env.local_cadence.extract) == (True, True, 10)
    assert (env.recall.limit, env.recall.default_threshold, env.recall.query_strategy) == (5, 0.6, "rewrite")
    server = {"model": "qwen3", "base_url": "http://qwen:8000/v1", "timeout": 30.0, "temperature": 0.1}
    assert env.roles == {
        "rewrite": RoleSettings(**server, max_tokens=100),  # type: ignore[arg-type]
        "extraction": RoleSettings(**server, max_tokens=500),  # type: ignore[arg-type]
    }
    async with AsyncMemory.from_env() as memory:
        health, chat = await memory.health(), memory.runtime.tools.chat
        assert isinstance(chat, RoleChat)
        assert all(isinstance(chat.by_role[role], OpenAIChat) for role in ("rewrite", "extraction"))
        assert "all-MiniLM-L6-v2" in health.embedding_model


@pytest.mark.req("S0-076")
@pytest.mark.parametrize(("left", "off"), [(0, ["rewrite", "extraction"]), (1, ["extraction"])])
async def test_an_absent_role_is_off(monkeypatch: pytest.MonkeyPatch, left: int, off: list[str]):
    pieces = PRINTED.split("  - llm_provider")
    kept = "  - llm_provider".join(pieces[: left + 1]) if left else PRINTED.split("external_models")[0]
    load(monkeypatch, kept)
    async with AsyncMemory.from_env() as memory:
        assert roles_off(memory.runtime.tools.chat) == sorted(off)


@pytest.mark.req("S0-073", "S0-075")
def test_each_switch_and_figure_counts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    changed = PRINTED.replace("enabled: true", "enabled: false").replace("auto_store: true", "auto_store: false")
    for old, new in (("limit: 5", "limit: 7"), ("threshold: 0.6", "threshold: 0.4"), ("size: 10", "size: 3")):
        changed = changed.replace(old, new)
    env = load(monkeypatch, changed)
    assert (env.policy.enabled, env.policy.auto_store, env.local_cadence.extract) == (False, False, 3)
    assert (env.recall.limit, env.recall.default_threshold) == (7, 0.4)
    file = tmp_path / "config.yaml"
    file.write_text(changed)
    assert read_router_config(file) == read_router_config(changed)
    other = read_router_config({"memory": {"embedding": {"model": "Qwen3-Embedding-0.6B", "dimension": 1024}}})
    assert (other["AGENT_MEMORY_EMBEDDING_MODEL"], other["AGENT_MEMORY_EMBEDDING_DIMENSIONS"]) == (
        "Qwen3-Embedding-0.6B",
        "1024",
    )


@pytest.mark.req("S0-076")
def test_models_of_other_roles_may_have_any_form():
    others = "  - llm_provider: vllm\n  - model_role: guardrail\n    llm_endpoint: {address: other}\n"
    assert read_router_config(PRINTED + others) == read_router_config(PRINTED)


@pytest.mark.parametrize(
    "given",
    ["memory: [", "- a", "memory: {milvus: {dimension: 1024}}", "external_models: [{model_role: memory_rewrite}]"],
)
def test_what_is_no_configuration_is_refused(given: str):
    with pytest.raises(InvalidInput):
        read_router_config(given)
