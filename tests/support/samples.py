"""Stratified samples of small benchmarks: goldens.md G15, and all samples of a design."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product

import numpy as np

from warehouse.stats.subsets.design import runs_of

NAN = float("nan")
G15_STRATA = runs_of(17, 2)


G15_ASKED = np.array([1, 3, 5, 6, 8, 10, 12, 14, 15]) - 1  # prompts count from 1


def laid_out(asked: np.ndarray, y: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Scores of all prompts with gaps, and which are asked."""
    scores, selected = np.full(n, NAN), np.zeros(n, bool)
    scores[asked], selected[asked] = y, True
    return scores, selected


def g15() -> tuple[np.ndarray, np.ndarray]:
    return laid_out(G15_ASKED, np.array([0, 0, 1, 0, 1, 1, 1, 0, 1.0]), 17)


def every_sample(stratum: np.ndarray, drawn: list[int]) -> Iterator[np.ndarray]:
    """All samples that a stratified design can give."""
    members = [np.flatnonzero(stratum == h) for h in range(len(drawn))]
    for parts in product(
        *(combinations(own, k) for own, k in zip(members, drawn, strict=True))
    ):
        yield np.concatenate([np.array(part) for part in parts])
