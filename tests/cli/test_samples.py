"""The samples, run as their first lines say."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from model_server import completion
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

pytestmark = pytest.mark.acceptance

CHAT = Path(__file__).parents[2] / "samples" / "chat.py"
SYSTEM = "You are a helpful assistant."


def talk(folder: Path, *lines: str, **environment: str) -> str:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OPENAI", "AZURE", "COSMOS"))}
    done = subprocess.run(
        [sys.executable, str(CHAT), "--user", "ann"],
        input="".join(f"{line}\n" for line in lines),
        capture_output=True,
        text=True,
        cwd=folder,
        env=kept | environment,
        timeout=120,
        check=True,
    )
    return done.stdout


def chat_answer(text: str) -> Response:
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
    answer = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    return Response(json.dumps(answer), content_type="application/json")


def of_a_task(asked: Any) -> Response:
    """What a model answers to a step of the background, which waits as long as it gets nothing usable."""
    return Response(json.dumps(asyncio.run(completion(asked))), content_type="application/json")


def test_a_new_session_knows_what_was_said_in_the_one_before(tmp_path):
    assert "$10,000" not in talk(tmp_path, "My budget for the Hawaii trip is $10,000.")
    assert "- My budget for the Hawaii trip is $10,000." in talk(tmp_path, "What's my budget for Hawaii?")


def test_the_same_session_knows_what_was_said_a_moment_ago(tmp_path):
    told = talk(tmp_path, "My sister is called Ana and lives in Porto.", "Where does my sister live?")
    assert "Porto" in told
    assert "nothing to tell" not in told.splitlines()[-1]


def test_a_store_can_be_talked_to_without_a_model_and_then_with_one(tmp_path, httpserver: HTTPServer):
    talk(tmp_path, "My budget for the Hawaii trip is $10,000.")
    told = []

    def complete(request: Request) -> Response:
        asked = json.loads(request.data)
        if asked["messages"][0]["content"] != SYSTEM:
            return of_a_task(asked)
        told.append(request.data.decode())
        return chat_answer("Yes.")

    httpserver.expect_request("/v1/chat/completions").respond_with_handler(complete)
    environment = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": httpserver.url_for("/v1")}
    assert talk(tmp_path, "What's my budget for Hawaii?", **environment).strip() == "Yes."
    assert "$10,000" in told[0]


def test_a_model_is_told_what_was_said_and_its_answer_is_kept(tmp_path, httpserver: HTTPServer):
    told: list[str] = []

    def complete(request: Request) -> Response:
        asked = json.loads(request.data)
        if asked["messages"][0]["content"] != SYSTEM:
            return of_a_task(asked)
        told.append(" ".join(message["content"] for message in asked["messages"]))
        return chat_answer("Ten thousand dollars it is.")

    def embed(request: Request) -> Response:
        asked = json.loads(request.data)
        vector = [1.0] + [0.0] * (asked["dimensions"] - 1)
        rows = [{"index": n, "object": "embedding", "embedding": vector} for n in range(len(asked["input"]))]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        answer = {"object": "list", "model": "m", "data": rows, "usage": usage}
        return Response(json.dumps(answer), content_type="application/json")

    httpserver.expect_request("/chat/completions").respond_with_handler(complete)
    httpserver.expect_request("/embeddings").respond_with_handler(embed)
    server = {"OPENAI_BASE_URL": httpserver.url_for("/"), "OPENAI_API_KEY": "k"}
    said = talk(tmp_path, "My budget for the Hawaii trip is $10,000.", "What can I spend?", **server)
    assert said == "Ten thousand dollars it is.\n" * 2
    assert "$10,000" in told[1]
    assert "Ten thousand dollars it is." in told[1]
