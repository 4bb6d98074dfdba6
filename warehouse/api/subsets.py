"""Subsets: asking a part of a benchmark instead of all of it."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from warehouse.api.connection import Connection
from warehouse.questions.question import Gives, method
from warehouse.questions.subsets import PlanSubset

if TYPE_CHECKING:
    from warehouse.analysis.subsets.exchange import Export
    from warehouse.analysis.subsets.plan import SubsetPlans


class SubsetMethods(Connection):
    """Plan which prompts to ask; `leaderboard`, `compare` and `gate` know the runs on them."""

    subset_plan = method(PlanSubset, Gives["SubsetPlans"])

    def subset_export(self, plan: str, *, to: str) -> Export:
        """The prompts of a plan as a harness takes them.

        Args:
            plan: a plan file, or the key of a stored plan.
            to: ``lm-eval``, ``inspect``, ``helm``, ``lighteval`` or ``csv``.

        Raises:
            MisuseError: an unknown plan or harness, or ids that this harness cannot take.
            InputError: a file that is no plan.
        """
        from warehouse.analysis.subsets.exchange import export_subset

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
        from warehouse.analysis.subsets.exchange import import_plans

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
        from warehouse.analysis.subsets.exchange import extend_plan

        return extend_plan(self.opener, plan, size=size, now=now)
