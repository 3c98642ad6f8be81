"""The classes and defaults of Ballerina AI's memory framework, over the short-term memory.

A store is the scope of a user, and the models are those of its memory. If you pass another store or model to a class,
it raises an error. Prompts are files (see `agent_memory.language.prompts`), except the one that chooses facts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from agent_memory import working
from agent_memory.errors import AgentMemoryError, ConfigurationError, StaticMemoryError
from agent_memory.language.callable_chat import Provider, reply
from agent_memory.models import Memory as Fact
from agent_memory.portal import Portal
from agent_memory.sync import StaticScope, UserScope
from agent_memory.working import LongTermBlock, ShortTermMemory
from agent_memory.working.blocks import Message
from agent_memory.working.content import RETRIEVAL_PROMPT, MemoryContent, selected_by
from agent_memory.working.messages import read_message
from agent_memory.working.overflow import MAX_TOKENS, Flush, Overflow, Summarize, Trim

__all__ = [
    "Agent",
    "AgentMemory",
    "ExtractiveMemory",
    "FlushToLTMConfiguration",
    "Memory",
    "MemoryContent",
    "MemoryError",
    "STMSummarizeConfiguration",
    "StaticMemory",
    "StaticMemoryError",
    "TrimLastMessagesConfiguration",
    "VectorMemory",
]

Memory = LongTermBlock
"""The interface of every memory: get, update and delete."""
MemoryError = AgentMemoryError
"""The error of every memory."""


@dataclass(frozen=True, slots=True)
class STMSummarizeConfiguration:
    """A summary replaces the older messages. The newest `summary_message_count` stay.

    `model_provider` must be the memory's own chat model. The prompt is the file `summarize`.
    """

    summary_message_count: int = 2
    max_summary_tokens: int | None = None
    model_provider: Any = None


@dataclass(frozen=True, slots=True)
class FlushToLTMConfiguration:
    """Above a ratio of the limit, the long-term blocks take in the older messages."""

    max_stm_token_ratio: float = 0.5
    is_persist_memory_inserted_into_the_system_prompt: bool = False
    lt_memory_blocks: Sequence[LongTermBlock] = ()


@dataclass(frozen=True, slots=True)
class TrimLastMessagesConfiguration:
    """Only the newest messages stay, within `max_memory_tokens`."""

    max_memory_tokens: int = 500


FilterConfig = STMSummarizeConfiguration | FlushToLTMConfiguration | TrimLastMessagesConfiguration
DEFAULT_FLUSH_CONFIG = STMSummarizeConfiguration()


class StaticMemory(working.StaticMemory):
    """Facts that hold for every user and thread. The constructor inserts them."""

    def __init__(
        self,
        *,
        facts: Sequence[Any],
        fact_store: StaticScope,
        name: str = "static_memory",
        max_tokens: int | None = None,
    ) -> None:
        """Inserts the facts. Existing ones stay unchanged.

        Args:
            facts: Each `{"id": …, "content": …}`, a text, `{"key": …, "value": …}`, or any other data.
            fact_store: The memory's static knowledge.
            name: The element that they are shown in.
            max_tokens: Most tokens that they may take of a view.

        Raises:
            InvalidInput: if a fact is invalid.
        """
        super().__init__(fact_store, facts, name=name, max_tokens=max_tokens)
        self.insert_facts()


class ExtractiveMemory(working.ExtractiveMemory):
    """The facts that were extracted from a user's conversations. If you pass a model, it chooses among them."""

    def __init__(
        self,
        *,
        fact_store: UserScope,
        model_provider: Provider | None = None,
        name: str = "extractive_memory",
        max_tokens: int = 2000,
        fact_retrieval_prompt: str = RETRIEVAL_PROMPT,
    ) -> None:
        """Makes no request yet. The memory's own model extracts, with the prompt file `extract`.

        Args:
            fact_store: The user whose facts these are.
            model_provider: Chooses the facts: a chat model, or a function of messages. Without it, the search alone
                decides.
            name: The element that they are shown in.
            max_tokens: Most tokens that they may take of a view.
            fact_retrieval_prompt: What the model shall choose.

        Raises:
            InvalidInput: if the provider is neither.
        """
        select = None if model_provider is None else _blocking(fact_store, model_provider, fact_retrieval_prompt)
        super().__init__(fact_store, name=name, max_tokens=max_tokens, select=select)


class VectorMemory(working.VectorMemory):
    """The turns of a user's conversations, found by meaning."""

    def __init__(
        self,
        *,
        store: UserScope,
        embedding_provider: Any = None,
        model_provider: Any = None,
        name: str = "vector_memory",
    ) -> None:
        """Makes no request yet.

        Args:
            store: The scope of the user.
            embedding_provider: None, or the memory's own.
            model_provider: None, or the memory's own. No model is called.
            name: The element that shows it.

        Raises:
            ConfigurationError: if a provider is not the memory's own.
        """
        _own(store, "embeddings", embedding_provider, "embedding_provider")
        _own(store, "chat", model_provider, "model_provider")
        super().__init__(store, name=name)


