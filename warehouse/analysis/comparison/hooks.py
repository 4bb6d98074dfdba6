"""Additions of other questions to a comparison, besides the scores on common prompts:
of the whole benchmark by a plan, of costs, and of few units that carry a verdict.

Plans are looked for where the store has some, costs where they are asked for, few units
where the prompts are clustered by a field or have slices that were declared.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from warehouse.analysis.compare.question import Compare
from warehouse.analysis.comparison.pair_tests import Tests
from warehouse.analysis.comparison.pairing import Pair
from warehouse.analysis.selection.hook_table import Hook
from warehouse.store.connection import Store

if TYPE_CHECKING:
    from warehouse.stats import CheaperTest, CostFigure, PairedDifference
    from warehouse.stats.paired.margins import NonInferiorityTest

#: Share of costs that may be missing before nothing is said of them.
MOST_MISSING = 0.05


class DifferenceOnWhole(Protocol):
    """The difference of a pair on the whole benchmark, first less second."""

    @property
    def means(self) -> tuple[float, float]:
        """Figures of both."""

    @property
    def basis(self) -> str:
        """Which prompts were asked."""

    @property
    def method(self) -> str:
        """The test against a margin, in words."""

    def as_paired(self) -> PairedDifference:
        """As rows have differences."""

    def tests(self, options: Compare) -> Tests:
        """The tests that are defined for it."""

    def noninferiority(
        self, margin: float, alpha: float, *, higher_is_better: bool
    ) -> NonInferiorityTest:
        """The test that the first is worse by less than the margin, one-sided."""


class PairOnPlans(Protocol):
    """A pair of which one or both were asked a planned subset."""

    @property
    def note(self) -> str:
        """A note on what was done, or why it was not."""

    @property
    def whole(self) -> DifferenceOnWhole | None:
        """The difference on the whole benchmark; None where the plan does not hold."""


class PlannedPairs(Protocol):
    """Looks for the plans of a pair."""

    def __call__(
        self, pair: Pair, *, level: float, estimand: str
    ) -> PairOnPlans | None:
        """Estimates by the plans of a pair; None where neither is on one."""


PAIRS_ON_PLANS: Hook[PlannedPairs] = Hook("pairs on plans")


def on_plans(pair: Pair, *, level: float, estimand: str) -> PairOnPlans | None:
    """Estimates by the plans of a pair of the whole benchmark; None where neither is on
    one."""
    if pair.plans is None:
        return None
    return PAIRS_ON_PLANS.load()(pair, level=level, estimand=estimand)


@dataclass(frozen=True)
class PairCosts:
    """Costs of two models on the prompts of which both costs are known."""

    metric: str  #: name of the cost.
    prices_digest: str  #: sha256 of the prices; empty without.
    a: float | None  #: mean cost of an answer of the first; None where none is known.
    b: float | None  #: of the second.
    #: first over second, with its interval; None where none is known.
    ratio: CostFigure | None
    #: whether the first is so many times cheaper; None where that was not asked, or no
    #: cost is known.
    test: CheaperTest | None
    n_missing: int  #: common prompts of which either cost is not known.
    share_missing: float  #: of the answers of one of them to the common prompts, the larger share without a cost.


class PairCosting(Protocol):
    """One kind of cost."""

    def of_pair(
        self, store: Store, pair: Pair, *, level: float, times: float | None = None
    ) -> PairCosts:
        """Costs of a pair, links followed.

        Args:
            times: test whether the first is so many times cheaper.
        """


#: By kind of cost and file of prices, as a question has them.
COSTS_OF_PAIRS: Hook[Callable[[Store, str, str | None], PairCosting]] = Hook(
    "costs of pairs"
)


@dataclass(frozen=True)
class FewUnits:
    """How few units of a field that the error does not know carry a verdict."""

    fires: (
        bool  #: at most three of eight or more do, and the difference varies over them.
    )
    field: str  #: the field that was looked at; of several the clearest.
    n_units: int  #: units of it.
    count: (
        int | None
    )  #: fewest units without which the other leads; None where none do.
    left_out: tuple[str, ...]  #: these units by name, where it fires.
    #: p of the test whether the difference varies over the units (Holm over fields);
    #: None where more than three units carry it, or there is no test.
    p_varies: float | None
    p_by_units: float | None  #: p of the difference with the units as clusters.


#: Of pairs in which one is better, what is found of each; None without such a field.
RESTS_ON_FEW: Hook[Callable[[Store, Sequence[Pair]], list[FewUnits | None]]] = Hook(
    "few units"
)
