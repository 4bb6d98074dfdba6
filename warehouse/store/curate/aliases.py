"""Other names for models and benchmarks: views show the canonical one; nothing is
rewritten."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal

from warehouse.errors import MisuseError, did_you_mean
from warehouse.store.alchemy import sa
from warehouse.store.connection import Store
from warehouse.store.schema.later import tables
from warehouse.store.sql.query_files import query_text

Kind = Literal["model", "benchmark"]

KINDS: tuple[Kind, ...] = ("model", "benchmark")


@dataclass(frozen=True)
class ModelEntry:
    """One model: ``shown_as`` is the name in views, ``n_runs`` counts its current runs."""

    model: str
    shown_as: str
    family: str | None
    developer: str | None
    parameter_count: int | None
    release_date: str | None
    n_runs: int
    n_benchmarks: int
    n_votes: int


@dataclass(frozen=True)
class BenchmarkEntry:
    """One benchmark: ``parent`` is the suite above it, ``clustering`` that of its error
    bars; ``n_benchmarks`` stand right below it, where it is a suite."""

    benchmark: str
    shown_as: str
    parent: str | None
    version: str | None
    n_prompts: int
    n_runs: int
    n_models: int
    n_votes: int
    clustering: str | None
    n_benchmarks: int


def models(store: Store) -> list[ModelEntry]:
    """Every model by name."""
    return [ModelEntry(**row) for row in store.rows(query_text("store", "models"))]


def benchmarks(store: Store) -> list[BenchmarkEntry]:
    """Every benchmark and suite by name."""
    return [
        BenchmarkEntry(**row) for row in store.rows(query_text("store", "benchmarks"))
    ]


def hints_on_names(store: Store, values: Mapping[str, str]) -> list[str]:
    """For values of the parameters ``model`` and ``benchmark`` that nothing is called:
    what they may have meant.

    Args:
        values: of parameters, by name; others are not looked at.
    """
    hints = []
    for kind in KINDS:
        names = _names(store, kind)
        name_given = values.get(kind)
        if name_given and name_given not in names:
            hint = did_you_mean(name_given, names, f"see: warehouse list {kind}s")
            hints.append(f"no {kind} is called {name_given!r}; {hint}")
    return hints


def kind_of(store: Store, name: str, canonical: str | None = None) -> Kind:
    """Whether names are those of models or of benchmarks.

    Args:
        store: an open store.
        name: of either.
        canonical: another one of the same kind; None: there is none.

    Raises:
        MisuseError: nothing is called so, or both a model and a benchmark.
    """
    names = {kind: _names(store, kind) for kind in KINDS}
    found = [kind for kind in KINDS if name in names[kind]]
    if not found:
        known = [one for kind in KINDS for one in names[kind]]
        otherwise = "see: warehouse list models, warehouse list benchmarks"
        raise MisuseError(
            f"no model and no benchmark '{name}'; "
            f"{did_you_mean(name, known, otherwise)}"
        )
    if canonical is not None:
        found = [kind for kind in found if canonical in names[kind]] or found
    if len(found) > 1:
        raise MisuseError(
            f"'{name}' is a model and a benchmark: say --model or --benchmark"
        )
    return found[0]


def _names(store: Store, kind: Kind) -> list[str]:
    names: list[str] = (
        store.arrow(f"select name from {kind}").column("name").to_pylist()
    )
    return names


def alias(store: Store, kind: Kind, name: str, canonical: str) -> str:
    """Show ``name`` under the name ``canonical`` from now on (MisuseError: no such
    name, or both are one).

    Views follow one step: what is shown as ``name`` is shown as ``canonical``
    afterwards, and an alias given as ``canonical`` stands for what it is shown as. What
    was said is kept, so that each can be taken back by itself.

    Args:
        store: a store open for writing.
        kind: ``"model"`` or ``"benchmark"``.
        name: as the dumps have it.
        canonical: the other one.

    Returns:
        the name that is shown.
    """
    with store.changing_catalogue() as connection:
        row = find_named(connection, kind, name)
        target = find_shown(connection, kind, canonical)
        if target.id == row.id:
            raise MisuseError(
                f"{kind} '{canonical}' is shown as '{name}': it cannot be its alias"
            )
        said = _said(connection, kind) | {
            int(row.id): int(find_named(connection, kind, canonical).id)
        }
        _settle(connection, kind, said)
        _tell_conditions(store, connection, kind)
    return str(target.name)


def unalias(store: Store, kind: Kind, name: str) -> None:
    """Show ``name`` under its own name again, and what is its alias as well
    (MisuseError: no such name, or it is no alias)."""
    with store.changing_catalogue() as connection:
        row = find_named(connection, kind, name)
        if row.canonical_id is None:
            raise MisuseError(
                f"{kind} '{name}' is no alias; see: warehouse list {kind}s"
            )
        said = _said(connection, kind)
        del said[int(row.id)]
        _settle(connection, kind, said)
        _tell_conditions(store, connection, kind)


def _tell_conditions(store: Store, connection: sa.Connection, kind: Kind) -> None:
    if kind == "benchmark":
        from warehouse.store.curate import conditions

        conditions.after_renaming(store, connection)


def settle_aliases(connection: sa.Connection) -> None:
    """Show models and benchmarks under the names that people gave them, where both are
    there still."""
    for kind in KINDS:
        _settle(connection, kind, _said(connection, kind))


def said_names(connection: sa.Connection, kind: Kind) -> dict[str, str]:
    """Names that people said each model or benchmark is shown under, by name."""
    table = _table(kind)
    names = {
        int(row[0]): str(row[1])
        for row in connection.execute(sa.select(table.c.id, table.c.name))
    }
    said = _said(connection, kind)
    return {
        names[name]: names[other]
        for name, other in said.items()
        if name in names and other in names
    }


def say_names_again(
    store: Store, connection: sa.Connection, kind: Kind, names: Mapping[str, str]
) -> None:
    """Say again what people said some names are shown as, of those that are there and
    are shown under their own.

    Args:
        store: the store that is written to.
        connection: with an open transaction.
        kind: ``"model"`` or ``"benchmark"``.
        names: as :func:`said_names` gave them.
    """
    table = _table(kind)
    ids = {
        str(row[1]): int(row[0])
        for row in connection.execute(sa.select(table.c.id, table.c.name))
    }
    said = _said(connection, kind)
    anew = {
        ids[name]: ids[other]
        for name, other in names.items()
        if name in ids and other in ids
    }
    anew = {name: other for name, other in anew.items() if name not in said}
    if anew:
        _settle(connection, kind, said | anew)
        _tell_conditions(store, connection, kind)


def _said(connection: sa.Connection, kind: Kind) -> dict[int, int]:
    """Ids that people said each model or benchmark is shown under, by id; of earlier
    versions what it is shown as."""
    table = _table(kind)
    statements = tables.statement
    rows = connection.execute(
        sa.select(table.c.id, table.c.canonical_id).where(
            table.c.canonical_id.is_not(None)
        )
    )
    said = {int(row[0]): int(row[1]) for row in rows}
    query = sa.select(statements.c.subject_id, statements.c.said).where(
        statements.c.about == f"{kind} alias"
    )
    return said | {int(row[0]): int(row[1]) for row in connection.execute(query)}


def _settle(connection: sa.Connection, kind: Kind, said: Mapping[int, int]) -> None:
    """Keep what was said, and show each under the name at the end of its way."""
    table = _table(kind)
    statements = tables.statement
    rows = {
        int(row[0]): row[1]
        for row in connection.execute(sa.select(table.c.id, table.c.canonical_id))
    }
    kept = {
        name: other for name, other in said.items() if name in rows and other in rows
    }
    connection.execute(
        sa.delete(statements).where(statements.c.about == f"{kind} alias")
    )
    if kept:
        values = [
            {
                "source_id": None,
                "about": f"{kind} alias",
                "subject_id": name,
                "said": other,
            }
            for name, other in kept.items()
        ]
        connection.execute(sa.insert(statements), values)
    for name, shown_as in rows.items():
        end = kept.get(name)
        while end in kept:
            end = kept[end]
        if end != shown_as:
            connection.execute(
                sa.update(table).where(table.c.id == name).values(canonical_id=end)
            )


def set_release_date(store: Store, name: str, day: str) -> None:
    """Say when a model was released, whatever dumps say; an empty text takes it back.

    Raises:
        MisuseError: no such model, or no day such as 2024-01-31.
    """
    try:
        said = None
        if day:
            said = date.fromisoformat(day).isoformat()
    except ValueError:
        raise MisuseError(
            f"a release date is a day such as 2024-01-31, found {day!r}"
        ) from None
    with store.changing_catalogue() as connection:
        row = find_named(connection, "model", name)
        connection.execute(
            sa.update(tables.model)
            .where(tables.model.c.id == row.id)
            .values(release_date=said)
        )


def _table(kind: Kind) -> sa.Table:
    if kind == "model":
        return tables.model
    return tables.benchmark


def find_named(connection: sa.Connection, kind: Kind, name: str) -> Any:
    """The row of a model or benchmark (MisuseError: none has this name)."""
    table = _table(kind)
    query = sa.select(table).where(table.c.name == name)
    row = connection.execute(query).first()
    if row is None:
        names = connection.execute(sa.select(table.c.name)).scalars()
        raise MisuseError(
            f"no {kind} '{name}'; "
            f"{did_you_mean(name, names, f'see: warehouse list {kind}s')}"
        )
    return row


def find_shown(connection: sa.Connection, kind: Kind, name: str) -> Any:
    """The row that views show for a name: of an alias that of what it stands for
    (MisuseError: none has this name)."""
    row = find_named(connection, kind, name)
    table = _table(kind)
    if row.canonical_id is None:
        return row
    return connection.execute(
        sa.select(table).where(table.c.id == row.canonical_id)
    ).one()
