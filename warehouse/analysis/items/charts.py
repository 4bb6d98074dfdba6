"""Discrimination of prompts as scatter plots, and of those that a split keeps (Madaan
et al. 2024)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from warehouse.analysis.items.pruning_view import SplitReport
from warehouse.analysis.items.view import ItemReport
from warehouse.charts.chart import SERIES, Chart, Spec, axis, chart, layer, point, span

_DOTS: Spec = {
    "type": "point",
    "size": 14,
    "filled": True,
    "opacity": 0.6,
    "color": SERIES[0][0],
}


def item_charts(report: ItemReport) -> Iterator[Chart | None]:
    """Difficulty against discrimination of each prompt."""
    rows = [
        (row.mean_score, row.r_corrected)
        for row in report.rows
        if row.r_corrected is not None
    ]
    yield _scatter(
        f"Prompts of {report.benchmark}", rows, "mean score", "r with the other prompts"
    )


def split_charts(report: SplitReport) -> Iterator[Chart | None]:
    """Discrimination on train models against that on test models, by each kind of
    split."""
    for kind in dict.fromkeys(row.kind for row in report.points):
        rows = [(row.train, row.test) for row in report.points if row.kind == kind]
        yield _scatter(
            f"{report.benchmark}, split {kind}",
            rows,
            "r on train models",
            "r on test models",
        )


def _scatter(
    title: str, rows: Sequence[tuple[float | None, float | None]], across: str, up: str
) -> Chart | None:
    ends = [span(column) for column in zip(*rows, strict=True)] or [None, None]
    drawn = [layer(_DOTS, [point(*row) for row in rows])]
    return chart(
        title,
        f"{up} against {across} of {len(rows)} prompts",
        axis(across, ends[0]),
        axis(up, ends[1]),
        drawn,
    )
