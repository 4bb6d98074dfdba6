"""A gate as people read it first: the verdict as the answer to a question, and a row for
each benchmark."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from warehouse.analysis.gate.row import FEW_DIFFER, GateRow
from warehouse.stats.paired.gate import UNDECIDED
from warehouse.tables.units import Unit
from warehouse.tables.view import Table, TableNote, View
from warehouse.tables.words import cost_noun, counted, listed, meanings, times

#: Benchmarks that a sentence names.
_MOST_NAMED = 3
_HIDE_EMPTY = ("split", "cost", "flags")
#: Columns that a narrow terminal does without, the first of them first.
_MINOR = ("split", "flags")


def brief_view(
    verdict: str,
    both: tuple[str, str],
    rows: Sequence[GateRow],
    alpha: float,
    notes: Sequence[str],
    *,
    in_percent: bool,
    by: str = "",
) -> View:
    """What people are shown of a gate.

    Args:
        verdict: over all benchmarks.
        both: names of the candidate and the baseline.
        rows: one for each benchmark and split.
        alpha: of the tests; bounds are one-sided at 1 − alpha.
        notes: what a reader should know, and what was left out.
        in_percent: scores are shares.
        by: what unscored samples count as, in words; empty: they are missing.
    """
    unit = Unit.of((row.standard_error for row in rows), in_percent=in_percent)
    losing = _losing(rows, unit)
    level = f"{100 * (1 - alpha):g} %"
    question = f"may {both[0]} replace {both[1]}, {losing}? (at {level}){by}"
    cells = [_cells(row, unit) for row in rows]
    if len({row.split for row in rows}) == 1:
        for named in cells:
            del named["split"]
    table = Table.of(cells, hide_empty=_HIDE_EMPTY, minor=_MINOR)
    flags = meanings(chain.from_iterable(row.flags for row in rows))
    return View(
        (
            f"{verdict.upper()}: {question}",
            *_counts(rows),
            "",
            table,
            *_needed(rows),
            *_as_seen(rows),
            *_on_costs(rows),
            *_reasons(rows),
            *(TableNote(line, "flags") for line in flags),
        ),
        tuple(notes),
    )


def _losing(rows: Sequence[GateRow], unit: Unit) -> str:
    """What it may lose, in words."""
    margins = {row.margin for row in rows}
    if len(margins) > 1:
        return "losing no more than is allowed"
    margin = margins.pop()
    if margin == 0:
        return "losing nothing"
    if not unit.in_percent:
        return f"losing at most {margin:g}"
    return f"losing at most {points_in_words(margin)}"


def points_in_words(share: float) -> str:
    """A share in points: ``2 points``, ``1 point``."""
    points = f"{100 * share:.6g}"
    if points == "1":
        return "1 point"
    return f"{points} points"


def _counts(rows: Sequence[GateRow]) -> Iterator[str]:
    """How many benchmarks have which verdict, where they are several."""
    if len({row.verdict for row in rows}) < 2:
        return
    verdicts: dict[str, list[str]] = {}
    for row in rows:
        verdicts.setdefault(row.verdict, []).append(row.benchmark)
    said = []
    for verdict, names in verdicts.items():
        named = ""
        if len(names) <= _MOST_NAMED:
            named = f" ({', '.join(names)})"
        said.append(f"{len(names)} {verdict}{named}")
    yield f"Of {counted(len(rows), 'benchmark')}: {', '.join(said)}."


def _cells(row: GateRow, unit: Unit) -> dict[str, Any]:
    allowed = unit.difference(-row.margin)
    return {
        "benchmark": row.benchmark,
        "split": row.split,
        "candidate": unit.figure(row.candidate),
        "baseline": unit.figure(row.baseline),
        "difference": unit.difference(row.difference),
        "at worst": unit.difference(row.low),
        "allowed": allowed,
        "cost": times(row.cost_ratio),
        "verdict": row.verdict,
        "flags": row.flags,
    }


def _on_costs(rows: Sequence[GateRow]) -> Iterator[TableNote]:
    """What is counted in the column of costs, and against what."""
    metrics = {row.cost_metric for row in rows if row.cost_ratio is not None}
    if metrics:
        unit = listed(sorted({cost_noun(metric) for metric in metrics}))
        yield TableNote(
            f"cost: {unit} for an answer, of the candidate over those of the baseline",
            "cost",
        )


def _needed(rows: Sequence[GateRow]) -> Iterator[str]:
    """With how many questions an equal candidate would pass."""
    needing = [row for row in rows if _would_settle(row)]
    if not needing:
        return
    sizes = [
        f"{_about(row.prompts_if_equal or 0)} on {row.benchmark}" for row in needing
    ]
    if len(needing) == 1:
        sizes = [_about(needing[0].prompts_if_equal or 0)]
    more = ""
    if len(sizes) > _MOST_NAMED:
        more = f" and on {len(sizes) - _MOST_NAMED} more (--explain)"
        sizes = sizes[:_MOST_NAMED]
    yield (
        f"about {listed(sizes) if not more else ', '.join(sizes)}{more} questions would "
        "show it, if the two are equally good"
    )


def _as_seen(rows: Sequence[GateRow]) -> Iterator[str]:
    """With how many questions it would be decided, where the candidate looks worse than
    what is tolerated: more questions then rather show that it fails."""
    for row in rows:
        looks_worse = row.verdict == UNDECIDED and row.difference < -row.margin
        if looks_worse and row.prompts_as_seen:
            yield (
                f"{row.benchmark}: it looks worse than is allowed; about "
                f"{_about(row.prompts_as_seen)} questions would decide, if it is as bad "
                "as it looks"
            )


def _would_settle(row: GateRow) -> bool:
    """True where more questions than there are would show an equal candidate to be no
    worse; not of one that fails, or has been asked as many."""
    n_needed = row.prompts_if_equal or 0
    looks_fine = row.difference >= -row.margin
    return row.verdict == UNDECIDED and looks_fine and n_needed > row.n_prompts


def _about(count: int) -> str:
    """A count with two digits that say something."""
    digits = max(len(str(count)) - 2, 0)
    return f"{round(count, -digits):,}"


def _reasons(rows: Sequence[GateRow]) -> Iterator[str]:
    """What there is to say of a benchmark beside its figures; not which test it was."""
    for row in rows:
        said = [part for part in row.reason.split("; ") if part not in ("", FEW_DIFFER)]
        if said:
            yield f"{row.benchmark}: {'; '.join(said)}"
