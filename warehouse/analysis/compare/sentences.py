"""What a comparison on several benchmarks says, in a sentence."""

from __future__ import annotations

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
    found = _by_verdict(rows)
    a, b, differ, rest, untested = (len(own) for own in found.values())
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
#: Where nothing can be tested.
UNTESTED = "untested"
#: Who is better, in the order in which verdicts are said.
_KINDS = ("a", "b", NOT_KNOWN, OPEN, UNTESTED)


def by_name(rows: Sequence[ComparisonRow], names: Names) -> str:
    """On which benchmarks each is better, which are open, and where nothing can be
    tested."""
    found = _by_verdict(rows)
    n_open = len(found[OPEN])
    if n_open == len(rows):
        return f"{names.a} and {names.b} {CANNOT_TELL} on any of {n_open} benchmarks."
    parts: list[str] = []
    for side, name in (("a", names.a), ("b", names.b)):
        if found[side]:
            parts.append(f"{name} is better on {_some(found[side])}")
    if parts and any(MIXED_SCALES in row.flags for row in rows):
        parts[-1] += IF_ONE_SCALE
    if found[NOT_KNOWN]:
        where = _some(found[NOT_KNOWN])
        parts.append(f"they differ on {where}, where which is better is {NOT_KNOWN}")
    if n_open == 1:
        parts.append(f"{_some(found[OPEN])} is open")
    elif n_open:
        parts.append(f"{_some(found[OPEN])} are open")
    if found[UNTESTED]:
        begins = "no verdict on" if parts else "No verdict on"
        parts.append(f"{begins} {_some(found[UNTESTED])}")
    return f"{'; '.join(parts)}."


def _by_verdict(rows: Sequence[ComparisonRow]) -> dict[str, list[str]]:
    """Benchmarks by who is better there: ``a``, ``b``, not known, open, or untested."""
    found: dict[str, list[str]] = {kind: [] for kind in _KINDS}
    for row in rows:
        kind = better_in_words(row)
        if kind not in ("a", "b", NOT_KNOWN):
            kind = OPEN
            if _is_untested(row):
                kind = UNTESTED
        found[kind].append(row.benchmark)
    return found


def _some(benchmarks: Sequence[str]) -> str:
    """Benchmarks by name, or how many there are."""
    if len(benchmarks) <= _MOST_NAMED:
        return listed(benchmarks)
    return f"{len(benchmarks)} benchmarks"
