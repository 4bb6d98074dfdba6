"""How sure a difference is, in plain words, with what stands behind them."""

from __future__ import annotations

import pickle
import zlib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from statistics import NormalDist
from typing import TypeAlias

from warehouse.analysis.comparison.pair_rows import PairRow
from warehouse.analysis.comparison.row import ComparisonRow
from warehouse.analysis.comparison.words import NO_VERDICT, better_in_words
from warehouse.analysis.pairs.answer import Pairs

#: Ids of the runs of a condition.
Runs: TypeAlias = tuple[int, ...]
CLEAR, CLOSE, LITTLE = "clear", "too close", "too little data"
#: What a row says whose difference has no test.
NOT_COMPARED = "not compared"
#: A plan that needs more than so many times the existing prompts is no way to tell two
#: models apart.
TEN = 10
#: Probability of finding a difference that a plan asks for.
_POWER = 0.8


@dataclass(frozen=True)
class Gauge:
    """A difference from the reference, and how sure it is."""

    word: str  #: `CLEAR`, `CLOSE`, `LITTLE` or `NOT_COMPARED`.
    why: str  #: in one sentence.
    difference: float | None = None  #: this one minus the reference.
    low: float | None = None  #: lower end of its simultaneous interval.
    high: float | None = None  #: upper end of it.
    #: where the figures come from; None where there is no pair.
    pair: PairRow | None = None
    degrees_of_freedom: float | None = None  #: of its standard error.

    @property
    def delta(self) -> str:
        """The difference to plan for; empty where there is none to find."""
        is_tie = (
            self.word in (CLOSE, LITTLE)
            and self.pair is not None
            and self.pair.standard_error is not None
        )
        if is_tie and self.difference:
            return f"{abs(self.difference):.4g}"
        return ""

    @property
    def alpha(self) -> str:
        """Level of the plan: as strict as the tests of all pairs."""
        if not self.pair:
            return ""
        return f"{_alpha(self.pair):.3g}"


def _alpha(row: PairRow) -> float:
    return (1 - row.level) / max(row.n_pairs, 1)


class HeldPairs:
    """All pairs of a benchmark, kept in little memory: as rows they take ten times as
    much.

    Attributes:
        pairs: without their rows; pictures are drawn of them.
        first: ids of the runs of the condition that is first.
    """

    def __init__(self, pairs: Pairs) -> None:
        self.pairs = replace(pairs)  # whose rows nobody has asked for
        self.first = pairs.groups[0].columns.by_side["runs"][0]
        found: dict[Runs, dict[Runs, Gauge]] = defaultdict(dict)
        rows = chain.from_iterable(group.columns for group in pairs.groups)
        for row, df in zip(rows, _degrees_of_freedom(pairs), strict=True):
            found[row.runs_a][row.runs_b] = _gauge(row, -1, df)
            found[row.runs_b][row.runs_a] = _gauge(row, 1, df)
        self._packed = {
            runs: zlib.compress(pickle.dumps(own), 1) for runs, own in found.items()
        }

    def gauges(self, reference: Runs) -> Mapping[Runs, Gauge]:
        """Gauges of all that were compared with a reference, by ids of their runs."""
        packed = self._packed.get(reference)
        return (
            pickle.loads(zlib.decompress(packed)) if packed else {}
        )  # what this process packed itself


def _degrees_of_freedom(pairs: Pairs) -> Iterator[float]:
    """Of each row; rows are the pairs of each group in order, or its first ones."""
    for group in pairs.groups:
        yield from group.pairs.degrees_of_freedom[: len(group.columns)].tolist()


def _gauge(row: PairRow, sign: int, df: float) -> Gauge:
    if row.difference is None or row.standard_error is None:
        if row.difference is None:
            found = None
        else:
            found = sign * row.difference
        return Gauge(
            NOT_COMPARED if not row.n_prompts else LITTLE,
            row.reason or "no prompt in common",
            found,
            pair=row,
        )
    ends = sorted(sign * end for end in (row.ci_low, row.ci_high) if end is not None)
    low, high = (None, None)
    if len(ends) == 2:
        low, high = ends
    is_found = better_in_words(row) not in ("neither", NO_VERDICT)  # Holm's test
    word, why = _said(is_found, row.difference, row.standard_error, _alpha(row))
    return Gauge(
        word, why, sign * row.difference, low, high, row, df if df == df else None
    )


def word_of(row: ComparisonRow, n_pairs: int) -> str:
    """How sure the difference of two models is that were chosen among so many pairs."""
    if row.p_value is None or row.standard_error is None:
        return NOT_COMPARED
    alpha = (1 - row.level) / max(n_pairs, 1)
    return _said(row.p_value <= alpha, row.difference, row.standard_error, alpha)[0]


def _said(
    is_found: bool, difference: float, error: float, alpha: float
) -> tuple[str, str]:
    if is_found:
        return CLEAR, "the difference is there beyond chance, also among so many pairs"
    if not difference:
        return CLOSE, "there is no difference to find"
    z = NormalDist()
    errors = z.inv_cdf(1 - alpha / 2) + z.inv_cdf(
        _POWER
    )  # standard errors of a difference that is found
    times = (errors * error / difference) ** 2
    if times > TEN:
        return (
            CLOSE,
            f"so small a difference would take more than {TEN} times the prompts",
        )
    return (
        LITTLE,
        f"about {max(times, 1.1):.2g} times the prompts would show such a difference, "
        "if it is there",
    )
