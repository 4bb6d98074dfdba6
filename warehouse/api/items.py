"""Methods about prompts: what they tell, and which suffice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warehouse.api.connection import Connection
from warehouse.questions.items import Audit, ItemFeatures, ItemPruning, ItemResponse, Items, ItemSplits, PublishedScale
from warehouse.questions.matrix import PerformanceMatrix
from warehouse.questions.methods import Gives, method, method_of_several
from warehouse.questions.subsets import ExportSubset, ExtendSubset, ImportSubset, PlanSubset
from warehouse.questions.text import ClusterByText, EmbedPrompts, FindDuplicates, FindSimilar, MapPrompts

if TYPE_CHECKING:
    from warehouse.analysis.audit.report import AuditReport  # noqa: F401
    from warehouse.analysis.irt.irt import Irt  # noqa: F401
    from warehouse.analysis.irt.scale_report import ScaleReport  # noqa: F401
    from warehouse.analysis.items.datamap_report import DataMap  # noqa: F401
    from warehouse.analysis.items.feature_report import FeatureReport  # noqa: F401
    from warehouse.analysis.items.item_report import ItemReport  # noqa: F401
    from warehouse.analysis.items.pruning_report import PruningReport, SplitReport  # noqa: F401
    from warehouse.analysis.matrix.matrix import Matrix  # noqa: F401
    from warehouse.analysis.subsets.exchange import Export  # noqa: F401
    from warehouse.analysis.subsets.plan import SubsetPlans  # noqa: F401
    from warehouse.analysis.text.clusters_report import SemanticClusters  # noqa: F401
    from warehouse.analysis.text.duplicates_report import Duplicates  # noqa: F401
    from warehouse.analysis.text.embed_report import Embedding  # noqa: F401
    from warehouse.analysis.text.similar_report import Similar  # noqa: F401


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
    subset_export = method(ExportSubset, Gives["Export"])
    subset_import = method(ImportSubset, Gives["SubsetPlans"])
    subset_extend = method(ExtendSubset, Gives["SubsetPlans"])


class TextMethods(Connection):
    """Embed prompts; find similar ones, near-duplicates and clusters."""

    embed = method_of_several(EmbedPrompts, Gives["Embedding"])
    similar = method(FindSimilar, Gives["Similar"])
    duplicates = method_of_several(FindDuplicates, Gives["Duplicates"])
    cluster_semantic = method(ClusterByText, Gives["SemanticClusters"])
