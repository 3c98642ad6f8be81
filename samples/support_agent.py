"""A support agent in Microsoft Agent Framework: it knows the company's rules, and the customer from earlier chats.

    echo "Where is order A-100? I always need an invoice in English." | python samples/support_agent.py --customer ann
    echo "Where is order A-200?" | python samples/support_agent.py --customer ann        # a new chat, which knows that

With OPENAI_API_KEY (or OPENAI_BASE_URL) a model answers. Without, a script takes its place: it shows what a model would
know, and looks up the order. It needs the packages agent-framework-core and agent-framework-openai.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from agent_framework import (
    Agent,
    AgentSession,
    BaseChatClient,
    ChatResponse,
    Content,
    FunctionInvocationLayer,
    Message,
    tool,
)
from agent_framework.openai import OpenAIChatCompletionClient

from agent_memory import AsyncMemory
from agent_memory.integrations.agent_framework import MemoryContextProvider
from agent_memory.language.openai_chat import OpenAIChat

HAS_A_MODEL = bool(os.environ.keys() & {"OPENAI_API_KEY", "OPENAI_BASE_URL"})
MODEL = os.environ.get("AGENT_MEMORY_CHAT_MODEL", "gpt-4.1-mini")
ORDERS = {"A-100": ("ann", "is on its way"), "A-200": ("ann", "arrived yesterday"), "B-100": ("bob", "is being packed")}
RULES = [
    {"id": "returns", "content": "Returns are free within 30 days of delivery."},
    {"id": "parcels", "content": "A parcel that is 10 days late counts as lost and is sent again."},
]


async def main() -> None:
    """Talks to a customer until the input ends."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--customer", default="ann", help="who is signed in")
    options.add_argument("--store", default="support.db")
    given = options.parse_args()
    client: Any = OpenAIChatCompletionClient(MODEL) if HAS_A_MODEL else Script()
    async with AsyncMemory.local(given.store, chat_model=OpenAIChat(MODEL) if HAS_A_MODEL else None) as memory:
        await memory.static.seed(RULES)
        provider = MemoryContextProvider(memory, agent_id="support")
        instructions = "You are the support agent of a shop. Answer in one or two sentences."
        agent = Agent(client, instructions, tools=[orders_of(given.customer)], context_providers=[provider])
        session = AgentSession()
        session.state["user_id"] = given.customer  # from the sign-in: the model cannot change it
        for line in sys.stdin:
            if line.strip():
                print((await agent.run(line.strip(), session=session)).text, flush=True)
        await memory.drain(timeout=60)  # a service that goes on running need not wait


def orders_of(customer: str) -> Any:
    """The tool that looks up the orders of one customer."""

    @tool
    def order_status(number: Annotated[str, "Such as A-100"]) -> str:
        """Says where an order is."""
        owner, state = ORDERS.get(number, ("", ""))
        return f"Order {number} {state}." if owner == customer else f"{customer} has no order {number}."

    return order_status


class Script(FunctionInvocationLayer, BaseChatClient):
    """Shows what a model would know, and does what it would do: look up the order that is asked about."""

    async def _inner_get_response(
        self, *, messages: Sequence[Message], stream: bool, options: Mapping[str, Any], **others: Any
    ) -> ChatResponse:
        last = messages[-1]
        found = [str(part.result) for part in last.contents if part.type == "function_result"]
        order = re.search(r"\b[A-Z]-\d{3}\b", last.text)
        if order and not found:
            print(*re.findall(r"^- .+", str(options.get("instructions")), re.MULTILINE), sep="\n")
            call = Content.from_function_call("call", "order_status", arguments={"number": order[0]})
            return ChatResponse(messages=[Message("assistant", [call])])
        return ChatResponse(messages=[Message("assistant", [*found] or ["Which order is it about?"])])


if __name__ == "__main__":
    asyncio.run(main())
