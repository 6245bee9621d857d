"""Every function, from the archive that would be uploaded, with nothing else on its path."""

from __future__ import annotations

import ast
import json
import sys

import pytest
from botocore import xform_name
from botocore.config import Config
from botocore.session import get_session

from infra.packaging.contents import AWS_SERVICES, LAPTOP, ROOT
from infra.packaging.models import OPERATIONS
from tests.bench.cold_starts import FUNCTIONS, start, surroundings
from tests.infra.packaged import for_this_machine, run_alone

pytestmark = pytest.mark.slow

INVOKE = """
import importlib, json
name, event = sys.argv[1:]
class Context:
    function_name = memory_limit_in_mb = invoked_function_arn = aws_request_id = "x"
    get_remaining_time_in_millis = lambda _: 60_000
handler = importlib.import_module(f"functions.{name}.handler").handler
handler(json.loads(event), Context())
"""
IMPORT_ALL = """
import importlib, json
missing = []
for module, name in json.loads(sys.argv[1]):
    try:
        found = importlib.import_module(module)
        if name and not hasattr(found, name):
            importlib.import_module(f"{module}.{name}")
    except ImportError as error:
        missing.append(str(error))
print(json.dumps(missing))
"""
CREATE_CLIENT = """
from driftgate.adapters.aws_session import AwsSession
from driftgate.adapters.system_clock import SystemClock
print(AwsSession(SystemClock(), "eu-central-1").client(sys.argv[1]).meta.service_model.service_name)
"""
SAMPLED = "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1"


@pytest.fixture(scope="module")
def asset(tmp_path_factory):
    return for_this_machine(tmp_path_factory.mktemp("asset"))


def handlers():
    return sorted(path.parent.name for path in (ROOT / "functions").glob("*/handler.py"))


def event(name):
    """As AWS would send it; an answer that it asks for would reach nobody."""
    found = json.loads((ROOT / "tests" / "events" / f"{FUNCTIONS[name]}.json").read_text())
    return json.dumps(found | ({"ResponseURL": "http://127.0.0.1:9/"} if "ResponseURL" in found else {}))


@pytest.mark.parametrize("name", handlers())
def test_a_function_runs_until_it_asks_for_its_environment(asset, name):
    ran = run_alone(asset, INVOKE, name, event(name))

    assert "InvalidSettingsError: environment: " in ran.stderr + ran.stdout
    assert "DRIFTGATE_TABLE: is missing" in ran.stderr + ran.stdout


@pytest.fixture(scope="module")
def variables(tmp_path_factory):
    with surroundings(tmp_path_factory.mktemp("around")) as found:
        yield found


@pytest.mark.parametrize("name", handlers())
def test_a_function_does_its_work_from_the_archive_alone(asset, variables, name):
    """AWS, a cluster of EKS behind TLS and Slack, on the loopback; only what needs the cluster loads its client."""
    start(asset, name, "first", variables)


def test_a_sampled_invocation_is_traced_with_what_is_in_the_archive(asset):
    loaded = "\nimport atexit; atexit.register(lambda: print('traced', 'aws_xray_sdk.ext.botocore' in sys.modules))\n"

    ran = run_alone(
        asset,
        loaded + INVOKE,
        "evaluate_drift",
        event("evaluate_drift"),
        _X_AMZN_TRACE_ID=SAMPLED,
        LAMBDA_TASK_ROOT=str(asset),
    )

    assert "DRIFTGATE_TABLE: is missing" in ran.stderr
    assert ran.stdout.splitlines()[-1] == "traced True"


def test_every_import_of_ours_finds_its_module_in_the_archive(asset):
    wanted = sorted({found for path in asset.rglob("*.py") if is_ours(asset, path) for found in imports_of(path)})

    ran = run_alone(asset, IMPORT_ALL, json.dumps(wanted))

    assert ("botocore.session", "get_session") in wanted
    assert json.loads(ran.stdout) == []


def is_ours(asset, path):
    return path.relative_to(asset).parts[0] in ("driftgate", "functions")