class AgentMemory(ShortTermMemory):
    """The memory of an agent's conversations with one user.

    Example:
        ```python
        sarah = memory.user("sarah")
        rules = StaticMemory(facts=[{"id": "r1", "content": "Three days a week."}], fact_store=memory.static)
        blocks = [rules, ExtractiveMemory(fact_store=sarah), VectorMemory(store=sarah)]
        agent_memory = AgentMemory(sarah, FlushToLTMConfiguration(0.8, lt_memory_blocks=blocks))
        agent_memory.update("s1", {"role": "user", "content": "Hi, I'm Sarah."})
        ```
    """

    def __init__(
        self,
        message_store: UserScope,
        filter_config: FilterConfig | None = None,
        max_memory_token_count: int = MAX_TOKENS,
        *,
        system_message_store: UserScope | None = None,
    ) -> None:
        """Makes no request yet.

        Args:
            message_store: The user whose conversations these are.
            filter_config: What to do when a conversation outgrows the limit; by default, summarise it.
            max_memory_token_count: The limit, in tokens.
            system_message_store: None, or the same user. The store treats the newest system message separately.

        Raises:
            ConfigurationError: if the second store is another one, or a provider is not the memory's own.
        """
        if system_message_store is not None and not (
            system_message_store.home is message_store.home and system_message_store.user_id == message_store.user_id
        ):
            raise ConfigurationError("system messages are stored with the others: pass the same user's scope twice")
        filter_config = filter_config or DEFAULT_FLUSH_CONFIG
        if isinstance(filter_config, STMSummarizeConfiguration):
            _own(message_store, "chat", filter_config.model_provider, "model_provider")
        flush = filter_config if isinstance(filter_config, FlushToLTMConfiguration) else FlushToLTMConfiguration()
        super().__init__(
            message_store,
            _strategy(filter_config),
            blocks=flush.lt_memory_blocks,
            max_tokens=max_memory_token_count,
            memory_in_system_prompt=flush.is_persist_memory_inserted_into_the_system_prompt,
        )
        self._has_blocks = bool(flush.lt_memory_blocks)

    def get(  # type: ignore[override]  # as in the proposal: a list if there are no blocks
        self, session_id: str, message: Message | None = None
    ) -> list[dict[str, Any]] | MemoryContent:
        """The messages of a conversation as a list; with long-term blocks, a `MemoryContent`.

        Raises:
            StoreUnavailable: if the conversation cannot be read.
        """
        content = super().get(session_id, message)
        return content if self._has_blocks else content.messages


class Agent:
    """An agent around any model, whose memory has `get`, `update` and `delete`.

    Example:
        ```python
        with Agent(model=ask, memory=AgentMemory(sarah), system_prompt="You answer questions on rules.") as agent:
            print(agent.run("May I work from home?", "s1"))
        ```
    """

    def __init__(self, *, model: Provider, memory: Any, system_prompt: str | None = None) -> None:
        """Asks nothing yet.

        Args:
            model: A chat model, or a function of messages (`role`, `content`) that returns the text of the answer. It
                may run tools.
            memory: Anything with `get`, `update` and `delete`.
            system_prompt: Its instructions, stored as the conversation's system message.
        """
        self.memory = memory
        self._model = model
        self._system_prompt = system_prompt
        self._told: set[str] = set()
        self._portal: Portal | None = None

    def run(self, query: str, session_id: str = "default") -> str:
        """Answers a message with the help of memory, and stores both sides. Returns the answer.

        If the model fails, the user's message stays stored.

        Raises:
            ModelError: if the model returned no answer.
            MemoryError: if the memory failed.
        """
        if self._system_prompt is not None and session_id not in self._told:
            self.memory.update(session_id, {"role": "system", "content": self._system_prompt})
            self._told.add(session_id)
        question = {"role": "user", "content": query}
        self.memory.update(session_id, question)
        messages = _as_messages(self.memory.get(session_id, question))
        if not messages or (messages[-1]["role"], messages[-1]["content"]) != ("user", query):
            messages.append(question)
        self._portal = self._portal or Portal()
        answer = self._portal.run(reply(self._model, messages))
        self.memory.update(session_id, {"role": "assistant", "content": answer})
        return answer

    def close(self) -> None:
        """Stops the thread that calls the model. Harmless if it is closed."""
        if self._portal is not None:
            self._portal.close()
            self._portal = None

    def __enter__(self) -> Agent:
        """Does nothing: the agent is ready at once."""
        return self

    def __exit__(self, *error: object) -> None:
        """Closes it."""
        self.close()


def _as_messages(content: Any) -> list[dict[str, Any]]:
    """The answer of a memory as messages of a chat API."""
    if isinstance(content, MemoryContent):
        return content.messages
    return [read_message(one).to_dict() for one in content]


def _strategy(config: FilterConfig) -> Overflow:
    match config:
        case STMSummarizeConfiguration():
            return Summarize(
                threshold_tokens=None,
                keep=config.summary_message_count,
                max_summary_tokens=config.max_summary_tokens,
                summary_role="user",
            )
        case FlushToLTMConfiguration():
            return Flush(ratio=config.max_stm_token_ratio)
        case TrimLastMessagesConfiguration():
            return Trim(max_tokens=config.max_memory_tokens)


def _own(store: UserScope, part: str, provider: Any, name: str) -> None:
    """Refuses a provider that is not the memory's own."""
    own = getattr(getattr(store.home, "tools", None), part, None)
    own = getattr(own, "asked", own)  # the embedding model is wrapped, because it may change while the store moves
    if provider is not None and provider is not own:
        raise ConfigurationError(f"{name}: the memory works with its own model; open it with this one, or leave it out")


def _blocking(store: UserScope, provider: Provider, prompt: str) -> Callable[[str, Sequence[Fact]], list[Fact]]:
    """A selection by a model on the memory's event loop, because a model's connections belong to one loop."""
    select = selected_by(provider, prompt)
    return lambda query, facts: store._portal.run(select(query, facts))
