"""Ranks that say what the data can tell: statistical ranks, rank confidence sets, tied
groups."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warehouse.stats.core.inputs import TIE, rejects
from warehouse.stats.core.results import NamedFigures
from warehouse.stats.multiple.all_pairs import AllPairs

BoolMatrix = NDArray[np.bool_]
#: A letter, or what stands for one beyond the alphabet.
_LETTERS = re.compile(r"\(\d+\)|.")


@dataclass(frozen=True)
class Ranks(NamedFigures):
    """What all pairs say about the place of each model; tuples of length M in the
    models' order.

    The statistical rank (tests of single differences) and the rank sets (intervals that
    hold together) are two notions, and need not agree.
    """

    #: 1 + number of models that are significantly better (Holm over all pairs); None
    #: for a model without a single pair that could be tested.
    statistical_rank: tuple[int | None, ...]
    #: best rank in the model's own confidence set; None without max-|T|.
    rank_low: tuple[int | None, ...]
    rank_high: tuple[int | None, ...]  #: worst rank in it.
    #: best rank in the set that holds for all models together.
    rank_low_joint: tuple[int | None, ...]
    rank_high_joint: tuple[int | None, ...]  #: worst rank in it.
    #: letters of the groups of models that do not differ significantly, such as
    #: ``"ab"``: two models share a letter if and only if Holm's test does not separate
    #: them.
    groups: tuple[str, ...]
    level: float  #: of the sets; 1 − level is the size of the tests.
    n_resamples: int  #: draws behind the sets.

    def __str__(self) -> str:
        first = sum(rank == 1 for rank in self.statistical_rank)
        return f"{len(self.groups)} models, {first} of them statistically first"


def rank_models(pairs: AllPairs) -> Ranks:
    """Statistical ranks, rank confidence sets and letters of the models of all pairs.

    A rank set is [1 + number of models wholly better, M − number wholly worse] by
    simultaneous intervals (Mogstad, Romano, Shaikh and Wilhelm 2024): the model's own
    set takes the largest
    |T| over its own comparisons, the joint ones over all pairs. A pair without an error (or
    without common prompts) separates nobody, nor does one that its own test does not tell apart.

    Args:
        pairs: of `all_pairs`; the sets are None where it made no draws.

    Examples:
        >>> import numpy as np
        >>> from warehouse.stats.multiple.all_pairs import all_pairs
        >>> scores = np.random.default_rng(1).normal([0, 0.1, 1], 1, (300, 3))
        >>> ranks = rank_models(all_pairs(scores))
        >>> ranks.statistical_rank, ranks.rank_low, ranks.rank_high, ranks.groups
        ((2, 2, 1), (2, 2, 1), (3, 3, 1), ('b', 'b', 'a'))
    """
    ahead = pairs.square("difference")
    if not pairs.higher_is_better:
        ahead = -ahead
    separated = pairs.square("differ") == 1
    tested = np.logical_or.reduce(np.isfinite(pairs.square("p_holm")), axis=1)
    beaten = (separated & (ahead < 0)).sum(axis=1)
    joint = np.full(pairs.n_models, pairs.critical_value)
    low, high = _rank_sets(pairs, ahead, pairs.critical_values)
    low_joint, high_joint = _rank_sets(pairs, ahead, joint)
    if pairs.over_seeds or pairs.places_by_holm:  # Holm's tests hold together
        better = (separated & (ahead > 0)).sum(axis=1)
        low = low_joint = _ranks_or_none(1 + beaten, tested)
        high = high_joint = _ranks_or_none(pairs.n_models - better, tested)
    return Ranks(
        statistical_rank=_ranks_or_none(1 + beaten, tested),
        rank_low=low,
        rank_high=high,
        rank_low_joint=low_joint,
        rank_high_joint=high_joint,
        groups=tuple(letters(separated, _best_first(pairs))),
        level=pairs.level,
        n_resamples=pairs.n_resamples,
    )


def _rank_sets(
    pairs: AllPairs, ahead: NDArray[np.float64], critical: NDArray[np.float64]
) -> tuple[tuple[int | None, ...], tuple[int | None, ...]]:
    """Ends of the rank sets, each model against the others at its critical value.

    Where that is infinite, nobody is separated.
    """
    with np.errstate(invalid="ignore"):
        far = np.abs(ahead) * (1 - TIE) > critical[:, None] * pairs.square(
            "error_max_t"
        )
        far &= rejects(pairs.square("p_value"), 1 - pairs.level)
    low = 1 + (far & (ahead < 0)).sum(axis=1)
    high = pairs.n_models - (far & (ahead > 0)).sum(axis=1)
    has_critical = ~np.isnan(critical)
    return _ranks_or_none(low, has_critical), _ranks_or_none(high, has_critical)


def _ranks_or_none(
    values: NDArray[np.int_], has_critical: NDArray[np.bool_]
) -> tuple[int | None, ...]:
    ranks: list[int | None] = values.tolist()
    for model in np.flatnonzero(~has_critical):
        ranks[model] = None
    return tuple(ranks)


def _best_first(pairs: AllPairs) -> list[int]:
    sign = -1.0
    if pairs.higher_is_better:
        sign = 1.0
    order: list[int] = np.argsort(
        -sign * np.nan_to_num(pairs.means, nan=-sign * np.inf), kind="stable"
    ).tolist()
    return order


def letters_of(pairs: AllPairs) -> tuple[str, ...]:
    """Letters of models, which two share where a test was made and does not separate
    them: without a prompt in common two are not compared, and share none."""
    return tuple(
        letters(
            (pairs.square("differ") == 1) | (pairs.square("n_prompts") == 0),
            _best_first(pairs),
        )
    )


def others_apart(pairs: AllPairs) -> list[int]:
    """Of each model with how many others it has no prompt in common."""
    apart: list[int] = (pairs.square("n_prompts") == 0).sum(axis=1).tolist()
    return apart


def letters(separated: BoolMatrix, order: list[int] | None = None) -> list[str]:
    """A compact letter display: two models share a letter if and only if they are not
    separated.

    Letters stand for maximal sets of models that do not differ significantly, as many
    as it takes to cover every such pair (greedily: Gramm et al. 2007), ``a`` for the
    one of the first model.

    Args:
        separated: symmetric, True where two models differ, shape (M, M).
        order: numbers of the models, best first; None: as they come.

    Examples:
        >>> differ = np.array([[0, 0, 1], [0, 0, 0], [1, 0, 0]], dtype=bool)
        >>> letters(differ)
        ['a', 'ab', 'b']
    """
    if order is None:
        order = list(range(len(separated)))
    alike: BoolMatrix = ~separated[np.ix_(order, order)]
    np.fill_diagonal(alike, True)
    names: list[list[str]] = [[] for _ in order]
    for number, members in enumerate(_cliques(alike)):
        for index in members:
            names[order[index]].append(_letter(number))
    return ["".join(display) for display in names]


def _cliques(alike: BoolMatrix) -> list[list[int]]:
    """Maximal sets of models that are all alike, covering every pair of alike ones."""
    packed = np.packbits(alike, axis=1, bitorder="little")
    rows = [int.from_bytes(row.tobytes(), "little") for row in packed]
    covered = [0] * len(rows)
    cliques: list[list[int]] = []
    for start, own in enumerate(rows):
        while left := own & ~covered[start]:
            lowest = left & -left
            members = _members(_grow(rows, 1 << start | lowest, left))
            together = sum(1 << member for member in members)
            for member in members:
                covered[member] |= together
            cliques.append(members)
    return sorted(cliques)


def _grow(alike: list[int], seed: int, preferred: int) -> int:
    """The set of a seed with all that fit, those of pairs not yet covered first; sets
    are the bits of a number."""
    members, possible = seed, -1
    for member in _members(seed):
        possible &= alike[member]
    for among in (preferred, ~preferred):
        while left := possible & among & ~members:
            candidate = left & -left
            members |= candidate
            possible &= alike[candidate.bit_length() - 1]
    return members


def _members(bits: int) -> list[int]:
    """Numbers of the bits that are set, ascending."""
    return [at for at, bit in enumerate(reversed(f"{bits:b}")) if bit == "1"]


def _letter(number: int) -> str:
    """a … z, then A … Z, then numbers in brackets."""
    alphabet = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    if number < len(alphabet):
        return alphabet[number]
    return f"({number + 1})"


def letters_in(display: str) -> list[str]:
    """Each letter of a model's display.

    Examples:
        >>> letters_in("aZ(53)")
        ['a', 'Z', '(53)']
    """
    return _LETTERS.findall(display)
