"""A deployment that tells people on every way there is."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.infra.templates import Template, template_of

SECRET = "arn:aws:secretsmanager:eu-central-1:111122223333:secret:slack-a1B2c3"
TOLD = f"""\
deployment:
  name: prod
  emails: [ops@example.com, night@example.com]
  chat: {{workspace: T0123ABCD, channel: C0123ABCD}}
  slack: {{secret: "{SECRET}", channel: C0456EFGH}}
  placements:
    - {{name: eu, subnets: [subnet-0a1b2c3d], security_groups: [sg-0a1b2c3d]}}
guards: {{alarms: [shop-5xx]}}
clusters: [test, {{name: shop, placement: eu}}]
"""
WEBHOOK = f"""\
deployment: {{name: prod, slack: {{secret: "{SECRET}"}}}}
cluster: demo
guards: {{alarms: none}}
"""


@cache
def told(config: str = TOLD) -> Template:
    """Synthesized once in a session."""
    with TemporaryDirectory() as folder:
        return template_of(config, Path(folder))
