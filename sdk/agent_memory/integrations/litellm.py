"""LiteLLM: a hook that recalls before each completion and stores the messages after it.

    litellm.callbacks = [MemoryHook(memory)]
    await litellm.acompletion(model, messages, user="alice", metadata={"session_id": "monday"})

The user is `user` of the call, the thread `session_id` of its metadata. A call without a user raises an error.
"""

from __future__ import annotations

from typing import Any

from agent_memory.errors import InvalidInput
from agent_memory.extras import require
from agent_memory.integrations.bridge import AnyMemory, Bridge, owner, text_of
from agent_memory.integrations.conversation import turns_of
from agent_memory.models import Context
from agent_memory.recall.context import DEFAULT_BUDGET
from agent_memory.recall.injection import inject

require("litellm", "litellm")

from litellm.integrations.custom_logger import CustomLogger  # noqa: E402

__all__ = ["MemoryHook"]

_CALLS = ("completion", "acompletion")


class MemoryHook(CustomLogger):
    """Adds memories relevant to the user's last message to the request, and stores that message and the answer.

    Streamed answers are stored in the background, by the first hook of a process: for streams LiteLLM supports one hook
    of a class.
    """

    def __init__(
        self,
        memory: AnyMemory,
        *,
        user_id: str | None = None,
        thread_id: str | None = None,
        budget: int = DEFAULT_BUDGET,
        agent_id: str | None = None,
    ) -> None:
        """Uses an open memory.

        Args:
            memory: An open memory.
            user_id: The user, if all calls are for one user.
            thread_id: The conversation, if there is only one.
            budget: The maximum tokens that are recalled.
            agent_id: The agent that talks; stored with its turns.
        """
        super().__init__()
        self._bridge = Bridge(memory, budget=budget, agent_id=agent_id)
        self._user_id, self._thread_id = user_id, thread_id

    async def async_pre_call_deployment_hook(self, kwargs: dict[str, Any], call_type: Any) -> dict[str, Any] | None:
        """Adds what is known to the messages of a completion.

        Raises:
            InvalidInput: if the call names no user or no conversation, or gives its messages by position.
        """
        if getattr(call_type, "value", call_type) not in _CALLS:
            return None
        if "messages" not in kwargs:  # LiteLLM shows hooks only named arguments
            raise InvalidInput("pass messages= by name: otherwise the hook cannot add to them")
        messages = kwargs["messages"]
        user, thread = self._where(kwargs)
        asked = [text_of(one.get("content")) for one in messages if one.get("role") == "user"]
        told = await self._bridge.told(user, thread, asked[-1] if asked else "")
        return kwargs | {"messages": inject(messages, Context(text=told))}

    async def async_post_call_success_deployment_hook(self, request_data: Any, response: Any, call_type: Any) -> None:
        """Keeps the user's last message and the answer. A store that fails is logged."""
        if getattr(call_type, "value", call_type) in _CALLS and hasattr(response, "choices"):
            await self._keep(request_data, response)

    async def async_log_success_event(self, kwargs: Any, response_obj: Any, start_time: Any, end_time: Any) -> None:
        """Keeps a streamed answer, which LiteLLM shows here alone, once it is whole."""
        if kwargs.get("call_type") in _CALLS and kwargs.get("stream") and hasattr(response_obj, "choices"):
            await self._keep(kwargs | (kwargs.get("litellm_params") or {}), response_obj)

    async def _keep(self, call: dict[str, Any], response: Any) -> None:
        user, thread = self._where(call)
        said = [one for one in call.get("messages") or () if one.get("role") not in ("system", "developer")]
        start = max((place for place, one in enumerate(said) if one.get("role") == "user"), default=len(said))
        answer = {"role": "assistant", "content": response.choices[0].message.content or ""}
        await self._bridge.keep(user, thread, turns_of(thread, [*said[start:], answer], start))

    def _where(self, call: dict[str, Any]) -> tuple[str, str]:
        metadata = call.get("metadata") or {}
        named = call.get("user") or (call.get("optional_params") or {}).get("user") or metadata.get("user_id")
        user = owner(self._user_id or named, "pass user= to the call, or user_id= to MemoryHook")
        thread = self._thread_id or metadata.get("session_id")
        if not thread:
            raise InvalidInput(
                'no conversation: pass metadata={"session_id": …} to the call, or thread_id= to MemoryHook'
            )
        return user, str(thread)
