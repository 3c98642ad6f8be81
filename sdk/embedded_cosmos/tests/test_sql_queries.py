"""The clauses of a query, over documents."""

from __future__ import annotations

from typing import Any

import pytest
from query_world import World, epk

from embedded_cosmos.errors import CosmosError
from embedded_cosmos.query.binding import parse_bound
from embedded_cosmos.query.execute import Scope, compile_condition

PEOPLE: list[dict[str, Any]] = [
    {"id": "ann", "age": 30, "city": "Oslo", "tags": ["a", "b"], "job": {"title": "Chef", "level": 2}, "active": True},
    {"id": "bob", "age": 25, "city": "Rome", "tags": [], "job": {"title": "Cook"}, "active": False},
    {"id": "cat", "age": 35, "city": "Oslo", "tags": ["b", "c"], "job": None},
    {"id": "dan", "age": None, "city": "Rome", "pets": [{"name": "Rex", "legs": 4}, {"name": "Joe", "legs": 2}]},
    {"id": "eve", "age": "old", "city": "Oslo"},
]
COMPOSITE = {"compositeIndexes": [[{"path": "/city"}, {"path": "/age", "order": "descending"}]]}


@pytest.fixture
def people() -> World:
    return World(PEOPLE, indexingPolicy=COMPOSITE)


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("SELECT * FROM c WHERE c.id = 'bob'", [PEOPLE[1]]),
        ("SELECT c FROM c WHERE c.id = 'bob'", [{"c": PEOPLE[1]}]),
        ("SELECT VALUE p FROM people p WHERE p.id = 'bob'", [PEOPLE[1]]),
        (
            "SELECT c.id, c.job.title, c['city'] AS town FROM c WHERE c.id = 'ann'",
            [{"id": "ann", "title": "Chef", "town": "Oslo"}],
        ),
        ("SELECT c.id, c.nothing FROM c WHERE c.id = 'ann'", [{"id": "ann"}]),
        ("SELECT c.nothing FROM c WHERE c.id = 'ann'", [{}]),
        ("SELECT VALUE c.nothing FROM c", []),
        ("SELECT c.tags[0], c.age + 1 FROM c WHERE c.id = 'ann'", [{"$1": "a", "$2": 31}]),
        (
            "SELECT VALUE {'who': c.id, 'old': c.age > 28} FROM c WHERE c.city = 'Oslo'",
            [{"who": "ann", "old": True}, {"who": "cat", "old": True}, {"who": "eve"}],
        ),
        ("SELECT TOP 2 VALUE c.id FROM c", ["ann", "bob"]),
        ("SELECT TOP 0 VALUE c.id FROM c", []),
        ("SELECT VALUE c.id FROM c OFFSET 1 LIMIT 2", ["bob", "cat"]),
        ("SELECT VALUE c.id FROM c OFFSET 9 LIMIT 2", []),
        ("SELECT VALUE c.id FROM c WHERE c.active", ["ann"]),
        ("SELECT VALUE c.id FROM c WHERE NOT c.active", ["bob"]),
        ("SELECT VALUE c.id FROM c WHERE c.job = null", ["cat"]),
        ("SELECT VALUE c.id FROM c WHERE c.job.level >= 2 OR c.pets[0].name = 'Rex'", ["ann", "dan"]),
        ("SELECT VALUE c.id FROM c WHERE c['age'] BETWEEN 26 AND 35", ["ann", "cat"]),
        ("SELECT VALUE c.id FROM c WHERE c.city LIKE 'O%' AND ARRAY_CONTAINS(c.tags, 'b')", ["ann", "cat"]),
        ("SELECT VALUE c.id FROM c WHERE LOWER(c.city) = 'rome' AND NOT IS_DEFINED(c.pets)", ["bob"]),
        ("SELECT DISTINCT VALUE c.city FROM c", ["Oslo", "Rome"]),
        ("SELECT DISTINCT c.city, c.nothing FROM c", [{"city": "Oslo"}, {"city": "Rome"}]),
        ("SELECT DISTINCT TOP 1 c.city FROM c ORDER BY c.city DESC", [{"city": "Rome"}]),
        ("SELECT VALUE c.id FROM c ORDER BY c.age", ["dan", "bob", "ann", "cat", "eve"]),
        ("SELECT VALUE c.id FROM c ORDER BY c.age DESC", ["eve", "cat", "ann", "bob", "dan"]),
        ("SELECT VALUE c.id FROM c ORDER BY c.job.level", ["bob", "cat", "dan", "eve", "ann"]),
        ("SELECT VALUE c.id FROM c ORDER BY c.job", ["dan", "eve", "cat", "ann", "bob"]),
        ("SELECT VALUE c.id FROM c ORDER BY c.city, c.age DESC", ["eve", "cat", "ann", "bob", "dan"]),
        ("SELECT VALUE c.id FROM c ORDER BY c.city DESC, c.age ASC", ["dan", "bob", "ann", "cat", "eve"]),
        (
            "SELECT c.id, t FROM c JOIN t IN c.tags WHERE t != 'a'",
            [{"id": "ann", "t": "b"}, {"id": "cat", "t": "b"}, {"id": "cat", "t": "c"}],
        ),
        ("SELECT VALUE s || t FROM c JOIN s IN c.tags JOIN t IN c.tags WHERE c.id = 'cat' AND s < t", ["bc"]),
        ("SELECT TOP 2 VALUE t FROM c JOIN t IN c.tags ORDER BY c.id DESC", ["b", "c"]),
        ("SELECT VALUE p.name FROM c JOIN p IN c.pets WHERE p.legs > 2", ["Rex"]),
        ("SELECT VALUE p.name FROM p IN c.pets", ["Rex", "Joe"]),
        ("SELECT * FROM p IN c.pets WHERE p.legs = 2", [{"name": "Joe", "legs": 2}]),
        ("SELECT VALUE j.title FROM c.job j WHERE j.title > 'Co'", ["Cook"]),
        ("SELECT VALUE level FROM c.job.level", [2]),
        ("SELECT VALUE x FROM c JOIN (SELECT VALUE t FROM t IN c.tags WHERE t = 'b') AS x", ["b", "b"]),
        (
            "SELECT c.id, x.n FROM c JOIN (SELECT COUNT(1) AS n FROM t IN c.tags) x WHERE x.n > 0",
            [{"id": "ann", "n": 2}, {"id": "cat", "n": 2}],
        ),
        ("SELECT VALUE c.id FROM c WHERE EXISTS(SELECT VALUE p FROM p IN c.pets WHERE p.legs = 4)", ["dan"]),
        ("SELECT VALUE c.id FROM c WHERE NOT EXISTS(SELECT VALUE t FROM t IN c.tags)", ["bob", "dan", "eve"]),
        ("SELECT VALUE ARRAY(SELECT VALUE t || c.id FROM t IN c.tags) FROM c WHERE c.active", [["aann", "bann"]]),
        ("SELECT VALUE (SELECT VALUE MAX(p.legs) FROM p IN c.pets) FROM c", [4]),
        (
            "SELECT c.id, (SELECT VALUE SUM(p.legs) FROM p IN c.pets) AS legs FROM c WHERE c.id = 'dan'",
            [{"id": "dan", "legs": 6}],
        ),
        (
            "SELECT VALUE ARRAY(SELECT DISTINCT VALUE p.legs FROM p IN c.pets ORDER BY p.legs) FROM c WHERE c.id > 'd'",
            [[2, 4], []],
        ),
        ("SELECT 1, 'x' AS y, 1 = 1", [{"$1": 1, "y": "x", "$2": True}]),
    ],
)
def test_clauses(people: World, text: str, rows: list[Any]) -> None:
    assert people.query(text) == rows


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("SELECT VALUE COUNT(1) FROM c", [5]),
        ("SELECT VALUE COUNT(1) FROM c WHERE c.city = 'Oslo' AND STARTSWITH(c.id, 'a')", [1]),
        ("SELECT VALUE COUNT(c.age) FROM c", [5]),
        ("SELECT VALUE COUNT(c.pets) FROM c", [1]),
        ("SELECT COUNT(1) AS n, MIN(c.id) AS first FROM c", [{"n": 5, "first": "ann"}]),
        ("SELECT COUNT(1) FROM c", [{"$1": 5}]),
        ("SELECT VALUE COUNT(1) > 3 FROM c", [True]),
        ("SELECT VALUE COUNT(1) + SUM(c.job.level) FROM c", [7]),
        ("SELECT VALUE COUNTIF(c.city = 'Oslo') FROM c", [3]),
        ("SELECT VALUE SUM(c.age) FROM c WHERE IS_NUMBER(c.age)", [90]),
        ("SELECT VALUE AVG(c.age) FROM c WHERE IS_NUMBER(c.age)", [30]),
        ("SELECT VALUE SUM(c.age) FROM c", []),
        ("SELECT VALUE AVG(c.age) FROM c", []),
        ("SELECT VALUE MIN(c.age) FROM c", [None]),
        ("SELECT VALUE MAX(c.age) FROM c", ["old"]),
        ("SELECT VALUE MAX(c.job) FROM c", []),
        ("SELECT VALUE COUNT(1) FROM c WHERE false", [0]),
        ("SELECT VALUE SUM(c.age) FROM c WHERE false", [0]),
        ("SELECT VALUE MAX(c.age) FROM c WHERE false", []),
        ("SELECT MAX(c.age) AS m, COUNT(1) AS n FROM c WHERE false", [{"n": 0}]),
        ("SELECT VALUE SUM(c.job.level) FROM c ORDER BY c.id", [2]),
        ("SELECT VALUE COUNT(1) FROM c JOIN t IN c.tags", [4]),
        ("SELECT c.city, COUNT(1) AS n FROM c GROUP BY c.city", [{"city": "Oslo", "n": 3}, {"city": "Rome", "n": 2}]),
        (
            "SELECT VALUE {'c': c.city, 'n': COUNT(1) * 10} FROM c GROUP BY c.city",
            [{"c": "Oslo", "n": 30}, {"c": "Rome", "n": 20}],
        ),
        (
            "SELECT c.active, COUNT(1) AS n FROM c GROUP BY c.active",
            [{"active": True, "n": 1}, {"active": False, "n": 1}, {"n": 3}],
        ),
        (
            "SELECT c.city, c.active FROM c WHERE c.city = 'Rome' GROUP BY c.city, c.active",
            [{"city": "Rome", "active": False}, {"city": "Rome"}],
        ),
        ("SELECT LENGTH(c.id) AS l, MAX(c.id) AS m FROM c GROUP BY LENGTH(c.id)", [{"l": 3, "m": "eve"}]),
        ("SELECT t, COUNT(1) AS n FROM c JOIN t IN c.tags GROUP BY t OFFSET 1 LIMIT 1", [{"t": "b", "n": 2}]),
        ("SELECT VALUE c.city FROM c WHERE false GROUP BY c.city", []),
    ],
)
def test_aggregates(people: World, text: str, rows: list[Any]) -> None:
    found = people.query(text)
    assert found == rows
    assert [type(row) for row in found] == [type(row) for row in rows]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("SELECT c.id, COUNT(1) FROM c", r"Property reference c\['id'\] is invalid in the select list"),
        ("SELECT c.id FROM c GROUP BY c.city", "invalid in the select list"),
        ("SELECT * FROM c GROUP BY c.city", "cannot be used with GROUP BY"),
        ("SELECT c.city FROM c GROUP BY c.city ORDER BY c.city", "ORDER BY cannot be used with GROUP BY"),
        ("SELECT * FROM c WHERE COUNT(1) > 1", "SELECT clause only"),
        ("SELECT VALUE SUM(COUNT(1)) FROM c", "not inside another one"),
        ("SELECT VALUE SUM(c.a, c.b) FROM c", "requires 1 argument"),
        ("SELECT * FROM c JOIN t IN c.tags", "single input set"),
        ("SELECT *", "single input set"),
        ("SELECT * FROM c WHERE d.x = 1", "Identifier 'd' could not be resolved: FROM binds 'c'"),
        ("SELECT * FROM root r WHERE root.x = 1", "Identifier 'root' could not be resolved"),
        ("SELECT VALUE t FROM c JOIN t IN d.tags", "Identifier 'd' could not be resolved"),
        ("SELECT VALUE 1 FROM c JOIN c IN c.tags", "'c' is specified more than once"),
        ("SELECT c.id, c.job.id FROM c", "column 'id' is selected twice"),
        ("SELECT * FROM c WHERE c.x = @x", "no value for the parameter '@x'"),
        ("SELECT TOP @x * FROM c", "TOP must be a non-negative integer"),
        ("SELECT TOP 1.5 * FROM c", "TOP must be a non-negative integer"),
        ("SELECT TOP 1 * FROM c OFFSET 0 LIMIT 1", "TOP cannot be used together with OFFSET LIMIT"),
        ("SELECT VALUE (SELECT VALUE t FROM t IN c.tags) FROM c", "cardinality"),
        ("SELECT * FROM (SELECT VALUE c FROM c) AS x", "first input of FROM"),
    ],
)
def test_queries_without_a_meaning_are_refused(people: World, text: str, reason: str) -> None:
    with pytest.raises(CosmosError, match=reason) as caught:
        people.query(text)
    assert caught.value.status == 400


