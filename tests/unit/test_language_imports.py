import json
import subprocess
import sys

HEAVY = ["openai", "onnxruntime", "tokenizers", "tiktoken", "numpy", "snowballstemmer", "httpx2"]

# The library's own __init__ imports what callers need first; these modules are judged without it.
ALONE = """
import importlib.util, json, sys, time, types
library = types.ModuleType("agent_memory")
library.__path__ = importlib.util.find_spec("agent_memory").submodule_search_locations
sys.modules["agent_memory"] = library
"""


def in_a_new_process(code: str) -> object:
    done = subprocess.run([sys.executable, "-c", ALONE + code], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_the_package_alone_costs_next_to_nothing():
    code = """
begun = time.perf_counter()
import agent_memory.language
print(json.dumps(time.perf_counter() - begun))
"""
    assert in_a_new_process(code) < 0.05


def test_no_heavy_library_is_loaded_before_it_is_used():
    code = f"""
from agent_memory.language import answers, prompts
from agent_memory.language.defaults import default_embeddings
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.language.openai_chat import OpenAIChat
from agent_memory.language.openai_embeddings import OpenAIEmbeddings
from agent_memory.language.tokens import TiktokenCounter
default_embeddings().model_id, HashingEmbeddings(), OpenAIChat("m", api_key="k"), OpenAIEmbeddings(api_key="k")
TiktokenCounter()
print(json.dumps([name for name in {HEAVY} if name in sys.modules]))
"""
    assert in_a_new_process(code) == []
