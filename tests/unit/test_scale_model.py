"""The model of what a number of users needs, and the command that prints it."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from agent_memory.cli.main import app
from agent_memory.errors import InvalidInput
from agent_memory.scale.figures import measured, prices
from agent_memory.scale.model import Cloud, Estimate, Load, estimate


def of(users: int, **cloud: object) -> Estimate:
    return estimate(Load(users), Cloud(**cloud), measured(), prices())  # type: ignore[arg-type]


def test_each_limit_is_reached_at_the_users_that_it_names():
    small = of(10_000)
    for limit in small.limits:
        used = [
            next(one.used for one in of(users).limits if one.name == limit.name)
            for users in (limit.users, int(limit.users * 1.05))
        ]
        assert used[0] <= 1, limit.name
        assert used[1] > 1 or limit.users == 10**9, limit.name
    assert [limit.used for limit in small.limits] == sorted((limit.used for limit in small.limits), reverse=True)


def test_costs_grow_with_users_and_name_their_price_table():
    one, ten = of(10_000), of(100_000)
    assert ten.total == pytest.approx(10 * one.total, rel=0.01)
    assert any(prices().date in line for line in one.assumptions)
    dear = prices().model_copy(update={"chat_input_per_million_tokens": 4.0})
    figures = measured()
    paid = estimate(Load(10_000), Cloud(), figures, dear).cost["chat model"] - one.cost["chat model"]
    assert paid == pytest.approx(10_000 * 10 * 30 * figures.tokens_in / 1e6 * 3.6, rel=0.001)


def test_a_feed_that_has_more_than_it_can_take_falls_behind_and_settings_move_the_limits():
    figures = measured()
    slow = replace(figures, feed_in_a_row=(0.0, 1000.0, 0.0))
    assert estimate(Load(1_000_000), Cloud(), slow, prices()).lag_p99 is None
    assert of(1000).lag_p99 is not None
    assert {limit.name for limit in of(1000, scheduler=True).limits} < {limit.name for limit in of(1000).limits}
    wide = of(1_000_000, autoscale_ru=100_000)
    assert wide.leases >= 10
    assert wide.hottest_partition_ru < of(1_000_000).hottest_partition_ru * 10


def test_contexts_of_ten_thousand_users_need_more_requests_to_the_embedding_model_than_the_default_quota_has():
    def used(contexts: float, capacity: int = 30) -> float:
        cloud = Cloud(embedding_capacity=capacity)
        found = estimate(Load(10_000, contexts_per_turn=contexts), cloud, measured(), prices())
        return next(limit.used for limit in found.limits if limit.setting == "EMBEDDING_CAPACITY")

    assert used(0.5) > 1 > used(0)
    assert used(1) > used(0.5)
    assert used(1, capacity=60) < 1


def run(*words: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, ["estimate", *words])
    return done.exit_code, done.stdout, done.stderr


def test_the_command_prints_figures_limits_cost_and_assumptions():
    code, shown, _ = run("--users", "100000", "--turns-per-day", "10")
    assert code == 0
    for expected in ("100,000 users", "What runs out first", "CHAT_CAPACITY", "sum", "Assumed", "list prices of"):
        assert expected in shown
    code, text, _ = run("--users", "100000", "--turns-per-day", "10", "--json")
    found = json.loads(text)
    assert code == 0
    assert found["load"]["turns_per_day"] == 10
    assert found["cost_total"] == pytest.approx(sum(found["cost"].values()), abs=0.01)
    assert found["first_limit"]["setting"] == "CHAT_CAPACITY"
    assert found["assumptions"]


def test_what_cannot_be_meant_is_refused(tmp_path: Path):
    table = tmp_path / "prices.json"
    table.write_text('{"date": "today"}')
    assert run("--users", "0")[0] == 2
    assert run()[0] == 2
    assert run("--users", "5", "--autoscale-ru", "400")[0] == 2
    code, _, error = run("--users", "5", "--prices", str(table))
    assert code == 2
    assert "is not a price table" in error
    with pytest.raises(InvalidInput):
        prices(tmp_path / "none.json")
