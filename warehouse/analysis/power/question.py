"""What is asked of a plan: difference, prompts, power, and what is given besides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from warehouse.errors import MisuseError
from warehouse.questions.power import Planned
from warehouse.questions.question import Option
from warehouse.stats import Cost

Goal = Literal["n", "mde", "power"]


@dataclass(frozen=True, kw_only=True)
class PowerQuestion(Planned):
    """What is to be planned, and what prompts and generations cost."""

    cost: Annotated[Cost, Option("Of prompts and generations.")] = Cost()

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
    def target_power(self) -> float:
        """The power that sizes and smallest differences refer to."""
        return 0.8 if self.power is None else self.power
