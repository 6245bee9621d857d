"""The archive itself: the same bytes from the same inputs, for Lambda's machine, and nothing in it that is not used."""

from __future__ import annotations

import sys
from fnmatch import fnmatch
from pathlib import Path
from zipfile import ZipFile

import pytest

from infra.packaging import LAMBDA, PackagingError, build_asset
from infra.packaging.bytecode import interpreter
from infra.packaging.contents import ASSETS
from infra.packaging.runtime import Target, this_machine
from infra.packaging.wheels import install, locked_requirements
from tests.infra.packaged import CONFIG, unpack

pytestmark = pytest.mark.slow

AARCH64 = 0xB7
"""`e_machine` of an ELF header. Source: the ELF supplement for the Arm 64-bit architecture."""


@pytest.fixture(scope="module")
def archive():
    """The archive that a function would get if Lambda were this machine."""
    return build_asset(ASSETS, CONFIG, target=this_machine())


@pytest.fixture(scope="module")
def lambda_archive():
    """The archive for Lambda as a machine without its Python builds it."""
    return build_asset(ASSETS, CONFIG, bytecode=False)


@pytest.fixture(scope="module")
def for_lambda(lambda_archive, tmp_path_factory):
    return unpack(lambda_archive, tmp_path_factory.mktemp("lambda"))


def test_two_builds_are_the_same_bytes_and_the_second_needs_no_registry(archive, tmp_path, monkeypatch):
    monkeypatch.setenv("UV_OFFLINE", "1")

    second = build_asset(tmp_path / "deep" / "down", CONFIG, target=this_machine())

    assert second != archive
    assert second.name == archive.name
    assert second.read_bytes() == archive.read_bytes()


def test_what_was_built_is_not_built_again(archive):
    before = archive.stat().st_ino

    assert build_asset(ASSETS, CONFIG, target=this_machine()) == archive
    assert archive.stat().st_ino == before


def test_another_driftgate_yaml_makes_another_archive(lambda_archive, tmp_path):
    config = tmp_path / "own.yaml"
    config.write_text("mode: observe\ncluster: demo\n")

    built = build_asset(ASSETS, config, bytecode=False)

    assert built != lambda_archive
    assert ZipFile(built).read("driftgate.yaml") == config.read_bytes()


def test_entries_are_sorted_undated_and_readable_by_all(archive):
    with ZipFile(archive) as bundle:
        entries = bundle.infolist()

    names = [entry.filename for entry in entries]
    assert names == sorted(names)
    assert {(entry.date_time, entry.external_attr >> 16) for entry in entries} == {((1980, 1, 1, 0, 0, 0), 0o100644)}


def test_every_binary_is_for_the_machine_and_the_python_of_lambda(for_lambda):
    binaries = sorted(for_lambda.rglob("*.so"))

    assert {path.name.partition(".")[0] for path in binaries} >= {"_pydantic_core", "_yaml", "_wrappers"}
    assert {int.from_bytes(path.read_bytes()[18:20], "little") for path in binaries} == {AARCH64}
    assert {path.suffixes[0] for path in binaries} == {f".cpython-{LAMBDA.python.replace('.', '')}-aarch64-linux-gnu"}


def test_the_unpacked_archive_is_far_below_sixty_megabytes(for_lambda):
    assert 10e6 < unpacked_bytes(for_lambda) < 25e6


def test_with_bytecode_it_is_below_sixty_megabytes(archive):
    with ZipFile(archive) as bundle:
        assert sum(entry.file_size for entry in bundle.infolist()) < 40e6


def unpacked_bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


UNWANTED = (
    "*/RECORD",
    "*/INSTALLER",
    "*/REQUESTED",
    "*/direct_url.json",
    "*/uv_cache.json",
    "*/tests/*",
    "*/test_*",
    "*.pyi",
    "pip/*",
    "setuptools/*",
    "bin/*",
    "boto3/*",
    "s3transfer/*",
    "kubernetes/aio/*",
    "kubernetes/docs/*",
    "kubernetes/client/models/*",
    "kubernetes/client/api/*",
    "driftgate/cli/*",
    "driftgate/sim/*",
    "driftgate/laptop.py",
    "infra/*",
)


@pytest.mark.parametrize("pattern", UNWANTED)
def test_what_no_function_needs_stays_out(archive, pattern):
    with ZipFile(archive) as bundle:
        assert [name for name in bundle.namelist() if fnmatch(name, pattern)] == []


def test_what_is_installed_and_its_licences_can_be_read(for_lambda):
    named = {path.parent.name.partition("-")[0] for path in for_lambda.glob("*.dist-info/METADATA")}

    assert {"botocore", "kubernetes", "pydantic_core", "urllib3"} <= named
    assert list(for_lambda.glob("botocore-*.dist-info/**/LICENSE*"))


def test_without_lambda_s_python_there_is_no_bytecode_and_a_line_says_so(tmp_path, monkeypatch, caplog):
    monkeypatch.setenv("PATH", str(tmp_path))
    other = Target(python="3.14" if sys.version_info[:2] != (3, 14) else "3.13")

    built = build_asset(tmp_path / "out", CONFIG, target=other)

    assert not [name for name in ZipFile(built).namelist() if name.endswith(".pyc")]
    assert [record.getMessage() for record in caplog.records] == [
        f"There is no {other.runtime} on this machine: cold starts will compile, and be slower"
    ]


def test_a_python_that_only_has_the_name_does_not_compile(tmp_path, monkeypatch):
    shim = tmp_path / "python3.99"
    shim.write_text("#!/bin/sh\necho cpython 3 98 final /bin/sh\n")
    shim.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    assert interpreter(Target(python="3.99")) is None


def test_the_lock_names_every_package_with_its_hash():
    wanted = [line for line in locked_requirements(CONFIG.parents[1]).splitlines() if line[0].isalpha()]

    assert any(line.startswith("pydantic-core==") for line in wanted)
    assert all("==" in line and line.endswith("\\") for line in wanted)
    assert not [line for line in wanted if line.startswith(("typer", "pytest", "moto", "aws-cdk"))]


def test_a_driftgate_yaml_that_is_not_there_is_told(tmp_path):
    with pytest.raises(PackagingError, match=r"There is no .*none\.yaml; `driftgate init` writes a first one"):
        build_asset(tmp_path, tmp_path / "none.yaml")


def test_a_project_without_a_lock_is_told(tmp_path):
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "x"\nversion = "1"\nrequires-python = ">=3.11"\n')

    with pytest.raises(PackagingError, match="run `uv lock`"):
        locked_requirements(tmp_path)


def test_a_wheel_with_another_hash_is_refused(tmp_path):
    requirements = tmp_path / "requirements.txt"
    requirements.write_text(f"six==1.17.0 --hash=sha256:{'0' * 64}\n")

    with pytest.raises(PackagingError, match=r"could not be installed:\n(.|\n)*ash"):
        install(requirements, tmp_path / "code", this_machine())
