"""The table of endpoints: which method of a scope has which path.

To publish a new method, add a line here: it gets a route and a place in the OpenAPI document. A line in
`remote/scopes.py` gives it a remote twin. The few endpoints that are more than one call (writing turns, processing) are
written by hand on both sides.
"""

from __future__ import annotations

from agent_memory.contract.endpoint import Endpoint
from agent_memory.errors import ModelError, NotFound, QuotaExceeded
from agent_memory.scopes import AsyncGroupScope as Group, AsyncThreadScope as Thread, AsyncUserScope as User

_LIMIT = {"limit": {"ge": 1, "le": 100}}
_BUDGET = {"budget": {"ge": 0, "le": 1_000_000}}

ENDPOINTS: list[Endpoint] = [
    # What is remembered about a user.
    Endpoint(
        User.search,
        "POST",
        "/v1/search",
        "hits",
        reads=True,
        threads_too=True,
        bounds=_LIMIT,
        example={"query": "What can I spend in Hawaii?", "limit": 5},
    ),
    Endpoint(
        User.context,
        "POST",
        "/v1/context",
        reads=True,
        threads_too=True,
        bounds=_LIMIT | _BUDGET,
        example={"query": "What's my budget?", "thread_id": "hawaii", "budget": 650},
    ),
    Endpoint(
        User.reflect,
        "POST",
        "/v1/reflect",
        reads=True,
        bounds=_LIMIT,
        example={"question": "What does the user care about most when they travel?"},
        raises=(QuotaExceeded, ModelError),
    ),
    Endpoint(User.profile, "GET", "/v1/profile"),
    Endpoint(User.stats, "GET", "/v1/stats"),
    Endpoint(User.memories, "GET", "/v1/memories", "memories", paged="limit"),
    Endpoint(
        User.remember,
        "POST",
        "/v1/memories",
        status=201,
        bounds={"confidence": {"ge": 0, "le": 1}, "importance": {"ge": 0, "le": 1}},
        example={"content": "Allergic to peanuts", "kind": "fact"},
        raises=(NotFound, QuotaExceeded, ModelError),
    ),
    Endpoint(User.get, "GET", "/v1/memories/{id}", tagged=True, raises=(NotFound,)),
    Endpoint(
        User.update,
        "PATCH",
        "/v1/memories/{id}",
        tagged=True,
        guard=User.get,
        example={"content": "Allergic to peanuts and cashews", "reason": "the test came back"},
        raises=(NotFound, ModelError),
    ),
    Endpoint(User.history, "GET", "/v1/memories/{id}/history", "versions", raises=(NotFound,)),
    Endpoint(User.why, "GET", "/v1/memories/{id}/why", raises=(NotFound,)),
    Endpoint(User.entities, "GET", "/v1/entities", "entities", bounds={"limit": {"ge": 1, "le": 1000}}),
    Endpoint(User.entity, "GET", "/v1/entities/by-name", example={"name": "Ana"}, raises=(NotFound,)),
    Endpoint(User.review, "GET", "/v1/review", "memories"),
    Endpoint(
        User.approve,
        "POST",
        "/v1/memories/{id}/approve",
        example={"content": "Pays by bank transfer"},
        raises=(NotFound, QuotaExceeded, ModelError),
    ),
    Endpoint(User.reject, "POST", "/v1/memories/{id}/reject", raises=(NotFound,)),
    Endpoint(User.audit, "GET", "/v1/audit", "entries", bounds={"limit": {"ge": 1, "le": 1000}}),
    Endpoint(User.changes, "GET", "/v1/changes", bounds={"limit": {"ge": 1, "le": 1000}}),
    Endpoint(Group.contributions, "GET", "/v1/contributions"),
    # Documents are looked up and not learned from.
    Endpoint(
        User.add_document,
        "PUT",
        "/v1/documents/{id}",
        example={"content": "Remote work: up to three days a week.", "metadata": {"title": "Handbook"}},
        raises=(ModelError,),
    ),
    Endpoint(User.delete_document, "DELETE", "/v1/documents/{id}", "deleted"),
    # What is allowed.
    Endpoint(User.settings, "GET", "/v1/settings", tagged=True),
    Endpoint(User.update_settings, "PATCH", "/v1/settings", tagged=True, example={"deny_categories": ["health"]}),
    Endpoint(
        User.forget,
        "POST",
        "/v1/memory/forget",
        example={"query": "my budget for the Hawaii trip", "dry_run": True},
        raises=(NotFound, ModelError),
    ),
    Endpoint(User.export_part, "GET", "/v1/export"),
    # Conversations.
    Endpoint(User.threads, "GET", "/v1/threads", "threads", paged="limit", paged_by="last_turn_at"),
    Endpoint(Thread.turns, "GET", "/v1/threads/{thread_id}/turns", "turns", paged="last"),
    Endpoint(Thread.pop, "POST", "/v1/threads/{thread_id}/pop"),
    Endpoint(Thread.view, "GET", "/v1/threads/{thread_id}/view"),
    Endpoint(Thread.clear, "POST", "/v1/threads/{thread_id}/clear", "cleared"),
    Endpoint(
        Thread.retire,
        "POST",
        "/v1/threads/{thread_id}/retire",
        "retired",
        example={"through": "turn-17", "covered_by": ["summarize"]},
    ),
    Endpoint(Thread.delete, "DELETE", "/v1/threads/{thread_id}"),
    Endpoint(Thread.delete_index, "DELETE", "/v1/threads/{thread_id}/index", "deleted"),
    Endpoint(
        Thread.forget,
        "POST",
        "/v1/threads/{thread_id}/forget",
        example={"query": "my budget", "dry_run": True},
        raises=(ModelError,),
    ),
    Endpoint(Thread.summary, "GET", "/v1/threads/{thread_id}/summary"),
    Endpoint(Thread.state, "GET", "/v1/threads/{thread_id}/state"),
    Endpoint(Thread.stats, "GET", "/v1/threads/{thread_id}/stats"),
    Endpoint(Thread.settings, "GET", "/v1/threads/{thread_id}/settings", tagged=True),
    Endpoint(
        Thread.update_settings,
        "PATCH",
        "/v1/threads/{thread_id}/settings",
        tagged=True,
        example={"enabled": False},
    ),
    Endpoint(Thread.memories, "GET", "/v1/threads/{thread_id}/memories", "memories", paged="limit"),
]
