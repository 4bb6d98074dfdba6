"""All pairs of many conditions as heat maps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import chain

from warehouse.analysis.pairs.answer import Pairs
from warehouse.analysis.pairs.group import PairGroup
from warehouse.charts.chart import Chart
from warehouse.charts.heat_map import SHADES, heat_map
from warehouse.tables.words import fixed

#: Conditions of one group up to which all pairs are a table of numbers.
MOST_NUMBERS = 15
#: Models of a map of pairs.
MOST_PAIRED = 50


def heat_maps(pairs: Pairs) -> list[Chart | None]:
    """The map of each group that is too large for a table of numbers."""
    return [_heat(group) for group in pairs.groups if len(group.labels) > MOST_NUMBERS]


def square(group: PairGroup, what: str) -> list[list[float]]:
    """A figure of all pairs as rows and columns, of the first conditions."""
    figures: list[list[float]] = group.pairs.square(what)[
        :MOST_PAIRED, :MOST_PAIRED
    ].tolist()
    return figures


def _heat(group: PairGroup) -> Chart | None:
    """Where the row differs from the column, and by how much; empty where the test
    finds no difference."""
    differences = square(group, "difference")
    tested = square(group, "differ")
    size = round(1 - group.pairs.level, 10)
    known = (abs(value) for value in chain.from_iterable(differences) if value == value)
    largest = max(known, default=0.0) or 1.0
    shares = []
    for values, tests in zip(differences, tested, strict=True):
        shares.append(
            [
                min(max((value / largest + 1) / 2, 0.0), 1.0)
                if value == value and differs == 1
                else None
                for value, differs in zip(values, tests, strict=True)
            ]
        )
    all_shares = chain.from_iterable(shares)
    n_differing = sum(share is not None for share in all_shares) // 2
    n_pairs = len(shares) * (len(shares) - 1) // 2
    edges = [largest * (2 * shade / SHADES - 1) for shade in range(SHADES + 1)]
    n_decimals = _decimals([edges])
    words = [
        f"{fixed(a, n_decimals)} to {fixed(b, n_decimals)}"
        for a, b in zip(edges, edges[1:], strict=False)
    ]
    return heat_map(
        shares,
        title=(
            f"Row minus column, where Holm's test tells them apart at {size:g}; empty: "
            "it does not"
        ),
        say=f"Heat map of {len(shares)} by {len(shares)} conditions in order of rank: {n_differing} of {n_pairs} pairs"
        " differ",
        words=words,
        names=group.labels[:MOST_PAIRED],
    )


def _decimals(differences: Sequence[Sequence[float]]) -> int:
    """Decimals at which the largest difference has three digits."""
    known = (abs(value) for value in chain.from_iterable(differences) if value == value)
    largest = max(known, default=0)
    if largest:
        return min(8, max(0, 2 - math.floor(math.log10(largest))))
    return 0


def apart(pairs: Pairs | None) -> dict[tuple[str, str], bool]:
    """Pairs by whether the two conditions differ by Holm's test, by their labels, in
    both orders."""
    distinct: dict[tuple[str, str], bool] = {}
    for group in pairs.groups if pairs else ():
        labels, tests = group.labels, group.pairs
        tested = zip(
            tests.first.tolist(),
            tests.second.tolist(),
            tests.differ.tolist(),
            strict=True,
        )
        for a, b, differs in tested:
            distinct[labels[a], labels[b]] = differs
            distinct[labels[b], labels[a]] = differs
    return distinct
