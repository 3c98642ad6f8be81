"""The gate to a model's service: who fails is left alone, one call tries it, and health tells what is known."""

import asyncio
import gc
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import openai
import pytest
from simulation import VirtualLoop

from agent_memory.errors import ModelError
from agent_memory.language.clients import unusable
from agent_memory.language.endpoints import (
    FULL_SPEED,
    MOST_REFUSED,
    MOST_REFUSED_UNASKED,
    Endpoint,
    Gate,
    ModelRefused,
    health_of,
)
from agent_memory.language.openai_chat import OpenAIChat
from agent_memory.language.openai_embeddings import OpenAIEmbeddings
from agent_memory.language.retries import RetryPolicy
from agent_memory.language.roles import RoleChat, models_of

POLICY = RetryPolicy(attempts=3, total=30, first_wait=0.1, longest_wait=1, first_pause=5, longest_pause=60)


class Service:
    """Fails with an error as long as there is one; notes when it was asked."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error
        self.asked: list[float] = []
        self.takes = 0.0

    async def __call__(self) -> str:
        self.asked.append(asyncio.get_running_loop().time())
        await asyncio.sleep(self.takes)
        if self.error is not None:
            raise self.error
        return "done"


def down(wait: float | None = None, fault: str = "server_error") -> ModelError:
    return ModelError("it is down.", retryable=True, retry_after=wait, fault=fault)


def simulated(main: Any) -> None:
    loop = VirtualLoop()
    try:
        loop.run_until_complete(main)
    finally:
        loop.close()


async def fails(endpoint: Endpoint, service: Service) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await endpoint.ask(service)
    return caught.value


def test_a_failing_service_is_asked_less_and_less_often():
    async def main() -> None:
        endpoint, service = Endpoint(POLICY), Service(down())
        for _ in range(3000):
            assert (await fails(endpoint, service)).retryable
            await asyncio.sleep(0.1)
        assert len(service.asked) == 3 + 5  # after 5 s, and once a minute
        service.error = None
        await asyncio.sleep(60)
        assert await endpoint.ask(service) == "done"
        assert endpoint.health().answers

    simulated(main())


@pytest.mark.parametrize("error", [down(3600.0, "throttled"), down(3600.0, "server_error")])
def test_a_long_wait_is_kept_by_all_callers(error):
    async def main() -> None:
        endpoint, service = Endpoint(POLICY), Service(error)
        assert (await fails(endpoint, service)).retry_after == 3600
        for _ in range(35):
            await asyncio.sleep(100)
            left = (await fails(endpoint, service)).retry_after
            assert left == pytest.approx(3600 - asyncio.get_running_loop().time())
        assert len(service.asked) == 1
        service.error = None
        await asyncio.sleep(101)
        assert await endpoint.ask(service) == "done"

    simulated(main())


def test_a_service_is_tried_after_an_hour_whatever_it_asked_for():
    async def main() -> None:
        endpoint, service = Endpoint(POLICY), Service(down(99_999_999_999_999.0, "throttled"))
        await fails(endpoint, service)
        await asyncio.sleep(3599)
        assert (await fails(endpoint, service)).retry_after == pytest.approx(1)
        service.error = None
        await asyncio.sleep(1.1)
        assert await endpoint.ask(service) == "done"

    simulated(main())


def test_a_short_wait_is_kept_by_calls_that_had_begun_elsewhere():
    async def main() -> None:
        endpoint, service = Endpoint(POLICY), Service(down(3.0, "throttled"))
        first = asyncio.create_task(endpoint.ask(service))
        await asyncio.sleep(0.5)
        service.error = None
        assert await endpoint.ask(service) == "done"
        assert await first == "done"
        assert service.asked[0] == 0
        assert all(at >= 3 for at in service.asked[1:])
        assert len(service.asked) == 3

    simulated(main())


def test_pauses_grow_and_a_service_is_tried_once_a_minute_at_most():
    async def main() -> None:
        endpoint, service = Endpoint(RetryPolicy(attempts=1)), Service(down())
        for _ in range(3600):
            await fails(endpoint, service)
            await asyncio.sleep(1)
        between = [round(later - earlier) for earlier, later in pairwise(service.asked)]
        assert between[:5] == [5, 60, 120, 240, 300]
        assert set(between[5:]) == {300}
        assert endpoint.health().pauses == len(service.asked)
        assert endpoint.health().next_attempt_at is not None

    simulated(main())


def test_a_spent_quota_is_asked_for_once_and_then_left_alone():
    async def main() -> None:
        endpoint, service = Endpoint(POLICY), Service(down(fault="quota"))
        for _ in range(60):
            await fails(endpoint, service)
            await asyncio.sleep(1)
        assert len(service.asked) == 2  # at once, and after 5 s
        assert endpoint.health().fault == "quota"

    simulated(main())


def test_what_has_waited_comes_back_step_by_step():
    async def main() -> None:
        endpoint, service = Endpoint(POLICY), Service(down())
        await fails(endpoint, service)
        await asyncio.sleep(6)
        service.error = None
        await endpoint.ask(service)  # the trial
        assert endpoint.health().recovering
        at_once = most = 0

        async def call() -> None:
            nonlocal at_once, most
            at_once += 1
            most = max(most, at_once)
            await asyncio.sleep(1)
            at_once -= 1

        begun = asyncio.get_running_loop().time()
        await asyncio.gather(*(endpoint.ask(call) for _ in range(10)))
        assert asyncio.get_running_loop().time() - begun == pytest.approx(4)  # 1, 2, 4 and 3 at once
        assert most == 4
        await asyncio.gather(*(endpoint.ask(call) for _ in range(100)))
        assert not endpoint.health().recovering

    simulated(main())


def test_waiting_calls_fail_at_once_when_the_service_fails_again():
    async def main() -> None:
        endpoint, service = Endpoint(RetryPolicy(attempts=1, first_pause=5)), Service(down())
        await fails(endpoint, service)
        await asyncio.sleep(6)
        service.error = None
        await endpoint.ask(service)
        service.error, service.takes = down(), 2.0
        begun = asyncio.get_running_loop().time()
        told = await asyncio.gather(*(endpoint.ask(service) for _ in range(50)), return_exceptions=True)
        assert all(isinstance(error, ModelError) and error.retryable for error in told)
        assert asyncio.get_running_loop().time() - begun == pytest.approx(2)
        assert len(service.asked) == 3

    simulated(main())


def test_a_cancelled_call_does_not_hold_up_the_others():
    async def main() -> None:
        endpoint, service = Endpoint(POLICY), Service(down())
        await fails(endpoint, service)
        await asyncio.sleep(6)
        service.error = None
        await endpoint.ask(service)
        service.takes = 1.0
        first, second, third = (asyncio.create_task(endpoint.ask(service)) for _ in range(3))
        await asyncio.sleep(0.1)
        second.cancel()
        assert (await first, await third) == ("done", "done")

    simulated(main())


def test_one_call_tries_and_the_others_do_not_wait_for_it():
    async def main() -> None:
        endpoint, service = Endpoint(POLICY), Service(down())
        await fails(endpoint, service)
        await asyncio.sleep(6)
        service.error, service.takes = None, 2.0
        trial = asyncio.create_task(endpoint.ask(service))
        await asyncio.sleep(0)
        begun = asyncio.get_running_loop().time()
        await fails(endpoint, service)
        assert asyncio.get_running_loop().time() == begun
        assert await trial == "done"
        assert await endpoint.ask(service) == "done"

    simulated(main())


def test_a_trial_that_its_caller_gives_up_leaves_the_gate_usable():
    async def main() -> None:
        endpoint, service = Endpoint(POLICY), Service(down())
        await fails(endpoint, service)
        await asyncio.sleep(6)
        service.error, service.takes = None, 100.0
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1):
                await endpoint.ask(service)
        await fails(endpoint, service)
        service.takes = 0
        await asyncio.sleep(60)
        assert await endpoint.ask(service) == "done"

    simulated(main())


def test_health_says_since_when_and_what():
    async def main() -> None:
        endpoint, service = Endpoint(POLICY), Service()
        assert endpoint.health().answers is None
        service.error = ModelRefused("no such key", fault="credentials")
        with pytest.raises(ModelRefused):
            await endpoint.ask(service)
        first = endpoint.health()
        assert (first.answers, first.fault) == (False, "credentials")
        assert first.failing_since is not None
        assert first.next_attempt_at is not None
        await asyncio.sleep(5.1)
        service.error = down()
        await fails(endpoint, service)
        assert endpoint.health().fault == "server_error"
        assert endpoint.health().failing_since == first.failing_since
        service.error = ModelError("a content filter refused it")  # of this input; so it answers
        await asyncio.sleep(60)
        await fails(endpoint, service)
        assert endpoint.health().answers

    simulated(main())


def test_throttling_that_the_retries_outlast_is_no_news():
    async def main() -> None:
        endpoint, service = Endpoint(POLICY), Service(down(2.0, "throttled"))
        call = asyncio.create_task(endpoint.ask(service))
        await asyncio.sleep(1)
        assert endpoint.health().answers is None
        service.error = None
        await call
        assert endpoint.health().answers

    simulated(main())


def test_a_wait_beyond_all_calendars_is_no_error():
    async def main() -> None:
        endpoint, service = Endpoint(POLICY), Service(down(1e300))
        await fails(endpoint, service)
        assert endpoint.health().next_attempt_at is not None

    simulated(main())


# --- a service that answers with nothing that can be used ------------------------------------------------------


class Answering:
    """A service that always responds. What it makes of the control question and of work can be used, or not."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.question_works = self.work_works = False
        self.questions: list[float] = []
        self.works: list[float] = []

    async def control(self) -> None:
        self.questions.append(asyncio.get_running_loop().time())
        if not self.question_works:
            raise unusable("m", "it refuses")

    async def work(self, gate: Gate) -> str:
        async def call() -> str:
            self.works.append(asyncio.get_running_loop().time())
            return "done"

        for _ in range(2):  # an answer that cannot be used is asked for again
            answer = await gate(call)
            if self.work_works:
                return answer
        raise ModelError("m gave no usable answer")

    async def judged(self) -> str:
        return await self.endpoint.judge(self.work, self.control)

    async def fails(self) -> ModelError:
        with pytest.raises(ModelError) as caught:
            await self.judged()
        return caught.value


