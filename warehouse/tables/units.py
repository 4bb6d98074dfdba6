"""How figures of a table are written: as they are, or shares in percent."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from warehouse.tables.words import (
    WrittenInterval,
    WrittenNumber,
    decimals,
    interval,
    number,
)

#: Points of a share.
_POINTS = 100


@dataclass(frozen=True)
class Unit:
    """The unit in which people read figures, and its decimals."""

    digits: int  #: decimals of all figures.
    in_percent: bool = False  #: shares, which are written in percent.

    @classmethod
    def of(cls, errors: Iterable[float | None], *, in_percent: bool = False) -> Unit:
        """As many decimals as the smallest standard error deserves.

        Args:
            errors: standard errors, in the metric's own unit.
            in_percent: the figures are shares.
        """
        digits = decimals(errors)
        if not in_percent:
            return cls(digits)
        # a point is a hundredth, and of half a point one digit says enough
        in_points = max(digits - 2, 0)
        return cls(max(in_points - 1, min(in_points, 1)), in_percent=True)

    @property
    def _times(self) -> int:
        return _POINTS if self.in_percent else 1

    def in_unit(self, value: float | None) -> float | None:
        """A figure in this unit, not written yet."""
        if value is None:
            return None
        return value * self._times

    def figure(self, value: float | None, *, sign: bool = True) -> WrittenNumber | None:
        """A figure: ``65.3 %``, or ``0.653``.

        Args:
            sign: with the sign of per cent; without it where a heading says it.
        """
        written = number(self.in_unit(value), self.digits)
        if written is None or not self.in_percent or not sign:
            return written
        return WrittenNumber(f"{written} %")

    def with_error(
        self, value: float | None, error: float | None, *, sign: bool = True
    ) -> WrittenNumber | None:
        """A figure and its standard error: ``65.3 % (2.6)``.

        Args:
            sign: as in :meth:`figure`.
        """
        written = self.figure(value, sign=sign)
        within = number(self.in_unit(error), self.digits)
        if written is None or within is None:
            return written
        return WrittenNumber(f"{written} ({within})")

    def ends(
        self, low: float | None, high: float | None, at: float | None = None
    ) -> WrittenInterval | None:
        """Both ends of an interval, and the estimate in it."""
        return interval(
            self.in_unit(low), self.in_unit(high), self.digits, at=self.in_unit(at)
        )

    def many(self, values: Iterable[float]) -> list[float]:
        """Figures in this unit, not written yet."""
        return [value * self._times for value in values]

    def difference(self, value: float | None) -> WrittenNumber | None:
        """A difference of two figures with its sign, in points where figures are in
        percent."""
        return number(self.in_unit(value), self.digits, sign=True)

    def points(self, value: float | None) -> WrittenNumber | None:
        """A spread of figures without a sign, in points where figures are in percent."""
        return number(self.in_unit(value), self.digits)
