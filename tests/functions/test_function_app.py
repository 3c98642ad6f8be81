"""The function app over real HTTP: what applications write becomes what it would have become in one process.

Three kinds of process: the account, the local host with the real `function_app.py`, and this one, the application.
"""

import os
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("azure_functions_runtime", reason="Microsoft's worker library needs Python 3.13")

from functions_world import Account, Host, until
from model_server import model_server_aside

from agent_memory import Memory
from agent_memory.settings import Cadence
from agent_memory.store.containers import COUNTER, MEMORIES, SUMMARIES, TURNS
from agent_memory.store.documents import Document

pytestmark = pytest.mark.acceptance

USERS = ["ada", "björn", "chen", "dolores"]
THREADS = ["spring", "summer", "autumn"]
TURNS_OF = {"spring": 16, "summer": 17, "autumn": 17}  # fifty turns of each user, two hundred in all

CADENCE = Cadence(extract=10, summarize=10, profile=0, reconcile=3, idle_seconds=0)
SETTINGS = {
    "FACT_EXTRACTION_EVERY_N": "10",
    "THREAD_SUMMARY_EVERY_N": "10",
    "USER_SUMMARY_EVERY_N": "0",
    "DEDUP_EVERY_N": "3",
}
KILLS = int(os.environ.get("FUNCTION_APP_KILLS", "2"))

CITIES = {
    "ada": ["Lisbon", "Oslo", "Quito"],
    "björn": ["Malmö", "Gdańsk", "Turin"],
    "chen": ["Taipei", "Perth", "Lima"],
    "dolores": ["Sevilla", "Denver", "Hanoi"],
}
SAID = [
    "I live in {city} now.",
    "My favourite food in {season} is {city} stew with {user} sauce.",
    "I am allergic to the {season} pollen of {city}.",
    "My sister {user}{season} works as a nurse in {city}.",
    "Please always answer me in short sentences when it is {season}.",
    "We decided to meet in {city} on the 12th of June 2026.",
    "I prefer trains to planes on the way to {city}.",
    "My budget for {season} in {city} is ${amount}.",
]


