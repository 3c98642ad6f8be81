"""A server on loopback that agents take for their model: OpenAI's two protocols and Anthropic's, whole or streamed.

The script is in the transcript. A user's line `call NAME {json}` makes the model call that tool. Otherwise it answers
from what it is told: with the budget, if the request tells it outside the user's last message.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

Json = dict[str, Any]
CALL = re.compile(r"^call (\w+) (\{.*\})$", re.MULTILINE)
BUDGET = "$10,000"
RECALLED = "Relevant memories:"
"""Behind this, CrewAI tells what it recalled, in the user's message."""
DSPY = "[[ ## question ## ]]", "[[ ## answer ## ]]"
"""DSPy has all fields in the user's message, and wants them marked in the answer."""
KNOWS, KNOWS_NOT = f"Your budget is {BUDGET}.", "Noted."


class Asked(NamedTuple):
    """A request, whatever its protocol: all that it tells, the user's last message, and whether tools answered it."""

    told: str
    question: str
    answered: bool
    tools: list[str]


class AgentServer:
    """`requests` are the bodies that were sent; `asked` is what they say."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.requests: list[Json] = []
        self.asked: list[Asked] = []
        self.failures = 0
        """How many of the next requests fail with 500."""

    @property
    def environment(self) -> dict[str, str]:
        """The variables by which the clients of models find it."""
        return {
            "OPENAI_BASE_URL": f"{self.url}/v1",
            "OPENAI_API_KEY": "k",
            "ANTHROPIC_BASE_URL": self.url,
            "ANTHROPIC_API_KEY": "k",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_TELEMETRY": "1",
            "IS_SANDBOX": "1",
            "GOOGLE_API_KEY": "k",
            "GOOGLE_GEMINI_BASE_URL": self.url,
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        }

    @property
    def told(self) -> str:
        """What the last request told, without the user's last message."""
        return self.asked[-1].told

    def answer(self, path: str, body: Json) -> Json | None:
        if self.failures:
            self.failures -= 1
            return None
        self.requests.append(body)
        asked = read(body)
        self.asked.append(asked)
        call = CALL.search(asked.question)
        if call and not asked.answered and call[1] in asked.tools:
            return {"name": call[1], "arguments": call[2]}
        text = KNOWS if BUDGET in asked.told else KNOWS_NOT
        return {"text": f"{DSPY[1]}\n{text}" if DSPY[0] in asked.told else text}


def read(body: Json) -> Asked:
    """What a request says."""
    given = body.get("messages", body.get("input", body.get("contents")))
    messages = [{"role": "user", "content": given}] if isinstance(given, str) else list(given or [])
    asking = [n for n, one in enumerate(messages) if one.get("role") == "user" and words(one) and not results(one)]
    last = asking[-1] if asking else len(messages)
    others = [body.get("system", ""), body.get("instructions", ""), body.get("systemInstruction", "")]
    others += [one for n, one in enumerate(messages) if n != last]
    question = words(messages[last]) if asking else ""
    before, fields, question = question.rpartition(DSPY[0])
    question, marker, recalled = question.partition(RECALLED)
    others.append(before + fields + marker + recalled)
    answered = any(results(one) for one in messages[last:])
    return Asked(json.dumps(others, ensure_ascii=False), question, answered, tool_names(body))


def words(message: Json) -> str:
    parts = message.get("content") or message.get("parts") or ""
    if isinstance(parts, str):
        return parts
    return "\n".join(part.get("text") or "" for part in parts if isinstance(part, dict))


def results(message: Json) -> bool:
    """Whether a message is what a tool gave."""
    parts = message.get("content") or message.get("parts") or ()
    inner = [part for part in parts if isinstance(part, dict)]
    return (
        message.get("role") == "tool"
        or message.get("type") == "function_call_output"
        or any(part.get("type") == "tool_result" or "functionResponse" in part for part in inner)
    )


def tool_names(body: Json) -> list[str]:
    found: list[str] = []
    for one in body.get("tools") or ():
        inner = one.get("functionDeclarations") or [one.get("function", one)]
        found += [each.get("name", "") for each in inner]
    return found


def completion(said: Json, number: int) -> Json:
    """A chat completion."""
    message: Json = {"role": "assistant", "content": said.get("text")}
    if "name" in said:
        function = {"name": said["name"], "arguments": said["arguments"]}
        message["tool_calls"] = [{"id": f"call_{number}", "type": "function", "function": function}]
    reason = "tool_calls" if "name" in said else "stop"
    choice = {"index": 0, "message": message, "finish_reason": reason, "logprobs": None}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    made = {"id": f"c{number}", "object": "chat.completion", "created": 1, "model": "scripted"}
    return made | {"choices": [choice], "usage": usage}


