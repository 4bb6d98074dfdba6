"""Methods about prompts: what they tell, and which suffice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from warehouse.api.connection import Connection
from warehouse.questions.items import Audit, ItemFeatures, ItemPruning, ItemResponse, Items, ItemSplits, PublishedScale
from warehouse.questions.question import Gives, method
from warehouse.questions.subsets import PlanSubset

if TYPE_CHECKING:
    from warehouse.analysis.audit.report import AuditReport  # noqa: F401
    from warehouse.analysis.irt.irt import Irt  # noqa: F401
    from warehouse.analysis.irt.published import ScaleReport  # noqa: F401
    from warehouse.analysis.items.answer_grouping import Grouping
    from warehouse.analysis.items.datamap import DataMap
    from warehouse.analysis.items.features import FeatureReport  # noqa: F401
    from warehouse.analysis.items.item_statistics import ItemReport  # noqa: F401
    from warehouse.analysis.items.pruning import (
        PruningReport,  # noqa: F401
        SplitReport,  # noqa: F401
    )
    from warehouse.analysis.matrix.matrix import Matrix
    from warehouse.analysis.subsets.exchange import Export
    from warehouse.analysis.subsets.plan import SubsetPlans
    from warehouse.embeddings import Embedder, Entailment


class ItemMethods(Connection):
    """Map prompts by what models make of them."""

    items = method(Items, Gives["ItemReport"])
    item_splits = method(ItemSplits, Gives["SplitReport"])
    item_pruning = method(ItemPruning, Gives["PruningReport"])
    item_features = method(ItemFeatures, Gives["FeatureReport"])
    audit = method(Audit, Gives["AuditReport"])
    irt = method(ItemResponse, Gives["Irt"])
    published_scale = method(PublishedScale, Gives["ScaleReport"])

    def matrix(
        self,
        benchmark: str,
        *,
        metric: str | None = None,
        where: Sequence[str] = (),
        latest: bool = False,
        fresh: bool = False,
        store_result: bool = True,
        progress: Callable[[int, int], None] | None = None,
    ) -> Matrix:
        """The performance matrix of a benchmark: prompts × models, complete rows only.

        It is asked by ``.test()``, ``.cluster()``, ``.weights()``, ``.grow()`` and ``.explain()``;
        nothing is read before.

        Args:
            benchmark: name of a benchmark with prompts of its own.
            metric: ``name`` or ``name,filter``; None for the headline metric.
            where: conditions ``field=value`` on the runs.
            latest: of each model only the condition that ran last, per split.
            fresh: compute again what is stored already.
            store_result: False for a trial: what is computed is not stored.
            progress: called with (done, all) while something is computed.

        Raises:
            MisuseError: by its methods: unknown names, or fewer than two models or complete prompts.
        """
        from warehouse.analysis.matrix.matrix import Matrix

        return Matrix(
            self._opener,
            benchmark,
            metric=metric,
            where=where,
            latest=latest,
            fresh=fresh,
            store_result=store_result,
            progress=progress,
        )

    def datamap(
        self,
        reference: str,
        *,
        benchmark: str | None = None,
        metric: str | None = None,
        where: Sequence[str] = (),
        group: Grouping | None = None,
        embedder: str | Embedder | None = None,
        threshold: float = 0.9,
        entailment: str | Entailment | None = None,
        device: str | None = None,
        correct_at: float | None = None,
        max_p: float = 0.1,
        min_s: float = -0.8,
        level: float = 0.95,
        interval: str = "wilson",
        fresh: bool = False,
        store_result: bool = True,
        progress: Callable[[float], None] | None = None,
    ) -> DataMap:
        """P(correct) and S(consistency) of every prompt with several generations.

        Generations are those in headline form, pooled over the repeats of a condition. What a model
        groups is stored, and read back while runs and model stay the same.

        Args:
            reference: ``MODEL[@REVISION|@step=N][+AGENT]`` or ``run:ID``.
            benchmark: name of a benchmark; None for all that the model has.
            metric: ``name`` or ``name,filter``; None for the headline metric.
            where: conditions ``field=value`` on the runs.
            group: how generations are put into semantic sets: ``answer`` (the same extracted
                answer), ``text`` (the same normalised response), ``embedding`` (vectors at least
                ``threshold`` similar) or ``entailment`` (each follows from the other). The last two
                compare extracted answers where there are any, else responses. None: by answer, and
                by text where no answers were extracted.
            embedder: for ``embedding``: as :func:`warehouse.embeddings.load_embedder` takes it.
            threshold: for ``embedding``: smallest cosine similarity, in (-1, 1].
            entailment: for ``entailment``: folder of a cross-encoder.
            device: of these models: ``cpu``, ``cuda``, …; None: the fastest there is.
            correct_at: value from which on a generation is correct; None: the metric's best value.
            max_p: largest P(correct) of a suspected label error, in [0, 1].
            min_s: smallest S(consistency) of one, at most 0.
            level: nominal coverage of the intervals of P(correct), in (0, 1).
            interval: ``wilson``, ``jeffreys`` or ``clopper_pearson``.
            fresh: ask the model even where its answer is stored.
            store_result: False for a trial: what the model answers is not stored.
            progress: called with the share that is done, in (0, 1].

        Raises:
            MisuseError: unknown names, no prompt with several generations, a metric without a best
                value, contradictory or missing options.
            InputError: a model that cannot be loaded.
            StatisticsError: ``level`` or ``interval`` that is none.
        """
        from warehouse.analysis.items.datamap import datamap

        return datamap(
            self._opener,
            reference,
            benchmark=benchmark,
            metric=metric,
            where=where,
            group=group,
            embedder=embedder,
            threshold=threshold,
            entailment=entailment,
            device=device,
            correct_at=correct_at,
            max_p=max_p,
            min_s=min_s,
            level=level,
            interval=interval,
            fresh=fresh,
            store_result=store_result,
            progress=progress,
        )


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

        with self._reading() as store:
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

        return import_plans(self._opener, path, as_dated=as_dated, now=now)

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

        return extend_plan(self._opener, plan, size=size, now=now)
