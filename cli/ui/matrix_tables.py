"""Tables of the matrix analyses, for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from .table import Figure, number, p_value, percentage, print_rows, print_table

if TYPE_CHECKING:
    from warehouse.analysis.matrix.results import (
        MatrixClusters,
        MatrixExplanation,
        MatrixGrowth,
        MatrixResult,
        MatrixTest,
        MatrixWeights,
    )

#: Models whose columns a table holds; more are told by --json.
MOST_COLUMNS = 12
#: Shuffled matrices from which on p can reach 0.05.
LEAST_FOR_P = 19
#: Characters of a prompt's text.
TEXT = 60


def _heading(found: MatrixResult, *more: str) -> None:
    size = f"{found.n_prompts} prompts × {found.n_models} models"
    click.echo(f"{found.benchmark} by {found.metric}: {', '.join([size, *more])}\n")


def _text(text: str | None) -> str | None:
    line = " ".join((text or "").split())
    return line if len(line) <= TEXT else line[: TEXT - 1] + "…"


def print_test(found: MatrixTest) -> None:
    """Their table 2, with what lies behind each p."""
    _heading(found, f"{found.n_permutations} permutations, seed {found.seed}")
    rows = [
        {
            "similarity": row.similarity,
            "statistic": row.statistic,
            "observed": number(row.observed, 4),
            "shuffled": number(row.permuted_mean, 4),
            "95% of shuffled": f"[{row.permuted_low:.4f}, {row.permuted_high:.4f}]",
            "p": p_value(row.p_value),
            "p textbook": p_value(row.p_textbook),
        }
        for row in found.rows
    ]
    print_rows(rows)
    notes = dict.fromkeys(
        f"{row.similarity} {row.statistic} {row.reason}" if row.statistic != "ks" else f"ks: {row.reason}"
        for row in found.rows
        if row.reason
    )
    click.echo("\n" + "\n".join(notes))


def print_histogram(found: MatrixTest) -> None:
    """Shares of pairs, observed against shuffled; empty bins left out."""
    _heading(found, f"{found.n_permutations} permutations, seed {found.seed}")
    rows = [
        [
            row.similarity,
            f"{row.low:.2f} to {row.high:.2f}",
            number(row.observed, 4),
            number(row.permuted, 4),
            "#" * round(40 * row.observed),
        ]
        for row in found.histogram
        if row.observed or row.permuted
    ]
    print_table(["similarity", "bin", "observed", "shuffled", ""], rows)


def print_clusters(found: MatrixClusters) -> None:
    """Their table 3, and the clusters that were chosen."""
    _heading(found, f"seed {found.seed}")
    rows = [
        [row.n_clusters, number(row.silhouette, 4), number(row.silhouette_permuted, 4), "chosen" if row.chosen else ""]
        for row in found.rows
    ]
    print_table(["clusters", "silhouette", "shuffled", ""], rows, needless=("shuffled",))
    if found.silhouette is not None and found.silhouette_permuted is not None:
        p = f", p = {found.p_value:.2g}" if found.n_permutations >= LEAST_FOR_P else ""
        shuffled = f"{found.silhouette_permuted:.4f} with shuffled columns"
        click.echo(f"\nbest silhouette {found.silhouette:.4f}; {shuffled} (N = {found.n_permutations}{p})")
    click.echo()
    columns = ["cluster", "prompts", "mean score", "mean distance", "medoid", "text"]
    print_table(
        columns,
        [
            [
                row.cluster,
                row.n_prompts,
                number(row.mean_score, 4),
                number(row.mean_distance, 4),
                row.medoid,
                _text(row.text),
            ]
            for row in found.clusters
        ],
        needless=("text",),
    )


def member_rows(found: MatrixClusters) -> Iterator[dict[str, Any]]:
    """The cluster of every prompt."""
    medoids = set(found.medoids)
    for row, (prompt, label, distance) in enumerate(zip(found.prompts, found.labels, found.distances, strict=True)):
        yield {"prompt": prompt, "cluster": label + 1, "distance": distance, "is_medoid": row in medoids}


def print_weights(found: MatrixWeights, part: str | None) -> None:
    """Changes of rank by scheme, then what random weightings do."""
    _heading(found, f"medoids and distances: {found.clustering}")
    if part in (None, "schemes"):
        _print_schemes(found)
    if part is None:
        click.echo()
    if part in (None, "random"):
        click.echo(f"over {found.n_draws} random weightings (seed {found.seed}):\n")
        _print_random(found)
    if part == "pairs":
        _print_outranks(found)


def _print_schemes(found: MatrixWeights) -> None:
    """A row for each model, best first; score and rank, then the change under each scheme."""
    schemes = list(dict.fromkeys(row.scheme for row in found.rows))
    cells = {(row.model, row.scheme): row for row in found.rows}
    models = sorted(found.models, key=lambda model: cells[model, "uniform"].rank)
    columns = ["rank", "model", "uniform", *(f"{scheme} ±rank" for scheme in schemes[1:])]
    rows = []
    for model in models:
        plain = cells[model, "uniform"]
        others = [cells[model, scheme] for scheme in schemes[1:]]
        changes = [f"{row.score:.4f} {row.rank_change:+d}" for row in others]
        rows.append([plain.rank, model, number(plain.score, 4), *map(Figure, changes)])
    print_table(columns, rows)


def _print_random(found: MatrixWeights) -> None:
    ordered = sorted(found.random, key=lambda row: (-row.best, -row.uniform))
    columns = ["model", "uniform", "sd", "lowest", "2.5%", "97.5%", "highest", "best in"]
    print_table(
        columns,
        [
            [
                row.model,
                *(
                    number(value, 4)
                    for value in (row.uniform, row.standard_deviation, row.lowest, row.low, row.high, row.highest)
                ),
                percentage(row.best),
            ]
            for row in ordered
        ],
    )


def _print_outranks(found: MatrixWeights) -> None:
    models = [row.model for row in sorted(found.random, key=lambda row: -row.uniform)]
    shown = models[:MOST_COLUMNS]
    shares = {(row.model, row.other): row.outranks for row in found.outranks}
    click.echo("row outranks column in % of random weightings:\n")
    rows = [
        [
            f"{place}",
            model,
            *(None if other == model else Figure(f"{100 * shares[model, other]:.1f}") for other in shown),
        ]
        for place, model in enumerate(models, start=1)
    ]
    print_table(["", "model", *(str(place + 1) for place in range(len(shown)))], rows)
    if len(shown) < len(models):
        click.echo(f"{len(shown)} of {len(models)} columns; --part pairs --json has all")


def print_growth(found: MatrixGrowth) -> None:
    """Each size, over all models, in both orders."""
    _heading(found, f"seed {found.seed}")
    print_rows(
        [
            {
                "order": row.order,
                "prompts": row.size,
                "mean score": number(row.mean, 4),
                "largest gap to all": number(row.largest_gap, 4),
                "rank correlation": number(row.kendall_tau, 2),
                "added last": row.last_prompt,
            }
            for row in found.steps
        ]
    )


def print_explanation(found: MatrixExplanation, top: int) -> None:
    """The tests, then the prompts with the largest coefficients."""
    form = "with intercept" if found.intercept else "through the origin"
    _heading(found, f"vectors of {found.embedder}", form, f"{found.n_permutations} permutations, seed {found.seed}")
    tests = [
        [
            "mean coefficient",
            number(found.mean_coefficient, 4),
            number(found.mean_coefficient_permuted, 4),
            p_value(found.p_mean_coefficient),
            None,
        ],
        [
            "ks of coefficients",
            number(found.ks_coefficient, 4),
            None,
            p_value(found.p_ks_coefficient),
            p_value(found.p_ks_coefficient_textbook),
        ],
        ["ks of FDRs", number(found.ks_fdr, 4), None, p_value(found.p_ks_fdr), p_value(found.p_ks_fdr_textbook)],
        ["Mantel r", number(found.mantel_r, 4), None, p_value(found.mantel_p), None],
    ]
    print_table(["statistic", "observed", "shuffled", "p", "p textbook"], tests)
    if found.share_fdr is not None:
        share = f"{100 * found.share_fdr:.1f}% of prompts"
        click.echo(f"\n{share}: coefficient above 0, FDR below 0.05")
    click.echo()
    rows = [
        [row.prompt, number(row.coefficient, 4), number(row.t, 2), p_value(row.fdr), _text(row.text)]
        for row in found.rows[:top]
    ]
    print_table(["prompt", "coefficient", "t", "FDR", "text"], rows)
