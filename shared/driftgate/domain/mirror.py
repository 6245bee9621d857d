"""How our own parameters are called that mirror others: `/driftgate/<deployment>/seen/<region>/…`.

A public parameter keeps its path. Any other stands under `custom/<account>`, its name in one element, because a name
may hold what ours may not (an ARN's colons) and be as deep as names can be.
"""

from __future__ import annotations

import re
from functools import lru_cache

from driftgate.domain.image_streams import PUBLIC, REMEMBERED

_SEEN = re.compile(r"/driftgate/[^/]+/seen/[^/]+/(?P<tail>.+)")
_CUSTOM = re.compile(r"custom/[^/]+/(?P<name>[^/]+)")
_OWN_ACCOUNT = "own"
_ESCAPES = {"_": "__", "/": "_.", ":": "_-"}
_UNESCAPED = {escape: character for character, escape in _ESCAPES.items()}


def mirror_tail(region: str, name: str, account: str = "") -> str:
    """What follows `…/seen/` for a parameter; `account` is that of one that is not public, "" for our own."""
    if name.startswith(PUBLIC):
        return f"{region}/{name.removeprefix(PUBLIC)}"
    escaped = re.sub("[_/:]", lambda found: _ESCAPES[found[0]], name)
    return f"{region}/custom/{account or _OWN_ACCOUNT}/{escaped}"


@lru_cache(maxsize=REMEMBERED)
def mirrored(name: str) -> str | None:
    """What one of our mirrors mirrors; None where the name is not one's."""
    found = _SEEN.fullmatch(name)
    if found is None:
        return None
    tail = found["tail"]
    custom = _CUSTOM.fullmatch(tail)
    if custom is None:
        return PUBLIC + tail
    return re.sub("_[_.-]", lambda escape: _UNESCAPED[escape[0]], custom["name"])
