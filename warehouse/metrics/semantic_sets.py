"""The semantic sets of every prompt of a condition, read and grouped some prompts at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from warehouse.errors import MisuseError
from warehouse.metrics.generations import GenerationCounts, Source, read_generations
from warehouse.metrics.grouping import Grouper, by_answer, by_text
from warehouse.stats import semantic_consistency
from warehouse.store.engine import Store
from warehouse.store.vectors import texts_of

Grouping = Literal["answer", "text", "embedding", "entailment"]


@dataclass(frozen=True)
class SetsOfPrompts:
    """Semantic sets, one entry per prompt with generations, ids ascending.

    Attributes:
        prompts: ids, shape (n,).
        n: generations of each, shape (n,).
        consistency: S(consistency), shape (n,).
        n_sets: number of sets, shape (n,).
        share: share of the generations in the largest set, shape (n,).
        majority: the first generation of the largest set, None where that says nothing.
        grouped_by: how, in words; empty where no text is stored.
    """

    prompts: NDArray[np.int64]
    n: NDArray[np.int64]
    consistency: NDArray[np.float64]
    n_sets: NDArray[np.int64]
    share: NDArray[np.float64]
    majority: tuple[str | None, ...]
    grouped_by: str


def sets_of_prompts(
    store: Store, run_ids: Sequence[int], counts: GenerationCounts, grouping: Grouping | None,
    model: Grouper | None,
) -> SetsOfPrompts:  # fmt: skip
    """Put the generations of some runs into semantic sets.

    Args:
        counts: of these runs.
        grouping: None: by extracted answer where there are any, else by normalised text.
        model: what groups by embedding or entailment; None for the other two.

    Returns:
        no entries where no text is stored.

    Raises:
        MisuseError: grouping by answers that were never extracted.
    """
    source, grouper, by = _way(run_ids, counts, grouping, model)
    parts: list[SetsOfPrompts] = []
    said_something = False
    for block in read_generations(store, run_ids, counts.prompts, source):
        prompts, owners = np.unique(block.prompts, return_inverse=True)
        sets = grouper(block, lambda ids: texts_of(store, ids))
        found = semantic_consistency(owners, sets.codes, len(prompts))
        said = block.texts.take(pa.array(found.representative)).to_pylist()
        majority = tuple(
            text if sets.is_answer[row] else None
            for row, text in zip(found.representative.tolist(), said, strict=True)
        )
        said_something |= block.texts.null_count < len(block.texts)
        parts.append(
            SetsOfPrompts(
                prompts, found.n_generations, found.consistency, found.n_sets,
                found.majority_share, majority, by,
            )
        )  # fmt: skip
    return _together(parts if said_something else [], by if said_something else "")


def _together(parts: Sequence[SetsOfPrompts], by: str) -> SetsOfPrompts:
    whole, real = np.empty(0, np.int64), np.empty(0)
    return SetsOfPrompts(
        prompts=np.concatenate([whole, *(part.prompts for part in parts)]),
        n=np.concatenate([whole, *(part.n for part in parts)]),
        consistency=np.concatenate([real, *(part.consistency for part in parts)]),
        n_sets=np.concatenate([whole, *(part.n_sets for part in parts)]),
        share=np.concatenate([real, *(part.share for part in parts)]),
        majority=tuple(one for part in parts for one in part.majority),
        grouped_by=by,
    )


def _way(
    run_ids: Sequence[int], counts: GenerationCounts, grouping: Grouping | None,
    model: Grouper | None,
) -> tuple[Source, Grouper, str]:  # fmt: skip
    """What is compared, how, and that in words."""
    has_answers = counts.n_answers > 0
    if grouping == "answer" and not has_answers and counts.n_responses:
        raise MisuseError(
            f"run:{run_ids[0]} has no extracted answers; use --group text, embedding or entailment"
        )
    source: Source = "answer" if has_answers and grouping != "text" else "response"
    if model is not None:
        return source, model, f"{grouping} of {source}s"
    if source == "answer":
        return source, by_answer, "extracted answer"
    return source, by_text, "normalised text"
