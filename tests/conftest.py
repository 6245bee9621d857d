"""What holds for every test: nothing leaves the loopback, and properties do not depend on how fast a machine is."""

from __future__ import annotations

import ipaddress
import os
import socket
import sys
from typing import Any

from hypothesis import HealthCheck, settings

settings.register_profile("default", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("thorough", parent=settings.get_profile("default"), max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


def _stays_on_the_loopback(event: str, arguments: tuple[Any, ...]) -> None:
    """Refuses connections and look-ups of anything but this machine; a reserved name is simply not found."""
    if event == "socket.connect":
        address = arguments[1]
        host = address[0] if isinstance(address, tuple) else ""
    elif event == "socket.getaddrinfo":
        host = arguments[0] or ""
    else:
        return
    if str(host).endswith(".invalid"):
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
    if not _is_local(host):
        raise PermissionError(f"a test tried to reach {host}: nothing may leave the loopback")


def _is_local(host: object) -> bool:
    if not isinstance(host, str) or host in ("", "localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


sys.addaudithook(_stays_on_the_loopback)
