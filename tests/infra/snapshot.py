"""The whole template of a fleet, as it was when a person last looked at it: `python -m tests.infra.snapshot` renews it.

Only the hashes of the functions' code are left out.
"""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path

from tests.infra.templates import FLEET, Template, template_of

KEPT = Path(__file__).with_name("snapshot.json")
_HASH = re.compile(r"\b[0-9a-f]{64}\b")


def text_of(template: Template) -> str:
    return _HASH.sub("HASH", json.dumps(template.body, indent=1, sort_keys=True, ensure_ascii=False)) + "\n"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        KEPT.write_text(text_of(template_of(FLEET, Path(folder))), encoding="utf-8")
