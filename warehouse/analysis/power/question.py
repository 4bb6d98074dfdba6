"""What is asked of a plan: difference, prompts, power, and what is given besides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from warehouse.errors import MisuseError
from warehouse.stats import Cost

Goal = Literal["n", "mde", "power"]


@dataclass(frozen=True)
class Question:
    """What is to be planned. Of ``delta`` and ``n``, what is left out is worked out.

    Attributes:
        delta: true mean difference, above 0, on the scale of the metric.
        n: prompts.
        power: chance to find the difference; None: 0.8 where it is not what is asked.
        alpha: two-sided significance level.
        k: draws per prompt, the first for the answer and all for the table; None: 1, 2, 5, 10.
        k_b: draws of the second model where they are there already: fixed and not counted.
        n_values: prompts of the table; None: around the answer.
        budget: what may be spent, in generations (or in the unit of ``cost``).
        available: prompts there are; None: no limit.
        cost: of prompts and generations.
    """

    delta: float | None = None
    n: int | None = None
    power: float | None = None
    alpha: float = 0.05
    k: tuple[int, ...] | None = None
    k_b: int | None = None
    n_values: tuple[int, ...] | None = None
    budget: float | None = None
    available: int | None = None
    cost: Cost = Cost()

    @property
    def goal(self) -> Goal:
        """What is worked out.

        Raises:
            MisuseError: all three or none of difference, prompts and power are given.
        """
        if self.delta is not None and self.n is not None:
            if self.power is not None:
                raise MisuseError("difference, prompts and power are all given: leave out the one to work out")
            return "power"
        if self.delta is None and self.n is None:
            raise MisuseError(
                "give a difference, delta (for the prompts it takes), a number of prompts, n (for"
                " the smallest difference they find), or both (for the power)"
            )
        return "n" if self.n is None else "mde"

    @property
    def wanted_power(self) -> float:
        """The power that sizes and smallest differences refer to."""
        return 0.8 if self.power is None else self.power
