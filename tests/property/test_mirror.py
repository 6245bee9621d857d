"""Every parameter has a mirror of its own, with a name that Systems Manager takes, and is known again by it."""

import re

from hypothesis import given
from hypothesis import strategies as st

from driftgate.domain.image_streams import parameter_of, streams_of_alias
from driftgate.domain.mirror import mirror_tail, mirrored

NAMES = st.from_regex(r"/?[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+){0,14}(:[A-Za-z0-9_.-]+)?", fullmatch=True)
ARNS = NAMES.map(lambda name: f"arn:aws:ssm:eu-central-1:111122223333:parameter/{name.lstrip('/')}")
CUSTOM = (NAMES | ARNS).filter(lambda name: not name.startswith("/aws/service/"))
ACCOUNTS = st.sampled_from(["", "111122223333", "444455556666"])
PREFIX = "/driftgate/demo/seen/"


@given(CUSTOM, ACCOUNTS)
def test_an_own_parameter_is_known_again_by_its_mirror(name, account):
    assert mirrored(PREFIX + mirror_tail("eu-central-1", name, account)) == name


@given(CUSTOM, ACCOUNTS, CUSTOM, ACCOUNTS)
def test_no_two_parameters_share_a_mirror(name, account, other, others):
    is_same = mirror_tail("eu-central-1", name, account) == mirror_tail("eu-central-1", other, others)

    assert is_same == ((name, account) == (other, others))


@given(CUSTOM, ACCOUNTS)
def test_a_mirrors_name_has_only_what_systems_manager_takes_and_is_not_deep(name, account):
    found = PREFIX + mirror_tail("ap-southeast-2", name, account)

    assert re.fullmatch(r"(/[A-Za-z0-9_.-]+){1,15}", found)


@given(st.sampled_from(["al2023", "bottlerocket", "windows2022"]), st.sampled_from(["latest", "v20260901"]))
def test_a_public_parameter_keeps_its_path_and_is_known_again(family, version):
    for stream in streams_of_alias(family, "1.34"):
        name = parameter_of(stream, version)
        tail = mirror_tail("us-east-1", name, "444455556666")

        assert tail == f"us-east-1/{name.removeprefix('/aws/service/')}"
        assert mirrored(PREFIX + tail) == name
        assert (PREFIX + tail).count("/") <= 15


def test_what_is_no_mirror_mirrors_nothing():
    assert mirrored("/aws/service/eks/x") is None
    assert mirrored("/driftgate/demo/channel/stable") is None
