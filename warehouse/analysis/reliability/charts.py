"""Figures of what a suite's verdicts rest on, those of Perlitz et al. 2024 among them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby
from typing import Any

from warehouse.analysis.reliability.view import ReliabilityReport
from warehouse.charts.chart import (
    SERIES,
    TALL_PLOT,
    Chart,
    Spec,
    axis,
    chart,
    finite,
    layer,
    lines,
    shorten,
    span,
)
from warehouse.charts.heat_map import SHADES, heat_map

#: Height of a model's line at least, and characters of its name.
_LINE, _NAME = 13, 60
_CALLS = "prompts a model"


def suite_charts(report: ReliabilityReport) -> Iterator[Chart | None]:
    """All figures of a suite, in the order of the answer."""
    for charts in charts_by_part(report).values():
        yield from charts


def charts_by_part(report: ReliabilityReport) -> dict[str, list[Chart | None]]:
    """The figures of a suite by the part of the answer that they show."""
    return {
        "ranks": [rank_chart(report)],
        "sizes": size_charts(report),
        "switches": [switch_chart(report)],
        "seeds": seed_charts(report),
        "agreement": [agreement_chart(report)],
    }


def rank_chart(report: ReliabilityReport) -> Chart | None:
    """Mean rank of each model by the number of prompts that it answers: a line a model
    (fig. 1)."""
    models = list(dict.fromkeys(row.model for row in report.ranks))
    rows = [row for row in report.ranks if row.mean_rank is not None]
    up = axis("mean rank", span([1.0, len(models)]), nice=False, whole=True)
    if not rows or up is None:
        return None
    up["scale"]["reverse"] = True
    points: list[Spec] = [
        {"x": row.n_prompts, "y": row.mean_rank, "k": models.index(row.model)}
        for row in rows
    ]
    last = sorted(
        ({point["k"]: point for point in points}).values(),
        key=lambda point: (point["y"], point["k"]),
    )
    # names stand one below the other, as their lines may end in one point
    names = [
        {**at, "y": index + 1, "t": shorten(models[at["k"]], _NAME)}
        for index, at in enumerate(last)
    ]
    numbers = list(range(len(models)))
    colour = {
        "field": "k",
        "type": "nominal",
        "legend": None,
        "scale": _looks(numbers, 0),
    }
    text: Spec = {
        "type": "text",
        "align": "left",
        "baseline": "middle",
        "dx": 6,
        "fontSize": 9,
    }
    return chart(
        f"Rank of {len(models)} models of {report.suite} by the number of prompts that "
        "they answer",
        f"Mean rank over resamples of {len(models)} models; the figures are in the "
        "table",
        axis(_CALLS, span([row.n_prompts for row in rows]), log=True),
        up,
        [
            layer(
                {"type": "line", "point": {"size": 12, "filled": True}},
                points,
                color=colour,
                strokeDash={
                    "field": "k",
                    "type": "nominal",
                    "legend": None,
                    "scale": _looks(numbers, 1),
                },
            ),
            layer(text, names, text={"field": "t", "type": "nominal"}, color=colour),
        ],
        size=(TALL_PLOT[0], max(TALL_PLOT[1], _LINE * len(models))),
    )


def _looks(numbers: Sequence[int], part: int) -> Spec:
    """Colours in turn, and dashes that change when all have been used."""
    index = [
        number % len(SERIES) if part == 0 else number // len(SERIES) % len(SERIES)
        for number in numbers
    ]
    return {"domain": list(numbers), "range": [SERIES[i][part] for i in index]}


def switch_chart(report: ReliabilityReport) -> Chart | None:
    """How often the last of adjacent models beats the first, with Monte Carlo intervals
    (fig. 3)."""
    rows = [row for row in report.switches if row.probability is not None]
    windows = sorted({row.window for row in rows})
    curves = []
    for window in windows:
        points = [
            (row.n_prompts, row.probability, row.low, row.high)
            for row in rows
            if row.window == window
        ]
        curves.append((f"{window} models", points))
    return _curves(
        f"How often adjacent models of {report.suite} switch places",
        "probability that they switch",
        curves,
    )


def size_charts(report: ReliabilityReport) -> list[Chart | None]:
    """Bounds of the three objectives, and of ranks, by what is drawn (figs. 6 and 8 to
    10)."""
    charts = []
    for granularity, group in groupby(report.rows, key=lambda row: row.granularity):
        rows = [row for row in group if row.ranking is not None]
        names = ("ranking", "quality", "best")
        ends = []
        for n in names:
            ends.append((n, [_bounds(row, n) for row in rows]))
        if len(rows) > 1:
            charts.append(
                _curves(
                    f"Reliability of {report.suite} by other {granularity}",
                    "DIoR",
                    ends,
                )
            )
        if granularity == "prompts" and len(rows) > 1:
            away = [(row.n_prompts, row.rank_resolution, None, None) for row in rows]
            charts.append(
                _curves(
                    "Ranks lie so far from those on all prompts, in 95 %",
                    "ranks",
                    [("rank ±", away)],
                )
            )
    return charts


def _bounds(
    row: Any, name: str
) -> tuple[float, float | None, float | None, float | None]:
    return (
        row.n_prompts,
        getattr(row, name),
        getattr(row, f"{name}_low"),
        getattr(row, f"{name}_high"),
    )


def seed_charts(report: ReliabilityReport) -> list[Chart | None]:
    """Widths of the central 95 % by budget: mean win rate (fig. 4), mean data-set score
    (fig. 7)."""
    charts = []
    for figure, prefix in (("mean win rate", ""), ("mean data-set score", "mean_")):
        curves = []
        for resampling in ("bootstrap", "subsample"):
            for design, words in (("full", "all seeds"), ("uniform", "uniform")):
                rows = [
                    row for row in report.seed_designs if row.resampling == resampling
                ]
                points = [
                    _width(row, f"{prefix}width_{design}", f"{prefix}error_{design}")
                    for row in rows
                ]
                curves.append((f"{words}, {resampling}", points))
        if report.seed_designs:
            charts.append(
                _curves(
                    f"Central 95 % of the {figure} of {report.suite}",
                    "width",
                    curves,
                    "calls",
                )
            )
    return charts


def _width(
    row: Any, name: str, error: str
) -> tuple[float, float, float | None, float | None]:
    width = getattr(row, name)
    off = getattr(row, error)
    nearest = None
    if off is not None:
        nearest = max(0.0, width - off)
    return (
        row.budget,
        width,
        nearest,
        None if off is None else width + off,
    )


def agreement_chart(report: ReliabilityReport) -> Chart | None:
    """Kendall's τ between subscenarios (figs. 11 and 12)."""
    tau = {
        frozenset(
            ((r.scenario, r.subscenario), (r.other_scenario, r.other_subscenario))
        ): r.tau
        for r in report.agreement
    }
    names = sorted(set(chain.from_iterable(tau)))
    values = []
    for a in names:
        values.append(
            [_share(1.0 if a == b else tau[frozenset((a, b))]) for b in names]
        )
    words = [
        f"{-1 + 2 * i / SHADES:.1f} to {-1 + 2 * (i + 1) / SHADES:.1f}"
        for i in range(SHADES)
    ]
    title = f"Kendall's tau between subscenarios of {report.suite}"
    return heat_map(
        values, title=title, say=title, words=words, names=[name for _, name in names]
    )


