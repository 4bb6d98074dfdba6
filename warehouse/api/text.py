"""What prompts ask: vectors of their texts, and what is near to what."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warehouse.api.connection import Connection
from warehouse.questions.question import Gives, method, method_of_several
from warehouse.questions.text import ClusterByText, EmbedPrompts, FindDuplicates, FindSimilar

if TYPE_CHECKING:
    from warehouse.analysis.text.duplicates import Duplicates  # noqa: F401
    from warehouse.analysis.text.embed import Embedding  # noqa: F401
    from warehouse.analysis.text.semantic_clusters import SemanticClusters  # noqa: F401
    from warehouse.analysis.text.similar import Similar  # noqa: F401


class TextMethods(Connection):
    """Embed prompts; find similar ones, near-duplicates and clusters."""

    embed = method_of_several(EmbedPrompts, Gives["Embedding"])
    similar = method(FindSimilar, Gives["Similar"])
    duplicates = method_of_several(FindDuplicates, Gives["Duplicates"])
    cluster_semantic = method(ClusterByText, Gives["SemanticClusters"])
