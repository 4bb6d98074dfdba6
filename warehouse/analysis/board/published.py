"""Figures that sources publish, as tables."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any

from warehouse.analysis.board.named import NamedBoard
from warehouse.analysis.board.store_figures import sample_mean
from warehouse.analysis.groups import grouped
from warehouse.stats.board.finding import Finding
from warehouse.stats.board.samples import SampleMean, mean_finding
from warehouse.stats.board.table import Board, make_board
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text

#: Models of a source from which it is a table by itself; the others of a format are one.
_TABLE = 3
#: Digits of a stored figure, and figures above which none is looked at.
_DIGITS, _MOST_FIGURES = 12, 50_000
#: Run and metric of a figure.
FigureKey = tuple[int, int]


@dataclass(frozen=True)
class PublishedBoard:
    """The figures of a source, or of all small ones of a format, as a table."""

    named: NamedBoard
    findings: tuple[
        Finding, ...
    ]  #: of figures that are not the means of their samples.


def published_boards(
    store: Store, first: int = 0, benchmarks: Collection[str] | None = None
) -> list[PublishedBoard]:
    """The published figures of runs from one on as tables: a row a model of an
    invocation, a column a benchmark and a metric."""
    rows = store.rows(query_text("analysis/board", "published"), {"first": first})
    if benchmarks is not None:
        rows = [row for row in rows if row["benchmark"] in benchmarks]
    if not rows or len(rows) > _MOST_FIGURES:
        return []
    samples = _samples(store, first)
    found = []
    for name, own in _tables(rows).items():
        found.append(_board(name, own, samples))
    return found


def _samples(store: Store, first: int) -> dict[FigureKey, SampleMean]:
    """What samples have in all, by run and metric."""
    found = {}
    rows = store.rows(query_text("analysis/board", "samples_of_runs"), {"first": first})
    for row in rows:
        mean = sample_mean(row)
        if mean is not None and mean.n_scored:
            found[row["run_id"], row["metric_id"]] = mean
    return found


def _tables(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    """Figures by the table in which they stand."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for source, own in grouped(rows, itemgetter("source_id")).items():
        name = str(own[0]["format"])
        if len({row["model"] for row in own}) >= _TABLE:
            name = f"{name}, source {source}"
        found.setdefault(name, []).extend(own)
    return found


def _board(
    name: str,
    rows: Sequence[Mapping[str, Any]],
    samples: Mapping[FigureKey, SampleMean],
) -> PublishedBoard:
    """A table of figures. What stands twice in a cell is left out: of several conditions
    nothing says which is meant."""
    label = _labels(rows)
    entries = list(dict.fromkeys(_entry(row) for row in rows))
    names = list(dict.fromkeys(label(row) for row in rows))
    cells: dict[tuple[str, Any], list[Mapping[str, Any]]] = {}
    for row in rows:
        cells.setdefault((label(row), _entry(row)), []).append(row)
    columns: dict[str, list[str]] = {}
    findings: list[Finding] = []
    sizes: dict[str, int] = {}
    for column in names:
        own = [_single(cells.get((column, entry), ())) for entry in entries]
        columns[column] = [_printed(row, "value") for row in own]
        errors = [_printed(row, "standard_error") for row in own]
        if any(errors):
            columns[f"{column}_stderr"] = errors
        n = {row["n"] for row in own if row is not None}
        if len(n) == 1 and None not in n:
            sizes[column] = int(n.pop())
    board = make_board(
        [str(model) for _, model in entries], columns, is_ordered=False, sizes=sizes
    )
    for column in names:
        own = [_single(cells.get((column, entry), ())) for entry in entries]
        findings += _of_samples(board, column, own, samples)
    return PublishedBoard(NamedBoard(name, board), tuple(findings))


def _labels(rows: Sequence[Mapping[str, Any]]) -> Any:
    """What a column is called: its benchmark, with the metric where several are
    published."""
    metrics: dict[str, set[tuple[str, ...]]] = {}
    for row in rows:
        metrics.setdefault(row["benchmark"], set()).add(_which(row))

    def label(row: Mapping[str, Any]) -> str:
        parts = [row["benchmark"]]
        if len(metrics[row["benchmark"]]) > 1:
            parts += [part for part in _which(row) if part]
        return " ".join(parts)

    return label


def _which(row: Mapping[str, Any]) -> tuple[str, ...]:
    """What tells the figures of one benchmark apart."""
    statistic = row["statistic"]
    if statistic in ("mean", row["metric"]):
        statistic = ""
    return row["metric"], row["metric_filter"], statistic, row["split"]


def _entry(row: Mapping[str, Any]) -> tuple[int, str]:
    return row["run_group_id"], row["model"]


def _single(rows: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The figure of a cell; None where there is none, or more than one value."""
    if rows and len({row["value"] for row in rows}) == 1:
        return rows[0]
    return None


def _printed(row: Mapping[str, Any] | None, name: str) -> str:
    """A stored number as a source would print it: a float holds 15 digits, of which the
    last ones are those of a change of scale."""
    if row is None or row[name] is None:
        return ""
    return f"{row[name]:.{_DIGITS}g}"


def _of_samples(
    board: Board,
    column: str,
    rows: Sequence[Mapping[str, Any] | None],
    samples: Mapping[FigureKey, SampleMean],
) -> Iterator[Finding]:
    """B9 of the cells of a column."""
    texts = board.cells[board.columns.index(column)]
    figures = board.figure(column)
    scale = 1
    if figures is not None and figures.scale == 100:
        scale = 100
    for place, row in enumerate(rows):
        if row is None or (row["run_id"], row["metric_id"]) not in samples:
            continue
        of_cell = samples[row["run_id"], row["metric_id"]]
        found = mean_finding(
            texts[place], of_cell, scale=scale, row=place, column=column
        )
        if found is not None:
            yield replace(found, printed=texts[place])
