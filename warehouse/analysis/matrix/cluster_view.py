"""Clusters of prompts on which models succeed and fail alike: rows and tables."""

from __future__ import annotations

from dataclasses import dataclass

from warehouse.analysis.matrix.results import MatrixResult, heading, line_of
from warehouse.analysis.results import Row
from warehouse.tables.view import Part, Table, View, legend
from warehouse.tables.words import counted, excerpt, number, some_of

#: Shuffled matrices from which on p can reach 0.05.
LEAST_FOR_P = 19


#: Characters of a prompt's id in a table of 80 columns.
_ID = 16
#: Columns in words.
_MEANINGS = {
    "mean distance": "of its prompts from the medoid: 0 where models answer them alike",
    "medoid": "the prompt that is nearest to all others of its cluster",
}


@dataclass(frozen=True)
class ClusterCountRow(Row):
    """Mean silhouette at one number of clusters."""

    n_clusters: int  #: clusters.
    silhouette: float | None  #: of the matrix, in [−1, 1].
    silhouette_permuted: float | None  #: mean of shuffled matrices.
    silhouette_permuted_high: float | None  #: the largest of theirs.
    chosen: bool  #: whether this number was taken.


@dataclass(frozen=True)
class ClusterRow(Row):
    """One cluster of the chosen clustering."""

    cluster: int  #: its number, from 1.
    n_prompts: int  #: size.
    medoid: str  #: the prompt that stands for it.
    mean_distance: float  #: mean 1 − cosine to the medoid.
    mean_score: float  #: mean score over prompts and models.
    text: str | None  #: of the medoid.


@dataclass(frozen=True)
class MatrixClusters(MatrixResult):
    """Clusters of prompts on which models succeed and fail alike (their table 3)."""

    DRAWN_BY = "warehouse.analysis.matrix.charts:silhouette_charts"

    rows: tuple[ClusterCountRow, ...]
    n_clusters: int  #: of the chosen clustering.
    silhouette: float | None  #: its mean silhouette.
    #: mean of the best silhouettes of shuffled matrices.
    silhouette_permuted: float | None
    p_value: float | None  #: (1 + #{shuffled ≥ observed})/(1 + N).
    n_permutations: int  #: shuffled matrices N.
    clusters: tuple[ClusterRow, ...]  #: the chosen ones.
    #: cluster of each prompt from 0, by natural key of the prompts.
    labels: tuple[int, ...]
    distances: tuple[float, ...]  #: 1 − cosine of each prompt with its medoid.
    medoids: tuple[int, ...]  #: row of each cluster's medoid.
    prompts: tuple[str, ...]  #: what each prompt is called.

    def view(self, *, verbose: bool = False) -> View:
        """How many clusters stand out, and these; with ``verbose`` every number of
        clusters that was tried (their table 3)."""
        head = heading(self, f"seed {self.seed}")
        parts: list[Part] = []
        if verbose:
            parts = [_counts(self.rows), *_silhouette(self), ""]
        parts += [_clusters(self.clusters), *legend(_MEANINGS, are_terms=False)]
        return View((self._found, *head, *parts), self.notes)

    @property
    def _found(self) -> str:
        """How clearly the clusters stand apart, beside what chance gives."""
        sizes = sorted((row.n_prompts for row in self.clusters), reverse=True)
        said = (
            f"{counted(self.n_clusters, 'cluster')} of prompts that models find alike"
        )
        if self.silhouette is None:
            return f"{said}, of {some_of(list(map(str, sizes)), 5)} prompts."
        chance = ""
        if self.silhouette_permuted is not None:
            chance = f"; {self.silhouette_permuted:.2f} where columns are shuffled"
        return (
            f"{said}, of {some_of(list(map(str, sizes)), 5)} prompts (silhouette "
            f"{self.silhouette:.2f}{chance})."
        )


def _counts(counts: tuple[ClusterCountRow, ...]) -> Table:
    """The silhouette at each number of clusters."""
    cells = [
        (
            row.n_clusters,
            number(row.silhouette, 4),
            number(row.silhouette_permuted, 4),
            "chosen" if row.chosen else "",
        )
        for row in counts
    ]
    return Table(
        ("clusters", "silhouette", "shuffled", ""),
        tuple(cells),
        hide_empty=("shuffled",),
    )


def _silhouette(result: MatrixClusters) -> list[Part]:
    """The best silhouette beside that of shuffled matrices; nothing without these."""
    if result.silhouette is None or result.silhouette_permuted is None:
        return []
    shuffled = (
        f"{result.silhouette_permuted:.4f} with shuffled columns (N = "
        f"{result.n_permutations}"
    )
    if result.n_permutations >= LEAST_FOR_P:
        shuffled += f", p = {result.p_value:.2g}"
    return ["", f"best silhouette {result.silhouette:.4f}; {shuffled})"]


def _clusters(clusters: tuple[ClusterRow, ...]) -> Table:
    cells = [
        (
            row.cluster,
            row.n_prompts,
            number(row.mean_score, 4),
            number(row.mean_distance, 4),
            excerpt(row.medoid, _ID),
            line_of(row.text),
        )
        for row in clusters
    ]
    columns = ("cluster", "prompts", "mean score", "mean distance", "medoid", "text")
    return Table(columns, tuple(cells), hide_empty=("text",))
