"""What a better order or more candidates could find: the ceilings of search on conversations with known answers.

`python benchmarks/ceilings.py FILE [--store talk.db] [--every 1] [--json]`. FILE is a data set as for `agent-memory
eval`; a store that an earlier run kept is not filled again. For each number of candidates, the table compares the
actual ranking with a perfect order of the same candidates, including the turns around the best ones: recall among the
first ten. With `all`, everything known about the user is a candidate.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from agent_memory import AsyncMemory
from agent_memory.evaluation import AgentMemory, Conversation
from agent_memory.evaluation.dataset import ADVERSARIAL, read_dataset
from agent_memory.evaluation.harness import CUT, distinct, recall
from agent_memory.recall.search import search
from agent_memory.settings import RecallSettings

CANDIDATES = {"50": (50, 20), "120": (120, 40), "all": (5_000, 5_000)}
"""The number of candidates of a search, and of best candidates whose neighbouring turns it reads."""
EVERYTHING = 100_000
"""More hits than a search has candidates."""

Figures = dict[str, dict[str, float]]


def main() -> int:
    """Measures, and prints a table; the exit status."""
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("file", type=Path, help="a data set as for `agent-memory eval`")
    options.add_argument("--store", type=Path, help="a file that keeps the conversations for a later run")
    options.add_argument("--every", type=int, default=1, help="ask only every so many questions")
    options.add_argument("--json", action="store_true", help="print JSON only")
    arguments = options.parse_args()
    conversations, _ = read_dataset(arguments.file)
    with tempfile.TemporaryDirectory() as folder:
        store = arguments.store or Path(folder) / "talk.db"
        if not store.exists():
            with AgentMemory(store) as system:
                for conversation in conversations:
                    system.ingest(conversation)
        figures = asyncio.run(measured(store, conversations, arguments.every))
    print(json.dumps(figures, indent=2) if arguments.json else table(figures))
    return 0


async def measured(store: Path, conversations: Sequence[Conversation], every: int) -> Figures:
    """For each number of candidates: recall among the first ten as ranked, and in a perfect order, in percent."""
    asked = [
        (conversation.name, question)
        for conversation in conversations
        for question in conversation.questions
        if question.evidence and question.category != ADVERSARIAL
    ][::every]
    figures: Figures = {}
    async with AsyncMemory.local(store) as memory:
        for name, (candidates, spots) in CANDIDATES.items():
            settings = RecallSettings(candidates=candidates, spots=spots, embedding_timeout=60.0)
            searcher = replace(memory.runtime.searcher, settings=settings)
            ranked, perfect = [], []
            for user_id, question in asked:
                found = await search(searcher, (user_id,), question.text, limit=EVERYTHING)
                turns = distinct(hit.memory.source_turn_ids for hit in found.hits)
                ranked.append(recall(turns, question.evidence, CUT))
                best_first = sorted(turns, key=lambda turn: turn not in question.evidence)
                perfect.append(recall(best_first, question.evidence, CUT))
            figures[name] = {
                "questions": len(asked),
                "ranked": round(100 * statistics.mean(ranked), 1),
                "perfect": round(100 * statistics.mean(perfect), 1),
            }
    return figures


def table(figures: Figures) -> str:
    """The figures as lines of text."""
    rows = [f"{'candidates':>10}  {'as ranked':>9}  {'perfect order':>13}"]
    rows += [f"{name:>10}  {row['ranked']:>9}  {row['perfect']:>13}" for name, row in figures.items()]
    return "\n".join(rows)


if __name__ == "__main__":
    raise SystemExit(main())
