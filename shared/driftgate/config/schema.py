"""The JSON schema of driftgate.yaml, for editors; `load_config` checks more than a schema can say."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from driftgate.config.model import Document
from driftgate.domain.duration import format_duration


def json_schema() -> dict[str, object]:
    """The schema of the whole file, with every default."""
    schema = Document.model_json_schema(by_alias=True, schema_generator=_Generator)
    return {"$schema": _Generator.schema_dialect, "title": "driftgate.yaml", **schema}


class _Generator(GenerateJsonSchema):
    """Writes durations as people do, and leaves out null, which the file does not have."""

    def encode_default(self, dft: Any) -> Any:
        return format_duration(dft) if isinstance(dft, timedelta) else super().encode_default(dft)

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        found = super().default_schema(schema)
        return {key: value for key, value in found.items() if key != "default" or value is not None}

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])
