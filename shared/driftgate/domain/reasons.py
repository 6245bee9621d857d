"""The codes that people script against: stable, never reused, explained in one sentence each.

`docs/reasons.md` is generated from `REASONS`; a test holds the two together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
