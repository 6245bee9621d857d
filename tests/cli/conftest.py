"""Every test has a desk of its own."""

from tests.cli.fixtures import desk, home, new_desk, run

__all__ = ["desk", "home", "new_desk", "run"]
