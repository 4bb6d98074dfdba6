"""What training runs say: seeds, checkpoints, and whether a difference of two recipes is noise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from warehouse.api.connection import Connection, refuse_given

if TYPE_CHECKING:
    from warehouse.analysis.training.curve_rows import CurvesReport
    from warehouse.analysis.training.decide import Decisions
    from warehouse.analysis.training.recipes import RecipesReport
    from warehouse.analysis.training.seeds import SeedsReport


class TrainingMethods(Connection):
    """Seeds and checkpoints of recipes, and decisions between them."""

    def seeds(
        self,
        benchmarks: Sequence[str] = (),
        *,
        metric: str | None = None,
        where: Sequence[str] = (),
        averaged: int = 1,
        against: str | None = None,
        level: float = 0.95,
    ) -> SeedsReport:
        """How much a figure would change with another training seed, and from checkpoint to checkpoint.

        Args:
            benchmarks: names, also of suites; empty for all that have seeds or checkpoints.
            metric: ``name`` or ``name,filter``; None for the headline metric of each benchmark.
            where: conditions ``field=value`` on the runs.
            averaged: m, last checkpoints of each run whose mean is its figure.
            against: a second metric, whose signal to noise is held against the first's, seed by seed.
            level: of intervals and noise floors, in (0, 1).

        Raises:
            MisuseError: an unknown name, ``averaged`` below 1, or no run with a seed or a position.
        """
        from warehouse.analysis.training.seeds import seeds

        with self.reading() as store:
            return seeds(store, benchmarks, metric=metric, where=where, averaged=averaged, against=against, level=level)

    def curves(
        self,
        benchmark: str,
        references: Sequence[str] = (),
        *,
        against: str | None = None,
        metric: str | None = None,
        where: Sequence[str] = (),
        chance: float | None = None,
        cluster: str | None = None,
        level: float = 0.95,
    ) -> CurvesReport:
        """Scores along training: above chance from where, significant drops, and where two curves cross.

        Args:
            benchmark: name of a benchmark.
            references: models (``MODEL[@REVISION|@step=N]`` or ``run:ID``); empty for all. Two
                curves are held against each other.
            against: name of a second benchmark, the other formulation of the first.
            metric: ``name`` or ``name,filter``; None for the headline metric.
            where: conditions ``field=value`` on the runs.
            chance: what guessing scores; None for what the data say.
            cluster: name of a clustering of the prompts; None for the benchmark's own.
            level: of bands and tests, in (0, 1).

        Raises:
            MisuseError: an unknown name, no checkpoint with a place in training, or units that
                differ between two curves that were asked for.
        """
        from warehouse.analysis.training.curves import curves

        with self.reading() as store:
            return curves(
                store,
                benchmark,
                references,
                against=against,
                metric=metric,
                where=where,
                chance=chance,
                cluster=cluster,
                level=level,
            )

    def decide(
        self,
        a: str,
        b: str,
        *,
        benchmark: str | None = None,
        metric: str | None = None,
        where: Sequence[str] = (),
        averaged: int = 1,
        level: float = 0.95,
    ) -> Decisions:
        """Is the difference of two trained models more than another training seed would make?

        Args:
            a: reference of the first (``MODEL[@REVISION|@step=N]`` or ``run:ID``).
            b: reference of the second.
            benchmark: name of a benchmark; None for all that both have.
            metric: ``name`` or ``name,filter``; None for the headline metric of each benchmark.
            where: conditions ``field=value`` on the runs of both.
            averaged: m, last checkpoints of each run whose mean is its figure.
            level: in (0, 1).

        Raises:
            MisuseError: an unknown or ambiguous reference, or nothing in common.
        """
        from warehouse.analysis.training.decide import decide

        with self.reading() as store:
            return decide(store, a, b, benchmark=benchmark, metric=metric, where=where, averaged=averaged, level=level)

    def recipes(
        self,
        benchmarks: Sequence[str] = (),
        *,
        small: Sequence[str] = (),
        large: Sequence[str] = (),
        delta: float | None = None,
        averaged: int = 1,
        power: float = 0.8,
        run_cost: float = 1.0,
        checkpoint_cost: float = 0.0,
        budget: float | None = None,
        prompts_sampled: bool = False,
        metric: str | None = None,
        where: Sequence[str] = (),
        level: float = 0.95,
    ) -> RecipesReport:
        """Which benchmarks can decide between recipes, and what a decision costs.

        Args:
            benchmarks: names, also of suites; empty for all.
            small: conditions ``field=value`` on the runs of the small scale; empty for all runs.
            large: those of the large scale; empty: it is not stored.
            delta: difference of two recipes that is to be found; None: no plan.
            averaged: m, last checkpoints of each run whose mean is its figure.
            power: of the plans, in (0, 1).
            run_cost: of training one run at the small scale.
            checkpoint_cost: of evaluating one checkpoint.
            budget: for both recipes, in the same unit; None: no limit.
            prompts_sampled: plan for other prompts like these too; else for these.
            metric: ``name`` or ``name,filter``; None for the headline metrics; ``*`` for all.
            where: conditions on the runs of both scales.
            level: of intervals and tests, in (0, 1).

        Raises:
            MisuseError: unknown names, numbers out of range, fewer than two recipes, or what is for plans without
                ``delta``.
        """
        from warehouse.analysis.training.recipes import recipes

        if delta is None:
            refuse_given(
                "is for a plan: give delta too",
                TrainingMethods.recipes,
                power=power,
                run_cost=run_cost,
                checkpoint_cost=checkpoint_cost,
                budget=budget,
                prompts_sampled=prompts_sampled,
            )
        with self.reading() as store:
            return recipes(
                store,
                benchmarks,
                small=small,
                large=large,
                delta=delta,
                averaged=averaged,
                power=power,
                run_cost=run_cost,
                checkpoint_cost=checkpoint_cost,
                budget=budget,
                prompts_sampled=prompts_sampled,
                metric=metric,
                where=where,
                level=level,
            )
