"""Scores of models by a few anchors against those by all prompts, as charts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from warehouse.analysis.anchors.answer import AnchorReport
from warehouse.analysis.reliability.results import AnchorModelRow
from warehouse.charts.chart import (
    COLOURS,
    SERIES,
    TALL_PLOT,
    Chart,
    Spec,
    axis,
    chart,
    layer,
    lines,
    span,
)

_WORDS = {"all": "all prompts", "irt": "IRT", "p_irt": "p-IRT", "gp_irt": "gp-IRT"}


def anchor_charts(report: AnchorReport) -> Iterator[Chart | None]:
    """Curves of trained models by each estimate; without any, models by their score
    with standard errors."""
    if not report.models:
        return
    by_method = {}
    for name in _WORDS:
        by_method[name] = [row for row in report.models if row.method == name]
    if any(row.position is not None for row in report.models):
        for name, rows in by_method.items():
            yield _training(f"{_WORDS[name]}, {len(report.anchors)} anchors", rows)
        return
    order = sorted(by_method["all"], key=lambda row: row.estimate)
    at_x = {row.model: float(number) for number, row in enumerate(order, 1)}
    shown = {_WORDS[name]: rows for name, rows in by_method.items() if name != "p_irt"}
    estimates = []
    for name, rows in shown.items():
        estimates.append((name, [(at_x[row.model], row.estimate) for row in rows]))
    dots = lines(estimates)
    dots[0]["mark"] = {"type": "point", "filled": True, "size": 14}
    dots[0]["encoding"].pop("strokeDash")
    dots[0]["encoding"]["color"]["legend"]["symbolType"] = "circle"
    ends: list[float] = []
    for rows, (colour, _) in zip(shown.values(), SERIES, strict=False):
        bars = [_error(at_x[row.model], row) for row in rows]
        ends += list(chain.from_iterable((bar["y"], bar["y2"]) for bar in bars))
        rule: Spec = {"type": "rule", "stroke": colour, "strokeOpacity": 0.5}
        dots.insert(0, layer(rule, bars, y2={"field": "y2"}))
    yield chart(
        f"{', '.join(report.benchmarks)}: estimates from {len(report.anchors)} "
        "anchors, ± one standard error",
        f"Scores of {len(at_x)} models by all prompts and by estimates; the figures "
        "are in the table",
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
    points = list(chain.from_iterable(curves.values()))
    across, up = span([x for x, _ in points]), span([y for _, y in points])
    say = f"Scores of {len(curves)} trainings"
    return chart(
        title,
        say,
        axis("position in training", across, log=True),
        axis("score", up),
        drawn,
    )