@pytest.mark.parametrize(
    "text", ["SELECT * FROM c WHERE NOPE(c.x)", "SELECT * FROM c WHERE c.x = @x", "SELECT NOPE() FROM c"]
)
def test_a_wrong_query_is_refused_over_nothing_too(text: str) -> None:
    with pytest.raises(CosmosError):
        World().query(text)


def test_parameters_take_any_value_and_are_never_text(people: World) -> None:
    text = "SELECT VALUE c.id FROM c WHERE c.city = @city"
    assert people.query(text, city="Rome") == ["bob", "dan"]
    assert people.query(text, city="' OR true --") == []
    assert people.query("SELECT VALUE c.id FROM c WHERE ARRAY_CONTAINS(@ages, c.age)", ages=[25, None]) == [
        "bob",
        "dan",
    ]
    assert people.query("SELECT VALUE c.id FROM c WHERE c.id IN (@a, @b)", a="ann", b=1) == ["ann"]
    assert people.query("SELECT TOP @n VALUE c.id FROM c", n=1) == ["ann"]
    assert people.query("SELECT VALUE c.id FROM c OFFSET @o LIMIT @l", o=3, l=1) == ["dan"]
    assert people.query("SELECT VALUE c.id FROM c WHERE c.job = @job", job={"title": "Cook"}) == ["bob"]
    assert people.query("SELECT VALUE c[@name] FROM c WHERE c.id = 'ann'", name="city") == ["Oslo"]


