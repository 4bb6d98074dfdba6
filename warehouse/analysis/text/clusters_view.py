"""Clusters of prompts that ask nearly the same: rows, the sentences and the table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from warehouse.analysis.results import Result, Row
from warehouse.questions.text_models import PROMPT
from warehouse.tables.view import Table, View
from warehouse.tables.words import WrittenNumber, counted, number

#: A growth below this is chance, and not told.
GROWN = 1.05
#: A cluster of fewer prompts is no chain.
FEW = 10
#: A cluster with more than this share of the prompts chains: each is like the next, not
#: like all.
CHAINS = 0.3
#: A clustering of fewer prompts has not chained.
_MANY = 20


@dataclass(frozen=True)
class GrowthRow(Row):
    """The effect of clusters on the standard error of one condition."""

    model: str  #: name of the model.
    condition: str  #: settings that tell it from the model's other conditions.
    metric: str  #: name of the metric, with its filter.
    estimate: float | None  #: the figure.
    n_prompts: int  #: scored prompts.
    n_clusters: int | None  #: clusters among them.
    #: standard error as if prompts were independent (CLT).
    se_unclustered: float | None
    se_clustered: float | None  #: cluster-robust standard error (CR2).
    #: ``se_clustered / se_unclustered``; None where one is not defined.
    growth: float | None
    reason: str  #: why it is not.


@dataclass(frozen=True)
class SemanticClusters(Result):
    """A clustering by similarity of text."""

    benchmark: str  #: name of the benchmark.
    name: str  #: of the clustering; ``--cluster NAME`` uses it.
    threshold: float  #: prompts at least so similar are joined, and with them what they are joined to.
    embedder: str  #: whose vectors.
    is_default: bool  #: error bars use it from now on.
    n_prompts: int  #: prompts in it.
    n_clusters: int  #: clusters, those of a single prompt included.
    n_single: int  #: clusters of a single prompt.
    largest: int  #: prompts in the largest cluster.
    #: prompts that have no vector; each counts as a cluster of its own.
    n_without_vector: int
    rows: tuple[GrowthRow, ...]  #: standard errors with and without the clusters.
    is_stored: bool = True  #: False for a trial.
    part: str = PROMPT  #: what of the prompts is alike in a cluster.

    @property
    def median_growth(self) -> float | None:
        """Median over conditions of the growth of the standard error; None without any."""
        growths = [row.growth for row in self.rows if row.growth is not None]
        if growths:
            return float(np.median(growths))
        return None

    @property
    def one_line(self) -> str:
        median = self.median_growth
        if median is None or median < GROWN:
            grown = ""
        else:
            grown = f"; standard errors are {median:.2f} times as large"
        return (
            f"{self.benchmark}: {self.n_prompts} prompts in {self.n_clusters} "
            f"clusters{grown}{self.chained}"
        )

    @property
    def chained(self) -> str:
        """A remark that one cluster holds most prompts, in words with a semicolon
        before them; else empty."""
        if self.largest < FEW or self.largest <= CHAINS * self.n_prompts:
            return ""
        share = round(100 * self.largest / self.n_prompts)
        return (
            f"; it chains: one cluster holds {self.largest} prompts ({share}%), each "
            "like the next but not like all, so that errors allow for too much; a "
            "higher --threshold splits it"
        )

    def view(self, *, verbose: bool = False) -> View:
        """What becomes of errors where prompts that ask alike count together, and how
        prompts were joined.

        Args:
            verbose: by whose vectors, and on how many prompts errors rest.
        """
        joined = (
            f"joined from cosine {self.threshold:g} on ({self.embedder}); "
            f"{self.n_single} prompts stand alone, the largest cluster has "
            f"{self.largest}"
        )
        cells = [_cells(row) for row in self.rows]
        table = Table.of(
            cells, hide_empty=("condition",), empty="no runs on this benchmark yet"
        )
        notes = chained_notes(self.name, self.largest, self.n_prompts)
        if self.n_without_vector:
            notes.insert(
                0,
                f"{self.n_without_vector} prompts have no vector; see: warehouse text embed",
            )
        if verbose:
            return View((self.one_line, joined, self._kept, "", table), tuple(notes))
        parts = [f"{self._found}."]
        if self.chained and not notes:
            parts.append(f"{self.chained.removeprefix('; ').capitalize()}.")
        brief = Table.of(
            map(_brief_cells, self.rows),
            hide_empty=("settings",),
            empty="no runs on this benchmark yet",
        )
        return View((*parts, self._kept, "", brief), tuple(notes))

    @property
    def _found(self) -> str:
        """How many groups of prompts ask alike, and what that makes of errors."""
        several = self.n_clusters - self.n_single
        prompts = counted(self.n_prompts, "prompt")
        if not several:
            return f"No two of {prompts} of {self.benchmark} ask alike: errors stay"
        said = (
            f"{self.n_prompts - self.n_single} of {prompts} of {self.benchmark} ask like "
            f"another, in {counted(several, 'group')} of up to {self.largest}"
        )
        median = self.median_growth
        if median is None:
            return f"{said}; what that makes of errors is not known"
        if median < GROWN:
            return f"{said}; errors that allow for it are hardly larger"
        return f"{said}; errors that allow for it are {median:.2f} times as large"

    @property
    def _kept(self) -> str:
        if not self.is_stored:
            return "not stored"
        used = "error bars use it"
        if not self.is_default:
            used = f"use it with --cluster {self.name}"
        return f"stored as clustering {self.name!r}: {used}"

    def to_dict(self) -> dict[str, Any]:
        """All fields by name, and the median growth."""
        return super().to_dict() | {"median_growth": self.median_growth}


def _brief_cells(row: GrowthRow) -> dict[str, Any]:
    score = number(row.estimate, 3)
    if row.se_unclustered is not None:
        score = WrittenNumber(f"{score} ({number(row.se_unclustered, 3)})")
    return {
        "model": row.model,
        "settings": row.condition,
        "score": score,
        "clustered error": number(row.se_clustered, 3),
        "growth": number(row.growth, 2),
    }


def _cells(row: GrowthRow) -> dict[str, Any]:
    return {
        "model": row.model,
        "condition": row.condition,
        "estimate": number(row.estimate, 3),
        "se": number(row.se_unclustered, 4),
        "clustered se": number(row.se_clustered, 4),
        "growth": number(row.growth, 2),
        "prompts": row.n_prompts,
        "clusters": row.n_clusters,
    }


def chained_notes(name: str, largest: int, n_prompts: int) -> list[str]:
    """A note that one cluster of a clustering holds most prompts; empty where none
    does."""
    if n_prompts < _MANY or largest <= CHAINS * n_prompts:
        return []
    return [
        f"one cluster of {name!r} holds {largest} of {n_prompts} prompts: near ones "
        "chain, and errors by it are rough; try a larger --threshold"
    ]
