"""The order in which prompts are asked, fixed by their ids and a seed."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import as_seed


def sequential_order(ids: Sequence[str], seed: int = 0) -> NDArray[np.intp]:
    """The places of prompts in the order of SHA-256("order|seed|id") (statistics.md §11).

    The order depends on the ids and the seed alone, not on how the prompts are listed, so that
    whoever knows both can find it again.

    Args:
        ids: a text for each prompt, all different, shape (N,).
        seed: at least 0.

    Returns:
        indices into ``ids``, first to last, shape (N,).

    Raises:
        StatisticsError: two prompts with one id, or a seed out of range.

    Examples:
        >>> sequential_order(["a", "b", "c", "d"]).tolist()
        [2, 3, 1, 0]
    """
    start = as_seed(seed)
    if len(set(ids)) < len(ids):
        twice = next(name for name in ids if list(ids).count(name) > 1)
        raise StatisticsError(f"prompts need ids of their own to be ordered, found {twice!r} twice")
    hashes = [hashlib.sha256(f"order|{start}|{name}".encode()).hexdigest() for name in ids]
    return np.array(sorted(range(len(ids)), key=hashes.__getitem__), dtype=np.intp)
