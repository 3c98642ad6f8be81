"""What a built-in function is, and how a module of them is written down."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from embedded_cosmos.errors import bad_request
from embedded_cosmos.sql.values import UNDEFINED, Json

Implementation = Callable[..., Json]


@dataclass(frozen=True, slots=True)
class Function:
    """A built-in function of values; unless lenient, one undefined argument makes it undefined."""

    name: str
    call: Implementation
    minimum: int
    maximum: int | None
    lenient: bool = False

    def check_arity(self, arity: int) -> None:
        """Raise 400 unless the function takes so many arguments."""
        if arity >= self.minimum and (self.maximum is None or arity <= self.maximum):
            return
        if self.maximum is None:
            expected = f"at least {self.minimum}"
        elif self.minimum == self.maximum:
            expected = f"{self.minimum}"
        else:
            expected = f"{self.minimum} to {self.maximum}"
        raise bad_request(f"The {self.name} function requires {expected} argument(s), but was given {arity}.")


class Registry(dict[str, Function]):
    """The functions of one module."""

    def add(
        self, name: str, minimum: int, maximum: int | None = -1, *, lenient: bool = False
    ) -> Callable[[Implementation], Implementation]:
        """Register the decorated implementation; without a maximum the arity is fixed, None means any number."""

        def register(call: Implementation) -> Implementation:
            self[name] = Function(name, call, minimum, minimum if maximum == -1 else maximum, lenient)
            return call

        return register


def of_strings(call: Implementation) -> Implementation:
    """The function, undefined unless all its arguments are strings."""

    def checked(*arguments: Json) -> Json:
        return call(*arguments) if all(type(argument) is str for argument in arguments) else UNDEFINED

    return checked
