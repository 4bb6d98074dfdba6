"""Methods that say something of a benchmark, as the commands of `fix` do, and list what
was said."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warehouse.api.connection import Connection, refuse_given

if TYPE_CHECKING:
    from warehouse.analysis.results import Listing


class DeclaringMethods(Connection):
    """What people say of a benchmark beside what its dumps say."""

    def declared(self, benchmark: str | None = None) -> Listing:
        """What was said of benchmarks, as `warehouse list declared`.

        Args:
            benchmark: what holds on this one; None: all.

        Raises:
            MisuseError: no such benchmark.
        """
        from warehouse.analysis.results import Listing
        from warehouse.store.curate.declarations import declarations

        with self._reading() as store:
            return Listing(tuple(declarations(store, benchmark)))

    def alias_metric(
        self, name: str, counts_as: str | None, *, benchmark: str = ""
    ) -> None:
        """Make a metric another name of one, as `warehouse fix alias --metric`.

        Args:
            name: of the metric, as ``NAME`` or ``NAME,FILTER``.
            counts_as: the metric that it counts as; None: it is its own again.
            benchmark: on which that holds; empty: on every one.

        Raises:
            MisuseError: no such benchmark or metric, two metrics that cannot be one, or
                a run that has both with different scores.
        """
        from warehouse.store.curate import metric_aliases

        with self._writing() as store:
            if counts_as is None:
                metric_aliases.unalias_metric(store, name, benchmark=benchmark)
            else:
                metric_aliases.alias_metric(store, name, counts_as, benchmark=benchmark)

    def set_policy(
        self,
        benchmark: str,
        policy: str | None,
        *,
        metric: str = "",
        wrong_value: float | None = None,
    ) -> None:
        """Say what samples without a score count as, as `warehouse fix policy`.

        Args:
            benchmark: its name.
            policy: ``"attempts"``, ``"all-wrong"``, ``"missing"`` or
                ``"STATUS=wrong,..."``; None: what was said is taken back.
            metric: of this metric alone; empty: of every one.
            wrong_value: score of wrong samples, of a metric without a worst score.

        Raises:
            MisuseError: no such benchmark, metric or policy, or samples are wrong by a
                metric that has no worst score.
        """
        from warehouse.store.curate import policies

        if policy is None:
            refuse_given(
                "goes with a policy",
                DeclaringMethods.set_policy,
                wrong_value=wrong_value,
            )
            with self._writing() as store:
                policies.unset_policy(store, benchmark, metric=metric)
            return
        with self._writing() as store:
            policies.set_policy(
                store, benchmark, policy, metric=metric, wrong_value=wrong_value
            )

    def declare_slices(
        self, benchmark: str, *fields: str, undo: bool = False
    ) -> tuple[str, ...]:
        """Name fields of the prompts of a benchmark before scores come, as `warehouse
        fix slices`.

        Args:
            benchmark: its name; it need not be there yet.
            fields: as ``by`` of a question takes them.
            undo: take them back; all of them where none is named.

        Returns:
            the fields that were named, or taken back.

        Raises:
            MisuseError: no field, or one to take back that was not named.
        """
        from warehouse.store.curate import declared_slices

        with self._writing() as store:
            if undo:
                return tuple(declared_slices.undeclare_slices(store, benchmark, fields))
            declared_slices.declare_slices(store, benchmark, fields)
        return fields
