"""LangGraph: a graph of three nodes, recall, model and keep, called synchronously; a checkpointer keeps its threads."""

from __future__ import annotations

import asyncio
from typing import Any

from agent_server import AgentServer
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import MessagesState, StateGraph

from agent_memory.integrations.langgraph import keep_node, recall_node


class State(MessagesState):
    memory: str


class Rig:
    def __init__(self, memory: Any, server: AgentServer) -> None:
        model = ChatOpenAI(model="scripted", api_key="k", base_url=f"{server.url}/v1")

        def answer(state: State) -> dict[str, Any]:
            system = [{"role": "system", "content": state["memory"]}] if state["memory"] else []
            return {"messages": [model.invoke([*system, *state["messages"]])]}

        graph = StateGraph(State)
        graph.add_node("recall", recall_node(memory))
        graph.add_node("answer", answer)
        graph.add_node("keep", keep_node(memory))
        graph.set_entry_point("recall")
        graph.add_edge("recall", "answer")
        graph.add_edge("answer", "keep")
        self.graph = graph.compile(checkpointer=InMemorySaver())

    async def say(self, user: str | None, thread: str, text: str) -> str:
        config: Any = {"configurable": {"thread_id": thread, "user_id": user}}
        messages: Any = {"messages": [{"role": "user", "content": text}]}
        done = await asyncio.to_thread(self.graph.invoke, messages, config)
        return str(done["messages"][-1].content)

    async def again(self, user: str, thread: str) -> None:
        """The node that keeps the talk runs again, from the checkpoint before it."""
        config: Any = {"configurable": {"thread_id": thread, "user_id": user}}
        before = next(step for step in self.graph.get_state_history(config) if step.next == ("keep",))
        resumed: Any = {"configurable": before.config["configurable"] | {"user_id": user}}
        await asyncio.to_thread(self.graph.invoke, None, resumed)
