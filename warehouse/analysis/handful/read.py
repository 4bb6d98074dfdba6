"""What is read beside the scores of a pair: how others did on its prompts, and what its
clusters are called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.comparison.pairing import Pair
from warehouse.analysis.selection.clusterings import FIRST_OF_TEXTS
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text


def others_on_prompts(store: Store, pair: Pair) -> NDArray[np.float64]:
    """Mean score of the other runs of the benchmark on the common prompts, NaN where
    there is none, shape (n,)."""
    parameters = {
        "benchmark_id": pair.metric.benchmark_id,
        "metric_id": pair.metric.id,
        "run_ids": [*pair.a.run_ids, *pair.b.run_ids],
    }
    rows = store.rows(query_text("analysis/handful", "others_on_prompts"), parameters)
    known = {row["prompt_id"]: row["value"] for row in rows}
    found = [known.get(prompt, np.nan) for prompt in pair.prompts.tolist()]
    return np.array(found, dtype=np.float64)


def cluster_names(store: Store, clusters: Sequence[int]) -> Mapping[int, str]:
    """What clusters are called, by their numbers in a pair: one of equal texts, and a
    prompt of its own, by a prompt of it."""
    names: dict[int, str] = {}
    stored = []
    for cluster in clusters:
        if cluster < 0:
            names[cluster] = f"prompt {-1 - cluster}"
        elif cluster >= FIRST_OF_TEXTS:
            names[cluster] = f"the text of prompt {cluster - FIRST_OF_TEXTS}"
        else:
            stored.append(cluster)
    if stored:
        query = query_text("analysis/handful", "cluster_labels")
        for row in store.rows(query, {"cluster_ids": stored}):
            names[row["id"]] = row["label"]
    return names
