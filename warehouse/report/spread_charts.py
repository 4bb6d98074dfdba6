"""Figures of how far scores spread: over seeds, items and few prompts (Madaan et al. 2024, figs. 1 to 5 and 9)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Any

from warehouse.analysis.items.item_report import ItemReport
from warehouse.analysis.items.pruning_report import SplitReport
from warehouse.analysis.reliability.anchors import AnchorReport
from warehouse.analysis.reliability.results import AnchorModelRow
from warehouse.analysis.training.seeds_report import SeedScore, SeedsReport
from warehouse.charts.chart import (
    COLOURS,
    SERIES,
    TALL_PLOT,
    Chart,
    Spec,
    axis,
    chart,
    distinct,
    layer,
    lines,
    point,
    span,
    with_words,
)
from warehouse.report.board import UNITS

#: Pixels of a box, and of a line of names; characters of a name.
_BOX, _LINE, _NAME = 7, 14, 60
_DOTS: Spec = {"type": "point", "size": 14, "filled": True, "opacity": 0.6, "color": SERIES[0][0]}
_WORDS = {"all": "all prompts", "irt": "IRT", "p_irt": "p-IRT", "gp_irt": "gp-IRT"}


def seed_charts(report: SeedsReport) -> Iterator[Chart | None]:
    """Boxes of seeds along training, a metric above the one that it is held against; of single checkpoints by
    benchmark."""

    def curve(row: SeedScore) -> tuple[str, ...]:
        recipe = row.recipe if row.recipe not in row.model else ""
        return row.benchmark, row.split, row.model, recipe, row.setting, row.metric, row.unit

    single: dict[str, list[SeedScore]] = {}
    for name, group in groupby(report.scores, key=curve):
        rows = list(group)
        if len({row.position for row in rows}) == 1:
            single.setdefault(rows[0].metric, []).extend(rows)
            continue
        yield chart(
            f"{rows[0].metric}: {', '.join(filter(None, name[:5]))}, {len({row.seed for row in rows})} seeds",
            f"Boxes of {rows[0].metric} over seeds at {len({row.position for row in rows})} checkpoints",
            axis(UNITS.get(rows[0].unit, "position in training"), span([row.position for row in rows]), log=True),
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
            [_boxes([point(row.score, names.index(_of(row)) + 1) for row in rows], "horizontal")],
            size=(TALL_PLOT[0], _LINE * len(names)),
        )


def _of(row: SeedScore) -> str:
    return " ".join(filter(None, (row.benchmark, row.split, row.recipe, row.setting)))


def _boxes(rows: Sequence[Spec], orient: str) -> Spec:
    """Quartiles, whiskers to 1.5 times their distance, and what lies beyond as dots."""
    look: Spec = {"box": {"fillOpacity": 0.45}, "median": {"fill": SERIES[1][0]}}
    look["outliers"] = {"size": 8, "filled": True}
    mark: Spec = {"type": "boxplot", "extent": 1.5, "size": _BOX, "orient": orient, "color": SERIES[0][0]}
    return layer(mark | look, rows)


def item_charts(report: ItemReport) -> Iterator[Chart | None]:
    """Difficulty against discrimination of each prompt."""
    rows = [(row.mean_score, row.r_corrected) for row in report.rows if row.r_corrected is not None]
    yield _scatter(f"Prompts of {report.benchmark}", rows, "mean score", "r with the other prompts")


def split_charts(report: SplitReport) -> Iterator[Chart | None]:
    """Discrimination on train models against that on test models, by each kind of split."""
    for kind in dict.fromkeys(row.kind for row in report.points):
        rows = [(row.train, row.test) for row in report.points if row.kind == kind]
        yield _scatter(f"{report.benchmark}, split {kind}", rows, "r on train models", "r on test models")


def _scatter(title: str, rows: Sequence[tuple[float | None, float | None]], across: str, up: str) -> Chart | None:
    ends = [span(column) for column in zip(*rows, strict=True)] or [None, None]
    drawn = [layer(_DOTS, [point(*row) for row in rows])]
    return chart(
        title, f"{up} against {across} of {len(rows)} prompts", axis(across, ends[0]), axis(up, ends[1]), drawn
    )


def anchor_charts(report: AnchorReport) -> Iterator[Chart | None]:
    """Curves of trained models by each estimate; without any, models by their score with standard errors."""
    if not report.models:
        return
    by_method = {name: [row for row in report.models if row.method == name] for name in _WORDS}
    if any(row.position is not None for row in report.models):
        for name, rows in by_method.items():
            yield _training(f"{_WORDS[name]}, {len(report.anchors)} anchors", rows)
        return
    order = sorted(by_method["all"], key=lambda row: row.estimate)
    at_x = {row.model: float(number) for number, row in enumerate(order, 1)}
    shown = {_WORDS[name]: rows for name, rows in by_method.items() if name != "p_irt"}
    dots = lines([(name, [(at_x[row.model], row.estimate) for row in rows]) for name, rows in shown.items()])
    dots[0]["mark"] = {"type": "point", "filled": True, "size": 14}
    dots[0]["encoding"].pop("strokeDash")
    dots[0]["encoding"]["color"]["legend"]["symbolType"] = "circle"
    ends: list[float] = []
    for rows, (colour, _) in zip(shown.values(), SERIES, strict=False):
        bars = [_error(at_x[row.model], row) for row in rows]
        ends += [end for bar in bars for end in (bar["y"], bar["y2"])]
        rule: Spec = {"type": "rule", "stroke": colour, "strokeOpacity": 0.5}
        dots.insert(0, layer(rule, bars, y2={"field": "y2"}))
    yield chart(
        f"{', '.join(report.benchmarks)}: estimates from {len(report.anchors)} anchors, ± one standard error",
        f"Scores of {len(at_x)} models by all prompts and by estimates; the figures are in the table",
        axis("model, by score", span(at_x.values())),
        axis("score", span(ends)),
        dots,
        size=TALL_PLOT,
    )


def _error(x: float, row: AnchorModelRow) -> Spec:
    error = row.standard_error or 0.0
    return {"x": x, "y": row.estimate - error, "y2": row.estimate + error}


def _training(title: str, rows: Sequence[AnchorModelRow]) -> Chart | None:
    curves: dict[str, list[tuple[float, float | None]]] = {}
    for row in sorted(rows, key=lambda row: row.position or 0.0):
        if row.position is not None:
            curves.setdefault(row.training, []).append((row.position, row.estimate))
    named, others = [*curves.items()][:COLOURS], [*curves.values()][COLOURS:]
    drawn = lines(named, dots=True, faint=others)
    across, up = (span([at[i] for at in (point for curve in curves.values() for point in curve)]) for i in (0, 1))
    say = f"Scores of {len(curves)} trainings"
    return chart(title, say, axis("position in training", across, log=True), axis("score", up), drawn)


#: What draws a result that has figures here.
CHARTS: dict[type, Callable[[Any], Iterator[Chart | None]]] = {
    SeedsReport: seed_charts,
    ItemReport: item_charts,
    SplitReport: split_charts,
    AnchorReport: anchor_charts,
}
