"""What every map of driftgate.yaml has in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Map(BaseModel):
    """A map that knows all its keys and takes no value for another kind of value."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)
