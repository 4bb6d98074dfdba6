"""Tables of the matrix analyses, for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from .table import WrittenNumber, echo, number, p_value, percentage, print_legend, print_rows, print_table, print_text

if TYPE_CHECKING:
    from warehouse.analysis.matrix.results import (
        ExplainedParts,
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


def _heading(result: MatrixResult, *more: str) -> None:
    size = f"{result.n_prompts} prompts × {result.n_models} models"
    print_text(f"{result.benchmark} by {result.metric}: {', '.join([size, *more])}\n")


def _text(text: str | None) -> str | None:
    line = " ".join((text or "").split())
    return line if len(line) <= TEXT else line[: TEXT - 1] + "…"


def print_test(result: MatrixTest) -> None:
    """Their table 2, with what lies behind each p."""
    _heading(result, f"{result.n_permutations} permutations, seed {result.seed}")
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
        for row in result.rows
    ]
    print_rows(rows)
    notes = dict.fromkeys(
        f"{row.similarity} {row.statistic} {row.reason}" if row.statistic != "ks" else f"ks: {row.reason}"
        for row in result.rows
        if row.reason
    )
    print_text("\n" + "\n".join(notes))


def print_histogram(result: MatrixTest) -> None:
    """Shares of pairs, observed against shuffled; empty bins left out."""
    _heading(result, f"{result.n_permutations} permutations, seed {result.seed}")
    rows = [
        [
            row.similarity,
            f"{row.low:.2f} to {row.high:.2f}",
            number(row.observed, 4),
            number(row.permuted, 4),
            "#" * round(40 * row.observed),
        ]
        for row in result.histogram
        if row.observed or row.permuted
    ]
    print_table(["similarity", "bin", "observed", "shuffled", ""], rows)


def print_clusters(result: MatrixClusters) -> None:
    """Their table 3, and the clusters that were chosen."""
    _heading(result, f"seed {result.seed}")
    rows = [
        [row.n_clusters, number(row.silhouette, 4), number(row.silhouette_permuted, 4), "chosen" if row.chosen else ""]
        for row in result.rows
    ]
    print_table(["clusters", "silhouette", "shuffled", ""], rows, hide_empty=("shuffled",))
    if result.silhouette is not None and result.silhouette_permuted is not None:
        p = f", p = {result.p_value:.2g}" if result.n_permutations >= LEAST_FOR_P else ""
        shuffled = f"{result.silhouette_permuted:.4f} with shuffled columns"
        echo(f"\nbest silhouette {result.silhouette:.4f}; {shuffled} (N = {result.n_permutations}{p})")
    echo()
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
            for row in result.clusters
        ],
        hide_empty=("text",),
    )


def member_rows(result: MatrixClusters) -> Iterator[dict[str, Any]]:
    """The cluster of every prompt."""
    medoids = set(result.medoids)
    for row, (prompt, label, distance) in enumerate(zip(result.prompts, result.labels, result.distances, strict=True)):
        yield {"prompt": prompt, "cluster": label + 1, "distance": distance, "is_medoid": row in medoids}


def print_weights(result: MatrixWeights, part: str | None) -> None:
    """Changes of rank by scheme, then what random weightings do."""
    _heading(result, f"medoids and distances: {result.clustering}")
    if part in (None, "schemes"):
        _print_schemes(result)
    if part is None:
        echo()
    if part in (None, "random"):
        echo(f"over {result.n_draws} random weightings (seed {result.seed}):\n")
        _print_random(result)
    if part == "pairs":
        _print_outranks(result)


def _print_schemes(result: MatrixWeights) -> None:
    """A row for each model, best first; score and rank, then the change under each scheme."""
    schemes = list(dict.fromkeys(row.scheme for row in result.rows))
    cells = {(row.model, row.scheme): row for row in result.rows}
    models = sorted(result.models, key=lambda model: cells[model, "uniform"].rank)
    columns = ["rank", "model", "uniform", *(f"{scheme} ±rank" for scheme in schemes[1:])]
    rows = []
    for model in models:
        plain = cells[model, "uniform"]
        others = [cells[model, scheme] for scheme in schemes[1:]]
        changes = [f"{row.score:.4f} {row.rank_change:+d}" for row in others]
        rows.append([plain.rank, model, number(plain.score, 4), *map(WrittenNumber, changes)])
    print_table(columns, rows)


def _print_random(result: MatrixWeights) -> None:
    ordered = sorted(result.random, key=lambda row: (-row.best, -row.uniform))
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


def _print_outranks(result: MatrixWeights) -> None:
    models = [row.model for row in sorted(result.random, key=lambda row: -row.uniform)]
    shown = models[:MOST_COLUMNS]
    shares = {(row.model, row.other): row.outranks for row in result.outranks}
    echo("row outranks column in % of random weightings:\n")
    rows = [
        [
            f"{rank}",
            model,
            *(None if other == model else WrittenNumber(f"{100 * shares[model, other]:.1f}") for other in shown),
        ]
        for rank, model in enumerate(models, start=1)
    ]
    print_table(["", "model", *(str(rank + 1) for rank in range(len(shown)))], rows)
    if len(shown) < len(models):
        echo(f"{len(shown)} of {len(models)} columns; --part pairs --json has all")


def print_growth(result: MatrixGrowth) -> None:
    """Each size, over all models, in both orders."""
    _heading(result, f"seed {result.seed}")
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
            for row in result.steps
        ]
    )


def print_explanation(result: MatrixExplanation, top: int) -> None:
    """The tests, then the prompts with the largest coefficients."""
    form = "with intercept" if result.intercept else "through the origin"
    of = "" if result.part == "prompt" else f"{result.part}, "
    _heading(
        result, f"{of}vectors of {result.embedder}", form, f"{result.n_permutations} permutations, seed {result.seed}"
    )
    tests = [
        [
            "mean coefficient",
            number(result.mean_coefficient, 4),
            number(result.mean_coefficient_permuted, 4),
            p_value(result.p_mean_coefficient),
            None,
        ],
        [
            "ks of coefficients",
            number(result.ks_coefficient, 4),
            None,
            p_value(result.p_ks_coefficient),
            p_value(result.p_ks_coefficient_textbook),
        ],
        ["ks of FDRs", number(result.ks_fdr, 4), None, p_value(result.p_ks_fdr), p_value(result.p_ks_fdr_textbook)],
        ["Mantel r", number(result.mantel_r, 4), None, p_value(result.mantel_p), None],
    ]
    print_table(["statistic", "observed", "shuffled", "p", "p textbook"], tests)
    if result.share_fdr is not None:
        share = f"{100 * result.share_fdr:.1f}% of prompts"
        echo(f"\n{share}: coefficient above 0, FDR below 0.05")
    echo()
    rows = [
        [row.prompt, number(row.coefficient, 4), number(row.t, 2), p_value(row.fdr), _text(row.text)]
        for row in (result.rows[:top] if top else result.rows)
    ]
    print_table(["prompt", "coefficient", "t", "FDR", "text"], rows)


#: Columns of parts in words.
_PARTS = {
    "mean": "mean coefficient of performance on similarity of the part, within single prompts",
    "shuffled": "the same where prompts have the text of others",
    "p Holm": "chance of such a mean without any effect, all parts taken together",
    "above 0": "share of prompts whose own coefficient is, at a false discovery rate below 0.05",
    "Mantel r": "correlation of both similarities over all pairs of prompts",
}


def print_parts(result: ExplainedParts) -> None:
    """What each part of the prompts explains, side by side."""
    print_text(result.one_line)
    echo(f"vectors of {result.embedder}; {result.n_permutations} permutations\n")
    columns = print_rows(
        [
            {
                "part": row.part,
                "prompts": row.n_prompts,
                "without": row.n_without_vector or None,
                "mean": number(row.mean_coefficient, 4),
                "shuffled": number(row.mean_coefficient_permuted, 4),
                "p": p_value(row.p_value),
                "p Holm": p_value(row.p_holm),
                "above 0": percentage(row.share_fdr),
                "Mantel r": number(row.mantel_r, 4),
                "Mantel p": p_value(row.mantel_p),
            }
            for row in result.rows
        ],
        hide_empty=("without",),
        minor=("shuffled", "Mantel p"),
    )
    echo()
    print_legend(_PARTS, columns)
