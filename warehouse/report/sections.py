"""Parts of a report, made ready for the page: axes, labels, and which columns say something."""

from __future__ import annotations

import math
from typing import Any

from warehouse.analysis.comparison.all_pairs import PairGroup, Pairs
from warehouse.analysis.comparison.all_pairs_row import PairRow
from warehouse.analysis.leaderboard.curves import Curves
from warehouse.analysis.report_data.benchmark import BenchmarkPart
from warehouse.analysis.report_data.suite import SuitePart
from warehouse.report.curves import curve_charts
from warehouse.report.maps import map_part
from warehouse.report.matrix import matrix_part
from warehouse.report.opening import answer_of
from warehouse.report.plots import make_axis

#: Conditions of one group that the matrix of all pairs shows.
MATRIX_SIZE = 50
#: Benchmarks of a suite whose figures stand in one table.
MOST_LEAVES = 20


def benchmark_section(part: BenchmarkPart) -> dict[str, Any]:
    """A benchmark with axes, charts, and which columns say something."""
    rows = part.board.rows if part.board else ()
    ends = [value for row in rows for value in (row.estimate, row.ci_low, row.ci_high)]
    return {
        "part": part,
        "answer": answer_of(part),
        "axis": make_axis(ends),
        "conditions": any(row.condition for row in rows),
        "splits": any(row.split for row in rows),
        "metrics": len({row.metric for row in rows}) > 1,
        "reasons": any(row.ci_low is None for row in rows),
        "recomputed_parts": any(row.part_estimate is not None for row in rows),
        "clusters": any(row.n_clusters is not None for row in rows),
        "groups": _groups(part.pairs) if part.pairs else [],
        "curves": curve_charts(part.curves) if part.curves else [],
        "findings": _findings(part),
        "curve_columns": _curve_columns(part.curves) if part.curves else {},
        "maps": map_part(part.maps) if part.maps else None,
        "matrix": matrix_part(part.matrix),
        "can_have_matrix": sum(row.method != "published" and row.n_prompts > 1 for row in rows) > 1,
        "parts": _parts(part),
    }


def suite_section(part: SuitePart) -> dict[str, Any]:
    """A suite with its axis, and which columns say something."""
    rows = part.board.rows if part.board else ()
    ends = [value for row in rows for value in (row.estimate, row.ci_low, row.ci_high)]
    return {
        "part": part,
        "axis": make_axis(ends),
        "conditions": any(row.condition for row in rows),
        "reasons": any(row.ci_low is None for row in rows),
        "leaves": part.board is not None and len(part.board.leaves) <= MOST_LEAVES,
    }


def _findings(part: BenchmarkPart) -> list[str]:
    """What curves and seeds show, in plain sentences."""
    said = []
    if part.along:
        corrected = "tests against chance and of drops are corrected over the checkpoints of a curve (Holm)"
        said.append(f"Along training: {part.along}; {corrected}.")
        said += [f"{words}." for words in dict.fromkeys(row.crossing_in_words for row in part.along.rows) if words]
    floors = [row.noise_floor for row in part.noise.rows if row.noise_floor is not None] if part.noise else []
    if floors:
        several = f"{min(floors):.3g} to {max(floors):.3g}" if len(floors) > 1 else f"{floors[0]:.3g}"
        said.append(
            f"Two single runs of one recipe differ by more than {several} in 5 % of cases, by their seeds alone."
        )
    return said


def _curve_columns(found: Curves) -> dict[str, bool]:
    rows = found.rows
    return {
        "condition": any(row.condition for row in rows),
        "metric": len({row.metric for row in rows}) > 1,
        "split": any(row.split for row in rows),
    }


def _parts(part: BenchmarkPart) -> list[tuple[str, str]]:
    """Words and ids of what there is of a benchmark."""
    there = [
        ("Leaderboard", "board", True),
        ("Pairs", "pairs", True),
        ("Variance", "variance", True),
        ("Training", "training", part.curves or part.noise),
        ("Data map", "datamap", part.maps),
        ("Performance matrix", "matrix", part.matrix.found),
    ]
    return [(words, name) for words, name, found in there if found]


def _groups(found: Pairs) -> list[dict[str, Any]]:
    groups, rows = [], list(found.rows)
    for group in found.groups:
        own, rows = rows[: len(group.pairs)], rows[len(group.pairs) :]
        groups.append(_group(group, own, several=len(found.groups) > 1))
    return groups


def _group(group: PairGroup, rows: list[PairRow], several: bool) -> dict[str, Any]:
    labels = group.labels
    against_first = rows[: len(labels) - 1]
    ends = [end for row in against_first for end in (row.difference, row.ci_low, row.ci_high)]
    return {
        "first": labels[0],
        "name": ", ".join(filter(None, (group.metric, group.split, group.task_version))) if several else "",
        "n_pairs": len(rows),
        "reasons": any(row.reason for row in against_first),
        "size": round(1 - group.pairs.level, 10),
        "axis": make_axis(ends, zero=True),
        "forest": list(zip(labels[1:], against_first, strict=True)),
        "matrix": _matrix(group),
        "more": max(0, len(labels) - MATRIX_SIZE),
    }


def _matrix(group: PairGroup) -> list[tuple[str, list[tuple[str, bool]]]]:
    """Label and cells of each row: the difference as text, and whether Holm's test tells it."""
    shown = group.labels[:MATRIX_SIZE]
    differences, holm = (
        group.pairs.square(name)[:MATRIX_SIZE, :MATRIX_SIZE].tolist() for name in ("difference", "p_holm")
    )
    size = 1 - group.pairs.level
    places = _decimals(differences)
    return [
        (
            label,
            [
                (f"{round(value, places) + 0.0:.{places}f}" if value == value else "·", p <= size)
                for value, p in zip(values, ps, strict=True)
            ],
        )
        for label, values, ps in zip(shown, differences, holm, strict=True)
    ]


def _decimals(differences: list[list[float]]) -> int:
    """Decimals at which the largest difference has three digits."""
    largest = max((abs(value) for row in differences for value in row if value == value), default=0)
    return min(8, max(0, 2 - math.floor(math.log10(largest)))) if largest else 0
