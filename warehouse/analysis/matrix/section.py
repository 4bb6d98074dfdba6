"""Stored analyses of a performance matrix in the report of a benchmark: a sentence,
charts and tables of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from markupsafe import Markup

from warehouse.analysis.leaderboard.question import Ranking
from warehouse.analysis.matrix.cached import StoredMatrix, stored_matrix
from warehouse.analysis.matrix.section_parts import LEAST_PERMUTATIONS, matrix_part
from warehouse.analysis.pairs.charts import apart
from warehouse.analysis.report_data.part import BenchmarkPart, ReportSetting, Section
from warehouse.analysis.report_data.read import BenchmarkReads
from warehouse.charts.page_parts import figures, heading, notes
from warehouse.store.connection import Store


@dataclass(frozen=True)
class MatrixSection(Section):
    """The analyses of its performance matrix that the store holds; there is at least
    one."""

    WORDS = "Performance matrix"

    stored: StoredMatrix

    @classmethod
    def read(cls, store: Store, reads: BenchmarkReads, ranks: Ranking) -> StoredMatrix:
        """The analyses that fit the scores as they are now."""
        return stored_matrix(store, (reads.benchmark, reads.facts))

    @classmethod
    def of(cls, reads: BenchmarkReads, report: ReportSetting) -> Self | None:
        """The analyses; None where none is stored."""
        stored = reads.own[cls]
        if stored.found:
            return cls(stored)
        return None

    def html(self, part: BenchmarkPart, name: str) -> Markup:
        """One part for each analysis."""
        pairs = None
        if self.stored.weights:
            pairs = part.pairs
        distinct = apart(pairs)
        parts = matrix_part(self.stored, distinct)
        shown = Markup("\n{}\n").format(heading(name, part.name, "Performance matrix"))
        for kind, show in _SHOWN.items():
            if parts[kind] is not None:
                shown += show(parts[kind])
            shown += "\n"
        return shown


def _test(part: Mapping[str, Any]) -> Markup:
    return Markup(
        "\n"
        "<h4>Are prompts correlated beyond chance?</h4>\n"
        "<p>{}</p>\n"
        '<p class="dim">{}; {} permutations.</p>\n'
        "{}\n"
        "{}{}"
    ).format(
        part["says"],
        part["head"],
        part["result"].n_permutations,
        figures(part["charts"]),
        part["table"],
        notes(part["result"].notes),
    )


def _clusters(part: Mapping[str, Any]) -> Markup:
    return Markup(
        "\n<h4>Which prompts do models find alike?</h4>\n<p>{}</p>\n"
        '<p class="dim">{}.</p>\n<p>{}</p>\n{}\n'
        "<details><summary>Silhouettes</summary>\n{}</details>\n{}{}"
    ).format(
        part["says"],
        part["head"],
        _silhouettes_say(part["result"]),
        figures([part["chart"]]),
        part["silhouettes"],
        part["table"],
        notes(part["result"].notes),
    )


def _silhouettes_say(clustering: Any) -> str:
    """How well the best number of clusters fits, and how well it fits shuffled columns."""
    said = f"{clustering.n_clusters} clusters have the best mean silhouette"
    if clustering.silhouette is not None:
        said += f", {_number(clustering.silhouette)}"
    if clustering.silhouette_permuted is not None:
        said += (
            "; with shuffled columns the best is "
            f"{_number(clustering.silhouette_permuted)}"
        )
        said += f" (N = {clustering.n_permutations}"
        if clustering.n_permutations >= LEAST_PERMUTATIONS:
            said += f", p = {_number(clustering.p_value, '%.2g')}"
        said += ")"
    return f"{said}."


def _weights(part: Mapping[str, Any]) -> Markup:
    return Markup(
        "\n<h4>Do ranks hold when prompts weigh otherwise?</h4>\n<p>{}</p>\n"
        '<p class="dim">{}; medoids and distances: <bdi>{}</bdi>.</p>\n'
        "{}\n"
        "{}\n"
        "{}\n"
        '<p class="dim">All shares: <code>warehouse matrix weights BENCHMARK --part '
        "pairs --csv</code></p>\n"
        "{}"
    ).format(
        part["says"],
        part["head"],
        part["result"].clustering,
        part["table"],
        part["random_table"],
        figures([part["outranks"]], wide=True),
        notes(part["result"].notes),
    )


def _growth(part: Mapping[str, Any]) -> Markup:
    return Markup(
        "\n<h4>How do scores settle while prompts are added?</h4>\n<p>{}</p>\n"
        '<p class="dim">{}.</p>\n{}\n<details><summary>Sizes</summary>\n{}</details>{}'
    ).format(
        part["says"],
        part["head"],
        figures(part["charts"]),
        part["table"],
        notes(part["result"].notes),
    )


def _explanation(part: Mapping[str, Any]) -> Markup:
    result = part["result"]
    through = "through the origin"
    if result.intercept:
        through = "with intercept"
    top = ""
    if part["top"]:
        top = Markup("\n{}").format(part["top_table"])
    return Markup(
        "\n<h4>Does what prompts ask explain which models succeed?</h4>\n"
        '<p class="dim">{}; vectors of <bdi>{}</bdi>, {}, {} permutations.</p>\n'
        "<p>{} of {} prompts have a coefficient above 0 with an FDR below 0.05.</p>\n"
        "{}\n"
        "{}\n"
        "{}{}"
    ).format(
        part["head"],
        result.embedder,
        through,
        result.n_permutations,
        part["n_found"],
        part["n_defined"],
        figures([part["chart"]]),
        part["table"],
        top,
        notes(result.notes),
    )


def _number(value: float | None, form: str = "%.4g") -> str:
    """A number in words; empty for a missing one."""
    if value is None or value != value:
        return ""
    return form % value


#: What shows each analysis, in their order.
_SHOWN: dict[str, Callable[[Mapping[str, Any]], Markup]] = {
    "test": _test,
    "clusters": _clusters,
    "weights": _weights,
    "growth": _growth,
    "explanation": _explanation,
}
