"""Methods that list what a store holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from warehouse.api.connection import Connection
from warehouse.store.connection import Store

if TYPE_CHECKING:
    from warehouse.analysis.results import Listing


class CatalogueMethods(Connection):
    """What is there: models, benchmarks, runs and sources, with the rows of the
    commands of these names."""

    def models(self) -> Listing:
        """Every model by name, with what it is shown as and how many current runs it
        has.

        Raises:
            StoreError: there is no store, or another process holds it.
        """
        from warehouse.store.curate.aliases import models

        return self._listing(models)

    def benchmarks(self) -> Listing:
        """Every benchmark and suite by name, with how many prompts, runs and models it
        has.

        Raises:
            StoreError: there is no store, or another process holds it.
        """
        from warehouse.store.curate.aliases import benchmarks

        return self._listing(benchmarks)

    def runs(self, *, where: Sequence[str] = (), everything: bool = False) -> Listing:
        """The runs, oldest first, with what sets them apart.

        Args:
            where: ``field=value`` or ``field!=value`` that a run must fit; ``*`` and
                ``?`` fit any.
            everything: superseded and invalidated runs too.

        Raises:
            MisuseError: another form, or no such field.
        """
        from warehouse.analysis.selection.listed_runs import list_runs
        from warehouse.analysis.selection.selection import as_conditions

        return self._listing(
            lambda store: list_runs(
                store, where=as_conditions(where), everything=everything
            )
        )

    def sources(self, reference: str | int | None = None) -> Listing:
        """The sources that were ingested, oldest first.

        Args:
            reference: id or path of one of them; None for all.

        Raises:
            MisuseError: there is no such source.
        """
        from warehouse.store.curate.catalogue import sources

        return self._listing(
            lambda store: sources(store, None if reference is None else str(reference))
        )

    def _listing(self, read: Callable[[Store], Iterable[Any]]) -> Listing:
        from warehouse.analysis.results import Listing

        with self._reading() as store:
            return Listing(tuple(read(store)))
