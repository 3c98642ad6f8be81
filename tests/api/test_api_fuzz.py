"""Every operation of the OpenAPI document, with what a generator makes of it and against it (schemathesis).

No answer is a 5xx, has a status that is not documented, or breaks its schema, and what breaks the schema of a request
is refused. `API_CASES` says about how many requests are made in all.
"""

import os
from collections import Counter

import pytest
import requests
import schemathesis
from api_world import served_in_thread
from hypothesis import HealthCheck, Phase, given, settings, strategies as st
from hypothesis.errors import Unsatisfiable
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from agent_memory import Cadence, Memory
from agent_memory.api.operator import MAX_WAIT

pytestmark = pytest.mark.acceptance

schemathesis.serializer.alias("application/x-ndjson", "text/plain")
CASES = int(os.environ.get("API_CASES", "300"))
PATIENCE = MAX_WAIT + 30
"""Seconds: a route may wait for as long as it is asked to."""
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    negative_data_rejection,
]
ON_DEMAND = Cadence(extract=0, summarize=0, profile=0, reconcile=0, idle_seconds=0)


def seed(memory: Memory, user_id: str) -> dict[str, str]:
    """Something of everything, so that answers have contents; the ids that paths may name."""
    user = memory.user(user_id)
    said = [(f"turn-{n}", f"fact: key {n}=value, said at some length") for n in range(3)]
    user.thread("t1").add_many([{"role": "user", "content": text, "id": id_} for id_, text in said])
    user.thread("t1").process("extract")
    user.thread("t1").process("summarize")
    user.process("profile")
    kept = user.remember("Remembered for good")
    return {"id": kept.id, "memory_id": kept.id, "thread_id": "t1", "step": "extract", "user": user_id}


def test_every_operation_keeps_its_documented_contract():
    statuses: Counter[int] = Counter()
    failures: dict[str, str] = {}
    kept: dict[str, dict[str, str]] = {}
    with served_in_thread(ON_DEMAND) as (url, document), Memory.remote(url) as memory, requests.Session() as session:
        schema = schemathesis.openapi.from_dict(document)
        operations = [found.ok() for found in schema.get_all_operations()]
        assert len(operations) == sum(len(verbs) for verbs in document["paths"].values())
        each = max(2, CASES // (2 * len(operations)))
        for number, operation in enumerate(operations):
            # What one operation switches off or deletes does not matter to the next.
            user_id = "reader" if operation.method == "get" else f"writer-{number}"
            if user_id not in kept:
                kept[user_id] = seed(memory, user_id)
            known = kept[user_id]
            for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):

                @settings(
                    max_examples=each,
                    deadline=None,
                    database=None,
                    derandomize=True,
                    phases=[Phase.generate],
                    suppress_health_check=list(HealthCheck),
                )
                @given(case=operation.as_strategy(generation_mode=mode), real=st.booleans())
                def run(case: Case, real: bool) -> None:
                    if real:
                        case.path_parameters = {name: known.get(name, "x") for name in case.path_parameters or {}}  # noqa: B023
                    headers = {"x-user-id": user_id}  # noqa: B023
                    response = case.call(base_url=url, session=session, headers=headers, timeout=PATIENCE)
                    statuses[response.status_code] += 1
                    case.validate_response(response, checks=CHECKS)

                try:
                    run()
                except Unsatisfiable:
                    assert mode == GenerationMode.NEGATIVE  # nothing is sent that could be wrong
                except (Exception, BaseExceptionGroup) as error:
                    inner = getattr(error, "exceptions", [error])
                    failures[f"{mode.value} {operation.label}"] = "\n".join(str(one)[:2000] for one in inner)
    print(f"{statuses.total()} requests to {len(operations)} operations: {dict(sorted(statuses.items()))}")
    for where, error in failures.items():
        print(f"--- {where}\n{error}")
    assert not failures, list(failures)
    assert set(statuses) >= {200, 201, 400, 404}
