"""What stored figures were, refresh by refresh."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from warehouse.analysis.families.family import RECIPE, model_of, subject_of
from warehouse.analysis.results import Result, Row
from warehouse.analysis.selection.benchmarks import find_benchmark
from warehouse.analysis.selection.reference import find_conditions
from warehouse.errors import MisuseError
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text

#: Kinds of subjects that stand for the benchmark as a whole.
_WHOLE = ("benchmark", "question")


@dataclass(frozen=True)
class HistoryRow(Row):
    """One figure as one refresh computed it; columns as in the view ``metric_history``.

    Attributes:
        refreshed_at: end of the refresh, UTC.
        previous_estimate: figure of the refresh before that changed it.
        change: ``estimate`` minus that.
        age: 1 for the newest.
        p_value: of the test behind the figure, not adjusted; None without one.
    """

    refreshed_at: datetime
    refresh_id: int
    subject_kind: str
    subject: str
    benchmark: str
    metric: str
    statistic: str
    method: str
    method_version: str
    estimate: float | None
    standard_error: float | None
    low: float | None
    high: float | None
    n: int | None
    n_clusters: int | None
    previous_estimate: float | None
    change: float | None
    age: int
    reason: str
    input_fingerprint: str
    p_value: float | None


@dataclass(frozen=True)
class History(Result):
    """Figures of a model on a benchmark, by statistic and subject, the newest first; those of the
    benchmark as a whole if ``model`` is None."""

    model: str | None
    benchmark: str
    rows: tuple[HistoryRow, ...]

    def __str__(self) -> str:
        refreshes = len({row.refresh_id for row in self.rows})
        what = self.benchmark if self.model is None else f"{self.model} on {self.benchmark}"
        return f"{what}: {len(self.rows)} figures of {refreshes} refreshes"


def history(
    store: Store, model: str | None, benchmark: str, *, statistic: str | None = None, last: int | None = None
) -> History:
    """Every figure that refreshes computed of a model on a benchmark.

    A row stands for a refresh that changed the figure; in between it was the same.

    Args:
        model: reference (``MODEL[@REVISION|@step=N][+AGENT]`` or ``run:ID``); a model whose runs
            are gone by its name alone; None for the figures of the benchmark as a whole, such as
            the matrix tests.
        benchmark: name of a benchmark.
        statistic: only this one, such as ``score``.
        last: only so many of each figure, the newest.

    Raises:
        MisuseError: unknown names, or nothing has been computed; says what to do.
    """
    found = find_benchmark(store, benchmark)
    rows = store.arrow(query_text("refresh", "history"), {"benchmark": found.name}).to_pylist()
    stored = [_row(one) for one in rows]
    if model is None:
        rows, about, command = _of_benchmark(stored), found.name, f" {found.name} --family matrix"
    else:
        rows = _of_model(store, stored, model, found.ids)
        about, command = f"{model!r} on {found.name}", ""
    if not rows:
        whole = " as a whole" if model is None else ""
        raise MisuseError(f"no refresh has computed figures of {about}{whole}; run: warehouse refresh{command}")
    statistics = sorted({row.statistic for row in rows})
    if statistic is not None and statistic not in statistics:
        raise MisuseError(f"no statistic {statistic!r}; there are: {', '.join(statistics)}")
    kept = [row for row in rows if statistic in (None, row.statistic) and (last is None or row.age <= last)]
    return History(model, found.name, tuple(kept))


def _row(stored: dict[str, Any]) -> HistoryRow:
    parameters = json.loads(stored.pop("parameters") or "{}")
    return HistoryRow(**stored, p_value=parameters.get("p_value"))


def _of_benchmark(stored: Sequence[HistoryRow]) -> list[HistoryRow]:
    return [row for row in stored if row.subject_kind in _WHOLE and "#" not in row.subject]


def _of_model(store: Store, stored: Sequence[HistoryRow], model: str, benchmark_ids: Sequence[int]) -> list[HistoryRow]:
    try:
        conditions = find_conditions(store, model, benchmark_ids=benchmark_ids)
        subjects = {subject_of(condition) for condition in conditions}
        models = {condition.model for condition in conditions}
        subjects |= {row.subject for row in stored if row.subject_kind == RECIPE and model_of(row.subject) in models}
    except MisuseError:  # its runs may be gone
        first = {row.subject.partition(" - ")[0] for row in stored}
        subjects = {subject for subject in first if model_of(subject) == model}
        if not subjects:
            raise
    return [row for row in stored if row.subject.partition(" - ")[0] in subjects]
