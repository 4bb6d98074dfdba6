"""What a comparison on several benchmarks says, in a sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from warehouse.analysis.comparison.brief import OPEN, Names
from warehouse.analysis.comparison.row import ComparisonRow
from warehouse.analysis.comparison.words import (
    CANNOT_TELL,
    NO_VERDICT,
    NOT_KNOWN,
    better_in_words,
)
from warehouse.tables.words import IF_ONE_SCALE, MIXED_SCALES, listed


def _is_untested(row: ComparisonRow) -> bool:
    words = better_in_words(row)
    return words == NO_VERDICT or (row.ci_low is None and words == "neither")


def over_all(rows: Sequence[ComparisonRow], names: Names) -> str:
    """On how many benchmarks each is better, and on how many nothing can be tested."""
    better = Counter(better_in_words(row) for row in rows)
    a = better["a"]
    b = better["b"]
    differ = better[NOT_KNOWN]
    untested = sum(_is_untested(row) for row in rows)
    rest = len(rows) - a - b - differ - untested
    if len(rows) in (rest, untested):
        if rest:
            return f"{names.a} and {names.b} {CANNOT_TELL} on any of {rest} benchmarks."
        return f"No verdict on {len(rows)} benchmarks."
    counts = ((names.a, a), (names.b, b))
    wins = [f"{name} is better on {n}" for name, n in counts if n]
    if wins and any(MIXED_SCALES in row.flags for row in rows):
        wins[-1] += IF_ONE_SCALE
    if differ:
        wins.append(f"they differ on {differ}, where which is better is {NOT_KNOWN}")
    both = f"{names.a} and {names.b}"
    others = ((rest, f"{both} {CANNOT_TELL}"), (untested, "there is no verdict"))
    parts = [", ".join(wins), *(f"on {n} {text}" for n, text in others if n)]
    return f"Of {len(rows)} benchmarks {'; '.join(filter(None, parts))}."


#: Benchmarks that a sentence names.
_MOST_NAMED = 4


def by_name(rows: Sequence[ComparisonRow], names: Names) -> str:
    """On which benchmarks each is better, which are open, and where nothing can be
    tested."""
    found: dict[str, list[str]] = {"a": [], "b": [], NOT_KNOWN: [], "": [], OPEN: []}
    for row in rows:
        words = better_in_words(row)
        if words not in ("a", "b", NOT_KNOWN):
            words = "" if _is_untested(row) else OPEN
        found[words].append(row.benchmark)
    if len(found[OPEN]) == len(rows):
        return (
            f"{names.a} and {names.b} {CANNOT_TELL} on any of {len(rows)} benchmarks."
        )
    parts: list[str] = []
    for side, name in (("a", names.a), ("b", names.b)):
        if found[side]:
            parts.append(f"{name} is better on {_some(found[side])}")
    if parts and any(MIXED_SCALES in row.flags for row in rows):
        parts[-1] += IF_ONE_SCALE
    if differ := found[NOT_KNOWN]:
        parts.append(
            f"they differ on {_some(differ)}, where which is better is {NOT_KNOWN}"
        )
    if still_open := found[OPEN]:
        parts.append(
            f"{_some(still_open)} {'is' if len(still_open) == 1 else 'are'} open"
        )
    if found[""]:
        parts.append(f"no verdict on {_some(found[''])}")
    said = "; ".join(parts)
    return f"{said[:1].upper()}{said[1:]}." if said.startswith("no ") else f"{said}."


def _some(benchmarks: Sequence[str]) -> str:
    """Benchmarks by name, or how many there are."""
    if len(benchmarks) <= _MOST_NAMED:
        return listed(benchmarks)
    return f"{len(benchmarks)} benchmarks"
