"""Kubernetes quantities (`4`, `3920m`, `16Gi`, `1e3`) as exact numbers.

Source: Kubernetes, k8s.io/apimachinery/pkg/api/resource/quantity.go.
"""

from __future__ import annotations

import re
from fractions import Fraction

_QUANTITY = re.compile(r"([+-]?)(\d+\.?\d*|\.\d+)(?:[eE]([+-]?\d{1,3})|([numkMGTPE]|[KMGTPE]i)?)")
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}


def parse_quantity(text: str) -> Fraction | None:
    """The exact value, None where the API server would not take the text."""
    found = _QUANTITY.fullmatch(text)
    if found is None:
        return None
    sign, digits, exponent, suffix = found.groups()
    value = Fraction(digits) * (-1 if sign == "-" else 1)
    if suffix in _BINARY:
        return value * Fraction(2 ** _BINARY[suffix])
    power = _DECIMAL[suffix or ""] if exponent is None else int(exponent)
    return value * Fraction(10**power) if power >= 0 else value / Fraction(10**-power)


def format_quantity(value: Fraction) -> str:
    """The value for a person: whole, or with up to three decimals."""
    return f"{float(value):.3f}".rstrip("0").rstrip(".")
