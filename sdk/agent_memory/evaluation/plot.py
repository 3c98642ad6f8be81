"""A report as a picture: recall by depth, compared with the other systems, and by category."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agent_memory.errors import ConfigurationError, InvalidInput
from agent_memory.evaluation.metrics import DEPTHS
from agent_memory.extras import how_to_install


def draw(report: Mapping[str, Any], path: Path) -> None:
    """Writes the picture; the file extension sets the format.

    Raises:
        ConfigurationError: if matplotlib is not installed.
        InvalidInput: if the format is not one that it writes.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ConfigurationError(f"a plot needs the extra 'plots' ({error}): {how_to_install('plots')}") from error
    figure = Figure(figsize=(10, 4), layout="constrained")
    systems, categories = figure.subplots(1, 2, sharey=True)
    for name, figures in {report["system"]: report["overall"], **report["baselines"]}.items():
        if figures["questions"]:
            systems.plot(DEPTHS, [figures[f"recall@{depth}"] for depth in DEPTHS], marker="o", label=name)
    systems.set(title="Overall", xlabel="turns", ylabel="evidence recall", xticks=DEPTHS, ylim=(0, 1))
    systems.legend()
    labels = list(report["categories"])
    values = [report["categories"][name]["recall@10"] for name in labels]
    bars = categories.bar(labels, values)
    categories.bar_label(bars, fmt="{:.0%}")
    categories.set(title=f"{report['system']}, recall@10 by category")
    figure.suptitle(f"{report['dataset']}: {report['overall']['questions']} questions")
    try:
        figure.savefig(path)
    except ValueError as error:
        raise InvalidInput(f"{path}: {error}") from error
