"""What a draft of scores of prompts leaves unexplained: columns of a few names that part
the rows as conditions do, names of those who judged where nothing names a model, and rows
that sum up others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from warehouse.importers.tabular.column_names import (
    METADATA_NAMES,
    are_models,
    is_counted,
    is_flag,
    is_metric,
    plain_name,
)
from warehouse.importers.tabular.column_profiles import ColumnProfile
from warehouse.importers.tabular.condition_names import (
    is_condition,
    is_of_prompt_or_outcome,
)
from warehouse.importers.tabular.drafts.columns import Fields
from warehouse.importers.tabular.drafts.looks import (
    are_times,
    is_long,
    is_verdict,
    shown_text,
)
from warehouse.importers.tabular.drafts.toml import (
    Choice,
    texts,
    toml_key,
    toml_text,
)
from warehouse.importers.tabular.evidence import Standing
from warehouse.importers.tabular.runs import is_summary

#: Names of conditions, at most, and rows that each has at least where only their order
#: says that they are some.
_NAMES, _ROWS = 12, 5
#: Columns that a question names, and values of each.
_COLUMNS, _SHOWN = 3, 3


def of_rows_unexplained(
    columns: Sequence[ColumnProfile],
    scores: Sequence[ColumnProfile],
    fields: Fields,
    *,
    asked: Sequence[ColumnProfile],
    knows_models: bool,
) -> Iterator[Choice]:
    """What rows of scores leave unexplained.

    Args:
        columns: those that nothing takes.
        scores: those that are taken for scores.
        asked: those that are asked about.
        knows_models: whether columns, the document or the files' names tell the models.
    """
    yield from _of_sums(fields)
    if not knows_models:
        yield from _of_judges(fields)
    owners = [*fields.run.values(), *fields.metadata.values(), *asked]
    found = [own for own in columns if _parts_rows(own, scores, owners, fields)]
    if found:
        yield _what_they_name(found[:_COLUMNS], knows_models=knows_models)


# --- conditions -----------------------------------------------------------------------


def _parts_rows(
    column: ColumnProfile,
    scores: Sequence[ColumnProfile],
    owners: Sequence[ColumnProfile],
    fields: Fields,
) -> bool:
    """True if a column may name conditions that would be pooled: a few names, which
    neither the prompt nor the model explains, nor the score.

    Args:
        owners: columns that explain those that depend on them.
    """
    if not _are_few_names(column) or _is_known(column):
        return False
    named = [fields.sample[name] for name in ("prompt_id",) if name in fields.sample]
    named = [own for own in named if not own.is_unique]
    if any(_is_told_by(column, own) for own in (*owners, *named)):
        return False
    if any(_is_told_by(column, own) or _depends_on(own, column) for own in scores):
        return False
    standing = fields.evidence.standing(column)
    if standing not in (Standing.UNKNOWN, Standing.OUTCOME):
        return False
    is_called = _is_called(column)
    if standing is Standing.OUTCOME or is_called:
        return is_called
    if is_of_prompt_or_outcome(column.name):
        return False
    return column.kind == "text" and _are_even_blocks(column)


def _is_called(column: ColumnProfile) -> bool:
    """True if a column is called as conditions are, or holds names of models."""
    if is_of_prompt_or_outcome(column.name):
        return False
    names = [shown_text(value) for value in column.values]
    are_named = column.kind == "text" and are_models(names)
    return is_condition(column.name) or are_named


def _are_few_names(column: ColumnProfile) -> bool:
    """True if values are a few short names, or a few numbers, each in several rows."""
    is_few = 2 <= len(column.values) <= _NAMES and 2 * len(column.values) <= column.rows
    if not is_few or column.kind in ("list", "object", "empty", "mixed"):
        return False
    if "[" in column.path or column.path.startswith("^"):
        return False
    return not is_long(column) and not are_times(column)


def _is_known(column: ColumnProfile) -> bool:
    """True if a name says that a column is a measure, a verdict or a property."""
    if plain_name(column.name) in METADATA_NAMES or is_metric(column.name):
        return True
    if is_flag(column.name):
        return True
    is_measure = column.is_number or is_counted(column.name) or is_verdict(column)
    return is_measure and not is_condition(column.name)


def _depends_on(column: ColumnProfile, other: ColumnProfile) -> bool:
    """True if a column has one value for each of another, of which there are several."""
    if other.codes.size != column.codes.size or column is other:
        return False
    pairs = np.unique(np.stack([other.codes, column.codes]), axis=1)
    n_groups = np.unique(other.codes).size
    return n_groups > 1 and bool(pairs.shape[1] == n_groups)


def _is_told_by(column: ColumnProfile, other: ColumnProfile) -> bool:
    """True if another column explains one: its values stand in several rows each. One
    that differs in nearly all rows, as a similarity does, would explain any column."""
    has_groups = 2 * len(other.values) <= other.rows - other.nulls
    return has_groups and _depends_on(column, other)


def _are_even_blocks(column: ColumnProfile) -> bool:
    """True if each name has equally many rows, one after the other."""
    if column.nulls:
        return False
    counts = np.bincount(column.codes)
    n_changes = int((np.diff(column.codes) != 0).sum())
    is_even = bool(counts.min() == counts.max() and counts.min() >= _ROWS)
    return is_even and n_changes == len(column.values) - 1


def _what_they_name(columns: Sequence[ColumnProfile], *, knows_models: bool) -> Choice:
    """What columns name, whose rows would be taken together."""
    paths = " and ".join(toml_text(own.path) for own in columns)
    verb = "names" if len(columns) == 1 else "name"
    shown = ", ".join(map(shown_text, columns[0].values[:_SHOWN]))
    pairs = [f"{toml_key(own.name)} = {toml_text(own.path)}" for own in columns]
    kinds = ["conditions or settings, a run each", "a property of the prompts"]
    lines = [
        f"[run.configuration] {', '.join(pairs)}",
        f"[metadata] {', '.join(pairs)}",
    ]
    if not knows_models:
        kinds.insert(0, "models or systems")
        lines.insert(0, f"[run] model = {toml_text(columns[0].path)}")
    return Choice(
        f"what {paths} {verb} ({shown}), whose rows would be taken together",
        tuple(kinds),
        tuple(lines),
    )


# --- who judged, and rows that sum up others ------------------------------------------


def _of_judges(fields: Fields) -> Iterator[Choice]:
    """Whom a column of judges names, where nothing names a model: those who judged may
    be those who are evaluated."""
    several = [own for own in fields.scorers.columns if len(own.values) > 1]
    if not several:
        return
    column = several[0]
    path = toml_text(column.path)
    shown = ", ".join(map(shown_text, column.values[:_SHOWN]))
    yield Choice(
        f"whom {path} names ({shown}), where nothing names a model",
        ("models that are evaluated", "who judged the answers of one model"),
        (
            f"[run] model = {path}, without it in [scorer]",
            "leave [scorer] as it is, and say --set model=NAME",
        ),
    )


def _of_sums(fields: Fields) -> Iterator[Choice]:
    """What rows are that are called as the sum of others, where each is a prompt or a
    model."""
    named = [fields.sample.get("prompt_id"), fields.run.get("model")]
    for column in named:
        if column is None or column.kind != "text":
            continue
        sums = [str(value) for value in column.values if is_summary(value)]
        if not sums or len(sums) == len(column.values):
            continue
        path = toml_text(column.path)
        shown = ", ".join(map(toml_text, sums[:_SHOWN]))
        yield Choice(
            f"what the rows are that {path} calls {shown}",
            ("sums or means of the others, which are left out", "rows as the others"),
            (
                f"[[rows.skip]] path = {path}, equal_to = {texts(sums)}",
                "leave them as they are",
            ),
        )
