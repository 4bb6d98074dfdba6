"""Prompts and clusters that several pairs share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from warehouse.analysis.comparison.pairing import (
    Pair,
)
from warehouse.analysis.selection.clusterings import (
    FIRST_OF_TEXTS,
    SAME_TEXT,
)
from warehouse.analysis.selection.prompts import (
    SharedPrompts,
    read_shared_prompts,
)
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text


@dataclass(frozen=True, eq=False)
class SharedRead:
    """Keys that tell which prompts and clusters of several pairs are the same."""

    prompts: SharedPrompts  #: which of them are one question.
    #: name and label of clusters that are one document (equal values of the field of
    #: the source that the benchmarks are clustered by) or one text, by id.
    clusters: Mapping[int, tuple[str, str]]


def read_shared(store: Store, pairs: Sequence[Pair], cluster: str | None) -> SharedRead:
    """The prompts and clusters that pairs share.

    Args:
        cluster: clustering that was asked for.
    """
    prompts = read_shared_prompts(store, [pair.prompts for pair in pairs])
    # the others are single prompts
    units = np.unique(np.concatenate([pair.units[pair.units >= 0] for pair in pairs]))
    texts = units[units >= FIRST_OF_TEXTS] - FIRST_OF_TEXTS
    documents = units[(units < FIRST_OF_TEXTS) & (cluster != SAME_TEXT)]
    clusters: dict[int, tuple[str, str]] = {}
    if len(texts):
        rows = store.rows(
            query_text("analysis/comparison", "text_of_clusters"), {"prompt_ids": texts}
        )
        clusters |= {
            row["id"] + FIRST_OF_TEXTS: (SAME_TEXT, row["text_hash"]) for row in rows
        }
    if len(documents):
        rows = store.rows(
            query_text("analysis/comparison", "source_clusters"),
            {"cluster_ids": documents},
        )
        clusters |= {row["id"]: (row["name"], row["label"]) for row in rows}
    return SharedRead(prompts, clusters)
