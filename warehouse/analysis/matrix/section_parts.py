"""Stored matrix analyses of one benchmark for the page: drawings, tables, and one plain
sentence on each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from markupsafe import Markup

from warehouse.analysis.items.excerpts import distinctive
from warehouse.analysis.items.excerpts import excerpt as shorten
from warehouse.analysis.matrix.cached import StoredMatrix
from warehouse.analysis.matrix.charts import (
    FDR,
    by_rank,
    coefficient_chart,
    growth_charts,
    outrank_chart,
    silhouette_chart,
    similarity_charts,
)
from warehouse.analysis.matrix.cluster_view import ClusterRow, MatrixClusters
from warehouse.analysis.matrix.correlation_view import MatrixTest
from warehouse.analysis.matrix.explanation_view import ExplainRow, MatrixExplanation
from warehouse.analysis.matrix.growth_view import GrowthStep, MatrixGrowth
from warehouse.analysis.matrix.weights_view import (
    MatrixWeights,
    RandomWeightRow,
    WeightRow,
)
from warehouse.charts.axes import Axis, make_axis
from warehouse.charts.in_tables import drawing
from warehouse.tables.page import PageColumn, count, number, table, text, written
from warehouse.tables.page import name as name_column
from warehouse.tables.words import decimals

#: Prompts that the table of coefficients shows, and clusters.
TOP = 10
#: Rows of the table behind the growth curves, for each order.
_SIZES = 10


def matrix_part(
    stored: StoredMatrix, distinct: Mapping[tuple[str, str], bool] | None = None
) -> dict[str, Any]:
    """Charts and tables of what is stored, by field; what is not there is None.

    Args:
        distinct: whether two models differ by a test, by their labels; unknown pairs
            count as ties.
    """
    chosen = dict(stored.chosen)
    parts: dict[str, Any] = {
        "test": stored.test
        and {
            "result": stored.test,
            "charts": similarity_charts(stored.test),
            "says": test_says(stored.test),
            "table": test_table(stored.test),
        },
        "clusters": stored.clusters and _clusters(stored.clusters),
        "weights": stored.weights and _weights(stored.weights, distinct or {}),
        "growth": stored.growth and _growth(stored.growth),
        "explanation": stored.explanation and _explanation(stored.explanation),
    }
    for name, part in parts.items():
        if part is not None:
            part["head"] = _head(part["result"], chosen.get(name, ""))
    return {**parts, "any": bool(stored.found)}


def _head(result: Any, chosen: str) -> str:
    left_out = ""
    if result.n_incomplete:
        left_out = f", {result.n_incomplete} incomplete left out"
    selection = ""
    if chosen:
        selection = f"; runs: {chosen}"
    return (
        f"{result.n_prompts} prompts{left_out} × {result.n_models} models, "
        f"{result.metric}, seed {result.seed}; computed "
        f"{result.computed_at.replace('T', ' ')} UTC{selection}"
    )


def _clusters(clustering: MatrixClusters) -> dict[str, Any]:
    largest = sorted(clustering.clusters, key=lambda row: -row.n_prompts)
    more = max(0, len(largest) - TOP)
    whole_texts = distinctive([row.text for row in largest])
    texts = [shorten(text) for text in whole_texts[:TOP]]
    return {
        "result": clustering,
        "chart": silhouette_chart(clustering),
        "says": clusters_say(clustering),
        "silhouettes": silhouettes_table(clustering),
        "table": clusters_table(largest[:TOP], clustering.benchmark, more, texts),
    }


@dataclass(frozen=True)
class ChangeRow:
    """One model under every weighting: score, rank and its change by scheme."""

    rank: int
    model: str
    score: float
    changes: tuple[tuple[float, int, str], ...]


def _weights(
    weights: MatrixWeights, distinct: Mapping[tuple[str, str], bool]
) -> dict[str, Any]:
    schemes = list(dict.fromkeys(row.scheme for row in weights.rows))
    cells = {(row.model, row.scheme): row for row in weights.rows}
    models = sorted(weights.models, key=lambda model: cells[model, "uniform"].rank)
    others = [scheme for scheme in schemes if scheme != "uniform"]
    changes = [
        ChangeRow(
            cells[model, "uniform"].rank,
            model,
            cells[model, "uniform"].score,
            tuple(
                (
                    cells[model, scheme].score,
                    cells[model, scheme].rank_change,
                    _shade(cells[model, scheme].rank_change, len(models))
                    if passes(model, scheme, models, cells, distinct)
                    else "",
                )
                for scheme in others
            ),
        )
        for model in models
    ]
    ordered = by_rank(weights)
    ends = list(
        chain.from_iterable((row.lowest, row.highest) for row in weights.random)
    )
    axis = make_axis(ends)
    return {
        "result": weights,
        "says": weights_say(models, cells, others, distinct),
        "table": weights_table(changes, others, weights.benchmark),
        "random_table": random_table(weights, ordered, axis),
        "outranks": outrank_chart(weights, ordered),
    }


def _shade(change: int, n_models: int) -> str:
    """Class of a cell: the direction of a change of rank, and how large it is of all
    ranks."""
    if not change:
        return ""
    level = 1 + min(4, int(10 * abs(change) / n_models))
    return f"{'up' if change > 0 else 'down'}{level}"


def _growth(growth: MatrixGrowth) -> dict[str, Any]:
    sizes = sorted({step.size for step in growth.steps})
    stride = max(1, -(-len(sizes) // _SIZES))
    shown = {*sizes[::-1][::stride]}
    return {
        "result": growth,
        "charts": growth_charts(growth),
        "says": growth_says(growth),
        "table": growth_table(
            [step for step in growth.steps if step.size in shown], growth.benchmark
        ),
    }


def _explanation(explanation: MatrixExplanation) -> dict[str, Any]:
    rows = [row for row in explanation.rows if row.coefficient is not None]
    positive = [row for row in rows if (row.coefficient or 0) > 0]
    tests = [
        (
            "mean coefficient",
            explanation.mean_coefficient,
            explanation.mean_coefficient_permuted,
            explanation.p_mean_coefficient,
            None,
        ),
        (
            "ks of coefficients",
            explanation.ks_coefficient,
            None,
            explanation.p_ks_coefficient,
            explanation.p_ks_coefficient_textbook,
        ),
        (
            "ks of FDRs",
            explanation.ks_fdr,
            None,
            explanation.p_ks_fdr,
            explanation.p_ks_fdr_textbook,
        ),
        ("Mantel r", explanation.mantel_r, None, explanation.mantel_p, None),
    ]
    top = positive[:TOP]
    whole_texts = distinctive([row.text for row in rows])
    texts = [shorten(text) for text in whole_texts]
    by_row = dict(zip((row.prompt for row in rows), texts, strict=True))
    return {
        "result": explanation,
        "chart": coefficient_chart(explanation),
        "table": explanation_table(tests, explanation.benchmark),
        "top": bool(top),
        "top_table": explained_table(
            top, explanation.benchmark, [by_row[row.prompt] for row in top]
        )
        if top
        else None,
        "n_found": sum((row.fdr or 0) < FDR for row in positive if row.fdr is not None),
        "n_defined": len(rows),
    }


#: Weightings that a narrow table shows.
FIRST = 2
#: Permutations from which on p of one test can be .05.
LEAST_PERMUTATIONS = 19
#: A cluster with more than this share of the prompts says so.
LARGE = 0.3


def test_says(test: MatrixTest) -> str:
    """A sentence on whether models fail on the same prompts: the smallest p, times the
    number of tests (Bonferroni)."""
    n_tests = len(test.rows)
    if 1 / (test.n_permutations + 1) > 0.05 / n_tests:
        return (
            f"{test.n_permutations} permutations are too few to say whether prompts "
            f"are correlated beyond chance: {n_tests} tests need "
            f"{math.ceil(n_tests / 0.05) - 1}."
        )
    if any(row.p_value <= 0.05 / n_tests for row in test.rows):
        return (
            "Prompts are correlated: models succeed and fail on the same ones, more "
            "than by chance, so that the mean depends on which kinds of prompts there "
            "are many of."
        )
    return "No correlation of prompts beyond chance was found."


def test_table(test: MatrixTest) -> Markup:
    """Permutation tests."""
    rows = test.rows
    return table(
        f"Permutation tests of {test.benchmark}",
        "Each model's scores shuffled over the prompts. p: (1 + shuffled at or above "
        "the observed) / (1 + N). The textbook p of ks takes pairs of prompts as "
        "independent: it is too small, and stands here to compare with papers.",
        [
            name_column("Similarity", [row.similarity for row in rows]),
            text("Statistic", [row.statistic for row in rows], keep=True),
            number("Observed", [row.observed for row in rows]),
            number("Shuffled", [row.permuted_mean for row in rows], minor=True),
            number("2.5%", [row.permuted_low for row in rows], minor=True),
            number("97.5%", [row.permuted_high for row in rows], minor=True),
            number("p", [row.p_value for row in rows], "%.2g"),
            number("p, textbook", [row.p_textbook for row in rows], "%.2g", minor=True),
            text("Note", [row.reason for row in rows], wrap=True, minor=True),
        ],
    )


def clusters_say(clustering: MatrixClusters) -> str:
    """A sentence on whether clusters are more than chance, and whether one of them
    holds most prompts."""
    if clustering.p_value is None or clustering.n_permutations < LEAST_PERMUTATIONS:
        sentence = (
            f"Prompts fall into {clustering.n_clusters} clusters; whether that is "
            "chance was not tested."
        )
    elif clustering.p_value <= 0.05:
        sentence = (
            f"Prompts fall into {clustering.n_clusters} clusters that models solve or "
            "fail together, more than by chance."
        )
    else:
        sentence = (
            f"The {clustering.n_clusters} clusters are no better than those of "
            "shuffled scores: do not read them."
        )
    largest = max((row.n_prompts for row in clustering.clusters), default=0)
    if largest > LARGE * clustering.n_prompts and len(clustering.clusters) > 1:
        sentence += (
            f" One of them holds {largest} of {clustering.n_prompts} prompts: it says "
            "little of what they have in common."
        )
    return sentence


def silhouettes_table(clustering: MatrixClusters) -> Markup:
    """Mean silhouette by number of clusters."""
    rows = clustering.rows
    chosen = next((index for index, row in enumerate(rows) if row.chosen), -1)
    return table(
        f"Silhouettes of {clustering.benchmark}",
        "Mean silhouette by number of clusters.",
        [
            count(
                "Clusters tried",
                [row.n_clusters for row in rows],
                minor=False,
                keep=True,
            ),
            number("Silhouette", [row.silhouette for row in rows]),
            number("Shuffled, mean", [row.silhouette_permuted for row in rows]),
            number(
                "Shuffled, largest",
                [row.silhouette_permuted_high for row in rows],
                minor=True,
            ),
        ],
        chosen=chosen,
    )


def clusters_table(
    rows: Sequence[ClusterRow], benchmark: str, more: int, excerpts: Sequence[str]
) -> Markup:
    """The chosen clusters."""
    other = ""
    if more:
        other = Markup(
            " The other {}: <code>warehouse matrix cluster BENCHMARK</code>."
        ).format(more)
    excerpt_column = None
    if any(excerpts):
        excerpt_column = text("Its text", excerpts, long=True, minor=True)
    return table(
        f"Clusters of {benchmark}",
        Markup("The clusters chosen, largest first.{}").format(other),
        [
            count("Cluster", [row.cluster for row in rows], minor=False, keep=True),
            count("Prompts", [row.n_prompts for row in rows], minor=False, keep=True),
            number("Mean score", [row.mean_score for row in rows], 3),
            number("Mean distance", [row.mean_distance for row in rows], 3, minor=True),
            name_column("Medoid", [row.medoid for row in rows], wrap=True),
            excerpt_column,
        ],
    )


def weights_say(
    models: Sequence[str],
    cells: Mapping[tuple[str, str], WeightRow],
    others: Sequence[str],
    distinct: Mapping[tuple[str, str], bool],
) -> str:
    """A sentence on whether other weights turn round any two models that differ by a
    test (``distinct``)."""
    turned = set()
    for scheme in others:
        for index, a in enumerate(models):
            for b in models[index + 1 :]:
                if cells[a, scheme].rank > cells[b, scheme].rank and distinct.get(
                    (a, b)
                ):
                    turned.add(tuple(sorted((a, b))))
    if not turned:
        return (
            "Ranks hold: other weights change the order only of models that cannot be "
            "told apart anyway."
        )
    n = len(turned)
    return (
        f"Other weights turn round {n} {'pair' if n == 1 else 'pairs'} of models that "
        "equal weights tell apart."
    )


def passes(
    model: str,
    scheme: str,
    models: Sequence[str],
    cells: Mapping[tuple[str, str], WeightRow],
    distinct: Mapping[tuple[str, str], bool],
) -> bool:
    """True if a model changes places, under a weighting, with one that it differs from
    by a test."""
    own = cells[model, scheme].rank
    uniform = cells[model, "uniform"].rank
    return any(
        distinct.get((model, other), False)
        and (own - cells[other, scheme].rank) * (uniform - cells[other, "uniform"].rank)
        < 0
        for other in models
        if other != model
    )


def weights_table(
    changes: Sequence[Any], schemes: Sequence[str], benchmark: str
) -> Markup:
    """Scores and changes of rank under each weighting."""
    columns = []
    for index, scheme in enumerate(schemes):
        cells = []
        for row in changes:
            score, change, shade = row.changes[index]
            if change > 0:
                arrow = f"▲{change}"
            elif change < 0:
                arrow = f"▼{-change}"
            else:
                arrow = "="
            kinds = " ".join(filter(None, [shade, "x" if index >= FIRST else ""]))
            own = ""
            if kinds:
                own = f' class="{kinds}"'
            cells.append(f'<td{own} data-v="{change}">{written(score, 3)} {arrow}')
        columns.append(
            PageColumn(
                str(Markup("<bdi>{}</bdi>").format(scheme)),
                "n",
                tuple(cells),
                None,
                index >= FIRST,
            )
        )
    return table(
        f"Ranks under other weights, {benchmark}",
        "Score under each weighting, and the change of rank from equal weights: ▲ "
        "rises, ▼ falls; coloured where it changes places with a model that it is told "
        "apart from, the stronger, the further.",
        [
            count("Rank", [row.rank for row in changes], minor=False, keep=True),
            name_column("Model weighed", [row.model for row in changes]),
            number("Uniform", [row.score for row in changes], 3),
            *columns,
        ],
    )


def random_table(
    weights: MatrixWeights, rows: Sequence[RandomWeightRow], axis: Axis | None
) -> Markup:
    """Scores over random weightings."""
    drawn = [
        f'<svg aria-hidden="true"><path class="thin" d="M{axis.at(row.lowest)} '
        f'10H{axis.at(row.highest)}"/><path class="bar" d="M{axis.at(row.low)} '
        f'10H{axis.at(row.high)}"/><circle class="dot" cx="{axis.at(row.uniform)}" '
        'cy="10" r="4"/></svg>'
        if axis
        else ""
        for row in rows
    ]
    n_decimals = decimals(row.standard_deviation for row in rows)
    best = [
        f'<td data-v="{written(row.best, "%.8g")}">{100 * row.best:.1f}%'
        for row in rows
    ]
    return table(
        f"Random weightings of {weights.benchmark}",
        f"Scores over {weights.n_draws} random weightings. Drawn: score with equal "
        "weights, the range of 95% of the weightings, and of all. Best in: share of "
        "the weightings in which the model is best.",
        [
            count("No.", range(1, len(rows) + 1), keep=True),
            name_column("Model drawn", [row.model for row in rows]),
            number("Uniform", [row.uniform for row in rows], n_decimals),
            PageColumn("Best in", "n", tuple(best)),
            drawing("Range of scores", axis, drawn),
            number("Lowest", [row.lowest for row in rows], n_decimals, minor=True),
            number("2.5%", [row.low for row in rows], n_decimals),
            number("97.5%", [row.high for row in rows], n_decimals),
            number("Highest", [row.highest for row in rows], n_decimals, minor=True),
            number("SD", [row.standard_deviation for row in rows], "%.2g", minor=True),
        ],
    )


def growth_says(growth: MatrixGrowth) -> str:
    """From which size on scores are near those on all prompts."""
    steps = sorted(
        (step for step in growth.steps if step.order == "random"),
        key=lambda step: step.size,
    )
    near = None
    for step in reversed(steps):
        if not step.largest_gap <= 0.02:
            break
        near = step.size
    if near is None or not steps:
        return (
            "Scores change while prompts are added; how far shows how much a smaller "
            "benchmark would say."
        )
    return (
        f"From {near} prompts in random order on, no score is further than 0.02 from "
        f"that on all {steps[-1].size}."
    )


def growth_table(steps: Sequence[GrowthStep], benchmark: str) -> Markup:
    """The first prompts of each order."""
    return table(
        f"Growth of {benchmark}",
        "The first prompts of each order, over all models. Rank correlation: Kendall's "
        "τ-b with the scores on all prompts.",
        [
            name_column("Order", [step.order for step in steps]),
            count("Size", [step.size for step in steps], minor=False, keep=True),
            number("Mean score", [step.mean for step in steps], 3),
            number("Largest difference", [step.largest_gap for step in steps], "%.3g"),
            number(
                "Rank correlation", [step.kendall_tau for step in steps], 2, minor=True
            ),
        ],
    )


def explanation_table(tests: Sequence[tuple[Any, ...]], benchmark: str) -> Markup:
    """Tests of what text explains."""
    return table(
        f"Tests of the explanation, {benchmark}",
        "Performance similarity regressed on semantic similarity, prompt by prompt, "
        "against shuffled prompts; Mantel r: correlation of the two similarities over "
        "pairs.",
        [
            name_column("Statistic of the explanation", [test[0] for test in tests]),
            number("Observed", [test[1] for test in tests]),
            number("Shuffled", [test[2] for test in tests], minor=True),
            number("p", [test[3] for test in tests], "%.2g"),
            number("p, textbook", [test[4] for test in tests], "%.2g", minor=True),
        ],
    )


def explained_table(
    rows: Sequence[ExplainRow], benchmark: str, excerpts: Sequence[str]
) -> Markup:
    """Prompts with the largest coefficients."""
    return table(
        f"Prompts explained best, {benchmark}",
        "Prompts with the largest coefficients.",
        [
            name_column("Prompt explained", [row.prompt for row in rows], wrap=True),
            number("Coefficient", [row.coefficient for row in rows]),
            number("t", [row.t for row in rows], 2, minor=True),
            number("FDR", [row.fdr for row in rows], "%.2g"),
            text("Text", excerpts, long=True, minor=True, keep=True),
        ],
    )
