"""Links between prompts, and values of prompts found by their ids."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from warehouse.store.connection import Store

_LINKS = (
    "select prompt_id, canonical_prompt_id from prompt_link where prompt_id <> "
    "canonical_prompt_id order by prompt_id"
)
Links = tuple[NDArray[np.int64], NDArray[np.int64]]


def follow_links(prompts: NDArray[np.int64], links: Links) -> NDArray[np.int64]:
    """Prompts under the canonical ones that links join them to, shape (n,)."""
    linked, canonical = links
    if not len(linked):
        return prompts
    indices = np.minimum(np.searchsorted(linked, prompts), len(linked) - 1)
    return np.where(linked[indices] == prompts, canonical[indices], prompts)


def align_values(
    own: NDArray[np.int64], values: NDArray[np.float64], prompts: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Values of some prompts, ascending, in the order of others; NaN where there is
    none."""
    return values_at(values, indices_among(own, prompts))


def indices_among(
    own: NDArray[np.int64], prompts: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Where in ``own``, ascending, each prompt stands; its length for none."""
    indices = np.searchsorted(own, prompts)
    is_there = np.zeros(len(prompts), bool)
    inside = indices < len(own)
    is_there[inside] = own[indices[inside]] == prompts[inside]
    return np.where(is_there, indices, len(own))


def values_at(
    values: NDArray[np.float64], indices: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Values at the places that `indices_among` found; NaN where there is none."""
    return np.append(values, np.nan)[indices]


def read_links(store: Store) -> Links:
    """Linked prompts, ascending, and the canonical one of each."""
    columns = store.columns(_LINKS)
    return columns.whole_numbers("prompt_id"), columns.whole_numbers(
        "canonical_prompt_id"
    )
