"""Results of the matrix analyses: named fields, made of what JSON can hold, and a
heading."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from warehouse.analysis.results import StoredResult

#: Characters of a prompt's text.
_TEXT = 60


@dataclass(frozen=True)
class MatrixResult(StoredResult):
    """The matrix, as all of them tell it."""

    benchmark: str  #: name of the benchmark.
    metric: str  #: name of the metric.
    models: tuple[str, ...]  #: name of each column.
    n_prompts: int  #: rows of the matrix: prompts that every model has a score of.
    n_incomplete: int  #: prompts left out because a model lacks a score.
    seed: int  #: of what is random.
    #: sha256 of models, prompts and scores; see
    #: :attr:`warehouse.analysis.matrix.read.MatrixData.fingerprint`.
    matrix_fingerprint: str
    computed_at: str  #: when, ISO 8601 in UTC.
    notes: tuple[str, ...]  #: what a reader should know.
    rows: tuple[Any, ...]  #: the answer, one dataclass each.

    @property
    def n_models(self) -> int:
        """Columns of the matrix."""
        return len(self.models)

    @property
    def one_line(self) -> str:
        return (
            f"{self.benchmark} by {self.metric}: {self.n_prompts} prompts × "
            f"{self.n_models} models"
        )


def heading(result: MatrixResult, *more: str) -> tuple[str, str]:
    """The matrix and how it was looked at, and an empty line."""
    size = f"{result.n_prompts} prompts × {result.n_models} models"
    about = ", ".join([size, *more])
    return f"{result.benchmark} by {result.metric}: {about}", ""


def line_of(text: str | None) -> str:
    """The beginning of a prompt's text, on one line."""
    line = " ".join((text or "").split())
    if len(line) <= _TEXT:
        return line
    return line[: _TEXT - 1] + "…"
