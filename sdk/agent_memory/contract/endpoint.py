"""An endpoint: one method of a scope under a path. Its request and answer follow from the method's signature."""

from __future__ import annotations

import inspect
import re
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import Field, create_model

from agent_memory.contract.schemas import RESOURCES
from agent_memory.contract.wire import Body, Params, body_type, query_type
from agent_memory.errors import AgentMemoryError
from agent_memory.models import Model, Page, SearchFilters

Verb = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]

IF_MATCH = "if_match"
"""The parameter of a method that travels as a header."""
PAGE = 100
"""Default page size."""
MAX_PAGE = 1000


@dataclass(frozen=True)
class Endpoint:
    """One method of a scope under a path.

    Attributes:
        call: The method, of `AsyncUserScope` or `AsyncThreadScope`.
        verb: The HTTP method.
        path: The path, with `{thread_id}` for a method of a thread. Other names in braces are arguments of the method.
        noun: The field of the response that holds a list or a number.
        status: The status of a success.
        paged: The parameter that sets the size of a page. The continuation of the page before sets `before`.
        paged_by: The field of an item that `before` is compared with.
        tagged: Whether the response has an ETag.
        guard: The method whose ETag `If-Match` is compared with.
        threads_too: Whether it is a method of threads, too. A `thread_id` in the body selects the thread.
        example: A body, or a query.
        bounds: Limits of a parameter beyond its type, as arguments of pydantic's `Field`.
        reads: Whether it changes nothing, although its verb usually means a change.
        raises: Errors of the method, beyond those of every route.
    """

    call: Callable[..., Any]
    verb: Verb
    path: str
    noun: str = ""
    status: int = 200
    paged: str = ""
    paged_by: str = "created_at"
    tagged: bool = False
    guard: Callable[..., Any] | None = None
    threads_too: bool = False
    example: Mapping[str, Any] = field(default_factory=dict)
    bounds: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    reads: bool = False
    raises: tuple[type[AgentMemoryError], ...] = ()

    @property
    def name(self) -> str:
        """The method's name."""
        return self.call.__name__

    @property
    def scope(self) -> Literal["user", "thread"]:
        """Whose method it is."""
        return "thread" if "thread_id" in self.path_names else "user"

    @property
    def writes(self) -> bool:
        """Whether it may change anything."""
        return self.verb != "GET" and not self.reads

    @cached_property
    def conditional(self) -> bool:
        """Whether it honours `If-Match`."""
        return self.guard is not None or self.takes_tag

    @cached_property
    def takes_tag(self) -> bool:
        """Whether the method itself compares the ETag."""
        return IF_MATCH in inspect.signature(self.call).parameters

    @cached_property
    def path_names(self) -> list[str]:
        """The names in the path."""
        return re.findall(r"{(\w+)}", self.path)

    @cached_property
    def doc(self) -> Doc:
        """The method's docstring in its parts."""
        return Doc.of(self.call)

    @cached_property
    def given(self) -> type[Model] | None:
        """The model of the body or the query; None if there is neither."""
        in_query = self.verb in ("GET", "DELETE")
        read = query_type if in_query else body_type
        fields: dict[str, Any] = {
            name: (read(hint), Field(**self._field(name, parameter)))
            for name, (hint, parameter) in self._parameters().items()
        }
        if self.paged:
            del fields["before"]
            fields[self.paged] = (
                int,
                Field(default=PAGE, ge=1, le=MAX_PAGE, description="Items of a page, about."),
            )
            fields["continuation"] = (str | None, Field(default=None, description="The `next` of the previous page."))
        if self.threads_too:
            fields["thread_id"] = (str | None, Field(default=None, description="In this conversation only."))
            fields["resources"] = (list[str] | None, Field(default=None, description=RESOURCES))
        if not fields:
            return None
        base = Params if in_query else Body
        made: type[Model] = create_model(self._model_name("Query" if in_query else "Request"), __base__=base, **fields)
        if self.example and not in_query:
            made.model_config["json_schema_extra"] = {"examples": [dict(self.example)]}
            made.model_rebuild(force=True)
        return made

    def _field(self, name: str, parameter: inspect.Parameter) -> dict[str, Any]:
        of_filters = None if self.writes else _FILTERS.get(name)
        known: dict[str, Any] = {"description": self.doc.arguments.get(name) or of_filters}
        if parameter.default is not inspect.Parameter.empty:
            default = parameter.default
            known["default"] = list(default) if isinstance(default, tuple) else default
        return known | dict(self.bounds.get(name, {}))

    def _parameters(self) -> dict[str, tuple[Any, inspect.Parameter]]:
        """The parameters outside the path, with their types."""
        found: dict[str, tuple[Any, inspect.Parameter]] = {}
        hints = get_type_hints(self.call)
        for name, parameter in inspect.signature(self.call).parameters.items():
            if parameter.kind is inspect.Parameter.VAR_KEYWORD:
                found = _options(hints[name]) | found
            elif name not in ("self", IF_MATCH, *self.path_names) and not _is_callback(hints[name]):
                found[name] = (hints[name], parameter)
        return found

    @cached_property
    def returned(self) -> Any:
        """The type that the method returns, without None."""
        hint = get_type_hints(self.call)["return"]
        if get_origin(hint) in (Union, types.UnionType):
            return next(one for one in get_args(hint) if one is not type(None))
        return list[get_args(hint)] if get_origin(hint) is Page else hint  # type: ignore[misc]  # made here

    @cached_property
    def may_be_missing(self) -> bool:
        """Whether the method returns None for something missing. Over HTTP that is a 404."""
        hint = get_type_hints(self.call)["return"]
        return get_origin(hint) in (Union, types.UnionType) and type(None) in get_args(hint)

    @cached_property
    def answer(self) -> type[Model]:
        """The model of the answer: the returned model, or one that holds the returned value under `noun`."""
        if isinstance(self.returned, type) and issubclass(self.returned, Model):
            return self.returned
        fields: dict[str, Any] = {self.noun: (self.returned, ...)}
        if self.paged:
            fields["next"] = (str | None, Field(default=None, description="The continuation of the next page, if any."))
        made: type[Model] = create_model(self._model_name("Answer"), __base__=Model, **fields)
        return made

    def _model_name(self, suffix: str) -> str:
        words = [*(["thread"] if self.scope == "thread" else []), *self.name.split("_")]
        return "".join(word.capitalize() for word in words) + suffix


