"""A small function app for tests of the local host: each function shows one thing that the host does."""

import asyncio
import itertools

import azure.durable_functions as df
import azure.functions as func

app = df.DFApp(http_auth_level=func.AuthLevel.ANONYMOUS)

RETRY = df.RetryOptions(first_retry_interval_in_milliseconds=20, max_number_of_attempts=3)

performed: list[tuple[str, object]] = []
"""What activities and triggers were asked to do."""
failures: dict[str, int] = {}
"""How often each is to fail."""
gate = asyncio.Event()
"""What a slow activity waits for."""
switch = itertools.count()


def do(name: str, given: object) -> None:
    performed.append((name, given))
    if failures.get(name, 0) > 0:
        failures[name] -= 1
        raise RuntimeError(f"{name} fails on purpose")


@app.activity_trigger(input_name="given")
async def echo(given: object) -> object:
    do("echo", given)
    return given


@app.activity_trigger(input_name="given")
async def slow(given: object) -> object:
    do("slow", given)
    await gate.wait()
    return given


@app.orchestration_trigger(context_name="context")
def call(context: df.DurableOrchestrationContext):
    given = context.get_input()
    return (yield context.call_activity(given["activity"], given["value"]))


@app.orchestration_trigger(context_name="context")
def listen(context: df.DurableOrchestrationContext):
    given = context.get_input()
    yield context.call_activity(given["request"]["activity"], given["request"]["value"])
    return given["counts"]


@app.orchestration_trigger(context_name="context")
def retried(context: df.DurableOrchestrationContext):
    first = yield context.call_activity_with_retry("echo", RETRY, "one")
    second = yield context.call_activity("echo", "two")
    return [first, second]


@app.orchestration_trigger(context_name="context")
def parent(context: df.DurableOrchestrationContext):
    context.set_custom_status("asking")
    children = [context.call_sub_orchestrator("call", {"activity": "echo", "value": n}) for n in range(3)]
    return (yield context.task_all(children))


@app.orchestration_trigger(context_name="context")
def careful(context: df.DurableOrchestrationContext):
    try:
        yield context.call_sub_orchestrator("call", {"activity": "missing", "value": 0})
    except Exception as error:
        return str(error)


@app.orchestration_trigger(context_name="context")
def counting(context: df.DurableOrchestrationContext):
    n = context.get_input()
    yield context.call_activity("echo", n)
    if n < 5:
        context.continue_as_new(n + 1)
    else:
        return n


@app.orchestration_trigger(context_name="context")
def whimsical(context: df.DurableOrchestrationContext):
    yield context.call_activity("echo" if next(switch) % 2 == 0 else "slow", None)
    yield context.call_activity("echo", None)


@app.orchestration_trigger(context_name="context")
def waiting(context: df.DurableOrchestrationContext):
    yield context.wait_for_external_event("never")


@app.timer_trigger(arg_name="timer", schedule="0 0 3 * * *")
async def nightly(timer: func.TimerRequest) -> None:
    do("nightly", timer.past_due)


@app.cosmos_db_trigger(
    arg_name="documents",
    connection="TOYS",
    database_name="toys",
    container_name="bricks",
    lease_container_name="leases",
    lease_container_prefix="toy",
    max_items_per_invocation=3,
    start_from_beginning=True,
)
@app.retry(strategy="fixed_delay", max_retry_count="1", delay_interval="00:00:00")
async def on_brick(documents: func.DocumentList) -> None:
    do("on_brick", [document["id"] for document in documents])


@app.route(route="shelf/{name}/{place?}", methods=["POST"])
async def shelf(req: func.HttpRequest) -> func.HttpResponse:
    do("shelf", dict(req.route_params))
    body = f"{req.route_params['name']} {req.params.get('size')} {req.headers['x-colour']} {req.get_body().decode()}"
    return func.HttpResponse(body, status_code=201, headers={"x-made": "here"})
