"""Courses of lines and areas, as ``path`` elements of SVG have them.

A number is given as it is to be written: ``12.5``, or ``"12.50"`` where its digits
matter.
"""

from __future__ import annotations

Number = float | str


def dot(x: Number, y: Number) -> str:
    """A line without length: a dot as wide as its line."""
    return f"M{x} {y}h0"


def across(x: Number, y: Number, end: Number) -> str:
    """A line at one height, from ``x`` to ``end``."""
    start = f"M{x} {y}"
    return f"{start}H{end}"


def upright(x: Number, y: Number, end: Number) -> str:
    """A line at one place, from ``y`` to ``end``."""
    start = f"M{x} {y}"
    return f"{start}V{end}"


def box(x: Number, y: Number, width: Number, height: Number) -> str:
    """An area with four corners; ``x`` and ``y`` are its upper left one."""
    start = f"M{x} {y}"
    edges = f"h{width}v{height}"
    return f"{start}{edges}h-{width}z"


def ring(x: float, y: float, radius: float) -> str:
    """A circle; what is below it shows through."""
    start = f"M{x - radius:g} {y:g}"
    arc = f"a{radius:g} {radius:g} 0 1 0"
    diameter = 2 * radius
    there = f"{arc} {diameter:g} 0"
    back = f"{arc} {-diameter:g} 0"
    return f"{start}{there}{back}"
