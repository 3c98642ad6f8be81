"""Evaluation: how many of the turns that answer a question a search finds, compared with baselines on the same text.

    conversations = [...]                       # Conversation: turns, and questions with the turns that answer them
    with AgentMemory() as system:
        report = evaluate(system, conversations, baselines=baselines(system.embeddings))

Any other memory can replace `AgentMemory`: it needs the three methods of `Adapter`.
"""

from agent_memory.evaluation.adapters import Adapter, AgentMemory, Result, Told, ToldLine
from agent_memory.evaluation.baselines import baselines
from agent_memory.evaluation.dataset import Conversation, Question
from agent_memory.evaluation.harness import Evaluation, evaluate
from agent_memory.evaluation.misses import Explains, Miss, misses

__all__ = [
    "Adapter",
    "AgentMemory",
    "Conversation",
    "Evaluation",
    "Explains",
    "Miss",
    "Question",
    "Result",
    "Told",
    "ToldLine",
    "baselines",
    "evaluate",
    "misses",
]
