"""Columns without a mapping that say how a run was made: of one value in all its rows,
or telling runs of one prompt apart (docs/reference/mapping_language.md). A column that
depends on the
prompt is a field of the prompt, and none of these.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa

from warehouse.importers.tabular.chunks import RowView
from warehouse.importers.tabular.column_names import (
    AGGREGATES,
    ID_NAMES,
    SAMPLE_NAMES,
    Grade,
    grade_of,
    path_of,
    plain_name,
    words_of,
)
from warehouse.importers.tabular.columns import (
    Codes,
    Constant,
    as_list,
    encode,
    number_of,
    to_text,
)
from warehouse.importers.tabular.condition_names import is_condition
from warehouse.records.setting_values import canonical_value

#: Values that a column may have in one run before nobody looks at it any more.
_MOST = 12
#: Rows of a run of which prompts are looked at for some that stand there twice.
_MOST_ROWS = 200_000
#: Names of properties of a prompt that all prompts of a small table may share.
_OF_PROMPTS = frozenset(
    """
    source url link context passage document doc rationale explanation hint question_type answer_type comment comments
    remark remarks evidence facts
    """.split()
)
#: Names of contents of a prompt and of what was said to it, of which a table may have
#: several.
_CONTENTS = frozenset(
    chain.from_iterable(SAMPLE_NAMES[name] for name in ("text", "target", "response"))
)
#: Words of figures of a whole run that stand beside each of its rows.
_OUTCOMES = AGGREGATES | frozenset(
    "stderr std stdev stddev se sem ci lower upper rank ranking".split()
)
_PLAIN_OUTCOMES = frozenset(("n", "count", "position", "index"))


class ConstantColumns:
    """Knowledge of some columns, gathered while the runs of a table are surveyed.

    Args:
        columns: names of columns that nothing else is known of, with the field path of
            each.
    """

    def __init__(self, columns: Mapping[str, str]) -> None:
        self._paths = {
            column: path for column, path in columns.items() if _may_be(column)
        }
        #: column -> run -> form of a value -> rows that hold it.
        self._seen: dict[str, dict[int, dict[str | None, int]]] = {
            column: {} for column in self._paths
        }
        #: column -> form -> the value as it stands.
        self._raw: dict[str, dict[str, Any]] = {}
        #: what tells the prompts of the first run apart, row by row.
        self._of_first: list[int] = []

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns that may still be settings."""
        return tuple(self._seen)

    def paths(self) -> set[str]:
        """Field paths that have to be read."""
        return {self._paths[column] for column in self._seen}

    def add(self, columns: Mapping[str, str]) -> None:
        """Look at further columns, which another table has."""
        for column, path in columns.items():
            if column not in self._paths and _may_be(column):
                self._paths[column] = path
                self._seen[column] = {}

    def _values(self, view: RowView, column: str) -> tuple[Codes, list[Any]]:
        path = self._paths[column]
        if view.holds(path):
            cells = view.column(path)
        else:
            cells = Constant(None)
        return encode(cells, view.size)

    def shortlist(self, view: RowView) -> None:
        """Leave out what the first rows show to be no setting: lists, objects, texts
        that differ from row to row."""
        for column in self.columns:
            values = self._values(view, column)[1]
            if not _are_scalars(values) or len(values) > max(_MOST, view.size // 2):
                self._leave_out(column)

    def learn(self, view: RowView, runs: Codes) -> None:
        """Take in some rows.

        Args:
            view: the rows.
            runs: number of the run of each row, -1 where it has none; shape (rows,).
        """
        n_runs = len(np.unique(runs))
        for column in self.columns:
            codes, values = self._values(view, column)
            if len(values) > _MOST * n_runs or not _are_scalars(values):
                self._leave_out(column)
                continue
            forms = [canonical_value(column, value) for value in values]
            for form, value in zip(forms, values, strict=True):
                if form is not None:
                    self._raw.setdefault(column, {}).setdefault(form, value)
            self._count(column, runs, codes, forms)

    def learn_prompts(self, names: pa.Array, runs: Codes) -> None:
        """Take in what the prompts of some rows are called; of one run: it shows
        whether prompts stand there twice."""
        if self._seen and len(self._of_first) < _MOST_ROWS:
            own = names.filter(pa.array(runs == 0))
            self._of_first += map(hash, own.to_pylist())

    def _count(
        self, column: str, runs: Codes, codes: Codes, forms: Sequence[str | None]
    ) -> None:
        pairs, counts = np.unique(runs * len(forms) + codes, return_counts=True)
        by_run = self._seen[column]
        for pair, count in zip(pairs.tolist(), counts.tolist(), strict=True):
            run, code = divmod(pair, len(forms))
            if run < 0:
                continue
            of_run = by_run.setdefault(run, {})
            of_run[forms[code]] = of_run.get(forms[code], 0) + count
            if len(of_run) > _MOST:
                self._leave_out(column)
                return

    def _leave_out(self, column: str) -> None:
        del self._seen[column]

    def settings(self) -> dict[str, dict[int, Any]]:
        """The columns of one value in each run, with the value by run; runs of a single
        row tell nothing."""
        found: dict[str, dict[int, Any]] = {}
        for column, by_run in self._seen.items():
            runs = by_run.values()
            if not by_run or any(len(of_run) > 1 for of_run in runs):
                continue
            if all(sum(of_run.values()) < 2 for of_run in runs):
                continue
            forms = {run: next(iter(of_run)) for run, of_run in by_run.items()}
            values = {
                run: self._raw[column][form]
                for run, form in forms.items()
                if form is not None
            }
            if values and not is_outcome(column.rpartition(".")[2], values.values()):
                found[column] = values
        return found

    def of_conditions(self) -> dict[str, list[str]]:
        """Columns that are called as conditions are and have a few values in the rows of
        one run, with these."""
        found = {}
        for column, by_run in self._seen.items():
            forms = {form for of_run in by_run.values() for form in of_run}
            most = max((len(of_run) for of_run in by_run.values()), default=0)
            if is_condition(column) and most > 1 and len(forms) <= _MOST:
                found[column] = sorted(map(str, forms - {None}))
        return found

    def that_may_split(self) -> list[str]:
        """Columns of several values in a run that about as many rows hold each: each
        prompt may stand there once for each value."""
        n_first = len(self._of_first)
        # each prompt of the first run once
        is_apart = n_first < _MOST_ROWS and len(set(self._of_first)) == n_first
        found = []
        for column, by_run in self._seen.items():
            tells_nothing_twice = is_apart and len(by_run.get(0, ())) > 1
            if _is_balanced(by_run.values()) and not tells_nothing_twice:
                found.append(column)
        return found


def is_outcome(name: str, values: Iterable[Any], parents: Sequence[str] = ()) -> bool:
    """True if values that are the same in all rows of a run are a figure of the whole
    run: it came out, and was not chosen.

    Args:
        name: of the column.
        values: numbers, or whatever it holds.
        parents: names of the objects that it lies in.
    """
    if not all(isinstance(number_of(value), int | float) for value in values):
        return False
    if grade_of(name, parents) >= Grade.LIKELY or plain_name(name) in _PLAIN_OUTCOMES:
        return True
    words = {*words_of(name)}
    for parent in parents:
        words.update(words_of(parent))
    return bool(words & _OUTCOMES)


def _may_be(column: str) -> bool:
    """True if a column is not called as what a prompt has, or as an id of prompts."""
    name = plain_name(column)
    return not {name} & {*_OF_PROMPTS, *_CONTENTS, *ID_NAMES}


def leaves_at(
    view: RowView, path: str, taken: Collection[str] = (), name: str = ""
) -> dict[str, str]:
    """Leaves of the objects at a path in some rows, each with its field path;
    none where no object is there.

    Args:
        view: the first rows.
        path: of an object.
        taken: field paths that something reads, which are left out.
        name: what the object is called; the last step of its path if empty.
    """
    if not view.holds(path):
        return {}
    objects = [
        value
        for value in as_list(view.column(path), view.size)
        if isinstance(value, dict)
    ]
    outer = name or path.rpartition(".")[2].lstrip("^$")
    found: dict[str, str] = {}
    for value in objects:
        found |= _leaves(value, outer, path)
    return {inner: leaf for inner, leaf in found.items() if leaf not in taken}


#: Objects in objects that are looked into.
_DEEPEST = 3


def _leaves(
    value: Mapping[str, Any], name: str, path: str, depth: int = 0
) -> dict[str, str]:
    found: dict[str, str] = {}
    for key, item in value.items():
        inner = f"{name}.{key}"
        leaf = f"{path}.{path_of(str(key))}"
        if isinstance(item, dict) and depth < _DEEPEST:
            found |= _leaves(item, inner, leaf, depth + 1)
        elif not isinstance(item, list | dict):
            found[inner] = leaf
    return found


def _are_scalars(values: Iterable[Any]) -> bool:
    return all(
        value is None or isinstance(value, str | int | float | bool) for value in values
    )


def _is_balanced(by_run: Collection[Mapping[str | None, int]]) -> bool:
    several = [of_run.values() for of_run in by_run if len(of_run) > 1]
    return bool(several) and all(2 * min(rows) >= max(rows) for rows in several)


class CrossedColumns:
    """Which of some columns tell rows of one prompt apart that nothing else does: each
    prompt stands in a run once for each of their values, so that the values are those
    of several runs.

    Args:
        columns: that may do so.
        key: field paths that tell the rows of a run apart: of the prompt, the draw, the
            metric.
    """

    def __init__(self, columns: Sequence[str], key: Collection[str]) -> None:
        self._columns = tuple(columns)
        self._key = tuple(key)
        self._parts: list[pa.Table] = []

    def paths(self) -> set[str]:
        """Field paths that have to be read."""
        return {*map(path_of, self._columns), *self._key}

    def learn(self, view: RowView, runs: Codes) -> None:
        """Take in some rows, as :meth:`ConstantColumns.learn`."""
        parts: dict[str, pa.Array] = {"run": pa.array(runs)}
        for path in self._key:
            texts = to_text(view.column(path), view.size, labels=True)
            parts[f"key {path}"] = texts.array
        for column in self._columns:
            codes, values = encode(view.column(path_of(column)), view.size)
            forms = pa.array(
                [canonical_value(column, value) for value in values], pa.string()
            )
            parts[column] = forms.take(pa.array(codes))
        self._parts.append(pa.table(parts).filter(pa.array(runs >= 0)))

    def found(self) -> list[str]:
        """As few of the columns as tell all rows apart; none where rows are apart
        without them, or stay together."""
        table = pa.concat_tables(self._parts)
        key = [name for name in table.column_names if name not in self._columns]
        if _n_groups(table, key) == table.num_rows:
            return []
        needed = list(self._columns)
        if _n_groups(table, [*key, *needed]) < table.num_rows:
            return []
        for column in self._columns:
            without = [name for name in needed if name != column]
            if without and _n_groups(table, [*key, *without]) == table.num_rows:
                needed = without
        return needed


def _n_groups(table: pa.Table, names: Sequence[str]) -> int:
    return int(table.group_by(list(names)).aggregate([]).num_rows)
