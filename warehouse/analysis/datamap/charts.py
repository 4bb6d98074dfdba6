"""Data maps as charts: P(correct) against S(consistency), and how P(correct) is spread."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from warehouse.analysis.datamap.view import DataMap, DataMapRow, DistributionRow
from warehouse.charts.chart import Chart, Spec, axis, bars, chart, colours, layer

#: Cells of a map in each direction: prompts that fall into one are one dot.
_CELLS = 25
#: Sizes of dots: up to this share of the largest count they have this area, in square
#: pixels.
_SIZES = ((0.02, 12), (0.08, 28), (0.25, 50), (0.6, 79), (1.0, 133))


def datamap_charts(report: DataMap) -> list[Chart]:
    """The maps of each condition, then the distributions of P(correct)."""
    maps, histograms = map_charts([report])
    return [*maps, *histograms]


def map_charts(maps: Sequence[DataMap]) -> tuple[list[Chart], list[Chart]]:
    """The map of each condition whose generations have text, and the distributions of
    P(correct) on one scale."""
    spread = []
    for mapped in maps:
        for row in mapped.distribution:
            spread.append((mapped, row))
    charts = [_map(mapped, row) for mapped, row in spread]
    shares: list[float] = []
    for _, row in spread:
        shares.extend(count / row.n_prompts for count in row.histogram)
    top = max(shares, default=1.0)
    histograms = [_distribution(row, top) for _, row in spread]
    return [picture for picture in charts if picture], [
        picture for picture in histograms if picture
    ]


def name_of(row: DistributionRow) -> str:
    """A condition as its charts call it."""
    return ", ".join(filter(None, (row.model, row.condition, row.split)))


def _map(data_map: DataMap, spread: DistributionRow) -> Chart | None:
    rows = [
        row
        for row in data_map.rows
        if _is_of(row, spread) and row.consistency is not None
    ]
    points = [
        (row.p_correct, row.consistency)
        for row in rows
        if row.p_correct is not None and row.consistency is not None
    ]
    if not points:
        return None
    lowest = -math.log(max(row.n_generations for row in rows))
    counts: Counter[tuple[int, int]] = Counter()
    for p, s in points:
        counts[_cell(p, 0.0, 1.0), _cell(s, lowest, 0.0)] += 1
    sizes = _sizes(counts.values())
    cells = sorted(counts.items(), key=lambda cell: (cell[1], cell[0]))
    dots = [
        {
            "x": across / _CELLS,
            "y": lowest * (1 - up / _CELLS),
            "k": _label(sizes, count),
        }
        for (across, up), count in cells
    ]
    region = {
        "x": 0.0,
        "x2": data_map.max_p,
        "y": max(data_map.min_s, lowest),
        "y2": 0.0,
        "k": "suspected label errors",
    }
    return chart(
        name_of(spread),
        f"P(correct) against S(consistency) of {len(points)} prompts;"
        f" {spread.n_suspected} lie in the region of suspected label errors",
        axis("P(correct)", (0.0, 1.0)),
        axis("S(consistency)", (lowest, 0.0), nice=False),
        [_region(region), _dots(dots, {label: size for label, _, size in sizes})],
    )


def _sizes(counts: Iterable[int]) -> list[tuple[str, int, int]]:
    """Sizes of dots: label, the largest count that it stands for, area."""
    most, first = max(counts), 1
    sizes = []
    for share, size in _SIZES:
        last = int(share * most)
        if last >= first:
            label = str(last)
            if last != first:
                label = f"≤\u2009{last}"
            sizes.append((label, last, size))
            first = last + 1
    return sizes


def _label(sizes: Sequence[tuple[str, int, int]], count: int) -> str:
    return next(label for label, last, _ in sizes if count <= last)


def _region(box: Spec) -> Spec:
    return layer(
        {"type": "rect", "stroke": "var(--bad)", "strokeDash": [3, 2]},
        [box],
        x2={"field": "x2"},
        y2={"field": "y2"},
        fill=colours("k", {box["k"]: "var(--region)"}, {"symbolType": "square"}),
    )


def _dots(rows: Sequence[Spec], areas: Mapping[str, int]) -> Spec:
    scale = {"type": "ordinal", "domain": list(areas), "range": list(areas.values())}
    legend = {
        "title": "prompts",
        "columns": len(areas),
        "symbolFillColor": "var(--mark)",
        "symbolStrokeWidth": 0,
    }
    return layer(
        {
            "type": "point",
            "filled": True,
            "fill": "var(--mark)",
            "fillOpacity": 0.75,
            "strokeWidth": 0,
        },
        rows,
        size={"field": "k", "type": "ordinal", "scale": scale, "legend": legend},
    )


def _cell(value: float, low: float, high: float) -> int:
    return round((value - low) / (high - low) * _CELLS)


def _is_of(row: DataMapRow, spread: DistributionRow) -> bool:
    return (row.model, row.condition, row.split) == (
        spread.model,
        spread.condition,
        spread.split,
    )


def _distribution(row: DistributionRow, top: float) -> Chart | None:
    width = 1 / len(row.histogram)
    bins = [
        (index * width, (index + 1) * width, 0.0, count / row.n_prompts, "")
        for index, count in enumerate(row.histogram)
    ]
    return chart(
        name_of(row),
        f"Histogram of P(correct) over {row.n_prompts} prompts, "
        f"{100 * row.share_never:.0f}% never, {100 * row.share_always:.0f}% always "
        "correct",
        axis("P(correct)", (0.0, 1.0)),
        axis("share of prompts", (0.0, top)),
        [bars(bins, {"": "var(--fill)"}, with_legend=False)],
    )