def imports_of(path):
    """Modules and names that a file imports at run time, wherever in it."""
    for node in ast.walk(without_checks(ast.parse(path.read_text()))):
        if isinstance(node, ast.Import):
            yield from ((name.name, "") for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield from ((node.module, name.name) for name in node.names)


def without_checks(tree):
    """The module without what only a type checker imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = [ast.Pass()]
    return tree


def test_the_kubernetes_transport_comes_up(asset):
    code = """
from driftgate.adapters.kubernetes_parts import new_configuration, new_transport
print(type(new_transport(new_configuration())).__name__)
"""
    assert run_alone(asset, code).stdout == "PoolManager\n"


def asked_services():
    """The services that our adapters make clients of, by the first argument of every call of `client`."""
    for path in (ROOT / "shared" / "driftgate").rglob("*.py"):
        if path.relative_to(ROOT / "shared").as_posix().startswith(LAPTOP):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "client":
                yield ast.literal_eval(node.args[0])


def test_exactly_the_services_that_are_asked_for_have_their_models():
    assert sorted(set(asked_services())) == sorted(AWS_SERVICES)


@pytest.mark.parametrize("service", sorted(set(asked_services())))
def test_a_client_of_each_service_is_made_from_what_is_in_the_archive(asset, service):
    keys = {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing"}

    ran = run_alone(asset, CREATE_CLIENT, service, **keys)

    assert (ran.stdout, ran.stderr) == (f"{service}\n", "")


ENDPOINTS = """
import json
from botocore.config import Config
from botocore.session import get_session
session, found = get_session(), []
for service, region, options in json.loads(sys.argv[1]):
    client = session.create_client(service, region_name=region, config=Config(**options))
    found.append([client.meta.endpoint_url, client.meta.service_model.signing_name, client.meta.region_name])
print(json.dumps(found))
"""
PLACES = [
    ("eu-central-1", {}),
    ("us-east-1", {"use_fips_endpoint": True}),
    ("eu-west-1", {"use_dualstack_endpoint": True}),
    ("cn-north-1", {}),
    ("us-gov-west-1", {}),
]


def test_clients_go_where_those_of_the_whole_botocore_go(asset):
    wanted = [(service, region, options) for service in AWS_SERVICES for region, options in PLACES]

    own = json.loads(run_alone(asset, ENDPOINTS, json.dumps(wanted)).stdout)

    session = get_session()
    assert own == [whole_client(session, *each) for each in wanted]


def whole_client(session, service, region, options):
    client = session.create_client(service, region_name=region, config=Config(**options))
    return [client.meta.endpoint_url, client.meta.service_model.signing_name, client.meta.region_name]


@pytest.mark.parametrize("service", OPERATIONS)
def test_exactly_the_operations_that_are_asked_for_are_kept_where_others_are_not(service):
    asked = {name for path in (ROOT / "shared" / "driftgate").rglob("*.py") for name in asked_operations(path, service)}

    assert asked == {xform_name(operation) for operation in OPERATIONS[service]}


def asked_operations(path, service):
    """What a file takes of the clients of a service that it makes and gives a name."""
    tree = ast.parse(path.read_text())
    clients = {name for node in ast.walk(tree) for name in named_clients(node, service)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in clients:
            yield node.attr


def named_clients(node, service):
    if isinstance(node, (ast.Assign, ast.AnnAssign)) and isinstance(node.value, ast.Call):
        call, targets = node.value, node.targets if isinstance(node, ast.Assign) else [node.target]
        is_client = isinstance(call.func, ast.Attribute) and call.func.attr == "client"
        if is_client and ast.literal_eval(call.args[0]) == service:
            yield from (target.id for target in targets if isinstance(target, ast.Name))


def test_a_service_without_its_model_is_told(asset):
    keys = {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing"}

    assert "UnknownServiceError" in run_alone(asset, CREATE_CLIENT, "glacier", **keys).stderr


def test_bytecode_lies_beside_every_module_and_is_not_checked_against_it(asset):
    modules = list(asset.rglob("*.py"))
    tag = f".{sys.implementation.cache_tag}.pyc"

    flags = {(path.parent / "__pycache__" / (path.stem + tag)).read_bytes()[4:8] for path in modules}

    assert len(modules) > 500
    assert flags == {b"\x01\0\0\0"}


def test_bytecode_names_files_as_lambda_has_them_and_not_where_it_was_built(asset):
    bytecode = (asset / "driftgate" / "__pycache__" / f"contract.{sys.implementation.cache_tag}.pyc").read_bytes()

    assert b"/var/task/driftgate/contract.py" in bytecode
    assert str(ROOT).encode() not in bytecode


def test_the_machine_s_own_packages_are_out_of_reach(asset):
    ran = run_alone(asset, "import pytest")

    assert "ModuleNotFoundError: No module named 'pytest'" in ran.stderr
