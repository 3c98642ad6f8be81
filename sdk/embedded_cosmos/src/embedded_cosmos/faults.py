"""Faults on purpose: imitates a busy or failing service by rules and a seed, to test how a program copes.

    plan = FaultPlan(seed=7, rules=[FaultRule("throttle", operations={"query"}, every=3)])
    engine.faults = plan

The same seed and the same sequence of requests meet the same faults.
"""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, get_args

import orjson

from embedded_cosmos.errors import CosmosError
from embedded_cosmos.messages import RETRY_AFTER_MS, Request, Response
from embedded_cosmos.operations import ITEM_OPERATIONS, OPERATIONS, Operation
from embedded_cosmos.partition_map import RANGE_GONE
from embedded_cosmos.rest import error_response

Fault = Literal["throttle", "gone", "behind", "retry_with", "unavailable", "delay", "drop_before", "drop_after"]

_ERRORS: dict[Fault, CosmosError] = {
    "throttle": CosmosError(429, "TooManyRequests", "Request rate is large. (A fault of the plan.)", 3200),
    "gone": CosmosError(410, "Gone", "The partition key range is gone. (A fault of the plan.)", RANGE_GONE),
    "behind": CosmosError(
        404, "NotFound", "The read session is not available for the input session token. (A fault of the plan.)", 1002
    ),
    "retry_with": CosmosError(449, "RetryWith", "Conflicting request to resource. (A fault of the plan.)"),
    "unavailable": CosmosError(503, "ServiceUnavailable", "Service is unavailable. (A fault of the plan.)"),
}


class ConnectionDropped(Exception):
    """The connection broke before the answer came. Transports and the server turn it into a connection error."""


@dataclass(frozen=True)
class FaultRule:
    """When to inject which fault.

    Attributes:
        fault: `throttle` 429, `gone` 410/1002, `behind` 404/1002 (no replica has what the session has seen),
            `retry_with` 449, `unavailable` 503, `delay`, or a connection that breaks: `drop_before` the request is
            carried out, or `drop_after` it, so that a write is stored although the client does not know.
        operations: The operations that it applies to; by default all on items.
        container: The container's id; by default any.
        every: Only every n-th of these requests.
        first: Only the first n of these requests.
        probability: Each of these requests with this probability, drawn from the plan's seed.
        retry_after_ms: How long a throttled client shall wait.
        delay_ms: How long a delayed request waits before it is carried out.
    """

    fault: Fault
    operations: Iterable[Operation] = ITEM_OPERATIONS
    container: str | None = None
    every: int = 1
    first: int | None = None
    probability: float = 1.0
    retry_after_ms: int = 10
    delay_ms: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "operations", frozenset(self.operations))
        if self.fault not in get_args(Fault):
            raise ValueError(f"The fault {self.fault!r} is none of {', '.join(get_args(Fault))}.")
        unknown = sorted(set(self.operations) - OPERATIONS)
        if unknown:
            raise ValueError(f"Unknown operations {unknown}; known are {', '.join(sorted(OPERATIONS))}.")
        if self.every < 1 or not 0 <= self.probability <= 1:
            raise ValueError("'every' begins at 1, and 'probability' lies between 0 and 1.")


@dataclass
class _Draws:
    """The counters of a rule."""

    random: random.Random
    matched: int = 0


@dataclass
class FaultPlan:
    """Rules in order. The first rule that applies to a request decides.

    Attributes:
        injected: How often each fault has been injected.
    """

    seed: int = 0
    rules: list[FaultRule] = field(default_factory=list)
    injected: Counter[Fault] = field(default_factory=Counter, init=False)

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        # Each rule has its own counter and random numbers, so the other rules do not affect it.
        self._draws = [_Draws(random.Random(f"{self.seed}:{number}")) for number in range(len(self.rules))]

    @classmethod
    def from_json(cls, text: bytes) -> FaultPlan:
        """A plan as JSON: `{"seed": 7, "rules": [{"fault": "throttle", "every": 3}]}`; raises ValueError."""
        body = orjson.loads(text)
        if (
            not isinstance(body, dict)
            or not isinstance(body.get("rules"), list)
            or not body.keys() <= {"seed", "rules"}
        ):
            raise ValueError("A fault plan is an object with 'rules', an array, and perhaps 'seed'.")
        return cls(body.get("seed", 0), [_rule_from_json(rule) for rule in body["rules"]])

    @classmethod
    def from_file(cls, path: Path) -> FaultPlan:
        """The plan in a JSON file; raises ValueError."""
        return cls.from_json(path.read_bytes())

    def carry_out(
        self, request: Request, operation: Operation, container: str | None, answer: Callable[[Request], Response]
    ) -> Response:
        """Answer a request, or inject the fault that the plan says. May raise ConnectionDropped."""
        rule = self._draw(operation, container)
        if rule is None:
            return answer(request)
        if rule.fault == "delay":
            time.sleep(rule.delay_ms / 1000)
            return answer(request)
        if rule.fault == "drop_before":
            raise ConnectionDropped("The connection broke before the request was carried out.")
        if rule.fault == "drop_after":
            answer(request)
            raise ConnectionDropped("The connection broke after the request was carried out.")
        response = error_response(request, _ERRORS[rule.fault])
        if rule.fault == "throttle":
            response.headers[RETRY_AFTER_MS] = str(rule.retry_after_ms)
        return response

    def _draw(self, operation: Operation, container: str | None) -> FaultRule | None:
        with self._lock:
            due = [
                rule
                for rule, draws in zip(self.rules, self._draws, strict=True)
                if operation in rule.operations and rule.container in (None, container) and _applies(rule, draws)
            ]
            self.injected.update(rule.fault for rule in due[:1])
        return due[0] if due else None


def _applies(rule: FaultRule, draws: _Draws) -> bool:
    draws.matched += 1
    if rule.first is not None and draws.matched > rule.first:
        return False
    return draws.matched % rule.every == 0 and (rule.probability == 1.0 or draws.random.random() < rule.probability)


def _rule_from_json(body: Any) -> FaultRule:
    known = {each.name for each in fields(FaultRule)}
    if not isinstance(body, dict) or "fault" not in body or not body.keys() <= known:
        raise ValueError(f"A rule is an object with 'fault' and perhaps {', '.join(sorted(known - {'fault'}))}.")
    return FaultRule(**body)
