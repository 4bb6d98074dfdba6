"""Words of sources on metrics."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from typing import Any

from warehouse.records import MetricSpec


def as_said(row: Mapping[str, Any]) -> dict[str, Any]:
    """A source's words on a metric (:func:`described`), as its statement keeps it."""
    said = {name: value for name, value in row.items() if value is not None}
    if not said["is_inferred"]:
        del said["is_inferred"]
    seen = said.pop("seen", None)
    if seen is not None and all(map(math.isfinite, seen)):
        said["seen"] = list(seen)
    return said


def of_statements(words: Iterable[Mapping[str, Any]]) -> dict[str, Any] | None:
    """A metric's values by the statements of its sources (:func:`as_said`); None where
    there are none."""
    rows = [
        dict.fromkeys(_SAID) | {"is_inferred": False} | dict(said) for said in words
    ]
    if not rows:
        return None
    stands = reduce(widened, rows)
    return {name: stands[name] for name in STORED}


_KINDS = ("binary", "bounded", "continuous")


def described(
    spec: MetricSpec, seen: tuple[float, float, bool] | None
) -> dict[str, Any]:
    """A metric's values on a benchmark, by what its source says and by the values seen
    (smallest, largest, whether all are 0 or 1)."""
    kind: str | None = spec.kind
    low, high = spec.low, spec.high
    default_by = seen_range = None
    if spec.is_default:
        default_by = spec.default_by
    if kind is None and seen is not None:
        kind = _kind_of(*seen)
        seen_range = seen[:2]
    if kind in ("binary", "bounded") and low is None and high is None:
        low, high = 0.0, 1.0
    return {
        "default_by": default_by,
        "kind": kind,
        "low": low,
        "high": high,
        "higher_is_better": spec.higher_is_better,
        "chance_level": spec.chance_level,
        "is_inferred": seen_range is not None,
        "seen": seen_range,
    }


def _kind_of(least: float, most: float, all_zero_one: bool) -> str:
    """The kind of a metric by the values seen."""
    if all_zero_one:
        return "binary"
    if least >= 0 and most <= 1:
        return "bounded"
    return "continuous"


def widened(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Two descriptions of one metric as one, the same in whatever order they came: the
    wider range, and what either knows else; of two words the mapping's, False and the
    smaller number."""
    merged = dict(old)
    for key, value in old.items():
        if value is None:
            merged[key] = new.get(key)
    words = (old["default_by"], new["default_by"])
    merged["default_by"] = next(
        (word for word in ("mapping", "tool", "scan") if word in words), None
    )
    for key in ("higher_is_better", "chance_level"):
        if None not in (old[key], new[key]):
            merged[key] = min(old[key], new[key])
    merged |= _wider_range(old, new)
    merged["seen"] = None
    if merged["is_inferred"]:
        merged["seen"] = _seen_by_both(old, new)
    return merged


def _seen_by_both(
    old: Mapping[str, Any], new: Mapping[str, Any]
) -> tuple[float, float] | None:
    ranges = [row["seen"] for row in (old, new) if row.get("seen") is not None]
    if not ranges:
        return None
    lows, highs = zip(*ranges, strict=True)
    return min(lows), max(highs)


_RANGE = ("kind", "low", "high", "is_inferred")


def _wider_range(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Kind and bounds of two descriptions: a declared range stays where what was only
    seen lies in it."""
    if old["kind"] is None or new["kind"] is None:
        defined = new
        if new["kind"] is None:
            defined = old
        return {"is_inferred": defined["is_inferred"]}
    is_inferred = bool(old["is_inferred"] and new["is_inferred"])
    wider = _KINDS.index(new["kind"]) - _KINDS.index(old["kind"])
    if wider == 0:
        if None in (old["low"], new["low"], old["high"], new["high"]):
            return {"is_inferred": is_inferred}
        return {
            "low": min(old["low"], new["low"]),
            "high": max(old["high"], new["high"]),
            "is_inferred": is_inferred,
        }
    for seen, declared in ((new, old), (old, new)):
        if _fits(seen.get("seen"), declared):
            return {key: declared[key] for key in _RANGE}
    wide = old
    if wider > 0:
        wide = new
    return {key: wide[key] for key in _RANGE}


def _fits(seen: tuple[float, float] | None, declared: Mapping[str, Any]) -> bool:
    """True if a range that was only inferred lies in one that somebody has declared."""
    low, high = declared["low"], declared["high"]
    if seen is None or declared["kind"] != "bounded" or None in (low, high):
        return False
    least, most = seen
    return bool(low <= least and most <= high)


def with_bounds(
    stands: Mapping[str, Any],
    words: Iterable[Mapping[str, Any]],
    bounds: Sequence[float],
) -> dict[str, Any]:
    """A metric's values (:func:`of_statements`) of which a person has said the bounds:
    they hold, and are widened where a source has values beyond them."""
    low, high = bounds
    by_person = {"kind": "bounded", "low": low, "high": high, "is_inferred": False}
    seen = [said["seen"] for said in words if said.get("seen")]
    if all(low <= least and most <= high for least, most in seen):
        return {**stands, **by_person}
    nothing = dict.fromkeys(_SAID)
    merged = widened({**nothing, **by_person}, {**nothing, **stands})
    return {name: merged[name] for name in STORED}


STORED = ("default_by", "higher_is_better", "chance_level", *_RANGE)
_SAID = (*STORED, "seen")
