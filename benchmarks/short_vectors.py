"""What recall costs if vectors keep a third of their numbers: a stand-in for 512 instead of 1,536.

`python benchmarks/short_vectors.py FILE [FILE ...] [--json]`. FILE is a data set as for `agent-memory eval`. Vectors of
all-MiniLM-L6-v2 keep their first 128 of 384 numbers and are scaled to length 1 again, as a service shortens its own.
MiniLM is not trained for that and the models of OpenAI are, so they should lose no more.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Sequence
from pathlib import Path

from agent_memory.evaluation import AgentMemory, Conversation, evaluate
from agent_memory.evaluation.dataset import read_dataset
from agent_memory.language.minilm import MiniLMEmbeddings
from agent_memory.language.tasks import Embedded, EmbeddingModel

KEPT = 3
"""One of so many numbers is kept."""


class ShortEmbeddings:
    """A model's vectors, cut to their first third."""

    def __init__(self, model: EmbeddingModel) -> None:
        self.model = model
        self.dimensions = model.dimensions // KEPT
        self.model_id = f"{model.model_id}-{self.dimensions}"

    async def embed(self, texts: list[str]) -> Embedded:
        """One vector for each text."""
        made = await self.model.embed(texts)
        return Embedded(vectors=[shortened(vector, self.dimensions) for vector in made.vectors], usage=made.usage)

    async def close(self) -> None:
        """Closes the model."""
        await self.model.close()


def shortened(vector: Sequence[float], dimensions: int) -> list[float]:
    """The first numbers of a vector, scaled to length 1."""
    first = list(vector[:dimensions])
    length = math.hypot(*first) or 1.0
    return [value / length for value in first]


def main() -> int:
    """Measures, and prints a table; the exit status."""
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("files", type=Path, nargs="+", help="data sets as for `agent-memory eval`")
    options.add_argument("--json", action="store_true", help="print JSON only")
    arguments = options.parse_args()
    figures = {file.name: measured(read_dataset(file)[0]) for file in arguments.files}
    print(json.dumps(figures, indent=2) if arguments.json else table(figures))
    return 0


def measured(conversations: Sequence[Conversation]) -> dict[str, dict[str, float]]:
    """For whole and for short vectors: recall among the first ten, and contexts with some evidence, in percent."""
    figures = {}
    for model in (MiniLMEmbeddings(), ShortEmbeddings(MiniLMEmbeddings())):
        with AgentMemory(embeddings=model) as system:
            report = evaluate(system, conversations).report()
        figures[f"{model.dimensions} numbers"] = {
            "questions": report["overall"]["questions"],
            "recall@10": round(100 * report["overall"]["recall@10"], 1),
            "contexts with evidence": round(100 * report["context"]["hit"], 1),
        }
    return figures


def table(figures: dict[str, dict[str, dict[str, float]]]) -> str:
    """The report for a person."""
    lines = [f"{'':<40}{'questions':>10}{'recall@10':>11}{'contexts with evidence':>24}"]
    for file, vectors in figures.items():
        for name, found in vectors.items():
            values = f"{found['questions']:>10}{found['recall@10']:>11}{found['contexts with evidence']:>24}"
            lines.append(f"{file + ', ' + name:<40}{values}")
    return "\n".join(lines)


if __name__ == "__main__":
    raise SystemExit(main())
