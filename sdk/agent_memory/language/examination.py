"""Examining models: asks each one small question, and reports the answer and what to change."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from time import perf_counter

from pydantic import Field

from agent_memory.errors import AgentMemoryError, ModelError
from agent_memory.language.defaults import default_chat, default_embeddings
from agent_memory.language.endpoints import QUESTION, ModelRefused
from agent_memory.language.grounding.ground import without_evidence
from agent_memory.language.roles import models_of, roles_off
from agent_memory.language.service_chat import ServiceChat
from agent_memory.language.service_embeddings import ServiceEmbeddings
from agent_memory.language.tasks import EXTRACT, ChatModel, EmbeddingModel, ExtractInput, TurnView
from agent_memory.models import Role, Usage
from agent_memory.models.base import Model
from agent_memory.settings import ChatRole

SHORTEST_KEY = 8
"""Minimum characters of a key that is masked: a shorter one is a placeholder, and a part of words."""
SLOW_CHAT, SLOW_EMBEDDINGS = 20.0, 2.0
"""Seconds above which the check gives advice: a third of an extraction's timeout; a context waits for at most 3 s."""

ADVICE: Mapping[str, str] = {
    "timeout": "It is too slow or still loading its model: try again, or set …_TIMEOUT for its role.",
    "unreachable": "Nobody answers at this address: start the server, or correct the address.",
    "server_error": "The service fails: try again later, and check its status page.",
    "throttled": "Too many requests: raise the quota of the deployment, or process less often.",
    "quota": "The quota or the balance is spent: raise it with the provider.",
    "credentials": "The key or the identity is not accepted: set another one.",
    "not_found": "There is no such model or deployment: correct its name, or the address.",
    "refused": "The service refuses every call: check the key, the address and the name.",
    "no_api_answer": "What answers does not follow the protocol: correct the address, which ends with /v1 mostly, or"
    " update the server.",
    "unusable": "It answers, and its answers cannot be used: try another model.",
    "dimensions": "Add the length of the model's vectors: provider:model@dimensions.",
}
"""What to change, by the fault of a service."""


class Finding(Model):
    """What one model answered."""

    part: str = Field(description="chat, chat_<role> or embeddings.")
    model: str
    answers: bool
    seconds: float = Field(default=0.0, description="Until the answer, with retries.")
    dialect: str | None = Field(default=None, description="How it is called, if it is a chat service.")
    dimensions: int | None = Field(default=None, description="The length of its vectors.")
    usage: Usage = Usage()
    quota: dict[str, str] = Field(default_factory=dict, description="The limits in the headers of the response.")
    fault: str | None = Field(default=None, description="As in `EndpointHealth.fault`.")
    problem: str | None = Field(default=None, description="What was said instead of an answer, or left out of it.")
    advice: list[str] = Field(default_factory=list, description="What to change.")


class Examination(Model):
    """All models, and the roles that are switched off."""

    ok: bool
    findings: list[Finding]
    roles_off: list[ChatRole] = Field(default_factory=list)
    store_model: str | None = Field(default=None, description="The embedding model of the store, if there is a store.")

    def beside(self, store_model: str, way_out: str) -> Examination:
        """The examination with the embedding model of a store; it is a problem if the environment names another one."""
        changed = [
            one
            if one.part != "embeddings" or one.model == store_model
            else one.model_copy(
                update={
                    "problem": one.problem or f"the store has {store_model}: it cannot be opened with this model",
                    "advice": [*one.advice, way_out],
                }
            )
            for one in self.findings
        ]
        fits = all(one.part != "embeddings" or one.model == store_model for one in self.findings)
        return self.model_copy(update={"ok": self.ok and fits, "findings": changed, "store_model": store_model})


async def examine(chat: ChatModel | None, embeddings: EmbeddingModel | None) -> Examination:
    """Asks each model one small question, all at the same time, and closes them. None means the default.

    Never raises because of a model.
    """
    chat, embeddings = chat or default_chat(), embeddings or default_embeddings()
    asked = [_examine_chat(part, model) for part, model in models_of(chat).items()]
    findings = await asyncio.gather(*asked, _examine_embeddings(embeddings))
    await chat.close()
    await embeddings.close()
    return Examination(ok=all(one.answers for one in findings), findings=findings, roles_off=roles_off(chat))


_TALK: tuple[tuple[Role, str], ...] = (
    ("user", QUESTION),
    ("agent", "And how do you get to work there?"),
    ("user", "By ferry."),
)
"""The last words are too few to show by themselves which turn has them: a model has to name it."""


async def _examine_chat(part: str, model: ChatModel) -> Finding:
    at = datetime.now(UTC)
    turns = [TurnView(ref=f"t{n}", role=role, content=said, created_at=at) for n, (role, said) in enumerate(_TALK, 1)]
    started = perf_counter()
    try:
        result = await model.run(EXTRACT, ExtractInput(turns=turns))
    except (AgentMemoryError, OSError) as error:
        return _failed(part, model.model_id, started, error)
    found = Finding(
        part=part,
        model=model.model_id,
        answers=True,
        seconds=perf_counter() - started,
        usage=result.usage,
        problem="; ".join(result.rejected) or None,
    )
    advice = [] if result.output.memories else ["It found no memory in a plain statement: try a larger model."]
    if without_evidence(result.rejected):
        advice.append("It cites turns or quotes words that do not exist: what it finds is dropped. Try another model.")
    advice += _slow(found.seconds, SLOW_CHAT, "a smaller model, or …_TIMEOUT for its role")
    if not isinstance(model, ServiceChat):
        return found.model_copy(update={"advice": advice})
    dialect = model.deployment.dialect
    if dialect.spelled or dialect.structure == "text":
        advice.append("It does not enforce schemas: answers are repaired, and more of them are unusable.")
    return found.model_copy(update={"advice": advice, "dialect": str(dialect), "quota": dict(model.quota)})


async def _examine_embeddings(model: EmbeddingModel) -> Finding:
    started = perf_counter()
    try:
        embedded = await model.embed([QUESTION])
    except (AgentMemoryError, OSError) as error:
        return _failed("embeddings", model.model_id, started, error)
    seconds = perf_counter() - started
    remedy = "a model nearer by, or AGENT_MEMORY_RECALL_CONTEXT_TIMEOUT"
    return Finding(
        part="embeddings",
        model=model.model_id,
        answers=True,
        seconds=seconds,
        dimensions=len(embedded.vectors[0]),
        usage=embedded.usage,
        # A model in this process loads its weights at the first question; the next ones take no second.
        advice=_slow(seconds, SLOW_EMBEDDINGS, remedy) if isinstance(model, ServiceEmbeddings) else [],
    )


def _failed(part: str, model: str, started: float, error: Exception) -> Finding:
    fault = error.fault if isinstance(error, (ModelError, ModelRefused)) else None
    unusable = "It answers, and its answers cannot be used: try another model."
    unnamed = unusable if isinstance(error, ModelError) else "Correct the setting that is named."
    return Finding(
        part=part,
        model=model,
        answers=False,
        seconds=perf_counter() - started,
        fault=fault,
        problem=_without_keys(str(error)),
        advice=[ADVICE.get(fault or "", unnamed)],
    )


def _without_keys(text: str) -> str:
    """A message without the keys of the environment, which some services repeat."""
    for name, value in os.environ.items():
        if name.endswith("_KEY") and len(value) >= SHORTEST_KEY:
            text = text.replace(value, "…")
    return text


def _slow(seconds: float, limit: float, remedy: str) -> list[str]:
    return [f"It took {seconds:.0f} s: try {remedy}."] if seconds > limit else []
