"""The functions' code as one archive: our packages, what they load of others, and driftgate.yaml.

The archive is named by what went into it, so what was built once is not built again, and two builds of the same are
the same bytes. Needs neither Docker nor the machine that it is for.
"""

from __future__ import annotations

import logging
import shutil
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from driftgate.contract import CONFIG_FILE
from infra.packaging.archive import write_archive
from infra.packaging.bytecode import compile_all, interpreter
from infra.packaging.contents import ROOT, sources, trim
from infra.packaging.models import cut_models
from infra.packaging.runtime import LAMBDA, Target
from infra.packaging.wheels import PackagingError, install, locked_requirements

KEPT = 8
"""So many archives stay in a folder, the last ones that were asked for: each change of a source makes another."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Inputs:
    """All that the archive's bytes follow from. `python` compiles; None: no bytecode."""

    config: Path
    target: Target
    python: str | None
    requirements: str

    def digest(self) -> str:
        """Of every input, the rules of this package among them."""
        found = sha256(f"{self.target}\n{self.python is not None}\n{self.requirements}\n".encode())
        rules = [(path.name, path) for path in sorted(Path(__file__).parent.glob("*.py"))]
        for name, path in (*rules, *sources(), (CONFIG_FILE, self.config)):
            content = path.read_bytes()
            found.update(f"{name} {len(content)}\n".encode() + content)
        return found.hexdigest()


def build_asset(out: Path, config: Path, *, target: Target = LAMBDA, bytecode: bool = True) -> Path:
    """The archive, in the folder `out`; built only where that does not have it yet.

    Bytecode takes a Python of the target's version; where this machine has none there is none, and a line of the log
    says so.

    Raises:
        PackagingError: there is no such driftgate.yaml, a package has no wheel, or the registry does not answer.
    """
    if not config.is_file():
        raise PackagingError(f"There is no {config}; `driftgate init` writes a first one.")
    python = interpreter(target) if bytecode else None
    inputs = _Inputs(config=config, target=target, python=python, requirements=locked_requirements(ROOT))
    archive = out / f"driftgate-{inputs.digest()[:16]}.zip"
    if not archive.exists():
        out.mkdir(parents=True, exist_ok=True)
        if bytecode and python is None:
            _log.warning("There is no %s on this machine: cold starts will compile, and be slower", target.runtime)
        with tempfile.TemporaryDirectory(dir=out, prefix=".build-") as folder:
            _build(Path(folder), inputs).replace(archive)
        _forget_old(out)
    archive.touch()
    return archive


def _build(work: Path, inputs: _Inputs) -> Path:
    requirements, code, archive = work / "requirements.txt", work / "code", work / "code.zip"
    requirements.write_text(inputs.requirements, encoding="utf-8")
    install(requirements, code, inputs.target)
    trim(code)
    cut_models(code / "botocore" / "data")
    for name, path in (*sources(), (CONFIG_FILE, inputs.config)):
        (code / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, code / name)
    if inputs.python is not None:
        compile_all(code, inputs.python)
    write_archive(code, archive)
    return archive


def _forget_old(out: Path) -> None:
    # another build may be forgetting them, too
    with suppress(FileNotFoundError):
        for path in sorted(out.glob("driftgate-*.zip"), key=lambda path: path.stat().st_mtime)[:-KEPT]:
            path.unlink()
