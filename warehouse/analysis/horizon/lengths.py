"""Lengths of time in words."""

from __future__ import annotations


def length_in_words(minutes: float) -> str:
    """A length of time as people say it.

    >>> [length_in_words(one) for one in (0.245, 4.05, 95.0, 20000.0)]
    ['15 s', '4.0 min', '1.6 h', '330 h']
    """
    for unit, size in (("h", 60.0), ("min", 1.0), ("s", 1 / 60)):
        value = minutes / size
        if value >= 1:
            if value >= 1e5:
                return f"{value:.1e} {unit}"
            if value < 9.95 and unit != "s":
                return f"{value:.1f} {unit}"
            return f"{float(f'{value:.2g}'):.0f} {unit}"
    return f"{minutes * 60:.1g} s"
