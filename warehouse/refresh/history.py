"""The history of stored figures, refresh by refresh."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import Any

from warehouse.analysis.families.family import RECIPE, ROW, model_of, subject_of
from warehouse.analysis.families.rows import refresh_rows
from warehouse.analysis.groups import grouped
from warehouse.analysis.selection.benchmarks import Benchmark, find_benchmark, runs_on
from warehouse.analysis.selection.conditions import (
    Condition,
    group_runs,
    label_conditions,
)
from warehouse.analysis.selection.reference import find_conditions
from warehouse.analysis.selection.row_plans import without_place
from warehouse.errors import MisuseError
from warehouse.questions.question import answers
from warehouse.refresh.history_report import History, HistoryRow
from warehouse.refresh.question import FigureHistory
from warehouse.store.computed.metric_values import current_values
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text
from warehouse.tables.words import some_of

#: Names that a message lists.
_NAMES = 10
#: Kinds of subjects that stand for the benchmark as a whole.
_WHOLE = ("benchmark", "question")


@answers(FigureHistory)
def history(store: Store, question: FigureHistory) -> History:
    """A row stands for a refresh that changed the figure; in between it was the same."""
    model, benchmark = question.model, None
    if question.benchmark is None:
        about_model = _subjects_of(store, str(model), None)
        rows: list[HistoryRow] = []
        for name in _stored_names(store):
            rows += _of_model(_figures(store, name), about_model)
    else:
        benchmark = find_benchmark(store, question.benchmark)
        try:
            rows = _figures(store, benchmark.name)
            if model is None:
                rows = _of_benchmark(rows) or rows
            elif rows:
                rows = _of_model(rows, _subjects_of(store, model, benchmark.ids, rows))
        except MisuseError as error:
            raise MisuseError(f"{error}; {_what_there_is(store, benchmark)}") from None
    if model is None:
        named = []
    else:
        named = [repr(model)]
    if benchmark:
        named.append(benchmark.name)
    about = " on ".join(named)
    if not rows:
        raise MisuseError(
            f"no refresh has computed figures of {about}; "
            f"{_what_there_is(store, benchmark)}"
        )
    rows = _narrowed(rows, "metric", question.metric, about)
    rows = _narrowed(rows, "statistic", question.statistic, about)
    kept = [row for row in rows if question.last is None or row.age <= question.last]
    return History(
        model, benchmark.name if benchmark else "", tuple(kept), _settings(store, kept)
    )


def _settings(store: Store, rows: Sequence[HistoryRow]) -> dict[str, str]:
    """What tells the conditions of one model on a benchmark apart, by their subjects;
    of one alone, nothing."""
    by_subject: dict[str, str] = {}
    for name in sorted({row.benchmark for row in rows}):
        try:
            conditions = group_runs(runs_on(store, find_benchmark(store, name).ids))
        except MisuseError:  # it is gone, its figures are not
            continue
        of_model: dict[str, list[Condition]] = defaultdict(list)
        subjects: set[str] = set()
        for row in rows:
            if row.benchmark == name:
                subjects.update(_sides(row.subject))
        for condition in conditions:
            if subject_of(condition) in subjects:
                of_model[condition.model].append(condition)
        for several in of_model.values():
            labels = [""]
            if len(several) > 1:
                labels = label_conditions(store, several)
            by_subject |= zip(map(subject_of, several), labels, strict=True)
        by_subject |= _rows(store, conditions, subjects)
    return by_subject


def _rows(
    store: Store, conditions: Sequence[Condition], subjects: Collection[str]
) -> dict[str, str]:
    """Names of rows over seeds and checkpoints, by their subjects."""
    rows = [
        row
        for row in refresh_rows(store, conditions, dict)
        if row.kind == ROW and row.subject in subjects
    ]
    shown = [without_place(row.plan.conditions[0], keep_seed=False) for row in rows]
    by_subject: dict[str, str] = {}
    for row, label in zip(rows, label_conditions(store, shown), strict=True):
        seeds = {
            str(condition.setting("training_seed") or "")
            for condition in row.plan.conditions
        }
        over = "the row"
        if len(seeds) > 1:
            over = "the row over its seeds"
        by_subject[row.subject] = ", ".join(filter(None, (label, over)))
    return by_subject


def history_of(store: Store, name: str, **options: Any) -> History:
    """:func:`history` of whatever bears a name: a benchmark, else a model on all
    benchmarks.

    Raises:
        MisuseError: it is neither, or nothing has been computed of it.
    """
    try:
        find_benchmark(store, name)
    except MisuseError as error:
        try:
            return history(store, name, None, **options)
        except MisuseError as no_model:
            hint = ""
            if "did you mean" in str(error):
                hint = f"{error}; "
            raise MisuseError(f"{hint}{no_model}") from None
    return history(store, None, name, **options)


def _figures(store: Store, benchmark: str) -> list[HistoryRow]:
    """All that are stored of a benchmark."""
    return [
        _row(record)
        for record in store.rows(
            query_text("refresh", "history"), {"benchmark": benchmark}
        )
    ]


def _narrowed(
    rows: Sequence[HistoryRow], column: str, value: str | None, about: str
) -> list[HistoryRow]:
    """Rows of one metric or statistic; a metric also by its name without a filter.

    Raises:
        MisuseError: there is none; says which there are.
    """
    if value is None:
        return list(rows)
    there = sorted({getattr(row, column) for row in rows if getattr(row, column)})
    fitting = [row for row in rows if getattr(row, column) == value]
    if column == "metric":
        fitting = fitting or [
            row for row in rows if row.metric.partition(",")[0] == value
        ]
    if not fitting:
        raise MisuseError(
            f"no {column} {value!r} of {about}; there are: {', '.join(there)}"
        )
    return fitting


def _stored_names(store: Store) -> list[str]:
    """Benchmarks that figures are stored of."""
    return sorted({str(row["benchmark"]) for row in current_values(store)})


def _what_there_is(store: Store, benchmark: Benchmark | None) -> str:
    """Which names figures are stored under, or how to compute some."""
    stored = current_values(store)
    here = [
        row for row in stored if benchmark is None or row["benchmark"] == benchmark.name
    ]
    models: set[str] = set()
    for row in here:
        models.update(model_of(side) for side in _sides(row["subject"]) if "#" in side)
    if models:
        return (
            f"figures are stored of: {some_of(sorted(models), _NAMES)}; what is new "
            "needs: warehouse refresh"
        )
    says = "run: warehouse refresh"
    if benchmark is not None:
        says += f" {benchmark.name}"
    others = sorted({str(row["benchmark"]) for row in stored})
    if others:
        says += f"; figures are stored of the benchmarks {some_of(others, _NAMES)}"
    return says


def _row(stored: dict[str, Any]) -> HistoryRow:
    parameters = json.loads(stored.pop("parameters") or "{}")
    return HistoryRow(**stored, p_value=parameters.get("p_value"))


def _of_benchmark(stored: Sequence[HistoryRow]) -> list[HistoryRow]:
    return [
        row for row in stored if row.subject_kind in _WHOLE and "#" not in row.subject
    ]


def _sides(subject: str) -> list[str]:
    """The condition that a subject names, or both of a pair."""
    return subject.split(" - ")


def _subjects_of(
    store: Store,
    model: str,
    benchmark_ids: Sequence[int] | None,
    stored: Sequence[HistoryRow] = (),
) -> tuple[set[str], set[str]]:
    """The subjects of the model's conditions, and its names; only the name where its
    runs are gone.

    Raises:
        MisuseError: it has no runs on the benchmarks, nor stored figures.
    """
    try:
        conditions = find_conditions(store, model, benchmark_ids=benchmark_ids)
    except MisuseError:  # its runs may be gone
        if benchmark_ids is not None and not any(
            _names_one_of(row, {model}) for row in stored
        ):
            raise
        return set(), {model}
    subjects = {subject_of(condition) for condition in conditions}
    keys = {condition.key for condition in conditions}
    on_each = grouped(conditions, lambda condition: condition.setting("benchmark"))
    for name in on_each:
        every = group_runs(runs_on(store, find_benchmark(store, name).ids))
        subjects |= {
            row.subject
            for row in refresh_rows(store, every, dict)
            if row.plan.keys & keys
        }
    return subjects, {condition.model for condition in conditions}


def _of_model(
    stored: Sequence[HistoryRow], about: tuple[set[str], set[str]]
) -> list[HistoryRow]:
    """Figures of the model's conditions and recipes, also as the second of a pair;
    where there are none by their keys, or no runs any more, those under the model's
    name."""
    subjects, models = about
    matching = [
        row
        for row in stored
        if subjects.intersection(_sides(row.subject))
        or (row.subject_kind == RECIPE and subjects and _names_one_of(row, models))
    ]
    return matching or [row for row in stored if _names_one_of(row, models)]


def _names_one_of(row: HistoryRow, models: Collection[str]) -> bool:
    return any(model_of(side) in models for side in _sides(row.subject))
