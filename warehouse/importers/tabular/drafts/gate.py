"""The gate through which each draft passes before it is read without a question: what is
not explained is asked.

A draft that has questions asks those first. One that has none takes columns for fields,
scores and figures; each other column has to be explained by them (it depends on the
prompt, on the model or on the score, is equal in all rows, or is a measure by its name).
What else parts the rows, or orders them, becomes a question here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from warehouse.importers.tabular.column_names import plain_name
from warehouse.importers.tabular.column_profiles import ColumnProfile
from warehouse.importers.tabular.drafts.columns import Fields
from warehouse.importers.tabular.drafts.profile import TableProfile
from warehouse.importers.tabular.drafts.published_columns import PublishedColumns
from warehouse.importers.tabular.drafts.toml import Choice, toml_text
from warehouse.importers.tabular.drafts.unexplained_figures import (
    of_figures_unexplained,
)
from warehouse.importers.tabular.drafts.unexplained_rows import of_rows_unexplained

#: What scores are called, whatever else a table holds.
_SCORES = frozenset({"score", "scores", "human_score", "correct", "accuracy", "grade"})


def of_unexplained(
    table: TableProfile,
    fields: Fields,
    figures: PublishedColumns | None,
    scores: Sequence[ColumnProfile],
    unused: Sequence[ColumnProfile],
    *,
    asked: Sequence[ColumnProfile],
    knows_models: bool,
) -> Iterator[Choice]:
    """Questions about what a draft without any leaves unexplained.

    Args:
        figures: columns of published figures; None where rows are prompts.
        scores: columns that are taken for scores of prompts.
        unused: columns that nothing takes.
        asked: columns that are asked about.
        knows_models: whether columns, the document or the files' names tell the models.
    """
    if figures is not None:
        yield from of_figures_unexplained(table, figures)
    elif scores:
        yield from of_rows_unexplained(
            unused, scores, fields, asked=asked, knows_models=knows_models
        )


def of_empty(table: TableProfile) -> Iterator[Choice]:
    """Where the scores are, where a column that is called so holds none."""
    empty = [
        own.path
        for own in table.columns
        if own.kind == "empty" and not own.parents and plain_name(own.name) in _SCORES
    ]
    if not empty:
        return
    path = toml_text(empty[0])
    yield Choice(
        f"where the scores are: {path} is empty in all rows",
        ("another file holds them", "another column of this one holds them"),
        (
            "take the file that has them",
            '[[scores]] or [[published]] metric = "score", value = "COLUMN"',
        ),
    )
