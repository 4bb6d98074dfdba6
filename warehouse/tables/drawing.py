"""How results become charts and tables: by rooms above, which the face or an entry point tells of."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.metadata import entry_points
from typing import Any

#: The function of a result that draws it, if there is one.
PLOTTERS: list[Callable[[Any], Any]] = []


#: Entry points that make views of results: the command line's.
VIEWS = "warehouse.views"


@cache
def viewers() -> tuple[Callable[[Any], Any], ...]:
    """Functions that make a view of a result, or None of one that they do not know."""
    return tuple(point.load() for point in entry_points(group=VIEWS))


def draw_with(plotter: Callable[[Any], Any]) -> None:
    """Let results be drawn by a function."""
    PLOTTERS[:] = [plotter]
