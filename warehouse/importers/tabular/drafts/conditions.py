"""Columns that tell apart rows of figures of one model: conditions, agents around it,
parts of a benchmark."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from warehouse.importers.tabular.column_names import words_of
from warehouse.importers.tabular.column_profiles import ColumnProfile
from warehouse.importers.tabular.drafts.boards import are_shares
from warehouse.importers.tabular.drafts.columns import Fields
from warehouse.importers.tabular.drafts.looks import are_times
from warehouse.importers.tabular.drafts.matrix import NAMED
from warehouse.importers.tabular.drafts.profile import TableProfile
from warehouse.importers.tabular.drafts.toml import Choice, toml_key, toml_text

#: Columns that tell rows apart together, at most, and those that are tried.
_TOGETHER, _TRIED = 3, 10
#: The greatest step of a scale of ratings.
_STEPS = 10
#: Words of names of columns that say when a row was made.
_TIMES = frozenset("time timestamp date created updated".split())
#: Columns of percentages from which on rows are of no single prompts.
_SEVERAL = 3
#: Characters of a name.
_NAME = 80


def conditions_of(
    table: TableProfile, fields: Fields, values: Sequence[ColumnProfile]
) -> list[ColumnProfile]:
    """The fewest columns of names that tell apart rows with figures of one run, of which
    there are several. None where rows may be prompts.

    Args:
        values: the columns of figures.
    """
    model = fields.run.get("model")
    is_of_prompts = bool({"text", "target", "response", "prompt_id"} & {*fields.sample})
    is_judged = bool(fields.scorers.columns or fields.scorers.asked)
    if model is None or is_of_prompts or is_judged or not values:
        return []
    axes = [*fields.run.values(), *filter(None, [fields.metric])]
    values = [own for own in values if len(own.values) > 1] or values
    is_told = are_shares(table, values) or _are_percentages(values)
    if tell_apart(table, axes) or not are_means(values) and not is_told:
        return []
    most = table.rows if is_told else table.rows // 2
    return _telling(table, axes, most)


def conditions_of_seeds(table: TableProfile, fields: Fields) -> list[ColumnProfile]:
    """The fewest columns of names that tell apart rows of one model and one seed, where
    nothing names prompts: a seed that comes back is that of another condition."""
    axes = [*fields.run.values()]
    has_seed = {"model", "training_seed"} <= {*fields.run}
    is_of_prompts = bool({"text", "target", "response", "prompt_id"} & {*fields.sample})
    if not has_seed or is_of_prompts or tell_apart(table, axes):
        return []
    return _telling(table, axes, table.rows // 2)


def _telling(
    table: TableProfile, axes: Sequence[ColumnProfile], most: int
) -> list[ColumnProfile]:
    """The fewest columns of names that tell rows apart with others; none where no few
    do.

    Args:
        most: different names of a column.
    """
    tried = [
        column
        for column in table.columns
        if column not in axes and _are_names(column) and 2 <= len(column.values) <= most
    ]
    for number in range(1, _TOGETHER + 1):
        for found in combinations(tried[:_TRIED], number):
            if tell_apart(table, [*axes, *found]):
                return [*found]
    return []


def are_means(values: Sequence[ColumnProfile]) -> bool:
    """True if numbers are means rather than scores of single prompts: all columns have
    fractions, or one of several beyond the steps of ratings does."""
    broken = [any(number % 1 for number in column.numbers) for column in values]
    beyond = all(max(column.numbers, default=0) > _STEPS for column in values)
    return all(broken) or any(broken) and beyond


def _are_percentages(values: Sequence[ColumnProfile]) -> bool:
    """True if several columns hold percentages with fractions, as no prompt has."""
    broken = [any(number % 1 for number in own.numbers) for own in values]
    within = [_STEPS < max(own.numbers, default=0) <= 100 for own in values]
    return len(values) >= _SEVERAL and all(broken) and all(within)


def _are_names(column: ColumnProfile) -> bool:
    """True if a column holds names, one for each row."""
    is_text = (
        column.kind in ("text", "mixed") and not column.nulls and not column.parents
    )
    if are_times(column) or {*words_of(column.name)} & _TIMES:
        return False
    return is_text and all(len(str(value)) <= _NAME for value in column.values)


def tell_apart(table: TableProfile, columns: Sequence[ColumnProfile]) -> bool:
    """True if no two rows have the same values in some columns."""
    rows = zip(*(map(str, table.values(own)) for own in columns), strict=True)
    return len({*rows}) == table.rows


def what_conditions_are(
    columns: Sequence[ColumnProfile],
    values: Sequence[ColumnProfile],
    table: TableProfile,
    fields: Fields,
    is_matrix: bool = False,
) -> Choice:
    """Whether columns that tell apart rows of one model are conditions, benchmarks or
    prompts.

    Args:
        values: the columns of figures.
        is_matrix: whether the columns of figures are benchmarks.
    """
    model = fields.run["model"].path
    names = [column.path for column in columns]
    settings = ", ".join(
        f"{toml_key(column.name)} = {toml_text(column.path)}" for column in columns
    )
    question = _question(columns, values)
    line = f"[run.configuration] {settings}"
    if is_matrix:
        either = ("conditions, a run each", "parts of the names of models")
        model_line = f"[run] model = {_joined(model, *names)}"
        return Choice(question, either, (line, model_line))
    if "benchmark" in fields.run:
        names.insert(0, fields.run["benchmark"].path)
    benchmark = _joined(*names)
    kinds = [
        "conditions of one benchmark, a run each",
        "benchmarks, of which figures are published",
    ]
    lines = [line, f"[run] benchmark = {benchmark}"]
    if not are_shares(table, values):
        prompt = toml_text(columns[0].path)
        if len(columns) > 1:
            prompt = benchmark
        kinds.append("prompts, of which these are scores")
        lines.append(f"[sample] prompt_id = {prompt}, and [[scores]] for [[published]]")
    return Choice(question, tuple(kinds), tuple(lines))


def _question(columns: Sequence[ColumnProfile], values: Sequence[ColumnProfile]) -> str:
    """What columns name, with the first names of one and the figures beside them."""
    paths = " and ".join(toml_text(column.path) for column in columns)
    verb = "name"
    if len(columns) == 1:
        verb = "names"
    named = ", ".join(map(str, columns[0].values[:NAMED]))
    figures = ", ".join(toml_text(value.name) for value in values[:NAMED])
    return (
        f"what {paths} {verb} ({named}), of which each model has a row with {figures}"
    )


def _joined(*names: str) -> str:
    """The TOML of a column, or of the values of several in one text."""
    if len(names) == 1:
        return toml_text(names[0])
    template = " ".join(f"{{{name}}}" for name in names)
    return f"{{ template = {toml_text(template)} }}"
