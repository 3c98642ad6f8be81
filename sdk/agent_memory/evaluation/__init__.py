"""Evaluation: how many of the turns that answer a question a search finds, compared with baselines on the same text.

    conversations = [...]                       # Conversation: turns, and questions with the turns that answer them
    with AgentMemory() as system:
        report = evaluate(system, conversations, baselines=baselines(system.embeddings))

Any other memory can replace `AgentMemory`: it needs the three methods of `Adapter`.
"""

from agent_memory.evaluation.adapters import (
    Adapter as Adapter,
    AgentMemory as AgentMemory,
    Result as Result,
    Told as Told,
    ToldLine as ToldLine,
)
from agent_memory.evaluation.dataset import (
    Conversation as Conversation,
    Question as Question,
)
from agent_memory.evaluation.harness import (
    Evaluation as Evaluation,
    baselines as baselines,
    evaluate as evaluate,
)
from agent_memory.evaluation.misses import (
    Explains as Explains,
    Miss as Miss,
    misses as misses,
)
