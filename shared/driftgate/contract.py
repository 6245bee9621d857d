"""Names that cross a border: environment variables, event sources and detail-types, metric names."""

from __future__ import annotations
