"""Figures of stored matrix analyses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, combinations, groupby

from warehouse.analysis.matrix.cluster_view import MatrixClusters
from warehouse.analysis.matrix.correlation_view import HistogramRow, MatrixTest
from warehouse.analysis.matrix.explanation_view import MatrixExplanation
from warehouse.analysis.matrix.growth_view import MatrixGrowth
from warehouse.analysis.matrix.weights_view import MatrixWeights, RandomWeightRow
from warehouse.charts.chart import (
    COLOURS,
    Bin,
    Chart,
    Points,
    Spec,
    axis,
    bars,
    chart,
    colours,
    layer,
    lines,
    span,
)
from warehouse.charts.heat_map import heat_map

#: Bins of the coefficients.
BINS = 30
#: FDR from which on a coefficient is drawn as found.
FDR = 0.05
#: Names of the two orders in which prompts are added.
_ORDERS = {
    "informative": "most informative prompts first",
    "random": "prompts in random order",
}


def similarity_charts(test: MatrixTest) -> list[Chart]:
    """For each similarity its histogram, observed and shuffled."""
    groups = groupby(test.histogram, key=lambda row: row.similarity)
    charts = [_similarities(name, list(rows)) for name, rows in groups]
    return [drawn for drawn in charts if drawn]


def _similarities(name: str, bins: Sequence[HistogramRow]) -> Chart | None:
    filled = [index for index, row in enumerate(bins) if row.observed or row.permuted]
    if not filled:
        return None
    rows = bins[filled[0] : filled[-1] + 1]
    apart = sum(abs(row.observed - row.permuted) for row in rows) / 2
    observed = [(row.low, row.high, 0.0, row.observed, "observed") for row in rows]
    heights = list(chain.from_iterable((row.observed, row.permuted) for row in rows))
    return chart(
        f"{name.capitalize()} similarity of pairs of prompts",
        f"Histogram of {name} similarity, observed against shuffled: the two differ in "
        f"{100 * apart:.1f}% of the pairs",
        axis("similarity", span([rows[0].low, rows[-1].high]), nice=False),
        axis("share of pairs", span(heights, also=(0.0,))),
        [bars(observed, {"observed": "var(--fill)"}), _outline(rows)],
    )


def _outline(rows: Sequence[HistogramRow]) -> Spec:
    """The shares of shuffled matrices, as steps from 0 to 0."""
    corners = [
        {"x": rows[0].low, "y": 0.0},
        *({"x": row.low, "y": row.permuted} for row in rows),
        {"x": rows[-1].high, "y": rows[-1].permuted},
        {"x": rows[-1].high, "y": 0.0},
    ]
    words = "shuffled, mean"
    stroke = colours("k", {words: "var(--warm)"}, {"symbolType": "stroke"})
    return layer(
        {"type": "line", "interpolate": "step-after"},
        [{**corner, "k": words} for corner in corners],
        stroke=stroke,
    )


def silhouette_charts(clustering: MatrixClusters) -> list[Chart | None]:
    """How well each number of clusters fits."""
    return [silhouette_chart(clustering)]


def silhouette_chart(clustering: MatrixClusters) -> Chart | None:
    """Mean silhouette by number of clusters, observed and shuffled."""
    rows = clustering.rows
    curves: list[tuple[str, Points]] = [
        ("observed", [(row.n_clusters, row.silhouette) for row in rows]),
        ("shuffled, mean", [(row.n_clusters, row.silhouette_permuted) for row in rows]),
    ]
    layers = lines(curves, dots=True)
    all_points = list(chain.from_iterable(points for _, points in curves))
    return chart(
        "Mean silhouette against the number of clusters",
        f"Mean silhouette by number of clusters; {clustering.n_clusters} clusters are "
        "best",
        axis("clusters", span([float(row.n_clusters) for row in rows]), whole=True),
        axis(
            "mean silhouette",
            span([value for _, value in all_points], also=(0.0,)),
        ),
        layers,
    )


def outrank_charts(weights: MatrixWeights) -> list[Chart | None]:
    """How often each model outranks each other, in the order of their ranks."""
    return [outrank_chart(weights, by_rank(weights))]


def by_rank(weights: MatrixWeights) -> list[RandomWeightRow]:
    """The models in the order of their ranks where all prompts weigh the same."""
    ranks = {row.model: row.rank for row in weights.rows if row.scheme == "uniform"}
    return sorted(weights.random, key=lambda row: ranks[row.model])


def outrank_chart(
    weights: MatrixWeights, rows: Sequence[RandomWeightRow]
) -> Chart | None:
    """How often the row outranks the column: a heat map of models in the order of
    ``rows``."""
    shares = {(row.model, row.other): row.outranks for row in weights.outranks}
    values = []
    for row in rows:
        values.append([shares.get((row.model, other.model)) for other in rows])
    turned = sum(
        shares[row.model, other.model] < 0.95 for row, other in combinations(rows, 2)
    )
    n_pairs = len(rows) * (len(rows) - 1) // 2
    return heat_map(
        values,
        title="Share of random weightings in which the row outranks the column",
        say=f"Heat map of {len(rows)} by {len(rows)} models in order of rank: of {n_pairs} pairs,"
        f" {turned} keep their order in less than 95% of the weightings",
        names=[row.model for row in rows],
    )


def growth_charts(growth: MatrixGrowth) -> list[Chart]:
    """Scores against size in both orders, and how far they are from those on all
    prompts."""
    last = max(row.size for row in growth.rows)
    final = {row.model: row.rank for row in growth.rows if row.size == last}
    best = sorted(final, key=lambda model: (final[model], model))[:COLOURS]
    charts = [
        *(_scores_by_size(growth, order, best) for order in _ORDERS),
        _gaps(growth),
    ]
    return [drawn for drawn in charts if drawn]


def _scores_by_size(
    growth: MatrixGrowth, order: str, best: Sequence[str]
) -> Chart | None:
    curves: dict[str, list[tuple[float, float | None]]] = {}
    for row in growth.rows:
        if row.order == order:
            curves.setdefault(row.model, []).append((row.size, row.score))
    if not curves:
        return None
    layers = lines(
        [(model, curves[model]) for model in best],
        faint=[points for model, points in sorted(curves.items()) if model not in best],
    )
    return chart(
        f"Score against size, {_ORDERS[order]}",
        f"Score of {len(curves)} models against the number of prompts, "
        f"{_ORDERS[order]}; best on all prompts: {', '.join(best)}",
        axis("prompts", span([float(row.size) for row in growth.rows]), log=True),
        axis("score", span([row.score for row in growth.rows])),
        layers,
    )


def _gaps(growth: MatrixGrowth) -> Chart | None:
    curves: list[tuple[str, Points]] = []
    for order in _ORDERS:
        curves.append(
            (
                order,
                [
                    (row.size, row.largest_gap)
                    for row in growth.steps
                    if row.order == order
                ],
            )
        )
    layers = lines(curves)
    return chart(
        "Largest difference of a model's score from that on all prompts",
        "Largest difference of any model's score from its score on all prompts, "
        "against the number of prompts, in both orders",
        axis("prompts", span([float(row.size) for row in growth.steps]), log=True),
        axis(
            "largest difference",
            span([row.largest_gap for row in growth.steps], also=(0.0,)),
        ),
        layers,
    )


def coefficient_charts(explanation: MatrixExplanation) -> list[Chart | None]:
    """How much what prompts ask says of their scores."""
    return [coefficient_chart(explanation)]


def coefficient_chart(explanation: MatrixExplanation) -> Chart | None:
    """Coefficients of the prompts: a histogram, those with a low FDR told apart."""
    values = [
        (row.coefficient, row.fdr is not None and row.fdr < FDR)
        for row in explanation.rows
        if row.coefficient is not None
    ]
    ends = span([value for value, _ in values], also=(0.0,))
    if ends is None:
        return None
    low_fdr = [0] * BINS
    others = [0] * BINS
    for value, is_found in values:
        place = (value - ends[0]) / (ends[1] - ends[0])
        number = min(int(place * BINS), BINS - 1)
        (low_fdr if is_found else others)[number] += 1
    highest = max(count + other for count, other in zip(low_fdr, others, strict=True))
    words = f"FDR below {FDR}"
    return chart(
        "Coefficients of performance on semantic similarity, by prompt",
        f"Histogram of {len(values)} coefficients from {ends[0]:.3g} to {ends[1]:.3g};"
        f" {sum(low_fdr)} have an FDR below {FDR}",
        axis("coefficient", ends, nice=False),
        axis("prompts", (0.0, float(highest)), whole=True),
        [
            bars(
                _stacked(ends, low_fdr, others, words),
                {words: "var(--fill)", "others": "var(--grey)"},
            )
        ],
    )


def _stacked(
    ends: tuple[float, float], low_fdr: Sequence[int], others: Sequence[int], words: str
) -> Iterator[Bin]:
    """Bars of one kind at the floor, those of the others on top of them."""
    start, end = ends
    edges = [start + index * (end - start) / BINS for index in range(BINS + 1)]
    for index in range(BINS):
        low = edges[index]
        high = edges[index + 1]
        floor = float(low_fdr[index])
        yield low, high, 0.0, floor, words
        yield low, high, floor, floor + others[index], "others"
