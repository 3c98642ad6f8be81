"""Prints how well cosines, and cosines with `text.restated`, separate restatements from different facts.

    python tools/calibrate_duplicates.py [--model minilm|hashing|NAME] [--pairs FILE]

The pairs are labelled: `duplicate` and `update` are to be found (the new fact takes the place of the old), `different`
must not be; `reworded` is one claim in other words, which is left to reconciliation. NAME is a model of OpenAI, with
the key from the environment. Thresholds go into `agent_memory/calibration.py`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from pathlib import Path

from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.language.minilm import MiniLMEmbeddings
from agent_memory.language.openai_embeddings import OpenAIEmbeddings
from agent_memory.language.tasks import EmbeddingModel
from agent_memory.text.likeness import cosine
from agent_memory.text.restated import restates

PAIRS = Path(__file__).resolve().parent.parent / "tests" / "data" / "restatements.jsonl"
LABELS = ("duplicate", "update", "different", "reworded")
THRESHOLDS = [round(0.5 + 0.05 * n, 2) for n in range(10)]


async def measure(model: EmbeddingModel, pairs: list[dict[str, str]]) -> str:
    """The table for one model."""
    embedded = await model.embed([pair[side] for pair in pairs for side in ("old", "new")])
    vectors = iter(embedded.vectors)
    cosines = [cosine(next(vectors), next(vectors)) for _ in pairs]
    lines = [model.model_id, f"{'label':<12}{'pairs':>7}{'lowest':>9}{'median':>9}{'highest':>9}"]
    for label in LABELS:
        found = sorted(value for pair, value in zip(pairs, cosines, strict=True) if pair["label"] == label)
        lines.append(f"{label:<12}{len(found):>7}{found[0]:>9.3f}{found[len(found) // 2]:>9.3f}{found[-1]:>9.3f}")
    lines += ["", f"{'cosine above':<14}{'found':>7}{'wrong':>7}{'found with words':>18}{'wrong':>7}"]
    wanted, _ = _found(pairs)
    for threshold in THRESHOLDS:
        near = [pair for pair, value in zip(pairs, cosines, strict=True) if value > threshold]
        both = [pair for pair in near if restates(pair["old"], pair["new"]) is not None]
        (found_near, wrong_near), (found_both, wrong_both) = _found(near), _found(both)
        lines.append(
            f"{threshold:<14}{f'{found_near}/{wanted}':>7}{wrong_near:>7}{f'{found_both}/{wanted}':>18}{wrong_both:>7}"
        )
    return "\n".join(lines)


def _found(pairs: list[dict[str, str]]) -> tuple[int, int]:
    """How many of these are restatements, and how many are different facts."""
    labels = [pair["label"] for pair in pairs]
    return labels.count("duplicate") + labels.count("update"), labels.count("different")


def open_model(name: str) -> EmbeddingModel:
    """The embedding model of this name."""
    match name:
        case "minilm":
            return MiniLMEmbeddings()
        case "hashing":
            return HashingEmbeddings()
    return OpenAIEmbeddings(name)


def main() -> int:
    """Runs the measurement. Returns the exit status."""
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--model", default="minilm", help="minilm, hashing, or a model of OpenAI")
    options.add_argument("--pairs", type=Path, default=PAIRS, help="JSON lines with old, new and label")
    arguments = options.parse_args()
    pairs = [json.loads(line) for line in arguments.pairs.read_text().splitlines()]
    print(asyncio.run(measure(open_model(arguments.model), pairs)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
