"""Roles: which chat model runs which task. A role without a model is switched off, and its tasks are not run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent_memory.errors import ConfigurationError
from agent_memory.language.tasks import (
    ANSWER,
    ARCHIVE,
    CONSOLIDATE,
    EXTRACT,
    EXTRACT_AND_SUMMARIZE,
    HYDE,
    JUDGE,
    MARK,
    PROFILE,
    QUERY_REWRITE,
    RECONCILE,
    REFLECT,
    REFLECT_ON,
    REPLY,
    RERANK,
    SELECT,
    SUMMARIZE,
    SYNTHESIZE,
    ChatModel,
    In,
    Out,
    Task,
    TaskResult,
)
from agent_memory.settings import CHAT_PREFIX, ChatRole

ROLE_OF: Mapping[str, ChatRole] = {
    EXTRACT.name: "extraction",
    EXTRACT_AND_SUMMARIZE.name: "extraction",
    SUMMARIZE.name: "summary",
    ARCHIVE.name: "summary",
    PROFILE.name: "profile",
    RECONCILE.name: "reconcile",
    CONSOLIDATE.name: "reflection",
    SYNTHESIZE.name: "reflection",
    REFLECT.name: "reflection",
    REFLECT_ON.name: "reflection",
    QUERY_REWRITE.name: "rewrite",
    HYDE.name: "rewrite",
    RERANK.name: "selection",
    SELECT.name: "selection",
    REPLY.name: "reply",
    ANSWER.name: "answer",
    JUDGE.name: "judge",
    MARK.name: "judge",
}
"""The role of each task, by the task's name."""


class RoleChat:
    """A chat model that passes each task to the model of the task's role."""

    def __init__(self, default: ChatModel, by_role: Mapping[ChatRole, ChatModel | None]) -> None:
        """Opens nothing.

        Args:
            default: Runs the tasks of every role that `by_role` does not name.
            by_role: The models of roles; None switches a role off.
        """
        self.default = default
        self.by_role = dict(by_role)

    @property
    def model_id(self) -> str:
        """The default model's name. A result names the model that ran its task."""
        return self.default.model_id

    def model_for(self, task: Task[Any, Any]) -> ChatModel | None:
        """The model that runs a task; None if its role is switched off."""
        return self.by_role.get(ROLE_OF[task.name], self.default)

    def prompt_version(self, task: Task[Any, Any]) -> str:
        """The version of what the task's model runs the task with.

        Raises:
            ConfigurationError: the task's role is switched off.
        """
        return self._required(task).prompt_version(task)

    async def run(self, task: Task[In, Out], data: In) -> TaskResult[Out]:
        """Runs one task on the model of its role.

        Raises:
            ModelError: as that model does.
            ConfigurationError: the task's role is switched off.
        """
        return await self._required(task).run(task, data)

    async def close(self) -> None:
        """Closes all models. Harmless when called twice."""
        for model in {id(model): model for model in models_of(self).values()}.values():
            await model.close()

    def _required(self, task: Task[Any, Any]) -> ChatModel:
        model = self.model_for(task)
        if model is None:
            name = f"{CHAT_PREFIX}{ROLE_OF[task.name].upper()}"
            raise ConfigurationError(f"{task.name!r} has no model: {name} is none; set a model, or unset it")
        return model


def model_of(chat: ChatModel, task: Task[Any, Any]) -> ChatModel | None:
    """The model that runs a task in the end; None if its role is switched off."""
    return chat.model_for(task) if isinstance(chat, RoleChat) else chat


def is_off(chat: ChatModel, task: Task[Any, Any]) -> bool:
    """Whether the role of a task is switched off."""
    return model_of(chat, task) is None


def shares_a_model(chat: ChatModel, *tasks: Task[Any, Any]) -> bool:
    """Whether one model runs all of these tasks."""
    models = [model_of(chat, task) for task in tasks]
    return models[0] is not None and all(model is models[0] for model in models)


def models_of(chat: ChatModel) -> dict[str, ChatModel]:
    """The models behind a chat model: `chat`, and `chat_<role>` for each role with a model of its own."""
    if not isinstance(chat, RoleChat):
        return {"chat": chat}
    own = {f"chat_{role}": model for role, model in chat.by_role.items() if model is not None}
    return {"chat": chat.default} | own


def roles_off(chat: ChatModel) -> list[ChatRole]:
    """The roles that are switched off."""
    return [role for role, model in chat.by_role.items() if model is None] if isinstance(chat, RoleChat) else []