def test_one_statement_text_serves_different_parameters(people: World) -> None:
    text = "SELECT VALUE c.id FROM c WHERE c.age > @age"
    assert [people.query(text, age=age) for age in (28, 32)] == [["ann", "cat"], ["cat"]]


def test_a_malformed_parameter_is_refused(people: World) -> None:
    with pytest.raises(CosmosError, match="'name' string and a 'value'"):
        parse_bound("SELECT * FROM c", [{"name": "@x"}])


def test_ranges_of_partition_keys_limit_every_clause() -> None:
    world = World({"id": f"{user}{n}", "user": user, "thread": f"t{n}", "n": n} for user in "ab" for n in range(3))
    whole_user = Scope(epk("a", "")[:32], epk("a", "")[:32] + "FF", ("a",), False)
    one_thread = Scope(epk("b", "t1"), epk("b", "t1") + "FF", ("b", "t1"), False)
    assert world.query("SELECT VALUE c.id FROM c ORDER BY c.n DESC", whole_user) == ["a2", "a1", "a0"]
    assert world.query("SELECT VALUE COUNT(1) FROM c WHERE c.n > 0", whole_user) == [2]
    assert world.query("SELECT * FROM c", one_thread) == [{"id": "b1", "user": "b", "thread": "t1", "n": 1}]


