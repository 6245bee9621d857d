import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from driftgate.config import json_schema, load_config

DOCS = Path(__file__).parents[2] / "docs"
ROW = re.compile(r"^\| `(?P<key>[a-z_.]+)` \| (?:`(?P<default>[^`]+)`)?", re.MULTILINE)
BLOCK = re.compile(r"```yaml\n(.*?)```", re.DOTALL)
ITEM_LISTS = {"windows", "blackouts", "guards.alarms", "pools", "clusters"}


def schema() -> dict[str, Any]:
    return json_schema()


def defaults(level: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, object]]:
    """Every key that has a value of its own, with its default (None where the file has no word for it)."""
    definitions = schema()["$defs"]
    for key, entry in level["properties"].items():
        path = f"{prefix}{key}"
        if "$ref" in entry:
            yield from defaults(definitions[entry["$ref"].rsplit("/", 1)[-1]], f"{path}.")
        else:
            yield path, None if path in ITEM_LISTS else entry.get("default")


def test_documentation_lists_every_key_with_its_default():
    text = (DOCS / "configuration.md").read_text(encoding="utf-8")
    documented = {row["key"]: row["default"] for row in ROW.finditer(text)}

    expected = {
        key: None if default is None else default if isinstance(default, str) else json.dumps(default)
        for key, default in defaults(schema())
    }

    assert documented == expected


def test_every_example_of_the_documentation_loads():
    blocks = BLOCK.findall((DOCS / "configuration.md").read_text(encoding="utf-8"))

    assert len(blocks) == 7
    for block in blocks:
        load_config(block if "cluster" in block else f"cluster: demo\n{block}", "configuration.md")


def test_schema_is_json_and_knows_no_null():
    text = json.dumps(schema())

    assert '"null"' not in text
    assert json.loads(text)["$schema"] == "https://json-schema.org/draft/2020-12/schema"


def test_schema_takes_a_name_in_place_of_a_map():
    pools = schema()["properties"]["pools"]

    assert pools["items"] == {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/Pool"}]}
    assert pools["minItems"] == 1


def test_schema_takes_a_list_of_alarms_or_none():
    alarms = schema()["$defs"]["Guards"]["properties"]["alarms"]

    assert {"const": "none", "type": "string"} in alarms["anyOf"]
    assert [entry for entry in alarms["anyOf"] if entry["type"] == "array"] != []


def test_schema_refuses_unknown_keys_everywhere():
    found = schema()

    assert all(entry["additionalProperties"] is False for entry in (found, *found["$defs"].values()))
