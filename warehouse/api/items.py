"""Methods about prompts: what they tell, and which suffice."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from warehouse.api.connection import Connection
from warehouse.questions.items import (
    Audit,
    ItemFeatures,
    ItemPruning,
    ItemResponse,
    Items,
    ItemSplits,
    PlanSubset,
    PublishedScale,
)
from warehouse.questions.matrix import PerformanceMatrix
from warehouse.questions.question import Gives, method, method_of_several
from warehouse.questions.text import ClusterByText, EmbedPrompts, FindDuplicates, FindSimilar, MapPrompts

if TYPE_CHECKING:
    from warehouse.analysis.audit.report import AuditReport  # noqa: F401
    from warehouse.analysis.irt.irt import Irt  # noqa: F401
    from warehouse.analysis.irt.published import ScaleReport  # noqa: F401
    from warehouse.analysis.items.datamap import DataMap  # noqa: F401
    from warehouse.analysis.items.features import FeatureReport  # noqa: F401
    from warehouse.analysis.items.item_statistics import ItemReport  # noqa: F401
    from warehouse.analysis.items.pruning import (
        PruningReport,  # noqa: F401
        SplitReport,  # noqa: F401
    )
    from warehouse.analysis.matrix.matrix import Matrix  # noqa: F401
    from warehouse.analysis.subsets.exchange import Export
    from warehouse.analysis.subsets.plan import SubsetPlans
    from warehouse.analysis.text.duplicates import Duplicates  # noqa: F401
    from warehouse.analysis.text.embed import Embedding  # noqa: F401
    from warehouse.analysis.text.semantic_clusters import SemanticClusters  # noqa: F401
    from warehouse.analysis.text.similar import Similar  # noqa: F401


class ItemMethods(Connection):
    """Map prompts by what models make of them."""

    items = method(Items, Gives["ItemReport"])
    item_splits = method(ItemSplits, Gives["SplitReport"])
    item_pruning = method(ItemPruning, Gives["PruningReport"])
    item_features = method(ItemFeatures, Gives["FeatureReport"])
    audit = method(Audit, Gives["AuditReport"])
    irt = method(ItemResponse, Gives["Irt"])
    published_scale = method(PublishedScale, Gives["ScaleReport"])
    matrix = method(PerformanceMatrix, Gives["Matrix"])
    datamap = method(MapPrompts, Gives["DataMap"])


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


class TextMethods(Connection):
    """Embed prompts; find similar ones, near-duplicates and clusters."""

    embed = method_of_several(EmbedPrompts, Gives["Embedding"])
    similar = method(FindSimilar, Gives["Similar"])
    duplicates = method_of_several(FindDuplicates, Gives["Duplicates"])
    cluster_semantic = method(ClusterByText, Gives["SemanticClusters"])
