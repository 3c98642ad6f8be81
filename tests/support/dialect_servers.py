"""Servers on loopback that take and refuse what the services of language models do, as far as their pages say.

Each behaviour reads a request and says what the service would: a status and a body. None of it knows of memories but
`TALK` and its answer, which is one good extraction.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from agent_memory.language.retries import RetryPolicy
from agent_memory.language.tasks import ExtractInput, TurnView

Json = dict[str, Any]
Said = tuple[int, Json]
Behaviour = Callable[[str, Json], Said]

QUICK = RetryPolicy(attempts=3, total=5, first_wait=0.001, longest_wait=0.01, first_pause=0.0)
SAID_AT = datetime(2026, 3, 10, tzinfo=UTC)
TALK = ExtractInput(
    turns=[TurnView(ref="t1", role="user", content="My budget for Hawaii is $10,000.", created_at=SAID_AT)]
)
FACT = {
    "type": "fact",
    "kind": "fact",
    "content": "User's budget for Hawaii is $10,000",
    "quote": "My budget for Hawaii is $10,000",
    "turns": ["t1"],
    "confidence": 0.9,
    "importance": 0.9,
    "valid_from": None,
    "valid_to": None,
    "time_phrase": None,
    "tags": [],
}
GOOD: Json = {"worth_extracting": True, "memories": [FACT]}
QUOTA = {"x-ratelimit-limit-requests": "500", "x-ratelimit-remaining-requests": "499"}


class Service:
    """A server that behaves in one way and keeps what it was sent."""

    def __init__(self, server: HTTPServer, behaviour: Behaviour) -> None:
        self.behaviour = behaviour
        self.sent: list[Json] = []
        self.paths: list[str] = []
        self.keys: list[str] = []
        self.root = server.url_for("").rstrip("/")
        self.url = f"{self.root}/v1"
        server.expect_request(re.compile(".*"), method="POST").respond_with_handler(self._answer)

    def _answer(self, request: Request) -> Response:
        sent = request.get_json()
        self.sent.append(sent)
        self.paths.append(request.path)
        headers = request.headers
        self.keys.append(headers.get("x-api-key") or headers.get("x-goog-api-key") or headers.get("authorization", ""))
        status, body = self.behaviour(request.path, sent)
        return Response(json.dumps(body), status, headers=QUOTA, mimetype="application/json")


# --- OpenAI's protocols -------------------------------------------------------------------------------------


def completion(text: str | list[Json] | None, *, finish: str = "stop", thought: int = 0, **message: Any) -> Said:
    """A chat completion; `thought` are tokens of reasoning."""
    said = {"role": "assistant", "content": text} | message
    tokens = {"prompt_tokens": 100, "completion_tokens": 20 + thought}
    details = {"completion_tokens_details": {"reasoning_tokens": thought}}
    return 200, {"choices": [{"index": 0, "message": said, "finish_reason": finish}], "usage": tokens | details}


def good() -> Said:
    """A chat completion that holds one memory."""
    return completion(json.dumps(GOOD))


def refused(message: str, param: str | None = None, code: str | None = None, status: int = 400) -> Said:
    """A refusal in the words of OpenAI."""
    return status, {"error": {"message": message, "type": "invalid_request_error", "param": param, "code": code}}


def is_strict(schema: Any) -> bool:
    """Whether a schema keeps the rules of strict structured outputs: closed objects, all fields required."""
    if isinstance(schema, list):
        return all(map(is_strict, schema))
    if not isinstance(schema, dict):
        return True
    if schema.get("type") == "object" and not (
        schema.get("additionalProperties") is False and set(schema["required"]) == set(schema["properties"])
    ):
        return False
    return all(is_strict(part) for part in schema.values())


def plain(path: str, sent: Json) -> Said:
    """gpt-4.1-mini: takes all of it, if the schema keeps the rules."""
    if sent["response_format"]["type"] == "json_schema" and not is_strict(sent["response_format"]["json_schema"]):
        return refused("Invalid schema for response_format 'extract': 'additionalProperties' is required to be false.")
    return good()


def reasoning(needed: int, efforts: tuple[str, ...]) -> Behaviour:
    """A model that reasons: other names, no temperature, and nothing is left to answer with below `needed` tokens."""

    def behave(path: str, sent: Json) -> Said:
        if "max_tokens" in sent:
            message = "Unsupported parameter: 'max_tokens' is not supported with this model."
            return refused(f"{message} Use 'max_completion_tokens' instead.", "max_tokens", "unsupported_parameter")
        if sent.get("temperature", 1) != 1:
            message = f"Unsupported value: 'temperature' does not support {sent['temperature']} with this model."
            return refused(f"{message} Only the default (1) value is supported.", "temperature", "unsupported_value")
        if (effort := sent.get("reasoning_effort")) and effort not in efforts:
            message = f"Unsupported value: 'reasoning_effort' does not support '{effort}' with this model."
            return refused(message, "reasoning_effort", "unsupported_value")
        if (given := sent["max_completion_tokens"]) < needed:
            return completion("", finish="length", thought=given)
        return completion(json.dumps(GOOD), thought=needed - 200)

    return behave


def responses_only(path: str, sent: Json) -> Said:
    """gpt-5-pro: no chat completions, and one effort."""
    if path.endswith("/chat/completions"):
        message = "This model is only supported in v1/responses and not in v1/chat/completions."
        return refused(message, "model", status=404)
    if "temperature" in sent:
        return refused("Unsupported parameter: 'temperature' is not supported with this model.", "temperature")
    if sent.get("reasoning", {}).get("effort", "high") != "high":
        message = "Unsupported value: 'low' is not supported with the 'gpt-5-pro' model. Supported values are: 'high'."
        return refused(message, "reasoning.effort", "unsupported_value")
    said = [{"type": "reasoning", "summary": []}, {"type": "message", "content": [_output(json.dumps(GOOD))]}]
    tokens = {"input_tokens": 100, "output_tokens": 900, "output_tokens_details": {"reasoning_tokens": 880}}
    return 200, {"object": "response", "status": "completed", "output": said, "usage": tokens}


def _output(text: str) -> Json:
    return {"type": "output_text", "text": text, "annotations": []}


def filtered(path: str, sent: Json) -> Said:
    """Azure, where the content filter takes offence at the prompt."""
    message = "The response was filtered due to the prompt triggering Azure OpenAI's content management policy."
    found = {"hate": {"filtered": True, "severity": "medium"}, "jailbreak": {"filtered": False, "detected": False}}
    inner = {"code": "ResponsibleAIPolicyViolation", "content_filter_result": found}
    return 400, {"error": {"message": message, "param": "prompt", "code": "content_filter", "innererror": inner}}


def filtered_answer(path: str, sent: Json) -> Said:
    """Azure, where the content filter stops the answer."""
    return completion("", finish="content_filter")


def mistral(path: str, sent: Json) -> Said:
    """Mistral: a field that it does not know is an error; models that reason answer in chunks."""
    known = {"model", "messages", "temperature", "max_tokens", "response_format", "tools", "tool_choice"}
    extra = sorted(sent.keys() - known)
    if extra:
        detail = [{"type": "extra_forbidden", "loc": ["body", extra[0]], "msg": "Extra inputs are not permitted"}]
        return 422, {"object": "error", "message": {"detail": detail}, "type": "invalid_request_error"}
    chunks = [{"type": "thinking", "thinking": [{"type": "text", "text": "{"}]}, {"type": "text", "text": "{}"}]
    chunks[1]["text"] = json.dumps(GOOD)
    return completion(chunks if sent["model"].startswith("magistral") else json.dumps(GOOD))


def ollama(path: str, sent: Json) -> Said:
    """Ollama with a small model that thinks aloud: what it does not know is not heeded, and no schema enforced."""
    shown = '"additionalProperties"' in sent["messages"][0]["content"]
    text = json.dumps(GOOD) if shown else json.dumps({"answer": "a budget"})
    return completion(f"<think>Is {{this}} it?</think>{text}", reasoning="I wonder.")


def vllm(context: int) -> Behaviour:
    """vLLM: prompt and answer have to fit into the context."""

    def behave(path: str, sent: Json) -> Said:
        asked = sent.get("max_tokens") or sent.get("max_completion_tokens") or 0
        if asked + 100 > context:
            message = f"This model's maximum context length is {context} tokens. However, you requested {asked} output"
            message += f" tokens and your prompt contains at least 100 input tokens, for a total of {asked + 100}."
            return 400, {"error": {"message": message, "type": "BadRequestError", "param": None, "code": 400}}
        return completion(json.dumps(GOOD), reasoning_content="Hm.")

    return behave


def llama_cpp(path: str, sent: Json) -> Said:
    """llama.cpp, in a version that cannot combine a schema with its own grammar."""
    if sent.get("response_format", {}).get("type") == "json_schema":
        message = 'Either "json_schema" or "grammar" can be specified, but not both'
        return 400, {"error": {"code": 400, "message": message, "type": "invalid_request_error"}}
    return good()


def loading(path: str, sent: Json) -> Said:
    """llama.cpp while it loads its model."""
    return 503, {"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}}


def litellm_proxy(path: str, sent: Json) -> Said:
    """LiteLLM's proxy before a model that reasons: names what its model does not take."""
    if sent["model"] != "gpt-5-mini-alias":
        message = f"litellm.BadRequestError: Invalid model name passed in model={sent['model']}"
        return 400, {"error": {"message": message, "type": "None", "param": None, "code": "400"}}
    if sent.get("temperature", 1) != 1:
        message = "litellm.UnsupportedParamsError: gpt-5 models don't support temperature=0.1. For gpt-5.1, temperature"
        message += " is supported when reasoning_effort='none'. To drop unsupported params set litellm.drop_params"
        return 400, {"error": {"message": message, "type": "None", "param": None, "code": "400"}}
    return good()


