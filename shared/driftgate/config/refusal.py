"""How a validator says no: what is wrong, and what to write instead."""

from __future__ import annotations

from pydantic_core import PydanticCustomError

from driftgate.domain.errors import InvalidInputError

REFUSED = "refused"


def refusal(message: str, remedy: str) -> PydanticCustomError:
    """The error to raise in a validator; it becomes one problem with the place of the value."""
    return PydanticCustomError(REFUSED, "{message}", {"message": message, "remedy": remedy})


def refusal_of(error: InvalidInputError) -> PydanticCustomError:
    """The same for what the domain refused, with the place within the value."""
    message = f"{error.place}: {error.message}" if error.place else error.message
    return refusal(message, error.remedy or "Write something else there.")
