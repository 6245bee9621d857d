"""What is handed to somebody who has no CDK: a plain template, and the archives of code that it names."""

from __future__ import annotations

import json
import shutil
import tempfile
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from infra.packaging.archive import write_archive
from infra.packaging.plain import plain_template


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """The files: upload the archives, then create a stack from the template."""

    template: Path
    archives: tuple[Path, ...]


def write_bundle(synthesized: Path, out: Path) -> Bundle:
    """The stack that CDK wrote as this template, for people without CDK, in the folder `out`.

    An archive is named by its bytes, so a template that came with other code names another one.

    Raises:
        PackagingError: the template cannot do without CDK's bootstrap.
    """
    out.mkdir(parents=True, exist_ok=True)
    archives = {key: _copied(path, out) for key, path in _code(synthesized).items()}
    template = json.loads(synthesized.read_text(encoding="utf-8"))
    plain = plain_template(template, {key: path.name for key, path in archives.items()})
    written = out / synthesized.name
    written.write_text(json.dumps(plain, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return Bundle(template=written, archives=tuple(sorted(set(archives.values()))))


def _code(synthesized: Path) -> dict[str, Path]:
    """Files and folders beside the template that CDK would upload, by their keys in its bucket."""
    manifest = synthesized.with_name(synthesized.name.replace(".template.json", ".assets.json"))
    files: dict[str, Any] = json.loads(manifest.read_text(encoding="utf-8"))["files"]
    return {
        destination["objectKey"]: synthesized.parent / file["source"]["path"]
        for file in files.values()
        for destination in file["destinations"].values()
        if file["source"]["path"] != synthesized.name
    }


def _copied(code: Path, out: Path) -> Path:
    with tempfile.TemporaryDirectory(dir=out, prefix=".build-") as folder:
        archive = Path(folder) / "code.zip"
        if code.is_dir():
            write_archive(code, archive)
        else:
            shutil.copyfile(code, archive)
        return archive.replace(out / f"driftgate-{sha256(archive.read_bytes()).hexdigest()[:16]}.zip")
