"""Made-up boards: shares of n items that models of known ability answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from warehouse.stats.board.audit import BoardFindings, audit_board
from warehouse.stats.board.table import Board, make_board


def names(n: int) -> list[str]:
    """Names of entries that no rule takes for ids."""
    words = "ash birch cedar elm fir holly larch maple oak pine rowan willow".split()
    return [
        f"{words[i % 12]}-{'abcdefghij'[i // 12 % 10]}{'x' * (i // 120)}"
        for i in range(n)
    ]


def printed(values: Sequence[float] | np.ndarray, digits: int = 1) -> list[str]:
    """Figures with so many decimals."""
    return [f"{value:.{digits}f}" for value in values]


def counts(n_rows: int, n_items: int, seed: int, spread: float = 1.0) -> np.ndarray:
    """Items that models get right, from few to many in random order."""
    rng = np.random.default_rng(seed)
    shares = 1 / (1 + np.exp(-spread * rng.normal(size=n_rows)))
    return rng.binomial(n_items, shares)


def scores(n_rows: int, sizes: Sequence[int], seed: int) -> dict[str, np.ndarray]:
    """Per cent of models of one ability each on tasks of several sizes."""
    rng = np.random.default_rng(seed)
    ability = rng.normal(size=n_rows)
    found = {}
    for place, size in enumerate(sizes):
        level = rng.normal(scale=0.7)
        shares = 1 / (1 + np.exp(-(ability + level + 0.2 * rng.normal(size=n_rows))))
        found[f"task {'ABCDEFGHIJKLMNOPQRSTUVWXYZ'[place % 26]}{place // 26 or ''}"] = (
            100 * rng.binomial(size, shares) / size
        )
    return found


def audited(
    columns: Mapping[str, Sequence[str]],
    entries: Sequence[str] | None = None,
    **more: object,
) -> BoardFindings:
    """What is found of a board of texts."""
    return audit_board(made(columns, entries, **more))


def made(
    columns: Mapping[str, Sequence[str]],
    entries: Sequence[str] | None = None,
    **more: object,
) -> Board:
    """A board of texts."""
    n = len(next(iter(columns.values())))
    return make_board(entries or names(n), columns, **more)  # type: ignore[arg-type]
