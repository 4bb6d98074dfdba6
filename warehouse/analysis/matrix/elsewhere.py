"""Permutations that the executors of a store's server take over, where there are enough of them."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np

from warehouse.analysis.matrix.read import MatrixData
from warehouse.errors import MisuseError, StoreError, first_line
from warehouse.stats.matrix.clustering import MOST_CLUSTERS
from warehouse.store.engines import Executors
from warehouse.store.open import StoreOpener

_log = logging.getLogger(__name__)

#: Work below so many processor seconds is done here: executors take some seconds to begin.
WORTH_SECONDS = 30.0
#: Measured on one core (docs/scale.md): pairs of prompts per second, for each 64 models where all
#: scores are 0 or 1; pairs per second where they are not; seconds per score and number of clusters.
_BINARY_PAIRS, _PAIRS, _CLUSTERED = 2e9, 1.5e7, 1e-5


def seconds_of_test(data: MatrixData, n_permutations: int) -> float:
    """Processor seconds that the shuffled matrices of a permutation test take, about."""
    n, k = data.values.shape
    pairs: float = n * (n - 1) / 2 * n_permutations
    binary = bool(np.isin(data.values, (0, 1)).all())
    return pairs * -(-k // 64) / _BINARY_PAIRS if binary else pairs / _PAIRS


def seconds_of_clusters(data: MatrixData, tried: Sequence[int], n_permutations: int) -> float:
    """Processor seconds that the shuffled matrices of a search of clusters take, about."""
    return _CLUSTERED * float(data.values.size) * (len(tried) or MOST_CLUSTERS - 1) * n_permutations


class Elsewhere:
    """Executors, as a :class:`warehouse.stats.matrix.tables.Spread`; what they cannot do is done here.

    Attributes:
        notes: why something was done here, if anything was.
    """

    def __init__(self, executors: Executors) -> None:
        self._executors = executors
        self.notes: list[str] = []

    def __call__(self, function: Callable[[bytes], bytes], tasks: Sequence[bytes]) -> Iterator[tuple[int, bytes]]:
        """Run a function on each of some tasks, in blocks on executors."""
        left = dict(enumerate(tasks))
        if not self.notes:
            _log.debug("%d tasks go to the executors of %s", len(tasks), self._executors)
            try:
                self._executors.open()
                for number, data in self._executors.map(function, tasks):
                    if left.pop(number, None) is not None:
                        yield number, data
            except (StoreError, MisuseError) as error:
                self.notes.append(f"computed by this process, since executors could not: {first_line(error)}")
        if left:
            with ThreadPoolExecutor(os.cpu_count()) as pool:
                yield from zip(left, pool.map(function, left.values()), strict=True)


@contextmanager
def elsewhere(opener: StoreOpener, seconds: float) -> Iterator[Elsewhere | None]:
    """Who else can do some work; ``None`` where it is not worth the way, or there is nobody.

    Args:
        opener: of the store whose server is asked.
        seconds: what the work would take here, in processor seconds.
    """
    if seconds < WORTH_SECONDS:
        yield None
        return
    with opener.reading() as store:
        executors = store.dialect.executors(store.url)
    if executors is None:
        yield None
        return
    try:
        yield Elsewhere(executors)
    finally:
        executors.close()
