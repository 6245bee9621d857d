"""Reads the five fields of a schedule into bits, in the dialect of robfig/cron that Karpenter uses.

Source: github.com/robfig/cron/v3 v3.0.1, parser.go. Its oddities are kept on purpose, because Karpenter has
them: an empty list such as `,` is no error and never matches, `*-5` is a star, `+5` is a number.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from driftgate.domain import cron_advice as advice
from driftgate.domain.errors import CronError
from driftgate.domain.gosyntax import atoi


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldRule:
    """What one field may hold: bounds included, names as robfig/cron knows them (lower case)."""

    name: str
    low: int
    high: int
    names: Mapping[str, int] = field(default_factory=dict)


MINUTE = FieldRule(name="minute", low=0, high=59)
HOUR = FieldRule(name="hour", low=0, high=23)
DAY_OF_MONTH = FieldRule(name="day of month", low=1, high=31)
MONTH = FieldRule(
    name="month", low=1, high=12, names={name: number for number, name in enumerate(advice.MONTHS, start=1)}
)
DAY_OF_WEEK = FieldRule(
    name="day of week", low=0, high=6, names={name: number for number, name in enumerate(advice.WEEKDAYS)}
)
FIELDS = (MINUTE, HOUR, DAY_OF_MONTH, MONTH, DAY_OF_WEEK)


@dataclass(frozen=True, slots=True)
class FieldBits:
    """Which values match (bit n for value n), and whether a star stands in the field."""

    bits: int
    is_star: bool = False


@dataclass(frozen=True, slots=True)
class _Piece:
    """One part of a comma list, with its position in the schedule."""

    rule: FieldRule
    text: str
    position: int

    def error(self, message: str, suggestion: str = "") -> CronError:
        return CronError(message, field=self.rule.name, position=self.position, suggestion=suggestion)


def read_field(rule: FieldRule, text: str, position: int) -> FieldBits:
    """The values that the field matches.

    Raises:
        CronError: a value, range or step that robfig/cron refuses; `position` is that part's, in the schedule.
    """
    bits, is_star = 0, False
    for found in re.finditer(r"[^,]+", text):
        piece = _read_piece(_Piece(rule, found[0], position + found.start()))
        bits |= piece.bits
        is_star = is_star or piece.is_star
    return FieldBits(bits, is_star)


def _read_piece(piece: _Piece) -> FieldBits:
    span, *steps = piece.text.split("/")
    low_text, *high_texts = span.split("-")
    is_star = low_text in ("*", "?")
    if is_star:
        low, high = piece.rule.low, piece.rule.high
    else:
        low, high = _bounds(piece, low_text, high_texts)
    if len(steps) > 1:
        raise piece.error(f"{piece.text!r} has more than one '/'")
    step = _number(piece, steps[0]) if steps else 1
    if steps and not high_texts:
        high = piece.rule.high
    _check(piece, low, high, step)
    return FieldBits(_bits(low, high, step), is_star and step == 1)


def _bounds(piece: _Piece, low_text: str, high_texts: list[str]) -> tuple[int, int]:
    low = _value(piece, low_text)
    if len(high_texts) > 1:
        raise piece.error(f"{piece.text!r} has more than one '-'")
    return low, _value(piece, high_texts[0]) if high_texts else low


def _value(piece: _Piece, text: str) -> int:
    # Go lowers this one letter to a plain i, Python to an i with a dot.
    named = piece.rule.names.get(text.replace("İ", "i").lower())
    return _number(piece, text) if named is None else named


def _number(piece: _Piece, text: str) -> int:
    value = atoi(text)
    if value is None:
        raise piece.error(
            advice.unreadable(piece.rule.name, piece.text, text),
            advice.known_name(piece.text, text, piece.rule.names),
        )
    if value < 0:
        raise piece.error(f"{piece.text!r} has a negative number")
    return value


def _check(piece: _Piece, low: int, high: int, step: int) -> None:
    rule, shown = piece.rule, repr(piece.text)
    if low < rule.low:
        raise piece.error(f"{low} is below {rule.low}, the lowest {rule.name}")
    if high > rule.high:
        raise piece.error(f"{high} is above {rule.high}, the highest {rule.name}", advice.in_bounds(rule, low, high))
    if low > high:
        raise piece.error(
            f"{shown} runs backwards ({low} to {high})", advice.split_in_two(rule, piece.text, low, high, step)
        )
    if step == 0:
        raise piece.error(f"{shown} has a step of 0", piece.text.split("/")[0])


def _bits(low: int, high: int, step: int) -> int:
    return sum(1 << value for value in range(low, high + 1, step))
