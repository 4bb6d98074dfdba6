"""Subjects or sources of items: labels that may be numbers or texts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.stats.core.inputs import Clusters, as_clusters, check_length

Label = int | str | None


@dataclass(frozen=True)
class Strata:
    """The strata of some items.

    Attributes:
        groups: stratum of each of these items as a number.
        names: label of each stratum; None where none were given.
    """

    groups: Clusters
    names: tuple[Label, ...]


def strata_of(strata: ArrayLike | None, kept: NDArray[np.bool_]) -> Strata:
    """The strata of the items that are kept; without labels they are all of one.

    Args:
        strata: label of each item, shape (J,), integers or strings.
        kept: which items are kept, shape (J,), at least one.

    Raises:
        StatisticsError: another number of labels, or a kept item without one.
    """
    n = int(kept.sum())
    if strata is None:
        return Strata(as_clusters(np.zeros(n, dtype=np.int64), n), (None,))
    # As objects: numpy would make a missing label among texts the text "nan".
    labels = np.asarray(strata, dtype=object if isinstance(strata, list | tuple) else None)
    check_length(len(labels), len(kept), "strata")
    groups = as_clusters(labels[kept], n)
    _codes, first = np.unique(groups.codes, return_index=True)
    return Strata(groups, tuple(_plain(label) for label in labels[kept][first]))


def _plain(label: object) -> Label:
    value: Label = label.item() if isinstance(label, np.generic) else label  # type: ignore[assignment]
    return value