def _share(tau: float | None) -> float | None:
    if tau is None:
        return None
    return (1 + tau) / 2


def _curves(
    title: str,
    up: str,
    curves: Sequence[
        tuple[str, Iterable[tuple[float, float | None, float | None, float | None]]]
    ],
    across: str = _CALLS,
) -> Chart | None:
    """Curves over the number of calls, each with an area between its ends."""
    drawn = [(name, list(points)) for name, points in curves]
    middles = []
    for name, points in drawn:
        middles.append((name, [(x, estimate) for x, estimate, _, _ in points]))
    layers = lines(middles, dots=True)
    bands = []
    for (_, points), (colour, _) in zip(drawn, SERIES, strict=False):
        bands.append(
            layer(
                {"type": "area", "fill": colour, "fillOpacity": 0.16},
                [
                    {"x": x, "y": low, "y2": high}
                    for x, _, low, high in points
                    if finite(low) is not None
                ],
                y2={"field": "y2"},
            )
        )
    all_points = list(chain.from_iterable(points for _, points in drawn))
    return chart(
        title,
        f"{title}, by {across}; the figures are in the table",
        axis(across, span([p[0] for p in all_points]), log=True),
        axis(
            up, span(list(chain.from_iterable(p[1:] for p in all_points)), also=(0.0,))
        ),
        [*bands, *layers],
        size=TALL_PLOT,
    )
