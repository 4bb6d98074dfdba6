"""Near pairs of many prompts are compared once: stored, and read back while their vectors stay."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warehouse.records.hashing import fingerprint
from warehouse.stats import NearPairs
from warehouse.store.computed.prompt_vectors import EmbedderRow, PromptVectors
from warehouse.store.computed.result_cache import Question, StorableArrays, answer
from warehouse.store.open import StoreOpener

#: Prompts from which on it pays to store their pairs: fewer are compared in less than a second.
WORTH_STORING = 10_000
METHOD = "1"


@dataclass(frozen=True)
class StoredPairs(StorableArrays):
    """What `duplicates` takes from :class:`warehouse.stats.NearPairs`; rows are those of vectors.

    Attributes:
        n_rows: rows that are in a pair.
        n_groups: groups that pairs connect.
        largest: rows in the largest group.
    """

    first: NDArray[np.intp]
    second: NDArray[np.intp]
    similarity: NDArray[np.float64]
    n_pairs: int
    by_place: NDArray[np.int64]
    n_rows: int
    n_groups: int
    largest: int

    DTYPES = {"first": np.intp, "second": np.intp, "similarity": np.float64, "by_place": np.int64}

    @classmethod
    def of(cls, pairs: NearPairs) -> StoredPairs:
        """What is taken from the pairs that were found."""
        sizes = np.bincount(pairs.groups)
        joined = sizes[sizes > 1]
        return cls(
            pairs.first,
            pairs.second,
            pairs.similarity,
            pairs.n_pairs,
            pairs.by_place,
            n_rows=int(joined.sum()),
            n_groups=len(joined),
            largest=int(joined.max(initial=0)),
        )


def pairs_question(
    vectors: PromptVectors,
    names: Sequence[str],
    places: NDArray[np.intp],
    threshold: float,
    keep: int,
    embedder: EmbedderRow,
) -> Question:
    """What the pairs of these vectors are stored under."""
    data = fingerprint(vectors.prompts.tobytes(), vectors.vectors.tobytes(), places.tobytes(), *names)
    parameters = {"threshold": threshold, "keep": keep, "embedder": embedder.label}
    return Question("near_pairs", ", ".join(names), METHOD, data, parameters=parameters)


def answer_pairs(
    opener: StoreOpener,
    question: Question,
    *,
    fresh: bool,
    n_prompts: int,
    compute: Callable[[], NearPairs],
    store_result: bool = True,
) -> tuple[StoredPairs, str]:
    """The stored pairs, else new ones, which are then stored where they are many.

    Args:
        store_result: False for a trial: new pairs are not stored.

    Returns:
        the pairs, and what a reader should know of where they come from.
    """
    if n_prompts < WORTH_STORING:
        return StoredPairs.of(compute()), ""
    answered = answer(
        opener, question, StoredPairs, lambda _now: StoredPairs.of(compute()), fresh=fresh, store_result=store_result
    )
    if answered.read_back:
        return answered.result, f"read back: compared on {answered.computed_on}; no text has changed"
    return answered.result, f"not stored: {answered.not_stored}" if answered.not_stored else ""
