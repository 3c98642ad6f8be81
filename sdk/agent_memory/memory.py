"""AsyncMemory: opens a memory, and has the operations on all its users."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, Self

from pydantic import SecretStr

from agent_memory.backend import StoreBackend
from agent_memory.errors import ConfigurationError
from agent_memory.language import defaults
from agent_memory.language.current import CurrentEmbeddings
from agent_memory.language.offline import OfflineChat
from agent_memory.language.roles import model_of
from agent_memory.language.tasks import RECONCILE, ChatModel, EmbeddingModel
from agent_memory.models import MemoryConfig
from agent_memory.opening import cosmos_store, local_store
from agent_memory.operators import MemoryOperator
from agent_memory.processing.worker import Progress
from agent_memory.rules.switches import Asked
from agent_memory.runtime import Runtime
from agent_memory.scopes import AsyncGroupScope, AsyncStaticScope, AsyncUserScope
from agent_memory.settings import DEFAULT_CADENCE, Cadence, Environment, Limits, PolicySettings, RecallSettings, Webhook
from agent_memory.steps.gather import Tools
from agent_memory.store.client import Store
from agent_memory.store.documents import validated
from agent_memory.text.tokens import TiktokenCounter, TokenCounter

if TYPE_CHECKING:
    from azure.core.credentials_async import AsyncTokenCredential


logger = logging.getLogger("agent_memory")

OFFLINE_CANDIDATES = 500
"""How many facts one reconciliation by rules compares. Rules cost no tokens, so it is more than for a model."""


class AsyncMemory(MemoryOperator):
    """A memory for agents: `local`, `cosmos` and `from_env` create one; `async with` opens and closes it.

    Example:
        ```python
        async with AsyncMemory.local("memory.db") as memory:
            chat = memory.user("alice").thread("hawaii")
            await chat.add("user", "My budget for the Hawaii trip is $10,000.")
            await memory.drain(timeout=60)
            context = await chat.context("What's my budget?")
        ```
    """

    def __init__(
        self,
        store: Store,
        *,
        chat_model: ChatModel,
        embedding_model: EmbeddingModel,
        cadence: Cadence,
        process: Literal["inline", "functions"],
        provision: bool,
        limits: Limits | None = None,
        recall: RecallSettings | None = None,
        policy: PolicySettings | None = None,
        webhook: Webhook | None = None,
        tokens: TokenCounter | None = None,
        autoscale_max_ru: int | None = None,
        next_embedding_model: EmbeddingModel | None = None,
        on_checked: Callable[[], None] | None = None,
        on_close: Callable[[], None] | None = None,
    ) -> None:
        current = CurrentEmbeddings(embedding_model, next_embedding_model)
        tools = Tools(store, chat_model, current, limits or Limits(), policy or PolicySettings())
        counter, inline = tokens or TiktokenCounter(), process == "inline"
        runtime = Runtime.of(tools, recall or RecallSettings(), counter, cadence, webhook, inline=inline)
        self._backend = StoreBackend(
            runtime,
            provision=provision,
            autoscale_max_ru=autoscale_max_ru,
            on_checked=on_checked,
            on_close=on_close,
        )

    @classmethod
    def local(
        cls,
        path: str | os.PathLike[str] | None = None,
        *,
        chat_model: ChatModel | None = None,
        embedding_model: EmbeddingModel | None = None,
        cadence: Cadence | None = None,
        limits: Limits | None = None,
        recall: RecallSettings | None = None,
        policy: PolicySettings | None = None,
        webhook: Webhook | None = None,
        tokens: TokenCounter | None = None,
    ) -> Self:
        """A memory in this process, in the file at `path`, or in RAM without a path (or with `:memory:`).

        It needs no account, no key and no network. By default, rules extract memories, and embeddings come from
        all-MiniLM-L6-v2, which is a package. If the package is missing, words are hashed instead, with a warning.

        Raises:
            ConfigurationError: if the file cannot be opened as a store, or a package of the extra `local` is missing.
        """
        chat = chat_model or defaults.default_chat()
        reconciles = model_of(chat, RECONCILE)
        if limits is None and reconciles is not None and reconciles.model_id == OfflineChat.MODEL_ID:
            limits = Limits(reconcile_candidates=OFFLINE_CANDIDATES)
        recall = recall or RecallSettings()
        opened = local_store(path, marks_changes=recall.caches)
        return cls(
            opened.store,
            chat_model=chat,
            embedding_model=embedding_model or defaults.default_embeddings(),
            cadence=cadence or DEFAULT_CADENCE,
            process="inline",
            provision=True,
            limits=limits,
            recall=recall,
            policy=policy,
            webhook=webhook,
            tokens=tokens,
            on_checked=opened.upgrade,
            on_close=opened.close,
        )

    @classmethod
    def cosmos(
        cls,
        endpoint: str,
        credential: str | AsyncTokenCredential | None = None,
        database: str = "ai_memory",
        *,
        chat_model: ChatModel | None = None,
        embedding_model: EmbeddingModel | None = None,
        process: Literal["functions", "inline"] = "functions",
        cadence: Cadence | None = None,
        limits: Limits | None = None,
        recall: RecallSettings | None = None,
        policy: PolicySettings | None = None,
        webhook: Webhook | None = None,
        tokens: TokenCounter | None = None,
        autoscale_max_ru: int | None = None,
        next_embedding_model: EmbeddingModel | None = None,
        connection_verify: bool = True,
    ) -> Self:
        """A memory in Azure Cosmos DB, or in its emulator.

        Args:
            endpoint: The account's URL.
            credential: A key or a token credential; by default a `DefaultAzureCredential`.
            database: The database; `create_memory_store()` creates it with its containers.
            chat_model: Runs the language tasks of processing; by default rules.
            embedding_model: Must be the model whose vectors the store holds; by default all-MiniLM-L6-v2.
            process: What processes turns: the deployed function app, or this process.
            cadence: How often this process runs each step.
            limits: Limits of one run of a step.
            recall: How search and context choose.
            policy: What the operator allows: the global switch and the tiers.
            webhook: Where this process sends changes of memories, if it processes turns (see `Webhook`).
            tokens: Counts tokens for budgets.
            autoscale_max_ru: Throughput cap for containers that are created here; None for serverless accounts.
            next_embedding_model: The model to which the store moves, or is about to (`reembed`). This process then
                writes vectors of both, and switches to the new model when the store does.
            connection_verify: Whether TLS certificates are checked; False only for an emulator.

        Raises:
            ConfigurationError: if the URL or the key is invalid.
        """
        recall = recall or RecallSettings()
        return cls(
            cosmos_store(
                endpoint, credential, database, connection_verify=connection_verify, marks_changes=recall.caches
            ),
            chat_model=chat_model or defaults.default_chat(),
            embedding_model=embedding_model or defaults.default_embeddings(),
            cadence=cadence or DEFAULT_CADENCE,
            process=process,
            provision=False,
            limits=limits,
            recall=recall,
            policy=policy,
            webhook=webhook,
            tokens=tokens,
            autoscale_max_ru=autoscale_max_ru,
            next_embedding_model=next_embedding_model,
        )

    @classmethod
    def remote(
        cls,
        base_url: str,
        credential: str | AsyncTokenCredential | None = None,
        *,
        token_scope: str | None = None,
        function_key: str | None = None,
        timeout: float = 60.0,
    ) -> Self:
        """A memory on a server: `agent-memory serve`, or a deployed function app.

        Args:
            base_url: The URL of the API.
            credential: An API key, a token, or a token credential. Without one, the server must trust the header
                `x-user-id` (for development).
            token_scope: The scope for which a token credential gets a token, such as `api://<app id>/.default`.
            function_key: The key of a function app that requires one.
            timeout: How long one request may take, in seconds.

        Raises:
            ConfigurationError: if the URL is invalid, or a token credential has no scope.
        """
        from agent_memory.remote import Http, RemoteBackend

        http = Http(base_url, credential, token_scope=token_scope, function_key=function_key, timeout=timeout)
        made = cls.__new__(cls)
        made._backend = RemoteBackend(http)
        return made

    @classmethod
    def from_env(cls, environment: Environment | None = None) -> Self:
        """A memory from the environment: Cosmos DB if an endpoint is set, a server if `MEMORY_URL` is, else local.

        The models: Azure OpenAI (or Foundry) if it is set, then OpenAI or a compatible server, else none.
        `settings.Environment` lists the variables.

        Raises:
            ConfigurationError: if a needed variable is missing or invalid.
        """
        env = Environment() if environment is None else environment
        if not isinstance(env, Environment):
            raise ConfigurationError(f"from_env takes a settings.Environment, not a {type(env).__name__}")
        if env.cosmos_endpoint is None and env.memory_url is not None:
            key, function_key = (_plain(secret) for secret in (env.memory_key, env.memory_function_key))
            return cls.remote(env.memory_url, key, function_key=function_key)
        chat, embeddings = defaults.models_named_by(env)
        recall = env.recall
        if env.cosmos_endpoint is None:
            cadence, policy = env.local_cadence, env.policy
            return cls.local(
                env.store,
                chat_model=chat,
                embedding_model=embeddings,
                cadence=cadence,
                recall=recall,
                policy=policy,
                webhook=env.webhook,
            )
        return cls.cosmos(
            env.cosmos_endpoint,
            _plain(env.cosmos_key),
            env.cosmos_database,
            chat_model=chat,
            embedding_model=embeddings,
            cadence=env.cadence,
            policy=env.policy,
            webhook=env.webhook,
            recall=recall,
            autoscale_max_ru=env.cosmos_autoscale_max_ru,
            next_embedding_model=defaults.next_embeddings(env),
            connection_verify=env.cosmos_connection_verify,
        )

    async def open(self) -> None:
        """Connects, and starts background processing if this process does it. Harmless if it is open.

        You can open a database without a memory store; `create_memory_store` creates one in it.

        Raises:
            ConfigurationError: if the store was filled with another embedding model, or if this process is a fork of
                the one that opened the memory.
            StoreUnavailable: if the store does not answer.
        """
        await self._backend.open()

    async def close(self) -> None:
        """Stops background processing and disconnects. Unprocessed turns are processed after the next opening.

        Raises:
            ConfigurationError: in a fork of the process that opened it. That process keeps it open.
        """
        await self._backend.close()

    async def __aenter__(self) -> Self:
        """Opens it."""
        try:
            await self.open()
        except BaseException:
            await self.close()
            raise
        return self

    async def __aexit__(self, *error: object) -> None:
        """Closes it."""
        await self.close()

    @property
    def runtime(self) -> Runtime:
        """The parts of the memory, for the function app and the HTTP API."""
        return self._backend.runtime

    @property
    def enabled(self) -> bool:
        """Whether it is open and not switched off as a whole."""
        return self._backend.enabled

    async def create_memory_store(self) -> None:
        """Creates the database and its five containers if they are missing.

        Raises:
            ConfigurationError: if the credential may not create containers. Azure requires a management role for that.
        """
        await self._backend.create_memory_store()

    def user(self, user_id: str, *, config: MemoryConfig | Mapping[str, Any] | None = None) -> AsyncUserScope:
        r"""The scope of one user. Every read and write for this user is a method of it.

        Args:
            user_id: The id of the user.
            config: Restrictions on the requests that are made through this handle.

        Raises:
            InvalidInput: if the id is not a text of 1 to 255 characters, holds one of / \ ? # or a control character,
                or begins with __; or if the config is invalid.
        """
        asked = None if config is None else Asked(validated(MemoryConfig, dict(config), "config: "))
        return self._backend.user(user_id, asked)

    def group(
        self, group_id: str, *, member: str | None = None, config: MemoryConfig | Mapping[str, Any] | None = None
    ) -> AsyncGroupScope:
        """The scope of a group: memory that its members share, with settings of its own.

        A user's search and context read it when asked (`groups=["team"]`). No user's id can be that of a group.

        Args:
            group_id: The id of the group.
            member: The user who acts through this handle. What they write carries their id (`contributor_id`).
            config: Restrictions on the requests that are made through this handle.

        Raises:
            InvalidInput: if an id or the config is invalid; an id of a group has at most 246 characters.
        """
        asked = None if config is None else Asked(validated(MemoryConfig, dict(config), "config: "))
        return self._backend.group(group_id, asked, member)

    @property
    def static(self) -> AsyncStaticScope:
        """For the operator: knowledge that holds for every user."""
        return self._backend.static

    async def drain(self, timeout: float | None = None, progress: Progress | None = None) -> int:
        """Processes all turns written so far, whatever the thresholds, and waits until it is done.

        Summaries also follow what was corrected by hand in this process.

        Args:
            timeout: How long to wait at most, in seconds.
            progress: Called with the number of turns that are left, whenever it changes.

        Returns:
            How many turns are left: 0, unless time ran out or a model or the store stayed unavailable.

        Raises:
            StoreUnavailable: if this process does not process the store.
        """
        return await self._backend.drain(timeout, progress)

    async def warm(self) -> None:
        """Loads what the first call would load otherwise: embedding model, token counter, search. Never raises.

        A server calls it before it answers requests, so that loading does not delay the first context. A model on a
        server embeds one word, and the store is searched once, for a user that does not exist. `warm` waits for at most
        10 seconds.
        """
        await self._backend.warm()


def _plain(secret: SecretStr | None) -> str | None:
    return None if secret is None else secret.get_secret_value()
