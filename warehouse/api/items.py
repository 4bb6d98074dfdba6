"""Methods about prompts: what they tell, and which suffice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warehouse.analysis.audit.question import Audit
from warehouse.analysis.datamap.question import MapPrompts
from warehouse.analysis.irt.question import ItemResponse, PublishedScale
from warehouse.analysis.items.question import (
    ItemFeatures,
    ItemPruning,
    Items,
    ItemSplits,
)
from warehouse.analysis.matrix.question import PerformanceMatrix
from warehouse.analysis.subsets.question import (
    ExportSubset,
    ExtendSubset,
    ImportSubset,
    PlanSubset,
)
from warehouse.analysis.text.question import (
    ClusterByText,
    EmbedPrompts,
    FindDuplicates,
    FindSimilar,
)
from warehouse.api.connection import Connection
from warehouse.questions.methods import Gives, method, method_of_several

if TYPE_CHECKING:
    from warehouse.analysis.audit.report import AuditReport  # noqa: F401
    from warehouse.analysis.datamap.view import DataMap  # noqa: F401
    from warehouse.analysis.irt.answer import Irt  # noqa: F401
    from warehouse.analysis.irt.scale_view import ScaleReport  # noqa: F401
    from warehouse.analysis.items.feature_view import FeatureReport  # noqa: F401
    from warehouse.analysis.items.pruning_view import PruningReport, SplitReport  # noqa: F401
    from warehouse.analysis.items.view import ItemReport  # noqa: F401
    from warehouse.analysis.matrix.answer import Matrix  # noqa: F401
    from warehouse.analysis.subsets.exchange import Export  # noqa: F401
    from warehouse.analysis.subsets.plan import SubsetPlans  # noqa: F401
    from warehouse.analysis.text.clusters_view import SemanticClusters  # noqa: F401
    from warehouse.analysis.text.duplicates_view import Duplicates  # noqa: F401
    from warehouse.analysis.text.embed_view import Embedding  # noqa: F401
    from warehouse.analysis.text.similar_view import Similar  # noqa: F401


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
    """Plan which prompts to ask; `leaderboard`, `compare` and `gate` know the runs on
    them."""

    subset_plan = method(PlanSubset, Gives["SubsetPlans"])
    subset_export = method(ExportSubset, Gives["Export"])
    subset_import = method(ImportSubset, Gives["SubsetPlans"])
    subset_extend = method(ExtendSubset, Gives["SubsetPlans"])


class TextMethods(Connection):
    """Embed prompts; find similar ones, near-duplicates and clusters."""

    embed = method_of_several(EmbedPrompts, Gives["Embedding"])
    similar = method(FindSimilar, Gives["Similar"])
    duplicates = method_of_several(FindDuplicates, Gives["Duplicates"])
    cluster_semantic = method(ClusterByText, Gives["SemanticClusters"])
