"""An archive whose bytes follow from names and contents alone: no times, no owners, one order, fixed permissions."""

from __future__ import annotations

import stat
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

_EPOCH = (1980, 1, 1, 0, 0, 0)
_UNIX = 3
_READ_BY_ALL = stat.S_IFREG | 0o644


def write_archive(folder: Path, archive: Path) -> None:
    """Every file of the folder, under its path in it."""
    files = sorted((path.relative_to(folder).as_posix(), path) for path in folder.rglob("*") if path.is_file())
    with ZipFile(archive, "w") as bundle:
        for name, path in files:
            entry = ZipInfo(name, _EPOCH)
            entry.create_system = _UNIX
            entry.external_attr = _READ_BY_ALL << 16
            bundle.writestr(entry, path.read_bytes(), ZIP_DEFLATED, compresslevel=6)
