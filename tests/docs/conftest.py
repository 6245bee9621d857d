"""Every test has a desk of its own."""

from tests.cli.fixtures import desk, home, new_desk, run
from tests.infra.conftest import fleet

__all__ = ["desk", "fleet", "home", "new_desk", "run"]
