"""Tables of stored matrix analyses, and one plain sentence on each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from warehouse.analysis.matrix.results import (
    ClusterRow,
    ExplainRow,
    GrowthStep,
    MatrixClusters,
    MatrixGrowth,
    MatrixTest,
    MatrixWeights,
    RandomWeightRow,
    WeightRow,
)
from warehouse.report.plots import Axis
from warehouse.report.table import Column, count, drawing, name, number, table, text, written
from warehouse.tables.words import decimals

#: Weightings that a narrow table shows.
FIRST = 2
#: Permutations from which on p can be .05.
LEAST_PERMUTATIONS = 19
#: A cluster with more than this share of the prompts says so.
LARGE = 0.3


def test_says(test: MatrixTest) -> str:
    """Whether models fail on the same prompts."""
    if test.n_permutations < LEAST_PERMUTATIONS:
        return f"{test.n_permutations} permutations are too few to say whether prompts are correlated beyond chance."
    if any(row.p_value is not None and row.p_value <= 0.05 for row in test.rows):
        return (
            "Prompts are correlated: models succeed and fail on the same ones, more than by chance, so that the mean"
            " depends on which kinds of prompts there are many of."
        )
    return "No correlation of prompts beyond chance was found."


def test_table(test: MatrixTest) -> Markup:
    """Permutation tests."""
    rows = test.rows
    return table(
        f"Permutation tests of {test.benchmark}",
        "Each model's scores shuffled over the prompts. p: (1 + shuffled at or above the observed) / (1 + N). The"
        " textbook p of ks takes pairs of prompts as independent: it is too small, and stands here to compare with"
        " papers.",
        [
            name("Similarity", [row.similarity for row in rows]),
            text("Statistic", [row.statistic for row in rows], keep=True),
            number("Observed", [row.observed for row in rows]),
            number("Shuffled", [row.permuted_mean for row in rows], spare=True),
            number("2.5%", [row.permuted_low for row in rows], spare=True),
            number("97.5%", [row.permuted_high for row in rows], spare=True),
            number("p", [row.p_value for row in rows], "%.2g"),
            number("p, textbook", [row.p_textbook for row in rows], "%.2g", spare=True),
            text("Note", [row.reason for row in rows], wrap=True, spare=True),
        ],
    )


def clusters_say(clustering: MatrixClusters) -> str:
    """Whether clusters are more than chance, and whether one of them holds most prompts."""
    if clustering.p_value is None or clustering.n_permutations < LEAST_PERMUTATIONS:
        sentence = f"Prompts fall into {clustering.n_clusters} clusters; whether that is chance was not tested."
    elif clustering.p_value <= 0.05:
        sentence = (
            f"Prompts fall into {clustering.n_clusters} clusters that models solve or fail together, more than by"
            " chance."
        )
    else:
        sentence = (
            f"The {clustering.n_clusters} clusters are no better than those of shuffled scores: do not read them."
        )
    largest = max((row.n_prompts for row in clustering.clusters), default=0)
    if largest > LARGE * clustering.n_prompts and len(clustering.clusters) > 1:
        sentence += (
            f" One of them holds {largest} of {clustering.n_prompts} prompts: it says little of what they have in"
            " common."
        )
    return sentence


def silhouettes_table(clustering: MatrixClusters) -> Markup:
    """Mean silhouette by number of clusters."""
    rows = clustering.rows
    chosen = next((place for place, row in enumerate(rows) if row.chosen), -1)
    return table(
        f"Silhouettes of {clustering.benchmark}",
        "Mean silhouette by number of clusters.",
        [
            count("Clusters tried", [row.n_clusters for row in rows], spare=False, keep=True),
            number("Silhouette", [row.silhouette for row in rows]),
            number("Shuffled, mean", [row.silhouette_permuted for row in rows]),
            number("Shuffled, largest", [row.silhouette_permuted_high for row in rows], spare=True),
        ],
        chosen=chosen,
    )


def clusters_table(rows: Sequence[ClusterRow], benchmark: str, more: int, excerpts: Sequence[str]) -> Markup:
    """The chosen clusters."""
    other = Markup(" The other {}: <code>warehouse matrix cluster BENCHMARK</code>.").format(more) if more else ""
    return table(
        f"Clusters of {benchmark}",
        Markup("The clusters chosen, largest first.{}").format(other),
        [
            count("Cluster", [row.cluster for row in rows], spare=False, keep=True),
            count("Prompts", [row.n_prompts for row in rows], spare=False, keep=True),
            number("Mean score", [row.mean_score for row in rows], 3),
            number("Mean distance", [row.mean_distance for row in rows], 3, spare=True),
            name("Medoid", [row.medoid for row in rows], wrap=True),
            text("Its text", excerpts, long=True, spare=True) if any(excerpts) else None,
        ],
    )


def weights_say(
    models: Sequence[str],
    cells: Mapping[tuple[str, str], WeightRow],
    others: Sequence[str],
    distinct: Mapping[tuple[str, str], bool],
) -> str:
    """Whether other weights turn round any two models that differ by a test (``distinct``)."""
    turned = {
        tuple(sorted((a, b)))
        for scheme in others
        for place, a in enumerate(models)
        for b in models[place + 1 :]
        if cells[a, scheme].rank > cells[b, scheme].rank and distinct.get((a, b))
    }
    if not turned:
        return "Ranks hold: other weights change the order only of models that cannot be told apart anyway."
    n = len(turned)
    return f"Other weights turn round {n} {'pair' if n == 1 else 'pairs'} of models that equal weights tell apart."


def passes(
    model: str,
    scheme: str,
    models: Sequence[str],
    cells: Mapping[tuple[str, str], WeightRow],
    distinct: Mapping[tuple[str, str], bool],
) -> bool:
    """Whether a model changes places, under a weighting, with one that it differs from by a test."""
    own, uniform = cells[model, scheme].rank, cells[model, "uniform"].rank
    return any(
        distinct.get((model, other), False)
        and (own - cells[other, scheme].rank) * (uniform - cells[other, "uniform"].rank) < 0
        for other in models
        if other != model
    )


def weights_table(changes: Sequence[Any], schemes: Sequence[str], benchmark: str) -> Markup:
    """Scores and changes of rank under each weighting."""
    columns = []
    for place, scheme in enumerate(schemes):
        cells = []
        for row in changes:
            score, change, shade = row.changes[place]
            arrow = f"▲{change}" if change > 0 else f"▼{-change}" if change < 0 else "="
            kinds = " ".join(filter(None, [shade, "x" if place >= FIRST else ""]))
            own = f' class="{kinds}"' if kinds else ""
            cells.append(f'<td{own} data-v="{change}">{written(score, 3)} {arrow}')
        columns.append(Column(str(Markup("<bdi>{}</bdi>").format(scheme)), "n", tuple(cells), None, place >= FIRST))
    return table(
        f"Ranks under other weights, {benchmark}",
        "Score under each weighting, and the change of rank from equal weights: ▲ rises, ▼ falls; coloured where it"
        " changes places with a model that it is told apart from, the darker, the further.",
        [
            count("Rank", [row.place for row in changes], spare=False, keep=True),
            name("Model weighed", [row.model for row in changes]),
            number("Uniform", [row.score for row in changes], 3),
            *columns,
        ],
    )


def random_table(weights: MatrixWeights, rows: Sequence[RandomWeightRow], axis: Axis | None) -> Markup:
    """Scores over random weightings."""
    drawn = [
        f'<svg aria-hidden="true"><path class="thin" d="M{axis.at(row.lowest)} 10H{axis.at(row.highest)}"/><path'
        f' class="bar" d="M{axis.at(row.low)} 10H{axis.at(row.high)}"/><circle class="dot" cx="{axis.at(row.uniform)}"'
        ' cy="10" r="4"/></svg>'
        if axis
        else ""
        for row in rows
    ]
    places = decimals(row.standard_deviation for row in rows)
    best = [f'<td data-v="{written(row.best, "%.8g")}">{100 * row.best:.1f}%' for row in rows]
    return table(
        f"Random weightings of {weights.benchmark}",
        f"Scores over {weights.n_draws} random weightings. Drawn: score with equal weights, the range of 95% of the"
        " weightings, and of all. Best in: share of the weightings in which the model is best.",
        [
            count("No.", range(1, len(rows) + 1), keep=True),
            name("Model drawn", [row.model for row in rows]),
            number("Uniform", [row.uniform for row in rows], places),
            Column("Best in", "n", tuple(best)),
            drawing("Range of scores", axis, drawn),
            number("Lowest", [row.lowest for row in rows], places, spare=True),
            number("2.5%", [row.low for row in rows], places),
            number("97.5%", [row.high for row in rows], places),
            number("Highest", [row.highest for row in rows], places, spare=True),
            number("SD", [row.standard_deviation for row in rows], "%.2g", spare=True),
        ],
    )


def growth_says(growth: MatrixGrowth) -> str:
    """From which size on scores are near those on all prompts."""
    steps = sorted((step for step in growth.steps if step.order == "random"), key=lambda step: step.size)
    near = next(
        (step.size for place, step in enumerate(steps) if all(later.largest_gap <= 0.02 for later in steps[place:])),
        None,
    )
    if near is None or not steps:
        return "Scores change while prompts are added; how far shows how much a smaller benchmark would say."
    return f"From {near} prompts in random order on, no score is further than 0.02 from that on all {steps[-1].size}."


def growth_table(steps: Sequence[GrowthStep], benchmark: str) -> Markup:
    """The first prompts of each order."""
    return table(
        f"Growth of {benchmark}",
        "The first prompts of each order, over all models. Rank correlation: Kendall's τ-b with the scores on all"
        " prompts.",
        [
            name("Order", [step.order for step in steps]),
            count("Size", [step.size for step in steps], spare=False, keep=True),
            number("Mean score", [step.mean for step in steps], 3),
            number("Largest difference", [step.largest_gap for step in steps], "%.3g"),
            number("Rank correlation", [step.kendall_tau for step in steps], 2, spare=True),
        ],
    )


def explanation_table(tests: Sequence[tuple[Any, ...]], benchmark: str) -> Markup:
    """Tests of what text explains."""
    return table(
        f"Tests of the explanation, {benchmark}",
        "Performance similarity regressed on semantic similarity, prompt by prompt, against shuffled matrices; Mantel"
        " r: correlation of the two similarities over pairs.",
        [
            name("Statistic of the explanation", [one[0] for one in tests]),
            number("Observed", [one[1] for one in tests]),
            number("Shuffled", [one[2] for one in tests], spare=True),
            number("p", [one[3] for one in tests], "%.2g"),
            number("p, textbook", [one[4] for one in tests], "%.2g", spare=True),
        ],
    )


def explained_table(rows: Sequence[ExplainRow], benchmark: str, excerpts: Sequence[str]) -> Markup:
    """Prompts with the largest coefficients."""
    return table(
        f"Prompts explained best, {benchmark}",
        "Prompts with the largest coefficients.",
        [
            name("Prompt explained", [row.prompt for row in rows], wrap=True),
            number("Coefficient", [row.coefficient for row in rows]),
            number("t", [row.t for row in rows], 2, spare=True),
            number("FDR", [row.fdr for row in rows], "%.2g"),
            text("Text", excerpts, long=True, spare=True, keep=True),
        ],
    )
