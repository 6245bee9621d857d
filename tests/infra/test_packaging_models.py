"""What is cut out of botocore's descriptions, on a small one made by hand."""

from __future__ import annotations

import gzip
import json
from typing import Any

from infra.packaging.models import cut_models

MODEL: dict[str, Any] = {
    "metadata": {"endpointPrefix": "compute", "serviceId": "EC2"},
    "documentation": "<p>All of it.</p>",
    "operations": {
        "DescribeImages": {
            "name": "DescribeImages",
            "input": {"shape": "Asked"},
            "output": {"shape": "Found"},
            "errors": [{"shape": "Refused"}],
            "documentation": "<p>Describes.</p>",
        },
        "RunInstances": {"name": "RunInstances", "input": {"shape": "Order"}},
    },
    "shapes": {
        "Asked": {"type": "structure", "members": {"documentation": {"shape": "Text", "documentation": "<p>!</p>"}}},
        "Found": {"type": "list", "member": {"shape": "Node"}},
        "Node": {"type": "structure", "required": ["documentation"], "members": {"Child": {"shape": "Node"}}},
        "Refused": {"type": "structure", "members": {}, "exception": True},
        "Text": {"type": "string", "enum": ["documentation"]},
        "Order": {"type": "structure", "members": {"Size": {"shape": "Size"}}},
        "Size": {"type": "integer"},
    },
}


def data(tmp_path, service, model):
    """botocore's folder with one service."""
    folder = tmp_path / service / "2016-11-15"
    folder.mkdir(parents=True)
    (folder / "service-2.json.gz").write_bytes(gzip.compress(json.dumps(model).encode()))
    services: dict[str, Any] = {"compute": {"endpoints": {"here": {}}}, "storage": {"endpoints": {"here": {}}}}
    partition = {"partition": "aws", "regions": {"here": {"description": "Here"}}, "services": services}
    (tmp_path / "endpoints.json").write_text(json.dumps({"version": 3, "partitions": [partition]}))
    cut_models(tmp_path)
    return json.loads((folder / "service-2.json").read_text())


def test_of_ec2_stay_the_operations_that_are_asked_for_with_their_shapes(tmp_path):
    found = data(tmp_path, "ec2", MODEL)

    assert list(found["operations"]) == ["DescribeImages"]
    assert list(found["shapes"]) == ["Asked", "Found", "Node", "Refused", "Text"]


def test_of_others_stays_every_operation(tmp_path):
    found = data(tmp_path, "dynamodb", MODEL)

    assert found["operations"].keys() == MODEL["operations"].keys()
    assert found["shapes"].keys() == MODEL["shapes"].keys()


def test_documentation_goes_and_what_is_only_called_so_stays(tmp_path):
    found = data(tmp_path, "ec2", MODEL)

    assert "documentation" not in found
    assert "documentation" not in found["operations"]["DescribeImages"]
    assert found["shapes"]["Asked"] == {"type": "structure", "members": {"documentation": {"shape": "Text"}}}
    assert found["shapes"]["Node"]["required"] == ["documentation"]
    assert found["shapes"]["Text"]["enum"] == ["documentation"]


def test_of_the_endpoints_stay_those_of_the_services_and_every_region(tmp_path):
    data(tmp_path, "ec2", MODEL)

    (partition,) = json.loads((tmp_path / "endpoints.json").read_text())["partitions"]
    assert partition["services"] == {"compute": {"endpoints": {"here": {}}}}
    assert partition["regions"] == {"here": {"description": "Here"}}


def test_the_packed_description_is_gone(tmp_path):
    data(tmp_path, "ec2", MODEL)

    assert [path.name for path in tmp_path.rglob("*.json*")] == ["endpoints.json", "service-2.json"]
