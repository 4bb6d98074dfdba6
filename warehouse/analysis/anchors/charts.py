"""Scores of models by a few anchors against those by all prompts, as charts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
    by_method: dict[str, list[AnchorModelRow]] = {}
    for name in _WORDS:
        by_method[name] = [row for row in report.models if row.method == name]
    if any(row.position is not None for row in report.models):
        for name, rows in by_method.items():
            yield _training(f"{_WORDS[name]}, {len(report.anchors)} anchors", rows)
    else:
        yield _models(report, by_method)


def _models(
    report: AnchorReport, by_method: Mapping[str, Sequence[AnchorModelRow]]
) -> Chart | None:
    """Models by their score, with each estimate and its standard error."""
    places = _places(by_method["all"])
    shown: dict[str, Sequence[AnchorModelRow]] = {}
    for name, rows in by_method.items():
        if name != "p_irt":
            shown[_WORDS[name]] = rows
    layers = _dots(shown, places)
    ends: list[float] = []
    for rows, (colour, _) in zip(shown.values(), SERIES, strict=False):
        bars = [_error(places[row.model], row) for row in rows]
        for bar in bars:
            ends += [bar["y"], bar["y2"]]
        rule: Spec = {"type": "rule", "stroke": colour, "strokeOpacity": 0.5}
        layers.insert(0, layer(rule, bars, y2={"field": "y2"}))
    names = ", ".join(report.benchmarks)
    return chart(
        f"{names}: estimates from {len(report.anchors)} anchors, ± one standard error",
        f"Scores of {len(places)} models by all prompts and by estimates; the figures "
        "are in the table",
        axis("model, by score", span(places.values())),
        axis("score", span(ends)),
        layers,
        size=TALL_PLOT,
    )


def _places(rows: Sequence[AnchorModelRow]) -> dict[str, float]:
    """Where each model stands on the lower axis: by its score."""
    order = sorted(rows, key=lambda row: row.estimate)
    places: dict[str, float] = {}
    for number, row in enumerate(order, 1):
        places[row.model] = float(number)
    return places


def _dots(
    shown: Mapping[str, Sequence[AnchorModelRow]], places: Mapping[str, float]
) -> list[Spec]:
    """A dot for each model and estimate, in the colour of the estimate."""
    estimates: list[tuple[str, list[tuple[float, float]]]] = []
    for name, rows in shown.items():
        points = [(places[row.model], row.estimate) for row in rows]
        estimates.append((name, points))
    dots = lines(estimates)
    first = dots[0]
    first["mark"] = {"type": "point", "filled": True, "size": 14}
    encoding = first["encoding"]
    encoding.pop("strokeDash")
    encoding["color"]["legend"]["symbolType"] = "circle"
    return dots


def _error(x: float, row: AnchorModelRow) -> Spec:
    error = row.standard_error or 0.0
    return {
        "x": x,
        "y": row.estimate - error,
        "y2": row.estimate + error,
    }


def _training(title: str, rows: Sequence[AnchorModelRow]) -> Chart | None:
    """Scores of trained models over their training."""
    curves: dict[str, list[tuple[float, float | None]]] = {}
    for row in sorted(rows, key=lambda row: row.position or 0.0):
        if row.position is not None:
            curve = curves.setdefault(row.training, [])
            curve.append((row.position, row.estimate))
    named = list(curves.items())
    faint = list(curves.values())
    points = list(chain.from_iterable(curves.values()))
    positions = [position for position, _ in points]
    scores = [score for _, score in points]
    return chart(
        title,
        f"Scores of {len(curves)} trainings",
        axis("position in training", span(positions), log=True),
        axis("score", span(scores)),
        lines(named[:COLOURS], dots=True, faint=faint[COLOURS:]),
    )
