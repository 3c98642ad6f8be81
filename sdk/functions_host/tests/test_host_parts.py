"""Parts of the local host: schedules, routes, settings, retries, bindings."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from functions_host.errors import HostError
from functions_host.functions import Retry, read_function
from functions_host.schedules import Schedule
from functions_host.settings import (
    CosmosConnection,
    HostConfig,
    apply_settings,
    read_settings,
    substituted,
)

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize(
    ("schedule", "moment", "expected"),
    [
        ("0 */5 * * * *", "2026-11-22T10:00:00", "2026-11-22T10:05:00"),
        ("0 */5 * * * *", "2026-11-22T10:04:59", "2026-11-22T10:05:00"),
        ("0 17 * * * *", "2026-11-22T23:17:00", "2026-11-23T00:17:00"),
        ("* * * * * *", "2026-11-22T23:59:59", "2026-11-23T00:00:00"),
        ("30 0 9-17/4 * * 1-5", "2026-11-20T17:00:30", "2026-11-23T09:00:30"),
        ("0 0 0 1,15 * *", "2026-11-16T00:00:00", "2026-12-01T00:00:00"),
        ("0 0 0 29 2 *", "2026-11-16T00:00:00", "2028-02-29T00:00:00"),
        ("0 0 12 * * 0", "2026-11-16T00:00:00", "2026-11-22T12:00:00"),
        ("0 30/10 * * * *", "2026-11-16T00:51:00", "2026-11-16T01:30:00"),
    ],
)
def test_a_schedule_names_the_next_time(schedule: str, moment: str, expected: str):
    after = Schedule.parse(schedule).after(datetime.fromisoformat(moment).replace(tzinfo=UTC))
    assert after == datetime.fromisoformat(expected).replace(tzinfo=UTC)


@pytest.mark.parametrize("schedule", ["* * * * *", "60 * * * * *", "0 0 0 * JAN *", "0 5-1 * * * *", "0 */0 * * * *"])
def test_a_schedule_that_cannot_be_read_is_refused(schedule: str):
    with pytest.raises(HostError):
        Schedule.parse(schedule)


def test_a_day_that_never_comes_is_refused():
    with pytest.raises(HostError, match="never"):
        Schedule.parse("0 0 0 30 2 *").after(datetime(2026, 1, 1, tzinfo=UTC))


def test_retries_grow_and_end():
    growing = Retry(4, 5.0, 30.0)
    assert [growing.delay(n) for n in range(1, 6)] == [5.0, 10.0, 20.0, 30.0, None]
    forever = Retry(-1, 1.0, 1.0)
    assert forever.delay(10_000) == 1.0


def test_settings_fill_what_the_environment_leaves_open():
    environment = {"A": "mine"}
    apply_settings({"A": "file", "B": "file"}, environment)
    assert environment == {"A": "mine", "B": "file"}
    assert substituted({"name": "%B%", "poll": 5, "x": "100% sure, 5%"}, environment) == {
        "name": "file",
        "poll": 5,
        "x": "100% sure, 5%",
    }
    with pytest.raises(HostError, match="MISSING"):
        substituted({"name": "%MISSING%"}, environment)


def test_the_sample_settings_are_those_of_the_host_json_beside_them():
    values = read_settings(ROOT)
    assert CosmosConnection.named("COSMOS", values) == CosmosConnection(
        values["COSMOS_DB_ENDPOINT"], values["COSMOS_DB_KEY"]
    )
    config = HostConfig.read(ROOT)
    assert (config.route_prefix, config.hub) == ("", "default")


def test_connections_are_strings_or_identities():
    assert CosmosConnection.named("C", {"C__accountEndpoint": "https://x/"}) == CosmosConnection("https://x/", None)
    key = CosmosConnection.named("C", {"C": "AccountEndpoint=https://x/;AccountKey=a==;"})
    assert key == CosmosConnection("https://x/", "a==")
    for environment in ({}, {"C": "UseDevelopmentStorage=true"}):
        with pytest.raises(HostError):
            CosmosConnection.named("C", environment)


def test_a_binding_that_the_host_does_not_do_is_refused():
    timer = {"type": "timerTrigger", "name": "t", "direction": "IN", "schedule": "0 0 0 * * *"}
    client = {"type": "durableClient", "name": "c", "direction": "IN"}
    function = read_function("f", "1", [json.dumps(timer), json.dumps(client)], None)
    assert (function.kind, function.parameter, function.client) == ("timerTrigger", "t", "c")
    for other in ({"type": "queueTrigger", "name": "q"}, {"type": "blob", "name": "b"}):
        with pytest.raises(HostError, match="does not do"):
            read_function("f", "1", [json.dumps(timer), json.dumps(other)], None)
    with pytest.raises(HostError, match="no trigger"):
        read_function("f", "1", [json.dumps(client)], None)
