"""Where in AWS something is asked, and as whom."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Location:
    """A region, and the ARN of a role to take there; "": the process's own region, its own identity."""

    region: str = ""
    role: str = ""

    @property
    def account(self) -> str:
        """The account of the role, "" for the process's own."""
        return self.role.split(":")[4] if self.role.count(":") >= 5 else ""


HOME = Location()
"""The process's own region and identity."""
