"""LangGraph: a `BaseStore` with exact key-value semantics, and two nodes that recall and keep.

    store = MemoryStore(memory)                       # ("memories", "alice", …): the second label names the user
    graph.compile(store=store)

An item is a document of its user: `search` finds it by meaning, forgetting the user deletes it, and nothing is learned
from it. A label allows no full stop; `ids.encode_label` makes one of `alice@example.com`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from agent_memory.errors import InvalidInput
from agent_memory.extras import require
from agent_memory.integrations import items
from agent_memory.integrations.bridge import AnyMemory, Bridge, complete, decode_id, encode_id, owner, text_of
from agent_memory.integrations.items import ItemStore
from agent_memory.recall.context import DEFAULT_BUDGET

require("langgraph", "langchain")

from langchain_core.messages import HumanMessage  # noqa: E402
from langchain_core.runnables import RunnableConfig, RunnableLambda  # noqa: E402
from langgraph.store.base import (  # noqa: E402
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
)

from agent_memory.integrations.langchain import turns_of  # noqa: E402

__all__ = ["MemoryStore", "keep_node", "recall_node"]

_HOW = 'pass config={"configurable": {"user_id": …}} to the run'


class MemoryStore(BaseStore):
    """Items by namespace and key. A value is returned exactly as it was put, or the put is refused.

    A batch reads what was stored before it, and of several puts of one key the last counts, as in `InMemoryStore`.
    """

    __slots__ = ("_bridge", "_user")

    def __init__(self, memory: AnyMemory, *, user: int | str = 1) -> None:
        """Over an open memory: a `Memory` for synchronous calls.

        Args:
            memory: An open memory.
            user: The position of the user's label in a namespace; or one user who owns all namespaces.
        """
        self._bridge = Bridge(memory)
        self._user = user if isinstance(user, int) else owner(user, "pass a user to MemoryStore")

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Carries out operations.

        Raises:
            InvalidInput: if an operation names no user, or a value is not JSON.
            MemoryDisabled: if the policy does not allow storing such a value, or a switch is off.
            ConfigurationError: if the memory is asynchronous.
        """
        return complete(self._batch(self._bridge.now, list(ops)))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """As `batch`."""
        return await self._batch(self._bridge, list(ops))

    async def _batch(self, bridge: Bridge, ops: list[Op]) -> list[Result]:
        puts: dict[tuple[tuple[str, ...], str], PutOp] = {}
        results: list[Result] = []
        for op in ops:
            if isinstance(op, PutOp):
                puts[op.namespace, op.key] = op
                results.append(None)
            elif isinstance(op, GetOp):
                kept = await self._of(bridge, op.namespace).get(op.namespace, op.key)
                results.append(None if kept is None else Item(**items.fields_of(kept)))
            elif isinstance(op, SearchOp):
                results.append(await self._search(bridge, op))
            elif isinstance(op, ListNamespacesOp):
                results.append(await self._namespaces(bridge, op))
            else:
                raise InvalidInput(f"not a store operation: {type(op).__name__}")
        for put in puts.values():
            store = self._of(bridge, put.namespace)
            if put.value is None:
                await store.delete(put.namespace, put.key)
            else:
                await store.put(put.namespace, put.key, put.value, put.index)
        return results

    async def _search(self, bridge: Bridge, op: SearchOp) -> list[SearchItem]:
        store = self._of(bridge, op.namespace_prefix)
        every = await store.within(op.namespace_prefix)
        found = {one.id: one for one in every if items.matches(items.value_of(one), op.filter)}
        by_text = await store.scores(op.namespace_prefix, op.query) if op.query and found else {}
        said = {id: one.content for id, one in found.items() if items.is_indexed(one)}
        scores = {id: by_text[text] for id, text in said.items() if text in by_text}
        ranked = sorted(scores, key=lambda id: (-scores[id], items.created_at(found[id]), id))
        rest = sorted(found.keys() - scores.keys(), key=lambda id: (items.created_at(found[id]), id))
        shown = [*ranked, *rest][op.offset : op.offset + op.limit]
        return [SearchItem(**items.fields_of(found[id]), score=scores.get(id)) for id in shown]

    async def _namespaces(self, bridge: Bridge, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        conditions = op.match_conditions or ()
        prefix: tuple[str, ...] = max((c.path for c in conditions if c.match_type == "prefix"), key=len, default=())
        every = {items.namespace_of(one) for one in await self._of(bridge, tuple(prefix)).within(())}
        named = {one for one in every if all(items.is_under(one, c.path, c.match_type) for c in conditions)}
        return sorted({one[: op.max_depth] for one in named})[op.offset : op.offset + op.limit]

    def _of(self, bridge: Bridge, namespace: tuple[str, ...]) -> ItemStore:
        return ItemStore(bridge, self._owner(namespace))

    def _owner(self, namespace: tuple[str, ...]) -> str:
        """The user of a namespace.

        Raises:
            InvalidInput: if it names none: no operation reads the items of all users.
        """
        if isinstance(self._user, str):
            return self._user
        label = namespace[self._user] if len(namespace) > self._user else None
        if label in (None, "*"):
            how = (
                f'label {self._user} of a namespace names the user, as in ("memories", "alice"), not {namespace!r:.80}'
            )
            return owner(None, how)
        return encode_id(decode_id(str(label)), "the user id")


def recall_node(memory: AnyMemory, *, key: str = "memory", budget: int = DEFAULT_BUDGET) -> RunnableLambda[Any, Any]:
    """A node that puts memories relevant to the user's last message into the state, as text under `key`.

    The user and the thread come from the run's config: `configurable.user_id` and `configurable.thread_id`.
    """
    bridge = Bridge(memory, budget=budget)

    async def recall(through: Bridge, state: Any, config: RunnableConfig) -> dict[str, str]:
        user, thread = _where(config)
        said = [text_of(one.content) for one in _messages(state) if isinstance(one, HumanMessage)]
        return {key: await through.told(user, thread, said[-1] if said else "")}

    return _node(bridge, recall, "recall")


def keep_node(memory: AnyMemory, *, agent_id: str | None = None) -> RunnableLambda[Any, Any]:
    """A node that stores the messages of this run; see `recall_node`."""
    bridge = Bridge(memory, agent_id=agent_id)

    async def keep(through: Bridge, state: Any, config: RunnableConfig) -> dict[str, str]:
        user, thread = _where(config)
        await through.keep(user, thread, turns_of(thread, _messages(state), stable_ids=True))
        return {}

    return _node(bridge, keep, "keep")


def _node(bridge: Bridge, work: Callable[..., Any], name: str) -> RunnableLambda[Any, Any]:
    def plain(state: Any, config: RunnableConfig) -> Any:
        return complete(work(bridge.now, state, config))

    async def waiting(state: Any, config: RunnableConfig) -> Any:
        return await work(bridge, state, config)

    return RunnableLambda(plain, waiting, name=name)


def _where(config: RunnableConfig) -> tuple[str, str]:
    given = config.get("configurable", {})
    user = owner(given.get("user_id"), _HOW)
    if not given.get("thread_id"):
        raise InvalidInput('no thread id: pass config={"configurable": {"thread_id": …}} to the run')
    return user, str(given["thread_id"])


def _messages(state: Any) -> list[Any]:
    return list(state["messages"] if isinstance(state, Mapping) else state.messages)
