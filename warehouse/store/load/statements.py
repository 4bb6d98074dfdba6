"""Words of sources on rows that other sources speak of too, kept so that it goes with
its source.

A row of ``statement`` is written where the word of a source cannot be read off what
stands: of metrics, whose rows are made of all that sources say, and of suites always;
of models, benchmarks and the like, of which the first source gives the row, and of
prompts, only where a source says something else. ``docs/reference/rules_identity.md``
has the rules.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from warehouse.store import engines
from warehouse.store.alchemy import sa
from warehouse.store.load.bulk_insert import append
from warehouse.store.schema.later import tables
from warehouse.store.sql.query_files import query_text

#: What a statement is about where it is no row of the table of this name: the suites
#: that a source puts a benchmark below, what it does not say of the prompts of a
#: benchmark, and that nothing else is known of it, which an earlier version has loaded.
SUITES, PROMPTS, EARLIER = "suites", "prompts", "earlier version"
#: A source has said what happened on the way to the responses of a run that another has
#: given without that.
TRANSCRIPTS = "transcripts"
#: The bounds of a metric on a benchmark, as a person or a source says them.
BOUNDS = "bounds"

#: Columns that the first source gives of rows that several sources may name.
FIRST_GIVES = {
    "model": ("family", "developer", "parameter_count"),
    "training_seed": ("initialisation_seed", "data_order_seed", "hyperparameters"),
    "checkpoint": (
        "position",
        "position_unit",
        "tokens",
        "revision",
        "base_checkpoint",
        "is_final",
    ),
    "benchmark": ("version", "dataset_revision", "level"),
    "run_group": (
        "harness_version",
        "harness_run_id",
        "started_at",
        "commit_hash",
        "hardware",
        "cost",
    ),
}

#: Columns of a run that are no word of its source: what it is known by, what people say
#: too, and what was counted.
NO_WORDS = frozenset(
    {
        *(
            "id",
            "checkpoint_id",
            "agent_id",
            "benchmark_id",
            "superseded_by",
            "condition_key",
            "content_digest",
        ),
        *("recorded_key", "execution_key", "settings"),
        *(
            "tags",
            "note",
            "scorers_key",
            "n_found",
            "n_generations",
            "n_choices",
            "n_scores",
        ),
    }
)

Statement = dict[str, Any]


def statement(
    source_id: int | None, about: str, subject_id: int, said: Any
) -> Statement:
    """A row of ``statement``; ``source_id`` is null where a person says it."""
    return {
        "source_id": source_id,
        "about": about,
        "subject_id": subject_id,
        "said": said,
    }


def write(connection: sa.Connection, statements: Sequence[Statement]) -> None:
    """Append statements."""
    append(connection, tables.statement, statements)


def of_sources(
    connection: sa.Connection, about: str, subjects: Iterable[int] | None = None
) -> list[Any]:
    """Statements about some rows of a table (None: about all), as (source_id,
    subject_id, said) in the order in which their sources came; what a person says comes
    last."""
    table, source = tables.statement, tables.source
    query = (
        sa.select(table.c.source_id, table.c.subject_id, table.c.said)
        .select_from(table.outerjoin(source, source.c.id == table.c.source_id))
        .where(table.c.about == about)
        .order_by(
            sa.nulls_last(source.c.loaded_at),
            sa.nulls_last(source.c.id),
            table.c.subject_id,
        )
    )
    if subjects is not None:
        query = query.where(table.c.subject_id.in_(sorted(set(subjects))))
    return list(connection.execute(query).all())


def holders_of(connection: sa.Connection, table: str, number: int) -> list[int]:
    """The sources that name a row, in the order in which they came."""
    values = {"table": table, "id": number}
    return [
        int(row[0])
        for row in connection.execute(
            sa.text(query_text("store", "row_holders")), values
        )
    ]


def holders_of_runs(
    connection: sa.Connection, run_ids: Iterable[int]
) -> dict[int, list[int]]:
    """The sources that hold each of some runs, in the order in which they came."""
    links, source = tables.run_source, tables.source
    query = (
        sa.select(links.c.run_id, links.c.source_id)
        .join(source, source.c.id == links.c.source_id)
        .where(links.c.run_id.in_(sorted(run_ids)))
        .order_by(sa.nulls_last(source.c.loaded_at), source.c.id)
    )
    # each once, though it may hold the run at several places
    holders: dict[int, dict[int, None]] = defaultdict(dict)
    for run_id, source_id in connection.execute(query):
        holders[run_id][source_id] = None
    return {run_id: list(sources) for run_id, sources in holders.items()}


def values_of(table: str, row: Mapping[str, Any]) -> dict[str, Any]:
    """A row's values in the columns that the first source gives, as JSON keeps it."""
    return {name: plain(row[name]) for name in FIRST_GIVES[table] if name in row}


def as_columns(table: str, said: Mapping[str, Any]) -> dict[str, Any]:
    """A statement as values for the columns of its table."""
    kinds = tables.metadata.tables[table].columns
    return {
        name: _typed(kinds[name], value)
        for name, value in said.items()
        if name in kinds
    }


def plain(value: Any) -> Any:
    """A value of a column as JSON keeps it."""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping | list | tuple):
        return json.loads(engines.json_text(value)) or None
    return value


def _typed(column: sa.Column[Any], value: Any) -> Any:
    if isinstance(column.type, sa.DateTime) and value is not None:
        return datetime.fromisoformat(value)
    return value


def stored_values(
    connection: sa.Connection, table: str, ids: Iterable[int]
) -> dict[int, dict[str, Any]]:
    """Stored values of the columns that the first source gives, by id."""
    names = FIRST_GIVES[table]
    listed = ", ".join(str(int(number)) for number in ids)
    rows = connection.exec_driver_sql(
        f"select id, {', '.join(names)} from {table} where id in ({listed})"
    )
    found = {}
    for number, *values in rows:
        row = dict(zip(names, values, strict=True))
        if isinstance(row.get("hyperparameters"), str):
            row["hyperparameters"] = json.loads(row["hyperparameters"])
        found[int(number)] = values_of(table, row)
    return found