@dataclass(frozen=True, slots=True)
class Doc:
    """A docstring in its parts."""

    summary: str
    text: str
    arguments: Mapping[str, str]

    @classmethod
    def of(cls, call: Callable[..., Any]) -> Doc:
        """Reads the docstring of a method."""
        parts = re.split(
            r"^(Args|Attributes|Returns|Raises|Example):\n", inspect.getdoc(call) or "", flags=re.MULTILINE
        )
        sections = dict(zip(parts[1::2], parts[2::2], strict=True))
        arguments = _entries(sections.get("Args") or sections.get("Attributes", ""))
        summary, _, rest = parts[0].partition("\n\n")
        return cls(
            " ".join(summary.split()),
            " ".join(rest.split()),
            {name: " ".join(text.split()) for name, text in arguments},
        )


def _options(hint: Any) -> dict[str, tuple[Any, inspect.Parameter]]:
    """The parameters behind `**options: Unpack[…]`. All are optional."""
    named = get_type_hints(get_args(hint)[0], include_extras=True)
    kind = inspect.Parameter.KEYWORD_ONLY
    return {name: (one, inspect.Parameter(name, kind, default=None)) for name, one in named.items()}


def _is_callback(hint: Any) -> bool:
    """Whether a parameter is a function, which cannot be sent."""
    return any(get_origin(one) is Callable for one in (hint, *get_args(hint)))


def _entries(section: str) -> list[tuple[str, str]]:
    """The entries of a section, `name: text`. Indented lines continue an entry."""
    return re.findall(r"^    (\w+): (.*(?:\n {6,}.*)*)", section, flags=re.MULTILINE)


_FILTERS = Doc.of(SearchFilters).arguments