async def in_doubt(endpoint: Endpoint) -> Answering:
    service = Answering(endpoint)
    for _ in range(MOST_REFUSED):
        assert not (await service.fails()).retryable
    assert (await service.fails()).fault == "unusable"
    return service


def test_a_service_without_a_usable_answer_is_tried_once_a_minute_at_most():
    """It responds each time, which must not shorten the pauses."""

    async def main() -> None:
        service = await in_doubt(Endpoint(RetryPolicy(attempts=1)))
        service.works.clear()
        for _ in range(3600):
            assert (await service.fails()).retryable
            await asyncio.sleep(1)
        between = [round(later - earlier) for earlier, later in pairwise(service.questions)]
        assert between[:5] == [5, 60, 120, 240, 300]
        assert set(between[5:]) == {300}
        assert len(service.works) == 2 * (len(service.questions) - 1)
        found = service.endpoint.health()
        assert (found.answers, found.fault, found.pauses) == (False, "unusable", len(service.questions))
        assert found.next_attempt_at is not None

    simulated(main())


def test_a_service_that_answers_its_work_and_not_the_control_question_is_used_again():
    async def main() -> None:
        service = await in_doubt(Endpoint(POLICY))
        service.work_works = True
        await asyncio.sleep(5)
        assert await service.judged() == "done"
        assert service.endpoint.health().answers
        asked = len(service.questions)
        for _ in range(FULL_SPEED):
            assert await service.judged() == "done"
        service.work_works = False  # the halves of a range with a turn that it refuses
        for _ in range(MOST_REFUSED_UNASKED):
            assert not (await service.fails()).retryable
        assert len(service.questions) == asked
        assert (await service.fails()).fault == "unusable"

    simulated(main())


