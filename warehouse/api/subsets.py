"""A part of a benchmark in place of all of it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from warehouse.api.connection import Connection

if TYPE_CHECKING:
    from warehouse.analysis.subsets.export import Export
    from warehouse.analysis.subsets.plan import SubsetPlans


class SubsetMethods(Connection):
    """Plan which prompts to ask; `leaderboard`, `compare` and `gate` know the runs on them."""

    def subset_plan(
        self,
        benchmark: str,
        *,
        size: int | None = None,
        width: float | None = None,
        budget: float | None = None,
        draws: int = 1,
        against: str | None = None,
        metric: str | None = None,
        where: Sequence[str] = (),
        latest: bool = False,
        level: float = 0.95,
        seed: int = 0,
        store_result: bool = True,
        now: datetime | None = None,
    ) -> SubsetPlans:
        """Draw the prompts of a benchmark to ask, and store the plan.

        Asked on them alone, a model gets an unbiased estimate of its figure on the whole benchmark with a
        valid interval. The plan has to be made before a model is asked.

        Args:
            benchmark: name of a benchmark, or of a suite: then each of its benchmarks gets a part.
            size: prompts to ask.
            width: instead: of the interval that stored models would have had.
            budget: instead: generations that may be spent.
            draws: generations for a prompt, with ``budget``.
            against: reference of a stored model with all prompts that the new one is compared with.
            metric: ``name`` or ``name,filter``; None for the headline metric.
            where: conditions ``field=value`` on the runs of the history, such as ``model!=my/model``.
            latest: of each model only the condition that ran last.
            level: of the interval, in (0, 1).
            seed: of the draw, from 0.
            store_result: False for a trial: runs on it will not be recognised.
            now: when the plan is made, naive UTC; None for the clock's time.

        Returns:
            the plans, one for a benchmark; ``write(path)`` writes the plan file.

        Raises:
            MisuseError: unknown names, none or several of ``size``, ``width`` and ``budget``, nothing that
                shows all prompts, a baseline that lacks scores.
            StatisticsError: a size out of range.
        """
        from warehouse.analysis.subsets.make import plan_subset

        return plan_subset(
            self.opener,
            benchmark,
            size=size,
            width=width,
            budget=budget,
            draws=draws,
            against=against,
            metric=metric,
            where=where,
            latest=latest,
            level=level,
            seed=seed,
            store_result=store_result,
            now=now,
        )

    def subset_export(self, plan: str, *, to: str) -> Export:
        """The prompts of a plan as a harness takes them.

        Args:
            plan: a plan file, or the key of a stored plan.
            to: ``lm-eval``, ``inspect``, ``helm``, ``lighteval`` or ``csv``.

        Raises:
            MisuseError: an unknown plan or harness, or ids that this harness cannot take.
            InputError: a file that is no plan.
        """
        from warehouse.analysis.subsets.export import export_subset

        with self.reading() as store:
            return export_subset(store, plan, to=to)

    def subset_import(self, path: str | Path, *, as_dated: bool = False, now: datetime | None = None) -> SubsetPlans:
        """Store the plans of a file from another warehouse, so that runs on them are recognised.

        Args:
            path: a plan file, as ``subset plan --out`` writes it.
            as_dated: take the date in the file for when it was made; else runs count that begin from now on.
            now: when, naive UTC; None for the clock's time.

        Raises:
            InputError: no such file, or no plan; says what was found.
            MisuseError: other bounds or another direction of the metric here, or a date to come.
        """
        from warehouse.analysis.subsets.load import import_plans

        return import_plans(self.opener, path, as_dated=as_dated, now=now)

    def subset_extend(self, plan: str, *, size: int, now: datetime | None = None) -> SubsetPlans:
        """The plan with more prompts: the next ones of the same order, in the same strata.

        Args:
            plan: a plan file, or the key of a stored plan.
            size: prompts in all.
            now: when, naive UTC; None for the clock's time.

        Raises:
            MisuseError: a run on the plan is stored, a plan of several benchmarks, an unknown plan.
            StatisticsError: a size below that of the plan, or above that of the benchmark.
        """
        from warehouse.analysis.subsets.extend import extend_plan

        return extend_plan(self.opener, plan, size=size, now=now)
