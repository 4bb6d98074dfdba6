"""The method that plans a comparison, from stored runs or from variances."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from warehouse.analysis.power.question import PowerPilot
from warehouse.api.connection import Connection
from warehouse.errors import MisuseError
from warehouse.questions.options import REPEATS_AUTO, SEEDS_TRAINING
from warehouse.questions.question import options

if TYPE_CHECKING:
    from warehouse.analysis.power.view import PowerPlan
    from warehouse.stats import Cost, VarianceParts


class PowerMethods(Connection):
    """Plan a comparison."""

    def power(
        self,
        *references: str,
        benchmark: str | None = None,
        metric: str | None = None,
        where: Sequence[str] = (),
        cluster: str | None = None,
        latest: bool = False,
        each: str | None = None,
        repeats: str = REPEATS_AUTO,
        seeds_are: str = SEEDS_TRAINING,
        correlation: float | None = None,
        parts: VarianceParts | None = None,
        delta: float | None = None,
        n: int | None = None,
        power: float | None = None,
        alpha: float = 0.05,
        k: tuple[int, ...] | None = None,
        k_b: int | None = None,
        n_values: tuple[int, ...] | None = None,
        budget: float | None = None,
        available: int | None = None,
        cost: Cost | None = None,
    ) -> PowerPlan:
        """Plan a comparison from one or two stored runs, or from variances.

        Of ``delta`` and ``n``, what is left out is worked out.

        Args:
            references: of one or two stored runs: ``MODEL[@REVISION|@step=N][+AGENT]``
                or ``run:ID``.
            benchmark: its name; None where only one fits.
            metric: ``name`` or ``name,filter``; None for the headline metric.
            where: conditions ``field=value`` on the runs.
            cluster: clustering: None for the benchmark's default, ``"none"``, or a
                name.
            latest: where a reference means several conditions, take the one that ran
                last.
            each: ``"seed"`` or ``"checkpoint"``: these stand apart, so that a reference
                means one of them; None: one row a model.
            repeats: what becomes of runs of one condition: ``"auto"`` (by their test),
                ``"pool"``, ``"as_seeds"`` or ``"split"``.
            seeds_are: what a seed of a run is of: ``"training"`` or ``"sampling"``.
            correlation: for one run only: of the two models over prompts; None: 0.
            parts: variances, instead of references.
            delta: true mean difference, above 0, on the scale of the metric.
            n: prompts.
            power: chance to find the difference; None: 0.8 where it is not what is
                asked.
            alpha: two-sided significance level.
            k: draws per prompt, the first for the answer and all for the table; None:
                1, 2, 5, 10.
            k_b: draws of the second model where they are there already: fixed and not
                counted.
            n_values: prompts of the table; None: around the answer.
            budget: what may be spent, in generations (or in the unit of ``cost``).
            available: prompts there are; None: no limit, or the pilot's.
            cost: of prompts and generations; None: a generation costs 1, a prompt
                nothing.

        Raises:
            MisuseError: both or neither of references and variances; unknown or
                ambiguous references; contradictory questions.
            StatisticsError: numbers out of range, variances that are all 0, a single
                prompt.
        """
        from warehouse.analysis.power.answer import PowerQuestion, plan_power
        from warehouse.stats import Cost

        if (parts is None) == (not references):
            raise MisuseError(
                "plan from stored runs or from variances: give one of them"
            )
        question = PowerQuestion(
            delta=delta,
            n=n,
            power=power,
            alpha=alpha,
            k=k,
            k_b=k_b,
            n_values=n_values,
            budget=budget,
            available=available,
            cost=Cost() if cost is None else cost,
        )
        source = PowerPilot(
            references,
            benchmark=benchmark,
            metric=metric,
            where=where,
            cluster=cluster,
            latest=latest,
            each=each,
            repeats=repeats,
            seeds_are=seeds_are,
            correlation=correlation,
        )
        if parts is not None:
            why = "is for stored runs, and variances are given"
            source.refuse(
                why, *(name for name in options(PowerPilot) if name != "references")
            )
            return plan_power(question, parts)
        with self._reading() as store:
            pilot = source.ask(store)
        return plan_power(question, pilot)
