"""How much of a suite its verdicts need."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from warehouse.api.connection import Connection

if TYPE_CHECKING:
    from warehouse.analysis.reliability.anchors import AnchorReport
    from warehouse.analysis.reliability.flash import FlashReport
    from warehouse.analysis.reliability.reliability import ReliabilityReport


class ReliabilityMethods(Connection):
    """Say how far verdicts hold, and what a cheaper one costs."""

    def reliability(
        self,
        suite: str,
        *,
        scenarios: str | None = None,
        standalone: bool = False,
        metric: str | None = None,
        where: Sequence[str] = (),
        latest: bool = False,
        cluster: str | None = None,
        subset_ok: bool = False,
        sizes: Sequence[int] | None = None,
        ties: float | None = None,
        n_resamples: int = 1000,
        level: float = 0.95,
        seed: int = 0,
    ) -> ReliabilityReport:
        """How far a suite's ranking, best model and win rates would change with other scenarios,
        subscenarios, prompts or few-shot seeds, another aggregate, or another pool of models.

        Args:
            suite: name of a suite, names of benchmarks with commas between them, or one benchmark.
            scenarios: field of one benchmark's prompts, or a clustering, that splits it into
                scenarios; two with a comma: scenarios and their subscenarios.
            standalone: every subscenario is a scenario of its own.
            metric: ``name`` or ``name,filter``; None for the headline metric of each benchmark.
            where: conditions ``field=value`` on the runs.
            latest: of each model only the conditions that ran last.
            cluster: prompts that are drawn together: None for the default clusterings, ``"none"``,
                ``"same_text"``, or a name.
            subset_ok: runs on a part of a benchmark count too.
            sizes: prompts of a scenario to try; None: 10, 20, 50 … below the largest scenario.
            ties: what a tie on a scenario counts; None: 0 as published with all, ½ at smaller sizes.
            n_resamples: instances of each size, at least 1.
            level: of the bounds, in (0, 1).
            seed: of the random draws.

        Raises:
            MisuseError: unknown names, ambiguous conditions, fewer than two models with scores of prompts.
            StatisticsError: a number out of range.
        """
        from warehouse.analysis.reliability.reliability import reliability

        with self.reading() as store:
            return reliability(
                store,
                suite,
                scenarios=scenarios,
                standalone=standalone,
                metric=metric,
                where=where,
                latest=latest,
                cluster=cluster,
                subset_ok=subset_ok,
                sizes=sizes,
                ties=ties,
                n_resamples=n_resamples,
                level=level,
                seed=seed,
            )

    def flash(
        self,
        suite: str,
        *,
        model: str | None = None,
        new: bool = False,
        scenarios: str | None = None,
        standalone: bool = False,
        metric: str | None = None,
        where: Sequence[str] = (),
        latest: bool = False,
        sizes: Sequence[int] | None = None,
        tiers: Sequence[int] | None = None,
        n_resamples: int = 200,
        seed: int = 0,
    ) -> FlashReport:
        """Rank a model on a suite with as few prompts as its place needs, and name those to ask next;
        every stored model is ranked as if it were new, as a check.

        Args:
            suite: name of a suite, names of benchmarks with commas between them, or one benchmark.
            model: name of the model to rank, with some answers or none; None: the check alone.
            new: the model has no answers yet.
            scenarios: field of one benchmark's prompts, or a clustering, that splits it into scenarios.
            standalone: every subscenario is a scenario of its own.
            metric: ``name`` or ``name,filter``; None for the headline metric of each benchmark.
            where: conditions ``field=value`` on the runs.
            latest: of each model only the conditions that ran last.
            sizes: prompts of a scenario at each step before all; None: 20, 50, 200, 1000.
            tiers: best rank for which each size is enough; None: 20, 10, 5, 2 for about 40 models,
                else shares of their number.
            n_resamples: random orders behind resolution and check, at least 1.
            seed: of all orders.

        Raises:
            MisuseError: unknown names, ambiguous conditions, fewer than two stored models.
            StatisticsError: numbers out of range.
        """
        from warehouse.analysis.reliability.flash import flash

        with self.reading() as store:
            return flash(
                store,
                suite,
                model=model,
                new=new,
                scenarios=scenarios,
                standalone=standalone,
                metric=metric,
                where=where,
                latest=latest,
                sizes=sizes,
                tiers=tiers,
                n_resamples=n_resamples,
                seed=seed,
            )

    def anchors(
        self,
        benchmarks: str | Sequence[str],
        *,
        sizes: Sequence[int] | None = None,
        by: str = "irt",
        model: str | None = None,
        metric: str | None = None,
        where: Sequence[str] = (),
        latest: bool = False,
        seed: int = 0,
    ) -> AnchorReport:
        """Anchors (tinyBenchmarks), biased by design, with their measured errors on models left out.

        Args:
            benchmarks: names of benchmarks and suites, globs among them.
            sizes: numbers of anchors, those of the largest are listed; None: 50 and 100, or a fifth of
                the prompts where there are fewer than 200.
            by: ``irt`` clusters prompts by (α, β), ``scores`` by the scores of all models.
            model: ``1pl`` or ``2pl``; None: 2PL from 20 models on, else 1PL.
            metric: ``name`` or ``name,filter``; None for the headline metric of each benchmark.
            where: conditions ``field=value`` on the runs.
            latest: of each model only the conditions that ran last.
            seed: of k-means, folds and random prompts.

        Raises:
            MisuseError: unknown names, fewer than eight models with answers to the same prompts, sizes
                out of range.
        """
        from warehouse.analysis.reliability.anchors import anchors

        with self.reading() as store:
            return anchors(
                store, benchmarks, sizes=sizes, by=by, model=model, metric=metric, where=where, latest=latest, seed=seed
            )
