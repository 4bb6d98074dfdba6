"""The declared order of a benchmark's prompts: by a hash of their keys and a seed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.stats import sequential_order
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text

#: A prompt's key, and how many of that key come before it in a run.
PromptKey = tuple[str, int]


@dataclass(frozen=True, eq=False)
class PromptOrder:
    """Prompts in the order in which they are asked.

    Attributes:
        prompts: ids, first to last, shape (N,).
        keys: key and occurrence of each.
    """

    prompts: NDArray[np.int64]
    keys: tuple[PromptKey, ...]

    @property
    def n(self) -> int:
        """Their number N."""
        return len(self.prompts)


def order_keys(keys: Sequence[PromptKey], seed: int) -> list[int]:
    """Places of prompts in the order of SHA-256("order|seed|id"), the id being the key, with
    ``#occurrence`` behind it from the second on.

    Prompts of one key are alike; a run counts them as they come, so they stand in that order.

    Raises:
        StatisticsError: a seed out of range.
    """
    names = [key if occurrence == 0 else f"{key}#{occurrence}" for key, occurrence in keys]
    order = [int(place) for place in sequential_order(names, seed)]
    alike: dict[str, list[int]] = defaultdict(list)
    for place in order:
        alike[keys[place][0]].append(place)
    ascending = {key: iter(sorted(places, key=lambda place: keys[place][1])) for key, places in alike.items()}
    return [next(ascending[keys[place][0]]) for place in order]


def read_keys(store: Store, prompts: Collection[int] | NDArray[np.int64]) -> dict[int, dict[str, Any]]:
    """Key, occurrence, split and the tool's own id of some prompts, by id."""
    query = query_text("analysis", "prompt_keys").format(condition="prompt.id in (:ids)")
    return {row["id"]: row for row in store.rows(query, {"ids": prompts})}


def order_prompts(rows: Collection[Mapping[str, Any]], seed: int) -> PromptOrder:
    """Prompts, as `read_keys` gives them, in their order.

    Raises:
        StatisticsError: a seed out of range.
    """
    rows = list(rows)
    keys = [(str(row["key"]), int(row["occurrence"])) for row in rows]
    order = order_keys(keys, seed)
    ids = np.array([rows[place]["id"] for place in order], dtype=np.int64)
    return PromptOrder(ids, tuple(keys[place] for place in order))
