"""How few questions carry the places of a board: each row's over the next, and which
rows are the first k (statistics.md §26.2).

Both are exact: of each pair the fewest questions are, and a set of places changes as
soon as one row outside of it leads one inside.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import FloatArray
from warehouse.stats.core.results import NamedFigures
from warehouse.stats.leaving_out.signs import handful

#: In place of a count where no number of questions makes the other lead.
_NEVER = np.inf


@dataclass(frozen=True)
class HandfulOfPlaces(NamedFigures):
    """Fewest questions without which rows of a board change places.

    Counts are 0 where the other has as high a mean on the questions that both have, or
    a higher one, and None where no number of questions makes it lead, or they have none
    in common.
    """

    #: of each row but the last: without which the next one leads it.
    to_next: tuple[int | None, ...]
    #: of the first 1, 2, … rows: without which one from outside leads one of them.
    of_first: tuple[int | None, ...]
    #: of these: numbers of the row inside and of the one outside.
    inside: tuple[int, ...]
    outside: tuple[int, ...]


def handful_of_places(scores: ArrayLike) -> HandfulOfPlaces:
    """How few questions carry the places of rows, all pairs of them held together.

    Args:
        scores: higher is better, NaN where there is none, shape (n, M), the rows of the
            board as columns in the order of their places.

    Raises:
        StatisticsError: no matrix of two rows or more, or infinite scores.

    Examples:
        >>> found = handful_of_places([[1, 1, 0], [1, 1, 1], [1, 0, 0], [0, 1, 1], [1, 0, 0]])
        >>> (found.to_next, found.of_first)
        ((2, None), (2, 3))
    """
    values = _checked(scores)
    counts = _of_all_pairs(values)
    n_rows = values.shape[1]
    to_next = np.diagonal(counts, 1)
    of_first, inside, outside = [], [], []
    for k in range(1, n_rows):
        across = counts[:k, k:]
        within, beyond = np.unravel_index(int(across.argmin()), across.shape)
        of_first.append(_count(across[within, beyond]))
        inside.append(int(within))
        outside.append(k + int(beyond))
    return HandfulOfPlaces(
        to_next=tuple(map(_count, to_next.tolist())),
        of_first=tuple(of_first),
        inside=tuple(inside),
        outside=tuple(outside),
    )


def handful_to_next(scores: ArrayLike) -> tuple[int | None, ...]:
    """Of each row but the last the fewest questions without which the next one leads
    it; arguments, errors and what None says as in `handful_of_places`.

    Examples:
        >>> handful_to_next([[1, 1, 0], [1, 1, 1], [1, 0, 0], [0, 1, 1], [1, 0, 0]])
        (2, None)
    """
    values = _checked(scores)
    found = []
    for row in range(values.shape[1] - 1):
        found.append(_count(_of_pair(values[:, row], values[:, row + 1])))
    return tuple(found)


def _checked(scores: ArrayLike) -> FloatArray:
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] < 2:
        raise StatisticsError(
            "`scores` must be a matrix of questions by rows, two rows at least, found "
            f"the shape {values.shape}"
        )
    if np.isinf(values).any():
        raise StatisticsError("`scores` must be finite or NaN, found infinite ones")
    return values


def _of_all_pairs(values: FloatArray) -> FloatArray:
    """Of each row (first index) and one below it; infinite where no number does."""
    is_known = ~np.isnan(values)
    if np.isin(values[is_known], (0, 1)).all():
        return _of_verdicts(values)
    n_rows = values.shape[1]
    counts = np.full((n_rows, n_rows), _NEVER)
    for row in range(n_rows):
        for other in range(row + 1, n_rows):
            counts[row, other] = _of_pair(values[:, row], values[:, other])
    return counts


def _of_verdicts(values: FloatArray) -> FloatArray:
    """Of single verdicts: wins less losses and 1, which there are where anything is
    lost."""
    right = (values == 1).astype(np.float64)
    wrong = (values == 0).astype(np.float64)
    wins = right.T @ wrong
    losses = wins.T
    counts = np.where(losses > 0, wins - losses + 1, _NEVER)
    counts[wins <= losses] = 0
    is_known = right + wrong
    counts[is_known.T @ is_known == 0] = _NEVER
    return counts


def _of_pair(own: FloatArray, other: FloatArray) -> float:
    """Of one pair; infinite where no number of questions makes the other lead, or none
    is common."""
    differences = own - other
    differences = differences[~np.isnan(differences)]
    if not len(differences):
        return _NEVER
    won = int(np.count_nonzero(differences > 0))
    lost = int(np.count_nonzero(differences < 0))
    are_verdicts = np.isin(differences, (-1, 0, 1)).all()
    if are_verdicts:
        return _of_counts(won, lost)
    found = handful(differences)
    if found.reason == "tied" or not found.first_leads:
        return 0
    if found.count is None:
        return _NEVER
    return found.count


def _of_counts(won: int, lost: int) -> float:
    """Of differences of −1, 0 and 1."""
    if won <= lost:
        return 0
    if not lost:
        return _NEVER
    return won - lost + 1


def _count(number: float) -> int | None:
    if np.isinf(number):
        return None
    return int(number)
