"""Filters mean the same in the store as in plain Python, in listings and in searches, in both modes of the engine."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, example, given, settings, strategies as st
from plain_filters import matches
from scripted_model import ScriptedChat

from agent_memory import Cadence, Memory
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.models import Filter, Memory as Remembered
from agent_memory.store.documents import to_document
from agent_memory.sync import UserScope

pytestmark = pytest.mark.filterwarnings("ignore:Generating overly large repr")  # of a strategy, for a report

DAY = datetime(2026, 3, 5, 12, tzinfo=UTC)
NEVER = Cadence(extract=10**6, summarize=10**6, profile=10**6, reconcile=10**6, idle_seconds=0)
NO_SHRINKING = (Phase.explicit, Phase.reuse, Phase.generate)
"""A query of the store takes too long to be tried thousands of times; the filters are short anyway."""
KEYS = [
    "city",
    "visits",
    "or",
    "in",
    "user_id",
    "a.b",
    'x"] OR true --',
    "@user_id",
    "Zoë 🙂",
    "$ne",
    "\\",
    " ",
    "ключ",
]
VALUES: list[Any] = [
    "Lisbon", "lisbon", "", "3", "' OR 1=1 --", "@filter0", "🙂", "\uffff", "null", "true",
    0, 1, 3, -1, 3.0, 2.5, 2**53, 1e-9, True, False,
]  # fmt: skip
NAMES = ["t1", "t2", "gardener", "fact", "preference", "chunk", "agent", "nobody"]
TIMES = [(DAY + timedelta(days=days)).isoformat() for days in (-1, 0, 1, 30)] + ["2026-03-05T13:00:00+01:00"]


def _documents() -> list[dict[str, Any]]:
    """Fields of forty facts: each value under some key, lists, nested values, null, and no key at all."""
    found: list[dict[str, Any]] = []
    for number, value in enumerate(VALUES):
        key, other = KEYS[number % len(KEYS)], KEYS[(3 * number + 1) % len(KEYS)]
        found.append({"metadata": {key: value, other: VALUES[-number]}})
        found.append(
            {"metadata": {key: [value, "x"], other: {"city": value}, "city": "Lisbon" if number % 3 else None}}
        )
    for number, fields in enumerate(found):
        fields |= {
            "kind": NAMES[3 + number % 2],
            "tags": [["home"], ["home", "city"], [], ["' OR true"]][number % 4],
            "source": ["user", "agent", "tool"][number % 3],
            "thread_id": NAMES[number % 2],
            "agent_id": "gardener" if number % 5 == 0 else None,
            "project_id": ["green", "t1", None][number % 3],
            "confidence": [0.5, 0.8, 1.0][number % 3],
            "importance": [0.1, 0.5][number % 2],
            "created_at": DAY + timedelta(days=number - 20, microseconds=number),
            "valid_from": DAY + timedelta(days=number) if number % 2 else None,
            "type": ["fact", "procedural", "episodic", "reflection"][number % 4],
        }
    return found


@pytest.fixture(scope="module", params=["fast", "strict"])
def alice(request: pytest.FixtureRequest) -> Iterator[UserScope]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EMBEDDED_COSMOS_STRICT", "1" if request.param == "strict" else "0")
        embeddings = HashingEmbeddings()
        with Memory.local(chat_model=ScriptedChat(), embedding_model=embeddings, cadence=NEVER) as memory:
            inner = memory._inner
            for number, fields in enumerate(_documents()):
                for user in ("alice", "bob"):
                    content = f"The garden has a bed with number {number} of {user}"
                    given: dict[str, Any] = {
                        "id": f"m{number}", "user_id": user, "content": content, "recorded_at": DAY,
                        "embedding_model": embeddings.model_id, **fields,
                    }  # fmt: skip
                    vector = memory._portal.run(embeddings.embed([content])).vectors[0]
                    document = to_document(Remembered.model_validate(given), vector)
                    memory._portal.run(inner.runtime.store.create("memories", document))
            yield memory.user("alice")


texts = st.sampled_from([*NAMES, "green", "user", "' OR true --"])
values = st.sampled_from(VALUES)
orderable = st.sampled_from([value for value in VALUES if not isinstance(value, bool)])
nullable = st.one_of(st.none(), values)


def some(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """At least one of these."""
    return st.fixed_dictionaries({}, optional=fields).filter(bool)


text_is = st.one_of(
    texts,
    st.lists(texts, max_size=3),
    st.one_of(st.none(), texts).map(lambda one: {"eq": one}),
    st.lists(st.one_of(st.none(), texts), max_size=3).map(lambda found: {"in": found}),
)
time_is = some(**{how: st.sampled_from(TIMES) for how in ("gt", "gte", "lt", "lte")}) | st.just({"eq": None})
share = st.sampled_from([0, 0.1, 0.5, 0.8, 1, 1.0])
number_is = st.one_of(share, some(gt=share, gte=share, lt=share, lte=share), st.lists(share, max_size=2))
value_is = st.one_of(
    values,
    st.lists(values, max_size=3),
    some(eq=nullable, contains=values, gt=orderable, gte=orderable, lt=orderable, lte=orderable)
    | st.lists(nullable, max_size=3).map(lambda found: {"in": found}),
)
tags = st.sampled_from(["home", "city", "' OR true", "no"])
FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "type": st.sampled_from(["fact", "episodic", ["fact", "procedural"], {"in": []}]),
    "kind": text_is,
    "tags": st.one_of(tags, st.lists(tags, max_size=3), tags.map(lambda one: {"contains": one})),
    "source": text_is,
    "thread_id": text_is,
    "agent_id": text_is,
    "project_id": text_is,
    "run_id": text_is,
    "created_at": time_is,
    "recorded_at": time_is,
    "valid_from": time_is,
    "valid_to": time_is,
    "confidence": number_is,
    "importance": number_is,
    "metadata": st.dictionaries(st.sampled_from(KEYS), value_is, max_size=3),
}
leaf = st.one_of(*(asked.map(lambda one, name=name: {name: one}) for name, asked in FIELDS.items()))


def _of(inner: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    several = st.lists(inner, max_size=3)
    return some(**{"and": several, "or": several, "not": inner}) | st.builds(lambda one, two: one | two, inner, leaf)


filters = st.recursive(leaf, _of, max_leaves=6)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow], phases=NO_SHRINKING)
@example({})
@example({"not": {"metadata": {"city": "Lisbon"}}})
@example({"not": {"metadata": {"visits": {"gt": 1}}}})
@example({"not": {"project_id": {"in": ["green", None]}}})
@example({"or": []})
@example({"not": {"and": []}})
@given(asked=filters)
def test_a_listing_and_a_search_give_what_plain_python_gives(alice: UserScope, asked: dict[str, Any]):
    every = {memory.id: memory for memory in alice.memories()}
    assert len(every) == len(_documents())
    expected = {key for key, memory in every.items() if matches(asked, memory)}
    assert {memory.id for memory in alice.memories(filters=asked)} == expected
    assert {hit.memory.id for hit in alice.search("garden bed", limit=100, filters=asked)} == expected


@settings(max_examples=100, deadline=None)
@given(asked=filters)
def test_a_filter_means_the_same_as_text_as_data_and_as_a_model(asked: dict[str, Any]):
    model = Filter.model_validate(asked)
    text = model.model_dump_json(exclude_unset=True)
    assert Filter.model_validate_json(text) == model
    assert Filter.model_validate(model.model_dump(exclude_unset=True)) == model


def test_a_limit_counts_what_matches(alice: UserScope):
    """Were memories left out behind the limit, a rare one would not be found."""
    rare = {"metadata": {"a.b": {"contains": True}}}
    expected = {memory.id for memory in alice.memories() if matches(rare, memory)}
    assert 0 < len(expected) < 4
    assert {memory.id for memory in alice.memories(filters=rare, limit=len(expected))} == expected
    assert {hit.memory.id for hit in alice.search("garden bed", limit=4, filters=rare)} == expected
    assert {one["id"] for one in alice.context("garden bed", limit=4, filters=rare).used if "id" in one} == expected


def test_pages_of_a_filtered_listing_follow_each_other(alice: UserScope):
    asked = {"not": {"type": "episodic"}}
    whole = [memory.id for memory in alice.memories(filters=asked)]
    found: list[str] = []
    cursor: str | None = None
    for _ in range(len(whole)):
        page = alice.memories(filters=asked, limit=7, cursor=cursor)
        found += [memory.id for memory in page]
        cursor = page.next
        if cursor is None:
            break
    assert found == whole
    assert cursor is None