def test_the_control_question_counts_again_once_it_is_answered():
    async def main() -> None:
        service = await in_doubt(Endpoint(POLICY))
        service.work_works = True
        await asyncio.sleep(5)
        await service.judged()
        service.work_works, service.question_works = False, True
        for _ in range(MOST_REFUSED_UNASKED + 1):
            assert not (await service.fails()).retryable
        service.question_works = False
        for _ in range(MOST_REFUSED):
            assert not (await service.fails()).retryable
        assert (await service.fails()).retryable

    simulated(main())


def test_an_answer_that_was_under_way_does_not_end_the_doubt_unless_it_can_be_used():
    async def main() -> None:
        endpoint = Endpoint(POLICY)
        late = Service()
        late.takes = 1.0
        under_way = asyncio.create_task(endpoint.ask(late))
        await asyncio.sleep(0)
        service = await in_doubt(endpoint)
        await under_way
        found = endpoint.health()
        assert (found.fault, found.pauses) == ("unusable", 1)
        assert (await service.fails()).retryable

    simulated(main())


def test_a_fault_while_it_is_in_doubt_lengthens_the_pause():
    async def main() -> None:
        service = await in_doubt(Endpoint(POLICY))
        await asyncio.sleep(5)

        async def control() -> None:
            raise down()

        with pytest.raises(ModelError):
            await service.endpoint.judge(service.work, control)
        found = service.endpoint.health()
        assert (found.fault, found.pauses) == ("server_error", 2)
        await asyncio.sleep(60)
        service.question_works = service.work_works = True
        assert await service.judged() == "done"

    simulated(main())


