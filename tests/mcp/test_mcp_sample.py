"""The coding agent of the samples, run as its first lines say."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

pytestmark = pytest.mark.acceptance

SAMPLE = Path(__file__).parents[2] / "samples" / "coding_agent.py"


def work(folder: Path, *tasks: str, **environment: str) -> list[str]:
    """What the agent prints of each session."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OPENAI", "AZURE", "COSMOS"))}
    done = subprocess.run(
        [sys.executable, str(SAMPLE), *tasks, "--user", "ann"],
        capture_output=True,
        text=True,
        cwd=folder,
        env=kept | environment,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split("== session ")[1:]


def test_a_later_session_keeps_to_what_was_said_in_an_earlier_one(tmp_path: Path):
    first, second = work(tmp_path, "Our tests use pytest, never unittest.", "Write unit tests for parse_date.")
    assert "-- remember" in first
    assert "Done.\n" in first
    assert "I kept to" not in first
    assert "- Our tests use pytest, never unittest." in second
    assert "-- remember" not in second


def test_a_model_calls_the_tools_and_reads_their_answers(tmp_path: Path, httpserver: HTTPServer):
    asked: list[dict[str, object]] = []

    def complete(request: Request) -> Response:
        asked.append(json.loads(request.data))
        call = {"name": "remember", "arguments": json.dumps({"content": "Indents with tabs"})}
        message: dict[str, object] = {"role": "assistant", "content": "Noted: tabs."}
        if len(asked) == 1:
            calls = [{"id": "call-1", "type": "function", "function": call}]
            message = {"role": "assistant", "content": None, "tool_calls": calls}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        answer = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
        return Response(json.dumps(answer), content_type="application/json")

    httpserver.expect_request("/v1/chat/completions").respond_with_handler(complete)
    (said,) = work(tmp_path, "Use tabs.", OPENAI_API_KEY="k", OPENAI_BASE_URL=httpserver.url_for("/v1"))
    assert said.endswith("Noted: tabs.\n")
    offered = {tool["function"]["name"] for tool in asked[0]["tools"]}  # type: ignore[attr-defined]
    assert {"context", "remember"} <= offered
    assert "forget" not in offered
    assert "Indents with tabs" in json.dumps(asked[1]["messages"])
