"""Models × benchmarks as people are shown them: the table that papers print, and the
forms of it that fit a narrow page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from warehouse.analysis.leaderboard.answer import Leaderboard
from warehouse.analysis.leaderboard.brief import SHORT, unit_of, with_gap
from warehouse.analysis.leaderboard.places import BEST, HIGHEST, TIE
from warehouse.analysis.leaderboard.words import (
    BY_PUBLISHED_ERRORS,
    NO_TEST,
    first_in_words,
)
from warehouse.analysis.selection.policies import policy_words
from warehouse.analysis.suites.across_row import Across, ModelAcross, Shown
from warehouse.tables.units import Unit
from warehouse.tables.view import MARKED, Table, TableNote, View
from warehouse.tables.words import (
    StrongNumber,
    WrittenNumber,
    counted,
    some_of,
    visible,
)

#: What stands where there is no figure, and where it rests on a part of a benchmark.
MISSING, PART = "–", "part"
#: The column of the mean over benchmarks.
MEAN = "mean"
#: Verdicts on a row that no test tells from the best.
_WITH_THE_BEST = (BEST, TIE, HIGHEST)
#: Columns of benchmarks, or of models, that any table has at most.
_MOST_COLUMNS = 12
#: The column of those that no test tells from the best.
_ALIKE = "not distinguishable from it"
#: What stands there where no figure is held against another.
NOT_TESTED = "not tested"
#: Names that a cell or a sentence has.
_MOST_NAMED = 3


def across_view(
    result: Across,
    boards: Sequence[Leaderboard],
    one_by_one: View,
    *,
    verbose: bool,
    top: int | None,
) -> View:
    """What people are shown of models across benchmarks.

    Args:
        result: what it is of.
        boards: of every benchmark.
        one_by_one: what people are shown of these.
        verbose: this too, below the table.
        top: rows of tables; None: those that a reader looks for first; 0: all.
    """
    units = _units(result)
    in_percent = all(unit.in_percent for unit in units.values())
    heading = _heading(result, in_percent=in_percent) + _policies(boards)
    parts: list[Any] = [visible(heading)]
    parts += _sentences(result, units)
    parts += ["", _table(result, units, in_percent=in_percent, top=top)]
    parts += _meaning_of_marks(result)
    parts += [TableNote(line) for line in _below(result, boards)]
    notes = dict.fromkeys(one_by_one.notes)
    if result.mean is not None:
        notes |= dict.fromkeys(result.mean.notes)
    if verbose:
        parts += ["", *one_by_one.parts]
    return View(tuple(parts), tuple(notes))


def _units(result: Across) -> dict[str, Unit]:
    """The unit of each column, by name; of the mean as well."""
    units = {}
    for column in result.columns:
        rows = [figure.row for figure in column.figures]
        units[column.name] = unit_of(rows, in_percent=column.is_share)
    if result.mean is not None:
        units[MEAN] = unit_of(result.mean.rows, in_percent=result.mean.is_share)
    return units


def _heading(result: Across, *, in_percent: bool) -> str:
    """What the table shows: ``4 models × 3 benchmarks, in %``."""
    models = {row.model for row in result.models}
    size = f"{counted(len(models), 'model')} × {_n_benchmarks(result)}"
    if in_percent:
        size += ", in %"
    errors = (figure.row.standard_error for figure in _all_figures(result))
    if any(error is not None for error in errors):
        size += "; standard errors in brackets"
    return size


def _policies(boards: Sequence[Leaderboard]) -> str:
    """What unscored samples count as, where that is said of a benchmark."""
    said = {board.benchmark: board.policy for board in boards if board.policy}
    if len(said) == len(boards) and len(set(said.values())) == 1:
        return policy_words(boards[0].policy)
    named = [f"{benchmark} {policy}" for benchmark, policy in said.items()]
    return policy_words(some_of(named))


def _n_benchmarks(result: Across) -> str:
    """How many benchmarks there are, and how many of them stand in suites."""
    n = sum(column.n_benchmarks for column in result.columns)
    if n == len(result.columns):
        return counted(n, "benchmark")
    return f"{counted(len(result.columns), 'column')} of {n} benchmarks"


def _sentences(result: Across, units: dict[str, Unit]) -> Iterator[str]:
    """Who is best by the mean; why there is none."""
    mean = result.mean
    if mean is None:
        yield f"No mean over the benchmarks: {result.why_no_mean}."
        return
    ranked = [row for row in mean.rows if row.rank is not None]
    words = first_in_words(ranked, mean.rows, mean.higher_is_better, units[MEAN])
    over = f"{len(result.in_mean)} benchmarks"
    if len(mean.leaves) != len(result.in_mean):
        over = f"{len(result.in_mean)} columns"
    yield visible(f"By the mean of {over}: {words}.")


def _meaning_of_marks(result: Across) -> list[TableNote]:
    """What a star means, below the tables that have any: of models, or of benchmarks
    with a column for each model."""
    means = [model.mean for model in result.models if model.mean is not None]
    verdicts = {figure.verdict for figure in (*_all_figures(result), *means)}
    if verdicts.isdisjoint(_WITH_THE_BEST):
        return []
    first_columns = ("model", *_names_of(result.models)[:1])
    return [TableNote(MARKED, column, is_term=False) for column in first_columns]


def _below(result: Across, boards: Sequence[Leaderboard]) -> Iterator[str]:
    """What marks mean, what the mean is not over, and how to see one benchmark."""
    yield from _what_is_tested(result)
    if result.mean is not None:
        yield from _not_in_mean(result.not_in_mean)
    if others := _not_shown(boards):
        names = some_of(others, _MOST_NAMED)
        yield f"{counted(len(others), 'other benchmark')} without two models to rank: {names}"
    suites = [column for column in result.columns if column.n_benchmarks > 1]
    for column in suites:
        yield f"{column.name}: mean of its {column.n_benchmarks} benchmarks"
    if any(figure.is_part for figure in _all_figures(result)):
        yield f"{PART}: answered a part of the benchmark, and not shown beside the others"


def _what_is_tested(result: Across) -> Iterator[str]:
    """That published figures of one benchmark are not held against one another, and
    how their means are."""
    if any(figure.verdict for figure in _all_figures(result)):
        return
    means = [model.mean for model in result.models if model.mean is not None]
    if any(figure.verdict for figure in means):
        yield f"{MEAN}: {BY_PUBLISHED_ERRORS}, as if each model had its own questions"
        yield f"each benchmark: {NO_TEST}, as its figures are published"
    else:
        yield f"{NO_TEST}: the figures are as published"


def _not_in_mean(left_out: Mapping[str, str]) -> Iterator[str]:
    """What the mean is not over, a line for each reason."""
    by_reason: dict[str, list[str]] = {}
    for name, why in left_out.items():
        by_reason.setdefault(why, []).append(name)
    for why, names in by_reason.items():
        yield f"mean without {some_of(names, _MOST_NAMED)}: {why}"


def _not_shown(boards: Sequence[Leaderboard]) -> list[str]:
    """Benchmarks of which there are leaderboards that rank nobody."""
    alone = []
    for board in boards:
        n_ranked = sum(row.rank is not None for row in board.rows)
        if n_ranked < 2:
            alone.append(board.benchmark)
    return alone


def _all_figures(result: Across) -> Iterator[Shown]:
    for column in result.columns:
        yield from column.figures


def _table(
    result: Across,
    units: dict[str, Unit],
    *,
    in_percent: bool,
    top: int | None,
) -> Table:
    """A row for each model, or for each benchmark where there are many; of many models
    and many benchmarks the best of each benchmark."""
    leaders = _leaders(result, units, top=top)
    n_models, n_columns = len(result.models), len(result.columns)
    if min(n_models, n_columns) > _MOST_COLUMNS:
        return leaders
    across = _by_benchmark(result, units, in_percent=in_percent)
    across = replace(across, narrow=leaders)
    if n_columns > _MOST_COLUMNS:
        return across
    return replace(
        _by_model(result, units, in_percent=in_percent, top=top), narrow=across
    )


def _by_model(
    result: Across,
    units: dict[str, Unit],
    *,
    in_percent: bool,
    top: int | None,
) -> Table:
    """A row for each model, a column for each benchmark."""
    rows = []
    for model in result.models:
        mean = model.mean
        cells: dict[str, Any] = {
            "place": mean and mean.place,
            "model": model.model,
            "settings": model.settings,
        }
        for column in result.columns:
            figure = model.figures.get(column.name)
            unit = units[column.name]
            label = _label(column.name, unit, in_percent=in_percent)
            cells[label] = _cell(figure, unit)
        if result.mean is not None:
            label = _label(MEAN, units[MEAN], in_percent=in_percent)
            cells[label] = _cell(mean, units[MEAN])
        cells["vs. best"] = mean and mean.verdict
        rows.append(cells)
    shown = with_gap(rows, top)
    for cells in shown:
        del cells["vs. best"]
    return Table.of(shown, hide_empty=("place", "settings"))


def _by_benchmark(result: Across, units: dict[str, Unit], *, in_percent: bool) -> Table:
    """A row for each benchmark, a column for each model."""
    names = _names_of(result.models)
    rows = []
    for column in result.columns:
        unit = units[column.name]
        figures = [model.figures.get(column.name) for model in result.models]
        label = _label(column.name, unit, in_percent=in_percent)
        rows.append((label, *_cells(figures, unit)))
    if result.mean is not None:
        means = [model.mean for model in result.models]
        label = _label(MEAN, units[MEAN], in_percent=in_percent)
        rows.append((label, *_cells(means, units[MEAN])))
    return Table(("benchmark", *names), tuple(rows))


def _leaders(result: Across, units: dict[str, Unit], *, top: int | None) -> Table:
    """A row for each benchmark: its best, and who cannot be told from it."""
    rows = []
    if result.mean is not None:
        of_mean = [model.mean for model in result.models if model.mean is not None]
        rows.append(_leader(MEAN, of_mean, units[MEAN]))
    for column in result.columns:
        ranked = [figure for figure in column.figures if figure.row.rank is not None]
        rows.append(_leader(column.name, ranked, units[column.name]))
    if all(row[_ALIKE] == NOT_TESTED for row in rows):
        for row in rows:
            row[_ALIKE] = ""
    most = len(rows) if top == 0 else top or SHORT
    shown = rows[:most]
    if len(rows) > most + 1:
        more = dict.fromkeys(rows[0], "")
        shown = [*shown, more | {"benchmark": f"… {len(rows) - most} more (--all)"}]
    return Table.of(
        shown, hide_empty=("questions", _ALIKE), minor=("models", "questions")
    )


def _leader(name: str, ranked: Sequence[Shown], unit: Unit) -> dict[str, Any]:
    best = ranked[0].row
    ties = [figure.row for figure in ranked[1:] if figure.verdict in _WITH_THE_BEST]
    are_tested = any(figure.verdict for figure in ranked)
    alike = some_of(_names_of_rows(ties), _MOST_NAMED) if ties else "nobody"
    if not are_tested:
        alike = NOT_TESTED
    return {
        "benchmark": name,
        "best": best.model,
        "score": unit.with_error(best.estimate, best.standard_error),
        _ALIKE: alike,
        "models": len(ranked),
        "questions": best.n_prompts or None,
    }


def _label(name: str, unit: Unit, *, in_percent: bool) -> str:
    """What figures are called, with the sign of per cent where not all have it."""
    if unit.in_percent and not in_percent:
        return f"{name} %"
    return name


def _names_of_rows(rows: Sequence[Any]) -> list[str]:
    return list(dict.fromkeys(row.model for row in rows))


def _names_of(models: Sequence[ModelAcross]) -> list[str]:
    """What columns of models are called: their names, with settings where a name
    stands twice."""
    names = [model.model for model in models]
    called = []
    for model in models:
        is_alone = names.count(model.model) == 1
        called.append(model.model if is_alone else f"{model.model} {model.settings}")
    return called


def _cells(figures: Sequence[Shown | None], unit: Unit) -> list[Any]:
    return [_cell(figure, unit) for figure in figures]


def _cell(figure: Shown | None, unit: Unit) -> WrittenNumber:
    """A figure with its error, marked where no test tells it from the best; without the
    sign of per cent, which a heading says."""
    if figure is None:
        return WrittenNumber(MISSING)
    if figure.is_part:
        return WrittenNumber(PART)
    row = figure.row
    written = unit.with_error(row.estimate, row.standard_error, sign=False)
    if written is None:
        return WrittenNumber(MISSING)
    if figure.verdict in _WITH_THE_BEST:
        return StrongNumber(written.text)
    return written