def completion_events(said: Json, number: int) -> Iterator[Json]:
    """The same, streamed."""
    whole = completion(said, number)
    [choice] = whole["choices"]
    head = {**whole, "object": "chat.completion.chunk", "usage": None}
    delta = dict(choice["message"])
    if calls := delta.get("tool_calls"):
        delta["tool_calls"] = [call | {"index": index} for index, call in enumerate(calls)]
    yield head | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    yield head | {"choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]}
    yield head | {"choices": [], "usage": whole["usage"]}


def response(said: Json, number: int) -> Json:
    """A response of the Responses API."""
    if "name" in said:
        item: Json = {"type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}", "status": "completed"}
        item |= {"name": said["name"], "arguments": said["arguments"]}
    else:
        content = [{"type": "output_text", "text": said["text"], "annotations": [], "logprobs": []}]
        item = {"type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed"}
        item |= {"content": content}
    tokens = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    made: Json = {"id": f"resp_{number}", "object": "response", "created_at": 1, "status": "completed", "error": None}
    made |= {"model": "scripted", "output": [item], "usage": tokens | details, "parallel_tool_calls": True}
    return made | {"tool_choice": "auto", "tools": [], "incomplete_details": None, "instructions": None, "metadata": {}}


def response_events(said: Json, number: int) -> Iterator[Json]:
    """The same, streamed."""
    whole = response(said, number)
    [item] = whole["output"]
    at = {"output_index": 0, "item_id": item["id"], "content_index": 0}
    events: list[Json] = [
        {"type": "response.created", "response": whole | {"output": [], "status": "in_progress", "usage": None}},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
    ]
    if "name" in said:
        events.append({"type": "response.function_call_arguments.delta", **at, "delta": said["arguments"]})
    else:
        events.append({"type": "response.output_text.delta", **at, "delta": said["text"], "logprobs": []})
    events.append({"type": "response.output_item.done", "output_index": 0, "item": item})
    events.append({"type": "response.completed", "response": whole})
    for sequence, event in enumerate(events):
        yield event | {"sequence_number": sequence}


def message(said: Json, number: int) -> Json:
    """A message of Anthropic's API."""
    block: Json = {"type": "text", "text": said.get("text")}
    if "name" in said:
        block = {"type": "tool_use", "id": f"toolu_{number}", "name": said["name"]}
        block |= {"input": json.loads(said["arguments"])}
    made: Json = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": "scripted"}
    made |= {"content": [block], "stop_reason": "tool_use" if "name" in said else "end_turn", "stop_sequence": None}
    return made | {"usage": {"input_tokens": 1, "output_tokens": 1}}


def message_events(said: Json, number: int) -> Iterator[Json]:
    """The same, streamed."""
    whole = message(said, number)
    [block] = whole["content"]
    yield {"type": "message_start", "message": whole | {"content": [], "stop_reason": None}}
    empty = block | ({"input": {}} if "name" in said else {"text": ""})
    yield {"type": "content_block_start", "index": 0, "content_block": empty}
    delta = {"type": "text_delta", "text": said.get("text")}
    if "name" in said:
        delta = {"type": "input_json_delta", "partial_json": said["arguments"]}
    yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    ending = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": ending, "usage": {"output_tokens": 1}}
    yield {"type": "message_stop"}


def generated(said: Json, number: int) -> Json:
    """What Gemini's generateContent gives."""
    part: Json = {"text": said.get("text")}
    if "name" in said:
        part = {"functionCall": {"name": said["name"], "args": json.loads(said["arguments"])}}
    candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
    return {"candidates": [candidate], "usageMetadata": {"promptTokenCount": 1, "totalTokenCount": 2}}


def embeddings(body: Json) -> Json:
    """Vectors of the right number; they say nothing."""
    texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
    rows = [{"object": "embedding", "index": n, "embedding": [1.0, 0.0, 0.0]} for n in range(len(texts))]
    return {"object": "list", "model": "scripted", "data": rows, "usage": {"prompt_tokens": 1, "total_tokens": 1}}


FORMS = {
    "/chat/completions": (completion, completion_events),
    "/responses": (response, response_events),
    "/messages": (message, message_events),
}


@contextmanager
def agent_server() -> Iterator[AgentServer]:
    """A running server."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            path = self.path.partition("?")[0]
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if path.endswith("/embeddings"):
                return self.send(200, "application/json", json.dumps(embeddings(body)))
            if path.endswith("/count_tokens"):
                return self.send(200, "application/json", json.dumps({"input_tokens": 1}))
            said = made.answer(path, body)
            if said is None:
                return self.send(500, "application/json", json.dumps({"error": {"message": "it broke"}}))
            number = len(made.requests)
            if ":generateContent" in path:
                return self.send(200, "application/json", json.dumps(generated(said, number)))
            whole, events = next(form for end, form in FORMS.items() if path.endswith(end))
            if not body.get("stream"):
                return self.send(200, "application/json", json.dumps(whole(said, number)))
            named = path.endswith(("/responses", "/messages"))
            lines = [
                (f"event: {event['type']}\n" if named else "") + f"data: {json.dumps(event)}\n\n"
                for event in events(said, number)
            ]
            return self.send(200, "text/event-stream", "".join(lines) + ("" if named else "data: [DONE]\n\n"))

        def do_GET(self) -> None:
            self.send(404, "application/json", "{}")

        def do_HEAD(self) -> None:
            self.send(404, "application/json", "{}")

        def send(self, status: int, kind: str, text: str) -> None:
            data = text.encode()
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.send_header("Connection", "close")  # clients that are never closed leave no open socket
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)

        def log_message(self, *args: Any) -> None:
            pass

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    listening.daemon_threads = True
    made = AgentServer(f"http://127.0.0.1:{listening.server_port}")
    thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield made
    finally:
        listening.shutdown()
        listening.server_close()
