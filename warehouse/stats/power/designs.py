"""Designs side by side: a table over n and K, and the cheapest n and K (Miller 2024
§5)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from warehouse.errors import StatisticsError
from warehouse.stats.power.power import (
    Plan,
    VarianceParts,
    check_count,
    check_delta,
    check_draws,
    minimum_detectable_effect,
    power_of,
    quantiles,
    sample_size,
    standard_error,
)

#: Draws per prompt up to which the cheapest design is looked for.
MOST_DRAWS = 1000


@dataclass(frozen=True)
class Cost:
    """What a design costs: n·(prompt + generation·(K_A + K_B)).

    Raises:
        StatisticsError: for a cost below 0 or not finite.
    """

    #: of one prompt, whatever its draws (writing it, reading it), at least 0.
    prompt: float = 0.0
    #: of one draw of one model, at least 0; in any unit. Both 0 is refused.
    generation: float = 1.0

    def __post_init__(self) -> None:
        for name in ("prompt", "generation"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 0):
                raise StatisticsError(
                    f"the cost of a {name} must be at least 0, found {value}"
                )
        if self.prompt + self.generation == 0:
            raise StatisticsError(
                "a design that costs nothing has no cheapest: give a cost"
            )

    def per_prompt(self, draws: int) -> float:
        """Cost of one prompt with ``draws`` new generations."""
        return self.prompt + self.generation * draws


@dataclass(frozen=True)
class BestDesign:
    """The best design for a goal; ``plan`` is None with a ``reason`` where none reaches
    it."""

    plan: Plan | None
    cost: float | None
    reason: str


def make_plan(
    n: int,
    parts: VarianceParts,
    *,
    k_a: int = 1,
    k_b: int | None = None,
    alpha: float = 0.05,
    power: float = 0.8,
    delta: float | None = None,
    b_is_there: bool = False,
) -> Plan:
    """Everything about one design (StatisticsError: for arguments out of range).

    Args:
        n: prompts, at least 1.
        parts: variances.
        k_a: draws per prompt of the first model.
        k_b: of the second; None for ``k_a``.
        alpha: two-sided significance level, in (0, 1).
        power: that ``mde`` is given at.
        delta: difference that the power is given at, or None.
        b_is_there: the second model's generations exist and are not counted.
    """
    draws = check_draws(k_a, k_b)
    reached = two_tailed = n_clusters = None
    if delta is not None:
        at_n = power_of(delta, n, parts, k_a=k_a, k_b=k_b, alpha=alpha)
        reached, two_tailed = at_n.power, at_n.two_tailed
    clusters = parts.clusters(n)
    if clusters is not None:
        n_clusters = math.ceil(clusters * (1 - 1e-12))
    return Plan(
        n=n,
        n_clusters=n_clusters,
        k_a=draws[0],
        k_b=draws[1],
        generations=n * _new_draws(draws, b_is_there),
        standard_error=standard_error(n, parts, k_a=k_a, k_b=k_b),
        delta=delta,
        power=reached,
        power_two_tailed=two_tailed,
        mde=minimum_detectable_effect(
            n, parts, k_a=k_a, k_b=k_b, alpha=alpha, power=power
        ),
    )


def plan_table(
    parts: VarianceParts,
    n_values: Sequence[int],
    k_values: Sequence[int],
    *,
    k_b: int | None = None,
    alpha: float = 0.05,
    power: float = 0.8,
    delta: float | None = None,
    b_is_there: bool = False,
) -> tuple[Plan, ...]:
    """One plan for each n and K, by K, then n.

    Args:
        n_values: numbers of prompts, whole, at least 1.
        k_values: draws per prompt of the first model, and of the second unless ``k_b``.
        k_b: draws of the second model where they do not vary.

    Raises:
        StatisticsError: for arguments out of range, and for no n or no K.

    Examples:
        >>> for plan in plan_table(VarianceParts(1 / 9, 1 / 6, 1 / 6), [198], [1, 10]):
        ...     print(plan)
        n=198, K=1: detects 0.1327
        n=198, K=10: detects 0.07567
    """
    if not len(n_values) or not len(k_values):
        raise StatisticsError("a table of plans needs at least one n and one K")
    checked = [check_count(n, "n") for n in n_values]
    return tuple(
        make_plan(
            n,
            parts,
            k_a=k,
            k_b=k_b,
            alpha=alpha,
            power=power,
            delta=delta,
            b_is_there=b_is_there,
        )
        for k, n in product(k_values, checked)
    )


def cheapest_design(
    delta: float,
    parts: VarianceParts,
    *,
    cost: Cost | None = None,
    k_b: int | None = None,
    alpha: float = 0.05,
    power: float = 0.8,
    available: int | None = None,
    b_is_there: bool = False,
    most_draws: int = MOST_DRAWS,
) -> BestDesign:
    """The n and K that find ``delta`` with ``power`` at the least cost.

    Every K up to ``most_draws`` with its n of eq. 9 is looked at; equal costs take the
    smaller K. Where only generations cost and prompts abound that is K = 1.

    Args:
        delta: true mean difference, above 0.
        parts: variances.
        cost: of prompts and generations; None: one generation costs 1, a prompt
            nothing.
        k_b: draws of the second model where they do not vary; None: as many as the
            first.
        alpha: two-sided significance level, in (0, 1).
        power: chance to find it.
        available: prompts there are; None for no limit.
        b_is_there: the second model's generations exist and cost nothing.
        most_draws: largest K.

    Returns:
        The design; None with the reason where no K is enough for the prompts there are.

    Raises:
        StatisticsError: for arguments out of range.

    Examples:
        >>> parts = VarianceParts(1 / 9, 1 / 6, 1 / 6)
        >>> print(cheapest_design(0.1, parts, available=200).plan)
        n=175, K=3: detects 0.09983, power 0.801 at 0.1
    """
    price = cost or Cost()
    limit = _limit(available)
    best: tuple[float, int, int] | None = None
    for k in _draws_to_try(k_b, b_is_there, most_draws):
        n = sample_size(delta, parts, k_a=k, k_b=k_b, alpha=alpha, power=power)
        total = n * price.per_prompt(_new_draws(check_draws(k, k_b), b_is_there))
        if n <= limit and (best is None or total < best[0]):
            best = (total, k, n)
    if best is None:
        return BestDesign(
            None, None, _out_of_reach(delta, parts, k_b, alpha, power, available)
        )
    total, k, n = best
    plan = make_plan(
        n,
        parts,
        k_a=k,
        k_b=k_b,
        alpha=alpha,
        power=power,
        delta=delta,
        b_is_there=b_is_there,
    )
    return BestDesign(plan, total, f"the cheapest of K = 1 to {most_draws}")


def best_for_budget(
    budget: float,
    parts: VarianceParts,
    *,
    cost: Cost | None = None,
    k_b: int | None = None,
    alpha: float = 0.05,
    power: float = 0.8,
    delta: float | None = None,
    available: int | None = None,
    b_is_there: bool = False,
    most_draws: int = MOST_DRAWS,
) -> BestDesign:
    """The n and K with the smallest standard error (the most power) that ``budget``
    pays for.

    Arguments and errors as for `cheapest_design`; ``budget`` is above 0, in the unit of
    ``cost`` (generations, if that is None).

    Returns:
        The design; None with the reason where the budget does not pay for two prompts.
    """
    price = cost or Cost()
    if not 0 < budget < math.inf:
        raise StatisticsError(f"`budget` must be a number above 0, found {budget}")
    limit = _limit(available)
    best: tuple[float, float, int, int] | None = None
    for k in _draws_to_try(k_b, b_is_there, most_draws):
        each = price.per_prompt(_new_draws(check_draws(k, k_b), b_is_there))
        n = int(min(limit, budget / each * (1 + 1e-12)))
        if n < 2:
            continue
        candidate = (standard_error(n, parts, k_a=k, k_b=k_b), n * each, k, n)
        if best is None or candidate[:2] < best[:2]:
            best = candidate
    if best is None:
        return BestDesign(
            None, None, f"a budget of {budget:g} does not pay for two prompts"
        )
    _, total, k, n = best
    plan = make_plan(
        n,
        parts,
        k_a=k,
        k_b=k_b,
        alpha=alpha,
        power=power,
        delta=delta,
        b_is_there=b_is_there,
    )
    return BestDesign(plan, total, f"the smallest error of K = 1 to {most_draws}")


def _draws_to_try(k_b: int | None, b_is_there: bool, most_draws: int) -> range:
    if b_is_there and k_b is None:
        raise StatisticsError(
            "`b_is_there` needs `k_b`: the draws per prompt that are there"
        )
    return range(1, check_count(most_draws, "most_draws") + 1)


def _new_draws(draws: tuple[int, int], b_is_there: bool) -> int:
    if b_is_there:
        return draws[0]
    return sum(draws)


def _limit(available: int | None) -> float:
    """The most prompts that a design may have."""
    if available is None:
        return math.inf
    return check_count(available, "available")


def _out_of_reach(
    delta: float,
    parts: VarianceParts,
    k_b: int | None,
    alpha: float,
    power: float,
    available: int | None,
) -> str:
    rest = parts.omega2
    if k_b is not None:
        rest += parts.sigma2_b / k_b
    least = math.ceil(quantiles(alpha, power) ** 2 * rest / check_delta(delta) ** 2)
    if available is not None and least > available:
        return (
            f"{available} prompts are not enough for a difference of {delta:g}: even with "
            f"unlimited draws it takes {least}"
        )
    return f"{available} prompts need more draws per prompt than were tried"
