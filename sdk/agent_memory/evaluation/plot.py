"""Figures as a picture: what `agent-memory eval --plot` and the benchmarks draw. The file extension sets the format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent_memory.errors import ConfigurationError, InvalidInput
from agent_memory.evaluation.harness import DEPTHS
from agent_memory.extras import how_to_install

Points = Sequence[tuple[float, float | None]]


@dataclass(frozen=True, slots=True)
class Panel:
    """One part of a picture: lines, or bars.

    Attributes:
        title: What it shows.
        x: What the points of lines lie along.
        y: What is measured, with its unit.
        lines: Points by the name of the line; a point without a value is left out.
        bars: Values by name.
        labels: How the value of a bar is written, as in `str.format`.
        logarithmic: Whether the axes of lines are logarithmic.
        share: Whether the values are shares of 1.
    """

    title: str
    x: str = ""
    y: str = ""
    lines: Mapping[str, Points] = field(default_factory=dict)
    bars: Mapping[str, float] = field(default_factory=dict)
    labels: str = "{:.4g}"
    logarithmic: bool = False
    share: bool = False


def draw(title: str, panels: Sequence[Panel], path: Path) -> None:
    """Writes a picture with its panels side by side.

    Raises:
        ConfigurationError: if matplotlib is not installed.
        InvalidInput: if the format is not one that it writes.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ConfigurationError(f"a plot needs the extra 'plots' ({error}): {how_to_install('plots')}") from error
    figure = Figure(figsize=(5 * len(panels), 4), layout="constrained")
    for panel, axes in zip(panels, figure.subplots(1, len(panels), squeeze=False)[0], strict=True):
        for name, points in panel.lines.items():
            known = [(x, y) for x, y in points if y is not None]
            axes.plot([x for x, _ in known], [y for _, y in known], marker="o", label=name)
        axes.set(title=panel.title, xlabel=panel.x, ylabel=panel.y)
        if panel.bars:
            axes.bar_label(axes.bar(list(panel.bars), list(panel.bars.values())), fmt=panel.labels)
        if len(panel.lines) > 1:
            axes.legend()
        if panel.logarithmic:
            axes.set(xscale="log", yscale="log")
        elif panel.lines:
            axes.set(xticks=sorted({x for points in panel.lines.values() for x, _ in points}))
        if panel.share:
            axes.set(ylim=(0, 1))
    figure.suptitle(title)
    try:
        figure.savefig(path)
    except ValueError as error:
        raise InvalidInput(f"{path}: {error}") from error


def recall_panels(report: Mapping[str, Any]) -> list[Panel]:
    """A report of `evaluate`: recall by depth, compared with the other systems, and by category."""
    systems = {report["system"]: report["overall"], **report["baselines"]}
    lines = {
        name: [(depth, figures[f"recall@{depth}"]) for depth in DEPTHS]
        for name, figures in systems.items()
        if figures["questions"]
    }
    categories = {name: figures["recall@10"] for name, figures in report["categories"].items()}
    return [
        Panel("Overall", "turns", "evidence recall", lines, share=True),
        Panel(f"{report['system']}, recall@10 by category", bars=categories, labels="{:.0%}", share=True),
    ]
