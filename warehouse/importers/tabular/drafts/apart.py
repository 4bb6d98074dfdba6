"""Which columns tell apart the systems of which rows state figures, where their names do
not say it: those who ran, parts of a benchmark, settings."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from warehouse.importers.tabular.column_names import (
    MODEL_LABELS,
    are_models,
    is_counted,
    plain_name,
    words_of,
)
from warehouse.importers.tabular.column_profiles import ColumnProfile
from warehouse.importers.tabular.condition_names import is_condition
from warehouse.importers.tabular.drafts.columns import Fields
from warehouse.importers.tabular.drafts.conditions import tell_apart
from warehouse.importers.tabular.drafts.looks import are_codes, are_times, is_verdict
from warehouse.importers.tabular.drafts.profile import TableProfile
from warehouse.importers.tabular.drafts.toml import toml_key, toml_text

#: Columns that tell rows apart together, at most, and those that are tried.
_TOGETHER, _TRIED = 3, 8
#: Characters of a name, and rows of a table of figures.
_NAME, _MOST_ROWS = 200, 500
#: Values of a column that is called as conditions are, at most.
_NAMES = 24
#: Words of names of columns that name files, or what stands in them.
_OF_FILES = frozenset("file files path paths filename count counts tokens".split())
#: Words of names of columns that name what was evaluated.
_SYSTEMS = frozenset(
    "model llm agent system runner engine provider player team adapter method config "
    "pipeline tool vendor bot participant approach strategy detector codec stack".split()
)
#: Words of names of columns that name a row, and nothing that was evaluated.
_OF_ROWS = frozenset(
    "id ids uid uuid hash file path url link record notes note comment timestamp date "
    "time".split()
)


def rows_apart(table: TableProfile, fields: Fields) -> str:
    """What a mapping of figures says that tells its rows apart, and ``, and``; nothing
    where the fields of the run do, or no few columns."""
    axes = [*fields.run.values(), *fields.scorers.columns]
    has_model = "model" in {**fields.run, **fields.document}
    if table.rows > _MOST_ROWS or has_model and tell_apart(table, axes):
        return ""
    named = [own for own in table.columns if _may_name(own) and own not in axes]
    found = _telling(table, axes, named) or _telling(table, axes, _files_in(table))
    ids = [own for own in table.columns if own.is_unique and _is_of_rows(own)]
    ids = [own for own in ids if own.kind == "text"]
    run_id = ids[0] if not found and ids else None
    if run_id is not None:
        found = [own for own in named if 2 * len(own.values) <= own.rows][:2]
    if not found and run_id is None:
        return ""
    said = [f"[run] run_id = {toml_text(run_id.path)}"] if run_id is not None else []
    if not has_model and found:
        model = max([*found, *named], key=_likeliness)
        model = model if _likeliness(model) else found[0]
        said.insert(0, f"[run] model = {toml_text(model.path)}")
        found = [own for own in found if own is not model]
    for own in found:
        path = toml_text(own.path)
        said.append(
            f"[run.configuration] {toml_key(own.name)} = {path} (or [run] benchmark = "
            f"{path})"
        )
    return ", ".join(said) + ", and "


def _telling(
    table: TableProfile,
    axes: Sequence[ColumnProfile],
    named: Sequence[ColumnProfile],
) -> list[ColumnProfile]:
    """The fewest columns of names that tell rows apart; those who ran first."""
    tried = sorted(named, key=_order, reverse=True)[:_TRIED]
    for number in range(1, _TOGETHER + 1):
        for found in combinations(tried, number):
            if tell_apart(table, [*axes, *found]):
                return [*found]
    return []


def _may_name(column: ColumnProfile) -> bool:
    """True if a column holds names in all rows, of more than one; numbers and codes where
    it is called as conditions are."""
    if _is_condition_of_rows(column):
        return True
    is_other = bool({*words_of(column.name)[-1:]} & _OF_FILES)
    if is_other or is_counted(column.name) or _are_means(column):
        return False
    is_text = (
        column.kind in ("text", "mixed") and not column.nulls and not column.parents
    )
    is_of_pair = plain_name(column.name) in ("model_a", "model_b")
    if not is_text or is_of_pair or column.is_percent or len(column.values) < 2:
        return False
    are_short = all(len(str(value)) <= _NAME for value in column.values)
    return are_short and not _is_of_rows(column) and not is_verdict(column)


def _files_in(table: TableProfile) -> list[ColumnProfile]:
    """Columns that name the files that rows are of, where nothing else tells them
    apart."""
    return [
        own
        for own in table.columns
        if {*words_of(own.name)[-1:]} & _OF_FILES
        and own.kind == "text"
        and not own.nulls
        and not own.parents
        and len(own.values) > 1
    ]


def _is_condition_of_rows(column: ColumnProfile) -> bool:
    """True if a column of few values is called as conditions are."""
    is_value = column.kind in ("text", "mixed", "number") and not column.nulls
    is_few = 2 <= len(column.values) <= _NAMES
    is_flat = not column.parents and not column.is_percent
    is_size = words_of(column.name)[-1:] == ["size"]
    is_called = is_condition(column.name) or is_size
    return is_value and is_few and is_flat and is_called and not _are_means(column)


def _are_means(column: ColumnProfile) -> bool:
    """True if texts are means with their errors, as ``0.38 ± 0.12``."""
    texts = [value for value in column.values if isinstance(value, str)]
    return bool(texts) and all("±" in text or "+/-" in text for text in texts)


def _is_of_rows(column: ColumnProfile) -> bool:
    """True if a column holds ids, places or times of rows."""
    is_called = bool({*words_of(column.name)[-1:]} & _OF_ROWS)
    is_id = is_called and (column.is_unique or are_codes(column))
    return is_id or are_times(column) or column.is_unique and are_codes(column)


def _order(column: ColumnProfile) -> tuple[int, bool, bool]:
    """Those who ran first, then conditions, those that are names before numbers."""
    is_text = column.kind != "number"
    return _likeliness(column), is_condition(column.name), is_text


def _likeliness(column: ColumnProfile) -> int:
    """How much the name and the values of a column say for those who ran."""
    words = words_of(column.name)
    is_label = bool(MODEL_LABELS.fullmatch("_".join(words)))
    is_called = bool({*words} & _SYSTEMS)
    return 2 * is_label + is_called + are_models(list(map(str, column.values)))
