"""Which VPC endpoints a placement needs where its subnets have no way to the internet.

Source: aws docs, eks/latest/userguide/private-clusters (2026).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """One endpoint of a VPC; a gateway costs nothing, an interface is billed by hour and zone."""

    service: str
    kind: str
    why: str

    def to_object(self) -> dict[str, object]:
        return {"service": self.service, "kind": self.kind, "why": self.why}


_INTERFACES = (
    ("eks", "to ask for the address of the cluster"),
    ("sqs", "to queue the next slice of a roll"),
    ("events", "to tell others what was done"),
    ("sns", "to tell people"),
    ("ssm", "to read image parameters and Change Calendars"),
    ("monitoring", "to read alarms"),
    ("ec2", "to describe images"),
)
_ROLES = ("sts", "to take the roles of other accounts")
_GATEWAY = ("dynamodb", "the ledger")


def endpoints_of(region: str, *, takes_roles: bool) -> tuple[Endpoint, ...]:
    """Those in a region ("" where it is not known). The token for the cluster is signed without asking anybody."""
    interfaces = (*_INTERFACES, _ROLES) if takes_roles else _INTERFACES
    return (
        Endpoint(service=_name(region, _GATEWAY[0]), kind="Gateway", why=_GATEWAY[1]),
        *(Endpoint(service=_name(region, name), kind="Interface", why=why) for name, why in interfaces),
    )


def _name(region: str, service: str) -> str:
    return f"com.amazonaws.{region or 'REGION'}.{service}"
