"""Which columns of a table, and parts of the document around its records, are settings
of runs, as a starting mapping takes them: what holds one value in all rows of a run,
and is neither of the prompt nor an outcome.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from warehouse.importers.tabular.chunks import RowView
from warehouse.importers.tabular.column_names import is_of_judge, is_of_prompt
from warehouse.importers.tabular.column_profiles import ColumnProfile
from warehouse.importers.tabular.columns import combine, encode
from warehouse.importers.tabular.constant_columns import ConstantColumns, is_outcome
from warehouse.importers.tabular.drafts.columns import Fields
from warehouse.importers.tabular.drafts.profile import TableProfile
from warehouse.importers.tabular.field_paths import PathError, parse_path

#: Settings that a draft names, at most.
_MOST = 40


def settings_in(
    table: TableProfile, fields: Fields, unused: Sequence[ColumnProfile]
) -> dict[str, str]:
    """Settings of runs with the field path of each.

    Args:
        table: the file as its first rows show it.
        fields: what is known of its columns.
        unused: columns that nothing takes.
    """
    found = _of_document(
        table, {*fields.document.values(), *fields.taken}
    ) | _of_columns(table, fields, unused)
    return dict(list(found.items())[:_MOST])


def _of_columns(
    table: TableProfile, fields: Fields, unused: Sequence[ColumnProfile]
) -> dict[str, str]:
    columns = {
        ".".join((*column.parents, column.name)): column.path
        for column in unused
        if _may_be(column)
    }
    view = RowView(table.chunk)
    named = [fields.run[name] for name in ("model", "benchmark") if name in fields.run]
    runs = combine(
        [encode(view.column(column.path), view.size) for column in named], view.size
    )[0]
    constants = ConstantColumns(columns)
    constants.shortlist(view)
    constants.learn(view, runs)
    return {name: columns[name] for name in constants.settings()}


def _may_be(column: ColumnProfile) -> bool:
    if column.kind in ("list", "object", "empty") or column.path.lstrip("^").startswith(
        "@"
    ):
        return False
    return not is_of_prompt(column.parents) and not is_of_judge(column.parents)


def _of_document(table: TableProfile, taken: Collection[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for path, value in table.document.items():
        try:
            steps = [str(step) for step in parse_path(path).steps]
        except PathError:
            continue
        if (
            path not in taken
            and not is_of_judge(steps[:-1])
            and not is_outcome(steps[-1], [value], steps[:-1])
        ):
            found[".".join(steps)] = path
    return found
