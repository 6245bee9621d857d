"""Synthesizing takes seconds, so each template is made once in a session."""

from __future__ import annotations

import pytest

from tests.infra.templates import FLEET, SMALL, Template, template_of


@pytest.fixture(scope="session")
def small(tmp_path_factory) -> Template:
    """One cluster, one alarm, one calendar, and all defaults."""
    return template_of(SMALL, tmp_path_factory.mktemp("small"))


@pytest.fixture(scope="session")
def fleet(tmp_path_factory) -> Template:
    """Clusters here, in a VPC, in another region and in another account."""
    return template_of(FLEET, tmp_path_factory.mktemp("fleet"))
