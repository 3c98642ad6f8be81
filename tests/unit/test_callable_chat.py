"""A function is a chat model: for tasks by their prompts, for a conversation as it is."""

import json
from typing import Any

import pytest

from agent_memory.errors import ModelError
from agent_memory.language.callable_chat import CallableChat, as_chat_model, reply
from agent_memory.language.tasks import QUERY_REWRITE, ChatModel, QueryRewriteInput

DATA = QueryRewriteInput(question="How much?", messages=["The trip to Rome"])


async def test_a_task_is_told_by_its_prompt_and_its_input_and_asked_again_where_the_answer_is_no_use():
    asked: list[list[dict[str, Any]]] = []

    async def model(messages: list[dict[str, Any]]) -> str:
        asked.append(messages)
        return "Sorry?" if len(asked) == 1 else 'Here: {"query": "What does the trip to Rome cost?"}'

    chat = as_chat_model(model)
    assert isinstance(chat, ChatModel)
    result = await chat.run(QUERY_REWRITE, DATA)
    assert result.output.query == "What does the trip to Rome cost?"
    assert result.model == "model"
    assert [message["role"] for message in asked[0]] == ["system", "user"]
    assert '"query"' in asked[0][0]["content"]  # the schema, which no server enforces here
    assert json.loads(asked[0][1]["content"])["question"] == "How much?"
    assert chat.prompt_version(QUERY_REWRITE) == result.prompt_version


async def test_what_gives_no_usable_answer_or_fails_is_a_model_error():
    with pytest.raises(ModelError, match="no usable answer") as unusable:
        await CallableChat(lambda messages: "no JSON").run(QUERY_REWRITE, DATA)
    assert not unusable.value.retryable

    def broken(messages: list[dict[str, Any]]) -> str:
        raise OSError("no wire")

    for call in (CallableChat(broken).run(QUERY_REWRITE, DATA), reply(broken, [{"role": "user", "content": "Hi"}])):
        with pytest.raises(ModelError, match="no wire") as failed:
            await call
        assert failed.value.retryable
    for nothing in ("", "  ", None, 7):
        with pytest.raises(ModelError, match="no text"):
            await reply(lambda messages, given=nothing: given, [])  # type: ignore[misc]
