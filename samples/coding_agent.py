"""A coding agent that remembers, through MCP: each task is a session of its own, with a server of its own.

    python samples/coding_agent.py "Our tests use pytest, never unittest." "Write unit tests for parse_date."

The second session knows what was said in the first. With OPENAI_API_KEY (or OPENAI_BASE_URL) a model chooses the
tools. Without, a script takes its place: it recalls before it answers, and remembers what the user wants kept.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import sys
from typing import Any

from mcp import Client, StdioServerParameters

HAS_A_MODEL = bool(os.environ.keys() & {"OPENAI_API_KEY", "OPENAI_BASE_URL"})
MODEL = os.environ.get("AGENT_MEMORY_CHAT_MODEL", "gpt-4.1-mini")
MOST_STEPS = 8
TO_KEEP = re.compile(r"\b(always|never|prefer|we use)\b", re.IGNORECASE)

Message = dict[str, Any]


def main() -> None:
    """Does each task in a session of its own."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("tasks", nargs="+")
    options.add_argument("--user", default="me")
    options.add_argument("--store", default="coding.db")
    given = options.parse_args()
    for number, task in enumerate(given.tasks, 1):
        print(f"== session {number}: {task}", flush=True)
        print(asyncio.run(session(task, given.store, given.user)), flush=True)


async def session(task: str, store: str, user: str) -> str:
    """Works on a task with the tools of the memory; the last answer."""
    arguments = ["-m", "agent_memory.cli", "mcp", "--store", store, "--user", user]
    async with Client(StdioServerParameters(command=sys.executable, args=arguments)) as memory:
        offered = (await memory.list_tools()).tools
        tools = [
            {"name": tool.name, "description": tool.description, "parameters": tool.input_schema}
            for tool in offered
            if tool.name != "forget"  # a person forgets, not an agent at work
        ]
        system = f"You are a coding agent. {memory.instructions}"
        messages: list[Message] = [{"role": "system", "content": system}, {"role": "user", "content": task}]
        for _ in range(MOST_STEPS):
            answer = complete(messages, tools) if HAS_A_MODEL else scripted(messages)
            messages.append(answer)
            if not answer.get("tool_calls"):
                return str(answer["content"])
            for call in answer["tool_calls"]:
                asked = call["function"]
                result = await memory.call_tool(asked["name"], json.loads(asked["arguments"]))
                said = "\n".join(block.text for block in result.content if block.type == "text")
                print(f"-- {asked['name']}({asked['arguments']})", flush=True)
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": said})
    return f"(no answer after {MOST_STEPS} steps)"


def complete(messages: list[Message], tools: list[Any]) -> Message:
    """The next message of a model."""
    from openai import OpenAI

    functions: Any = [{"type": "function", "function": tool} for tool in tools]
    said: Any = messages
    made: Any = OpenAI().chat.completions.create(model=MODEL, messages=said, tools=functions)
    return dict(made.choices[0].message.model_dump(exclude_none=True))


def scripted(messages: list[Message]) -> Message:
    """What a model would do: recall, then remember what is to be kept, then answer."""
    task = messages[1]["content"]
    results = [message["content"] for message in messages if message["role"] == "tool"]
    if not results:
        return _call("context", query=task)
    sentences = [one for one in re.split(r"(?<=[.!?])\s+", task) if not one.endswith("?")]
    rules = [one for one in sentences if TO_KEEP.search(one)]
    if len(results) <= len(rules):
        return _call("remember", content=rules[len(results) - 1], kind="requirement")
    known = [line for line in results[0].split("\n") if line.startswith("- ")]
    return {"role": "assistant", "content": "\n".join(["Done. I kept to:", *known]) if known else "Done."}


def _call(tool: str, **arguments: str) -> Message:
    function = {"name": tool, "arguments": json.dumps(arguments)}
    return {"role": "assistant", "content": "", "tool_calls": [{"id": tool, "type": "function", "function": function}]}


if __name__ == "__main__":
    main()