# --- one gate for all adapters of a deployment ----------------------------------------------------------------

URL = "http://127.0.0.1:9/v1"


def test_adapters_of_one_deployment_have_one_gate():
    """Chat of two roles, embeddings under the same name, another spelling of the address; then what sets them apart."""
    chat = OpenAIChat("m", base_url=URL, api_key="k")
    gate = chat._endpoint
    same = [
        OpenAIChat("m", base_url=URL + "/", api_key="k"),
        OpenAIEmbeddings("m", base_url=URL, api_key="k", dimensions=8),
        OpenAIChat("m", client=openai.AsyncOpenAI(base_url=URL, api_key="k")),
    ]
    others = [
        OpenAIChat("another", base_url=URL, api_key="k"),
        OpenAIChat("m", base_url="http://127.0.0.1:10/v1", api_key="k"),
        OpenAIChat("m", base_url=URL, api_key="of another account"),
        OpenAIChat("m", base_url=URL, api_key="k", retries=POLICY),
    ]
    assert all(one._endpoint is gate for one in same)
    assert len({gate, *(one._endpoint for one in others)}) == 1 + len(others)


def test_what_one_adapter_learns_of_a_failing_service_all_of_its_deployment_know():
    """Two roles with the same model and the embeddings of the same name: one storm of retries, one pause, one probe."""

    async def main() -> None:
        one, other = (OpenAIChat("m", base_url=URL, api_key="k", retries=POLICY) for _ in range(2))
        embeddings = OpenAIEmbeddings("m", base_url=URL, api_key="k", dimensions=8, retries=POLICY)
        service = Service(down(fault="quota"))
        await fails(one._endpoint, service)
        asked = len(service.asked)
        for gate in (other._endpoint, embeddings._endpoint, one._endpoint):
            assert (await fails(gate, service)).retry_after == pytest.approx(5)
        assert len(service.asked) == asked
        roles = RoleChat(one, {"profile": other})
        models = {**models_of(roles), "embeddings": embeddings}
        assert models.keys() == {"chat", "chat_profile", "embeddings"}
        assert {(health_of(model).fault, health_of(model).pauses) for model in models.values()} == {("quota", 1)}
        service.error = None
        await asyncio.sleep(5)
        assert await other._endpoint.ask(service) == "done"
        assert health_of(one).answers
        assert health_of(embeddings).answers

    simulated(main())


def test_clients_in_other_threads_share_the_gate_and_none_waits_for_ever():
    """Synchronous clients have event loops of their own. Recovery lets one call at a time through, over all loops."""
    gate = Endpoint(RetryPolicy(attempts=1, first_pause=0.02, next_pause=0.02, longest_pause=0.02))
    under_way = most = 0
    counting = threading.Lock()

    async def answer() -> str:
        nonlocal under_way, most
        with counting:
            under_way, most = under_way + 1, max(most, under_way + 1)
        await asyncio.sleep(0.002)
        with counting:
            under_way -= 1
        return "done"

    async def fall() -> None:
        await fails(gate, Service(down()))
        await asyncio.sleep(0.05)
        assert await gate.ask(answer) == "done"

    async def many() -> list[str]:
        return list(await asyncio.gather(*(gate.ask(answer) for _ in range(8))))

    asyncio.run(fall())
    assert gate.health().recovering
    with ThreadPoolExecutor(4) as threads:
        loops = [threads.submit(asyncio.run, many()) for _ in range(4)]
        assert [loop.result(timeout=60) for loop in loops] == [["done"] * 8] * 4
    assert not gate.health().recovering
    assert gate._under_way == 0
    assert most <= FULL_SPEED + 4


def test_the_gate_goes_with_its_last_adapter():
    gone = weakref.ref(OpenAIChat("m", base_url=URL, api_key="k")._endpoint)
    gc.collect()
    assert gone() is None
