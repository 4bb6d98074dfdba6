"""Figures of refreshes as a table, its subjects in words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from warehouse.analysis.results import Result, Row
from warehouse.tables.view import Table, View, constants
from warehouse.tables.words import counted, decimals, interval, number, p_value

#: Stands for the model that a history is of, in more differences than that.
SAME_MODEL, FEW = "…", 3
_HIDE_EMPTY = ("benchmark", "interval", "change", "p", "metric", "n", "reason")
#: Columns that stand under ``--explain``.
_DETAILS = ("method", "n", "metric", "p")
#: The statistic that is told of first.
_SCORE = "score"
#: Columns that a narrow terminal does without, the first of them first.
_MINOR = ("method", "n", "metric", "reason", "p", "change")


@dataclass(frozen=True)
class HistoryRow(Row):
    """One figure as one refresh computed it; columns as in the view ``metric_history``."""

    refreshed_at: datetime  #: end of the refresh, UTC.
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
    previous_estimate: float | None  #: figure of the refresh before that changed it.
    change: float | None  #: ``estimate`` minus that.
    age: int  #: 1 for the newest.
    reason: str
    input_fingerprint: str
    #: of the test behind the figure, not adjusted; None without one.
    p_value: float | None


@dataclass(frozen=True)
class History(Result):
    """Figures of a model on a benchmark (on all, if ``benchmark`` is empty), by
    statistic and subject, the newest first; those of the benchmark as a whole if
    ``model`` is None.
    """

    model: str | None
    benchmark: str
    rows: tuple[HistoryRow, ...]
    #: what tells the conditions of one model apart, such as ``fewshot=5``, by the
    #: subject of each; those whose runs are gone are not there.
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def one_line(self) -> str:
        refreshes = len({row.refresh_id for row in self.rows})
        what = " on ".join(filter(None, (self.model, self.benchmark)))
        return f"{what}: {len(self.rows)} figures of {refreshes} refreshes"

    def view(self, *, verbose: bool = False) -> View:
        """What changed last, and the figures, those of the model itself first.

        Args:
            verbose: with tests, counts and methods.
        """
        if verbose:
            return history_view(self)
        *said, table = history_view(self).parts
        if isinstance(table, Table):
            table = table.without(_DETAILS)
        return View((_changed(self), *said, "", table))


def _changed(changes: History) -> str:
    """How many figures changed, and the last change of a score."""
    if not changes.rows:
        return "No figure is stored."
    moved = [row for row in changes.rows if row.change]
    last = max(row.refreshed_at for row in changes.rows)
    n_rows = counted(len(changes.rows), "stored figure")
    if not moved:
        return (
            f"No figure has changed: {n_rows}, the last refresh was "
            f"{last:%Y-%m-%d %H:%M} UTC."
        )
    said = f"{counted(len(moved), 'change')} among {n_rows}"
    scores = [row for row in moved if row.statistic == _SCORE]
    if not scores:
        return f"{said}; no score is among them."
    row = max(scores, key=lambda row: (row.refreshed_at, abs(row.change or 0.0)))
    digits = _n_decimals(row)
    where = ""
    if not changes.benchmark:
        where = f" on {row.benchmark}"
    return (
        f"{said}; last the score of {_side(changes, row.subject)}{where}, by "
        f"{number(row.change, digits, sign=True)} to {number(row.estimate, digits)} "
        f"({row.refreshed_at:%Y-%m-%d %H:%M} UTC)."
    )


def history_view(changes: History) -> View:
    """The figures, those of the model itself first."""
    subjects = _subjects(changes)
    rows = sorted(changes.rows, key=lambda row: _place(changes, row))
    cells = [_cells(changes, row, subjects[row.benchmark, row.subject]) for row in rows]
    said: list[str] = []
    if len(cells) > 1:
        said, cells = constants(cells, ("subject", "metric", "refreshed (UTC)"))
    if any(SAME_MODEL in subject for subject in subjects.values()):
        said.insert(0, f"{SAME_MODEL}: {changes.model}")
    return View((*said, Table.of(cells, hide_empty=_HIDE_EMPTY, minor=_MINOR)))


def _cells(changes: History, row: HistoryRow, subject: str) -> dict[str, Any]:
    n_decimals = _n_decimals(row)
    is_open = row.low is None and row.high is None
    return {
        "benchmark": "" if changes.benchmark else row.benchmark,
        "statistic": row.statistic,
        "subject": subject,
        "estimate": number(row.estimate, n_decimals),
        "interval": "" if is_open else interval(row.low, row.high, n_decimals),
        "change": number(row.change, n_decimals),
        "p": p_value(row.p_value),
        "refreshed (UTC)": f"{row.refreshed_at:%Y-%m-%d %H:%M}",
        "metric": row.metric,
        "n": row.n,
        "method": row.method,
        "reason": row.reason if row.estimate is None else "",
    }


def _n_decimals(row: HistoryRow) -> int:
    """Number of decimals: none for counts such as ranks; else four, or what shows two
    digits of a small figure."""
    shown = [
        value
        for value in (row.estimate, row.low, row.high, row.change)
        if value is not None
    ]
    if row.standard_error is None and all(value.is_integer() for value in shown):
        return 0
    return max(4, decimals([row.estimate and abs(row.estimate)]))


def _subjects(changes: History) -> dict[tuple[str, str], str]:
    """What each subject is called: by its models, and by settings only where one has
    several."""
    keys = {(row.benchmark, row.subject) for row in changes.rows}
    short = sum(" - " in subject for _, subject in keys) > FEW
    labels = {key: _label(changes, key[1], short) for key in keys}
    times = Counter((key[0], name) for key, name in labels.items())
    return {
        key: name if times[key[0], name] == 1 else key[1]
        for key, name in labels.items()
    }


def _label(changes: History, subject: str, short: bool) -> str:
    """A condition, or a difference of two, in which the model of the whole table may be
    :data:`SAME_MODEL`."""
    sides = [_side(changes, side) for side in subject.split(" - ")]
    return " - ".join(
        SAME_MODEL if short and len(sides) > 1 and side == changes.model else side
        for side in sides
    )


def _place(changes: History, row: HistoryRow) -> int:
    """Figures of the model itself stand first, then its differences from others, then
    those of others from it."""
    first, _, second = row.subject.partition(" - ")
    if not second:
        return 0
    return 1 + (_model(first) != changes.model)


def _model(side: str) -> str:
    return re.sub(r"#[0-9a-f]{12}", "", side)


def _side(changes: History, side: str) -> str:
    """A condition or recipe: its model, unless the whole table is of that one, and its
    settings."""
    model, settings = _model(side), changes.settings.get(side, "")
    if settings and model == changes.model:
        return settings
    if settings:
        return f"{model} ({settings})"
    return model
