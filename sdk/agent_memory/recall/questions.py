"""Questions: what to search for when a user asks "How much?" in the middle of a conversation."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass

from agent_memory.errors import AgentMemoryError
from agent_memory.language.tasks import HYDE, QUERY_REWRITE, ChatModel, HydeInput, QueryRewriteInput
from agent_memory.recall.gate import is_personal
from agent_memory.recall.oneself import asks_for_all
from agent_memory.settings import QueryStrategy
from agent_memory.text.patterns import linear
from agent_memory.text.stop_words import CLAIM_WORDS
from agent_memory.text.terms import query_terms

logger = logging.getLogger("agent_memory")

HISTORY_MESSAGES = 3
"""Messages of the user from which key terms are taken."""
MESSAGE_TERMS = 10
"""Key terms of one message at most: a pasted page must not drown the question."""
_MODEL_SHARE = 0.5
"""Share of the context's deadline that a model may use: the search after it needs time, too."""
_SHORT = 20
_VAGUE = linear(r"how much\??$|what about|and that|this one", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Question:
    """What is searched for, and how it came about."""

    text: str
    decision: str


def is_self_contained(query: str) -> bool:
    """Whether a question is self-contained.

    The length is counted in UTF-8 bytes, as in the rule's source: twelve Chinese characters are a sentence.
    """
    text = query.strip()
    return _VAGUE.match(text) is None and len(text.encode(errors="surrogatepass")) > _SHORT


def key_terms(messages: Sequence[str], query: str) -> list[str]:
    """The key terms of the user's last messages, the newest first, without those of the query itself."""
    recent = list(messages)[-HISTORY_MESSAGES:]
    terms = [term for message in reversed(recent) for term in query_terms(message)[:MESSAGE_TERMS]]
    said = set(query_terms(query))
    return [
        term
        for term in dict.fromkeys(terms)
        if not (term in said or is_personal(term) or term.endswith("n't") or term.partition("'")[0] in CLAIM_WORDS)
    ]


async def build_question(
    query: str, messages: Sequence[str], strategy: QueryStrategy, chat: ChatModel, timeout: float
) -> Question:
    """The question in the form used for the search.

    Args:
        query: What the user asks.
        messages: What the user said before, oldest first; the last three count.
        strategy: How to handle a question that is not self-contained. `hyde` begins as `prepend`: see
            `hypothetical`.
        chat: Runs the rewriting.
        timeout: Time limit of the whole context, in seconds; a model gets half of it.
    """
    if strategy == "as_is" or is_self_contained(query) or asks_for_all(query):
        return Question(query, "as it is")
    terms = key_terms(messages, query)
    if not terms:
        logger.debug("No history, query-only search")
        return Question(query, "as it is: no history")
    if strategy == "rewrite":
        data = QueryRewriteInput(question=query, messages=list(messages)[-HISTORY_MESSAGES:], terms=terms)
        try:
            async with asyncio.timeout(timeout * _MODEL_SHARE):
                rewritten = (await chat.run(QUERY_REWRITE, data)).output.query.strip()
            return Question(rewritten, "rewrite") if rewritten else Question(query, "as it is: nothing was rewritten")
        except (AgentMemoryError, TimeoutError) as error:
            logger.warning("Memory query rewrite failed, searching by the query as it is: %s", error)
            return Question(query, f"as it is: rewrite failed ({str(error) or 'timeout'})")
    return Question(" ".join([query, *terms]), "prepend")


async def hypothetical(question: Question, chat: ChatModel, timeout: float) -> Question | None:
    """A hypothetical answer, in the form of a memory, to search with instead of the question (HyDE, Gao et al. 2022).

    Worth its model call if a search with the question found little: vectors of questions and statements differ. None if
    the model returns none.
    """
    try:
        async with asyncio.timeout(timeout * _MODEL_SHARE):
            answer = (await chat.run(HYDE, HydeInput(question=question.text))).output.answer.strip()
    except (AgentMemoryError, TimeoutError) as error:
        logger.warning("Memory hypothetical answer failed, keeping what the query found: %s", error)
        return None
    if not answer or answer == question.text:
        return None
    return Question(answer, f"{question.decision}, then hyde")
