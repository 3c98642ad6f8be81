"""Language tasks on any service that the package litellm knows: Bedrock, Vertex, Cohere, Groq, DeepSeek and others."""

from __future__ import annotations

import asyncio
import os
from types import ModuleType
from typing import Unpack

from agent_memory.extras import require
from agent_memory.language.dialects import Dialect
from agent_memory.language.openai_client import model_errors
from agent_memory.language.openai_protocol import chat_arguments, read_chat
from agent_memory.language.requests import Completion, Request
from agent_memory.language.service_chat import ChatOptions, ServiceChat


class LiteLLMChat(ServiceChat):
    """Runs tasks on a model of litellm."""

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        **options: Unpack[ChatOptions],
    ) -> None:
        """Does not connect yet.

        Args:
            model: service and model in litellm's form, such as `groq/llama-3.3-70b-versatile`.
            base_url: an address other than the service's own.
            api_key: a key; by default litellm reads the variables of the service.
            options: see `ChatOptions`.

        Raises:
            ConfigurationError: the package litellm is missing, or there are no prompts.
        """
        require("litellm", "litellm")
        self._reached = reached(base_url, api_key)
        super().__init__(model, "chat", base_url or "litellm", api_key, **options)

    async def _ask(self, request: Request, dialect: Dialect) -> Completion:
        litellm = await load_litellm()
        async with model_errors(self._model, request.timeout):
            answer = await litellm.acompletion(
                **chat_arguments(request, dialect),
                **self._reached,
                timeout=request.timeout,
                num_retries=0,
                max_retries=0,
            )
            headers = (getattr(answer, "_hidden_params", None) or {}).get("additional_headers") or {}
            return read_chat(answer.model_dump_json(), self._model, {str(k): str(v) for k, v in headers.items()})

    async def _close(self) -> None:
        """Nothing to free: litellm keeps its clients for the process."""


async def load_litellm() -> ModuleType:
    """The package. Importing it takes seconds, so a thread does it."""
    return await asyncio.to_thread(_load)


def _load() -> ModuleType:
    # Without this it fetches a list of prices from the network when it is imported.
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    import litellm

    module: ModuleType = litellm
    litellm.suppress_debug_info = True  # it prints advice on stdout with every error
    litellm.telemetry = False
    return module


def reached(base_url: str | None, api_key: str | None) -> dict[str, str]:
    """The given address and key; litellm finds the others in the environment."""
    return {name: value for name, value in (("api_base", base_url), ("api_key", api_key)) if value}
