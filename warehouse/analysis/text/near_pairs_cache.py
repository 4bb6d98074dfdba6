"""Near pairs of many prompts are compared once: stored, and read back while their vectors stay."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from warehouse.errors import StoreError
from warehouse.stats import NearPairs
from warehouse.store.computed import result_cache
from warehouse.store.computed.prompt_vectors import EmbedderRow, PromptVectors
from warehouse.store.computed.result_cache import Question, fingerprint
from warehouse.store.opener import StoreOpener

#: Prompts from which on it pays to store their pairs: fewer are compared in less than a second.
WORTH_STORING = 10_000
METHOD = "1"


@dataclass(frozen=True)
class KeptPairs:
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

    def to_dict(self) -> dict[str, Any]:
        """The fields as JSON holds them."""
        return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in vars(self).items()}


def pairs_question(
    held: PromptVectors,
    names: Sequence[str],
    places: NDArray[np.intp],
    threshold: float,
    keep: int,
    embedder: EmbedderRow,
) -> Question:
    """What the pairs of these vectors are stored under."""
    data = fingerprint(held.prompts.tobytes(), held.vectors.tobytes(), places.tobytes(), *names)
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
) -> tuple[KeptPairs, str]:
    """The stored pairs, else new ones, which are then stored where they are many.

    Args:
        store_result: False for a trial: new pairs are not stored.

    Returns:
        the pairs, and what a reader should know of where they come from.
    """
    if n_prompts < WORTH_STORING:
        return _kept(compute()), ""
    if not fresh:
        with opener.reading() as store:
            stored = result_cache.get(store, question)
        if stored is not None:
            moment = stored.created_at.isoformat(sep=" ", timespec="seconds")
            return _read(stored.result), f"read back: compared on {moment} UTC; no text has changed"
    found = _kept(compute())
    if not store_result:
        return found, "not stored: a trial (--no-store)"
    try:
        with opener.writing() as store:
            result_cache.put(store, question, found.to_dict())
    except (StoreError, sa.exc.DBAPIError) as error:
        reason = str(getattr(error, "orig", None) or error).strip().splitlines()[0]
        return found, f"not stored: {reason}"
    return found, ""


def _kept(pairs: NearPairs) -> KeptPairs:
    sizes = np.bincount(pairs.groups)
    joined = sizes[sizes > 1]
    return KeptPairs(
        pairs.first,
        pairs.second,
        pairs.similarity,
        pairs.n_pairs,
        pairs.by_place,
        n_rows=int(joined.sum()),
        n_groups=len(joined),
        largest=int(joined.max(initial=0)),
    )


def _read(result: dict[str, Any]) -> KeptPairs:
    return KeptPairs(
        first=np.array(result["first"], np.intp),
        second=np.array(result["second"], np.intp),
        similarity=np.array(result["similarity"], np.float64),
        n_pairs=result["n_pairs"],
        by_place=np.array(result["by_place"], np.int64),
        n_rows=result["n_rows"],
        n_groups=result["n_groups"],
        largest=result["largest"],
    )