def test_several_shards_answer_as_one_partition() -> None:
    world = World({"id": str(n), "user": "abc"[n % 3], "n": n * 7 % 10} for n in range(10))
    assert len(world.shards) == 3
    assert world.query("SELECT VALUE c.id FROM c") == [str(n) for n in range(10)]
    assert world.query("SELECT TOP 3 VALUE c.n FROM c ORDER BY c.n") == [0, 1, 2]
    assert world.query("SELECT VALUE c.n FROM c ORDER BY c.n DESC OFFSET 2 LIMIT 3") == [7, 6, 5]
    assert world.query("SELECT VALUE SUM(c.n) FROM c WHERE c.n % 2 = 0") == [20]
    assert world.query("SELECT DISTINCT VALUE c.user FROM c ORDER BY c.user") == ["a", "b", "c"]


def test_conditions_of_patches() -> None:
    condition = compile_condition("from c where c.state = 'open' AND NOT IS_DEFINED(c.owner)")
    assert condition({"state": "open"})
    assert not condition({"state": "open", "owner": None})
    assert compile_condition("FROM c JOIN t IN c.tags WHERE t = 'x'")({"tags": ["x"]})
    with pytest.raises(CosmosError, match="Expected FROM"):
        compile_condition("SELECT * FROM c")


def test_what_is_compiled_once_for_a_text_serves_other_parameters_and_containers() -> None:
    text = (
        "SELECT VALUE [c.id, (c.age ?? 0) + 1, @word, c.city = @city ? {'in': UPPER(c.city)} : {'out': c.city}] FROM c"
        " WHERE c.age >= @age"
    )
    here, there = World(PEOPLE), World([{"id": "zoe", "age": 60, "city": "Bonn"}])
    for _ in range(2):
        assert here.query(text, word="a", city="Rome", age=30) == [
            ["ann", 31, "a", {"out": "Oslo"}],
            ["cat", 36, "a", {"out": "Oslo"}],
        ]
        assert here.query(text, word="b", city="Oslo", age=35) == [["cat", 36, "b", {"in": "OSLO"}]]
        assert there.query(text, word="c", city="Bonn", age=1) == [["zoe", 61, "c", {"in": "BONN"}]]


def test_what_depends_on_the_time_is_compiled_for_each_query(monkeypatch: pytest.MonkeyPatch) -> None:
    moments = iter((1_000_000_000, 2_000_000_000))
    monkeypatch.setattr("embedded_cosmos.sql.functions.dates.time.time_ns", lambda: next(moments))
    people = World(PEOPLE[:2])
    first, second = (people.query("SELECT VALUE [c.id, GetCurrentTimestamp()] FROM c") for _ in range(2))
    assert first == [["ann", 1000], ["bob", 1000]]
    assert second == [["ann", 2000], ["bob", 2000]]