def talk(user: str, thread: str) -> list[dict[str, Any]]:
    """A conversation that says something new, and something that was otherwise before."""
    place = THREADS.index(thread)
    words = {"user": user, "season": thread, "city": CITIES[user][place], "amount": 1000 + 100 * place}
    turns = []
    for n in range(TURNS_OF[thread]):
        content = SAID[n // 2 % len(SAID)].format(**words) if n % 2 == 0 else f"Noted, number {n} of {thread}."
        turns.append(
            {
                "id": f"{user}-{thread}-{n}",
                "role": "user" if n % 2 == 0 else "assistant",
                "content": content,
                "created_at": f"2026-0{place + 3}-02T10:{n:02d}:00Z",
            }
        )
    return turns


def write_all(memory: Memory) -> None:
    """What an application writes: twelve threads, each at once."""
    for user in USERS:
        for thread in THREADS:
            memory.user(user).thread(thread).add_many(talk(user, thread))


CHANGING = {"recorded_at", "superseded_at", "updated_at", "last_accessed_at", "near_ids"}
"""Times, and links: talk of other threads is linked only if it was indexed before."""


def contents(memory: Memory) -> dict[tuple[str, str], Document]:
    """All that was derived, without what is not the same twice: when it was made."""
    run = memory._portal.run
    store = memory._inner.runtime.store
    found = {}
    for container in (MEMORIES, SUMMARIES):
        for document in run(store.query(container, "SELECT * FROM c")):
            plain = {name: value for name, value in document.items() if name[0] != "_" and name not in CHANGING}
            if document["type"] == "cursor":
                beside = {name: value for name, value in document["extra"].items() if name != "recorded"}  # a time
                plain = {"count": document["count"], "extra": beside}
            if document["type"] in ("summary", "user_summary"):
                del plain["created_at"]
            found[container, f"{document['user_id']} {document['thread_id']} {document['id']}"] = plain
    return found


def reconciled(memory: Memory) -> bool:
    """Whether every thread was summarized and every user reconciled, to the last effect of it."""
    run, store = memory._portal.run, memory._inner.runtime.store
    done = (
        "SELECT VALUE COUNT(1) FROM c WHERE c.type = 'cursor' AND c.step = '{}'"
        " AND c.runs > 0 AND NOT IS_DEFINED(c.extra.intents)"
    )
    users = run(store.query(MEMORIES, done.format("reconcile")))
    threads = run(store.query(SUMMARIES, done.format("summarize")))
    untold = run(store.query(MEMORIES, "SELECT VALUE COUNT(1) FROM c WHERE IS_STRING(c.untold_since)"))
    return (users, threads, untold) == ([len(USERS)], [len(USERS) * len(THREADS)], [0])


@pytest.fixture(scope="module")
def account(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Account]:
    process = Account(tmp_path_factory.mktemp("account")).ready()
    yield process
    process.kill()


Hosts = Callable[..., Host]


@pytest.fixture
def start_host(account: Account, tmp_path: Path) -> Iterator[Hosts]:
    """Starts hosts; those that still run in the end are killed."""
    hosts: list[Host] = []

    def start(database: str, **settings: str) -> Host:
        hosts.append(Host(account, database, tmp_path, **settings))
        return hosts[-1]

    yield start
    for host in hosts:
        host.kill()


@pytest.fixture(scope="module")
def expected(account: Account) -> dict[tuple[str, str], Document]:
    """What the driver in one process makes of these turns."""
    with account.open_inline("inline", CADENCE) as memory:
        memory.create_memory_store()
        write_all(memory)
        until(lambda: reconciled(memory), "the worker has done everything")
        return contents(memory)


def assert_same(found: dict[tuple[str, str], Document], expected: dict[tuple[str, str], Document]) -> None:
    """Fails with the first document that differs, instead of with all of them."""
    assert found.keys() == expected.keys()
    for key, document in expected.items():
        assert found[key] == document, key


@pytest.mark.req("S1-26", "S1-41", "S1-43", "S1-45", "S1-59", "S1-60", "S3-35")
def test_what_is_pushed_becomes_what_the_worker_in_one_process_makes_of_it(
    account: Account, start_host: Hosts, expected: dict[tuple[str, str], Document]
):
    with account.open("pushed") as memory:
        memory.create_memory_store()
        host = start_host("pushed", **SETTINGS).ready()
        write_all(memory)
        until(lambda: reconciled(memory) and host.is_quiet(), "the function app has done everything")
        assert_same(contents(memory), expected)
        assert len(expected) > 300
        # Twelve threads, four users; each crossing once. A reconciliation has one of its own id for its corrections.
        names = sorted(one.split(":")[0] for one in host.orchestrations())
        assert [names.count(name) for name in ("extract", "summarize", "reconcile")] == [12, 12, 4 + 4]
        assert set(host.orchestrations().values()) == {"Completed"}
        assert sum(user.stats().turns for user in map(memory.user, USERS)) == 200
    assert host.stop() == 0


@pytest.mark.req("S1-44")
def test_a_host_that_is_killed_at_random_ends_with_the_same(
    account: Account, start_host: Hosts, expected: dict[tuple[str, str], Document]
):
    rng = random.Random(7)
    with account.open("killed") as memory:
        memory.create_memory_store()
        write_all(memory)
        for _ in range(KILLS):
            host = start_host("killed", **SETTINGS)
            if rng.random() < 0.8:
                host.ready()
            delay = rng.uniform(0, 1.5)
            time.sleep(delay)
            host.kill()
            print(f"killed {delay:.2f} s after it was {'ready' if host.url else 'started'}")
        host = start_host("killed", **SETTINGS).ready()
        until(lambda: reconciled(memory) and host.is_quiet(), "the function app has done everything")
        assert_same(contents(memory), expected)


@pytest.mark.req("S1-46", "S1-47", "S1-48", "S1-49", "S1-58", "S1-60")
def test_what_is_pulled_becomes_what_is_pushed(
    account: Account, start_host: Hosts, expected: dict[tuple[str, str], Document]
):
    with account.open("pulled") as memory, account.open("inline") as inline:
        memory.create_memory_store()
        host = start_host("pulled").ready()  # without settings every step is disabled
        write_all(memory)
        runtime = memory._inner.runtime
        counted = "SELECT VALUE SUM(c.count) FROM c WHERE c.type = 'counter'"
        until(lambda: memory._portal.run(runtime.store.query(COUNTER, counted)) == [200], "all turns are counted")
        assert host.orchestrations() == {}

        for user in USERS:
            for thread in THREADS:
                for step in ("facts", "summary"):
                    status, run = host.call("POST", f"/v1/process/{step}", {"thread_id": thread}, user)
                    assert status == 202
                    assert "code=" not in str(run)  # the task hub's own URLs hold a key to the runs of all users
        until(host.is_quiet, "threads are processed")
        for user in USERS:
            again = host.process("extract", user, thread_id="spring")  # has run, and finds nothing new
            assert (again["status"], again["result"]["turns"], again["result"]["created"]) == ("completed", 0, 0)
            host.process("reconcile", user)
        assert_same(contents(memory), expected)

        for user in USERS:
            run = host.process("user-summary", user)
            assert run["result"]["created"] == 1
            inline.user(user).process("profile")
            assert profile_of(memory, user) == profile_of(inline, user)

        check_the_api(host)


def profile_of(memory: Memory, user: str) -> dict[str, Any]:
    """A user's profile, less when it was made; what it rests on stands in the order in which it was extracted."""
    profile = memory.user(user).profile()
    assert profile is not None
    plain = profile.model_dump(exclude={"created_at", "updated_at"})
    return plain | {"source_ids": sorted(plain["source_ids"])}


def check_the_api(host: Host) -> None:
    """What the routes answer when they are asked through the function app."""
    assert host.call("GET", "/health")[1]["ok"] is True
    status, run = host.call("POST", "/v1/process/profile", {}, "ada")
    assert status == 202
    assert host.call("GET", f"/v1/process/{run['id']}", user="ada")[0] in (200, 202)
    for other in (run["id"] + "%3FshowHistory=true", run["id"] + "%23", "%2e%2e"):
        assert host.call("GET", f"/v1/process/{other}", user="ada")[0] == 404
    assert host.call("GET", f"/v1/process/{run['id']}", user="chen")[0] == 404
    hook = "/runtime/webhooks/durabletask/orchestrators/profile"
    assert host.call("POST", f"{hook}/foreign", {"request": {"user_id": "chen"}})[0] == 202
    assert host.call("GET", "/v1/process/foreign", user="ada")[0] == 404
    status, found = host.call("POST", "/v1/search", {"query": "Where do I live?"}, "ada")
    assert status == 200
    assert "Quito" in found["hits"][0]["memory"]["content"]
    assert host.call("POST", "/v1/search", {"query": "x"})[1]["error"]["code"] == "unauthenticated"
    assert host.call("POST", "/v1/process/dream", {}, "ada")[1]["error"]["code"] == "invalid_input"
    assert host.call("GET", "/v1/nothing", user="ada")[1]["error"]["code"] == "no_such_path"
    turns = [{"role": "user", "content": "x" * 5_000_000}]
    assert host.call("POST", "/v1/threads/t/turns", {"turns": turns}, "ada")[0] == 413


@pytest.mark.req("S0-043", "S1-18", "S1-42")
def test_quiet_threads_are_settled_strange_documents_set_aside_and_what_is_due_is_found(
    account: Account, start_host: Hosts
):
    with account.open("quiet") as memory:
        memory.create_memory_store()
        run, store = memory._portal.run, memory._inner.runtime.store
        strange = {"id": "strange", "type": "turn", "user_id": "zoe", "thread_id": 7}
        run(store.create(TURNS, strange))
        zoe = memory.user("zoe")
        zoe.thread("one").add("user", "I live in Lisbon now.")
        zoe.thread("two").add("user", "I am allergic to peanuts and to cats.")
        said = {"role": "user", "content": "I live in Porto now.", "backfill": True}
        memory.user("yan").thread("old").add_many([said])
        every = dict.fromkeys(("FACT_EXTRACTION_EVERY_N", "THREAD_SUMMARY_EVERY_N", "USER_SUMMARY_EVERY_N"), "1000")
        host = start_host("quiet", **every, DEDUP_EVERY_N="0", AGENT_MEMORY_IDLE_SECONDS="0.5").ready()
        counted = "SELECT VALUE c.pending FROM c WHERE c.type = 'counter'"
        until(lambda: run(store.query(COUNTER, counted)) == [1, 1, 1], "all turns are counted")
        (letter,) = memory.dead_letters()
        assert (letter.user_id, letter.turn_ids) == ("zoe", ["strange"])
        assert host.orchestrations() == {}

        time.sleep(1.5)  # a time of the server's is in whole seconds
        assert host.call("POST", "/admin/functions/settle_idle_threads", {})[0] == 202
        until(lambda: run(store.query(COUNTER, counted)) == [0, 0, 0] and host.is_quiet(), "all threads are settled")
        assert host.orchestrations() == dict.fromkeys(("settle_user:zoe::idle", "settle_user:yan::import"), "Completed")
        assert [fact.content for fact in memory.user("yan").memories()] == ["I live in Porto now."]
        facts = {fact.content for fact in zoe.memories()}
        assert facts == {"I live in Lisbon now.", "I am allergic to peanuts and to cats."}
        assert zoe.profile() is not None
        assert all(zoe.thread(name).summary() is not None for name in ("one", "two"))
        assert host.call("POST", "/admin/functions/settle_idle_threads", {})[0] == 202
        host.kill()

        host = start_host("quiet", DEDUP_EVERY_N="1").ready()
        assert host.call("POST", "/admin/functions/maintain", {})[0] == 202
        until(lambda: host.orchestrations().get("reconcile:zoe::0") == "Completed", "what was due is done")


def test_facts_and_summary_of_the_same_turns_are_one_orchestration_if_it_is_set(account: Account, start_host: Hosts):
    with model_server_aside() as model, account.open("together") as memory:
        memory.create_memory_store()
        run, store = memory._portal.run, memory._inner.runtime.store
        zoe = memory.user("zoe")
        settings = {"FACT_EXTRACTION_EVERY_N": "2", "THREAD_SUMMARY_EVERY_N": "2", "USER_SUMMARY_EVERY_N": "0"}
        settings |= {"DEDUP_EVERY_N": "0", "ONE_CALL_FOR_FACTS_AND_SUMMARY": "true", "AGENT_MEMORY_CHAT": "openai:any"}
        access = {"AGENT_MEMORY_CHAT_BASE_URL": model.url, "AGENT_MEMORY_CHAT_API_KEY": "k"}
        host = start_host("together", **settings, **access).ready()
        zoe.thread("one").add("user", "fact: home=Lisbon now")
        zoe.thread("one").add("user", "fact: allergies=peanuts and cats")
        pending = "SELECT VALUE c.pending FROM c WHERE c.type = 'counter'"
        until(lambda: run(store.query(COUNTER, pending)) == [0] and host.is_quiet(), "the thread is processed")
        assert host.orchestrations() == {"extract_and_summarize:zoe:one:1-1": "Completed"}
        assert model.calls["chat"] == 1
        assert len(zoe.memories(types=["fact"])) == 2
        assert zoe.thread("one").summary() is not None
