"""The REST contract: maps verb and path to an operation, and adds the headers and errors of all answers."""

from __future__ import annotations

from uuid import uuid4

import orjson

from embedded_cosmos.control_plane import ControlPlane
from embedded_cosmos.data_plane import DataPlane
from embedded_cosmos.errors import CosmosError, bad_request, not_allowed
from embedded_cosmos.messages import (
    ACTIVITY_ID,
    ALT_CONTENT_PATH,
    PARTITION_KEY_RANGE,
    REQUEST_CHARGE,
    SESSION_TOKEN,
    SUBSTATUS,
    Reply,
    Request,
    Response,
)
from embedded_cosmos.operations import segments_of

_NOT_COVERED = {
    "sprocs": "stored procedures",
    "triggers": "triggers",
    "udfs": "user-defined functions",
    "users": "users",
    "permissions": "permissions",
    "attachments": "attachments",
}


class RestService:
    """Answers requests. Every `CosmosError` becomes an error response; anything else is a bug and is raised."""

    def __init__(self, control: ControlPlane, data: DataPlane) -> None:
        self._control = control
        self._data = data

    def respond(self, request: Request) -> Response:
        """The answer to a request."""
        try:
            reply = self._route(request)
        except CosmosError as error:
            return error_response(request, error)
        return _response(request, reply)

    def _route(self, request: Request) -> Reply:
        control, data = self._control, self._data
        segments = segments_of(request.path)
        match request.method, segments:
            case "GET", ["dbs", db, "colls", coll, "docs", item]:
                return data.read_item(request, db, coll, item)
            case "POST", ["dbs", db, "colls", coll, "docs"]:
                return data.post_items(request, db, coll)
            case "PUT", ["dbs", db, "colls", coll, "docs", item]:
                return data.replace_item(request, db, coll, item)
            case "PATCH", ["dbs", db, "colls", coll, "docs", item]:
                return data.patch_item(request, db, coll, item)
            case "DELETE", ["dbs", db, "colls", coll, "docs", item]:
                return data.delete_item(request, db, coll, item)
            case "GET", ["dbs", db, "colls", coll, "docs"]:
                return data.read_feed(request, db, coll)
            case "POST", ["dbs", db, "colls", coll, "operations", "partitionkeydelete"]:
                return data.delete_by_key(request, db, coll)
            case "GET" | "POST", ["dbs", db, "colls", coll, "conflicts"]:
                return data.list_conflicts(request, db, coll)
            case "GET" | "DELETE", ["dbs", db, "colls", coll, "conflicts", conflict]:
                return data.find_conflict(request, db, coll, conflict)
            case "GET", ["dbs", db, "colls", coll, "pkranges"]:
                return control.list_ranges(request, db, coll)
            case "GET", ["dbs", db, "colls", coll]:
                return control.read_container(request, db, coll)
            case "PUT", ["dbs", db, "colls", coll]:
                return control.replace_container(request, db, coll)
            case "DELETE", ["dbs", db, "colls", coll]:
                return control.delete_container(request, db, coll)
            case "GET", ["dbs", db, "colls"]:
                return control.list_containers(request, db)
            case "POST", ["dbs", db, "colls"]:
                return control.create_or_query_containers(request, db)
            case "GET", ["dbs", db]:
                return control.read_database(request, db)
            case "DELETE", ["dbs", db]:
                return control.delete_database(request, db)
            case "GET", ["dbs"]:
                return control.list_databases(request)
            case "POST", ["dbs"]:
                return control.create_or_query_databases(request)
            case "GET", []:
                return control.read_account(request)
            case "GET", ["offers"]:
                return control.list_offers(request)
            case "POST", ["offers"]:
                return control.query_offers(request)
            case "GET", ["offers", offer]:
                return control.read_offer(request, offer)
            case "PUT", ["offers", offer]:
                return control.replace_offer(request, offer)
        raise _not_routed(request.method, segments)


def error_response(request: Request, error: CosmosError) -> Response:
    """The response that reports an error to a client."""
    body = orjson.dumps({"code": error.code, "message": error.message, **error.details})
    response = _response(request, Reply(error.status, body))
    if error.substatus is not None:
        response.headers[SUBSTATUS] = str(error.substatus)
    return response


def _response(request: Request, reply: Reply) -> Response:
    headers = reply.headers
    headers["content-type"] = "application/json"
    headers[ACTIVITY_ID] = request.headers.get(ACTIVITY_ID) or str(uuid4())
    headers[REQUEST_CHARGE] = f"{reply.charge:.2f}"
    if reply.etag is not None:
        headers["etag"] = reply.etag
    container = reply.container
    if container is not None:
        headers["lsn"] = str(container.lsn)
        headers[SESSION_TOKEN] = f"{reply.range_id}:-1#{container.lsn}"
        headers[PARTITION_KEY_RANGE] = reply.range_id
        headers[ALT_CONTENT_PATH] = container.alt_path
    return Response(reply.status, headers, reply.body)


def _not_routed(method: str, segments: list[str]) -> CosmosError:
    path = "/" + "/".join(segments)
    for kind in segments[2::2]:
        if kind in _NOT_COVERED:
            return bad_request(f"{path}: the embedded engine does not cover {_NOT_COVERED[kind]}.")
    return not_allowed(f"{method} {path} is not an operation of the embedded engine.")
