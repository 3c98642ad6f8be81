from datetime import UTC, datetime

import pytest

from agent_memory.errors import ModelError
from agent_memory.language.retries import RetryPolicy, retry_after

NOW = datetime(2026, 10, 21, 7, 28, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "0.25"}, 0.25),
        ({"retry-after-ms": "1500", "retry-after": "2"}, 1.5),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:30 GMT"}, 30.0),
        ({"retry-after": "Wed, 21 Oct 2026 07:27:00 GMT"}, 0.0),
        ({"retry-after": "-5"}, 0.0),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "soon"}, None),
    ],
)
def test_the_wait_that_a_server_asks_for(headers, seconds):
    assert retry_after(headers, NOW) == seconds


class Flaky:
    """Fails with the given errors, then succeeds."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.calls = 0

    async def __call__(self) -> str:
        self.calls += 1
        if self.errors:
            raise self.errors.pop(0)
        return "done"


def transient(wait: float | None = None) -> ModelError:
    return ModelError("busy", retryable=True, retry_after=wait)


async def test_transient_failures_are_retried_within_the_attempts():
    call = Flaky(transient(), transient())
    assert await RetryPolicy(first_wait=0.001).run(call) == "done"
    call = Flaky(*(transient() for _ in range(9)))
    with pytest.raises(ModelError, match="busy"):
        await RetryPolicy(attempts=4, first_wait=0.001).run(call)
    assert call.calls == 4


@pytest.mark.parametrize("error", [ModelError("no"), ValueError("a bug")])
async def test_other_failures_are_not(error):
    call = Flaky(error)
    with pytest.raises(type(error)):
        await RetryPolicy(first_wait=0.001).run(call)
    assert call.calls == 1


async def test_a_wait_that_does_not_fit_is_not_begun():
    call = Flaky(transient(100.0))
    with pytest.raises(ModelError) as caught:
        await RetryPolicy(total=10).run(call)
    assert (call.calls, caught.value.retry_after) == (1, 100.0)


async def test_any_callable_that_gives_an_awaitable_will_do():
    call = Flaky(transient())
    assert await RetryPolicy(first_wait=0.001).run(lambda: call()) == "done"
    assert call.calls == 2
