"""What is loaded when: a program that only asks for a name, a version or help waits for no heavy library."""

import json
import subprocess
import sys

import pytest

import agent_memory

HEAVY = [
    *("openai", "onnxruntime", "tokenizers", "tiktoken", "numpy", "httpx2"),
    *("azure", "aiohttp", "pydantic", "pydantic_settings", "opentelemetry", "fastapi", "uvicorn", "jwt"),
    *("jinja2", "yaml", "dateparser", "nupunkt", "detect_secrets", "sqlite3", "embedded_cosmos"),
]
WITH_A_MEMORY = {"azure", "pydantic", "pydantic_settings", "opentelemetry", "yaml"}
"""What opening a memory needs anyway."""


def loaded_after(code: str) -> list[str]:
    """The heavy libraries that a new process has loaded when it has run this."""
    code += f"\nimport json, sys\nprint(json.dumps([name for name in {HEAVY} if name in sys.modules]))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return list(json.loads(done.stdout.splitlines()[-1]))


def test_the_package_alone_loads_no_heavy_library():
    assert loaded_after("import agent_memory, agent_memory.errors, agent_memory.language") == []


def test_every_public_name_is_there_and_listed():
    for name in agent_memory.__all__:
        assert getattr(agent_memory, name) is not None
        assert name in dir(agent_memory)
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = agent_memory.Nothing
    with pytest.raises(ImportError):
        from agent_memory import Nothing  # noqa: F401


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["search", "--help"], ["serve", "--help"]])
def test_the_command_line_prints_version_and_help_without_a_heavy_library(arguments: list[str]):
    code = f"""
import sys
sys.argv = ["agent-memory", *{arguments}]
from agent_memory.cli.main import main
try:
    main()
except SystemExit as ended:
    assert not ended.code
"""
    of_typer = {"pydantic"} if len(arguments) > 1 else set()  # it reads the parameters of a command with it
    assert set(loaded_after(code)) <= of_typer


def test_a_memory_is_named_without_the_libraries_of_models():
    assert set(loaded_after("from agent_memory import AsyncMemory, Cadence, Memory, inject")) <= WITH_A_MEMORY


def test_no_library_of_a_model_is_loaded_before_it_is_used():
    code = """
from agent_memory.language import answers, prompts
from agent_memory.language.defaults import default_embeddings
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.language.openai_chat import OpenAIChat
from agent_memory.language.openai_embeddings import OpenAIEmbeddings
from agent_memory.text.tokens import TiktokenCounter
default_embeddings().model_id, HashingEmbeddings(), OpenAIChat("m", api_key="k"), OpenAIEmbeddings(api_key="k")
TiktokenCounter()
"""
    heavy = {"openai", "onnxruntime", "tokenizers", "tiktoken", "numpy", "httpx2"}
    assert heavy & set(loaded_after(code)) == set()
