"""The memory of one agent in one session, under the Agent Service's names. It only calls the scopes."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from agent_memory.compat.agent_profile import (
    TOOLS,
    AgentProfile,
    Diagnosis,
    Difference,
    MemoryEntry,
    MemorySessionSummary,
    SearchType,
    missing_of,
    note_for_archive,
    tool_arguments,
)
from agent_memory.compat.knowledge_base import (
    CrossSession,
    KnowledgeBase,
    KnowledgeDocument,
    chat_of,
    render,
)
from agent_memory.errors import AgentMemoryError, ConfigurationError, InvalidInput, StoreUnavailable
from agent_memory.language.callable_chat import Provider, as_chat_model, reply
from agent_memory.language.tasks import EmbeddingModel
from agent_memory.memory import AsyncMemory
from agent_memory.models import Health
from agent_memory.scopes import AsyncThreadScope
from agent_memory.store.ids import check_id
from agent_memory.text.tokens import TokenCounter
from agent_memory.working import AsyncShortTermMemory, Summarize
from agent_memory.working.messages import read_message

__all__ = [
    "AgentSession",
    "Diagnosis",
    "Difference",
    "KnowledgeBase",
    "KnowledgeDocument",
    "MemoryEntry",
    "MemorySessionSummary",
]

logger = logging.getLogger("agent_memory")

WEEK = 7 * 24 * 3600
"""How long a message is kept by default, in seconds."""


class AgentSession:
    """An agent's memory in one session of one user, as its profile says.

    Without `memory` among the profile's resources, all methods do nothing. Without `knowledge_base`, nothing is found
    in other sessions. Reading never breaks a conversation: `load_memory` logs an error and returns an empty list.

    Example:
        ```python
        profile = {"agent_id": "helper", "resources": ["memory"]}
        async with AgentSession(memory, profile, "user123", "session456") as agent:
            history = await agent.load_memory()
            await agent.save_memory("user", "My name is Alice")
        ```
    """

    def __init__(
        self,
        memory: AsyncMemory,
        profile: AgentProfile | Mapping[str, Any] | str | Path,
        user_id: str,
        session_id: str,
        *,
        agent_scoped: bool = False,
        message_ttl: int | None = WEEK,
        tokens: TokenCounter | None = None,
    ) -> None:
        """Makes no request yet.

        Args:
            memory: The memory, with its store and models.
            profile: A mapping, JSON text or the path of a JSON file.
            user_id: The user.
            session_id: The session.
            agent_scoped: Whether each agent has its own conversation in the session.
            message_ttl: Seconds until a message is deleted; None: the store's setting.
            tokens: Counts tokens.

        Raises:
            InvalidInput: if the profile or an id is invalid.
        """
        self.profile = AgentProfile.read(profile)
        self._memory = memory
        self._agent_id = check_id(self.profile.agent_id, "agent_id")
        self._session_id = session_id
        self._user = memory.user(user_id)
        self._thread_id = f"{session_id}_{self._agent_id}" if agent_scoped else session_id
        compression = self.profile.resource_config.memory.compression
        self._compression = compression
        self._chats = AsyncShortTermMemory(
            self._user,
            Summarize(threshold_tokens=compression.threshold_tokens, keep=compression.recent_messages_to_keep)
            if compression.enabled
            else None,
            agent_id=self._agent_id,
            resources=self.profile.resources,
            ttl=message_ttl,
            tokens=tokens,
        )
        settings = self.profile.resource_config.knowledge_base
        self.knowledge_base = KnowledgeBase(memory, self._user, settings) if self.profile.wants_knowledge_base else None
        self._provider: Provider | None = None
        self._agent_scoped = agent_scoped
        self._newest: tuple[str, str, str] | None = None  # role, content and id of the last stored message
        self._answered = False

    def set_chat_provider(self, provider: Provider) -> None:
        """Sets the model that answers in `chat`: a chat model of the library, or a function of messages.

        Raises:
            InvalidInput: if it is neither.
        """
        as_chat_model(provider)
        self._provider = provider

    def set_embedding_provider(self, provider: EmbeddingModel, model: str | None = None) -> None:
        """Notes which embeddings you expect. The memory uses its own; `diagnose` reports a difference."""
        if self.knowledge_base is not None:
            self.knowledge_base.set_embedding_provider(provider, model)

    def set_rerank_provider(self, provider: Provider, model: str | None = None) -> None:
        """Sets the model that ranks archived conversations. Without one, they are ordered by their vectors.

        Raises:
            InvalidInput: if it is neither a chat model nor a function of messages.
        """
        if self.knowledge_base is not None:
            self.knowledge_base.set_rerank_provider(provider, model)

    async def initialize(self) -> None:
        """Opens the memory if it is closed. Logs the settings of the profile that have no effect."""
        await self._memory.open()
        for one in self._differences(await self._memory.health()):
            logger.warning(
                "The profile of %s names the %s %s; the memory has %s",
                self._agent_id,
                one.setting,
                one.wanted,
                one.used,
            )

    async def cleanup(self) -> None:
        """Ends the session: archives the rest of it, if the profile says so. Never raises; it logs errors."""
        if self.profile.wants_memory and self._compression.archive_conversations:
            await self._archive()

    async def __aenter__(self) -> Self:
        """Initializes it."""
        await self.initialize()
        return self

    async def __aexit__(self, *error: object) -> None:
        """Cleans up."""
        await self.cleanup()

    async def load_memory(self, user_message: str | None = None) -> list[dict[str, Any]]:
        """The conversation for the model: the summary of compressed messages, then the newest messages.

        If the user's message asks about earlier sessions, notes from them come before the messages.

        Args:
            user_message: The message to answer; by default the user's newest one.

        Returns:
            Messages with role and content. The list is empty if there is nothing, or after an error, which is logged.
        """
        if not self.profile.wants_memory:
            return []
        try:
            content = await self._chats.get(self._thread_id)
            messages = content.messages
            asked = user_message or next((m["content"] for m in reversed(messages) if m["role"] == "user"), "")
            found = await self._cross_session(asked)
            ahead = sum(message.role == "system" for message in content.chat_messages)
            return messages[:ahead] + ([render(found).to_dict()] if found else []) + messages[ahead:]
        except Exception as error:
            logger.error("Error loading memory: %s", error)
            return []

    async def save_memory(self, role: str, content: str, metadata: Mapping[str, Any] | None = None) -> str | None:
        """Stores one message, and compresses the conversation above its threshold. Returns the message's id.

        Returns None if nothing is stored, because the profile has no memory or a switch is off.

        Raises:
            InvalidInput: if it is not a message.
            StoreUnavailable: if the store did not answer.
        """
        if not self.profile.wants_memory:
            return None
        message = read_message({"role": role, "content": content, "metadata": dict(metadata or {})})
        if self._answered and self._newest is not None and self._newest[:2] == (message.role, message.content):
            return self._newest[2]  # `chat` has stored it already
        session_id = self._session_id if self._agent_scoped else None
        message.metadata |= note_for_archive(self.profile, message, session_id)
        updated = await self._chats.update(self._thread_id, message)
        self._newest = (message.role, message.content, updated.turn_id) if updated.turn_id else None
        self._answered = False
        if updated.retired and self._compression.archive_conversations:
            await self._archive(retired=True)
        return updated.turn_id

    async def chat(self, message: str) -> str:
        """Answers a user message with the help of memory, and stores both sides. Returns the answer.

        A message that `save_memory` has just stored is not stored twice, and neither is an answer that you save again.
        If the model fails, the user's message stays stored, and you can repeat the call. If the store fails, it logs a
        warning, and the conversation continues without memory.

        Raises:
            ModelError: if the model returned no answer.
            ConfigurationError: if there is no model: see `set_chat_provider`.
            InvalidInput: if it is not a message.
        """
        provider = self._provider or chat_of(self._memory)
        if provider is None:
            raise ConfigurationError("there is no model to answer with: pass one to set_chat_provider")
        if self._newest is None or self._newest[:2] != ("user", message):
            await self._keep("user", message)
        messages = await self.load_memory(message)
        if not messages or (messages[-1]["role"], messages[-1]["content"]) != ("user", message):
            messages.append({"role": "user", "content": message})
        answer = await reply(provider, messages)
        await self._keep("assistant", answer)
        self._answered = True
        return answer

    async def clear_conversation(self) -> int:
        """Empties the live conversation. Returns how many messages it had; they stay on record until they expire."""
        return await self._chats.clear(self._thread_id) if self.profile.wants_memory else 0

    async def entries(self, *, include_inactive: bool = False) -> list[MemoryEntry]:
        """The messages of the session as entries, oldest first. Inactive ones only with `include_inactive`."""
        if not self.profile.wants_memory:
            return []
        live = (await self._thread.view()).turns
        active = {turn.id for turn in live}
        turns = await self._thread.turns() if include_inactive else live
        return [MemoryEntry.of(turn, self._session_id, self._agent_id, active=turn.id in active) for turn in turns]

    async def session_summary(self) -> MemorySessionSummary | None:
        """The summary of the session; None if there is none yet."""
        summary = await self._thread.summary() if self.profile.wants_memory else None
        if summary is None:
            return None
        return MemorySessionSummary(
            id=summary.id,
            user_id=summary.user_id,
            session_id=self._session_id,
            agent_id=self._agent_id,
            summary=summary.content,
            created_at=summary.created_at,
            updated_at=summary.updated_at,
        )

    async def search_knowledge_base(
        self, query: str, search_type: SearchType = "conversations", limit: int = 5
    ) -> list[KnowledgeDocument]:
        """The archived conversations or documents that match a query; nothing without a knowledge base.

        Raises:
            InvalidInput: if an argument is invalid.
            StoreUnavailable: if every part of the search failed.
        """
        if self.knowledge_base is None:
            return []
        return await self.knowledge_base.search_knowledge_base(query, search_type, limit)

    async def list_documents(self, doc_type: SearchType = "conversations", limit: int = 10) -> list[KnowledgeDocument]:
        """The newest archived conversations, or documents, each as its first piece; nothing without a knowledge base.

        Raises:
            InvalidInput: if an argument cannot be used.
        """
        return [] if self.knowledge_base is None else await self.knowledge_base.list_documents(doc_type, limit)

    def tools(self) -> list[dict[str, Any]]:
        """The tools that the profile allows, in the format of chat APIs, with the JSON schemas of their arguments."""
        if self.knowledge_base is None:
            return []
        allowed = [name for name in TOOLS if name in self.profile.allowed_regular_tools]
        return [{"type": "function", "function": {"name": name, **TOOLS[name]}} for name in allowed]

    async def call_tool(self, name: str, arguments: Mapping[str, Any] | str) -> list[KnowledgeDocument]:
        """Runs a tool call of a model.

        Raises:
            InvalidInput: if the profile does not allow the tool, or its arguments are invalid.
            StoreUnavailable: if the store did not answer.
        """
        if name not in {tool["function"]["name"] for tool in self.tools()}:
            raise InvalidInput(f"there is no tool {name!r} for this agent")
        given = tool_arguments(name, arguments)
        if name == "list_documents":
            return await self.list_documents(**given)
        return await self.search_knowledge_base(**given)

    async def diagnose(self, user_message: str | None = None) -> Diagnosis:
        """Says what is active in this session, and why the rest is not.

        Args:
            user_message: The message for which other sessions are searched; by default the user's newest one.
        """
        profile, compression = self.profile, self._compression
        settings = profile.resource_config.knowledge_base
        health = await self._memory.health()
        tokens = await self._chats.tokens(self._thread_id) if profile.wants_memory and health.ok else 0
        listed = await self.list_documents(limit=100) if health.ok else []
        archived = sum(document.metadata.get("session_id") != self._session_id for document in listed)
        looked = await self._looked(user_message) if health.ok else None
        reasons = missing_of(profile, health, tokens, archived)
        if looked is not None and looked.reason is not None and f"cross-session: {looked.reason}" not in reasons:
            reasons.append(f"cross-session: {looked.reason}")
        looked = looked or CrossSession(threshold=settings.relevance_threshold)
        return Diagnosis(
            memory_active=profile.wants_memory and health.ok,
            tokens=tokens,
            threshold_tokens=compression.threshold_tokens,
            should_compress=compression.enabled and tokens > compression.threshold_tokens,
            cross_session_active=profile.wants_knowledge_base and settings.enable_cross_session_context,
            archived_conversations=archived,
            relevance_threshold=looked.threshold,
            found=len(looked.documents),
            search_misses=health.search_misses,
            reasons=reasons,
            differences=self._differences(health),
            **looked.model_dump(include={"trigger", "least_similarity", "best_score", "best_similarity"}),
        )

    async def _looked(self, user_message: str | None) -> CrossSession | None:
        """The results for a message in other sessions; None without a message or a knowledge base."""
        if self.knowledge_base is None:
            return None
        if user_message is None:
            view = (await self._chats.get(self._thread_id)).chat_messages if self.profile.wants_memory else []
            user_message = next((one.content for one in reversed(view) if one.role == "user"), None)
        if not user_message:
            return None
        try:
            return await self.knowledge_base.look(user_message, self._session_id, self._thread_id)
        except AgentMemoryError as error:
            return CrossSession(threshold=0, reason=f"the archive cannot be searched: {error}")

    def _differences(self, health: Health) -> list[Difference]:
        """The settings of the profile that have no effect."""
        profile = self.profile
        used = as_chat_model(self._provider).model_id if self._provider is not None else health.chat_model
        named = [
            Difference(setting=setting, wanted=wanted, used=used)
            for setting, wanted in (("provider", profile.provider), ("model", profile.model))
            if wanted and self._provider is None and not used.startswith(wanted)
        ]
        if self.knowledge_base is None:
            return named
        return named + self.knowledge_base.differences(health.embedding_model, health.store)

    async def _keep(self, role: str, content: str) -> None:
        """Stores a message, if the store answers."""
        try:
            await self.save_memory(role, content)
        except StoreUnavailable as error:
            logger.warning("A message was not stored, going on without it: %s", error)

    @property
    def _thread(self) -> AsyncThreadScope:
        return self._user.thread(self._thread_id, agent_id=self._agent_id, resources=self.profile.resources)

    async def _cross_session(self, message: str) -> list[KnowledgeDocument]:
        if self.knowledge_base is None or not message:
            return []
        try:
            looked = await self.knowledge_base.look(message, self._session_id, self._thread_id)
        except AgentMemoryError as error:
            logger.warning("Other sessions cannot be searched, going on without: %s", error)
            return []
        if looked.trigger is not None and looked.reason is not None:
            logger.info("No other session is shown: %s", looked.reason)
        return looked.documents

    async def _archive(self, *, retired: bool = False) -> None:
        """Archives the conversation, or the turns that left the view. After a failure, the next call does it."""
        try:
            await self._thread.process("archive", retired=retired)
        except AgentMemoryError as error:
            logger.warning("A conversation was not archived: %s", error)
