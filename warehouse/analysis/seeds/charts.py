"""Boxes of scores over training seeds (Madaan et al. 2024, figs. 1 and 2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from warehouse.analysis.curves.leaderboard_charts import UNITS
from warehouse.analysis.seeds.view import SeedScore, SeedsReport
from warehouse.charts.chart import (
    SERIES,
    TALL_PLOT,
    Chart,
    Spec,
    axis,
    chart,
    distinct,
    layer,
    point,
    span,
    with_words,
)

#: Pixels of a box, and of a line of names; characters of a name.
_BOX, _LINE, _NAME = 7, 14, 60


def seed_charts(report: SeedsReport) -> Iterator[Chart | None]:
    """Boxes of seeds along training, a metric above the one that it is held against; of
    single checkpoints by benchmark."""

    def curve(row: SeedScore) -> tuple[str, ...]:
        recipe = ""
        if row.recipe not in row.model:
            recipe = row.recipe
        return (
            row.benchmark,
            row.split,
            row.model,
            recipe,
            row.setting,
            row.metric,
            row.unit,
        )

    single: dict[str, list[SeedScore]] = {}
    for name, group in groupby(report.scores, key=curve):
        rows = list(group)
        if len({row.position for row in rows}) == 1:
            single.setdefault(rows[0].metric, []).extend(rows)
            continue
        yield chart(
            f"{rows[0].metric}: {', '.join(filter(None, name[:5]))}, "
            f"{len({row.seed for row in rows})} seeds",
            f"Boxes of {rows[0].metric} over seeds at "
            f"{len({row.position for row in rows})} checkpoints",
            axis(
                UNITS.get(rows[0].unit, "position in training"),
                span([row.position for row in rows]),
                log=True,
            ),
            axis(rows[0].metric, span([row.score for row in rows])),
            [_boxes([point(row.position, row.score) for row in rows], "vertical")],
            size=TALL_PLOT,
        )
    for metric, rows in single.items():
        names = list(dict.fromkeys(_of(row) for row in rows))
        down = axis("", (0.5, len(names) + 0.5), nice=False) or {}
        down["scale"]["reverse"] = True
        down["axis"]["grid"] = False
        yield chart(
            f"{metric} over seeds at one checkpoint",
            f"Boxes of {metric} over seeds of {len(names)} rows",
            axis(metric, span([row.score for row in rows])),
            with_words(down, dict(enumerate(distinct(names, _NAME), 1))),
            [
                _boxes(
                    [point(row.score, names.index(_of(row)) + 1) for row in rows],
                    "horizontal",
                )
            ],
            size=(TALL_PLOT[0], _LINE * len(names)),
        )


def _of(row: SeedScore) -> str:
    return " ".join(filter(None, (row.benchmark, row.split, row.recipe, row.setting)))


def _boxes(rows: Sequence[Spec], orient: str) -> Spec:
    """Quartiles, whiskers to 1.5 times their distance, and what lies beyond as dots."""
    look: Spec = {"box": {"fillOpacity": 0.45}, "median": {"fill": SERIES[1][0]}}
    look["outliers"] = {"size": 8, "filled": True}
    mark: Spec = {
        "type": "boxplot",
        "extent": 1.5,
        "size": _BOX,
        "orient": orient,
        "color": SERIES[0][0],
    }
    return layer(mark | look, rows)
