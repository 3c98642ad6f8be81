"""The simulation of a fleet: its laws, on a small one. Its figures come from runs of benchmarks/fleet.py."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("azure_functions_runtime", reason="the function app needs Python 3.13")
sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from fleet import expected, panels, simulate, table
from fleet_simulation import Bucket, Scene

from agent_memory.evaluation.plot import draw
from agent_memory.scale.figures import measured

FIGURES = measured()


def run(scene: Scene | None = None, users: int = 20_000, seconds: float = 300.0, **figures: Any) -> dict[str, Any]:
    return simulate(users, scene or Scene(), seconds, replace(FIGURES, **figures))


def test_a_fleet_keeps_up_and_agrees_with_the_model():
    found = run()
    assert found["turns_a_second"] == pytest.approx(20_000 * 10 / 86_400 * 4, rel=0.1)
    assert found["lag_p99"] == pytest.approx(found["model_says"]["lag_p99"], abs=1.0)
    assert found["durable_messages_a_second"] == pytest.approx(
        found["model_says"]["durable_messages_a_second"], rel=0.15
    )
    assert "20000" in table([found])


def test_the_table_is_drawn_by_the_module_that_draws_recall(tmp_path: Path):
    rows = [expected(users, FIGURES) for users in (1000, 10_000_000)]  # without a simulation, nothing was extracted
    drawn = panels(rows)
    assert [len(panel.lines) for panel in drawn] == [2, 2, 1]
    assert dict(drawn[2].lines["cost"])[1000] == rows[0]["cost_a_month"]
    draw("A fleet", drawn, tmp_path / "fleet.svg")
    assert "A fleet" in (tmp_path / "fleet.svg").read_text()


def test_a_feed_whose_batches_take_too_long_falls_behind():
    slow = run(feed_in_a_row=(0.0, 40.0, 0.0))
    assert slow["left_in_the_feed"] > 500
    assert slow["lag_p99"] > 60


def test_a_noisy_user_does_not_delay_the_others():
    quiet, noisy = run(users=1000, seconds=3600.0), run(Scene(noisy=100), users=1000, seconds=3600.0)
    assert noisy["turns_a_second"] > quiet["turns_a_second"]
    assert noisy["lag_p99"] <= 2 * quiet["lag_p99"]
    assert noisy["until_extracted_p99"] <= 2 * quiet["until_extracted_p99"]


def test_an_import_delays_live_talk_only_without_a_pace():
    paced = run(Scene(backfill=20_000, backfill_rate=100.0))
    flood = run(Scene(backfill=100_000), seconds=150.0)
    assert paced["lag_p99"] < 10 < flood["lag_p99"]


def test_imports_are_processed_a_few_users_at_a_time_beside_live_talk(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("fleet_simulation.QUIET", 20.0)
    alone = run(users=5_000, seconds=400.0)
    lane = run(Scene(backfill=8_000, backfill_rate=100.0, lane=10), users=5_000, seconds=400.0)
    mixed = run(Scene(backfill=8_000, backfill_rate=100.0, lane=0), users=5_000, seconds=400.0)
    assert lane["until_extracted_p99"] <= 2 * alone["until_extracted_p99"]
    assert lane["imports_processed"] > 100
    assert lane["most_instances"] < mixed["most_instances"]
    assert mixed["imports_processed"] == 0, "without a mark, imported turns are processed like live ones"


def test_an_empty_bucket_makes_its_caller_wait():
    bucket = Bucket(10.0)
    assert bucket.take(100.0, 5) == 100.0
    assert bucket.take(100.0, 25) == pytest.approx(102.0)