def tools_only(path: str, sent: Json) -> Said:
    """A server that knows functions and no forms of answers."""
    if "response_format" in sent:
        return refused("response_format is not supported", "response_format")
    call = {"type": "function", "function": {"name": "extract", "arguments": json.dumps(GOOD)}}
    return completion(None, finish="tool_calls", tool_calls=[call])


def text_only(path: str, sent: Json) -> Said:
    """A server that knows text alone."""
    if "response_format" in sent:
        return refused("response_format is not supported", "response_format")
    if "tools" in sent:
        return refused("tools are not supported", "tools")
    return completion(f"Here you are:\n```json\n{json.dumps(GOOD)}\n```")


# --- Anthropic ----------------------------------------------------------------------------------------------


def message(*content: Json, stop: str = "end_turn") -> Said:
    """A message of Claude."""
    tokens = {"input_tokens": 40, "cache_read_input_tokens": 60, "output_tokens": 20}
    said = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": list(content)}
    return 200, said | {"stop_reason": stop, "stop_sequence": None, "usage": tokens}


def anthropic_error(status: int, kind: str, text: str) -> Said:
    """An error of Anthropic's API."""
    return status, {"type": "error", "error": {"type": kind, "message": text}, "request_id": "req_1"}


def claude(*, schemas: bool = True, temperature: bool = True, most: int = 64_000, stop: str = "end_turn") -> Behaviour:
    """A Claude model that may lack structured outputs or temperature."""

    def behave(path: str, sent: Json) -> Said:
        kind = "invalid_request_error"
        if sent["max_tokens"] > most:
            text = f"max_tokens: {sent['max_tokens']} > {most}, which is the maximum allowed number of output tokens"
            return anthropic_error(400, kind, f"{text} for claude-3-haiku")
        if "temperature" in sent and not temperature:
            return anthropic_error(400, kind, "`temperature` is deprecated for this model.")
        if "output_config" in sent and not schemas:
            return anthropic_error(400, kind, "output_config.format: this model does not support structured outputs")
        if "tools" in sent:
            return message({"type": "tool_use", "id": "t", "name": "extract", "input": GOOD}, stop="tool_use")
        return message({"type": "text", "text": json.dumps(GOOD)}, stop=stop)

    return behave


# --- Google -------------------------------------------------------------------------------------------------


def content(text: str, *, reason: str = "STOP", thought: int = 0) -> Said:
    """What generateContent answers."""
    parts = [{"text": "Let me see.", "thought": True}, {"text": text}]
    tokens = {"promptTokenCount": 100, "candidatesTokenCount": 20, "thoughtsTokenCount": thought}
    return 200, {
        "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": reason}],
        "usageMetadata": tokens,
    }


def google_error(status: int, kind: str, text: str, *details: Json) -> Said:
    """An error of Google's APIs."""
    return status, {"error": {"code": status, "message": text, "status": kind, "details": list(details)}}


def gemini(*, levels: bool = True, needed: int = 0) -> Behaviour:
    """A Gemini model; thoughts count towards the limit."""

    def behave(path: str, sent: Json) -> Said:
        config = sent["generationConfig"]
        if "thinkingConfig" in config and not levels:
            return google_error(400, "INVALID_ARGUMENT", "Thinking level is not supported for this model.")
        if config["maxOutputTokens"] < needed:
            return content("", reason="MAX_TOKENS", thought=config["maxOutputTokens"])
        return content(json.dumps(GOOD), thought=needed)

    return behave
