"""What people are shown of an unpaired comparison."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

from warehouse.analysis.compare.sentences import by_name
from warehouse.analysis.compare.unpaired_row import UnpairedRow
from warehouse.analysis.comparison.brief import IN_ORDER, Names, units_of
from warehouse.analysis.comparison.words import (
    CANNOT_TELL,
    NOT_KNOWN,
    WIDTH,
    better_in_words,
    column_of,
    difference_cells,
    direction_remarks,
    models_of,
)
from warehouse.stats.intervals.published import PUBLISHED
from warehouse.tables.units import Unit
from warehouse.tables.view import Table, TableNote, View
from warehouse.tables.words import (
    counted,
    level_column,
    listed,
    meanings,
    p_value,
    visible,
)

#: Columns that a narrow terminal does without, the first of them first.
MINOR = (
    *(
        "p z",
        "metric",
        "unscored a",
        "unscored b",
        "split",
        "clusters a",
        "clusters b",
        "prompts a",
        "prompts b",
    ),
    *("se", "better"),
)
_HIDE_EMPTY = (
    "split",
    "p Holm",
    "prompts a",
    "prompts b",
    "clusters a",
    "clusters b",
    "unscored a",
    "unscored b",
    "flags",
)


def brief(rows: Sequence[UnpairedRow], *, is_share: bool) -> View:
    """Who is better, both models by name, the difference with its interval.

    Args:
        is_share: scores lie between 0 and 1: people read them in percent.
    """
    names = Names.of(rows[0])
    units = units_of(rows, in_percent=is_share)  # type: ignore[arg-type]
    return View(
        (
            _heading(rows, names),
            visible(_sentence(rows, names)),
            "",
            _brief_table(rows, names, units),
            *map(TableNote, _what_holds(rows)),
        ),
        (*direction_remarks(rows), *_reasons(rows)),
    )


def _heading(rows: Sequence[UnpairedRow], names: Names) -> str:
    """Who is compared, on what, and that nothing was paired."""
    models = models_of(rows[0])
    called = [model.partition(" = ")[2] for model in models]
    parts = [" against ".join(called)]
    if names.are_letters and called != [names.a, names.b]:
        parts = [", ".join(models)]
    if len(rows) > 1:
        parts.append(counted(len(rows), "benchmark"))
    metrics = {row.metric for row in rows}
    if len(metrics) == 1:
        parts += metrics
    parts.append(_what_kind(rows))
    return " · ".join(parts)


def _what_kind(rows: Sequence[UnpairedRow]) -> str:
    kinds = set()
    for row in rows:
        kinds.add(row.is_of_published)
    if kinds == {True}:
        return "published figures, not paired"
    return "not paired"


def _sentence(rows: Sequence[UnpairedRow], names: Names) -> str:
    """Who is better, on which benchmarks by name where there are several."""
    if len(rows) > 1:
        return by_name(rows, names)  # type: ignore[arg-type]
    row = rows[0]
    if row.ci_low is None:
        return f"No verdict on {row.benchmark}: {row.reason or 'no interval'}."
    if row.better:
        return f"{names.verdict(row)} is better on {row.benchmark}."  # type: ignore[arg-type]
    both = f"{names.a} and {names.b}"
    if better_in_words(row) == NOT_KNOWN:
        return f"{both} differ on {row.benchmark}; which is better is {NOT_KNOWN}."
    return f"{both} {CANNOT_TELL} on {row.benchmark}."


def _brief_table(
    rows: Sequence[UnpairedRow], names: Names, units: Sequence[Unit]
) -> Table:
    """The rows, without what the heading says; a narrow page has the order of the names
    in place of these."""
    narrow = None
    if not names.are_letters and names != IN_ORDER:
        narrow = _brief_table(rows, IN_ORDER, units)
    has_metrics = len({row.metric for row in rows}) > 1
    cells = []
    for row, unit in zip(rows, units, strict=True):
        cells.append(_brief_cells(row, names, unit, has_metrics=has_metrics))
    return Table.of(
        cells, hide_empty=("split",), minor=("split", "metric"), narrow=narrow
    )


def _brief_cells(
    row: UnpairedRow, names: Names, unit: Unit, *, has_metrics: bool
) -> dict[str, Any]:
    cells = {"benchmark": row.benchmark, "split": row.split}
    if has_metrics:
        cells["metric"] = row.metric
    return cells | {
        names.a: unit.figure(row.mean_a),
        names.b: unit.figure(row.mean_b),
        "difference": unit.difference(row.difference),
        level_column(row.level): unit.ends(row.ci_low, row.ci_high, row.difference),
        "verdict": names.verdict(row),  # type: ignore[arg-type]
    }


def _what_holds(rows: Sequence[UnpairedRow]) -> list[str]:
    """What verdicts and errors hold for."""
    lines = []
    named = [row for row in rows if row.p_holm is not None]
    if named:
        size = f"{100 * (1 - named[0].level):.2g} %"
        both = counted(len(named), "benchmark")
        lines.append(f"verdicts hold for {both} together (Holm, {size})")
    if any(row.is_of_published for row in rows):
        lines.append(
            "published: each figure with the error that its source prints; where both "
            "answered the same questions the true error is smaller as a rule"
        )
    else:
        lines.append("each figure is over its own questions; nothing is paired")
    if any(row.n_shared for row in rows):
        lines += _shared(rows)
    return lines


def _shared(rows: Sequence[UnpairedRow]) -> list[str]:
    shared = max(row.n_shared for row in rows)
    if not shared:
        return []
    return [
        f"shared_prompts: up to {shared} prompts are shared; pairing them says more."
    ]


def _reasons(rows: Sequence[UnpairedRow]) -> list[str]:
    """Why rows have no interval."""
    return [f"{row.benchmark}: {row.reason}" for row in rows if row.ci_low is None]


def whole(rows: Sequence[UnpairedRow]) -> View:
    """Every column, and how the figures were made."""
    table = Table.of([_cells(row) for row in rows], hide_empty=_HIDE_EMPTY, minor=MINOR)
    lines = [TableNote(line, column_of(line), WIDTH) for line in _explain(rows)]
    return View(
        (*models_of(rows[0]), "", table, "", *lines),
        (*direction_remarks(rows), *_reasons(rows)),
    )


def _cells(row: UnpairedRow) -> dict[str, Any]:
    return {
        **difference_cells(row),
        "p": p_value(row.p_value),
        "p z": p_value(row.z_p_value),
        "p Holm": p_value(row.p_holm),
        "better": better_in_words(row),
        "prompts a": row.n_prompts_a or None,
        "prompts b": row.n_prompts_b or None,
        "clusters a": row.n_clusters_a,
        "clusters b": row.n_clusters_b,
        "unscored a": row.unscored_a,
        "unscored b": row.unscored_b,
        "flags": row.flags,
    }


def _explain(rows: Sequence[UnpairedRow]) -> list[str]:
    lines = [_of_errors(rows), _of_p(rows), "p z: the paper's normal test (eq. 6)."]
    adjusted = sum(row.p_holm is not None for row in rows)
    if adjusted:
        lines.append(
            f"p Holm: p adjusted for {adjusted} benchmarks; better goes by it."
        )
    lines += _shared(rows)
    published = [row for row in rows if row.is_of_published]
    if published:
        names = listed(list(dict.fromkeys(row.benchmark for row in published)))
        lines.append(f"{names}: {published[0].reason}.")
    flags = chain.from_iterable(row.flags for row in rows)
    return lines + meanings(
        flag.removesuffix("_a").removesuffix("_b") for flag in flags
    )


def _of_errors(rows: Sequence[UnpairedRow]) -> str:
    by_cluster = ""
    for row in rows:
        if row.n_clusters_a is not None or row.n_clusters_b is not None:
            by_cluster = ", by cluster (CR2) where prompts are clustered"
    return (
        "Unpaired: each figure is over its own prompts, and the errors are taken as "
        f"independent: se = sqrt(se_a² + se_b²) (Miller 2024, eq. 5){by_cluster}."
    )


def _of_p(rows: Sequence[UnpairedRow]) -> str:
    methods = {row.method for row in rows}
    if methods == {"normal"}:
        return (
            "p: the normal test, as of the interval: nobody says on how many prompts "
            f"the {PUBLISHED} figures rest."
        )
    careful = ""
    if "welch_t_hull" in methods:
        careful = (
            "; where few are off a bound, neither is surer than the figures' own "
            "intervals"
        )
    return f"p: Welch's t, as of the interval{careful}."
