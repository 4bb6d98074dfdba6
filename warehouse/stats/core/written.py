"""Figures as text, with the digits that their errors allow to be told apart."""

from __future__ import annotations

from math import floor, isfinite, log10

#: Digits that are always written, and never more than a double has.
DIGITS, MOST_DIGITS = 4, 17


def figures_text(value: float, error: float | None, low: float | None, high: float | None) -> str:
    """``0.6 ± 0.1633 [0.3127, 0.8318]``: so many digits that the ends are not the value.

    Examples:
        >>> figures_text(1, 1e-6, 0.999998, 1.000002)
        '1 ± 1e-06 [0.999998, 1.000002]'
    """
    digits = digits_of(value, error, low, high)
    text = f"{value:.{digits}g}" if error is None else f"{value:.{digits}g} ± {error:.4g}"
    return text if low is None or high is None else f"{text} {ends_text(low, high, digits)}"


def ends_text(low: float, high: float, digits: int | None = None) -> str:
    """``[0.3127, 0.8318]``, by itself with digits that tell the ends apart."""
    digits = digits or digits_of(low, None, low, high)
    return f"[{low:.{digits}g}, {high:.{digits}g}]"


def digits_of(value: float, error: float | None, low: float | None, high: float | None) -> int:
    """Significant digits: four, or more where the error or the interval is small beside the value."""
    spreads = [error or 0.0, 0.0 if low is None or high is None else (high - low) / 4]
    spread = min((one for one in spreads if one > 0 and isfinite(one)), default=0.0)
    largest = max(abs(number) for number in (value, low or 0.0, high or 0.0) if isfinite(number))
    if not spread or not largest:
        return DIGITS
    return min(max(DIGITS, 1 + floor(log10(largest)) - floor(log10(spread))), MOST_DIGITS)
